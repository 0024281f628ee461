"""Arrays of the values that an aggregate collects, as expressions of Spark SQL.

Spark's ARRAY_AGG drops NULLs and does not sort. To keep NULLs or to sort, structs are collected
instead of values, because a struct with NULLs in it is not dropped. A field has the value, and one
more field has each sort key:

    ARRAY_AGG(x ORDER BY y DESC LIMIT 2)
    1. collect     ARRAY_AGG(STRUCT(x AS item, y AS key_0))
    2. sort        ARRAY_SORT(..., a lambda that compares key_0)
    3. extract     TRANSFORM(..., row -> row.item)
    4. limit       SLICE(..., 1, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import UnsupportedError

from matchrec.dialects.rules.function_calls import call_function

# The field of a collected struct that has the value.
VALUE_FIELD = "item"

# The fields that have the sort keys: this prefix and the index of the key.
_KEY_FIELD_PREFIX = "key_"

# What the lambda of ARRAY_SORT returns for two structs.
_LEFT_FIRST = -1
_RIGHT_FIRST = 1


@dataclass(frozen=True, slots=True)
class CollectedValues:
    """What an aggregate collects: `x`, `x ORDER BY y` or `x ORDER BY y LIMIT n`."""

    # The expression of the value.
    value: exp.Expr
    # The sort keys.
    sort_keys: tuple[exp.Ordered, ...] = ()
    # The number of values that are kept; None for all.
    limit: exp.Expr | None = None

    @property
    def is_plain(self) -> bool:
        """Return whether there is neither ORDER BY nor LIMIT."""
        return not self.sort_keys and self.limit is None


def read_collected_values(argument: exp.Expr) -> CollectedValues:
    """Return what the argument of an aggregate says to collect.

    Args:
        argument: the tree of the text between the parentheses.

    Raises:
        UnsupportedError: it has DISTINCT.
    """
    limit = None
    if isinstance(argument, exp.Limit):
        limit = argument.expression
        argument = argument.this
    sort_keys = ()
    if isinstance(argument, exp.Order):
        sort_keys = tuple(argument.expressions)
        argument = argument.this
    if isinstance(argument, exp.Distinct):
        raise UnsupportedError("an array of distinct values with ORDER BY or LIMIT")
    return CollectedValues(argument, sort_keys, limit)


def build_array(collected: CollectedValues) -> exp.Expr:
    """Return the array of the values, with NULLs. It is empty if there are no rows."""
    if collected.is_plain and isinstance(collected.value, exp.Struct):
        return exp.ArrayAgg(this=collected.value.copy())  # a struct is never NULL
    return _extract_values(build_array_of_structs(collected), collected)


def build_array_without_nulls(collected: CollectedValues) -> exp.Expr:
    """Return the array of the values that are not NULL. It is empty if there are none."""
    if collected.is_plain:
        return exp.ArrayAgg(this=collected.value.copy())
    is_not_null = _parse_lambda(f"row -> NOT row.{VALUE_FIELD} IS NULL")
    structs = exp.ArrayFilter(this=build_array_of_structs(collected), expression=is_not_null)
    return _extract_values(structs, collected)


def build_array_of_structs(collected: CollectedValues) -> exp.ArrayAgg:
    """Return an array with a struct for each row, neither sorted nor limited.

    A struct has the value as `VALUE_FIELD`, and the sort keys.
    """
    fields = [_build_field(VALUE_FIELD, collected.value)]
    for index, key in enumerate(collected.sort_keys):
        fields.append(_build_field(f"{_KEY_FIELD_PREFIX}{index}", key.this))
    return exp.ArrayAgg(this=exp.Struct(expressions=fields))


def replace_empty_by_null(array: exp.Expr) -> exp.Expr:
    """Return an array that is NULL instead of empty."""
    return exp.Nullif(this=array, expression=exp.Array())


def _build_field(name: str, value: exp.Expr) -> exp.Expr:
    """Return a field of a struct."""
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value.copy())


def _extract_values(structs: exp.Expr, collected: CollectedValues) -> exp.Expr:
    """Return the values of an array of structs, sorted and limited as ORDER BY and LIMIT say."""
    if collected.sort_keys:
        structs = call_function("ARRAY_SORT", structs, _build_comparison(collected.sort_keys))
    extraction = _parse_lambda(f"row -> row.{VALUE_FIELD}")
    values = exp.Transform(this=structs, expression=extraction)
    if collected.limit is None:
        return values
    return call_function("SLICE", values, exp.Literal.number(1), collected.limit)


def _build_comparison(sort_keys: Sequence[exp.Ordered]) -> exp.Expr:
    """Return a lambda for ARRAY_SORT that compares two structs by their sort keys.

    The first key in which they differ decides. If there is none, the lambda returns 0.
    """
    cases = []
    for index, key in enumerate(sort_keys):
        left = f"one.{_KEY_FIELD_PREFIX}{index}"
        right = f"other.{_KEY_FIELD_PREFIX}{index}"
        left_is_null = _LEFT_FIRST if key.args.get("nulls_first") else _RIGHT_FIRST
        left_is_less = _RIGHT_FIRST if key.args.get("desc") else _LEFT_FIRST
        cases.append(
            f"WHEN {left} IS NULL AND NOT {right} IS NULL THEN {left_is_null} "
            f"WHEN {right} IS NULL AND NOT {left} IS NULL THEN {-left_is_null} "
            f"WHEN {left} < {right} THEN {left_is_less} WHEN {left} > {right} THEN {-left_is_less}"
        )
    return _parse_lambda(f"(one, other) -> CASE {' '.join(cases)} ELSE 0 END")


def _parse_lambda(text: str) -> exp.Expr:
    """Return the tree of a lambda, which sqlglot's parser accepts only as an argument of a call."""
    function: exp.Expr = parse_one(f"called({text})", read="spark").expressions[0]
    return function.pop()
