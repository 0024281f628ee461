"""Engines: program, conditions and partitions go in, matches come out; no column, SQL or Spark.

`engines` chooses an algorithm by its name, `records` makes what kernels read, `search` is the loop
around a kernel. `preferred` follows all runs at once for one match of each starting row, whether
rows may be skipped or not; the rest is in `contiguous`, where no row is skipped, and `selection`.
"""
