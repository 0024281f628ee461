"""The second size of tests that Spark runs from end to end: an example under hundreds of keys.

Each copy of the rows has a key of its own, by which queries partition as well. Of each copy come
the rows of the example, so that one answer of a slow reference says what all of them are. Beside
it, `tests/quick/spark-defaults.conf` has Spark spill, cut batches and fall back early.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

KEY = "copy"


def in_copies(rows: DataFrame, copies: int) -> DataFrame:
    """The rows as often, each time with another value of the column `copy`."""
    return rows.crossJoin(rows.sparkSession.range(copies).toDF(KEY))


def of_each_copy(found: DataFrame, copies: int) -> list[Row]:
    """The rows that come of each copy; all must come as often. found: without the copy's key."""
    once: list[Row] = []
    make = Row(*found.columns)
    for row in found.groupBy(*found.columns).count().collect():
        *values, count = row
        often, others = divmod(count, copies)
        assert others == 0, f"not of each of {copies} copies: {row}"
        once += [make(*values)] * often
    return once
