"""Rules for navigation and aggregates over the rows of a match.

Spark's ARRAY_AGG drops NULLs and does not sort. Other products keep NULLs, or sort:

    ARRAY_AGG(x ORDER BY y DESC LIMIT 2)   collect structs of x and y, sort them, take 2, return x
    STRING_AGG(x, '-' ORDER BY y)          the same, without NULLs, joined to a string
    ANY_VALUE(x HAVING MAX y)              MAX_BY(x, y)
    ARRAY_AGG(x) OVER w                    OVER moves to the aggregate inside of what is built
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.context import RuleContext, mark_node
from matchrec.dialects.rules.function_calls import (
    call_function,
    call_pattern_function,
    find_pattern_function,
    has_semantics,
)
from matchrec.syntax.tokens import SEMANTICS

# The names of fields in the structs that are collected: the value, and the keys with their index.
_ITEM = "item"
_KEY = "key_"

# The outermost functions of what an aggregate is rewritten to.
_REWRITTEN_TO = (exp.Nullif, exp.ArrayToString, exp.If)

# A mark on what an aggregate was rewritten to, as opposed to a function that the user wrote.
_FROM_AGGREGATE = "from an aggregate"


def rewrite_count(node: exp.Count, _: RuleContext) -> exp.Expr:
    """Rewrite `COUNT()` to `COUNT(*)`."""
    if node.this is None and not node.expressions:
        return exp.Count(this=exp.Star())
    return node


def rewrite_array_agg(node: exp.ArrayAgg | exp.IgnoreNulls, context: RuleContext) -> exp.Expr:
    """Rewrite `ARRAY_AGG(x)` for Spark so that it keeps NULLs and its order.

    Without rows the result is NULL, as in other products, and not an empty array.

    Raises:
        UnsupportedError: it is in DEFINE and may contain NULLs.
    """
    ignores_nulls = isinstance(node, exp.IgnoreNulls)
    array = node.this if ignores_nulls else node
    is_inside_ignore_nulls = isinstance(node.parent, exp.IgnoreNulls)
    if not context.write.is_spark or not isinstance(array, exp.ArrayAgg) or is_inside_ignore_nulls:
        return node
    distinct_values = array.this.expressions if isinstance(array.this, exp.Distinct) else ()
    if distinct_values and (len(distinct_values) > 1 or context.is_condition):
        return node
    if distinct_values:
        collection = Collection(distinct_values[0])
    else:
        collection = read_collection(array.this)
    if context.is_condition and collection.is_plain:
        return _rewrite_array_in_condition(collection, ignores_nulls)
    if ignores_nulls or _is_never_null(collection.value):
        items = collect_values_without_nulls(collection)
    else:
        items = _collect_all_values(collection)
    if distinct_values:
        items = exp.ArrayDistinct(this=items)
    return mark_node(_replace_empty_by_null(items), _FROM_AGGREGATE)


def _rewrite_array_in_condition(collection: Collection, ignores_nulls: bool) -> exp.Expr:
    """Return an array that a condition of DEFINE can compare.

    Its values are not NULL. The array can be empty in two cases: it is over the rows of a named
    variable, which may have no rows yet, or IGNORE NULLS leaves out the values of all rows.

    Raises:
        UnsupportedError: a value may be NULL.
    """
    value = collection.value
    may_be_null = not _is_never_null(value)
    if may_be_null and not ignores_nulls:
        raise UnsupportedError("an array in DEFINE with NULLs: write array_agg(coalesce(x, ...))")
    items = collect_values_without_nulls(collection)
    names_variable = any(column.table for column in value.find_all(exp.Column))
    for call in value.find_all(exp.Anonymous):
        if find_pattern_function(call) == "CLASSIFIER" and call.expressions:
            names_variable = True
    return _replace_empty_by_null(items) if names_variable or may_be_null else items


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
        UnsupportedError: there is an ORDER BY.
    """
    if context.write.is_spark and isinstance(node.this, exp.Order):
        raise UnsupportedError(f"{context.read.title} does not allow ORDER BY in these parentheses")
    return node


