"""Names and values as Spark SQL text."""

from __future__ import annotations

import re

_PART = r"(?:\w+|`(?:[^`]|``)*`)"
_OPERAND = re.compile(rf"{_PART}(?:\.{_PART})*|\{{\w+\}}")  # a name, or a hole


def quoted(name: str) -> str:
    """A column name as an identifier that Spark reads literally."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(name: str) -> str:
    """An identifier without its backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def string_literal(text: str) -> str:
    """A SQL string literal of the text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def as_operand(text: str) -> str:
    """An expression as it can stand beside any operator: in parentheses but for a name or hole.

    >>> as_operand("`a b`.c"), as_operand("x + y")
    ('`a b`.c', '(x + y)')
    """
    return text if _OPERAND.fullmatch(text) else f"({text})"


def run_together(left: str, right: str) -> bool:
    """Whether the last word of one piece of SQL and the first of the next would become one.

    >>> run_together("FROM", "v"), run_together("FROM ", "v"), run_together("x)", "AND")
    (True, False, False)
    """
    return _in_word(left[-1:]) and _in_word(right[:1])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
