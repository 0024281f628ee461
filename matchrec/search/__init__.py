"""The search: program, conditions and partitions → matches. It knows no column, SQL or Spark.

    strategies  the two algorithms and their strategies, and which one is chosen
    records     what kernels read, made from a task
    search      the loop around a kernel, and the searches for one match of a starting row
    selection   the searches with event selection, and what a skip strategy leaves
    kernels     the compiled loops

Backtracking follows one run at a time, in preferment order. Breadth-first search follows all runs
at once, over a shared buffer of their rows.
"""
