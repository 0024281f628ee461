"""Texts of Oracle, where the empty text is NULL."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.rules.place import Place

_REPLACING = (exp.Replace, exp.RegexpReplace)


def empty_text(node: exp.Expr, _: Place) -> exp.Expr:
    """`''` is NULL, so `x = ''` is never true; what REPLACE seeks and puts in may be nothing."""
    if not isinstance(node, exp.Literal) or not node.is_string or node.name:
        return node
    stays = isinstance(node.parent, _REPLACING) and node.arg_key != "this"
    return node if stays else exp.cast(exp.null(), "text")


def concatenation(node: exp.Expr, _: Place) -> exp.Expr:
    """`a || b`: NULL is the empty string, and the empty string is NULL."""
    if not isinstance(node, exp.DPipe) or isinstance(node.parent, exp.DPipe):
        return node
    parts = [part.copy() for part in node.flatten()]
    text = exp.Anonymous(this="CONCAT_WS", expressions=[exp.Literal.string(""), *parts])
    if any(isinstance(part, exp.Literal) and part.name for part in parts):
        return text
    return exp.Nullif(this=text, expression=exp.Literal.string(""))
