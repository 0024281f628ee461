"""Residual conditions go in, run conditions come out: each step with the type that Spark gives it.

`calls` types what Python computes, `mathematics` and `numbers` what is compiled. The columns that
are read get places. What Spark would coerce in a way that the engine cannot repeat is refused.
"""
