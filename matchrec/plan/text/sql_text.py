"""Names and values as Spark SQL text."""

from __future__ import annotations

import re

_PART = r"(?:\w+|`(?:[^`]|``)*`)"
_OPERAND = re.compile(rf"{_PART}(?:\.{_PART})*|\{{\w+\}}")  # a name, or a hole
_COLUMN = r"`(?:[^`]|``)+`"
_STRUCT = re.compile(rf"struct\({_COLUMN}(?:, {_COLUMN})*\)")
_LITERAL = re.compile(
    r"""(?P<raw>[rR])?(?P<quote>['"])(?P<text>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)""", re.DOTALL
)
_ESCAPE = re.compile(
    r"\\(?:(?P<unicode>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<octal>[01][0-7]{2})|(?P<letter>.))",
    re.DOTALL,
)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def quoted(name: str) -> str:
    """A column name as an identifier that Spark reads literally."""
    return "`" + name.replace("`", "``") + "`"


def struct_fields(text: str) -> tuple[str, ...]:
    """The columns of a struct of columns in backticks; none of anything else.

    >>> struct_fields("struct(`a`, `b``c`)"), struct_fields("struct(a + 1)")
    (('`a`', '`b``c`'), ())
    """
    return tuple(re.findall(_COLUMN, text)) if _STRUCT.fullmatch(text) else ()


def unquoted(name: str) -> str:
    """An identifier without its backticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def string_literal(text: str) -> str:
    """A SQL string literal of the text."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def literal_text(sql: str, quotes: str, *, keeps_escapes: bool) -> str | None:
    """The text of a string literal of Spark's, or None of anything else.

    quotes: those that a literal may stand in. keeps_escapes: whether a backslash stands for itself,
    as it does in `r'...'`.

    >>> literal_text(r"'\\\\d'", "'", keeps_escapes=False)
    '\\\\d'
    >>> literal_text('"d"', "'", keeps_escapes=False)
    """
    found = _LITERAL.fullmatch(sql.strip())
    if found is None or found["quote"] not in quotes:
        return None
    raw = found["raw"] or keeps_escapes
    return found["text"] if raw else _ESCAPE.sub(_unescaped, found["text"])


def _unescaped(escape: re.Match[str]) -> str:
    """What an escape stands for. Source: Spark's SparkParserUtils.unescapeSQLString."""
    if code := escape["unicode"]:
        return chr(int(code[1:], 16))
    if code := escape["octal"]:
        return chr(int(code, 8))
    letter = escape["letter"]
    return f"\\{letter}" if letter in "%_" else _ESCAPED.get(letter, letter)


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
