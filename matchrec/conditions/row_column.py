"""Columns that Spark computes for every input row before the match, such as conditions of rows.

A column is SQL that is cut into pieces, so that values of neighbouring rows are pieces of their
own. A column that reads a single row is a single text:

    price < PREV(price)     `price` shifted by 0, the text ` < `, `price` shifted by -1
    price * 2               the text `price * 2`

`assemble_column` puts columns together, and `show_column` shows them to users.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from matchrec.plan.amounts import Amount
from matchrec.plan.expression import ColumnReference, Frame, Scalar, write_row_sql
from matchrec.plan.show import show_frame, show_step


@dataclass(frozen=True, slots=True)
class ShiftedValue:
    """The value of an expression on a row at a fixed distance in the partition."""

    # The expression, as SQL over one row.
    argument: str
    # How many rows after the row itself; negative for rows before it.
    offset: int


@dataclass(frozen=True, slots=True)
class FramedAggregate:
    """An aggregate over a frame of rows of the partition."""

    # The text of the call. Its columns are shifted by 0.
    call: tuple[str | ShiftedValue, ...]
    # The rows, counted from the row itself.
    frame: Frame


# A piece of a column's SQL: text, or a value for which Spark reads other rows.
ColumnPiece = str | ShiftedValue | FramedAggregate


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column that Spark computes from a row and rows at a fixed distance from it.

    Columns with equal pieces are equal. SQL over the row alone is always a single piece of text;
    `join_pieces` takes care of that.

    >>> RowColumn(("", ShiftedValue("price", 0), " < ", ShiftedValue("price", -1))).reads_one_row
    False
    """

    # The SQL of the column, in which values of neighbouring rows are pieces of their own.
    pieces: tuple[ColumnPiece, ...]
    # Whether computing the column can raise an error in ANSI mode. True for a column that is put
    # together from others, unless the code that does so knows better.
    can_fail: bool = field(default=True, compare=False, repr=False)
    # The value, if the column is a number or an interval that the user wrote.
    amount: Amount | None = field(default=None, compare=False, repr=False)
    # If the column is a struct, the columns that are its fields; otherwise empty.
    fields: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def reads_one_row(self) -> bool:
        """Return whether the column reads only values of the current row."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], str)

    @property
    def text(self) -> str:
        """Return the SQL of a column that reads one row."""
        assert self.reads_one_row
        return str(self.pieces[0])


# A column that is true on every row, for example the test of a stage without a condition.
ALWAYS_TRUE = RowColumn(("TRUE",))


def find_row_texts(column: RowColumn) -> tuple[str, ...]:
    """Return the SQL over one row from which a column is computed.

    For `price < PREV(price)`, the result is `price` twice.
    """
    if column.reads_one_row:
        return (column.text,)
    return tuple(text for piece in column.pieces for text in find_piece_texts(piece))


def find_piece_texts(piece: ColumnPiece) -> tuple[str, ...]:
    """Return the SQL over one row from which a piece of a column is computed.

    The result is empty for a piece that is text.
    """
    match piece:
        case ShiftedValue(argument=argument):
            return (argument,)
        case FramedAggregate(call=call):
            return tuple(text for part in call for text in find_piece_texts(part))
        case _:
            return ()


def build_row_column(text: str, amount: Amount | None = None) -> RowColumn:
    """Return the column of SQL over one row.

    Args:
        text: the SQL.
        amount: the value, if the SQL is a number or an interval that the user wrote; else None.
    """
    return RowColumn((text.strip(),), amount=amount)


def join_pieces(pieces: Iterable[ColumnPiece]) -> RowColumn:
    """Return the column that consists of these pieces.

    The pieces become a single text if none of them reads another row:

    >>> join_pieces(("abs(", ShiftedValue("x", 0), ")")).pieces
    ('abs(x)',)
    """
    pieces = tuple(pieces)
    texts = []
    for piece in pieces:
        match piece:
            case str():
                texts.append(piece)
            case ShiftedValue(argument=argument, offset=0):
                texts.append(argument)
            case _:
                return RowColumn(pieces)
    return build_row_column("".join(texts))


def build_aggregate_term_column(term: Scalar) -> RowColumn:
    """Return the column of an expression that an aggregate evaluates on each row.

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
    """Return the column cast to another type of Spark."""
    return assemble_column(("CAST(", column, f" AS {type_name})"))


def join_columns(columns: tuple[RowColumn, ...]) -> RowColumn:
    """Return the column that is true if every column is true: their conjunction.

    If the conjunction reads several rows, Spark computes each text over one row separately. But a
    text that can fail unless an earlier text is true must stay together with that text. So if one
    can fail, the columns over one row are joined first. `x <> 0`, `x < PREV(x)` and `1 / x > 2`
    become:

        ((x <> 0) AND (1 / x > 2)) AND (x < PREV(x))

    Args:
        columns: the columns, at least one, in the order in which the condition has them.
    """
    if len(columns) == 1:
        return columns[0]
    row_columns = tuple(column for column in columns if column.reads_one_row)
    other_columns = tuple(column for column in columns if not column.reads_one_row)
    if other_columns and any(column.can_fail for column in row_columns[1:]):
        columns = (join_columns(row_columns), *other_columns)
    parts: list[str | RowColumn] = []
    for index, column in enumerate(columns):
        parts += [" AND (" if index else "(", column, ")"]
    return assemble_column(parts)


def build_guarded_test(guard: RowColumn, column: RowColumn) -> RowColumn:
    """Return the column with the value of `column` where the guard is true, and TRUE elsewhere."""
    return assemble_column(("CASE WHEN ", guard, " THEN ", column, " ELSE TRUE END"))


def assemble_column(parts: Sequence[str | RowColumn]) -> RowColumn:
    """Return a column that is put together from text and columns.

    >>> before = RowColumn((ShiftedValue("x", -1),))
    >>> assemble_column(("abs(", before, ")")).pieces
    ('abs(', ShiftedValue(argument='x', offset=-1), ')')
    """
    pieces: list[ColumnPiece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.reads_one_row:
            pieces.append(ShiftedValue(part.text, 0))
        else:
            pieces += part.pieces
    return join_pieces(pieces)


def show_column(column: RowColumn) -> str:
    """Return a column as a user would write it, with PREV and NEXT for other rows.

    >>> show_column(RowColumn((ShiftedValue("price", 0), " < ", ShiftedValue("price", -1))))
    'price < PREV(price)'
    """
    return "".join(show_piece(piece) for piece in column.pieces)


def show_piece(piece: ColumnPiece) -> str:
    """Return a piece of a column as a user would write it."""
    match piece:
        case ShiftedValue(argument=argument, offset=offset):
            return show_step(offset, argument)
        case FramedAggregate(call=call, frame=frame):
            call_text = "".join(show_piece(part) for part in call)
            return f"{call_text} OVER ({show_frame(frame)})"
        case _:
            return piece
