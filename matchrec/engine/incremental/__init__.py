"""A search that stops at a row and goes on later: the rows of a partition come little by little."""
