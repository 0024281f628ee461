"""Comparisons of values that only Python has, such as concatenated texts."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from matchrec.conditions.functions.function import (
    ANY_TYPE,
    Compute,
    Function,
    FunctionUse,
    Value,
    use_for_all_types,
)
from matchrec.conditions.types import (
    BOOLEAN,
    NESTED,
    NUMBERS,
    VOID,
    Family,
    ValueType,
    remove_field_names,
)


def find_comparison_result_type(use: FunctionUse) -> ValueType | None:
    """Return BOOLEAN if the operands can be compared, else None.

    They can be compared if both are numbers, if they are of one family that is not nested, or if
    they are nested and have one type with an order. NULL can be compared with any of these, but not
    with NULL.
    """
    types = {remove_field_names(type_) for type_ in use.types if type_ != VOID}
    if not types or not all(type_.is_ordered for type_ in types):
        return None
    families = {type_.family for type_ in types}
    are_numbers = families <= NUMBERS
    have_plain_family = len(families) == 1 and not families & NESTED
    return BOOLEAN if are_numbers or have_plain_family or len(types) == 1 else None


def build_comparison(compare: Callable[[Value, Value], bool]) -> Function:
    """Return the function that compares two values of one type, or two numbers.

    Args:
        compare: compares two values of Python that are not NaN.
    """

    def build(use: FunctionUse) -> Compute:
        """Return the comparison for the types of the arguments."""
        families = {type_.family for type_ in use.types}
        if families <= NESTED:
            return lambda left, right: compare(make_rank_key(left), make_rank_key(right))
        if Family.FLOATING not in families:
            return compare
        return lambda left, right: compare(make_rank_key(float(left)), make_rank_key(float(right)))

    return Function((ANY_TYPE, ANY_TYPE), find_comparison_result_type, build)


def build_null_safe_equal(use: FunctionUse) -> Compute:
    """Return the function for `<=>`: NULL equals NULL, and nothing else."""
    equal = EQUAL.build(use)

    def compute(left: Value, right: Value) -> bool:
        """Return whether both values are NULL, or neither is and they are equal."""
        if left is None or right is None:
            return left is right
        return bool(equal(left, right))

    return compute


def find_representative(value: Value) -> Value:
    """Return the representative of all equal values: the same NaN, and zero without a sign."""
    if isinstance(value, tuple):
        return tuple(map(find_representative, value))
    if isinstance(value, float):
        if value != value:
            return math.nan
        return value or 0.0
    return value


def make_rank_key(value: Value) -> tuple[Value, ...]:
    """Return a key that sorts values as Spark does. NaN is the greatest number.

    Nested values are compared part by part. A part that is NULL is the least.

    >>> sorted([(2.0, None), (1.0, 5.0), (float("nan"), 0.0)], key=make_rank_key)
    [(1.0, 5.0), (2.0, None), (nan, 0.0)]
    """
    if isinstance(value, tuple):
        return tuple((False,) if part is None else (True, make_rank_key(part)) for part in value)
    is_nan = value != value  # true only for NaN
    return is_nan, 0 if is_nan else value


def is_null(value: Value) -> bool:
    """Return whether a value is NULL, for IS NULL."""
    return value is None


EQUAL = build_comparison(operator.eq)

COMPARISONS: Mapping[str, Function] = {
    "=": EQUAL,
    "<>": build_comparison(operator.ne),
    "<": build_comparison(operator.lt),
    "<=": build_comparison(operator.le),
    ">": build_comparison(operator.gt),
    ">=": build_comparison(operator.ge),
    "<=>": Function(
        (ANY_TYPE, ANY_TYPE), find_comparison_result_type, build_null_safe_equal, takes_nulls=True
    ),
    "IS NULL": Function((ANY_TYPE,), BOOLEAN, use_for_all_types(is_null), takes_nulls=True),
}
