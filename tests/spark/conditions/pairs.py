"""Conditions over two rows, computed by Spark's window functions and by a row pattern.

All conditions are in one query: `PATTERN (A (C0 | C1 | ...)) ALL MATCHES` finds, for each row after
the first of its partition, all conditions that are true for it and the row before. In a condition,
`A.x` is the value of the row before, and `x` that of the row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.sql import SparkSession

import matchrec

TrueConditions = set[tuple[int, int, int]]  # key, time, number of the condition


def find_true_in_spark(
    spark: SparkSession, table: str, conditions: Sequence[str]
) -> TrueConditions:
    """Return where Spark finds that the conditions are true, with LAG for the row before."""
    columns = ", ".join(
        f"{write_with_lag(condition)} AS c{number}" for number, condition in enumerate(conditions)
    )
    rows = spark.sql(
        f"SELECT k, t, row_number() OVER w AS n, {columns} FROM {table} "
        "WINDOW w AS (PARTITION BY k ORDER BY t)"
    ).collect()
    return {
        (row.k, row.t, number)
        for row in rows
        for number in range(len(conditions))
        if row.n > 1 and row[f"c{number}"]
    }


def write_with_lag(condition: str) -> str:
    """Return the condition as an expression with window functions."""
    return re.sub(r"\bA\.(\w+)", r"LAG(\1) OVER w", condition)


def find_true_in_patterns(
    spark: SparkSession, table: str, conditions: Sequence[str]
) -> TrueConditions:
    """Return where matchrec finds that the conditions are true."""
    defined = [re.sub(r"\bA\.(\w+)", r"LAST(A.\1)", condition) for condition in conditions]
    names = [f"C{number}" for number in range(len(conditions))]
    define = ", ".join(
        f"{name} AS {condition}" for name, condition in zip(names, defined, strict=True)
    )
    rows = matchrec.sql(
        spark,
        f"""SELECT k, t, c FROM {table} MATCH_RECOGNIZE (
            PARTITION BY k ORDER BY t MEASURES LAST(t) AS t, CLASSIFIER() AS c
            PATTERN (A ({" | ".join(names)})) ALL MATCHES DEFINE {define})""",
    ).collect()
    return {(row.k, row.t, int(row.c[1:])) for row in rows}
