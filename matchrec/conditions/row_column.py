"""RowColumn: a column that Spark computes for every input row before the match, and tests of it."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.conditions.guards import text_may_fail
from matchrec.dataclass import dataclass
from matchrec.plan.expression import Frame
from matchrec.plan.show import show_frame, step


@dataclass(frozen=True, slots=True)
class Shifted:
    """The value of `argument`, SQL over one row, `offset` rows further on in the partition."""

    argument: str
    offset: int


@dataclass(frozen=True, slots=True)
class Framed:
    """An aggregate over a frame of the partition's rows; in `call`, `Shifted` are its columns."""

    call: tuple[str | Shifted, ...]
    frame: Frame


@dataclass(frozen=True, slots=True)
class RowColumn:
    """SQL over one row and rows at a fixed distance from it; equal pieces are one column.

    >>> RowColumn(("", Shifted("price", 0), " < ", Shifted("price", -1))).looks_at_one_row
    False
    """

    pieces: tuple[str | Shifted | Framed, ...]

    @property
    def looks_at_one_row(self) -> bool:
        """Whether no part of it reads another row."""
        return all(
            isinstance(piece, str) or (isinstance(piece, Shifted) and piece.offset == 0)
            for piece in self.pieces
        )

    @property
    def text(self) -> str:
        """The SQL text, for a column that looks at one row."""
        assert self.looks_at_one_row
        return "".join(
            piece.argument if isinstance(piece, Shifted) else str(piece) for piece in self.pieces
        )

    @property
    def arguments(self) -> tuple[str, ...]:
        """The texts over one row from which it is made, where it looks at several rows."""
        return tuple(text for piece in self.pieces for text in arguments_of(piece))


def arguments_of(piece: str | Shifted | Framed) -> tuple[str, ...]:
    """The texts over one row that a piece of a column needs."""
    match piece:
        case Shifted(argument=argument):
            return (argument,)
        case Framed(call=call):
            return tuple(text for part in call for text in arguments_of(part))
        case _:
            return ()


def texts_in(column: RowColumn) -> tuple[str, ...]:
    """The texts over one row from which a column is made."""
    return (column.text,) if column.looks_at_one_row else column.arguments


def row_column(text: str) -> RowColumn:
    """The column of SQL over one row."""
    return RowColumn((text.strip(),))


def cast(column: RowColumn, type_name: str) -> RowColumn:
    """The column as another Spark type."""
    if column.looks_at_one_row:
        return row_column(f"CAST({column.text} AS {type_name})")
    return RowColumn(("CAST(", *column.pieces, f" AS {type_name})"))


def conjunction(columns: tuple[RowColumn, ...]) -> RowColumn:
    """True where every column is true; one over one row may fail where an earlier one is not."""
    rows = tuple(column for column in columns if column.looks_at_one_row)
    if len(columns) > len(rows) and any(text_may_fail(column.text) for column in rows[1:]):
        others = (column for column in columns if not column.looks_at_one_row)
        columns = (conjunction(rows), *others)
    if len(columns) == 1:
        return columns[0]
    pieces: list[str | RowColumn] = []
    for index, column in enumerate(columns):
        pieces += [" AND (" if index else "(", column, ")"]
    return assembled(pieces)


def true_unless(guard: RowColumn, column: RowColumn) -> RowColumn:
    """The column where the guard is true, true elsewhere."""
    return assembled(("CASE WHEN ", guard, " THEN ", column, " ELSE TRUE END"))


def assembled(parts: Sequence[str | RowColumn]) -> RowColumn:
    """A column that is put together of text and columns."""
    columns = [part for part in parts if isinstance(part, RowColumn)]
    if all(column.looks_at_one_row for column in columns):
        return row_column("".join(part if isinstance(part, str) else part.text for part in parts))
    pieces: list[str | Shifted | Framed] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.looks_at_one_row:
            pieces.append(Shifted(part.text, 0))
        else:
            pieces += part.pieces
    return RowColumn(tuple(pieces))


def show_column(column: RowColumn) -> str:
    """A column as one would write it, with rows at a distance as PREV and NEXT."""
    return "".join(map(show_piece, column.pieces))


def show_piece(piece: str | Shifted | Framed) -> str:
    """A value of another row as PREV or NEXT, one of several rows with OVER."""
    match piece:
        case Shifted(argument=argument, offset=offset):
            return step(offset, argument) if offset else argument
        case Framed(call=call, frame=frame):
            return f"{''.join(map(show_piece, call))} OVER ({show_frame(frame)})"
        case _:
            return piece


EVERYWHERE = row_column("TRUE")  # the condition of a stage without one
