"""The columns that run conditions read."""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import Kind


@dataclass(slots=True)
class RunColumns:
    """The columns that run conditions read, in the order in which the engine holds them.

    integers, floats: each with its index. ranked: columns whose values are replaced by their rank
    among all values of these columns.
    """

    integers: dict[RowColumn, int] = field(default_factory=dict)
    floats: dict[RowColumn, int] = field(default_factory=dict)
    ranked: set[RowColumn] = field(default_factory=set)

    def place(self, column: RowColumn, kind: Kind) -> int:
        """The index of a column among those of its kind; it is added on first use."""
        columns = self.integers if kind is Kind.INTEGER else self.floats
        return columns.setdefault(column, len(columns))

    @property
    def ranks(self) -> frozenset[int]:
        """The indices of those integer columns that hold ranks."""
        return frozenset(self.integers[column] for column in self.ranked)
