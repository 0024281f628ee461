"""Aggregates of Oracle over the rows that come first or last, by Spark's MIN_BY and MAX_BY.

MAX(x) KEEP (DENSE_RANK LAST ORDER BY y)    MAX_BY(x, STRUCT(y IS NULL, y, x))
MAX(x) KEEP (DENSE_RANK FIRST ORDER BY y)   MAX_BY(x, STRUCT(-y, x))

Several rows may be last: the struct has x after the keys.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.by_product.oracle.comparisons import Comparison, comparison
from matchrec.frontends.dialects.rules.kinds import NUMBERS
from matchrec.frontends.dialects.rules.place import Place

_REFUSED = "no KEEP: write max_by(x, y) or min_by(x, y)"


def value_of_kept_rows(node: exp.Expr, place: Place) -> exp.Expr:
    """`MAX(x) KEEP (DENSE_RANK LAST ORDER BY y)`, the greatest x of the rows with the last y."""
    if not isinstance(node, exp.WithinGroup | exp.Window) or node.args.get("over") != "KEEP":
        return node
    aggregate = node.this
    if not isinstance(aggregate, exp.Max | exp.Min) or not place.write.is_spark:
        raise UnsupportedError(_REFUSED)
    is_last = node.args.get("first") is False
    found = [comparison(key, is_last=is_last) for key in node.args["order"].expressions]
    is_max = isinstance(aggregate, exp.Max)
    found.append(Comparison(aggregate.this, is_max, is_null_greatest=not is_max))
    is_greatest = _direction(found, place)
    parts = [part for one in found for part in one.parts(is_greatest=is_greatest)]
    call = exp.ArgMax if is_greatest else exp.ArgMin
    return call(this=aggregate.this.copy(), expression=plain_call("STRUCT", *parts))


def _direction(found: list[Comparison], place: Place) -> bool:
    """Whether the greatest struct is asked for: what asks for the other end must be a number."""
    usual = found[-1].is_greatest
    for is_greatest in (usual, not usual):
        turned = [one.value for one in found if one.is_greatest is not is_greatest]
        if all(place.kind(value) in NUMBERS for value in turned):
            return is_greatest
    raise UnsupportedError(_REFUSED)
