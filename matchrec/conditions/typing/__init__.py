"""Residual conditions go in, run conditions come out: each step with the type that Spark gives it.

`steps` asks the module of each kind of step: `calls` types what Python computes, `arithmetic` what
is compiled. All of them read columns by `typer`, which gives them places. What Spark would coerce
in a way that the engine cannot repeat is refused.
"""
