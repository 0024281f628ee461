"""Turn errors of Spark, Sail or a worker into errors in the user's terms.

An engine *refuses* a query if it raises an error before it runs: when it parses or analyses it.

The SQL of a clause is refused: which expression, and why?

    diagnose               finds the first expression that the engine refuses by itself
    row_expressions        writes the expressions as SQL that an engine can analyse by itself
    refusals               reads the name, parameter or function that a refusal is about
    refused_operations     finds the operation whose operands have the wrong types

The query around the clause is refused:

    rewritten_errors       rewrites the error in terms of the user's text
    engine_messages        divides the message of the error into its parts
    name_conditions        conditions of errors about a name, with our sentences and codes
    error_locations        finds the location of the error
    filled_template        the text that the engine has read
    error_classes          the class of the rewritten error
    stream_errors          the error of an engine that has no streams

The engine accepts the query, although it is wrong:

    type_checks            types that Spark would reject
    operand_checks         operands of incompatible types
    operand_kinds          the kinds of operands, for these checks
    regular_expressions    literals that are not regular expressions
    datetime_formats       literals that are not formats of dates and times

The query fails when it runs:

    failed_actions         raises the error of a worker, or of an expression
    marked_rows            remembers which expressions a query computes from which rows
    second_look            finds the expression that failed, if the engine does not name it
"""
