"""Parse the text of one expression to a `Scalar` with its references.

One parser reads it from left to right. It is divided by inheritance: `reader` keeps the position
and makes nodes, `operands` reads operands, `expression` reads the operators between them.

Calls are read by functions that get the parser as their cursor:

    references        every call that reads rows of a match; it hands them to the next four
    navigations       PREV, NEXT, FIRST and LAST
    aggregates        aggregates, with FILTER and the like after them
    frames            OVER with a frame, in DEFINE
    match_functions   CLASSIFIER, MATCH_NUMBER and the like
    call_parts        what these share
    special_calls     calls such as CAST, whose arguments are not all values

Layout is dropped, but every word that is Spark's stays as it was written.
"""
