"""The second size of tests that Spark runs from end to end: an example with hundreds of keys.

Each copy of the rows has another value in the column `copy`, and queries partition by this column,
too. The result must have the same rows for each copy, so the slow reference runs only once.

`tests/quick/spark-defaults.conf` makes Spark spill, cut batches and fall back early.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

KEY = "copy"


def make_copies(rows: DataFrame, copies: int) -> DataFrame:
    """Return copies of the rows, each with another value in the column `copy`."""
    return rows.crossJoin(rows.sparkSession.range(copies).toDF(KEY))


def take_one_copy(result: DataFrame, copies: int) -> list[Row]:
    """Return the rows of one copy, and check that all copies have the same ones.

    Args:
        result: the rows of all copies, without the column `copy`.
    """
    rows: list[Row] = []
    make_row = Row(*result.columns)
    for row in result.groupBy(*result.columns).count().collect():
        *values, count = row
        count_per_copy, remainder = divmod(count, copies)
        assert remainder == 0, f"not in each of {copies} copies: {row}"
        rows += [make_row(*values)] * count_per_copy
    return rows
