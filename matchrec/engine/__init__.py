"""Engines: program, conditions and partitions go in, matches come out; no column, SQL or Spark."""
