"""Columns of Parquet files as pandas writes them, of types that Sail does not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import ArrowInvalid, parquet, types
from pyspark.sql import Column
from pyspark.sql.functions import col

from matchrec.plan.text import quoted


def casts_of_pandas(path: Path) -> dict[str, Column]:
    """Columns of a Parquet file whose types pandas writes and Sail does not read, cast to others.

    These are times and durations in nanoseconds, and categories; none where the engine tells why it
    cannot read the file.
    """

    def type_for(kind: Any) -> str | None:
        if types.is_timestamp(kind) and kind.unit == "ns":
            return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
        if types.is_dictionary(kind):
            return "STRING"
        is_other = types.is_duration(kind) and kind.unit != "us"
        return "INTERVAL DAY TO SECOND" if is_other else None

    try:
        schema = parquet.read_schema(path)
    except (ArrowInvalid, OSError):
        return {}
    named = {field.name: type_for(field.type) for field in schema}
    return {name: col(quoted(name)).cast(kind) for name, kind in named.items() if kind}
