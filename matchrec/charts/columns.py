"""Which columns say where a match lies: what was said, or else what their names and types tell.

arrays of events             each has x; the match lies between the first and the last of them
first_..., last_...          two columns of the type of x; or start and end, from and to
x and match_number           a row for each row of a match
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matchrec.dataclass import dataclass
from matchrec.errors import pictures as errors
from matchrec.plan.text.sql_text import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAIRS = (("first", "last"), ("start", "end"), ("begin", "end"), ("from", "to"))
MATCH_NUMBERS = ("match_number", "match_num", "match_no", "match")
NUMERIC = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


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
    found = [column for column in frame.columns if column.lower() == name.lower()]
    if len(found) != 1:
        raise errors.no_column(argument, name, frame.columns)
    return found[0]


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
        events = list(event_columns(matches, named.x))
        if events:
            return over_events(
                series or series_of_events(matches, named, events[0]), kind, named, events
            )
        ends = ends_told(types, kind)
        if ends is not None:
            return between(series, kind, *ends)
    return over_rows(matches, named, series, kind)


def series_of(matches: DataFrame, named: Named) -> str | None:
    """SQL for the series of a match, None where its columns do not tell."""
    if named.by is None:
        return "''"
    found = [column for column in matches.columns if column.lower() == named.by.lower()]
    return text_of(spelled(found[0])) if found else None


def series_of_events(matches: DataFrame, named: Named, events: str) -> str | None:
    """SQL for the series of a match by its first event."""
    assert named.by is not None
    fields = fields_of(matches, events)
    return (
        text_of(f"{spelled(events)}[0].{spelled(named.by)}") if named.by.lower() in fields else None
    )


def spelled(name: str) -> str:
    """A column's name in a text with holes for DataFrames, in which braces are doubled."""
    return quoted(name).replace("{", "{{").replace("}", "}}")


def text_of(column: str) -> str:
    """A key as the name of a series."""
    return f"coalesce(CAST({column} AS STRING), 'NULL')"


def ends_told(types: Mapping[str, str], kind: str) -> tuple[str, str] | None:
    """The two columns whose names say that a match lies between them, if there are two."""
    names = [name for name, one in types.items() if plain(one) == plain(kind)]
    for first, last in PAIRS:
        firsts, lasts = beginning(names, first), beginning(names, last)
        if len(firsts) == len(lasts) == 1:
            return firsts[0], lasts[0]
    return None


def plain(kind: str) -> str:
    """A type of which others are variants, as their columns are compared."""
    if kind.partition("(")[0] in NUMERIC:
        return "number"
    return "timestamp" if kind == "timestamp_ntz" else kind


def beginning(names: Sequence[str], word: str) -> list[str]:
    """The names that are a word or begin with it."""
    return [name for name in names if name.lower() == word or name.lower().startswith(f"{word}_")]


def event_columns(matches: DataFrame, x: str) -> Iterator[str]:
    """The columns that are arrays of events with a field x."""
    for name in matches.columns:
        if x.lower() in fields_of(matches, name):
            yield name


def fields_of(matches: DataFrame, column: str) -> set[str]:
    """The fields of the events in a column; none where it is no array of events."""
    kind: Any = matches.schema[column].dataType
    event = getattr(kind, "elementType", None)
    return {field.name.lower() for field in getattr(event, "fields", ())}


def between(series: str | None, kind: str, first: str, last: str) -> str:
    """Each row is a match, between two of its columns."""
    ends = f"CAST({spelled(first)} AS {kind}), CAST({spelled(last)} AS {kind})"
    return f"SELECT {known(series)}, {ends}, NULL FROM {{matches}}"


def over_events(series: str | None, kind: str, named: Named, events: Sequence[str]) -> str:
    """Each row is a match, which has the events of some arrays."""
    times = (
        f"transform({spelled(one)}, e -> CAST(e.{spelled(named.x)} AS {kind}))" for one in events
    )
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
        raise errors.no_places(named.x, alike)
    columns = f"{known(series)} AS series, {spelled(number)} AS number"
    rows = f"SELECT {columns}, CAST({spelled(x)} AS {kind}) AS x FROM {{matches}}"
    return f"SELECT series, min(x), max(x), collect_list(x) FROM ({rows}) GROUP BY series, number"


def known(series: str | None) -> str:
    """The series of a match, which its columns must tell."""
    if series is None:
        raise errors.no_series()
    return series
