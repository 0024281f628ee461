"""The quotient of two integers, which has a fraction in some products and not in others."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.typed.context import Context
from matchrec.frontends.dialects.typed.kinds import Kind


def quotient(node: exp.Expr, context: Context, read: Product, write: Product) -> exp.Expr:
    """`a / b` of integers becomes `a DIV b` where the other product would keep the fraction."""
    if read.divides_integers == write.divides_integers or not isinstance(node, exp.Div):
        return node
    kinds = {context.kind(node.this), context.kind(node.expression)}
    if kinds == {Kind.INTEGER} and read.divides_integers:
        return exp.IntDiv(this=node.this, expression=node.expression)
    if kinds <= {Kind.INTEGER, None}:
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        context.remarks.append(
            f"the quotient of two integers is an integer in {drops.title}, and has a fraction in "
            f"{keeps.title}"
        )
    return node
