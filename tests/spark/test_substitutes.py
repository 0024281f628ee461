"""Values that Arrow cannot carry are replaced before rows are sent to the workers."""

from __future__ import annotations

from pyspark.sql import SparkSession

from matchrec.spark.substitutes import encode_columns


def test_a_field_is_read_from_its_struct_whatever_the_alias(spark: SparkSession) -> None:
    """The frame has an alias, a struct of the same name, and columns named as its fields."""
    rows = spark.sql(
        "SELECT named_struct('f', CAST(NULL AS VOID), 'h', 3) AS t, 5 AS f, 7 AS h"
    ).alias("t")
    (row,) = encode_columns(rows).collect()
    assert row["t"]["h"] == 3
