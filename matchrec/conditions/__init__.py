"""Decide who computes each part of a DEFINE condition: Spark before the match, or the search.

1. `split` divides a condition into columns of truth values for Spark, and a residual condition.
   `rows_read` says which rows an expression reads, `computed_operations` which operations need no
   Spark. `guards` and `mapped_rows` keep the columns from failing where the condition would not
   evaluate them.
2. `typing` gives every value of the residual condition a type and the index of its column. The
   result is a run condition, which `evaluate` compiles and the search evaluates during the match.

`row_column`, `residual`, `run_condition` and `types` define what passes between these steps. A run
condition has no SQL text and no spans any more; it reads numbered columns.

    price < PREV(price) AND price > 2 * LAST(A.price)
      before:  price < lag(price)
      during:  price > (2 * price at LAST(A))
"""
