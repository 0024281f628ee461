"""Find rows that need not reach the workers, and shortcuts that a plan allows.

    irrelevant_rows     filters that leave out rows without effect, before the sort
    condition_windows   conditions that bound a match as WITHIN does, as a window
    distance_facts      what a condition says about the distance to the first row of a match
    window_limits       how far a window reaches, in units of the order column
    gap_conditions      windows inside a match, as conditions
    dependencies        what a plan depends on besides the values of matched rows
    proven_shortcuts    which shortcuts are proven for which dependencies

Rows are left out only if it is proven that the matches are the same without them.
"""
