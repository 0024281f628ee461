"""Rules for one part of a clause: functions that mean something else there than elsewhere.

Snowflake    MEASURES: LAG and LEAD see the rows of the match. DEFINE: FIRST_VALUE and LAST_VALUE
             see all rows of the partition
Databricks   MEASURES: aggregates are over all rows of the match, with ALL ROWS too
BigQuery     MEASURES: ARRAY_AGG keeps NULL, and is NULL where there are no rows
Azure        MEASURES: CLASSIFIER is of all rows. System.Timestamp is the time of the events
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import called, name_of
from matchrec.frontends.dialects.product import Place, Rules
from matchrec.frontends.dialects.times import counted_boundaries
from matchrec.frontends.sql.clause.sections import Part
from matchrec.plan.clauses import RowsPerMatch

_SEMANTICS = ("RUNNING", "FINAL")
_ENDLESS = {
    "kind": "ROWS",
    "start": "UNBOUNDED",
    "start_side": "PRECEDING",
    "end": "UNBOUNDED",
    "end_side": "FOLLOWING",
}


def snowflake_parts(place: Place) -> Rules:
    """FIRST_VALUE, LAST_VALUE, LAG and LEAD where they stand."""
    if place.part is Part.MEASURES:
        return (first_and_last, inside_of_match)
    return (first_and_last_of_partition,) if place.part is Part.DEFINE else ()


def databricks_parts(place: Place) -> Rules:
    """Aggregates with final semantics."""
    all_rows = place.clause.rows_per_match not in (None, RowsPerMatch.ONE_ROW)
    return (final_aggregates,) if place.part is Part.MEASURES and all_rows else ()


def bigquery_parts(place: Place) -> Rules:
    """Aggregates that make arrays and texts of the rows of a match, in their order."""
    if place.part is not Part.MEASURES:
        return ()
    return (ordered_aggregates, *((arrays, texts) if place.write.is_spark else ()))


def azure_parts(place: Place) -> Rules:
    """CLASSIFIER and System.Timestamp."""
    time = partial(time_of_event, place.clause.order_by[0].expression.text)
    if place.part is Part.MEASURES:
        return time, names_of_variables
    return time, counted_boundaries


def first_and_last(node: exp.Expr) -> exp.Expr:
    """`FIRST_VALUE(x)` is `FIRST(x)`, and `LAST_VALUE(x)` is `LAST(x)`."""
    name = {"FIRST_VALUE": "FIRST", "LAST_VALUE": "LAST"}.get(name_of(node) or "")
    return called(name, *node.expressions) if name else node


def first_and_last_of_partition(node: exp.Expr) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)` over all rows of the partition."""
    name = name_of(node)
    if name not in ("FIRST_VALUE", "LAST_VALUE") or isinstance(node.parent, exp.Window):
        return node
    value = exp.Anonymous(this=name, expressions=node.expressions)
    return exp.Window(this=value, spec=exp.WindowSpec(**_ENDLESS), over="OVER")


def inside_of_match(node: exp.Expr) -> exp.Expr:
    """`LAG` and `LEAD`, or `PREV` and `NEXT`, of rows of the match only; else their default."""
    semantics, call = "", node
    if name_of(node) in _SEMANTICS:
        semantics, call = str(name_of(node)), node.expressions[0]
    elif node.parent is not None and name_of(node.parent) in _SEMANTICS:
        return node
    name = name_of(call)
    if name not in ("PREV", "NEXT"):
        return node
    value, offset, default = (*call.expressions, None, None)[:3]
    offset = offset or exp.Literal.number(1)
    if name == "PREV":
        exists: exp.Expr = exp.GT(this=_rows(semantics), expression=offset.copy())
    else:
        last = exp.Add(this=_rows(semantics or "RUNNING"), expression=offset.copy())
        exists = exp.LTE(this=last, expression=_rows("FINAL"))
    value = called("FINAL", called("LAST", value)) if semantics == "FINAL" else value
    return exp.If(this=exists, true=called(name, value, offset), false=default or exp.null())


def _rows(semantics: str) -> exp.Expr:
    """How many rows of the match there are."""
    count = exp.Count(this=exp.Star())
    return called(semantics, count) if semantics else count


def final_aggregates(node: exp.Expr) -> exp.Expr:
    """An aggregate without RUNNING or FINAL is over all rows of the match."""
    has_semantics = node.parent is not None and name_of(node.parent) in _SEMANTICS
    if not isinstance(node, exp.AggFunc) or has_semantics:
        return node
    return called("FINAL", node.copy())


def ordered_aggregates(node: exp.Expr) -> exp.Expr:
    """`ARRAY_AGG(x ORDER BY y LIMIT n)`, which sqlglot would write so in any dialect."""
    if isinstance(node, exp.Order | exp.Limit) and node.find_ancestor(exp.AggFunc):
        raise UnsupportedError("an aggregate over the rows of a match with ORDER BY or LIMIT")
    if isinstance(node, exp.HavingMax):
        raise UnsupportedError("an aggregate with HAVING MAX or HAVING MIN")
    return node


def arrays(node: exp.Expr) -> exp.Expr:
    """`ARRAY_AGG(x)` with its NULLs; without rows it is NULL."""
    without_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if without_nulls else node
    if not isinstance(array, exp.ArrayAgg) or isinstance(array.this, exp.Distinct):
        return node
    if without_nulls or isinstance(array.this, exp.Struct):
        return exp.Nullif(this=array.copy(), expression=exp.Array())
    if isinstance(array.parent, exp.IgnoreNulls):
        return node
    item, row = exp.to_identifier("item"), exp.to_identifier("row")
    struct = exp.Struct(expressions=[exp.PropertyEQ(this=item, expression=array.this)])
    each = exp.Lambda(this=exp.Dot(this=row, expression=item.copy()), expressions=[row.copy()])
    found = exp.Transform(this=exp.ArrayAgg(this=struct), expression=each)
    return exp.Nullif(this=found, expression=exp.Array())


def texts(node: exp.Expr) -> exp.Expr:
    """`STRING_AGG(x, separator)`, which is a comma if nothing is said."""
    if not isinstance(node, exp.GroupConcat) or isinstance(node.this, exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    joined = exp.ArrayToString(this=exp.ArrayAgg(this=node.this), expression=separator)
    exists = exp.GT(this=exp.Count(this=node.this.copy()), expression=exp.Literal.number(0))
    return exp.If(this=exists, true=joined, false=exp.null())


def names_of_variables(node: exp.Expr) -> exp.Expr:
    """`CLASSIFIER()` is the array of the names of all rows."""
    if name_of(node) != "CLASSIFIER" or node.find_ancestor(exp.ArrayAgg):
        return node
    return exp.ArrayAgg(this=node.copy())


def time_of_event(time: str, node: exp.Expr) -> exp.Expr:
    """`System.Timestamp()` is what TIMESTAMP BY names."""
    called_so = isinstance(node, exp.Dot | exp.Column) and node.sql().upper().rstrip("()")
    return exp.column(time) if called_so == "SYSTEM.TIMESTAMP" else node
