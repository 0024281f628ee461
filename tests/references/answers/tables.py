"""Read the data of sql_examples as Python rows, and find partitions and runs in them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

DATA = Path(__file__).parents[3] / "sql_examples" / "data"
Row = tuple[Any, ...]


def read_data_file(name: str) -> list[Any]:
    """Return the rows of a data file as named tuples of Python values; NULL is None."""
    path = next(DATA.glob(f"{name}.*"))
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    columns = [[convert_value(value) for value in frame[column]] for column in frame.columns]
    record = NamedTuple(name, [(column, Any) for column in frame.columns])  # type: ignore[misc]
    return [record(*values) for values in zip(*columns, strict=True)]


def convert_value(value: Any) -> Any:
    """Return a value of pandas as Spark's `collect` returns it."""
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def split_into_partitions(
    rows: list[Any], by: Callable[[Any], Any], order: Callable[[Any], Any]
) -> list[Any]:
    """Return the rows of each key, in order."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        groups[by(row)].append(row)
    return [sorted(group, key=order) for _, group in sorted(groups.items(), key=str)]


def round_half_up(value: float, digits: int = 0) -> float:
    """Round half up, as Spark's ROUND does."""
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def find_end_of_run(rows: list[Any], start: int, continues: Callable[[Any, Any], bool]) -> int:
    """Return the position of the last row of the longest run that starts at a row.

    Args:
        rows: the rows of a partition.
        start: the position of the first row of the run.
        continues: returns whether the second row may follow the first one in a run.
    """
    last = start
    while last + 1 < len(rows) and continues(rows[last], rows[last + 1]):
        last += 1
    return last
