"""Columns and bits as SQL: each text over one row gets one name, truth values become one number.

Bit 0 of the first column marks the first row of a partition, bit c + 1 the rows on which condition
c holds; a further column takes over every 62 bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from matchrec.compile.columns import Computed
from matchrec.conditions.row_column import Framed, RowColumn, Shifted, texts_in
from matchrec.dataclass import dataclass
from matchrec.errors.run.origins import SqlOrigin, with_origin
from matchrec.plan.show import show_frame
from matchrec.spark import wire
from matchrec.spark.wire import SelectItem

BITS_A_COLUMN = 62
NARROWEST = ((7, "TINYINT"), (15, "SMALLINT"), (31, "INT"), (BITS_A_COLUMN + 1, "BIGINT"))


def bit_columns(first: str, conditions: Iterable[str]) -> list[SelectItem]:
    """The columns of the mark of a partition's first row and of the conditions."""
    chunks = enumerate(chunks_of([first, *conditions]))
    return [SelectItem(pack(chunk), wire.bits(index)) for index, chunk in chunks]


def null_columns(marks: Sequence[str]) -> list[SelectItem]:
    """The columns of tests that say which other columns are NULL."""
    chunks = enumerate(chunks_of(marks))
    return [SelectItem(pack(chunk), wire.nulls(index)) for index, chunk in chunks]


def chunks_of(tests: Sequence[str]) -> Iterator[Sequence[str]]:
    """The tests of each column."""
    for begin in range(0, len(tests), BITS_A_COLUMN):
        yield tests[begin : begin + BITS_A_COLUMN]


def pack(tests: Sequence[str]) -> str:
    """Pack up to 62 truth values into one integer, as narrow as it can be."""
    width = next(name for bits, name in NARROWEST if len(tests) <= bits)
    bits = [f"CASE WHEN {test} THEN {1 << i}L ELSE 0L END" for i, test in enumerate(tests)]
    return f"CAST({' | '.join(bits)} AS {width})"


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """inner: the name of every text over one row: __c of a column that crosses, else __x.

    others: the name of every value that is read on another row, or on several. origins: where the
    user wrote them.
    """

    inner: Mapping[str, str]
    others: Mapping[Shifted | Framed, str]
    origins: Mapping[Computed, SqlOrigin]

    @classmethod
    def of(
        cls,
        columns: tuple[RowColumn, ...],
        conditions: tuple[RowColumn, ...],
        others: Iterable[str],
        origins: Mapping[Computed, SqlOrigin],
    ) -> ColumnNames:
        """Names of columns that cross, of conditions, and of other texts over one row."""
        inner = {c.text: wire.column(i) for i, c in enumerate(columns) if c.looks_at_one_row}
        parts = (text for column in (*columns, *conditions) for text in texts_in(column))
        for text in (*others, *parts):
            inner.setdefault(text, wire.stays(len(inner)))
        pieces = (piece for column in (*columns, *conditions) for piece in column.pieces)
        moved = dict.fromkeys(piece for piece in pieces if reads_other_rows(piece))
        names = {one: wire.other_row(index) for index, one in enumerate(moved)}
        return cls(inner or {"1": wire.stays(0)}, names, origins)

    def rows(self) -> list[SelectItem]:
        """What is computed over one row."""
        return [SelectItem(self.said(text, text), name) for text, name in self.inner.items()]

    def other_rows(self, window: str) -> list[SelectItem]:
        """What is read on other rows of the sorted partition, NULL where there is none."""
        items = ((self.over(window, one), one, name) for one, name in self.others.items())
        return [SelectItem(self.said(sql, one), name) for sql, one, name in items]

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
        return self.said("".join(map(self.piece, column.pieces)), column)

    def said(self, sql: str, computed: Computed) -> str:
        """SQL that says where the user wrote what it computes."""
        return with_origin(sql, self.origins.get(computed))

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
