"""Convert Spark schemas to Arrow schemas, and convert and write tables of Arrow."""

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
    """Return the Arrow schema in which a worker yields values of these Spark types."""
    from pyspark.sql.pandas import types as pandas_types

    options: dict[str, Any] = {"timezone": "UTC"} if has_zone_parameter() else {}
    return pandas_types.to_arrow_schema(schema, **options)


def has_arrow_type(field: spark_types.StructField) -> bool:
    """Return whether PySpark can convert values of a column to Arrow.

    PySpark cannot convert the elements of `array()`, which have no type, and intervals of months.
    """
    try:
        to_arrow_schema(spark_types.StructType([field]))
    except (ValueError, PySparkException):
        return False
    return True


@cache
def has_zone_parameter() -> bool:
    """Return whether PySpark's `to_arrow_schema` has a parameter for the time zone.

    Versions without the parameter use UTC. Vendors backport it, so no version is compared.
    """
    from pyspark.sql.pandas import types as pandas_types

    return "timezone" in signature(pandas_types.to_arrow_schema).parameters


def cast_to_spark_types(table: pa.Table) -> pa.Table:
    """Return a user's table with its columns cast to types of Spark: see `find_spark_type`."""
    from matchrec.worker.arrow_types import find_spark_type

    schema = pa.schema([column.with_type(find_spark_type(column.type)) for column in table.schema])
    return table.cast(schema)


def write_parquet(frame: DataFrame, path: Path) -> int:
    """Write all rows of a DataFrame to a Parquet file, in their order, and return their number."""
    table = frame.toArrow()
    parquet.write_table(table, path)
    return table.num_rows  # type: ignore[no-any-return]
