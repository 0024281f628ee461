"""The compiled loops: a kernel gets flat arrays, writes to them and returns a status.

A kernel allocates nothing. It runs until all partitions are searched, or until something does not
fit or fails. Its status then says what must grow; called again, it goes on where `progress` says.

    layout         the records and arrays that kernels read and write
    starts         from starting row to starting row, and AFTER MATCH SKIP
    mapping        whether a run may map a row; failures and equal runs

    depth_first    one run at a time, for the preferred match of consecutive rows
    distances      the same inside windows, and the longest match, if conditions read only data
    chained        the same for overlapping matches that share their rows
    preferred      all runs at once, for the preferred or the longest match
    skipping       one run at a time, if rows may be skipped or all matches are asked for
    breadth_first  all runs at once, for all matches

    buffer         the shared buffer of the rows of all runs
    matches        what is done with a finished match
    order          the order of matches, and skip strategies
    totals         aggregates over all matches

    counting       how far starting rows come that begin no match
    coverage            its search for the preferred match of consecutive rows
    selection_coverage  its search if rows may be skipped or all matches are asked for
"""
