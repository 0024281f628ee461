"""Rules for what Spark's functions are in products that lack them, or that sqlglot writes wrongly.

What has no equivalent is refused here: sqlglot would write a name that the product does not know,
or leave an argument out.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.rules import values
from matchrec.frontends.dialects.rules.place import Place, Rule, called, function_name, plain_call
from matchrec.plan.pattern import variable_names

_WITHOUT_ERRORS = (exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.SafeNegate)


def unknown_calls(node: exp.Expr, place: Place) -> exp.Expr:
    """Refuses functions that no product but Spark has."""
    if isinstance(node, _WITHOUT_ERRORS) or function_name(node) in (
        "TRY_MOD",
        "TRY_SUM",
        "TRY_AVG",
    ):
        raise UnsupportedError("no arithmetic that is NULL where it fails")
    if isinstance(node, exp.Exists) and node.expression:
        raise UnsupportedError("no EXISTS of the elements of an array")
    if isinstance(node, exp.StrToUnix):
        raise UnsupportedError("no UNIX_TIMESTAMP: write TIMESTAMPDIFF(SECOND, a, b) between times")
    if isinstance(node, exp.Window) and place.clause is not None:
        raise UnsupportedError("no OVER in the clause: make it a column of the table before it")
    return node


def unqualified_column(node: exp.Column, place: Place) -> exp.Expr:
    """`t.x` for a column of the rows of a clause or window, which others know by no name there."""
    clause, relation = place.clause, place.relation
    first = next((part for part in ("catalog", "db", "table") if node.args.get(part)), None)
    if clause is None or relation is None or first is None:
        return node
    name = node.args[first].name.upper()
    unions = (one.name for one in clause.subsets)
    if name != relation.upper() or name in (*variable_names(clause.pattern), *unions):
        return node
    column = node.copy()
    column.set(first, None)
    return place.unlike(column)


def tests_of_null(node: exp.Anonymous, _: Place) -> exp.Expr:
    """`NULLIFZERO(x)`, `ZEROIFNULL(x)`, `ISNULL(x)` and `ISNOTNULL(x)` in words of SQL."""
    name = function_name(node)
    value, zero = next(iter(node.expressions), None), exp.Literal.number(0)
    if value is None or len(node.expressions) != 1:
        return node
    match name:
        case "NULLIFZERO":
            return exp.Nullif(this=value.copy(), expression=zero)
        case "ZEROIFNULL":
            return exp.func("COALESCE", value.copy(), zero)
        case "ISNULL":
            return exp.paren(exp.Is(this=value.copy(), expression=exp.null()))
        case "ISNOTNULL":
            return exp.paren(exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())))
    return node


def elapsed_units(node: exp.DateDiff, place: Place) -> exp.Expr:
    """`DATEDIFF(HOUR, a, b)`, which sqlglot counts between the days of the two times."""
    unit = node.args.get("unit")
    if unit is None or not place.read.has_functions_of_spark:
        return node
    later, earlier = (
        one.this if isinstance(one, exp.TsOrDsToDate) else one
        for one in (node.this, node.expression)
    )
    unit = exp.var(unit.name.upper())
    return exp.TimestampDiff(this=later.copy(), expression=earlier.copy(), unit=unit)


def last_elements(node: exp.Bracket, place: Place) -> exp.Expr:
    """`ELEMENT_AT(x, -1)` counts from the end, which brackets do not."""
    index = node.expressions[0] if node.expressions else None
    if not isinstance(index, exp.Neg):
        return node
    if place.write.name != "trino":
        raise UnsupportedError("no elements of an array counted from its end")
    return plain_call("ELEMENT_AT", node.this, index)


def unit_of_trunc(node: exp.DateTrunc, place: Place) -> exp.Expr:
    """`TRUNC(d, 'MM')`: other products know the unit by its whole name."""
    unit = node.args.get("unit")
    if unit is None or not place.read.has_functions_of_spark or place.write.name == "oracle":
        return node
    name = values.unit_of(unit.name)
    if name != unit.name.upper():
        node.set("unit", exp.Literal.string(name))
    return node


def no_pivot(_: exp.Pivot, __: Place) -> exp.Expr:
    """Refuses PIVOT and UNPIVOT, which sqlglot would leave out."""
    raise UnsupportedError("no PIVOT: write an aggregate of CASE for each column")


def first_and_last(node: exp.Expr, place: Place) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)` of a clause are `FIRST(x)` and `LAST(x)`."""
    if place.clause is None or place.clause.frame is not None:
        return node
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        raise UnsupportedError("no IGNORE NULLS and RESPECT NULLS in the clause")
    if not isinstance(node, exp.FirstValue | exp.LastValue):
        return node
    if isinstance(node.parent, exp.IgnoreNulls | exp.RespectNulls):
        return node
    return called("FIRST" if isinstance(node, exp.FirstValue) else "LAST", node.this.copy())


# Rules of Trino.


def first_character(node: exp.Substring, _: Place) -> exp.Expr:
    """`SUBSTRING(x, 0, n)` begins with the first character, and is the empty text in Trino."""
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.name == "0":
        node.set("start", exp.Literal.number(1))
    return node


def no_lambda(node: exp.Lambda, place: Place) -> exp.Expr:
    """Refuses functions over elements in a clause, where Trino has them not yet."""
    if place.clause is not None:
        raise UnsupportedError("no functions over the elements of an array in the clause")
    return node


def joined_texts(node: exp.GroupConcat, place: Place) -> exp.Expr:
    """`LISTAGG(x, y)`, which Trino has with an order only, and not in a clause."""
    if isinstance(node.parent, exp.WithinGroup) or isinstance(node.this, exp.Order | exp.Distinct):
        return node
    if place.read.name != "snowflake":
        place.remark(f"of NULLs alone the text is empty in Trino, and NULL in {place.read.title}")
    separator = node.args.get("separator") or exp.Literal.string("")
    return plain_call(
        "ARRAY_JOIN", exp.Anonymous(this="ARRAY_AGG", expressions=[node.this]), separator
    )


def unknown_aggregates(node: exp.Mode | exp.ArrayUniqueAgg, place: Place) -> exp.Expr:
    """Refuses aggregates that Trino has not, and of different values, not in a clause."""
    if isinstance(node, exp.Mode):
        raise UnsupportedError("no MODE: count the values with GROUP BY")
    if place.clause is not None:
        raise UnsupportedError("no DISTINCT: write ARRAY_DISTINCT(ARRAY_AGG(x))")
    return node


def approximate_median(node: exp.Median, _: Place) -> exp.Expr:
    """`MEDIAN(x)`, which Trino approximates."""
    return exp.ApproxQuantile(this=node.this.copy(), quantile=exp.Literal.number("0.5"))


OF_SPARK: tuple[Rule, ...] = (
    unqualified_column,
    unknown_calls,
    tests_of_null,
    elapsed_units,
    last_elements,
    unit_of_trunc,
)
"""For every product that has not the functions of Spark."""

OF_TRINO: tuple[Rule, ...] = (
    no_pivot,
    no_lambda,
    unknown_aggregates,
    values.average_of_decimals,
    first_character,
    joined_texts,
    first_and_last,
    approximate_median,
)
