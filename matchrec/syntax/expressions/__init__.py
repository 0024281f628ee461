"""Parse the text of one expression to a `Scalar` with its references.

One parser reads it from left to right. It is divided by inheritance: `reader` keeps the position
and makes nodes, `operands` reads operands, `expression` reads the operators between them. Functions
of `references` read what looks at rows of a match, those of `special_calls` calls such as CAST.
Layout is dropped, but every word that is Spark's stays as it was written.
"""
