"""Writing: turn a SASE+ query or a Pattern into SQL that asks for the same.

    stages         a pattern of stages → the same as one row pattern
    names, shapes  which differences between two plans do not matter
    clause_text    a plan → Spark SQL
    convert        a query that was read → `Conversion`: text, and notes on what is lost

The text that was written is read again and compared with the plan. What SQL cannot express is an
error, and no part is dropped without a note.
"""
