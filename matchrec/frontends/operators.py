"""Operators and words by which the structure of an expression is read."""

from __future__ import annotations

from matchrec.frontends.functions import words
from matchrec.frontends.tokens import CLOSING

_COMPARISON = {"=": "=", "==": "=", "<>": "<>", "!=": "<>"} | {
    operator: operator for operator in ("<", "<=", ">", ">=", "<=>")
}
_ADDITIVE = {"+": "+", "-": "-", "||": "||"}
_MULTIPLICATIVE = {"*": "*", "/": "/", "%": "%", "DIV": "DIV"}
LEVELS = (
    _COMPARISON,
    {"|": ""},
    {"^": ""},
    {"&": ""},
    {"<<": "", ">>": "", ">>>": ""},
    _ADDITIVE,
    _MULTIPLICATIVE,
)
"""Binary operators, loose to tight, and their names in an Operation; without one, opaque."""

SPECIAL_FORMS = words("EXISTS IDENTIFIER OVERLAY POSITION STRUCT")
"""Functions whose arguments are more than values: STRUCT names its fields after them."""

NOT_PLAIN = frozenset({"->", "=>", "AS", "FROM", "DISTINCT", "ORDER", "USING", "FOR", "TO"})
"""What stands in no argument that is one value."""

CONSTANTS = words("TRUE FALSE NULL CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP")
"""Words that are values; other words that are no columns are units: DATEDIFF(HOUR, a, b)."""

AFTER_INTERVAL = frozenset({"AND", "OR", "IS", "NOT", "BETWEEN", "IN", "LIKE", "DIV"}) | CLOSING
"""What may follow INTERVAL '1' where no unit does."""
