"""Write SQL that finds out from the result of a query where its matches are along the time axis.

The columns that say it are those that the user names, or else the first of these forms:

    arrays of events             a field of the events is x: from the least to the greatest x
    first_..., last_...          two columns of the type of x; or start and end, from and to
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

# The words with which the names of the columns of a match's first and last x begin.
PAIRS = (("first", "last"), ("start", "end"), ("begin", "end"), ("from", "to"))

# The names of a column with the number of the match, in the order in which they are tried.
MATCH_NUMBERS = ("match_number", "match_num", "match_no", "match")


@dataclass(frozen=True, slots=True)
class MatchSpanSql:
    """A writer of SQL over `{matches}` with the span of each match."""

    # The result of the query.
    matches: DataFrame
    # The name of the time column of the rows, and its type as it is drawn.
    x: str
    x_type: str
    # The column with the name of the series; None if there is one series.
    by: str | None
    # The columns with the times of the first and of the last row, if the user names them.
    between: tuple[str, str] | None
    # The column with the number of the match, if the user names it.
    match: str | None

    def write(self) -> str:
        """Return SQL with the columns series, first, last and rows of each match.

        `rows` is an array of the times of all its rows, or NULL if they are not known. Empty
        matches are left out.

        Raises:
            MatchRecognizePlanError: no columns say where a match is.
        """
        spans = self.write_spans()
        return f"SELECT * FROM ({spans}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def write_spans(self) -> str:
        """Return SQL with the values of these columns, also for empty matches, whose first is NULL.

        Raises:
            MatchRecognizePlanError: no columns say where a match is.
        """
        if self.between is not None:
            first, last = self.between
            return self.write_spans_from_ends(
                (
                    find_column(self.matches, "between", first),
                    find_column(self.matches, "between", last),
                )
            )
        if self.match is None:
            event_columns = [
                column
                for column in self.matches.columns
                if self.x.lower() in find_event_fields(self.matches, column)
            ]
            if event_columns:
                return self.write_spans_from_events(event_columns)
            ends = self.find_ends()
            if ends is not None:
                return self.write_spans_from_ends(ends)
        return self.write_spans_from_rows()

    def write_series_of_match(self, event_column: str | None = None) -> str:
        """Return SQL for the name of a match's series.

        Args:
            event_column: the column with the events of a match, whose first event has the name if
                no column of the matches has it.

        Raises:
            MatchRecognizePlanError: neither has the name.
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
    def columns_like_x(self) -> list[str]:
        """The columns of the matches whose values can be compared with x."""
        comparable_type = name_comparable_type(self.x_type)
        return [
            name
            for name, type_name in self.matches.dtypes
            if name_comparable_type(type_name) == comparable_type
        ]

    def find_ends(self) -> tuple[str, str] | None:
        """Return the columns of the first and of the last x of a match, as their names say.

        None if there is not exactly one column for each word of a pair.
        """
        for first_word, last_word in PAIRS:
            first_columns = [name for name in self.columns_like_x if begins(name, first_word)]
            last_columns = [name for name in self.columns_like_x if begins(name, last_word)]
            if len(first_columns) == 1 and len(last_columns) == 1:
                return first_columns[0], last_columns[0]
        return None

    def write_spans_from_ends(self, ends: tuple[str, str]) -> str:
        """Return SQL of `write_spans` if each row is a match from one column to another."""
        first, last = (f"CAST({write_column_name(end)} AS {self.x_type})" for end in ends)
        return f"SELECT {self.write_series_of_match()}, {first}, {last}, NULL FROM {{matches}}"

    def write_spans_from_events(self, event_columns: Sequence[str]) -> str:
        """Return SQL of `write_spans` if each row is a match.

        Args:
            event_columns: the columns with arrays of its events.
        """
        read_x = f"e -> CAST(e.{write_column_name(self.x)} AS {self.x_type})"
        times = ", ".join(
            f"transform({write_column_name(column)}, {read_x})" for column in event_columns
        )
        series = self.write_series_of_match(event_columns[0])
        rows = f"SELECT {series} AS series, concat({times}) AS x FROM {{matches}}"
        return f"SELECT series, array_min(x), array_max(x), x FROM ({rows})"

    def write_spans_from_rows(self) -> str:
        """Return SQL of `write_spans` if each row is a row of a match, with the match's number.

        Raises:
            MatchRecognizePlanError: there is no column with the number, or with x.
        """
        columns_by_name = {
            column.lower(): write_column_name(column) for column in self.matches.columns
        }
        number_names = [self.match.lower()] if self.match else MATCH_NUMBERS
        number_columns = [columns_by_name[name] for name in number_names if name in columns_by_name]
        x = columns_by_name.get(self.x.lower())
        if not number_columns or x is None:
            raise errors.no_match_columns(x=self.x, candidates=self.columns_like_x)
        columns = f"{self.write_series_of_match()} AS series, {number_columns[0]} AS number"
        rows = f"SELECT {columns}, CAST({x} AS {self.x_type}) AS x FROM {{matches}}"
        matches = f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows})"
        return f"{matches} GROUP BY series, number"


def begins(name: str, word: str) -> bool:
    """Return whether a name is a word, or begins with it and `_`, in any case.

    >>> begins("First_Day", "first"), begins("firsts", "first")
    (True, False)
    """
    return f"{name.lower()}_".startswith(f"{word}_")


def find_event_fields(matches: DataFrame, column: str) -> dict[str, str]:
    """Return the names of the fields of the events in a column, in lower case, with their types.

    Empty if the column is not an array of structs.
    """
    data_type: Any = matches.schema[column].dataType
    fields = getattr(getattr(data_type, "elementType", None), "fields", ())
    return {field.name.lower(): field.dataType.simpleString() for field in fields}
