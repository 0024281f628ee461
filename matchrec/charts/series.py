"""The rows of a page as series, thinned by Spark, and the matches in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.errors import command as errors
from matchrec.errors.sql.expression import NUMBERS
from matchrec.plan.text import quoted, string_literal
from matchrec.source import by_number

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Series:
    """Rows of one partition, in order of time: a number or a text for each.

    matched: whether a row is one that a match may contain, if it lies between its ends.
    """

    times: Sequence[Any]
    values: Sequence[Any]
    matched: Sequence[bool]


@dataclass(frozen=True)
class MatchSpan:
    """The first and the last row of a match, in one of the series or across all (None).

    rows: the times of all its rows, where they are known.
    """

    series: str | None
    first: Any
    last: Any
    rows: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """Its name in the SVG."""
        return "match-" + re.sub(r"\W+", "-", f"{self.series} {self.first} {self.last}")


# Which columns say where a match lies: what was said, or else what their names and types tell.
#
# arrays of events             each has x; the match lies between the first and the last of them
# first_..., last_...          two columns of the type of x; or start and end, from and to
# x and match_number           a row for each row of a match

PAIRS = (("first", "last"), ("start", "end"), ("begin", "end"), ("from", "to"))
MATCH_NUMBERS = ("match_number", "match_num", "match_no", "match")


@dataclass(frozen=True, slots=True)
class Named:
    """What the caller says of columns. x, y, by: of the rows; the others of the matches."""

    x: str
    y: str
    by: str | None = None
    between: tuple[str, str] | None = None
    match: str | None = None


def find_column(frame: DataFrame, argument: str, name: str) -> str:
    """The column of that name as the DataFrame spells it; Spark does not heed case."""
    found = only_column(frame, name)
    if found is None:
        raise errors.no_column(argument=argument, name=name, known=frame.columns)
    return found


def only_column(frame: DataFrame, name: str) -> str | None:
    """The column of that name; None where there is none, or more than one."""
    found = [column for column in frame.columns if column.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def places_of(matches: DataFrame, named: Named, kind: str) -> str:
    """SQL over `{matches}`: a row for each match, with series, first and last x and array of rows.

    kind: the type of x. Raises MatchRecognizePlanError where no columns say where a match lies.
    """
    types = dict(matches.dtypes)
    series = series_of(matches, named)
    if named.between is not None:
        first, last = (find_column(matches, "between", one) for one in named.between)
        return between(series, kind, first, last)
    if named.match is None:
        events = [one for one in matches.columns if named.x.lower() in fields_of(matches, one)]
        if events:
            series = series or series_of_events(matches, named, events[0])
            return over_events(series, kind, named, events)
        ends = ends_told(types, kind)
        if ends is not None:
            return between(series, kind, *ends)
    return over_rows(matches, named, series, kind)


def series_of(matches: DataFrame, named: Named) -> str | None:
    """SQL for the series of a match, None where its columns do not tell."""
    if named.by is None:
        return "''"
    found = [column for column in matches.columns if column.lower() == named.by.lower()]
    return text_of(spelled(found[0]), dict(matches.dtypes)[found[0]]) if found else None


def series_of_events(matches: DataFrame, named: Named, events: str) -> str | None:
    """SQL for the series of a match by its first event."""
    assert named.by is not None
    kind = fields_of(matches, events).get(named.by.lower())
    return text_of(f"{spelled(events)}[0].{spelled(named.by)}", kind) if kind else None


def spelled(name: str) -> str:
    """A column's name in a text with holes for DataFrames, in which braces are doubled."""
    return quoted(name).replace("{", "{{").replace("}", "}}")


FLOATS = ("float", "double")


def text_of(column: str, kind: str) -> str:
    """A key of a type as the name of a series. Both zeros are one key: -0.0 + 0.0 is 0.0."""
    key = f"{column} + CAST(0 AS {kind})" if kind in FLOATS else column
    return f"coalesce(CAST({key} AS STRING), 'NULL')"


