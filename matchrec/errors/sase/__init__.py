"""A place in a SASE+ query goes in, an error with its wording comes out."""
