"""Event selection: rows may be skipped, and all matches may be asked for.

A task and its partitions go in, matches come out in the order in which they are complete: by
depth-first search, or by following all runs at once (`breadth_first`). Both share the order of
matches and after-match skip strategies (`skip`).
"""
