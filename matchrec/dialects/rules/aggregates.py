"""Rules for navigation and aggregates over the rows of a match, whose arrays keep order and NULLs.

ARRAY_AGG(x ORDER BY y DESC LIMIT 2)     an array of structs of x and y, sorted, cut, and its x
STRING_AGG(x, '-' ORDER BY y)            such an array without NULLs, joined
ANY_VALUE(x HAVING MAX y)                MAX_BY(x, y)
ARRAY_AGG(x) OVER w                      OVER behind the array that is made of it, inside
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.place import (
    RuleContext,
    call_function,
    call_pattern_function,
    find_pattern_function,
    has_semantics,
    mark_node,
)
from matchrec.syntax.tokens import SEMANTICS

_ITEM, _KEY = "item", "key_"
_WRITTEN_OUT = (exp.Nullif, exp.ArrayToString, exp.If)


def rewrite_count(node: exp.Count, _: RuleContext) -> exp.Expr:
    """`count()` counts rows."""
    return exp.Count(this=exp.Star()) if node.this is None and not node.expressions else node


def rewrite_array_agg(node: exp.ArrayAgg | exp.IgnoreNulls, context: RuleContext) -> exp.Expr:
    """`ARRAY_AGG(x)` with its NULLs and in its order; without rows it is NULL."""
    without_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if without_nulls else node
    is_inside = isinstance(node.parent, exp.IgnoreNulls)
    if not context.write.is_spark or not isinstance(array, exp.ArrayAgg) or is_inside:
        return node
    distinct = array.this.expressions if isinstance(array.this, exp.Distinct) else ()
    if distinct and (len(distinct) > 1 or context.is_condition):
        return node
    collected = Collection(distinct[0]) if distinct else read_collection(array.this)
    if context.is_condition and collected.is_plain:
        return _in_condition(collected, without_nulls)
    is_known = without_nulls or _is_known(collected.value)
    if is_known:
        items = collect_known_values(collected)
    elif collected.is_plain and isinstance(collected.value, exp.Struct):
        items = exp.ArrayAgg(this=collected.value.copy())
    else:
        items = _items(collected, collected.rows)
    return mark_node(_or_null(exp.ArrayDistinct(this=items) if distinct else items), _OF_AGGREGATE)


def _in_condition(collected: Collection, without_nulls: bool) -> exp.Expr:
    """An array that a condition can compare: of values that are not NULL, and of some row."""
    if not without_nulls and not _is_known(collected.value):
        raise UnsupportedError("an array in DEFINE with NULLs: write array_agg(coalesce(x, ...))")
    items, value = collect_known_values(collected), collected.value
    calls = (
        call
        for call in value.find_all(exp.Anonymous)
        if find_pattern_function(call) == "CLASSIFIER"
    )
    of_variable = any(call.expressions for call in calls)  # which may have no rows yet
    of_variable = of_variable or any(column.table for column in value.find_all(exp.Column))
    return _or_null(items) if of_variable else items


def _is_known(value: exp.Expr) -> bool:
    """Whether a value is NULL on no row of a match."""
    if isinstance(value, exp.Lower | exp.Upper | exp.Paren):
        return _is_known(value.this)
    if isinstance(value, exp.Coalesce):
        return any(map(_is_known, (value.this, *value.expressions)))
    return find_pattern_function(value) in ("CLASSIFIER", "MATCH_NUMBER") or isinstance(
        value, exp.Literal
    )


def reject_ordered_array(node: exp.ArrayAgg, context: RuleContext) -> exp.Expr:
    """`ARRAY_AGG(x ORDER BY y)`, which Spark's has not, where no rule has written it otherwise."""
    if context.write.is_spark and isinstance(node.this, exp.Order):
        raise UnsupportedError(f"{context.read.title} sorts no values between these parentheses")
    return node


