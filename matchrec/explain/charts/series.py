"""Read the series and the matches of a page of a chart.

Spark divides the rows into series, leaves out rows that a picture cannot show, and finds out where
the matches are (`match_spans`). Only what is drawn is collected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from matchrec.errors import plots as errors
from matchrec.explain.charts.columns import (
    FLOATS,
    find_column,
    has_positions,
    name_comparable_type,
    write_column_name,
    write_series_name,
)
from matchrec.explain.charts.match_spans import MatchSpanSql
from matchrec.plan.text import quote_string
from matchrec.source import make_sort_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Series:
    """The rows that are drawn as one line or on one lane, in order of time."""

    # The time of each row: its value on the x axis.
    times: Sequence[Any]
    # The number or the text of each row: its value on the y axis.
    values: Sequence[Any]
    # For each row, whether a match from before to after it may contain it.
    matched: Sequence[bool]


def collect_times(series: Mapping[str, Series]) -> list[Any]:
    """Return the times of all rows of some series, series after series."""
    return [time for points in series.values() for time in points.times]


@dataclass(frozen=True)
class MatchSpan:
    """The span of a match along the time axis."""

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

    def is_in_series(self, name: str) -> bool:
        """Return whether the match is drawn in the series with a name."""
        return self.series is None or self.series == name


# The number of columns of pixels of a picture. In each of them a series has at most four rows.
PIXEL_COLUMNS = 1000

# The number of matches that a page shows.
MOST_MATCHES = 5000

# SQL for the position of x on the axis, as a number, by the type of x. Numbers are their own
# positions.
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
    # Whether `spans` has all matches of these series. It has at most MOST_MATCHES.
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
    def x_type(self) -> str:
        """The type of x as it is drawn. Instants are drawn in the session's time zone."""
        type_name = dict(self.data.dtypes)[find_column(self.data, "x", self.x)]
        if not has_positions(type_name):
            raise errors.wrong_axis_type(name=self.x, type_name=type_name)
        return "timestamp_ntz" if type_name == "timestamp" else type_name

    @property
    def is_measured(self) -> bool:
        """Return whether y is a number, drawn as a line. Anything else is text on a lane."""
        column = find_column(self.data, "y", self.y)
        return name_comparable_type(dict(self.data.dtypes)[column]) == "number"

    @property
    def rows(self) -> str:
        """SQL over `{data}` with the columns series, x and y of each row.

        Rows without x or y are left out, and rows whose x is infinite or NaN.
        """
        x = write_column_name(find_column(self.data, "x", self.x))
        y = write_column_name(find_column(self.data, "y", self.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.is_measured else f"CAST({y} AS STRING)"
        columns = f"{self.series} AS series, CAST({x} AS {self.x_type}) AS x, {value} AS y"
        is_on_axis = "abs(x) < DOUBLE('Infinity')" if self.x_type in FLOATS else "x IS NOT NULL"
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
        """SQL over `{matches}`, see `MatchSpanSql.write`."""
        spans = MatchSpanSql(
            self.matches, self.x, self.x_type, self.by, between=self.between, match=self.match
        )
        return spans.write()

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
        pages = max(1, ceil(len(names) / size))
        if not 1 <= number <= pages:
            raise errors.unknown_plot_page(page=number, pages=pages)
        page_names = names[(number - 1) * size : number * size]
        spans = self.read_spans(matches, page_names)
        return Page(
            series=self.read_thinned_series(rows, page_names),
            spans=spans[:MOST_MATCHES],
            number=number,
            pages=pages,
            all_matches=len(spans) <= MOST_MATCHES,
        )

    def read_series_names(self, rows: str) -> list[str]:
        """Return the names of the series of some rows or matches, sorted. Runs a job.

        Args:
            rows: SQL with a column `series`.
        """
        name_rows = self.run_sql(f"SELECT DISTINCT series FROM ({rows})").collect()
        return sorted((row.series for row in name_rows), key=make_sort_key)

    def read_spans(self, matches: str, names: Sequence[str]) -> tuple[MatchSpan, ...]:
        """Return the matches of some series, by time. Runs a job.

        At most one more than a page shows, so that the caller knows whether some are missing.

        Args:
            matches: `match_spans`.
            names: the names of the series.
        """
        text = f"SELECT * FROM ({matches}) WHERE {write_series_test(names)} ORDER BY first, last"
        rows = self.run_sql(f"{text} LIMIT {MOST_MATCHES + 1}").collect()
        return tuple(
            MatchSpan(row.series, row.first, row.last, rows=tuple(sorted(row.rows or ())))
            for row in rows
        )

    def read_thinned_series(self, rows: str, names: Sequence[str]) -> dict[str, Series]:
        """Return some series with only the rows that a picture can show. Runs two jobs.

        In each column of pixels these are the first, the last, the lowest and the highest row.

        Args:
            rows: SQL of `rows`.
            names: the names of the series.
        """
        position = POSITIONS.get(self.x_type, "CAST(x AS DOUBLE)")
        positioned_rows = (
            f"SELECT *, {position} AS position FROM ({rows}) WHERE {write_series_test(names)}"
        )
        ends = self.run_sql(f"SELECT min(position), max(position) FROM ({positioned_rows})")
        least, most = ends.collect()[0]
        pixel_column = write_pixel_column(least or 0, most or 0)
        shown_rows = "min(row), max(row), min_by(row, y), max_by(row, y)"
        query = f"""SELECT series, inline(array_sort(array_distinct(shown_rows))) FROM (
            SELECT series, array({shown_rows}) AS shown_rows
            FROM (SELECT *, struct(x, y) AS row, {pixel_column} AS pixel_column
                FROM ({positioned_rows}))
            GROUP BY series, pixel_column)"""
        times: dict[str, list[Any]] = {name: [] for name in names}
        values: dict[str, list[Any]] = {name: [] for name in names}
        for series, x, y in sorted(self.run_sql(query).collect(), key=lambda row: row[1]):
            times[series].append(x)
            values[series].append(y)
        return {
            name: Series(times[name], values[name], matched=[True] * len(times[name]))
            for name in names
        }


def write_pixel_column(least: float, most: float) -> str:
    """Return SQL for the number of the column of pixels at a position, from 0.

    It is NULL for a position that is not between `least` and `most`, such as NaN.

    Args:
        least: the position at the left edge of the picture.
        most: the position at its right edge.
    """
    pixel_width = (most - least) / PIXEL_COLUMNS or 1
    first, last = write_number_literal(least), write_number_literal(most)
    distance = f"(position - {first}) / {write_number_literal(pixel_width)}"
    return f"CASE WHEN position BETWEEN {first} AND {last} THEN floor({distance}) END"


def write_series_test(names: Sequence[str]) -> str:
    """Return SQL that is true for the rows of some series."""
    name_list = ", ".join(map(quote_string, names)) or "NULL"
    return f"series IN ({name_list})".replace("{", "{{").replace("}", "}}")


def write_number_literal(number: float) -> str:
    """Return a number as SQL: a DOUBLE, which may be infinite or NaN."""
    return f"DOUBLE('{float(number)!r}')"
