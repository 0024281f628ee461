"""Rules for aggregates over the rows of a match.

Spark's ARRAY_AGG drops NULLs and does not sort. Other products keep NULLs, or sort:

    ARRAY_AGG(x)                           an array with NULLs
    ARRAY_AGG(x ORDER BY y DESC LIMIT 2)   the first two values of a sorted array
    STRING_AGG(x, '-' ORDER BY y)          a sorted array without NULLs, joined to a string
    ANY_VALUE(x HAVING MAX y)              MAX_BY(x, y)

`collected_arrays` builds the arrays. In its result, the aggregate is inside other functions, so
RUNNING, FINAL, OVER and FILTER must be moved to the aggregate:

    ARRAY_AGG(x) OVER w                    NULLIF(... ARRAY_AGG(...) OVER w ..., ARRAY())
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.collected_arrays import (
    CollectedValues,
    build_array,
    build_array_without_nulls,
    read_collected_values,
    replace_empty_by_null,
)
from matchrec.dialects.rules.context import RuleContext, mark_node
from matchrec.dialects.rules.function_calls import (
    call_pattern_function,
    find_pattern_function,
    has_semantics,
)
from matchrec.syntax.function_names import SEMANTICS

# A mark on the expression that replaces an aggregate, as opposed to a function that the user wrote.
_FROM_AGGREGATE = "from an aggregate"

# The outermost functions of the expressions that replace aggregates. Before OVER or FILTER they
# need no mark, because a user can write only aggregates there.
_OUTERMOST_FUNCTIONS = (exp.Nullif, exp.ArrayToString, exp.If)


def rewrite_count(node: exp.Count, _: RuleContext) -> exp.Expr:
    """Rewrite `COUNT()` to `COUNT(*)`."""
    if node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
    return node


def rewrite_array_agg(node: exp.ArrayAgg | exp.IgnoreNulls, context: RuleContext) -> exp.Expr:
    """Rewrite `ARRAY_AGG(x)` for Spark so that it keeps NULLs and its order.

    Without rows the result is NULL, as in other products, and not an empty array. An array with
    DISTINCT stays as it is in DEFINE, and so does DISTINCT of several expressions.

    Raises:
        UnsupportedError: the array is in DEFINE and may contain NULLs, or it has DISTINCT and ORDER
            BY or LIMIT.
    """
    if not context.write.is_spark:
        return node
    if isinstance(node, exp.ArrayAgg) and isinstance(node.parent, exp.IgnoreNulls):
        return node  # rewritten with its IGNORE NULLS
    ignores_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if ignores_nulls else node
    if not isinstance(array, exp.ArrayAgg):
        return node  # IGNORE NULLS of another function
    is_distinct = isinstance(array.this, exp.Distinct)
    if is_distinct:
        if context.is_condition or len(array.this.expressions) > 1:
            return node
        collected = CollectedValues(array.this.expressions[0])
    else:
        collected = read_collected_values(array.this)
    if context.is_condition and collected.is_plain:
        return _build_array_in_condition(collected.value, ignores_nulls=ignores_nulls)
    if ignores_nulls or _is_never_null(collected.value):
        values = build_array_without_nulls(collected)
    else:
        values = build_array(collected)
    if is_distinct:
        values = exp.ArrayDistinct(this=values)
    return mark_node(replace_empty_by_null(values), _FROM_AGGREGATE)


def _build_array_in_condition(value: exp.Expr, *, ignores_nulls: bool) -> exp.Expr:
    """Return an array without NULLs that a condition of DEFINE can compare.

    An empty array becomes NULL. The array can be empty in two cases: the value is read from rows of
    one variable, which may have no rows yet, or IGNORE NULLS leaves out the values of all rows.

    Args:
        value: what the array collects.
        ignores_nulls: whether there is IGNORE NULLS.

    Raises:
        UnsupportedError: a value may be NULL, and there is no IGNORE NULLS.
    """
    may_be_null = not _is_never_null(value)
    if may_be_null and not ignores_nulls:
        raise UnsupportedError("an array in DEFINE with NULLs: write array_agg(coalesce(x, ...))")
    array = build_array_without_nulls(CollectedValues(value))
    return replace_empty_by_null(array) if may_be_null or _names_variable(value) else array


def _names_variable(value: exp.Expr) -> bool:
    """Return whether an expression names a pattern variable: `A.x` or `CLASSIFIER(A)`."""
    if any(column.table for column in value.find_all(exp.Column)):
        return True
    calls = value.find_all(exp.Anonymous)
    return any(find_pattern_function(call) == "CLASSIFIER" and call.expressions for call in calls)


def _is_never_null(value: exp.Expr) -> bool:
    """Return whether a value is known not to be NULL on any row of a match."""
    if isinstance(value, exp.Lower | exp.Upper | exp.Paren):
        return _is_never_null(value.this)
    if isinstance(value, exp.Coalesce):
        return any(_is_never_null(operand) for operand in (value.this, *value.expressions))
    if isinstance(value, exp.Literal):
        return True
    return find_pattern_function(value) in ("CLASSIFIER", "MATCH_NUMBER")


def reject_ordered_array(node: exp.ArrayAgg, context: RuleContext) -> exp.Expr:
    """Reject `ARRAY_AGG(x ORDER BY y)` for Spark if no other rule has rewritten it.

    Raises:
        UnsupportedError: the array has an ORDER BY.
    """
    if context.write.is_spark and isinstance(node.this, exp.Order):
        raise UnsupportedError(f"{context.read.title} does not allow ORDER BY in these parentheses")
    return node


def rewrite_string_agg(node: exp.GroupConcat, context: RuleContext) -> exp.Expr:
    """Rewrite `STRING_AGG(x, separator)` of MEASURES to a joined array, or to NULL without values.

    The default separator is a comma. STRING_AGG with DISTINCT stays.
    """
    if not (context.is_measure and context.write.is_spark) or node.find(exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    values = build_array_without_nulls(read_collected_values(node.this))
    joined = exp.ArrayToString(this=replace_empty_by_null(values), expression=separator)
    return mark_node(joined, _FROM_AGGREGATE)


def rewrite_any_value(node: exp.AnyValue, context: RuleContext) -> exp.Expr:
    """Rewrite `ANY_VALUE(x HAVING MAX y)` of MEASURES to `MAX_BY(x, y)`, and MIN to `MIN_BY`."""
    having = node.this
    if not context.is_measure or not isinstance(having, exp.HavingMax):
        return node
    function = exp.ArgMax if having.args.get("max") else exp.ArgMin
    return function(this=having.this, expression=having.expression)


def distribute_semantics(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Move RUNNING or FINAL before a rewritten aggregate to each aggregate inside it.

    `FINAL TRANSFORM(ARRAY_AGG(...), ...)` becomes `TRANSFORM(FINAL ARRAY_AGG(...), ...)`.
    """
    semantics = find_pattern_function(node)
    if semantics not in SEMANTICS or len(node.expressions) != 1:
        return node
    rewritten: exp.Expr = node.expressions[0]
    if _FROM_AGGREGATE not in rewritten.meta:
        return node
    for aggregate in list(rewritten.find_all(exp.AggFunc)):
        aggregate.replace(call_pattern_function(semantics, aggregate.copy()))
    return rewritten


