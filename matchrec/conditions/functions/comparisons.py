"""Comparisons and choices among values that only Python holds, such as texts put together."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from matchrec.conditions.functions.function import Compute, Function, FunctionUse, Value, function
from matchrec.conditions.types import BOOLEAN, NESTED, NUMBERS, VOID, Family, ValueType, unnamed


def same_type(use: FunctionUse) -> ValueType | None:
    """Boolean, if both are of one type, family or numbers, and compare; NULL with anything."""
    known = {unnamed(type_) for type_ in use.types if type_ != VOID}
    families = {type_.family for type_ in known}
    plain = families <= NUMBERS or (len(families) == 1 and not families & NESTED)
    is_ordered = known and all(type_.is_ordered for type_ in known)
    return BOOLEAN if is_ordered and (plain or len(known) == 1) else None


def comparison(compare: Callable[[Value, Value], bool]) -> Function:
    """Of two values of one type, or of two numbers."""

    def build(use: FunctionUse) -> Compute:
        families = {type_.family for type_ in use.types}
        if families <= NESTED:
            return lambda left, right: compare(rank(left), rank(right))
        if Family.FLOATING not in families:
            return compare
        return lambda left, right: compare(rank(float(left)), rank(float(right)))

    return Function((None, None), same_type, build)


def null_safe(use: FunctionUse) -> Compute:
    """`<=>`: NULL is equal to NULL, and to nothing else."""
    equal = EQUAL.build(use)

    def compute(left: Value, right: Value) -> bool:
        if left is None or right is None:
            return left is right
        return bool(equal(left, right))

    return compute


def normalized(value: Value) -> Value:
    """The value that stands for all that are equal to it: one NaN, and a zero without sign."""
    if isinstance(value, tuple):
        return tuple(map(normalized, value))
    if isinstance(value, float):
        if value != value:
            return math.nan
        return value or 0.0
    return value


def rank(value: Value) -> tuple[Value, ...]:
    """By what values are compared where some may be NaN, which is the greatest.

    Nested values by their parts, of which NULL is the least.
    """
    if isinstance(value, tuple):
        return tuple((False,) if part is None else (True, rank(part)) for part in value)
    nan = value != value
    return nan, 0 if nan else value


EQUAL = comparison(operator.eq)

COMPARISONS: Mapping[str, Function] = {
    "=": EQUAL,
    "<>": comparison(operator.ne),
    "<": comparison(operator.lt),
    "<=": comparison(operator.le),
    ">": comparison(operator.gt),
    ">=": comparison(operator.ge),
    "<=>": Function((None, None), same_type, null_safe, takes_nulls=True),
    "IS NULL": function((None,), BOOLEAN, lambda value: value is None, takes_nulls=True),
}