def rewrite_string_agg(node: exp.GroupConcat, context: RuleContext) -> exp.Expr:
    """`STRING_AGG(x, separator)`, which is a comma if nothing is said."""
    if not (context.is_measure and context.write.is_spark) or node.find(exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    known = _or_null(collect_known_values(read_collection(node.this)))
    return mark_node(exp.ArrayToString(this=known, expression=separator), _OF_AGGREGATE)


def rewrite_any_value(node: exp.AnyValue, context: RuleContext) -> exp.Expr:
    """`ANY_VALUE(x HAVING MAX y)` is `MAX_BY(x, y)`."""
    having = node.this
    if not context.is_measure or not isinstance(having, exp.HavingMax):
        return node
    extreme = exp.ArgMax if having.args.get("max") else exp.ArgMin
    return extreme(this=having.this, expression=having.expression)


def distribute_semantics(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """RUNNING and FINAL before each aggregate of what an aggregate has become."""
    name = find_pattern_function(node)
    if name not in SEMANTICS or len(node.expressions) != 1:
        return node
    argument: exp.Expr = node.expressions[0]
    if _OF_AGGREGATE not in argument.meta:
        return node
    for aggregate in list(argument.find_all(exp.AggFunc)):
        aggregate.replace(call_pattern_function(name, aggregate.copy()))
    return argument


_OF_AGGREGATE = "of an aggregate"  # what it has become, which no user has written


def _or_null(items: exp.Expr) -> exp.Expr:
    return exp.Nullif(this=items, expression=exp.Array())


def distribute_over_and_filter(node: exp.Window | exp.Filter, _: RuleContext) -> exp.Expr:
    """OVER and FILTER behind each aggregate of what an aggregate has become."""
    if not isinstance(node.this, _WRITTEN_OUT):
        return node
    result: exp.Expr = node.this
    for aggregate in list(result.find_all(exp.AggFunc)):
        inner = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        outer = node.copy()
        outer.set("this", inner.copy())
        inner.replace(outer)
    return result


def add_final(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """An aggregate without RUNNING or FINAL is over all rows of the match."""
    is_final = context.is_measure_of_rows and not has_semantics(node)
    return call_pattern_function("FINAL", node.copy()) if is_final else node


def remove_final(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """An aggregate of a row of a match, which Databricks has of the whole match alone."""
    if not context.is_measure_of_rows:
        return node
    if find_pattern_function(node) == "FINAL" and isinstance(node.expressions[0], exp.AggFunc):
        return node.expressions[0]
    is_final = node.parent is not None and find_pattern_function(node.parent) == "FINAL"
    if isinstance(node, exp.AggFunc) and not is_final:
        whole = "an aggregate is over the whole match in Databricks"
        context.remark(f"{whole}, and up to its row in {context.read.title}")
    return node


def remark_array_nulls(node: exp.ArrayAgg, context: RuleContext) -> exp.Expr:
    """`ARRAY_AGG(x)`, which keeps NULLs in some products."""
    read, write = context.read, context.write
    is_bare = not isinstance(node.parent, exp.IgnoreNulls)
    if is_bare and read.collects_nulls is not write.collects_nulls and not write.is_spark:
        keeps, drops = (read, write) if read.collects_nulls else (write, read)
        if context.clause is not None:
            node.set("nulls_excluded", None)  # no aggregate has FILTER there
        kept = f"ARRAY_AGG keeps NULLs in {keeps.title}"
        context.remark(f"{kept}, and leaves them out in {drops.title}")
    return node


def reject_distinct_and_filter(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """An aggregate in a clause, where some have neither DISTINCT nor FILTER."""
    is_distinct = isinstance(node.this, exp.Distinct)
    if context.clause is not None and (is_distinct or isinstance(node.parent, exp.Filter)):
        word = "DISTINCT" if is_distinct else "FILTER"
        raise UnsupportedError(f"no {word}: an aggregate of a clause is over all its rows")
    return node


@dataclass(frozen=True, slots=True)
class Collection:
    """What an aggregate collects: `x`, `x ORDER BY y` or `x ORDER BY y LIMIT n`."""

    value: exp.Expr
    keys: tuple[exp.Expr, ...] = ()
    limit: exp.Expr | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is all values, as they come."""
        return not self.keys and self.limit is None

    @property
    def rows(self) -> exp.Expr:
        """An array of structs, of the value and the keys of each row."""
        keys = [_field(f"{_KEY}{at}", key.this) for at, key in enumerate(self.keys)]
        return exp.ArrayAgg(this=exp.Struct(expressions=[_field(_ITEM, self.value), *keys]))


def read_collection(argument: exp.Expr) -> Collection:
    limit = argument.expression if isinstance(argument, exp.Limit) else None
    ordered = argument.this if isinstance(argument, exp.Limit) else argument
    keys = tuple(ordered.expressions) if isinstance(ordered, exp.Order) else ()
    value = ordered.this if isinstance(ordered, exp.Order) else ordered
    if isinstance(value, exp.Distinct):
        raise UnsupportedError("an array of distinct values with ORDER BY or LIMIT")
    return Collection(value, keys, limit)


def collect_known_values(found: Collection) -> exp.Expr:
    """An array of the values, without NULLs, which Spark's ARRAY_AGG leaves out."""
    if found.is_plain:
        return exp.ArrayAgg(this=found.value.copy())
    is_known = _function(f"row -> NOT row.{_ITEM} IS NULL")
    return _items(found, exp.ArrayFilter(this=found.rows, expression=is_known))


def _items(found: Collection, rows: exp.Expr) -> exp.Expr:
    """The values of an array of structs, in their order and no more than asked for."""
    if found.keys:
        rows = call_function("ARRAY_SORT", rows, _comparison(found.keys))
    items = exp.Transform(this=rows, expression=_function(f"row -> row.{_ITEM}"))
    if found.limit is None:
        return items
    return call_function("SLICE", items, exp.Literal.number(1), found.limit)


def _function(written: str) -> exp.Expr:
    function: exp.Expr = parse_one(f"called({written})", read="spark").expressions[0]
    return function.pop()


def _field(name: str, value: exp.Expr) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())


def _comparison(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Which of two structs comes first: -1 the left one, 1 the right one, 0 if neither has to."""
    cases = []
    for at, key in enumerate(keys):
        one, other = f"one.{_KEY}{at}", f"other.{_KEY}{at}"
        null = -1 if key.args.get("nulls_first") else 1
        less = 1 if key.args.get("desc") else -1
        cases.append(
            f"WHEN {one} IS NULL AND NOT {other} IS NULL THEN {null} "
            f"WHEN {other} IS NULL AND NOT {one} IS NULL THEN {-null} "
            f"WHEN {one} < {other} THEN {less} WHEN {one} > {other} THEN {-less}"
        )
    return _function(f"(one, other) -> CASE {' '.join(cases)} ELSE 0 END")


def rewrite_navigation_default(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """`LAG(x, n, default)`: the default counts only where there is no such row, not for NULL."""
    name = find_pattern_function(node)
    if name not in ("PREV", "NEXT") or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    exists = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    absent = exp.Is(this=call_pattern_function(name, exists, offset.copy()), expression=exp.null())
    return exp.If(this=absent, true=default, false=call_pattern_function(name, value, offset))


def rename_prev_and_next(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """`PREV` and `NEXT` under the names of the window functions."""
    name = {"PREV": "LAG", "NEXT": "LEAD"}.get(find_pattern_function(node) or "")
    if name and context.is_measure:
        context.remark(f"{name} of MEASURES sees rows of the match alone in {context.write.title}")
    return call_pattern_function(name, *node.expressions) if name else node


def rewrite_first_and_last_value(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """`FIRST_VALUE(x)` and `LAST_VALUE(x)` of a clause are `FIRST(x)` and `LAST(x)`."""
    if context.clause is None or context.clause.frame is not None:
        return node
    return call_pattern_function(
        "FIRST" if isinstance(node, exp.FirstValue) else "LAST", node.this.copy()
    )


def rewrite_row_number(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """`MATCH_SEQUENCE_NUMBER()`: the rows of the match up to the current one are counted."""
    if find_pattern_function(node) != "ROW_NUMBER":
        return node
    if node.find_ancestor(exp.AggFunc):
        return call_pattern_function("MATCH_ROW_NUMBER")
    return call_pattern_function("RUNNING", exp.Count(this=exp.Star()))


def quote_variable(node: exp.Identifier, context: RuleContext) -> exp.Expr:
    """A variable as `place` says that it was written."""
    column = node.parent
    if not isinstance(column, exp.Column):
        return node
    qualifies = node.arg_key == "table"
    names = (
        node.arg_key == "this" and find_pattern_function(column.parent or column) == "CLASSIFIER"
    )
    text = context.quoted.get(node.name.upper())
    return exp.to_identifier(text, quoted=True) if text and (qualifies or names) else node
