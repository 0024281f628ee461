"""Rules: each rewrites a node of an expression so that the other product understands the same.

A rule is a function that gets a node of sqlglot's tree and a `RuleContext`:

    CAST(2.7 AS INTEGER)   Oracle rounds   →   CAST(ROUND(2.7) AS INT)   Spark cuts

sqlglot translates everything else. If its result means something else, `differences.txt` says so.
A rule may need the type of a column that is not known. Then the session looks up the types, and the
query is translated once more.

    by_product                        the rules between two products, in their order
    azure, bigquery, flink, ...       rules of one product
    aggregates, row_patterns,
    numbers, texts,
    times, choices, casts,
    qualify, recursion                rules of several products, by topic
    context                           what a rule gets, and what it can report
    value_kinds, visible_columns      the kinds of expressions and of columns
    named_queries                     what a relation in FROM is or names
    collected_arrays                  arrays that keep NULLs or are sorted, in Spark SQL
    function_calls                    calls of functions, those of row patterns included
"""
