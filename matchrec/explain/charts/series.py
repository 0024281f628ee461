"""The rows of a page as series, thinned by Spark, and the matches in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    """The first and last row of a match, in one series or all (None). rows: of all, where known."""

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


def find_column(frame: DataFrame, argument: str, name: str) -> str:
    """The column of that name as the DataFrame spells it; Spark does not heed case."""
    if (found := only_column(frame, name)) is None:
        raise errors.no_column(argument=argument, name=name, known=frame.columns)
    return found


def only_column(frame: DataFrame, name: str) -> str | None:
    """The column of that name; None where there is none, or more than one."""
    found = [column for column in frame.columns if column.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def spelled(name: str) -> str:
    """A column's name in a text with holes for DataFrames, in which braces are doubled."""
    return quoted(name).replace("{", "{{").replace("}", "}}")


FLOATS = ("float", "double")


def text_of(column: str, kind: str) -> str:
    """A key of a type as the name of a series. Both zeros are one key: -0.0 + 0.0 is 0.0."""
    if kind == "binary":  # bytes may be no letters
        column = f"concat('X', chr(39), hex({column}), chr(39))"
    key = f"{column} + CAST(0 AS {kind})" if kind in FLOATS else column
    return f"coalesce(CAST({key} AS STRING), 'NULL')"


def plain(kind: str) -> str:
    """A type of which others are variants, as their columns are compared."""
    if kind.partition("(")[0] in NUMBERS:
        return "number"
    return "timestamp" if kind == "timestamp_ntz" else kind


def is_drawn(kind: str) -> bool:
    """Whether values of a type have places along an axis."""
    return plain(kind) in ("number", "date", "timestamp")


def begins(name: str, word: str) -> bool:
    return f"{name.lower()}_".startswith(f"{word}_")


def fields_of(matches: DataFrame, column: str) -> dict[str, str]:
    """The fields of the events in a column, and their types; none where it is no array of them."""
    kind: Any = matches.schema[column].dataType
    fields = getattr(getattr(kind, "elementType", None), "fields", ())
    return {field.name.lower(): field.dataType.simpleString() for field in fields}


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
    """Rows and matches. x, y, by: columns of the rows; between, match: of the matches, if said."""

    matches: DataFrame
    data: DataFrame
    x: str
    y: str
    by: str | None = None
    between: tuple[str, str] | None = None
    match: str | None = None

    @property
    def kind(self) -> str:
        """The type of x as it is drawn: instants as the clocks of the session show them."""
        kind = dict(self.data.dtypes)[find_column(self.data, "x", self.x)]
        if not is_drawn(kind):
            raise errors.no_axis(name=self.x, kind=kind)
        return "timestamp_ntz" if kind == "timestamp" else kind

    @property
    def is_measured(self) -> bool:
        """Whether y is a number: a line, and else texts on a lane."""
        return plain(dict(self.data.dtypes)[find_column(self.data, "y", self.y)]) == "number"

    @property
    def rows(self) -> str:
        """SQL over `{data}`: series, x and y of each row that has them; x is finite."""
        x = spelled(find_column(self.data, "x", self.x))
        y = spelled(find_column(self.data, "y", self.y))
        number = f"nullif(CAST({y} AS DOUBLE), DOUBLE('NaN'))"
        value = number if self.is_measured else f"CAST({y} AS STRING)"
        columns = f"{self.series} AS series, CAST({x} AS {self.kind}) AS x, {value} AS y"
        has_place = "abs(x) < DOUBLE('Infinity')" if self.kind in FLOATS else "x IS NOT NULL"
        return f"SELECT * FROM (SELECT {columns} FROM {{data}}) WHERE {has_place} AND y IS NOT NULL"

    @property
    def series(self) -> str:
        """SQL for the series of a row."""
        if self.by is None:
            return "''"
        by = find_column(self.data, "by", self.by)
        return text_of(spelled(by), dict(self.data.dtypes)[by])

    @property
    def places(self) -> str:
        """SQL over `{matches}`: series, first, last and rows of each match that has rows."""
        found = self.all_places()
        return f"SELECT * FROM ({found}) AS m (series, first, last, rows) WHERE first IS NOT NULL"

    def all_places(self) -> str:
        """SQL of these for each match. Raises MatchRecognizePlanError where nothing tells them."""
        ends = self.between and [find_column(self.matches, "between", one) for one in self.between]
        if ends is None and self.match is None:
            x = self.x.lower()
            events = [one for one in self.matches.columns if x in fields_of(self.matches, one)]
            if events:
                return self.over_events(events)
            ends = self.ends_told()
        if ends is None:
            return self.over_rows()
        first, last = (f"CAST({spelled(one)} AS {self.kind})" for one in ends)
        return f"SELECT {self.series_of_match()}, {first}, {last}, NULL FROM {{matches}}"

    def series_of_match(self, events: str = "") -> str:
        """SQL for the series of a match by a column of its own, or else by its first event."""
        if self.by is None:
            return "''"
        by = self.by.lower()
        own = next((one for one in self.matches.dtypes if one[0].lower() == by), None)
        if own is not None:
            return text_of(spelled(own[0]), own[1])
        if (kind := fields_of(self.matches, events).get(by) if events else None) is None:
            raise errors.no_series()
        return text_of(f"{spelled(events)}[0].{spelled(self.by)}", kind)

    @property
    def like_x(self) -> list[str]:
        """The columns of matches whose values compare with x."""
        kind = plain(self.kind)
        return [name for name, one in self.matches.dtypes if plain(one) == kind]

    def ends_told(self) -> list[str] | None:
        """The two columns whose names say that a match lies between them, if there are two."""
        names = self.like_x
        for words in PAIRS:
            found = [[one for one in names if begins(one, word)] for word in words]
            if all(len(one) == 1 for one in found):
                return [name for (name,) in found]
        return None

    def over_events(self, events: Sequence[str]) -> str:
        """Each row is a match, which has the events of some arrays."""
        cast = f"e -> CAST(e.{spelled(self.x)} AS {self.kind})"
        times = ", ".join(f"transform({spelled(one)}, {cast})" for one in events)
        series = self.series_of_match(events[0])
        rows = f"SELECT {series} AS series, concat({times}) AS x FROM {{matches}}"
        return f"SELECT series, array_min(x), array_max(x), x FROM ({rows})"

    def over_rows(self) -> str:
        """Each row is one of a match, whose number another column has."""
        known = {column.lower(): spelled(column) for column in self.matches.columns}
        numbers = (self.match,) if self.match else MATCH_NUMBERS
        number = next((known[one.lower()] for one in numbers if one.lower() in known), None)
        x = known.get(self.x.lower())
        if number is None or x is None:
            raise errors.no_places(x=self.x, alike=self.like_x)
        columns = f"{self.series_of_match()} AS series, {number} AS number"
        rows = f"SELECT {columns}, CAST({x} AS {self.kind}) AS x FROM {{matches}}"
        found = f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows})"
        return f"{found} GROUP BY series, number"

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
