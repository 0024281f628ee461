"""Turn residual conditions into run conditions: give each step the type that Spark gives it.

`steps` begins with a condition and calls a module for each kind of step: `running_aggregates` types
aggregates, `arithmetic` what the search computes, with `numbers`, and `calls` what Python computes.
All of them read columns through `typer`. If Spark would convert a value in a way that the search
cannot repeat, the condition is rejected.
"""
