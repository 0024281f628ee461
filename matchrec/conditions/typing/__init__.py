"""Turn residual conditions into run conditions: give each step the type that Spark gives it.

`steps` begins with a condition and calls a module for each sort of step:

- `computed_columns` types columns that the search computes instead of Spark;
- `running_aggregates` types aggregates;
- `arithmetic` and `mathematics` type what the search computes, with `numbers`;
- `calls` types what Python computes: `python_values` says when that must be, and `arguments`
  converts the arguments.

All of them read columns and convert values through `typer`, and some through `operand_types`, which
knows what depends on the operation. `rewriting` has what is an operation of other operations.
`run_columns` numbers the columns, `constants` are numbers that
the user wrote, and `failures` says which operations can fail. If Spark would convert a value in a
way that the search cannot repeat, the condition is rejected.

`known_types` finds types without asking Spark.
"""
