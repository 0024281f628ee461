"""Rules that warn about plans that can run, but probably do not mean what the user wanted.

A rule is a function `warn_about_...` over a plan. For each rule, `errors.warning_classes` has a
class whose docstring says when the rule applies. `errors.warnings` or `errors.condition_warnings`
has a function that words the warning.

    comparisons     a value compared with itself, with NULL, or with a row that is not there yet
    same_values     what was meant instead of a comparison of a value with itself
    tested_rows     a comparison that contradicts the order of the rows, or a count
    contradictions  comparisons of one value that no row satisfies together; short windows
    constants       what is certain about two constants, for contradictions
    parameters      a parameter that is NULL in a condition, and a parameter in quotes
    wildcards       `*` in LIKE, `%` in a comparison
    counts          COUNT of a condition
    skipped_rows    PREV of the current row, if the match may have skipped the row before
    pattern_ends    loops and negations at the end of PATTERN, and empty matches
    alternatives    alternatives of PATTERN that are never tried
    skip_targets    AFTER MATCH SKIP TO a row that a match can lack, or that can be its first row
    anchors         `^` and `$` inside a match
    omissions       no ORDER BY, no conditions, lost braces
    idle_windows    windows and timeouts of a `Pattern` that have no effect
    references      facts about references and texts, for several rules
    early_variables the variables that can have rows when a condition is tested
    every_rule      `find_warnings`, which applies all of them
"""
