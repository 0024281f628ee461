"""The compiled loops of searches whose matches are contiguous; a module an algorithm."""
