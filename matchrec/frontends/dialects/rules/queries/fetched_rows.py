"""`FETCH FIRST n ROWS WITH TIES`, the first rows and those that are equal to the last of them.

SELECT a FROM t ORDER BY b FETCH FIRST 3 ROWS WITH TIES
    →   SELECT a FROM t QUALIFY RANK() OVER (ORDER BY b) <= 3 ORDER BY b
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules.place import Place


def fetched_rows(node: exp.Expr, place: Place) -> exp.Expr:
    """WITH TIES by the ranks of rows; sqlglot would leave it out."""
    fetch = node.args.get("limit") if isinstance(node, exp.Select) else None
    options = fetch.args.get("limit_options") if isinstance(fetch, exp.Fetch) else None
    if options is None or not place.write.is_spark:
        return node
    if options.args.get("percent"):
        raise UnsupportedError("no PERCENT: write NTILE(100) OVER (ORDER BY x) in a subquery")
    if not options.args.get("with_ties"):
        return node
    order = node.args.get("order")
    if order is None or node.args.get("offset") or node.args.get("distinct"):
        raise UnsupportedError("no WITH TIES: write RANK() OVER (ORDER BY x) in a subquery")
    keys = [_written_out(one, node) for one in order.expressions]
    rank = exp.Window(
        this=exp.Anonymous(this="RANK"), order=exp.Order(expressions=keys), over="OVER"
    )
    count = fetch.args.get("count") or exp.Literal.number(1)
    first = exp.LTE(this=rank, expression=count.copy())
    node.set("limit", None)
    node.set("qualify", exp.Qualify(this=first))
    return node


def _written_out(key: exp.Expr, query: exp.Select) -> exp.Expr:
    """A key of ORDER BY, where it is the number or the name of an item what that stands for."""
    found, value = key.copy(), key.this
    if isinstance(value, exp.Literal) and not value.is_string:
        if query.is_star:
            raise UnsupportedError("no WITH TIES by the number of a column of *: name it")
        found.set("this", query.expressions[int(value.name) - 1].unalias().copy())
    elif isinstance(value, exp.Column) and not value.table:
        items = (one for one in query.expressions if one.alias.lower() == value.name.lower())
        item = next(items, None)
        found.set("this", (item.this if item is not None else value).copy())
    return found
