"""The search: a row pattern, conditions and partitions in, matches out.

Nothing here knows columns, SQL or Spark. In the order in which a reader may want to go through it:

    interface    the task of a search, and the limits on what it may hold
    strategies   the two algorithms and their strategies, and which one is chosen
    partitions   the rows that are searched
    matches      what is returned
    records      a task and its partitions, turned into the arrays that kernels read
    search       the loop around a kernel, and the searches for one match of a starting row
    selection    the searches with event selection, and skip strategies
    incremental  a search that is stopped and resumed, for streams
    partial      runs that are output in addition to the matches
    nearby       row conditions that read rows at a fixed distance
    coverage     how far starting rows come that begin no match
    graph        the version numbers of the graph of all matches
    kernels      the compiled loops: one file for each algorithm

*Backtracking* follows one run at a time, in preferment order. *Breadth-first search* follows all
runs at once, over a shared buffer of their rows.
"""
