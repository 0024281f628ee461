"""Scalar syntax: the text of one expression goes in, a `Scalar` with its references comes out.

One parser reads it from left to right: `reader` knows where it stands and makes nodes, `references`
reads what looks at rows of a match, `operands` all other operands, `expression` the operators
between them. Layout is dropped; every word that is Spark's stays as it was written.
"""
