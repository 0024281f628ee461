"""The compiled loops of searches whose matches are contiguous; a module for each algorithm."""
