"""RowColumn: a column that Spark computes for every input row before the match, and tests of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from matchrec.conditions.types import ValueType
from matchrec.errors.conditions import within_needs_ascending_order
from matchrec.plan.clauses import Gap, RowExpression, Within
from matchrec.plan.expression import ColumnReference, Frame, Scalar, row_text
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_frame, step
from matchrec.plan.text import Amount


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

    What looks at one row is one text: see `column_of`.
    may_fail: whether it may have no result under ANSI. amount: of a constant that is written.
    fields: the columns of which it is a struct.

    >>> RowColumn(("", Shifted("price", 0), " < ", Shifted("price", -1))).looks_at_one_row
    False
    """

    pieces: tuple[str | Shifted | Framed, ...]
    may_fail: bool = field(default=True, compare=False, repr=False)
    amount: Amount | None = field(default=None, compare=False, repr=False)
    fields: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def looks_at_one_row(self) -> bool:
        return len(self.pieces) == 1 and isinstance(self.pieces[0], str)

    @property
    def text(self) -> str:
        assert self.looks_at_one_row
        return str(self.pieces[0])


def arguments_of(piece: str | Shifted | Framed) -> tuple[str, ...]:
    match piece:
        case Shifted(argument=argument):
            return (argument,)
        case Framed(call=call):
            return tuple(text for part in call for text in arguments_of(part))
        case _:
            return ()


def texts_in(column: RowColumn) -> tuple[str, ...]:
    if column.looks_at_one_row:
        return (column.text,)
    return tuple(text for piece in column.pieces for text in arguments_of(piece))


def row_column(text: str, amount: Amount | None = None) -> RowColumn:
    return RowColumn((text.strip(),), amount=amount)


def column_of(pieces: Iterable[str | Shifted | Framed]) -> RowColumn:
    """The column of these pieces.

    >>> column_of(("abs(", Shifted("x", 0), ")")).text
    'abs(x)'
    """
    found, texts = tuple(pieces), []
    for piece in found:
        if isinstance(piece, Framed) or (isinstance(piece, Shifted) and piece.offset):
            return RowColumn(found)
        texts.append(piece.argument if isinstance(piece, Shifted) else piece)
    return row_column("".join(texts))


def term_column(term: Scalar) -> RowColumn:
    """The column of what an aggregate evaluates on each row, which looks at columns only."""
    first, *others = term.pieces
    fields = first.fields if isinstance(first, ColumnReference) and not others else ()
    return replace(row_column(row_text(term)), fields=fields)


def cast(column: RowColumn, type_name: str) -> RowColumn:
    return assembled(("CAST(", column, f" AS {type_name})"))


def conjunction(columns: tuple[RowColumn, ...]) -> RowColumn:
    """True where every column is true; one over one row may fail where an earlier one is not."""
    if len(columns) == 1:
        return columns[0]
    rows = tuple(column for column in columns if column.looks_at_one_row)
    if len(columns) > len(rows) and any(column.may_fail for column in rows[1:]):
        others = (column for column in columns if not column.looks_at_one_row)
        columns = (conjunction(rows), *others)
    pieces: list[str | RowColumn] = []
    for index, column in enumerate(columns):
        pieces += [" AND (" if index else "(", column, ")"]
    return assembled(pieces)


def true_unless(guard: RowColumn, column: RowColumn) -> RowColumn:
    return assembled(("CASE WHEN ", guard, " THEN ", column, " ELSE TRUE END"))


def assembled(parts: Sequence[str | RowColumn]) -> RowColumn:
    pieces: list[str | Shifted | Framed] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.looks_at_one_row:
            pieces.append(Shifted(part.text, 0))
        else:
            pieces += part.pieces
    return column_of(pieces)


def show_column(column: RowColumn) -> str:
    """A column as one would write it, with rows at a distance as PREV and NEXT."""
    return "".join(map(show_piece, column.pieces))


def show_piece(piece: str | Shifted | Framed) -> str:
    match piece:
        case Shifted(argument=argument, offset=offset):
            return step(offset, argument)
        case Framed(call=call, frame=frame):
            return f"{''.join(map(show_piece, call))} OVER ({show_frame(frame)})"
        case _:
            return piece


EVERYWHERE = row_column("TRUE")  # the condition of a stage without one


# WITHIN: the columns that say where the window of each row ends; the engine keeps to it.
#
# Rows are sorted ascending by the first ORDER BY column, so windows end in the order of their first
# rows, and the last row of a match bounds all of them.


@dataclass(frozen=True, slots=True)
class OrderType:
    """Of the first ORDER BY column. has_one_offset: the session's local times never go back."""

    type: ValueType
    has_one_offset: bool


def check_order(plan: MatchPlan) -> None:
    """Raises where the rows are not sorted as a window needs it."""
    for interval in plan.intervals:
        if not plan.order_by or plan.order_by[0].descending:
            raise within_needs_ascending_order(interval.span)


def near_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Where the windows between neighbours end that begin with a row, the smallest first."""
    return () if plan.staging is None else tuple(row_column(one) for one in plan.staging.ends)


def window_columns(plan: MatchPlan, window: Within | Gap | None) -> tuple[RowColumn, ...]:
    """The key along which a window is measured, and where the window of a row ends; or none.

    Both are the key where SQL does not say where windows end.
    """
    return () if window is None else end_columns(plan, window.interval)


def end_columns(plan: MatchPlan, interval: RowExpression) -> tuple[RowColumn, RowColumn]:
    order = plan.order_by[0].expression.text
    end = f"({order}) + {length_of(interval)}" if interval.text else order
    return row_column(order), row_column(end)


def length_of(interval: RowExpression) -> str:
    """What is added to a key; a number is a BIGINT, so that the end of the last window fits."""
    return f"({interval.text}L)" if interval.text.isdigit() else f"({interval.text})"
