"""Columns that references read, with and without quotes."""

from __future__ import annotations

import re

from matchrec.plan.text.reserved import is_reserved
from matchrec.plan.text.sql_text import quoted, unquoted

WORD = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"\w+|`(?:[^`]|``)*`")
_PATH = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


def is_path(text: str) -> bool:
    """Whether it is a column, or a field of one, and no other expression."""
    return _PATH.fullmatch(text) is not None


def plain(text: str) -> str:
    """A column without quotes, any other expression without needless blanks.

    >>> plain("`loc`.x"), plain("x  + 1")
    ('loc.x', 'x + 1')
    """
    if is_path(text):
        return ".".join(unquoted(part) for part in _PART.findall(text))
    return " ".join(text.split())


def tidy(text: str) -> str:
    """A column behind a variable, with quotes where it needs them.

    >>> tidy("`price`"), tidy("`from`"), tidy("`a b`")
    ('price', '`from`', '`a b`')
    """
    if not is_path(text):
        return text
    parts: list[str] = _PART.findall(text)
    return ".".join(column(unquoted(part)) if part[0] == "`" else part for part in parts)


def column(name: str) -> str:
    """The name of a column, with quotes where it needs them."""
    return name if WORD.fullmatch(name) and not is_reserved(name) else quoted(name)
