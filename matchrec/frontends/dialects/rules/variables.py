"""The rule that puts names of variables in quotes, which keep their case."""

from __future__ import annotations

from sqlglot import exp

from matchrec.frontends.dialects.marks import name_of
from matchrec.frontends.dialects.rules.place import Place


def quoted_variable(node: exp.Expr, place: Place) -> exp.Expr:
    """A variable as `place` says that it was written."""
    if not isinstance(node, exp.Identifier) or not isinstance(node.parent, exp.Column):
        return node
    column = node.parent
    qualifies = node.arg_key == "table"
    names = node.arg_key == "this" and name_of(column.parent or column) == "CLASSIFIER"
    text = place.quoted.get(node.name.upper())
    if text is None or not (qualifies or names):
        return node
    return exp.to_identifier(text, quoted=True)
