"""Calls of functions in sqlglot's trees: find the name of a function, and make a new call.

The functions of row patterns have a prefix in the tree (see `dialects.function_masks`), which these
functions add and remove. RUNNING and FINAL are such functions, too:

    FINAL LAST(x)          call_pattern_function("FINAL", call_pattern_function("LAST", x))
    ARRAY_CONTAINS(x, 1)   call_function("ARRAY_CONTAINS", x, one)
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.syntax.function_names import SEMANTICS

# The prefix of functions of row patterns in a tree.
FUNCTION_PREFIX = "ROW_PATTERN_FUNCTION_"


def call_pattern_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of row patterns. Its arguments are not copied.

    Args:
        name: the name by which the rules know the function, without the prefix.
        arguments: the arguments, which must not be a part of another tree.
    """
    return exp.Anonymous(this=FUNCTION_PREFIX + name, expressions=list(arguments))


def call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of Spark that sqlglot writes as it is, with copied arguments."""
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def find_pattern_function(node: exp.Expr) -> str | None:
    """Return the name of the function of row patterns that a node calls, without the prefix.

    Return None if it calls none.
    """
    name = find_unknown_function(node) or ""
    return name.removeprefix(FUNCTION_PREFIX) if name.startswith(FUNCTION_PREFIX) else None


def find_unknown_function(node: exp.Expr) -> str | None:
    """Return the name, in upper case, of a function that sqlglot has no class for.

    The names of functions of row patterns have their prefix. Return None for all other nodes.
    """
    return str(node.this).upper() if isinstance(node, exp.Anonymous) else None


def has_semantics(node: exp.Expr) -> bool:
    """Return whether a node is the operand of RUNNING or FINAL."""
    return node.parent is not None and find_pattern_function(node.parent) in SEMANTICS
