"""The meaning of a query: `MatchPlan`, its parts, and the functions that check and change a plan.

A plan has no syntax: it does not show in which language the query was written.

The plan and its parts:

    match_plan          `MatchPlan`, with all parts of a query
    clauses             the small parts: sorting, options, windows, union variables, measures
    choices             the base of options whose choices are declared in one place
    pattern             the row pattern
    stages              the steps of a pattern of stages, from the `Pattern` API
    totals              aggregates over all matches
    expression          scalar expressions, with references to rows
    amounts             the values of literal numbers and intervals
    operators           the table of operators and functions
    operations          which operations of an expression can fail
    forms               how an operation is written with other operations

Functions on plans and expressions:

    rules               reject plans that have no meaning
    warning_rules       warn about plans that probably mean something else
    resolve             resolve the names of columns
    earlier_measures    replace the names of earlier measures by their values
    build_expressions   build expressions, with the text that the engine evaluates
    change_expressions  change references, operations and inputs in expressions
    row_counts          count the rows that a match has, and the rows before a variable
    show                write parts of a plan as text, for messages

SQL text:

    templates           SQL text with holes for DataFrames
    text                names, strings, sums and averages as SQL text
    words               lists of words, such as reserved words
    parameters          names for `?`
"""