def rewrite_string_agg(node: exp.GroupConcat, context: RuleContext) -> exp.Expr:
    """Rewrite `STRING_AGG(x, separator)` to a joined array. The default separator is a comma."""
    if not (context.is_measure and context.write.is_spark) or node.find(exp.Distinct):
        return node
    separator = node.args.get("separator") or exp.Literal.string(",")
    values = _replace_empty_by_null(collect_values_without_nulls(read_collection(node.this)))
    return mark_node(exp.ArrayToString(this=values, expression=separator), _FROM_AGGREGATE)


def rewrite_any_value(node: exp.AnyValue, context: RuleContext) -> exp.Expr:
    """Rewrite `ANY_VALUE(x HAVING MAX y)` to `MAX_BY(x, y)`, and MIN to `MIN_BY`."""
    having = node.this
    if not context.is_measure or not isinstance(having, exp.HavingMax):
        return node
    function = exp.ArgMax if having.args.get("max") else exp.ArgMin
    return function(this=having.this, expression=having.expression)


def distribute_semantics(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Move RUNNING or FINAL before a rewritten aggregate to each aggregate inside it."""
    name = find_pattern_function(node)
    if name not in SEMANTICS or len(node.expressions) != 1:
        return node
    operand: exp.Expr = node.expressions[0]
    if _FROM_AGGREGATE not in operand.meta:
        return node
    for aggregate in list(operand.find_all(exp.AggFunc)):
        aggregate.replace(call_pattern_function(name, aggregate.copy()))
    return operand


def _replace_empty_by_null(items: exp.Expr) -> exp.Expr:
    """Return an array that is NULL instead of empty."""
    return exp.Nullif(this=items, expression=exp.Array())


def distribute_over_and_filter(node: exp.Window | exp.Filter, _: RuleContext) -> exp.Expr:
    """Move OVER or FILTER after a rewritten aggregate to each aggregate inside it."""
    if not isinstance(node.this, _REWRITTEN_TO):
        return node
    result: exp.Expr = node.this
    for aggregate in list(result.find_all(exp.AggFunc)):
        # OVER goes around a FILTER that was moved before.
        inner = aggregate.parent if isinstance(aggregate.parent, exp.Filter) else aggregate
        outer = node.copy()
        outer.set("this", inner.copy())
        inner.replace(outer)
    return result


def add_final(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """Add FINAL to an aggregate that has neither RUNNING nor FINAL: it is over the whole match."""
    if context.is_measure_of_rows and not has_semantics(node):
        return call_pattern_function("FINAL", node.copy())
    return node


def remove_final(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Remove FINAL before aggregates, and add a note on those without it.

    In Databricks, an aggregate is always over the whole match.
    """
    if not context.is_measure_of_rows:
        return node
    if find_pattern_function(node) == "FINAL" and isinstance(node.expressions[0], exp.AggFunc):
        return node.expressions[0]
    is_final = node.parent is not None and find_pattern_function(node.parent) == "FINAL"
    if isinstance(node, exp.AggFunc) and not is_final:
        meaning = "an aggregate is over the whole match in Databricks"
        context.add_note(
            f"{meaning}, and over the rows up to the current one in {context.read.title}"
        )
    return node


def note_array_nulls(node: exp.ArrayAgg, context: RuleContext) -> exp.Expr:
    """Add a note on `ARRAY_AGG(x)` if only one of the products keeps NULLs."""
    read = context.read
    write = context.write
    says_nothing = not isinstance(node.parent, exp.IgnoreNulls)
    if says_nothing and read.collects_nulls is not write.collects_nulls and not write.is_spark:
        keeps, drops = (read, write) if read.collects_nulls else (write, read)
        if context.clause is not None:
            # sqlglot would write this as FILTER, which no aggregate of a clause has.
            node.set("nulls_excluded", None)
        kept = f"ARRAY_AGG keeps NULLs in {keeps.title}"
        context.add_note(f"{kept}, and drops them in {drops.title}")
    return node


def reject_distinct_and_filter(node: exp.AggFunc, context: RuleContext) -> exp.Expr:
    """Reject DISTINCT and FILTER in aggregates of a clause, for products that do not allow them.

    Raises:
        UnsupportedError: there is one of them.
    """
    is_distinct = isinstance(node.this, exp.Distinct)
    if context.clause is not None and (is_distinct or isinstance(node.parent, exp.Filter)):
        word = "DISTINCT" if is_distinct else "FILTER"
        raise UnsupportedError(f"no {word}, because an aggregate in the clause reads all rows")
    return node


@dataclass(frozen=True, slots=True)
class Collection:
    """The argument of an aggregate that collects: `x`, `x ORDER BY y` or `x ORDER BY y LIMIT n`."""

    value: exp.Expr
    # The sort keys, as sqlglot's `Ordered`.
    keys: tuple[exp.Expr, ...] = ()
    # The number of values that are kept; None for all.
    limit: exp.Expr | None = None

    @property
    def is_plain(self) -> bool:
        """True if it has neither ORDER BY nor LIMIT."""
        return not self.keys and self.limit is None

    @property
    def rows(self) -> exp.Expr:
        """An array of structs: the value and the keys of each row.

        ARRAY_AGG drops a NULL, but not a struct with NULLs in it.
        """
        fields = [_build_field(_ITEM, self.value)]
        for index, key in enumerate(self.keys):
            fields.append(_build_field(f"{_KEY}{index}", key.this))
        return exp.ArrayAgg(this=exp.Struct(expressions=fields))


def read_collection(argument: exp.Expr) -> Collection:
    """Return the parts of what is between the parentheses of an aggregate.

    Raises:
        UnsupportedError: it has DISTINCT together with ORDER BY or LIMIT.
    """
    limit = None
    if isinstance(argument, exp.Limit):
        limit = argument.expression
        argument = argument.this
    keys = ()
    if isinstance(argument, exp.Order):
        keys = tuple(argument.expressions)
        argument = argument.this
    if isinstance(argument, exp.Distinct):
        raise UnsupportedError("an array of distinct values with ORDER BY or LIMIT")
    return Collection(argument, keys, limit)


def collect_values_without_nulls(collection: Collection) -> exp.Expr:
    """Return an array of the values without NULLs. Spark's ARRAY_AGG drops them by itself."""
    if collection.is_plain:
        return exp.ArrayAgg(this=collection.value.copy())
    is_not_null = _parse_lambda(f"row -> NOT row.{_ITEM} IS NULL")
    return _extract_values(
        collection, exp.ArrayFilter(this=collection.rows, expression=is_not_null)
    )


def _collect_all_values(collection: Collection) -> exp.Expr:
    """Return an array of the values with NULLs. Structs are never NULL."""
    if collection.is_plain and isinstance(collection.value, exp.Struct):
        return exp.ArrayAgg(this=collection.value.copy())
    return _extract_values(collection, collection.rows)


def _extract_values(collection: Collection, rows: exp.Expr) -> exp.Expr:
    """Return the values of an array of structs, sorted and limited as the collection says."""
    if collection.keys:
        rows = call_function("ARRAY_SORT", rows, _build_comparison(collection.keys))
    values = exp.Transform(this=rows, expression=_parse_lambda(f"row -> row.{_ITEM}"))
    if collection.limit is None:
        return values
    return call_function("SLICE", values, exp.Literal.number(1), collection.limit)


def _parse_lambda(text: str) -> exp.Expr:
    """Return the tree of a lambda function, which Spark allows only as an argument."""
    function: exp.Expr = parse_one(f"called({text})", read="spark").expressions[0]
    return function.pop()


def _build_field(name: str, value: exp.Expr) -> exp.Expr:
    """Return a field of a struct."""
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())


