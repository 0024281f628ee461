"""Find the rows and the matches of a page.

Spark divides the rows into series, leaves out rows that a picture cannot show, and finds out where
the matches are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.errors import command as errors
from matchrec.errors.sql.type_mismatches import NUMBER_TYPES
from matchrec.plan.text import quote_name, quote_string
from matchrec.source import make_sort_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Series:
    """Rows of one partition, in order of time: a number or a text for each."""

    # The time of each row.
    times: Sequence[Any]
    # The number or text of each row.
    values: Sequence[Any]
    # For each row, whether a match from before to after it may contain it.
    matched: Sequence[bool]


@dataclass(frozen=True)
class MatchSpan:
    """Where a match is along the time axis."""

    # The name of the series; None for all series.
    series: str | None
    # The times of its first and its last row.
    first: Any
    last: Any
    # The times of all its rows; empty if they are not known.
    rows: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """The identifier of the match in an SVG."""
        return "match-" + re.sub(r"\W+", "-", f"{self.series} {self.first} {self.last}")


# Which columns say where a match is: those that the user names, or else the first of these forms.
#
# arrays of events             a field of the events is x; the match is from the first to the last x
# first_..., last_...          two columns of the type of x; or start and end, from and to
# x and match_number           each row is one row of a match

# The words with which the names of two such columns begin.
PAIRS = (("first", "last"), ("start", "end"), ("begin", "end"), ("from", "to"))

# The names of a column with the number of the match.
MATCH_NUMBERS = ("match_number", "match_num", "match_no", "match")


def find_column(frame: DataFrame, argument: str, name: str) -> str:
    """Return the column that the user names, spelled as in the DataFrame.

    Args:
        frame: a DataFrame.
        argument: the argument with the name, for the error.
        name: the name, in any case.

    Raises:
        MatchRecognizePlanError: there is no such column, or several.
    """
    column = find_single_column(frame, name)
    if column is None:
        raise errors.unknown_plot_column(argument=argument, name=name, columns=frame.columns)
    return column


def find_single_column(frame: DataFrame, name: str) -> str | None:
    """Return the column with a name in any case; None if there is none or more than one."""
    columns = [column for column in frame.columns if column.lower() == name.lower()]
    return columns[0] if len(columns) == 1 else None


def write_column_name(name: str) -> str:
    """Return a column's name for SQL with DataFrames in braces, where other braces are doubled."""
    return quote_name(name).replace("{", "{{").replace("}", "}}")


# The types of numbers that may be infinite or NaN.
FLOATS = ("float", "double")


def write_series_name(column: str, kind: str) -> str:
    """Return SQL for the name of a series from its key.

    0.0 and -0.0 have the same name, because -0.0 + 0.0 is 0.0.

    Args:
        column: SQL of the key.
        kind: the type of the key.
    """
    if kind == "binary":  # bytes need not be text
        column = f"concat('X', chr(39), hex({column}), chr(39))"
    key = f"{column} + CAST(0 AS {kind})" if kind in FLOATS else column
    return f"coalesce(CAST({key} AS STRING), 'NULL')"


def name_comparable_type(kind: str) -> str:
    """Return a name that is the same for types whose values are compared with each other."""
    if kind.partition("(")[0] in NUMBER_TYPES:
        return "number"
    return "timestamp" if kind == "timestamp_ntz" else kind


def is_drawn(kind: str) -> bool:
    """Return whether values of a type have positions on an axis: numbers, dates and times."""
    return name_comparable_type(kind) in ("number", "date", "timestamp")


def begins(name: str, word: str) -> bool:
    """Return whether a name is a word, or begins with it and `_`, in any case."""
    return f"{name.lower()}_".startswith(f"{word}_")


def find_event_fields(matches: DataFrame, column: str) -> dict[str, str]:
    """Return the fields of the events in a column, and their types.

    The names are in lower case. Empty if the column is not an array of structs.
    """
    kind: Any = matches.schema[column].dataType
    fields = getattr(getattr(kind, "elementType", None), "fields", ())
    return {field.name.lower(): field.dataType.simpleString() for field in fields}


# How many columns of pixels a picture has. In each of them a series has at most four rows.
PIXEL_COLUMNS = 1000

# How many matches a page shows.
MOST_MATCHES = 5000

# SQL for the position of a time on the axis, as a number, by the type of the time. Numbers are
# their own positions.
POSITIONS = {"date": "unix_date(x)", "timestamp_ntz": "unix_micros(CAST(x AS TIMESTAMP))"}


@dataclass(frozen=True, slots=True)
class Page:
    """The series of one page, and the matches in them."""

    # The series, by their names.
    series: dict[str, Series]
    # The matches.
    spans: tuple[MatchSpan, ...]
    # The number of the page, from 1.
    number: int
    # The number of pages.
    pages: int
    # Whether all matches of the page are in `spans`.
    all_matches: bool


