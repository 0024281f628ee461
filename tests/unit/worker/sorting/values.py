"""Draw random tables to sort, with columns of every type that a worker sorts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from matchrec.worker import internal_names
from matchrec.worker.column_roles import SortColumn, Sorting
from tests.references.sorting import SortItem

AWKWARD_FLOATS = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 5e-324, -5e-324, 1.5]
AWKWARD_TEXTS = ["", "a", "a\0", "a\0b", "b", "é", "\U0001f600", "\uffff", "12345678", "x" * 9]


def integers(bits: int) -> st.SearchStrategy[int]:
    """Draw integers: small ones, so that some are equal, and the extreme ones."""
    least = -(1 << (bits - 1))
    most = (1 << (bits - 1)) - 1
    return st.integers(-2, 3) | st.sampled_from([least, most]) | st.integers(least, most)


def floats(width: int) -> st.SearchStrategy[float]:
    """Draw numbers, often awkward ones."""
    smallest = 5e-324 if width == 64 else 1.401298464324817e-45
    awkward = [number if abs(number) != 5e-324 else smallest for number in AWKWARD_FLOATS]
    return st.sampled_from(awkward) | st.floats(width=width)  # type: ignore[arg-type]


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    """Draw decimals: small ones, so that some are equal, and the extreme ones."""
    most = 10**precision - 1
    digits = st.integers(-2, 2) | st.sampled_from([most, -most]) | st.integers(-most, most)
    return digits.map(lambda number: Decimal(number).scaleb(-scale, Context(prec=60)))


TEXTS = st.sampled_from(AWKWARD_TEXTS) | st.text(max_size=12)
LONG_TEXTS = TEXTS | st.sampled_from(["long " * 9, "long " * 9 + "b", "long " * 9 + "\0"])
KINDS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int8(): integers(8),
    pa.int16(): integers(16),
    pa.int32(): integers(32),
    pa.int64(): integers(64),
    pa.date32(): integers(32),
    pa.timestamp("us", "UTC"): integers(64),
    pa.timestamp("us"): integers(64),
    pa.duration("us"): integers(64),
    pa.time64("ns"): st.integers(0, 86_399_999_999_999),
    pa.float32(): floats(32),
    pa.float64(): floats(64),
    pa.decimal128(9, 2): decimals(9, 2),
    pa.decimal128(18, 0): decimals(18, 0),
    pa.decimal128(38, 5): decimals(38, 5),
    pa.string(): TEXTS,
    pa.large_string(): LONG_TEXTS,
    pa.binary(): TEXTS.map(str.encode) | st.binary(max_size=20),
}


@dataclass(frozen=True)
class Rows:
    """A table in batches, the sort columns, and their values for the reference."""

    batches: list[pa.RecordBatch]
    sorting: Sorting
    keys: list[SortItem]
    order: list[SortItem]

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return sum(batch.num_rows for batch in self.batches)

    def times(self, copies: int) -> Rows:
        """Return copies of the rows, which are numbered through."""
        table = pa.concat_tables([pa.Table.from_batches(self.batches)] * copies).combine_chunks()
        index = table.schema.get_field_index("row")
        table = table.set_column(index, "row", pa.array(range(table.num_rows), pa.int32()))
        keys, order = (
            [item._replace(values=[*item.values] * copies) for item in items]
            for items in (self.keys, self.order)
        )
        return Rows(table.to_batches(max_chunksize=100), self.sorting, keys, order)


@st.composite
def rows(draw: Callable[..., Any]) -> Rows:
    """Draw rows with keys k0, k1, ..., order columns o0, o1, ..., and the number of the `row`."""
    count = draw(st.integers(0, 60))
    keys = [column(draw, count) for _ in range(draw(st.integers(0, 2)))]
    order = [column(draw, count) for _ in range(draw(st.integers(0, 3)))]
    ways = [(draw(st.booleans()), draw(st.booleans())) for _ in order]
    names = [*(f"k{i}" for i in range(len(keys))), *(f"o{i}" for i in range(len(order)))]
    arrays = [array for _, array in [*keys, *order]]
    arrays += [pa.array(range(count), pa.int32()), pa.array([6] * count, pa.int64())]
    table = pa.Table.from_arrays(arrays, [*names, "row", internal_names.FIRST_BITS])
    columns = (SortColumn(f"o{i}", *way) for i, way in enumerate(ways))
    return Rows(
        table.to_batches(max_chunksize=draw(st.integers(1, 20))),
        Sorting(tuple(names[: len(keys)]), tuple(columns)),
        [SortItem(values) for values, _ in keys],
        [SortItem(values, *way) for (values, _), way in zip(order, ways, strict=True)],
    )


def column(draw: Callable[..., Any], count: int) -> tuple[list[Any], pa.Array]:
    """Draw the values of a column, and return them as a list and as an Arrow array.

    In the list, dates and times are numbers.
    """
    kind = draw(st.sampled_from(list(KINDS)))
    some = draw(st.lists(KINDS[kind], min_size=1, max_size=6))
    strategy = st.sampled_from(some) | KINDS[kind]
    strategy = strategy | st.none() if draw(st.booleans()) else strategy
    values = draw(st.lists(strategy, min_size=count, max_size=count))
    if pa.types.is_temporal(kind):
        raw = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        return values, pa.array(values, raw).view(kind)
    return values, pa.array(values, kind)
