"""The words of messages that depend on the language of the query.

A condition is in DEFINE in SQL, in WHERE in SASE+, and in `where(...)` of a Pattern. The code that
reads a text says which language it has, by `kinds.locate_errors`. The language is in effect inside
of a `with` statement. Messages that are made there take their words from `current_language`.

`surface` has the words that depend on the program in which the user writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field

from matchrec.errors.context import set_variable
from matchrec.errors.surface import current_surface


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language in which patterns are written. The defaults are for SQL."""

    # By the name of a part of the clause in SQL, its name in this language if that differs.
    parts: Mapping[str, str] = field(default_factory=dict)
    # How a sentence names the pattern, a condition, the rows of a match, and its measures.
    pattern: str = "the row pattern in PATTERN"
    condition: str = "a condition in DEFINE"
    rows: str = "rows"
    measures: str = "measures"
    # Advice on how to make a pattern smaller.
    advice_on_size: str = "lower the bounds of {n,m}, or the number of parts of PERMUTE"
    # How a sentence refers to a value of the form `matched_value`.
    value_noun: str = "one navigation"
    # An example of a value of one row of the match.
    matched_value: str = "LAST(A.x)"
    # Examples of values of two rows of the match, for their difference.
    earlier_value: str = "FIRST(A.x)"
    later_value: str = "LAST(A.x)"
    # Examples for a condition: a value of an earlier row of the match, and one of the tested row.
    value_before: str = "LAST(A.x)"
    current_value: str = "x"
    # An example of a function that is applied to each row by itself.
    call_on_one_row: str = "f(LAST(A.x)) = f(x)"
    # Advice on how a condition reads a value of another row than the tested row.
    advice_on_other_rows: str = (
        "PREV(x) for the previous row, or A.x for the last row of another variable"
    )
    # The end of this advice for conditions that can read later rows as well.
    advice_on_later_rows: str = ", or NEXT(...) for the row after"
    # Advice on where to compute a value of one row before the search.
    advice_on_columns: str = "compute it as a column of the input, in a subquery in FROM"
    # What a condition writes to read other rows of the match.
    calls_on_rows: str = "PREV, NEXT or an aggregate"
    # A window of a time, and a window of a number of rows, for `str.format`. None if the language
    # has no such window.
    window: str = "WITHIN INTERVAL {number} {UNIT}"
    row_window: str | None = "WITHIN {number} ROWS"

    @property
    def row(self) -> str:
        """The singular of `rows`: "row", "event"."""
        return self.rows.removesuffix("s")

    @property
    def row_with_article(self) -> str:
        """The singular of `rows` with its article: "a row", "an event"."""
        return f"an {self.row}" if self.row == "event" else f"a {self.row}"

    def write_window(self, number: str | int, unit: str) -> str:
        """Return how to limit the time of a match.

        >>> SQL.write_window(5, "MINUTE"), SASE.write_window(5, "MINUTE")
        ('WITHIN INTERVAL 5 MINUTE', 'WITHIN 5 minutes')
        """
        return self.window.format(number=number, UNIT=unit, units=f"{unit.lower()}s")


SQL = Language()
# The arguments of the call that replace these parts of the clause in SASE+ and Patterns.
_ARGUMENTS = {"ORDER BY": "order_by", "PARTITION BY": "partition_by"}
SASE = Language(
    {**_ARGUMENTS, "DEFINE": "WHERE", "MEASURES": "RETURN"},
    advice_on_size="leave out components of SEQ",
    condition="a condition in WHERE",
    rows="events",
    measures="items",
    value_noun="one of them",
    matched_value="a.x",
    earlier_value="a.x",
    later_value="b.x",
    value_before="a.x",
    current_value="b.x",
    call_on_one_row="f(a[a.LEN].x)",
    advice_on_other_rows="a[i-1].x for the previous event, or b.x for that of another variable",
    advice_on_columns="compute it as a column of the events",
    calls_on_rows="a[i-1].x for the previous event, or an aggregate over events, avg(a[..i-1].x)",
    window="WITHIN {number} {units}",
    row_window="WITHIN {number} EVENTS",
)
PATTERN_CALLS = Language(
    {**_ARGUMENTS, "DEFINE": "a condition", "PATTERN": "the pattern", "WITHIN": "a window"},
    pattern="the pattern",
    advice_on_size="lower the numbers of times(m, n), those of groups in one another first",
    condition="a condition",
    rows="events",
    advice_on_other_rows="last(a.x) for the event that the stage a has accepted last",
    advice_on_columns="compute it as a column of the events",
    advice_on_later_rows="",
    calls_on_rows="last(a.x) for the previous event, or an aggregate over a stage, avg(a.x)",
    window='within("{number} {units}")',
    row_window=None,
)

_CURRENT: ContextVar[Language] = ContextVar("language of the query", default=SQL)


def use_language(language: Language | None) -> AbstractContextManager[None]:
    """Use the words of a language in errors made inside of the `with` statement.

    None keeps the language that is in use.
    """
    return set_variable(_CURRENT, language or _CURRENT.get())


def current_language() -> Language:
    """Return the language of the text that is being read."""
    return _CURRENT.get()


def name_part(name: str) -> str:
    """Return the name of a part of the clause in the language that is being read.

    >>> name_part("DEFINE")
    'DEFINE'
    >>> with use_language(SASE):
    ...     name_part("DEFINE")
    'WHERE'
    >>> from matchrec.errors.surface import COMMAND_LINE, use_surface
    >>> with use_language(SASE), use_surface(COMMAND_LINE):
    ...     name_part("ORDER BY")
    '--order-by'
    """
    argument = find_argument(name)
    if argument is not None:
        return current_surface().name_option(argument)
    return current_language().parts.get(name, name)


def find_argument(name: str) -> str | None:
    """Return the argument that has a part of the clause in the language that is being read.

    >>> find_argument("ORDER BY")
    >>> with use_language(SASE):
    ...     find_argument("ORDER BY"), find_argument("DEFINE")
    ('order_by', None)
    """
    part = current_language().parts.get(name, name)
    return part if part in _ARGUMENTS.values() else None
