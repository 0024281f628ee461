"""Columns as SQL over the rows and over the window: each text over one row gets one name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from matchrec.conditions.row_column import RowColumn, Shifted
from matchrec.spark import wire
from matchrec.spark.wire import SelectItem


@dataclass(frozen=True, slots=True)
class Names:
    """inner: the name of every text over one row: __c of a column that crosses, else __x.

    shifts: the name of every value that is read on another row.
    """

    inner: Mapping[str, str]
    shifts: Mapping[Shifted, str]

    @classmethod
    def of(
        cls,
        columns: tuple[RowColumn, ...],
        conditions: tuple[RowColumn, ...],
        others: Iterable[str],
    ) -> Names:
        """Names of columns that cross, of conditions, and of other texts over one row."""
        inner = {c.text: wire.column(i) for i, c in enumerate(columns) if c.looks_at_one_row}
        parts = (text for column in (*columns, *conditions) for text in texts_in(column))
        for text in (*others, *parts):
            inner.setdefault(text, wire.stays(len(inner)))
        pieces = (piece for column in (*columns, *conditions) for piece in column.pieces)
        moved = dict.fromkeys(one for one in pieces if isinstance(one, Shifted) and one.offset)
        shifts = {one: wire.other_row(index) for index, one in enumerate(moved)}
        return cls(inner or {"1": wire.stays(0)}, shifts)

    def rows(self) -> list[SelectItem]:
        """What is computed over one row."""
        return [SelectItem(text, name) for text, name in self.inner.items()]

    def other_rows(self, window: str) -> list[SelectItem]:
        """What is read on other rows of the sorted partition, NULL where there is none."""
        return [
            SelectItem(f"{self.shift(one)} OVER ({window})", name)
            for one, name in self.shifts.items()
        ]

    def shift(self, one: Shifted) -> str:
        """The window function that reads a value some rows further on."""
        function = "lag" if one.offset < 0 else "lead"
        return f"{function}({self.inner[one.argument]}, {abs(one.offset)})"

    def over_window(self, column: RowColumn) -> str:
        """A column as SQL over the rows and what is read on other rows."""
        if column.looks_at_one_row:
            return self.inner[column.text]
        return "".join(
            piece
            if isinstance(piece, str)
            else self.shifts.get(piece) or self.inner[piece.argument]
            for piece in column.pieces
        )

    def crossing(self, columns: Iterable[RowColumn]) -> list[SelectItem]:
        """The columns that cross; one that looks at one row has its name from the start."""
        return [
            SelectItem(self.over_window(column), wire.column(index))
            for index, column in enumerate(columns)
        ]


def texts_in(column: RowColumn) -> tuple[str, ...]:
    """The texts over one row from which a column is made."""
    if column.looks_at_one_row:
        return (column.text,)
    return tuple(piece.argument for piece in column.pieces if isinstance(piece, Shifted))
