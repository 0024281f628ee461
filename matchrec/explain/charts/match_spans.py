"""Write SQL that finds the span of each match along the time axis, from the result of a query.

The span is read from the columns that the user names. Without these, the result has the span in the
first of these forms:

    arrays of events             a field of the events is x: from the least to the greatest x
    first_..., last_...          two columns of the type of x; or start and end, from and to. If the
                                 result also has x, rows with the same first x are one match
    x and match_number           each row is one row of a match
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.errors import plots as errors
from matchrec.explain.charts.columns import (
    find_column,
    name_comparable_type,
    write_column_name,
    write_series_name,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The names of the columns with the first and the last x of a match begin with the words of a pair.
END_WORDS = (("first", "last"), ("start", "end"), ("begin", "end"), ("from", "to"))

# The names of a column with the number of the match, in the order in which they are tried.
NUMBER_COLUMNS = ("match_number", "match_num", "match_no", "match")


@dataclass(frozen=True, slots=True)
class MatchSpanSql:
    """A writer of SQL over `{matches}` that returns the span of each match."""

    # The result of the query.
    matches: DataFrame
    # The name of the time column of the rows, and its type as it is drawn.
    x: str
    x_type: str
    # The column with the name of the series; None if there is one series.
    by: str | None
    # The columns with the times of the first and of the last row; None if the user does not name
    # them.
    between: tuple[str, str] | None
    # The column with the number of the match; None if the user does not name it.
    match: str | None

    def write(self) -> str:
        """Return SQL that returns the columns series, first, last and rows of each match.

        `rows` is an array of the times of all rows of the match, or NULL if they are not known.
        Empty matches are left out.

        Raises:
            MatchRecognizePlanError: a column that the user names is missing, or no columns say
                where a match is.
        """
        spans = self.write_spans()
        return f"SELECT * FROM ({spans}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def write_spans(self) -> str:
        """Return SQL like `write`, but with unnamed columns and with empty matches.

        The first x of an empty match is NULL. Raises the same errors as `write`.
        """
        if self.between is not None:
            first, last = (find_column(self.matches, "between", name) for name in self.between)
            return self.write_spans_from_end_columns(first, last)
        if self.match is None:
            event_columns = [
                column
                for column in self.matches.columns
                if self.x.lower() in find_event_fields(self.matches, column)
            ]
            if event_columns:
                return self.write_spans_from_events(event_columns)
            end_columns = self.find_end_columns()
            if end_columns is not None:
                return self.write_spans_from_end_columns(*end_columns)
        return self.write_spans_from_rows()

    def write_series_of_match(self, event_column: str | None = None) -> str:
        """Return SQL for the name of a match's series.

        Args:
            event_column: a column with an array of the events of a match; None if the result has
                none. If the matches have no column `by`, the first event has the name.

        Raises:
            MatchRecognizePlanError: neither the matches nor their events have a column `by`.
        """
        if self.by is None:
            return "''"
        by = self.by.lower()
        for column, type_name in self.matches.dtypes:
            if column.lower() == by:
                return write_series_name(write_column_name(column), type_name)
        if event_column is not None:
            field_type = find_event_fields(self.matches, event_column).get(by)
            if field_type is not None:
                key = f"{write_column_name(event_column)}[0].{write_column_name(self.by)}"
                return write_series_name(key, field_type)
        raise errors.series_column_missing(name=self.by)

    @property
    def comparable_columns(self) -> list[str]:
        """The columns of the matches whose values can be compared with x."""
        comparable_type = name_comparable_type(self.x_type)
        return [
            name
            for name, type_name in self.matches.dtypes
            if name_comparable_type(type_name) == comparable_type
        ]

    def find_end_columns(self) -> tuple[str, str] | None:
        """Return the columns whose names say that they have the first and the last x of a match.

        None if no pair of words has exactly one column for each of its words.
        """
        for first_word, last_word in END_WORDS:
            first_columns = list_names_with_word(self.comparable_columns, first_word)
            last_columns = list_names_with_word(self.comparable_columns, last_word)
            if len(first_columns) == 1 and len(last_columns) == 1:
                return first_columns[0], last_columns[0]
        return None

    def write_spans_from_end_columns(self, first_column: str, last_column: str) -> str:
        """Return the SQL of `write_spans` if two columns have the ends of a match.

        Each row is a match, unless the result has a column x. Then each row is a row of a match, as
        with ALL ROWS PER MATCH, and the last x may be the x of the last row so far.

        Args:
            first_column: the column with the x of the first row.
            last_column: the column with the x of the last row.
        """
        first = f"CAST({write_column_name(first_column)} AS {self.x_type})"
        last = f"CAST({write_column_name(last_column)} AS {self.x_type})"
        columns = f"{self.write_series_of_match()} AS series, {first} AS first, {last} AS last"
        has_rows = self.x.lower() in map(str.lower, self.matches.columns)
        if not has_rows or self.x.lower() in (first_column.lower(), last_column.lower()):
            return f"SELECT {columns}, NULL FROM {{matches}}"
        x = write_column_name(find_column(self.matches, "x", self.x))
        rows = f"SELECT {columns}, CAST({x} AS {self.x_type}) AS x FROM {{matches}}"
        return (
            f"SELECT series, first, max(last), collect_list(x) FROM ({rows}) GROUP BY series, first"
        )

    def write_spans_from_events(self, event_columns: Sequence[str]) -> str:
        """Return the SQL of `write_spans` if each row is a match with arrays of its events.

        Args:
            event_columns: the columns with these arrays, at least one.
        """
        read_x = f"e -> CAST(e.{write_column_name(self.x)} AS {self.x_type})"
        times = ", ".join(
            f"transform({write_column_name(column)}, {read_x})" for column in event_columns
        )
        series = self.write_series_of_match(event_columns[0])
        rows = f"SELECT {series} AS series, concat({times}) AS x FROM {{matches}}"
        return f"SELECT series, array_min(x), array_max(x), x FROM ({rows})"

    def write_spans_from_rows(self) -> str:
        """Return the SQL of `write_spans` if each row is a row of a match, with the match's number.

        Raises:
            MatchRecognizePlanError: there is no column with the number, or no column x.
        """
        columns_by_name = {
            column.lower(): write_column_name(column) for column in self.matches.columns
        }
        number_names = [self.match.lower()] if self.match else NUMBER_COLUMNS
        number_columns = [columns_by_name[name] for name in number_names if name in columns_by_name]
        x = columns_by_name.get(self.x.lower())
        if not number_columns or x is None:
            raise errors.no_match_columns(x=self.x, candidates=self.comparable_columns)
        columns = f"{self.write_series_of_match()} AS series, {number_columns[0]} AS number"
        rows = f"SELECT {columns}, CAST({x} AS {self.x_type}) AS x FROM {{matches}}"
        matches = f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows})"
        return f"{matches} GROUP BY series, number"


def list_names_with_word(names: Sequence[str], word: str) -> list[str]:
    """Return the names that are a word, or begin with it and `_`, in any case.

    >>> list_names_with_word(["First", "first_day", "firsts", "day"], "first")
    ['First', 'first_day']
    """
    return [name for name in names if f"{name.lower()}_".startswith(f"{word}_")]


def find_event_fields(matches: DataFrame, column: str) -> dict[str, str]:
    """Return the type of each field of the events in a column, by the field's name in lower case.

    The result is empty if the column is not an array of structs.
    """
    data_type: Any = matches.schema[column].dataType
    fields = getattr(getattr(data_type, "elementType", None), "fields", ())
    return {field.name.lower(): field.dataType.simpleString() for field in fields}