@dataclass(frozen=True, slots=True)
class ChartSource:
    """The rows and matches of a chart, and the columns that the user has named."""

    # The result of the query.
    matches: DataFrame
    # The rows that are drawn.
    data: DataFrame
    # The column of the rows with the time.
    x: str
    # The column of the rows with the value.
    y: str
    # The column of the rows with the name of the series; None if there is one series.
    by: str | None = None
    # The columns of the matches with the times of the first and of the last row, if named.
    between: tuple[str, str] | None = None
    # The column of the matches with the number of the match, if named.
    match: str | None = None

    @property
    def kind(self) -> str:
        """The type of x as it is drawn. Instants are drawn in the session's time zone."""
        kind = dict(self.data.dtypes)[find_column(self.data, "x", self.x)]
        if not is_drawn(kind):
            raise errors.wrong_axis_type(name=self.x, kind=kind)
        return "timestamp_ntz" if kind == "timestamp" else kind

    @property
    def is_measured(self) -> bool:
        """Return whether y is a number, drawn as a line. Anything else is text on a lane."""
        column = find_column(self.data, "y", self.y)
        return name_comparable_type(dict(self.data.dtypes)[column]) == "number"

    @property
    def rows(self) -> str:
        """SQL over `{data}`: series, x and y of each row. Rows without x or y are left out.

        So are rows whose x is infinite or NaN.
        """
        x = write_column_name(find_column(self.data, "x", self.x))
        y = write_column_name(find_column(self.data, "y", self.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.is_measured else f"CAST({y} AS STRING)"
        columns = f"{self.series} AS series, CAST({x} AS {self.kind}) AS x, {value} AS y"
        is_on_axis = "abs(x) < DOUBLE('Infinity')" if self.kind in FLOATS else "x IS NOT NULL"
        rows = f"SELECT {columns} FROM {{data}}"
        return f"SELECT * FROM ({rows}) WHERE {is_on_axis} AND y IS NOT NULL"

    @property
    def series(self) -> str:
        """SQL for the name of a row's series."""
        if self.by is None:
            return "''"
        by = find_column(self.data, "by", self.by)
        return write_series_name(write_column_name(by), dict(self.data.dtypes)[by])

    @property
    def match_spans(self) -> str:
        """SQL over `{matches}`: series, first, last and rows of each match that is not empty."""
        spans = self.write_spans()
        return f"SELECT * FROM ({spans}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def write_spans(self) -> str:
        """Return SQL over `{matches}` with the same columns, also for empty matches.

        Raises:
            MatchRecognizePlanError: no columns say where a match is.
        """
        if self.between is not None:
            ends = [find_column(self.matches, "between", name) for name in self.between]
            return self.write_spans_from_ends(ends)
        if self.match is None:
            x = self.x.lower()
            event_columns = [
                column
                for column in self.matches.columns
                if x in find_event_fields(self.matches, column)
            ]
            if event_columns:
                return self.write_spans_from_events(event_columns)
            named_ends = self.find_named_ends()
            if named_ends is not None:
                return self.write_spans_from_ends(named_ends)
        return self.write_spans_from_rows()

    def write_series_of_match(self, events: str = "") -> str:
        """Return SQL for the name of a match's series.

        It is from a column of the matches, or else from the first event in the column `events`.

        Raises:
            MatchRecognizePlanError: neither says it.
        """
        if self.by is None:
            return "''"
        by = self.by.lower()
        for column, type_name in self.matches.dtypes:
            if column.lower() == by:
                return write_series_name(write_column_name(column), type_name)
        field_type = find_event_fields(self.matches, events).get(by) if events else None
        if field_type is None:
            raise errors.series_column_missing(name=self.by)
        return write_series_name(
            f"{write_column_name(events)}[0].{write_column_name(self.by)}", field_type
        )

    @property
    def like_x(self) -> list[str]:
        """The columns of the matches whose values can be compared with x."""
        kind = name_comparable_type(self.kind)
        return [
            name
            for name, type_name in self.matches.dtypes
            if name_comparable_type(type_name) == kind
        ]

    def find_named_ends(self) -> list[str] | None:
        """Return the two columns between which a match is, as their names say; None without them.

        There must be exactly one column for each word of a pair.
        """
        names = self.like_x
        for words in PAIRS:
            columns = [[name for name in names if begins(name, word)] for word in words]
            if all(len(candidates) == 1 for candidates in columns):
                return [name for (name,) in columns]
        return None

    def write_spans_from_ends(self, ends: Sequence[str]) -> str:
        """Return SQL of `write_spans` if each row is a match from one column to another."""
        first, last = (f"CAST({write_column_name(end)} AS {self.kind})" for end in ends)
        return f"SELECT {self.write_series_of_match()}, {first}, {last}, NULL FROM {{matches}}"

    def write_spans_from_events(self, events: Sequence[str]) -> str:
        """Return SQL of `write_spans` if each row is a match, with its events in some arrays."""
        cast = f"e -> CAST(e.{write_column_name(self.x)} AS {self.kind})"
        times = ", ".join(f"transform({write_column_name(column)}, {cast})" for column in events)
        series = self.write_series_of_match(events[0])
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
        number = None
        for name in (self.match,) if self.match else MATCH_NUMBERS:
            number = number or columns_by_name.get(name.lower())
        x = columns_by_name.get(self.x.lower())
        if number is None or x is None:
            raise errors.no_match_columns(x=self.x, candidates=self.like_x)
        columns = f"{self.write_series_of_match()} AS series, {number} AS number"
        rows = f"SELECT {columns}, CAST({x} AS {self.kind}) AS x FROM {{matches}}"
        matches = f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows})"
        return f"{matches} GROUP BY series, number"

    def run_sql(self, text: str) -> DataFrame:
        """Return the DataFrame of SQL over `{data}` and `{matches}`."""
        return self.data.sparkSession.sql(text, data=self.data, matches=self.matches)

    def read_page(self, number: int, size: int) -> Page:
        """Return a page of series: those with matches, or all series if there are no matches.

        Runs jobs.

        Args:
            number: the number of the page, from 1.
            size: how many series a page has.

        Raises:
            MatchRecognizePlanError: there is no such page or column, or nothing says where a match
                is.
        """
        rows, matches = self.rows, self.match_spans
        names = self.read_series_names(matches) or self.read_series_names(rows)
        pages = max(1, -(-len(names) // size))  # rounded up
        if not 1 <= number <= pages:
            raise errors.unknown_plot_page(page=number, pages=pages)
        chosen = names[(number - 1) * size : number * size]
        spans = list(self.read_spans(matches, chosen))
        series = self.read_thinned(rows, chosen)
        return Page(series, tuple(spans[:MOST_MATCHES]), number, pages, len(spans) <= MOST_MATCHES)

    def read_series_names(self, rows: str) -> list[str]:
        """Return the names of the series of some rows or matches, sorted. Runs a job."""
        names = self.run_sql(f"SELECT DISTINCT series FROM ({rows})").collect()
        return sorted((row.series for row in names), key=make_sort_key)

    def read_spans(self, matches: str, names: Sequence[str]) -> Iterator[MatchSpan]:
        """Yield the matches of some series, by time. Runs a job.

        It returns at most one more than a page shows, to know whether some are missing.
        """
        text = f"SELECT * FROM ({matches}) WHERE {write_series_test(names)} ORDER BY first, last"
        for row in self.run_sql(f"{text} LIMIT {MOST_MATCHES + 1}").collect():
            yield MatchSpan(row.series, row.first, row.last, tuple(sorted(row.rows or ())))

    def read_thinned(self, rows: str, names: Sequence[str]) -> dict[str, Series]:
        """Return some series with only the rows that a picture can show. Runs two jobs.

        In each column of pixels these are the first, the last, the lowest and the highest row.

        Args:
            rows: SQL of `rows`.
            names: the names of the series.
        """
        position = POSITIONS.get(self.kind, "CAST(x AS DOUBLE)")
        text = f"SELECT *, {position} AS position FROM ({rows}) WHERE {write_series_test(names)}"
        least, most = self.run_sql(f"SELECT min(position), max(position) FROM ({text})").collect()[
            0
        ]
        width = ((most or 0) - (least or 0)) / PIXEL_COLUMNS or 1
        first, last = write_number_literal(least or 0), write_number_literal(most or 0)
        pixel_column = f"""CASE WHEN position BETWEEN {first} AND {last}
            THEN floor((position - {first}) / {write_number_literal(width)}) END"""
        kept = "min(row), max(row), min_by(row, y), max_by(row, y)"
        query = f"""SELECT series, inline(array_sort(array_distinct(kept))) FROM (
            SELECT series, array({kept}) AS kept
            FROM (SELECT *, struct(x, y) AS row, {pixel_column} AS pixel_column FROM ({text}))
            GROUP BY series, pixel_column)"""
        times: dict[str, list[Any]] = {name: [] for name in names}
        values: dict[str, list[Any]] = {name: [] for name in names}
        for series, x, y in sorted(self.run_sql(query).collect(), key=lambda row: row[1]):
            times[series].append(x)
            values[series].append(y)
        return {
            name: Series(times[name], values[name], matched=[True] * len(times[name]))
            for name in times
        }


def write_series_test(names: Sequence[str]) -> str:
    """Return SQL that is true for the rows of some series."""
    listed = ", ".join(map(quote_string, names)) or "NULL"
    return f"series IN ({listed})".replace("{", "{{").replace("}", "}}")


def write_number_literal(number: float) -> str:
    """Return a number as SQL, also if it is infinite or NaN."""
    return f"DOUBLE('{float(number)!r}')"
