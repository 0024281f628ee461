"""The compiled loops of sorting: codes go in, the order of their rows comes out."""
