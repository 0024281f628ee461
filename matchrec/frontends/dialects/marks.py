"""Marks on functions of row patterns, which sqlglot does not know, or takes for others.

So they bear names of our own while it reads and writes a fragment.
"""

from __future__ import annotations

from sqlglot import exp

MARK = "ROW_PATTERN_FUNCTION_"


def called(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of row patterns."""
    return exp.Anonymous(this=MARK + name, expressions=list(arguments))


def name_of(node: exp.Expr) -> str | None:
    """The name of the function of row patterns that a node calls, or None."""
    if isinstance(node, exp.Anonymous) and str(node.this).upper().startswith(MARK):
        return str(node.this).upper().removeprefix(MARK)
    return None
