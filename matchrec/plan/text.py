"""SQL text: names and literals, words that need quotes, parameters, holes for DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any, TypeVar

from matchrec.source import Span, read_table

# SQL text with holes for DataFrames.


@dataclass(frozen=True, slots=True)
class View:
    """A hole that a DataFrame fills: a user's frame, or the rows of an evaluated clause.

    width: how many characters stood there, to which a name is padded: what follows keeps its place.
    """

    name: str
    width: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text in the place of other text of the user's, `width` characters of it."""

    text: str
    width: int


Template = tuple[str | View | Replacement, ...]


def template(*pieces: str | View | Replacement | Template) -> Template:
    """One template of several pieces.

    >>> template("SELECT 1 FROM ", View("t"), template(" WHERE ", "x"))
    ('SELECT 1 FROM ', View(name='t'), ' WHERE ', 'x')
    """
    return tuple(chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in pieces))


# Names and values as Spark SQL text.


def quoted(name: str) -> str:
    """A column name as an identifier that Spark reads literally."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def string_literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The functions of our sums and averages, told from the user's: a session may lack them.
SUM_OR_NULL = "try_add/* NULL beyond the type */"
AVERAGE_OR_NULL = "try_avg/* NULL beyond the type */"


def sum_or_null(left: str, right: str) -> str:
    """A sum as SQL that is NULL where its type cannot hold it.

    >>> sum_or_null("ts", "INTERVAL 1 DAY")
    'try_add/* NULL beyond the type */(ts, INTERVAL 1 DAY)'
    """
    return f"{SUM_OR_NULL}({left}, {right})"


def run_together(left: str, right: str) -> bool:
    """Whether the last word of one piece of SQL and the first of the next would become one.

    >>> run_together("FROM", "v"), run_together("FROM ", "v"), run_together("x)", "AND")
    (True, False, False)
    """
    return all(edge.isalnum() or edge == "_" for edge in (left[-1:], right[:1]))


Piece = TypeVar("Piece")

# Spans of a text, each with what stands in its place.
Replaced = Iterable[tuple[Span, Iterable[Piece]]]


def in_place(
    write: Callable[[Span], str], span: Span, holes: Replaced[Piece]
) -> Iterator[str | Piece]:
    """The text at `span`, as `write` gives it, with other pieces in the places of `holes`.

    A hole that starts inside of another is left out.

    >>> text = "max(x) + 1"
    >>> list(in_place(lambda at: text[at.start : at.end], Span(0, 10), [(Span(0, 6), ("y",))]))
    ['', 'y', ' + 1']
    """
    position = span.start
    for hole, inside in sorted(holes, key=lambda one: (one[0].start, -one[0].end)):
        if hole.start >= position:
            yield write(Span(position, hole.start))
            yield from inside
            position = hole.end
    yield write(Span(position, span.end))


def spaced(pieces: Iterable[Piece]) -> Iterator[str | Piece]:
    """The pieces with a blank between two whose words would become one; a hole is a word.

    So `)AS m` and `FROM(SELECT` need no blank, a view's name in the place of the parentheses does.
    """
    before = ""
    for piece in pieces:
        text = piece.text if isinstance(piece, Replacement) else piece
        edge = text if isinstance(text, str) else "_"
        if run_together(before, edge):
            yield " "
        yield piece
        before = edge or before


def joined_texts(pieces: Iterable[str | Piece]) -> tuple[str | Piece, ...]:
    """The pieces, as few as there can be: texts side by side are one, and none is empty."""
    joined: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return tuple(joined)


# Numbers and day-time intervals that are written as constants: how much they are, exactly.

MICROSECONDS = {
    "WEEK": 7 * 24 * 3600 * 10**6,
    "DAY": 24 * 3600 * 10**6,
    "HOUR": 3600 * 10**6,
    "MINUTE": 60 * 10**6,
    "SECOND": 10**6,
    "MILLISECOND": 1000,
    "MICROSECOND": 1,
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A constant. is_time: `value` is in microseconds. is_days: it is written in days alone."""

    value: Fraction
    is_time: bool = False
    is_days: bool = False


# Names for `?`, whose order is lost where a query is cut up.

PREFIX = "_matchrec_"


def parameter_name(marker: Span) -> str:
    """The named parameter that stands for the `?` at `marker`, wherever that text ends up."""
    return f"{PREFIX}{marker.start}"


def marker_of(name: str) -> Span | None:
    """The `?` that a named parameter stands for, or None for one of the user's.

    >>> marker_of(parameter_name(Span(14, 15))), marker_of("low")
    (Span(start=14, end=15), None)
    """
    number = name.removeprefix(PREFIX)
    if number == name or not number.isdecimal():
        return None
    return Span(int(number), int(number) + 1)


# What words of SQL mean: the table is `words.txt`.

_WORDS: dict[str, set[str]] = {}
for _kind, _listed in read_table("matchrec.plan", "words.txt"):
    _WORDS.setdefault(_kind, set()).update(_listed.split())


def words_of(kind: str) -> frozenset[str]:
    """The words of a kind.

    >>> sorted(words_of("CONSTANT CALL"))[:3]
    ['ARRAY', 'CURDATE', 'CURRENT_CATALOG']
    """
    return frozenset(_WORDS[kind])


RESERVED = words_of("RESERVED")
CURRENT_VALUES = words_of("CURRENT VALUE")
NONDETERMINISTIC = words_of("NONDETERMINISTIC")
NO_ALIAS_OF_SAIL = words_of("NO ALIAS OF SAIL")


def is_reserved(word: str) -> bool:
    """Whether a word without quotes, in either case, cannot name a pattern variable."""
    return word.upper() in RESERVED
