"""Parse the text of one expression to a `Scalar` with its references.

One parser, `ScalarParser`, reads the text from left to right. Each module defines a class that
extends the class before it:

    cursor            `ExpressionCursor` keeps the position and makes nodes
    calls             `CallParser` reads calls
    operands          `OperandParser` reads other operands
    expression        `ScalarParser` reads the operators between operands

`scope` says what an expression may refer to, and `unexpected_tokens` explains mistakes.

Some operands are read by functions that get the parser as their cursor:

    references        all calls that read rows of a match; it passes them to the next four modules
    navigations       PREV, NEXT, FIRST and LAST
    aggregates        aggregates, with FILTER and the like after them
    window_frames     OVER with a frame, in DEFINE
    match_functions   CLASSIFIER, MATCH_NUMBER and the like
    call_parts        arguments, RUNNING and FINAL, for these five modules
    special_calls     calls such as CAST, whose arguments are not all values
    intervals         INTERVAL '1' DAY

Layout is dropped, but every word that Spark will read stays as it was written.
"""
