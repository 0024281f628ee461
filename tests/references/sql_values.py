"""SQL values in plain Python: comparison, arithmetic, truth and aggregates with NULL as None."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

Value = int | float | str | datetime | timedelta | None  # truth values are bool


def compare(operator: str, left: Value, right: Value) -> bool | None:
    """Three-valued; NaN equals itself and is greater than every other number."""
    if left is None or right is None:
        return None
    one, other = ordered(left), ordered(right)
    match operator:
        case "=":
            return one == other
        case "<>":
            return one != other
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
        case _:
            return one >= other


def ordered(value: Value) -> tuple[bool, Value]:
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


def calculate(operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "%":  # the sign is the dividend's
            return abs(left) % abs(right) * (1 if left >= 0 else -1)
        case _:
            return left / right


def conjunction(truths: Sequence[bool | None]) -> bool | None:
    if False in truths:
        return False
    return None if None in truths else True


def negation(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def disjunction(truths: Sequence[bool | None]) -> bool | None:
    return negation(conjunction([negation(truth) for truth in truths]))


def aggregate(function: str, values: Sequence[Value]) -> Value:
    """Over the values that are not NULL."""
    values = [value for value in values if value is not None]
    if function == "count":
        return len(values)
    if not values:
        return None
    match function:
        case "min":
            return min(values, key=ordered)
        case "max":
            return max(values, key=ordered)
        case "sum":
            return sum(values[1:], values[0])
        case _:
            return float(sum(values[1:], values[0])) / len(values)


def different(values: Sequence[Value]) -> list[Value]:
    """Each value once; all NaN are one."""
    return list({ordered(value): value for value in values}.values())


def literal(value: Value) -> str:
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
