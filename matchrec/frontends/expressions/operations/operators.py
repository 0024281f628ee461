"""Operators and words by which the structure of an expression is read."""

from __future__ import annotations

from matchrec.frontends.lexing.function_names import words
from matchrec.frontends.lexing.tokens import CLOSING

_COMPARISON = {"=": "=", "==": "=", "<>": "<>", "!=": "<>"} | {
    operator: operator for operator in ("<", "<=", ">", ">=", "<=>")
}
_ADDITIVE = {"+": "+", "-": "-", "||": "||"}
_MULTIPLICATIVE = {"*": "*", "/": "/", "%": "%", "DIV": "DIV"}
_LEVELS = (
    _COMPARISON,
    {"|": "|"},
    {"^": "^"},
    {"&": "&"},
    {"<<": "<<", ">>": ">>"},
    _ADDITIVE,
    _MULTIPLICATIVE,
)
BINARY = {
    symbol: (level, name) for level, names in enumerate(_LEVELS) for symbol, name in names.items()
}
"""How tight each binary operator binds, and its name in an Operation."""

SHIFTS = ("<<", ">>")

_OPERATORS = words("AND OR NOT NEG IN BETWEEN IS CASE LIKE ILIKE RLIKE REGEXP IDENTIFIER")
"""Names of operations that no function of that name stands for, and one that is no function."""

_ARGUMENTS: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(words("ABS NEGATIVE ISNULL ISNOTNULL ISNAN NULLIFZERO ZEROIFNULL"), (1, 1)),
    **dict.fromkeys(words("NULLIF NVL IFNULL NANVL MOD PMOD DATEDIFF DATE_DIFF"), (2, 2)),
    **dict.fromkeys(words("EQUAL_NULL SHIFTLEFT SHIFTRIGHT SHIFTRIGHTUNSIGNED"), (2, 2)),
    **dict.fromkeys(words("TRY_ADD TRY_SUBTRACT TRY_MULTIPLY TRY_DIVIDE TRY_MOD"), (2, 2)),
    **dict.fromkeys(words("NVL2 IF"), (3, 3)),
    **dict.fromkeys(words("GREATEST LEAST"), (2, None)),
    "DECODE": (3, None),
}
"""How many arguments the functions take that are more than their name to later passes."""


def operation_of_call(name: str, arguments: int) -> str | None:
    """The operation that a call of a function is, or None where it is opaque.

    >>> operation_of_call("NULLIF", 2), operation_of_call("NULLIF", 3), operation_of_call("NEG", 1)
    ('NULLIF', None, None)
    """
    least, most = _ARGUMENTS.get(name, (1, None))
    fits = least <= arguments and (most is None or arguments <= most)
    return name if fits and name not in _OPERATORS else None


NOT_PLAIN = frozenset({"->", "=>", "AS", "FROM", "DISTINCT", "ORDER", "USING", "FOR", "TO"})
"""What stands in no argument that is one value."""

CONSTANTS = words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP")
"""Words that are values; other words that are no columns are units: DATEDIFF(HOUR, a, b)."""

AFTER_INTERVAL = frozenset({"AND", "OR", "IS", "NOT", "BETWEEN", "IN", "LIKE", "DIV"}) | CLOSING
"""What may follow INTERVAL '1' where no unit does."""
