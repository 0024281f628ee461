"""What to write instead of a word or sign that cannot come next in a SASE+ query.

    SEQ(Shelf a | Exit b)         a.event_type IN ('Shelf', 'Exit'), with ANY a in SEQ
    ... WITHIN '1 hour'           write WITHIN 1 hour
    ... SELECT a.x                write RETURN a.x

`find_hint_for_token` first looks for a mistake whose hint repeats the user's text, then for the
word or sign in tables, and then for what may be missing before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from matchrec.errors.context import set_variable
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql.brackets import find_closing_bracket
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines, shorten, write_name

# The item of `expected` for the end of the query, and the one for an operand.
END = "the end"
VALUE = "a value such as a.x or 1"
# What can come next where a component begins.
EVENT_TYPE = ("an event type", "`~` for a negation")

# The parts of a query, in order.
PARTS = ("PATTERN", "WHERE", "WITHIN", "RETURN")

# What to write instead of a word or sign in PATTERN, by the word or sign in upper case.
_HINTS_IN_PATTERN = {
    **dict.fromkeys(("->", ";"), "write a comma between components: SEQ(Shelf a, Exit b)"),
    **dict.fromkeys(
        ("*", "{"), "write + after the type and [] after the variable for one or more: Shelf+ a[]"
    ),
    "(": "remove the parentheses: SEQ has components with a comma between them",
    "?": "remove it: SASE+ has no optional events",
}

# What to write instead of a word or sign in WITHIN, by the word or sign in upper case.
_HINTS_IN_WITHIN = {
    "-": "remove the `-`: WITHIN needs a length above 0",
    "S": "write the unit as one word, such as hours",
}

# What to write instead of a word or sign in any part, by the word or sign in upper case. The name
# of the argument or option replaces `{order_by}`.
_HINTS_OF_WORDS = {
    "&&": "write AND",
    ",": "remove it, or write the value that is missing before it",
    "FILTER": "remove FILTER (...): an aggregate reads all events of its range",
    "OR": "write parentheses around the predicates that OR joins",
    "?": "write the value itself",
    ";": "remove it: a query is one statement",
    "*": (
        "leave RETURN out for all columns of each event, or write attributes, RETURN a.x, b.x; "
        "write count(a[]) for the number of events"
    ),
    "~": "write RLIKE for a regular expression: a.x RLIKE '^S'",
    "!": "write NOT before a condition: NOT a.x RLIKE '^S'",
    "SEQ": "write PATTERN before it: PATTERN SEQ(...)",
    "SELECT": "write PATTERN first, and the output last: PATTERN SEQ(...) RETURN a.x",
    "SKIP": "write the strategy in WHERE: WHERE skip_till_next_match {}",
    "STRICT": "write the strategy in WHERE: WHERE strict_contiguity {}",
    "GROUP": (
        "write an equivalence test for events that belong together: WHERE skip_till_next_match { "
        "[symbol] }; group the matches of the result"
    ),
    "ORDER": "remove it: {order_by} sorts the events",
    **dict.fromkeys(PARTS, f"write the parts in this order: {', '.join(PARTS)}"),
}

_TYPE_COLUMN = ContextVar("the column of event types", default="event_type")


def use_type_column(name: str) -> AbstractContextManager[None]:
    """Name this column of event types in messages made inside of the `with` statement."""
    return set_variable(_TYPE_COLUMN, name)


def write_type_column() -> str:
    """Return the column of event types as a predicate writes it."""
    return write_name(_TYPE_COLUMN.get())


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """A word or sign that cannot come next, with the text around it."""

    # The word or sign.
    text: str
    # The part of the query that has it, such as PATTERN.
    where: str
    # Everything that can come next: keywords, signs, and phrases such as "a name".
    expected: Sequence[str]
    # The user's text before the token, and from it on; "" if it is not known.
    text_before: str = ""
    text_from_token: str = ""

    @property
    def key(self) -> str:
        """The token in upper case, to compare it with keywords."""
        return self.text.upper()


def find_hint_for_token(token: RefusedToken) -> str | None:
    """Return what to write instead of a word or sign; None if that is not clear."""
    return (
        _find_parentheses_hint(token)
        or _find_length_hint(token)
        or _find_select_hint(token)
        or _find_alternative_hint(token)
        or _find_listed_hint(token)
        or _find_hint_for_missing_text(token)
    )


# Hints that repeat the user's text.


def _find_parentheses_hint(token: RefusedToken) -> str | None:
    """Return the predicates in braces, if they are in parentheses.

    >>> text = "( a.x = b.x ) WITHIN 1 hour"
    >>> _find_parentheses_hint(RefusedToken("(", "WHERE", ["{"], text_from_token=text))
    'write braces: { a.x = b.x }'
    """
    if token.text != "(" or "{" not in token.expected:
        return None
    closing = find_closing_bracket(token.text_from_token, 0)
    predicates = "..." if closing is None else join_lines(token.text_from_token[1:closing]).strip()
    return f"write braces: {{ {shorten(predicates)} }}"


# The end of the window in the user's text.
_AFTER_WINDOW = re.compile(r"(?i)\bRETURN\b|;")


def _find_length_hint(token: RefusedToken) -> str | None:
    """Return the length that WITHIN should have, such as `1 hour 5 minutes` for `1 hour and 5 min`.

    >>> text = "'1 hour' RETURN a.x"
    >>> _find_length_hint(RefusedToken("'1 hour'", "WITHIN", [], text_from_token=text))
    'write WITHIN 1 hour'
    >>> token = RefusedToken("an", "WITHIN", [], text_from_token="an hour")
    >>> _find_length_hint(token)
    'write WITHIN 1 hour'
    """
    if token.where != "WITHIN":
        return None
    before = re.split(r"(?i)\bWITHIN\b", token.text_before)[-1]
    window = before + _AFTER_WINDOW.split(token.text_from_token)[0]
    window = re.sub(r"(?i)^\s*['\"]?\s*(?:one|an?)\b", "1", window)
    length = find_meant_length(re.sub(r"(?i)\band\b|[,&]", " ", window))
    return None if length is None else f"write WITHIN {length.words}"


def _find_select_hint(token: RefusedToken) -> str | None:
    """Return the values of a SELECT after PATTERN as RETURN.

    >>> text = "SELECT a.x, b.x AS y WITHIN 1 hour"
    >>> token = RefusedToken("SELECT", "PATTERN", ["RETURN", END], text_from_token=text)
    >>> _find_select_hint(token)
    'write RETURN a.x, b.x AS y at the end'
    """
    if token.key != "SELECT" or "RETURN" not in token.expected:
        return None
    select = re.split(r"(?i)\b(?:WHERE|WITHIN|FROM)\b", token.text_from_token)
    values = shorten(join_lines(select[0][len("SELECT") :]).strip())
    return f"write RETURN {values or 'a.x'}{' at the end' if len(select) > 1 else ''}"


def _find_alternative_hint(token: RefusedToken) -> str | None:
    """Return a predicate that allows several event types, for `Shelf a | Exit b`."""
    if token.text != "|" or token.where != "PATTERN":
        return None
    first = re.search(r"(?P<type>\w+)(?:\s+(?P<name>\w+))?\s*$", token.text_before)
    second = re.match(r"\|\s*(?P<type>\w+)(?:\s+(?P<name>\w+))?", token.text_from_token)
    event_types, name = ["Shelf", "Exit"], "a"
    if first is not None and second is not None:
        event_types = [first["type"], second["type"]]
        name = first["name"] or second["name"] or "a"
    types = ", ".join(f"'{event_type}'" for event_type in event_types)
    return f"write ANY {name} in SEQ, and the predicate {name}.{write_type_column()} IN ({types})"


# Hints from tables.


def _find_listed_hint(token: RefusedToken) -> str | None:
    """Return the hint that a table has for a word or sign, or the part that it misspells."""
    key, where, expected = token.key, token.where, token.expected
    if where == "WHERE" and "AND" in expected and key in (",", ";"):
        return f"write AND instead of `{token.text}`"
    if "SEQ" in expected and (key.isidentifier() or key == "("):
        return "write SEQ and parentheses around the components: PATTERN SEQ(Shelf a, Exit b)"
    is_in_sequence = where == "PATTERN" and END not in expected
    if is_in_sequence and key in _HINTS_IN_PATTERN:
        return _HINTS_IN_PATTERN[key]
    if where == "WITHIN" and key in _HINTS_IN_WITHIN:
        return _HINTS_IN_WITHIN[key]
    if key == "*" and where == "WHERE":
        return "write count(a[]) or a.LEN for the number of events of a Kleene plus a[]"
    if key in _HINTS_OF_WORDS:
        return _HINTS_OF_WORDS[key].replace("{order_by}", current_surface().name_option("order_by"))
    part = find_nearest(key, PARTS)
    return f"write {part}" if part in expected and part != key else None


# For each part of a query: where a comma may be missing before a name.
_MISSING_COMMAS = {
    "PATTERN": "a comma between components: SEQ(Shelf a, Exit b)",
    "WHERE": "a comma between variables: skip_till_next_match(a, b)",
    "RETURN": "a comma between values: RETURN a.x AS x, b.y AS y",
}


def _find_hint_for_missing_text(token: RefusedToken) -> str | None:
    """Return what to write before a word or sign that can come later; None if that is not clear."""
    where, expected = token.where, token.expected
    is_name = token.text.isidentifier()
    if token.text == "}" and VALUE in expected:
        return "write the value that is missing before it"
    if where == "WITHIN" and "a number" in expected:
        return "write a number with a unit: WITHIN 10 minutes"
    if "PATTERN" in expected:
        return "write PATTERN SEQ(Shelf a, Exit b)"
    if where == "WHERE" and "AND" in expected and is_name:
        return f"write AND before {token.text}"
    if "," in expected and where in _MISSING_COMMAS and is_name:
        return f"write {_MISSING_COMMAS[where]}"
    return None
