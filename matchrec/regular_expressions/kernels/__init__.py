"""The compiled search of regular expressions."""
