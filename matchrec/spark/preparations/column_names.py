"""Name the columns that Spark computes before the match, and write select lists of them.

With ORDER BY day, Spark computes `levenshtein(name, PREV(name)) > 0` in three steps:

    SELECT `day` AS __x0, `name` AS __x1           texts over one row: `select_texts`
    SELECT lag(__x1, 1) OVER (...) AS __s0         values of other rows: `select_window_values`
    levenshtein(__x1, __s0) > 0                    the condition: `write_column`

`worker.internal_names` explains the names. `spark.preparations` writes the queries around the
select lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from matchrec.compile.origins import ComputedValue
from matchrec.conditions.row_column import (
    ColumnPiece,
    FramedAggregate,
    RowColumn,
    ShiftedValue,
    find_row_texts,
)
from matchrec.errors.run.origins import SqlOrigin, mark_origin
from matchrec.plan.show import show_frame
from matchrec.plan.text import quote_name
from matchrec.spark.select_items import SelectItem
from matchrec.worker import internal_names

# A value that a window function reads on another row, or from several rows.
WindowValue: TypeAlias = ShiftedValue | FramedAggregate


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The names of everything that Spark computes, and the select lists that compute it."""

    # The name of each SQL text over one row, which the inner query computes: __c<n> if the text is
    # the sent column n, otherwise __x<n>.
    by_text: Mapping[str, str]
    # The name of each value that a window function reads: __s0, __s1, ...
    by_window_value: Mapping[WindowValue, str]
    # The origins of the computed values, for the errors of Spark.
    origins: Mapping[ComputedValue, SqlOrigin]

    @property
    def texts(self) -> dict[str, str]:
        """Return the SQL text of each name: the inverse of `by_text`."""
        return {name: text for text, name in self.by_text.items()}

    def select_texts(self) -> list[SelectItem]:
        """Return the select list of the texts over one row, for the inner query."""
        return [
            SelectItem(self.add_origin(text, text), name) for text, name in self.by_text.items()
        ]

    def select_window_values(self, window: str, frame: str) -> Iterator[SelectItem]:
        """Yield the items of a select list of the values that window functions read.

        A value on a row that does not exist is NULL.

        Args:
            window: PARTITION BY and ORDER BY of the window functions, as SQL.
            frame: the frame of `lag` and `lead` as SQL; "" for none. Their values do not depend on
                it, but some engines need it.
        """
        for value, name in self.by_window_value.items():
            if isinstance(value, FramedAggregate):
                call = self.write_aggregate_call(value)
                sql = f"{call} OVER ({window} {show_frame(value.frame)})"
            else:
                function = "lag" if value.offset < 0 else "lead"
                call = f"{function}({self.by_text[value.argument]}, {abs(value.offset)})"
                sql = f"{call} OVER ({window} {frame})"
            yield SelectItem(self.add_origin(sql, value), name)

    def write_aggregate_call(self, value: FramedAggregate) -> str:
        """Return the call of an aggregate over a frame as SQL, without OVER and the frame."""
        return "".join(self.write_piece(piece) for piece in value.call)

    def select_sent(self, columns: Iterable[RowColumn]) -> list[SelectItem]:
        """Return the select list of the columns that are sent to the workers: __c0, __c1, ...

        The items are over the names of the inner query and of the window functions. A column of one
        row already has its name.
        """
        return [
            SelectItem(self.write_column(column), internal_names.name_column(index))
            for index, column in enumerate(columns)
        ]

    def write_column(self, column: RowColumn) -> str:
        """Return a column, or a condition, as SQL over the named values."""
        if column.reads_one_row:
            return self.by_text[column.text]
        sql = "".join(self.write_piece(piece) for piece in column.pieces)
        return self.add_origin(sql, column)

    def write_piece(self, piece: ColumnPiece) -> str:
        """Return a piece of a column of several rows as SQL over the named values."""
        if isinstance(piece, str):
            return piece
        if isinstance(piece, ShiftedValue) and piece.offset == 0:
            return self.by_text[piece.argument]
        return self.by_window_value[piece]

    def add_origin(self, sql: str, computed: ComputedValue) -> str:
        """Return SQL with a comment that refers to the origin of the value that it computes."""
        return mark_origin(sql, self.origins.get(computed))


def name_values(
    columns: tuple[RowColumn, ...],
    conditions: tuple[RowColumn, ...],
    texts: Iterable[str],
    origins: Mapping[ComputedValue, SqlOrigin],
) -> ColumnNames:
    """Name everything that Spark computes.

    Args:
        columns: the columns that are sent to the workers.
        conditions: the conditions that Spark computes.
        texts: the other SQL texts over one row, such as sort keys.
        origins: see `ColumnNames`.
    """
    all_columns = (*columns, *conditions)
    by_text = {
        column.text: internal_names.name_column(index)
        for index, column in enumerate(columns)
        if column.reads_one_row
    }
    for text in chain(texts, *(find_row_texts(column) for column in all_columns)):
        by_text.setdefault(text, internal_names.name_row_expression(len(by_text)))
    if not by_text:
        by_text = {"1": internal_names.name_row_expression(0)}  # the inner query needs a column
    by_window_value: dict[WindowValue, str] = {}
    for column in all_columns:
        for value in find_window_values(column):
            by_window_value.setdefault(
                value, internal_names.name_shifted_value(len(by_window_value))
            )
    return ColumnNames(by_text, by_window_value, origins)


def find_window_values(column: RowColumn) -> Iterator[WindowValue]:
    """Yield the values of a column that window functions read.

    For `levenshtein(name, PREV(name))`, it yields only the second `name`, whose offset is -1.
    """
    for piece in column.pieces:
        match piece:
            case FramedAggregate():
                yield piece
            case ShiftedValue() if piece.offset != 0:
                yield piece


def find_field_texts(columns: Iterable[RowColumn]) -> list[str]:
    """Return the columns that are fields of the structs among some columns, as SQL."""
    return [quote_name(field) for column in columns for field in column.fields]


def add_columns(items: Iterable[SelectItem], names: Iterable[str]) -> list[SelectItem]:
    """Return a select list with more columns at the end.

    Args:
        items: the select list.
        names: the names of the columns. Those that the list already has are not added.
    """
    items_by_name = {item.name: item for item in items}
    for name in names:
        items_by_name.setdefault(name, SelectItem(name, name))
    return list(items_by_name.values())
