"""Arrow on the side of Spark: convert schemas, cast tables, and write Parquet files."""

from __future__ import annotations

from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types


def to_arrow_schema(schema: spark_types.StructType) -> pa.Schema:
    """Return the Arrow schema in which a worker yields values of these Spark types.

    Raises:
        ValueError, PySparkException: Arrow has no type for one of Spark's types.
    """
    from pyspark.sql.pandas import types as pandas_types

    zone_argument: dict[str, Any] = {"timezone": "UTC"} if has_zone_parameter() else {}
    return pandas_types.to_arrow_schema(schema, **zone_argument)


def has_arrow_type(field: spark_types.StructField) -> bool:
    """Return whether PySpark can convert values of a column to Arrow.

    PySpark converts neither the elements of `array()`, which have no type, nor intervals of months.
    """
    try:
        to_arrow_schema(spark_types.StructType([field]))
    except (ValueError, PySparkException):
        return False
    return True


@cache
def has_zone_parameter() -> bool:
    """Return whether PySpark's `to_arrow_schema` has a parameter for the time zone.

    Versions without the parameter use UTC. Vendors add the parameter to older versions, so version
    numbers do not tell.
    """
    from pyspark.sql.pandas import types as pandas_types

    return "timezone" in signature(pandas_types.to_arrow_schema).parameters


def cast_to_spark_types(table: pa.Table) -> pa.Table:
    """Return a user's table with each column cast to the type that `find_spark_type` returns."""
    from matchrec.worker.arrow_types import find_spark_type

    schema = pa.schema([column.with_type(find_spark_type(column.type)) for column in table.schema])
    return table.cast(schema)


def write_parquet(frame: DataFrame, path: Path) -> int:
    """Write all rows of a DataFrame to a Parquet file, in their order, and return how many.

    All rows must fit into the memory of this program.
    """
    table = frame.toArrow()
    parquet.write_table(table, path)
    return table.num_rows  # type: ignore[no-any-return]
