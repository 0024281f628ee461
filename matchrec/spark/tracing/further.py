"""What is collected of each row beside what the engine needs: its place, and two tests of it."""

from __future__ import annotations

import pyarrow as pa

from matchrec.dataclass import dataclass
from matchrec.spark import wire
from matchrec.spark.worker.arrays import as_integers, column


@dataclass(frozen=True)
class Further:
    """The columns behind those that cross: places of rows, two tests, tests of relevance."""

    table: pa.Table
    crossing: int
    orders: int
    tests: int

    def values(self, index: int) -> pa.Array:
        """One of them."""
        return column(self.table, wire.column(self.crossing + index))

    def flags(self, index: int) -> list[bool]:
        """One that is a truth value."""
        return [bool(one) for one in as_integers(self.values(index)).tolist()]

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """Where each row stands in the order, as text."""
        texts = [self.values(index).to_pylist() for index in range(self.orders)]
        rows = zip(*texts, strict=True) if texts else ((),) * self.table.num_rows
        return tuple(tuple("NULL" if one is None else one for one in row) for row in rows)

    @property
    def asked(self) -> tuple[int, ...]:
        """The rows that are asked for."""
        return tuple(i for i, one in enumerate(self.flags(self.orders)) if one)

    @property
    def earlier(self) -> int:
        """How many rows come before the one that is asked for."""
        return sum(self.flags(self.orders + 1))

    @property
    def irrelevant(self) -> frozenset[int]:
        """The rows that are left out before the search."""
        if not self.tests:
            return frozenset()
        first = self.orders + 2
        columns = [self.flags(index) for index in range(first, first + self.tests)]
        return frozenset(i for i, row in enumerate(zip(*columns, strict=True)) if not any(row))