def _build_comparison(keys: Sequence[exp.Expr]) -> exp.Expr:
    """Return a lambda that compares two structs by their keys, for ARRAY_SORT.

    It returns -1 if the left struct comes first, 1 if the right one does, and 0 for equal keys.
    """
    cases = []
    for index, key in enumerate(keys):
        left = f"one.{_KEY}{index}"
        right = f"other.{_KEY}{index}"
        null_first = -1 if key.args.get("nulls_first") else 1
        less_first = 1 if key.args.get("desc") else -1
        cases.append(
            f"WHEN {left} IS NULL AND NOT {right} IS NULL THEN {null_first} "
            f"WHEN {right} IS NULL AND NOT {left} IS NULL THEN {-null_first} "
            f"WHEN {left} < {right} THEN {less_first} WHEN {left} > {right} THEN {-less_first}"
        )
    return _parse_lambda(f"(one, other) -> CASE {' '.join(cases)} ELSE 0 END")


def rewrite_navigation_default(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite `LAG(x, n, default)`.

    The default is only for a missing row, not for a row whose value is NULL. Whether there is a
    row shows in `PREV((x) IS NULL, n)`, which is NULL only if there is none.
    """
    name = find_pattern_function(node)
    if name not in ("PREV", "NEXT") or len(node.expressions) < 3:
        return node
    value, offset, default = node.expressions
    is_null = exp.Is(this=exp.paren(value.copy()), expression=exp.null())
    navigated = call_pattern_function(name, is_null, offset.copy())
    is_missing = exp.Is(this=navigated, expression=exp.null())
    return exp.If(this=is_missing, true=default, false=call_pattern_function(name, value, offset))


def rename_prev_and_next(node: exp.Anonymous, context: RuleContext) -> exp.Expr:
    """Rename `PREV` and `NEXT` to `LAG` and `LEAD`.

    In MEASURES, a note says that these do not leave the match.
    """
    name = {"PREV": "LAG", "NEXT": "LEAD"}.get(find_pattern_function(node) or "")
    if name is None:
        return node
    if context.is_measure:
        context.add_note(
            f"{name} in MEASURES reads only rows of the match in {context.write.title}"
        )
    return call_pattern_function(name, *node.expressions)


def rewrite_first_and_last_value(
    node: exp.FirstValue | exp.LastValue, context: RuleContext
) -> exp.Expr:
    """Rewrite `FIRST_VALUE(x)` and `LAST_VALUE(x)` of a clause to `FIRST(x)` and `LAST(x)`."""
    if context.clause is None or context.clause.frame is not None:
        return node
    name = "FIRST" if isinstance(node, exp.FirstValue) else "LAST"
    return call_pattern_function(name, node.this.copy())


def rewrite_row_number(node: exp.Anonymous, _: RuleContext) -> exp.Expr:
    """Rewrite `MATCH_SEQUENCE_NUMBER()` to a count of the rows of the match so far."""
    if find_pattern_function(node) != "ROW_NUMBER":
        return node
    if node.find_ancestor(exp.AggFunc):  # aggregates do not nest
        return call_pattern_function("MATCH_ROW_NUMBER")
    return call_pattern_function("RUNNING", exp.Count(this=exp.Star()))


def quote_variable(node: exp.Identifier, context: RuleContext) -> exp.Expr:
    """Quote a pattern variable whose case counts, as `context.quoted_variables` says.

    It is one if it qualifies a column, as in `a.price`, or is the argument of CLASSIFIER.
    """
    column = node.parent
    if not isinstance(column, exp.Column):
        return node
    qualifies_column = node.arg_key == "table"
    call = column.parent or column
    is_argument = node.arg_key == "this" and find_pattern_function(call) == "CLASSIFIER"
    text = context.quoted_variables.get(node.name.upper())
    if text and (qualifies_column or is_argument):
        return exp.to_identifier(text, quoted=True)
    return node
