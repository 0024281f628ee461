"""The words that an error takes from the language of its query, where several languages share it.

A condition stands in DEFINE for SQL and in WHERE for SASE+. `shown_in` says which language is being
read; constructors ask for its words by what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Language:
    """parts: what it calls parts of the clause, by their names in SQL, where it calls them so.

    pattern, condition, rows, measures: what it calls these. smaller: what makes a pattern so.
    one, earlier and later, before and current: how it writes a value of one row of the match, and
    of two. one_value: what it calls the first of them. alone: a function of each row by itself.
    another: what it writes for a value of another row than the one that is tested.
    """

    parts: Mapping[str, str] = field(default_factory=dict)
    pattern: str = "the row pattern in PATTERN"
    smaller: str = "lower the bounds of nested {n,m}, or the number of parts of PERMUTE"
    condition: str = "a condition in DEFINE"
    rows: str = "rows"
    measures: str = "measures"
    one_value: str = "one navigation"
    one: str = "LAST(A.x)"
    earlier: str = "FIRST(A.x)"
    later: str = "LAST(A.x)"
    before: str = "LAST(A.x)"
    current: str = "x"
    alone: str = "f(LAST(A.x)) = f(x)"
    another: str = "PREV(x) for the row before, or A.x for the last row of another variable"


SQL = Language()
SASE = Language(
    {
        "DEFINE": "WHERE",
        "MEASURES": "RETURN",
        "ORDER BY": "order_by",
        "PARTITION BY": "partition_by",
    },
    smaller="leave out components of SEQ",
    condition="a condition in WHERE",
    rows="events",
    measures="items",
    one_value="one of them",
    one="a.x",
    earlier="a.x",
    later="b.x",
    before="a.x",
    current="b.x",
    alone="f(a[a.LEN].x)",
    another="a[i-1].x for the event before, or b.x for that of another variable",
)
PATTERN_CALLS = Language(
    {
        "DEFINE": "a condition",
        "PATTERN": "the pattern",
        "ORDER BY": "order_by",
        "PARTITION BY": "partition_by",
    },
    pattern="the pattern",
    smaller="lower the numbers of times(m, n), those of groups in one another first",
    condition="a condition",
    another="last(a.x) for the event that the stage a has accepted last",
)

_CURRENT: ContextVar[Language] = ContextVar("language of the query", default=SQL)


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Inside, the variable has that value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def reading(language: Language | None) -> AbstractContextManager[None]:
    """Errors made inside are in the words of a language; with None, in those of the one around."""
    return holding(_CURRENT, language or _CURRENT.get())


def current() -> Language:
    """The language that is being read."""
    return _CURRENT.get()


def part(name: str) -> str:
    """What the language that is being read calls a part of the clause.

    >>> part("DEFINE")
    'DEFINE'
    >>> with reading(SASE):
    ...     part("DEFINE")
    'WHERE'
    """
    return current().parts.get(name, name)


def as_note(sentence: str) -> str:
    """What a parser says, as one of an error's notes; a name in capitals stays.

    >>> as_note("Unexpected token"), as_note("TO_DATE needs a format")
    ('unexpected token', 'TO_DATE needs a format')
    """
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]
