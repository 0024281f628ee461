"""The reference for SQL values: comparison, arithmetic, truth and aggregates in plain Python.

NULL is None. Truth values are True, False and None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

Value = int | float | str | datetime | timedelta | None


def compare(operator: str, left: Value, right: Value) -> bool | None:
    """Compare two values: NaN equals itself and is greater than every other number."""
    if left is None or right is None:
        return None
    left_key = make_sort_key(left)
    right_key = make_sort_key(right)
    match operator:
        case "=":
            return left_key == right_key
        case "<>":
            return left_key != right_key
        case "<":
            return left_key < right_key
        case "<=":
            return left_key <= right_key
        case ">":
            return left_key > right_key
        case ">=":
            return left_key >= right_key
        case _:
            raise AssertionError(f"unknown operator: {operator}")


def make_sort_key(value: Value) -> tuple[bool, Value]:
    """Return a key by which values sort as in Spark: NaN is the greatest and equals itself."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


def calculate(operator: str, left: Value, right: Value) -> Value:
    """Compute `+`, `-`, `*`, `%` or `/`. The divisor must not be 0."""
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "%":  # the result has the sign of the dividend
            return abs(left) % abs(right) * (1 if left >= 0 else -1)
        case "/":
            return left / right
        case _:
            raise AssertionError(f"unknown operator: {operator}")


def compute_and(truths: Sequence[bool | None]) -> bool | None:
    """Return the value of AND."""
    if False in truths:
        return False
    return None if None in truths else True


def compute_not(truth: bool | None) -> bool | None:
    """Return the value of NOT."""
    return None if truth is None else not truth


def compute_or(truths: Sequence[bool | None]) -> bool | None:
    """Return the value of OR."""
    return compute_not(compute_and([compute_not(truth) for truth in truths]))


def aggregate(function: str, values: Sequence[Value]) -> Value:
    """Compute COUNT, MIN, MAX, SUM or AVG over the values that are not NULL."""
    values = [value for value in values if value is not None]
    if function == "count":
        return len(values)
    if not values:
        return None
    match function:
        case "min":
            return min(values, key=make_sort_key)
        case "max":
            return max(values, key=make_sort_key)
        case "sum":
            return sum(values[1:], values[0])
        case "avg":
            return float(sum(values[1:], values[0])) / len(values)
        case _:
            raise AssertionError(f"unknown function: {function}")


def drop_repeated(values: Sequence[Value]) -> list[Value]:
    """Return each value once, for DISTINCT. All NaN are the same value."""
    return list({make_sort_key(value): value for value in values}.values())


def write_constant(value: Value) -> str:
    """Return a value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case float():
            return f"{value!r}E0"
        case str():
            return f"'{value}'"
        case _:
            return str(value)
