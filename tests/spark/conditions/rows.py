"""Create random rows with values at the edges of their types, in small partitions."""

from __future__ import annotations

from random import Random

from pyspark.sql import SparkSession

from tests.generators.run_forms import NESTED, Columns


def create_rows(
    spark: SparkSession, random: Random, view: str, columns: Columns, count: int = 120
) -> None:
    """Create a view of rows with a key `k` and a time `t`.

    Args:
        columns: for each column its type, and its values as texts.
    """
    rows = [
        (
            str(random.randrange(count // 7)),
            str(t),
            *(random.choice([None, *map(str, values)]) for _, values in columns.values()),
        )
        for t in range(count)
    ]
    texts = spark.createDataFrame(rows, ", ".join(f"{n} STRING" for n in ("k", "t", *columns)))
    casts = [f"{write_cast(name, type_)} AS {name}" for name, (type_, _) in columns.items()]
    texts.selectExpr("k", "CAST(t AS INT) AS t", *casts).createOrReplaceTempView(view)


def write_cast(name: str, type_: str) -> str:
    """Return a text as a value of a type; nested ones are written as JSON."""
    if type_.startswith(NESTED):
        return f"from_json({name}, '{type_}')"
    return f"CAST({name} AS {type_})"
