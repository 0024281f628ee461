"""Columns that Spark computes for every input row before the match, and the tests among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from matchrec.conditions.types import ValueType
from matchrec.errors.conditions import within_needs_ascending_order
from matchrec.plan.clauses import Gap, RowExpression, Within
from matchrec.plan.expression import ColumnReference, Frame, Scalar, write_row_sql
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_frame, show_step
from matchrec.plan.text import Amount


@dataclass(frozen=True, slots=True)
class Shifted:
    """The value of an expression on another row of the partition."""

    argument: str  # SQL over one row
    offset: int  # how many rows after the row itself; negative for rows before


@dataclass(frozen=True, slots=True)
class Framed:
    """An aggregate over a frame of rows of the partition."""

    # The text of the call. Its columns are `Shifted` by 0.
    call: tuple[str | Shifted, ...]
    frame: Frame


ColumnPiece = str | Shifted | Framed


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column that Spark computes from a row and rows at a fixed distance from it.

    Columns with equal pieces are equal. SQL over the row alone is always a single piece of text;
    `join_pieces` takes care of that.

    >>> RowColumn(("", Shifted("price", 0), " < ", Shifted("price", -1))).looks_at_one_row
    False
    """

    pieces: tuple[ColumnPiece, ...]
    # Whether it may have no result under ANSI.
    may_fail: bool = field(default=True, compare=False, repr=False)
    # The value, if the column is a number or an interval that the user wrote.
    amount: Amount | None = field(default=None, compare=False, repr=False)
    # If the column is a struct, the columns that are its fields.
    fields: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def looks_at_one_row(self) -> bool:
        """Return whether the column reads only values of the current row."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], str)

    @property
    def text(self) -> str:
        """The SQL of a column that looks at one row."""
        assert self.looks_at_one_row
        return str(self.pieces[0])


def find_row_texts(column: RowColumn) -> tuple[str, ...]:
    """Return the SQL over one row from which a column is computed.

    For `price < PREV(price)` that is `price` twice.
    """
    if column.looks_at_one_row:
        return (column.text,)
    return tuple(text for piece in column.pieces for text in find_arguments(piece))


def find_arguments(piece: ColumnPiece) -> tuple[str, ...]:
    """Return the SQL over one row from which a piece of a column is computed."""
    match piece:
        case Shifted(argument=argument):
            return (argument,)
        case Framed(call=call):
            return tuple(text for part in call for text in find_arguments(part))
        case _:
            return ()


def build_row_column(text: str, amount: Amount | None = None) -> RowColumn:
    """Return the column of SQL over one row.

    Args:
        text: the SQL.
        amount: the value, if it is a number or an interval that the user wrote.
    """
    return RowColumn((text.strip(),), amount=amount)


def join_pieces(pieces: Iterable[ColumnPiece]) -> RowColumn:
    """Return the column that consists of these pieces.

    They become a single text if none of them reads another row:

    >>> join_pieces(("abs(", Shifted("x", 0), ")")).pieces
    ('abs(x)',)
    """
    pieces = tuple(pieces)
    texts = []
    for piece in pieces:
        if isinstance(piece, Framed) or (isinstance(piece, Shifted) and piece.offset != 0):
            return RowColumn(pieces)
        texts.append(piece.argument if isinstance(piece, Shifted) else piece)
    return build_row_column("".join(texts))


def build_term_column(term: Scalar) -> RowColumn:
    """Return the column of what an aggregate evaluates on each row.

    Args:
        term: an argument or the FILTER of the aggregate. It reads columns only.
    """
    column = build_row_column(write_row_sql(term))
    match term.pieces:
        case (ColumnReference(fields=fields),):
            return replace(column, fields=fields)
        case _:
            return column


def cast_column(column: RowColumn, type_name: str) -> RowColumn:
    """Return the column as another type of Spark."""
    return assemble(("CAST(", column, f" AS {type_name})"))


def join_columns(columns: tuple[RowColumn, ...]) -> RowColumn:
    """Return the column that is true if every column is true.

    In a column of several rows, each text over one row is computed for every row by itself. A text
    that fails unless an earlier one is true must stay together with it, so the columns over one
    row then come first, as a conjunction of their own. From `x <> 0`, `x < PREV(x)` and
    `1 / x > 2`:

        ((x <> 0) AND (1 / x > 2)) AND (x < PREV(x))
    """
    if len(columns) == 1:
        return columns[0]
    row_columns = tuple(column for column in columns if column.looks_at_one_row)
    has_other_columns = len(columns) > len(row_columns)
    if has_other_columns and any(column.may_fail for column in row_columns[1:]):
        other_columns = [column for column in columns if not column.looks_at_one_row]
        columns = (join_columns(row_columns), *other_columns)
    parts: list[str | RowColumn] = []
    for index, column in enumerate(columns):
        parts += [" AND (" if index else "(", column, ")"]
    return assemble(parts)


def build_guarded_test(guard: RowColumn, column: RowColumn) -> RowColumn:
    """Return the column if the guard is true, and else TRUE."""
    return assemble(("CASE WHEN ", guard, " THEN ", column, " ELSE TRUE END"))


def assemble(parts: Sequence[str | RowColumn]) -> RowColumn:
    """Return a column that is put together from text and columns."""
    pieces: list[ColumnPiece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.looks_at_one_row:
            pieces.append(Shifted(part.text, 0))
        else:
            pieces += part.pieces
    return join_pieces(pieces)


def show_column(column: RowColumn) -> str:
    """Return a column as a user would write it, with PREV and NEXT for other rows.

    >>> show_column(RowColumn((Shifted("price", 0), " < ", Shifted("price", -1))))
    'price < PREV(price)'
    """
    return "".join(show_piece(piece) for piece in column.pieces)


def show_piece(piece: ColumnPiece) -> str:
    """Return a piece of a column as a user would write it."""
    match piece:
        case Shifted(argument=argument, offset=offset):
            return show_step(offset, argument)
        case Framed(call=call, frame=frame):
            call_text = "".join(show_piece(part) for part in call)
            return f"{call_text} OVER ({show_frame(frame)})"
        case _:
            return piece


ALWAYS_TRUE = build_row_column("TRUE")  # the condition of a stage without one


# WITHIN: the columns that say where the window of each row ends. The search compares them.
#
# Rows are sorted ascending by the first ORDER BY column, so windows end in the order of their first
# rows. It suffices to compare the last row of a match with the end of its window.


@dataclass(frozen=True, slots=True)
class OrderType:
    """The type of the first ORDER BY column."""

    type: ValueType
    # Whether clocks in the session's time zone are never changed, so that local times never go
    # back.
    has_one_offset: bool


def check_order(plan: MatchPlan) -> None:
    """Check that the rows are sorted as windows need it.

    Raises:
        MatchRecognizeUnsupportedError: there is a window, but no ORDER BY, or its first column is
            descending.
    """
    for interval in plan.intervals:
        if not plan.order_by or plan.order_by[0].descending:
            raise within_needs_ascending_order(interval.span)


def build_near_columns(plan: MatchPlan) -> tuple[RowColumn, ...]:
    """Return where each window between a row and its next neighbour ends, the shortest first.

    Empty if the query has no stages.
    """
    if plan.staging is None:
        return ()
    return tuple(build_row_column(window.end_sql) for window in plan.staging.neighbour_windows)


def build_window_columns(plan: MatchPlan, window: Within | Gap | None) -> tuple[RowColumn, ...]:
    """Return the columns that measure a window; none without a window. See `build_end_columns`."""
    return () if window is None else build_end_columns(plan, window.interval)


def build_end_columns(plan: MatchPlan, interval: RowExpression) -> tuple[RowColumn, RowColumn]:
    """Return the order column, and where the window that begins with a row ends.

    Both are the order column if SQL does not say how long the window is.
    """
    order = plan.order_by[0].expression.text
    end = f"({order}) + {write_window_length(interval)}" if interval.text else order
    return build_row_column(order), build_row_column(end)


def write_window_length(interval: RowExpression) -> str:
    """Return the length of a window as SQL that can be added to the order column.

    A number becomes a BIGINT: with an INT the end of the last window might be too large.
    """
    return f"({interval.text}L)" if interval.text.isdigit() else f"({interval.text})"
