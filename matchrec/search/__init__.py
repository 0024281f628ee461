"""The search: find the matches of a row pattern with conditions in partitions of rows.

No module of this package depends on SQL or Spark. The modules, in an order in which to read them:

    task             the compiled query that is searched, and the limits on memory
    strategies       the two algorithms, the list of strategies, and which one is chosen
    strategy         the base classes of strategies
    partitions       the rows that are searched
    window_ends      for each row, the end of the window of a match that starts there
    flat_arrays      functions of arrays that hold groups of different sizes
    matches          the matches that a search returns, and its failures
    compiled_task    the arrays of a task that kernels read
    kernel_input     the arrays of a task and its partitions together
    progress         the records in which a search notes how far it has come
    kernel_search    the base class of searches: the loop around a kernel
    path_search      the base class of searches of one run at a time
    buffer_search    the base class of searches of all runs at once, with a shared buffer
    ended_windows    the window by which a run timed out, if several have ended
    selection        event selection: the searches of its strategies
    runs_search      the search of all runs at once for all matches
    match_lists      matches of event selection in order: sorted, joined and numbered
    skip_strategies  skip strategies of event selection
    live_runs        the live runs of a search that is stopped
    incremental      a search that is stopped and resumed, for streams
    partial          runs that are output in addition to the matches
    nearby           conditions on rows at a fixed distance, computed before the search
    beginnings       rows with which no match can begin, which a search passes over
    coverage         a search that counts how far starting rows without a match come
    graph            the version numbers of the graph of all matches
    kernels          the compiled loops: one file for each strategy

Each strategy has a file, which says what it does, when it is chosen and what it costs:

    memoised       backtracking with a memory of failures
    plain          backtracking with conditions on the run
    distances      search by distances: in windows, and for the longest match
    chained        overlapping matches that share their rows
    merging        breadth-first search with merging
    skipping       event selection, one run at a time
    all_matches    event selection, all runs at once
    totals         aggregates over all matches

*Backtracking* follows one run at a time, in preferment order. *Breadth-first search* follows all
runs at once, over a shared buffer of their rows.

A *run* is one way to map rows to variables, from a starting row on. Its *choices* are what it can
do with the next row, by the automaton of the row pattern. Costs count how often a condition is
tested on a row.
"""
