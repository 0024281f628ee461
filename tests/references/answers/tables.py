"""The data of sql_examples as plain Python rows, and how an answer walks them."""

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


def table(name: str) -> list[Any]:
    """Rows of a data file as named tuples of plain Python values; NULL is None."""
    path = next(DATA.glob(f"{name}.*"))
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    columns = [[plain(value) for value in frame[column]] for column in frame.columns]
    record = NamedTuple(name, [(column, Any) for column in frame.columns])  # type: ignore[misc]
    return [record(*values) for values in zip(*columns, strict=True)]


def plain(value: Any) -> Any:
    """The value as Spark's collect() would give it."""
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def partitions(rows: list[Any], by: Callable[[Any], Any], order: Callable[[Any], Any]) -> list[Any]:
    """Rows of each key, in order."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        groups[by(row)].append(row)
    return [sorted(group, key=order) for _, group in sorted(groups.items(), key=str)]


def rounded(value: float, places: int = 0) -> float:
    """Half up, as Spark's ROUND."""
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def run(rows: list[Any], at: int, goes_on: Callable[[Any, Any], bool]) -> int:
    """Last position of the longest run that starts at `at` and goes on from row to row."""
    while at + 1 < len(rows) and goes_on(rows[at], rows[at + 1]):
        at += 1
    return at
