"""What a query means: `MatchPlan`, its parts, and the steps that check and resolve it.

A plan has no syntax: it does not show in which language the query was written.

    match_plan        `MatchPlan`: all parts of a query
    clauses           the small parts: sorting, options, windows, union variables, measures
    expression        scalar expressions with references to rows
    change_expressions  changes the references, operations and inputs in expressions
    build_expressions   builds expressions, with the text that Spark evaluates
    operators         the table of operators and functions
    forms             how an operation is written with other operations
    operations        which operations of an expression can fail
    pattern           the row pattern
    stages            patterns of stages, from the `Pattern` API
    totals            aggregates over all matches
    choices           the declaration of an option's choices
    rules             rejects plans that have no meaning
    warning_rules     rules that warn about plans that probably mean something else
    resolve           names of columns
    earlier_measures  replaces names of earlier measures by their values
    show              parts of a plan as text
    templates         SQL text with holes for DataFrames
    text              names, strings, sums and averages as SQL text
    words             lists of words, such as reserved words
    amounts           the values of literal numbers and intervals
    parameters        names for `?`
    row_counts        how many rows of each variable a match has
"""