def ends_told(types: Mapping[str, str], kind: str) -> tuple[str, str] | None:
    """The two columns whose names say that a match lies between them, if there are two."""
    names = [name for name, type_ in types.items() if plain(type_) == plain(kind)]
    for first, last in PAIRS:
        firsts, lasts = beginning(names, first), beginning(names, last)
        if len(firsts) == len(lasts) == 1:
            return firsts[0], lasts[0]
    return None


def plain(kind: str) -> str:
    """A type of which others are variants, as their columns are compared."""
    if kind.partition("(")[0] in NUMBERS:
        return "number"
    return "timestamp" if kind == "timestamp_ntz" else kind


def is_drawn(kind: str) -> bool:
    """Whether values of a type have places along an axis."""
    return plain(kind) in ("number", "date", "timestamp")


def beginning(names: Sequence[str], word: str) -> list[str]:
    """The names that are a word or begin with it."""
    return [name for name in names if name.lower() == word or name.lower().startswith(f"{word}_")]


def fields_of(matches: DataFrame, column: str) -> dict[str, str]:
    """The fields of the events in a column, and their types; none where it is no array of them."""
    kind: Any = matches.schema[column].dataType
    event = getattr(kind, "elementType", None)
    fields = getattr(event, "fields", ())
    return {field.name.lower(): field.dataType.simpleString() for field in fields}


def between(series: str | None, kind: str, first: str, last: str) -> str:
    """Each row is a match, between two of its columns."""
    ends = f"CAST({spelled(first)} AS {kind}), CAST({spelled(last)} AS {kind})"
    return f"SELECT {known(series)}, {ends}, NULL FROM {{matches}}"


def over_events(series: str | None, kind: str, named: Named, events: Sequence[str]) -> str:
    """Each row is a match, which has the events of some arrays."""
    x = spelled(named.x)
    times = (f"transform({spelled(one)}, e -> CAST(e.{x} AS {kind}))" for one in events)
    rows = f"SELECT {known(series)} AS series, concat({', '.join(times)}) AS x FROM {{matches}}"
    return f"SELECT series, array_min(x), array_max(x), x FROM ({rows})"


def over_rows(matches: DataFrame, named: Named, series: str | None, kind: str) -> str:
    """Each row is one of a match, whose number another column has."""
    known_as = {column.lower(): column for column in matches.columns}
    numbers = (named.match,) if named.match else MATCH_NUMBERS
    number = next((known_as[one.lower()] for one in numbers if one.lower() in known_as), None)
    x = known_as.get(named.x.lower())
    if number is None or x is None:
        alike = [name for name, one in matches.dtypes if plain(one) == plain(kind)]
        raise errors.no_places(x=named.x, alike=alike)
    columns = f"{known(series)} AS series, {spelled(number)} AS number"
    rows = f"SELECT {columns}, CAST({spelled(x)} AS {kind}) AS x FROM {{matches}}"
    return f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows}) GROUP BY series, number"


def known(series: str | None) -> str:
    """The series of a match, which its columns must tell."""
    if series is None:
        raise errors.no_series()
    return series


