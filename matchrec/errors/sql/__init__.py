"""Errors in the text of a SQL query, and advice on what to write instead.

Errors:

    query                 the query around a clause
    clause                the brackets of a clause, and the order of its parts
    clause_items          MEASURES, SUBSET and DEFINE
    match_options         the output, AFTER MATCH SKIP, and the words after PATTERN
    limits                WITHIN and FIRST n MATCHES
    tokens                words and signs that are not allowed where they are written
    pattern               PATTERN
    pattern_symbols       symbols and words that PATTERN does not have
    negations             NOT in PATTERN
    expression            calls and keywords in MEASURES and DEFINE
    incomplete            expressions in which a value, a word or a bracket is missing
    navigation            PREV, NEXT, FIRST and LAST, and frames of OVER in DEFINE
    unknown_columns       columns that do not exist
    unknown_functions     functions that do not exist
    engine_errors         expressions that an engine rejects
    refused_parts         the part of a query that an engine rejects without saying where it is
    unplanned_parts       such parts that only Sail rejects
    types_and_literals    types and literals that do not exist
    wrong_types           values whose types an operator or a function does not take
    window                row pattern windows
    products              queries of other products

Advice:

    engine_explanations   the meaning of an engine's error
    engine_hints          what to write after an engine's error
    operand_hints         operations, with the user's operands
    infix_hints           operators between two values
    call_hints            calls of functions
    operand_texts         an operand as these hints write it
    type_mismatches       operations, with example values
    type_kinds            kinds of types, for the advice on operations
    token_advice          words and signs that are not allowed where they are written
    datetime_formats      formats of dates and times of other languages
    written_times         dates, times and lengths of time as the user wrote them
    sort_directions       the words after a key of ORDER BY
    look_alikes           characters that look like a sign of SQL
    foreign_names         functions of other products
    foreign_syntax        other words and signs of other products
    brackets              `[1, 2]` and other brackets that Spark SQL lacks
    column_advice         names that are not columns, in the clause
    select_columns        names that are not columns, in the query around the clause
    ungrouped             columns outside GROUP BY
"""
