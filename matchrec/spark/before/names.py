"""Columns as SQL over the rows and over the window: each text over one row gets one name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeGuard

from matchrec.conditions.row_column import Framed, RowColumn, Shifted
from matchrec.dataclass import dataclass
from matchrec.plan.show import show_frame
from matchrec.spark import wire
from matchrec.spark.wire import SelectItem


@dataclass(frozen=True, slots=True)
class Names:
    """inner: the name of every text over one row: __c of a column that crosses, else __x.

    others: the name of every value that is read on another row, or on several.
    """

    inner: Mapping[str, str]
    others: Mapping[Shifted | Framed, str]

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
        moved = dict.fromkeys(piece for piece in pieces if reads_other_rows(piece))
        names = {one: wire.other_row(index) for index, one in enumerate(moved)}
        return cls(inner or {"1": wire.stays(0)}, names)

    def having(self, texts: Iterable[str]) -> Names:
        """The same with names of more texts over one row."""
        inner = dict(self.inner)
        for text in texts:
            inner.setdefault(text, wire.stays(len(inner)))
        return Names(inner, self.others)

    def rows(self) -> list[SelectItem]:
        """What is computed over one row."""
        return [SelectItem(text, name) for text, name in self.inner.items()]

    def other_rows(self, window: str) -> list[SelectItem]:
        """What is read on other rows of the sorted partition, NULL where there is none."""
        return [SelectItem(self.over(window, one), name) for one, name in self.others.items()]

    def over(self, window: str, one: Shifted | Framed) -> str:
        """The window function that reads a value some rows further on, or one of several rows."""
        if isinstance(one, Framed):
            call = "".join(p if isinstance(p, str) else self.inner[p.argument] for p in one.call)
            return f"{call} OVER ({window} {show_frame(one.frame)})"
        function = "lag" if one.offset < 0 else "lead"
        return f"{function}({self.inner[one.argument]}, {abs(one.offset)}) OVER ({window})"

    def over_window(self, column: RowColumn) -> str:
        """A column as SQL over the rows and what is read on other rows."""
        if column.looks_at_one_row:
            return self.inner[column.text]
        return "".join(map(self.piece, column.pieces))

    def piece(self, piece: str | Shifted | Framed) -> str:
        """A part of a column that looks at several rows."""
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Framed) or piece.offset:
            return self.others[piece]
        return self.inner[piece.argument]

    def crossing(self, columns: Iterable[RowColumn]) -> list[SelectItem]:
        """The columns that cross; one that looks at one row has its name from the start."""
        return [
            SelectItem(self.over_window(column), wire.column(index))
            for index, column in enumerate(columns)
        ]


def reads_other_rows(piece: str | Shifted | Framed) -> TypeGuard[Shifted | Framed]:
    """Whether a part of a column is computed over the window."""
    return isinstance(piece, Framed) or (isinstance(piece, Shifted) and piece.offset != 0)


def texts_in(column: RowColumn) -> tuple[str, ...]:
    """The texts over one row from which a column is made."""
    return (column.text,) if column.looks_at_one_row else column.arguments