COLUMNS = 1000  # of pixels, in each of which a series has at most four rows
MOST_MATCHES = 5000  # of a page
MEASURED = {"date": "unix_date(x)", "timestamp_ntz": "unix_micros(CAST(x AS TIMESTAMP))"}


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the series by name, and the matches in them. pages: how many there are."""

    series: dict[str, Series]
    spans: tuple[MatchSpan, ...]
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
        if not is_drawn(kind):
            raise errors.no_axis(name=self.named.x, kind=kind)
        return "timestamp_ntz" if kind == "timestamp" else kind

    @property
    def is_measured(self) -> bool:
        """Whether y is a number: a line, and else texts on a lane."""
        kind = dict(self.data.dtypes)[find_column(self.data, "y", self.named.y)]
        return plain(kind) == "number"

    @property
    def rows(self) -> str:
        """SQL over `{data}`: series, x and y of each row that has them; x is finite."""
        x = spelled(find_column(self.data, "x", self.named.x))
        y = spelled(find_column(self.data, "y", self.named.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.is_measured else f"CAST({y} AS STRING)"
        columns = f"{self.series} AS series, CAST({x} AS {self.kind}) AS x, {value} AS y"
        has_place = "abs(x) < DOUBLE('Infinity')" if self.kind in FLOATS else "x IS NOT NULL"
        return f"SELECT * FROM (SELECT {columns} FROM {{data}}) WHERE {has_place} AND y IS NOT NULL"

    @property
    def series(self) -> str:
        """SQL for the series of a row."""
        if self.named.by is None:
            return "''"
        by = find_column(self.data, "by", self.named.by)
        return text_of(spelled(by), dict(self.data.dtypes)[by])

    @property
    def places(self) -> str:
        """SQL over `{matches}`: series, first, last and rows of each match that has rows."""
        found = places_of(self.matches, self.named, self.kind)
        return f"SELECT * FROM ({found}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def sql(self, text: str) -> DataFrame:
        return self.data.sparkSession.sql(text, data=self.data, matches=self.matches)

    def page(self, number: int, size: int) -> Page:
        """The series of a page: those with matches, or all of them where there are no matches."""
        rows, matches = self.rows, self.places
        names = self.names(matches) or self.names(rows)
        pages = max(1, -(-len(names) // size))
        if not 1 <= number <= pages:
            raise errors.no_page(given=number, pages=pages)
        chosen = names[(number - 1) * size : number * size]
        spans = list(self.spans(matches, chosen))
        series = self.thinned(rows, chosen)
        return Page(series, tuple(spans[:MOST_MATCHES]), number, pages, len(spans) <= MOST_MATCHES)

    def names(self, rows: str) -> list[str]:
        """The series that rows or matches belong to, in order."""
        found = self.sql(f"SELECT DISTINCT series FROM ({rows})").collect()
        return sorted((row.series for row in found), key=by_number)

    def spans(self, matches: str, names: Sequence[str]) -> Iterator[MatchSpan]:
        """The matches of some series by time, one more than a page shows at most."""
        text = f"SELECT * FROM ({matches}) WHERE {among(names)} ORDER BY first, last"
        for row in self.sql(f"{text} LIMIT {MOST_MATCHES + 1}").collect():
            yield MatchSpan(row.series, row.first, row.last, tuple(sorted(row.rows or ())))

    def thinned(self, rows: str, names: Sequence[str]) -> dict[str, Series]:
        """Of each column of pixels the first, the last, the lowest and the highest row."""
        place = MEASURED.get(self.kind, "CAST(x AS DOUBLE)")
        text = f"SELECT *, {place} AS place FROM ({rows}) WHERE {among(names)}"
        least, most = self.sql(f"SELECT min(place), max(place) FROM ({text})").collect()[0]
        width = ((most or 0) - (least or 0)) / COLUMNS or 1
        first, last = literal(least or 0), literal(most or 0)
        column = f"""CASE WHEN place BETWEEN {first} AND {last}
            THEN floor((place - {first}) / {literal(width)}) END"""
        kept = "min(row), max(row), min_by(row, y), max_by(row, y)"
        query = f"""SELECT series, inline(array_sort(array_distinct(kept))) FROM (
            SELECT series, array({kept}) AS kept
            FROM (SELECT *, struct(x, y) AS row, {column} AS at FROM ({text}))
            GROUP BY series, at)"""
        found: dict[str, tuple[list[Any], list[Any]]] = {name: ([], []) for name in names}
        for series, x, y in sorted(self.sql(query).collect(), key=lambda row: row[1]):
            found[series][0].append(x)
            found[series][1].append(y)
        return {name: Series(*both, [True] * len(both[0])) for name, both in found.items()}


def among(names: Sequence[str]) -> str:
    """That a row belongs to one of some series."""
    listed = ", ".join(map(string_literal, names)) or "NULL"
    return f"series IN ({listed})".replace("{", "{{").replace("}", "}}")


def literal(number: float) -> str:
    return f"DOUBLE('{float(number)!r}')"
