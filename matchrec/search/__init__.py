"""The search: program, conditions and partitions go in, matches come out; no column, SQL or Spark.

`engines` chooses an algorithm and its strategy, `records` makes what kernels read, `search` is the
loop around a kernel, with the searches that skip no row and find one match of each starting row;
the rest is in `selection`. Backtracking follows one run at a time, in preferment order.
Breadth-first search follows all runs at once, over a shared buffer of their rows.
"""
