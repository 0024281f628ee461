"""Read the series and the matches of a page of a chart.

Spark divides the rows into series, leaves out rows that a picture cannot show, and finds the spans
of matches by SQL from `match_spans`. Only what is drawn is collected.
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
    is_number_type,
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
    # For each row, whether it may belong to a match whose span contains its time.
    can_match: Sequence[bool]


def collect_times(series: Mapping[str, Series]) -> list[Any]:
    """Return the times of all rows of some series, series after series."""
    return [time for points in series.values() for time in points.times]


@dataclass(frozen=True)
class MatchSpan:
    """The span of a match along the time axis."""

    # The name of the series; None if the match is drawn in all series.
    series: str | None
    # The times of the first and of the last row of the match.
    first: Any
    last: Any
    # The times of all rows of the match, sorted; empty if they are not known.
    row_times: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """The identifier of the match in an SVG."""
        return "match-" + re.sub(r"\W+", "-", f"{self.series} {self.first} {self.last}")

    def is_in_series(self, name: str) -> bool:
        """Return whether the match is drawn in the series with a name."""
        return self.series is None or self.series == name


# The columns of `ChartSource.mapped_rows`.
MAPPED_SERIES, MAPPED_TIMES = "__series", "__times"

# The number of columns of pixels of a picture. A series has at most four rows in each column.
PIXEL_COLUMNS = 1000

# The largest number of matches that a page shows.
MAX_MATCHES = 5000

# SQL for the position of x on the axis, as a number, by the type of x. Numbers are missing here: a
# number is its own position.
POSITIONS = {"date": "unix_date(x)", "timestamp_ntz": "unix_micros(CAST(x AS TIMESTAMP))"}


@dataclass(frozen=True, slots=True)
class Page:
    """The series of one page, and the matches in them."""

    # The series, by their names.
    series: dict[str, Series]
    # The matches in these series, by time, at most MAX_MATCHES.
    spans: tuple[MatchSpan, ...]
    # The number of the page, from 1.
    number: int
    # The number of pages of the chart.
    page_count: int
    # Whether `spans` has all matches in these series.
    has_all_matches: bool


@dataclass(frozen=True, slots=True)
class ChartSource:
    """The rows and matches of a chart, and the columns that the user has named."""

    # The result of the query, from which the spans of matches are read.
    matches: DataFrame
    # The rows that are drawn.
    rows: DataFrame
    # The column of the rows with the time.
    x: str
    # The column of the rows with the value.
    y: str
    # The column of the rows with the name of the series; None if there is one series.
    by: str | None = None
    # The columns of the matches with the times of the first and of the last row; None if the user
    # has not named them.
    between: tuple[str, str] | None = None
    # The column of the matches with the number of the match; None if the user has not named it.
    match: str | None = None
    # A row for each match of the clause: the value of `by`, and the times of the rows that are
    # mapped to a variable. None if the matches skip no rows.
    mapped_rows: DataFrame | None = None

    @property
    def x_type(self) -> str:
        """The type of x as it is drawn. Instants are drawn in the session's time zone.

        Raises:
            MatchRecognizePlanError: there is no column `x`, or its values have no positions.
        """
        type_name = dict(self.rows.dtypes)[find_column(self.rows, "x", self.x)]
        if not has_positions(type_name):
            raise errors.wrong_axis_type(name=self.x, type_name=type_name)
        return "timestamp_ntz" if type_name == "timestamp" else type_name

    @property
    def has_numbers(self) -> bool:
        """Return whether y is a number, drawn as a line. Other values are texts, drawn on lanes."""
        column = find_column(self.rows, "y", self.y)
        return is_number_type(dict(self.rows.dtypes)[column])

    @property
    def rows_sql(self) -> str:
        """SQL over `{rows}` that returns the columns series, x and y of each row.

        The SQL leaves out rows without x or y, and rows whose x is infinite or NaN.
        """
        x = write_column_name(find_column(self.rows, "x", self.x))
        y = write_column_name(find_column(self.rows, "y", self.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.has_numbers else f"CAST({y} AS STRING)"
        columns = f"{self.series_sql} AS series, CAST({x} AS {self.x_type}) AS x, {value} AS y"
        is_on_axis = "abs(x) < DOUBLE('Infinity')" if self.x_type in FLOATS else "x IS NOT NULL"
        rows = f"SELECT {columns} FROM {{rows}}"
        return f"SELECT * FROM ({rows}) WHERE {is_on_axis} AND y IS NOT NULL"

    @property
    def series_sql(self) -> str:
        """SQL for the name of the series of a row: '' if there is one series."""
        if self.by is None:
            return "''"
        by = find_column(self.rows, "by", self.by)
        return write_series_name(write_column_name(by), dict(self.rows.dtypes)[by])

    @property
    def spans_sql(self) -> str:
        """SQL over `{matches}` that returns the span of each match, see `MatchSpanSql.write`."""
        writer = MatchSpanSql(
            self.matches, self.x, self.x_type, self.by, between=self.between, match=self.match
        )
        return writer.write()

    def run_sql(self, text: str) -> DataFrame:
        """Return the DataFrame of SQL over `{rows}`, `{matches}` and `{mapped_rows}`."""
        frames: dict[str, Any] = {"rows": self.rows, "matches": self.matches}
        if self.mapped_rows is not None:
            frames["mapped_rows"] = self.mapped_rows
        return self.rows.sparkSession.sql(text, **frames)

    def read_page(self, number: int, size: int) -> Page:
        """Return a page of series: those with matches, or all series if there are no matches.

        Runs jobs.

        Args:
            number: the number of the page, from 1.
            size: the largest number of series on a page.

        Raises:
            MatchRecognizePlanError: there is no such page or column, or no columns of the result
                say where a match is.
        """
        rows_sql = self.rows_sql
        spans_sql = self.spans_sql
        names = self.read_series_names(spans_sql) or self.read_series_names(rows_sql)
        page_count = max(1, ceil(len(names) / size))
        if not 1 <= number <= page_count:
            raise errors.unknown_plot_page(page=number, pages=page_count)
        page_names = names[(number - 1) * size : number * size]
        spans = self.read_spans(spans_sql, page_names)
        return Page(
            series=self.read_thinned_series(rows_sql, page_names),
            spans=spans[:MAX_MATCHES],
            number=number,
            page_count=page_count,
            has_all_matches=len(spans) <= MAX_MATCHES,
        )

    def read_series_names(self, source_sql: str) -> list[str]:
        """Return the names of the series of some rows or matches, sorted. Runs a job.

        Args:
            source_sql: SQL of the rows or matches, which have a column `series`.
        """
        name_rows = self.run_sql(f"SELECT DISTINCT series FROM ({source_sql})").collect()
        return sorted((row.series for row in name_rows), key=make_sort_key)

    def read_spans(self, spans_sql: str, names: Sequence[str]) -> tuple[MatchSpan, ...]:
        """Return the matches of some series, by time. Runs a job.

        At most one match more than a page shows is returned, so that the caller knows whether the
        page lacks matches.

        Args:
            spans_sql: the SQL `self.spans_sql`, which takes time to write.
            names: the names of the series.
        """
        text = f"SELECT * FROM ({spans_sql}) WHERE {write_series_test(names)}"
        if self.mapped_rows is not None:
            text = self.write_spans_with_rows(text)
        rows = self.run_sql(f"{text} ORDER BY first, last LIMIT {MAX_MATCHES + 1}").collect()
        return tuple(
            MatchSpan(row.series, row.first, row.last, row_times=tuple(sorted(row.rows or ())))
            for row in rows
        )

    def write_spans_with_rows(self, spans_sql: str) -> str:
        """Return SQL for spans like `spans_sql`, with the times of the mapped rows.

        A span gets the rows of all matches with the same series, first time and last time. If there
        are none, because the result has other times, the rows stay unknown.

        Args:
            spans_sql: SQL of spans, as `self.spans_sql`.
        """
        assert self.mapped_rows is not None, "the matches skip rows"
        series_type = dict(self.mapped_rows.dtypes)[MAPPED_SERIES]
        series = write_series_name(MAPPED_SERIES, series_type)
        times = f"transform({MAPPED_TIMES}, time -> CAST(time AS {self.x_type}))"
        mapped_rows = f"SELECT {series} AS series, {times} AS times FROM {{mapped_rows}}"
        mapped_spans = f"""
            SELECT series, first, last, array_distinct(flatten(collect_list(times))) AS times
            FROM (
                SELECT series, array_min(times) AS first, array_max(times) AS last, times
                FROM ({mapped_rows})
            )
            GROUP BY series, first, last"""
        return f"""
            SELECT span.series, span.first, span.last, coalesce(span.rows, mapped.times) AS rows
            FROM ({spans_sql}) AS span
            LEFT JOIN ({mapped_spans}) AS mapped
                ON span.series = mapped.series AND span.first = mapped.first
                    AND span.last = mapped.last"""

    def read_thinned_series(self, rows_sql: str, names: Sequence[str]) -> dict[str, Series]:
        """Return some series with only the rows that a picture can show. Runs two jobs.

        These are the first, the last, the lowest and the highest row in each column of pixels.

        Args:
            rows_sql: the SQL `self.rows_sql`, which takes time to write.
            names: the names of the series.
        """
        position = POSITIONS.get(self.x_type, "CAST(x AS DOUBLE)")
        positioned_rows = (
            f"SELECT *, {position} AS position FROM ({rows_sql}) WHERE {write_series_test(names)}"
        )
        ends = self.run_sql(f"SELECT min(position), max(position) FROM ({positioned_rows})")
        first_position, last_position = ends.collect()[0]  # both are NULL if there are no rows
        pixel_column = write_pixel_column(first_position or 0, last_position or 0)
        shown_rows = "min(row), max(row), min_by(row, y), max_by(row, y)"
        query = f"""SELECT series, inline(array_sort(array_distinct(shown_rows))) FROM (
            SELECT series, array({shown_rows}) AS shown_rows
            FROM (SELECT *, struct(x, y) AS row, {pixel_column} AS pixel_column
                FROM ({positioned_rows}))
            GROUP BY series, pixel_column)"""
        times: dict[str, list[Any]] = {name: [] for name in names}
        values: dict[str, list[Any]] = {name: [] for name in names}
        for name, x, y in sorted(self.run_sql(query).collect(), key=lambda row: row[1]):
            times[name].append(x)
            values[name].append(y)
        return {
            name: Series(times[name], values[name], can_match=[True] * len(times[name]))
            for name in names
        }


def write_pixel_column(left: float, right: float) -> str:
    """Return SQL for the number, from 0, of the column of pixels at a column `position`.

    The number is NULL for a position that is not between `left` and `right`, such as NaN.

    Args:
        left: the position at the left edge of the picture.
        right: the position at the right edge.
    """
    pixel_width = (right - left) / PIXEL_COLUMNS or 1
    left_sql = write_number_literal(left)
    right_sql = write_number_literal(right)
    distance = f"(position - {left_sql}) / {write_number_literal(pixel_width)}"
    return f"CASE WHEN position BETWEEN {left_sql} AND {right_sql} THEN floor({distance}) END"


def write_series_test(names: Sequence[str]) -> str:
    """Return SQL that is true for the rows of some series."""
    name_list = ", ".join(map(quote_string, names)) or "NULL"
    return f"series IN ({name_list})".replace("{", "{{").replace("}", "}}")


def write_number_literal(number: float) -> str:
    """Return a number as SQL: a DOUBLE, which can be infinite or NaN."""
    return f"DOUBLE('{float(number)!r}')"
