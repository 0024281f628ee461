"""Texts of Oracle, where the empty text is NULL."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from matchrec.frontends.dialects.rules.by_product.oracle.numbers import text_of_number
from matchrec.frontends.dialects.rules.kinds import Kind
from matchrec.frontends.dialects.rules.place import Place

_REPLACING = (exp.Replace, exp.RegexpReplace)


def empty_text(node: exp.Expr, _: Place) -> exp.Expr:
    """`''` is NULL, so `x = ''` is never true; what REPLACE seeks and puts in may be nothing."""
    if not isinstance(node, exp.Literal) or not node.is_string or node.name:
        return node
    stays = isinstance(node.parent, _REPLACING) and node.arg_key != "this"
    return node if stays else exp.cast(exp.null(), "text")


def concatenation(node: exp.Expr, place: Place) -> exp.Expr:
    """`a || b`, `CONCAT(a, b)`: NULL is the empty string, and the empty string is NULL."""
    is_call = isinstance(node, exp.Concat)
    if not (is_call or isinstance(node, exp.DPipe)) or isinstance(node.parent, exp.DPipe):
        return node
    found = node.expressions if is_call else node.flatten()
    parts = [_written(part, place) for part in found]
    text = _joined(parts, place)
    if any(isinstance(part, exp.Literal) and part.name for part in parts):
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))


def _written(part: exp.Expr, place: Place) -> exp.Expr:
    """A part as Oracle writes it."""
    is_number = place.kind(part) in (Kind.DECIMAL, Kind.FRACTION)
    return text_of_number(part, place) if is_number else part.copy()


def _joined(parts: list[exp.Expr], place: Place) -> exp.Expr:
    """The texts one after the other, NULL as nothing."""
    empty = exp.Literal.string("")
    if place.write.joins_without_nulls:
        return exp.Anonymous(this="CONCAT_WS", expressions=[empty, *parts])
    return reduce(_joined_to, map(_or_empty, parts))


def _joined_to(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=left, expression=right)


def _or_empty(part: exp.Expr) -> exp.Expr:
    """A part as a text, the empty one instead of NULL."""
    if isinstance(part, exp.Literal):
        return part
    text = exp.cast(part, "text")
    return exp.Coalesce(this=text, expressions=[exp.Literal.string("")])
