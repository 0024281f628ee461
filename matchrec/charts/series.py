"""The rows of a page as series, thinned by Spark, and the matches in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from matchrec.charts.columns import NUMERIC, Named, find_column, places_of, spelled, text_of
from matchrec.charts.panels import Series, Span
from matchrec.dataclass import dataclass
from matchrec.errors import pictures as errors
from matchrec.plan.text.sql_text import string_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = 1000  # of pixels, in each of which a series has at most four rows
MOST_MATCHES = 5000  # of a page
MEASURED = {"date": "unix_date(x)", "timestamp_ntz": "unix_micros(CAST(x AS TIMESTAMP))"}
NUMBER = "CAST(x AS DOUBLE)"


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the series by name, and the matches in them. pages: how many there are."""

    series: dict[str, Series]
    spans: tuple[Span, ...]
    number: int
    pages: int
    all_matches: bool


@dataclass(frozen=True, slots=True)
class Charted:
    """Rows and matches, with what their columns are called."""

    matches: DataFrame
    data: DataFrame
    named: Named

    @property
    def kind(self) -> str:
        """The type of x as it is drawn: instants as the clocks of the session show them."""
        kind = dict(self.data.dtypes)[find_column(self.data, "x", self.named.x)]
        if kind.partition("(")[0] not in (*NUMERIC, "date", "timestamp", "timestamp_ntz"):
            raise errors.no_axis(self.named.x, kind)
        return "timestamp_ntz" if kind == "timestamp" else kind

    @property
    def is_measured(self) -> bool:
        """Whether y is a number: a line, and else texts on a lane."""
        kind = dict(self.data.dtypes)[find_column(self.data, "y", self.named.y)]
        return kind.partition("(")[0] in NUMERIC

    @property
    def rows(self) -> str:
        """SQL over `{data}`: series, x and y of each row that has them."""
        x = spelled(find_column(self.data, "x", self.named.x))
        y = spelled(find_column(self.data, "y", self.named.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.is_measured else f"CAST({y} AS STRING)"
        by = self.named.by
        series = "''" if by is None else text_of(spelled(find_column(self.data, "by", by)))
        columns = f"{series} AS series, CAST({x} AS {self.kind}) AS x, {value} AS y"
        return (
            f"SELECT * FROM (SELECT {columns} FROM {{data}}) WHERE x IS NOT NULL AND y IS NOT NULL"
        )

    @property
    def places(self) -> str:
        """SQL over `{matches}`: series, first, last and rows of each match that has rows."""
        found = places_of(self.matches, self.named, self.kind)
        return f"SELECT * FROM ({found}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def sql(self, text: str) -> DataFrame:
        """A query over both."""
        return self.data.sparkSession.sql(text, data=self.data, matches=self.matches)

    def page(self, number: int, size: int) -> Page:
        """The series of a page: those with matches, or all of them where there are no matches."""
        rows, matches = self.rows, self.places
        names = self.names(matches) or self.names(rows)
        pages = max(1, -(-len(names) // size))
        if not 1 <= number <= pages:
            raise errors.no_page(number, pages)
        chosen = names[(number - 1) * size : number * size]
        spans = list(self.spans(matches, chosen))
        series = self.thinned(rows, chosen)
        return Page(series, tuple(spans[:MOST_MATCHES]), number, pages, len(spans) <= MOST_MATCHES)

    def names(self, rows: str) -> list[str]:
        """The series that rows or matches belong to, in order."""
        found = self.sql(f"SELECT DISTINCT series FROM ({rows})").collect()
        return sorted(row.series for row in found)

    def spans(self, matches: str, names: Sequence[str]) -> Iterator[Span]:
        """The matches of some series by time, one more than a page shows at most."""
        text = f"SELECT * FROM ({matches}) WHERE {among(names)} ORDER BY first, last"
        for row in self.sql(f"{text} LIMIT {MOST_MATCHES + 1}").collect():
            yield Span(row.series, row.first, row.last, tuple(sorted(row.rows or ())))

    def thinned(self, rows: str, names: Sequence[str]) -> dict[str, Series]:
        """Of each column of pixels the first, the last, the lowest and the highest row."""
        place = MEASURED.get(self.kind, NUMBER)
        text = f"SELECT *, {place} AS place FROM ({rows}) WHERE {among(names)}"
        least, most = self.sql(f"SELECT min(place), max(place) FROM ({text})").collect()[0]
        width = ((most or 0) - (least or 0)) / COLUMNS or 1
        column = f"floor((place - {literal(least or 0)}) / {literal(width)})"
        kept = "min(row), max(row), min_by(row, y), max_by(row, y)"
        query = f"""SELECT series, inline(array_sort(array_distinct(kept))) FROM (
            SELECT series, array({kept}) AS kept
            FROM (SELECT *, struct(x, y) AS row, {column} AS at FROM ({text}))
            GROUP BY series, at)"""
        found: dict[str, list[tuple[Any, Any]]] = {name: [] for name in names}
        for series, x, y in self.sql(query).collect():
            found[series].append((x, y))
        return {name: as_series(points) for name, points in found.items()}


def among(names: Sequence[str]) -> str:
    """That a row belongs to one of some series."""
    listed = ", ".join(map(string_literal, names)) or "NULL"
    return f"series IN ({listed})".replace("{", "{{").replace("}", "}}")


def literal(number: float) -> str:
    """A number as SQL."""
    return f"DOUBLE('{float(number)!r}')" if math.isfinite(number) else "DOUBLE('0')"


def as_series(points: list[tuple[Any, Any]]) -> Series:
    """Points in order of time."""
    ordered = sorted(points, key=lambda point: point[0])
    return Series([x for x, _ in ordered], [y for _, y in ordered], [True] * len(ordered))
