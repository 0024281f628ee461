"""The compiled loops: a kernel gets flat arrays, writes to them and returns a status.

A kernel allocates nothing. It runs until all partitions are searched, an array is full, or a
condition fails. If an array is full, the status says which one. The caller makes it larger and
calls the kernel again, which goes on where `progress` says.

Each of these modules has one or more kernels, the record of the arrays that they change, and the
class that runs them; the class of `all_matches` is in `search.runs_search`. The strategy with the
same name in `search` explains when they are used. Some strategies run the kernel of another
strategy for some tasks: see *Kernel* in their files.

    memoised       one run at a time, if conditions depend on the data only
    plain          one run at a time, with conditions on the run
    distances      by distances to acceptance: in windows, and for the longest match
    chained        overlapping matches that share their rows
    merging        all runs at once, for the preferred or the longest match; rows can be skipped
    skipping       one run at a time, if rows can be skipped or all matches are output
    all_matches    all runs at once, for all matches
    totals         aggregates over all matches

These modules search for `search.coverage`:

    coverage            the preferred match of consecutive rows, and the nearest runs
    selection_coverage  any match and the nearest runs, with event selection
    nearest_runs        the nearest runs, and the counts

All kernels share:

    layout            the records and arrays that kernels read and write
    search_loop       from starting row to starting row, and AFTER MATCH SKIP
    mapping           whether a run can map a row
    memo              failures that are remembered, and computation states that were reached
    buffer            the shared buffer of the rows of all runs
    finished_matches  the tests of a match as a whole, and its output
    match_order       the order of matches, and skip strategies
    carried_totals    what runs carry for aggregates over all matches

`beginnings` runs before a search and marks the rows with which a match can begin. `sorting` is not
part of a search: a worker sorts its rows and numbers values with it.
"""
