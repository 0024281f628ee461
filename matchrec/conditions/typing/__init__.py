"""Residual conditions go in, run conditions come out: each step with the type that Spark gives it.

`typer` reads columns, which it gives places, and asks the module of each kind of operation: `calls`
types what Python computes, `arithmetic` what is compiled. What Spark would coerce in a way that the
engine cannot repeat is refused.
"""