def distribute_over_and_filter(node: exp.Window | exp.Filter, _: RuleContext) -> exp.Expr:
    """Move OVER or FILTER after a rewritten aggregate to each aggregate inside it.

    `NULLIF(ARRAY_AGG(...), ARRAY()) OVER w` becomes `NULLIF(ARRAY_AGG(...) OVER w, ARRAY())`.
    """
    rewritten: exp.Expr = node.this
    if not isinstance(rewritten, _OUTERMOST_FUNCTIONS):
        return node
    for aggregate in list(rewritten.find_all(exp.AggFunc)):
        # OVER goes around a FILTER that was moved before.
        operand = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        moved = node.copy()
        moved.set("this", operand.copy())
        operand.replace(moved)
    return rewritten


def add_final(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """Add FINAL to an aggregate that has neither RUNNING nor FINAL.

    The rule is for products in which an aggregate is always over the whole match.
    """
    if context.is_measure_of_rows and not has_semantics(node):
        return call_pattern_function("FINAL", node.copy())
    return node


def remove_final(node: exp.AggFunc | exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Remove FINAL before aggregates, and add a note on aggregates without it.

    The rule is for Databricks, where an aggregate is always over the whole match.
    """
    if not context.is_measure_of_rows:
        return node
    if isinstance(node, exp.Anonymous):
        is_final = find_pattern_function(node) == "FINAL"
        if is_final and isinstance(node.expressions[0], exp.AggFunc):
            return node.expressions[0]
        return node
    is_final = node.parent is not None and find_pattern_function(node.parent) == "FINAL"
    if not is_final:
        context.add_note(
            "an aggregate is over the whole match in Databricks, and over the rows up to the "
            f"current one in {context.read.title}"
        )
    return node


def note_array_nulls(node: exp.ArrayAgg, context: RuleContext) -> exp.Expr:
    """Add a note on `ARRAY_AGG(x)` if only one of the two products keeps NULLs.

    A translation to Spark gets no note, because `rewrite_array_agg` makes up for the difference.
    With IGNORE NULLS the products do not differ.
    """
    read = context.read
    write = context.write
    if write.is_spark or isinstance(node.parent, exp.IgnoreNulls):
        return node
    if read.array_agg_keeps_nulls is write.array_agg_keeps_nulls:
        return node
    if context.clause is not None:
        # sqlglot would write this as FILTER, which no aggregate of a clause has.
        node.set("nulls_excluded", None)
    keeps, drops = (read, write) if read.array_agg_keeps_nulls else (write, read)
    context.add_note(f"ARRAY_AGG keeps NULLs in {keeps.title}, and drops them in {drops.title}")
    return node


def reject_distinct_and_filter(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """Reject DISTINCT and FILTER in aggregates of a clause, for products that do not allow them.

    Raises:
        UnsupportedError: an aggregate of a clause has DISTINCT or FILTER.
    """
    if context.clause is None:
        return node
    is_distinct = isinstance(node.this, exp.Distinct)
    call = node.parent if has_semantics(node) else node  # FILTER follows `FINAL SUM(x)`
    if is_distinct or (call is not None and isinstance(call.parent, exp.Filter)):
        word = "DISTINCT" if is_distinct else "FILTER"
        raise UnsupportedError(f"no {word}, because an aggregate in the clause reads all rows")
    return node
