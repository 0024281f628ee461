"""Strings of SASE+ as Spark SQL reads them in every session.

Double quotes are for strings in SASE+; in Spark SQL they are for names where the session says so.
"""

from __future__ import annotations

import re

from matchrec.plan.text.sql_text import string_literal

_STRING = re.compile(
    r"""(r?)('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")""", re.IGNORECASE | re.DOTALL
)
_ESCAPED_OR_QUOTE = re.compile(r"\\.|'", re.DOTALL)


def in_single_quotes(text: str) -> str:
    r"""A literal's text with single quotes around each string.

    >>> in_single_quotes('DATE "2024-01-31"'), in_single_quotes('"it\'s"')
    ("DATE '2024-01-31'", "'it\\'s'")
    """
    return _STRING.sub(_single, text)


def _single(found: re.Match[str]) -> str:
    raw, string = found.groups()
    if string.startswith("'"):
        return found[0]
    content = string[1:-1].replace('""', '"')
    if raw:
        return string_literal(content)
    escaped = _ESCAPED_OR_QUOTE.sub(lambda one: "\\'" if one[0] == "'" else one[0], content)
    return f"'{escaped}'"
