"""Parentheses that a part of a condition no longer needs once it stands by itself."""

from __future__ import annotations

import re

_STRING_OR_PARENTHESIS = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[()]""")


def unwrapped(text: str) -> str:
    """The text without the parentheses that stand around all of it.

    >>> unwrapped("((x > 1))"), unwrapped("(x) > (y)"), unwrapped("(x = ')')")
    ('x > 1', '(x) > (y)', "x = ')'")
    """
    text = text.strip()
    return unwrapped(text[1:-1]) if text.startswith("(") and _closes_at_end(text) else text


def _closes_at_end(text: str) -> bool:
    """Whether the first parenthesis is closed by the last character."""
    depth = 0
    for found in _STRING_OR_PARENTHESIS.finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0 and found[0] == ")":
            return found.end() == len(text)
    return False
