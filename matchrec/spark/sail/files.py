"""Read columns of Parquet files that pandas writes with types that Sail does not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import ArrowInvalid, parquet, types
from pyspark.sql import Column
from pyspark.sql.functions import col

from matchrec.plan.text import quote_name


def find_casts(path: Path) -> dict[str, Column]:
    """Return a cast for each column of a Parquet file whose type Sail does not read, by its name.

    Sail does not read times in nanoseconds, durations in other units than microseconds, and
    categories. The result is empty if the file cannot be read: the engine will raise an error that
    says why.
    """
    try:
        schema = parquet.read_schema(path)
    except (ArrowInvalid, OSError):
        return {}
    readable_types = {field.name: find_readable_type(field.type) for field in schema}
    return {
        name: col(quote_name(name)).cast(type_)
        for name, type_ in readable_types.items()
        if type_ is not None
    }


def find_readable_type(arrow_type: Any) -> str | None:
    """Return the SQL type to which a column is cast; None for an Arrow type that Sail reads."""
    if types.is_timestamp(arrow_type) and arrow_type.unit == "ns":
        return "TIMESTAMP" if arrow_type.tz else "TIMESTAMP_NTZ"
    if types.is_dictionary(arrow_type):
        return "STRING"
    if types.is_duration(arrow_type) and arrow_type.unit != "us":
        return "INTERVAL DAY TO SECOND"
    return None
