"""Marks on names that sqlglot does not know, or takes for others, while it has a fragment.

Functions of row patterns, and pattern variables that are words of SQL: `START.price`.
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.lexing.function_names import SEMANTICS

MARK = "ROW_PATTERN_FUNCTION_"
VARIABLE = "ROW_PATTERN_VARIABLE_"


def called(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of row patterns."""
    return exp.Anonymous(this=MARK + name, expressions=list(arguments))


def plain_call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of Spark's that sqlglot is to write as it is."""
    return exp.Anonymous(this=name, expressions=[one.copy() for one in arguments])


def function(result: exp.Expr, *parameters: str) -> exp.Expr:
    """A function that is passed to another one: `row -> row.item`."""
    return exp.Lambda(this=result, expressions=[exp.to_identifier(one) for one in parameters])


def name_of(node: exp.Expr) -> str | None:
    """The name of the function of row patterns that a node calls, or None."""
    name = function_name(node)
    return name.removeprefix(MARK) if name.startswith(MARK) else None


def function_name(node: exp.Expr) -> str:
    """The name, in upper case, of a function that sqlglot does not know; else nothing."""
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else ""


def has_semantics(node: exp.Expr) -> bool:
    """Whether RUNNING or FINAL stands before it."""
    return node.parent is not None and name_of(node.parent) in SEMANTICS
