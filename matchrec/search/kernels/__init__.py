"""The compiled loops: a kernel gets flat arrays, writes to them and returns a status.

A kernel allocates nothing. It runs until all partitions are searched, or until something does not
fit or fails. Its status then says what must grow; called again, it goes on where `progress` says.

Each of these has kernels, the record of what they work in, and the class that runs them; the class
of `all_matches` is in `search.runs_search`. They are explained by the strategy with the same name
in `search`. Some strategies run the kernel of another one for some tasks: see *Kernel* in their
files.

    memoised       one run at a time, if conditions depend on the data only
    plain          the same under conditions on the run, also for `search.memoised`
    distances      by distances to acceptance: in windows, and for the longest match
    chained        overlapping matches that share their rows
    merging        all runs at once, for the preferred or the longest match; rows may be skipped
    skipping       one run at a time, if rows may be skipped or all matches are output
    all_matches    all runs at once, for all matches
    totals         aggregates over all matches

These search for `coverage`:

    coverage            the preferred match of consecutive rows, and the nearest runs
    selection_coverage  the same if rows may be skipped or all matches are output
    nearest_runs        the nearest runs, and what is counted

All of them share:

    layout            the records and arrays that kernels read and write
    search_loop       from starting row to starting row, and AFTER MATCH SKIP
    mapping           whether a run may map a row
    memo              what need not be searched twice: failures, and runs with equal futures
    buffer            the shared buffer of the rows of all runs
    finished_matches  the tests of a match as a whole, and its output
    match_order       the order of matches, and skip strategies
    carried_totals    what runs carry for aggregates over all matches

`beginnings` runs before a search and marks the rows with which a match may begin. `sorting` is no
part of a search: a worker sorts rows by it.
"""
