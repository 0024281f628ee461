"""Functions of texts: parts, letters, digests, LIKE and regular expressions."""
