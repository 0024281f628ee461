"""The search: a row pattern, conditions and partitions in, matches out.

Nothing here knows columns, SQL or Spark. In the order in which a reader may want to go through it:

    interface    the task of a search, and the limits on what it may hold
    strategies   the two algorithms and the list of strategies, and which one is chosen
    strategy     what a strategy is
    partitions   the rows that are searched
    matches      what is returned
    records      a task and its partitions, turned into the arrays that kernels read
    search       the loop around a kernel
    selection    the order of matches with event selection, and skip strategies
    live_runs    the live runs of a search that is stopped
    incremental  a search that is stopped and resumed, for streams
    partial      runs that are output in addition to the matches
    nearby       row conditions that read rows at a fixed distance
    coverage     how far starting rows come that begin no match
    graph        the version numbers of the graph of all matches
    kernels      the compiled loops: one file for each strategy

Each strategy has a file, which says what it does, when it is chosen and what it costs:

    memoised     backtracking with a memory of failures
    plain        backtracking under conditions on the run
    distances    search by distances: in windows, and for the longest match
    chained      overlapping matches that share their rows
    merging      breadth-first search with merging
    skipping     event selection, one run at a time
    all_matches  event selection, all runs at once
    totals       aggregates over all matches

*Backtracking* follows one run at a time, in preferment order. *Breadth-first search* follows all
runs at once, over a shared buffer of their rows.
"""
