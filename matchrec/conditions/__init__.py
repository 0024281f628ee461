"""Who computes what of a condition: Spark before the match, the engine during it.

    split      condition → a column of truth values for Spark, and a residual condition for the run
    typing     residual condition → run condition, in which every value has a type and a place

The rest names what passes between them: `RowColumn`, `residual`, `run_condition`, `types`. Text and
spans end here; afterwards a condition reads numbered columns.

    price < PREV(price) AND price > 2 * LAST(A.price)
      before:  price < lag(price)
      during:  price > (2 * price at LAST(A))
"""
