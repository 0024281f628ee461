"""Writing: turn a SASE+ query or a Pattern into SQL that asks for the same.

    convert        a query that was read → `Conversion`: text, and notes on what is lost
    read_queries   a SASE+ query or a Pattern → its plan
    stages         a pattern of stages → the same as one row pattern
    prepare        a plan → a plan that SQL can express
    preferred      all matches → the matches of the standard, if they are the same
    clause_text    a plan → Spark SQL
    shapes         compare two plans, apart from differences that do not matter
    names          rename the variables of a plan, and unquote columns

The text that was written is read again and compared with the plan. What SQL cannot express is an
error, and no part is dropped without a note.
"""
