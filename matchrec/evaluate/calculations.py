"""Computes in Python what kernels compute elsewhere: in bodies of lambda functions, per element.

A value is held as an engine holds it, a number, but a float as itself; NULL is None. Arithmetic and
mathematics are the compiled functions that kernels call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typing_extensions import assert_never

from matchrec.conditions.functions.comparisons import rank
from matchrec.conditions.functions.formula import Argument
from matchrec.conditions.functions.function import AnsiError, Value
from matchrec.conditions.operations import Comparison
from matchrec.conditions.run_condition import (
    And,
    Arithmetic,
    Call,
    Choose,
    Compare,
    Constant,
    IsNull,
    Mathematics,
    Narrow,
    Not,
    Or,
    Read,
    ReadClassifier,
    ReadMatchNumber,
    Reduce,
    RunExpression,
    Widen,
    kind_of,
    operands_of,
)
from matchrec.conditions.types import DOUBLE, Family, Kind, ValueType
from matchrec.evaluate import instructions as op
from matchrec.evaluate.code import function_of
from matchrec.evaluate.mathematics.functions import ROUNDING, compute, compute_arithmetic
from matchrec.evaluate.values import decoder, encoder
from matchrec.jit.callbacks import pointer_to

Held = int | float | None
Compute = Callable[[], Held]

REASONS: Mapping[int, str] = {
    op.OVERFLOW: "a number is too large for its type",
    op.DIVISION_BY_ZERO: "division by zero",
}
COMPARED: Mapping[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.NOT_EQUAL: operator.ne,
    Comparison.LESS: operator.lt,
    Comparison.LESS_OR_EQUAL: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.GREATER_OR_EQUAL: operator.ge,
    Comparison.NULL_SAFE_EQUAL: operator.eq,
}

to_bits, of_bits = encoder(DOUBLE), decoder(DOUBLE, None)


def holder(type_: ValueType, read: Callable[[], Value]) -> Compute:
    """What reads a value as it is held. Raises OverflowError where it has more than 64 bits."""
    if type_.family is Family.FLOATING:
        return read
    encode = encoder(type_)

    def held() -> Held:
        value = read()
        return None if value is None else checked(encode(value))

    return held


def checked(number: int) -> int:
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError
    return number


def taker(type_: ValueType, compute: Compute) -> Callable[[], Value]:
    """What makes a value of what is held."""
    if type_.family is Family.FLOATING:
        return compute
    decode = decoder(type_, None)

    def value() -> Value:
        held = compute()
        return None if held is None else decode(int(held))

    return value


def calculation(expression: RunExpression, parts: Sequence[Compute]) -> Compute:
    """What computes an expression. parts: what its calls, each of one argument, stand for."""
    operands = [calculation(one, parts) for one in operands_of(expression)]
    match expression:
        case Constant(value):
            return lambda: value
        case Call(formula=Argument(number)):
            return parts[number]
        case Compare():
            return compared(expression, *operands)
        case Arithmetic() | Narrow() | Mathematics():
            return computed(expression, operands)
        case And():
            return connected(operands, decisive=False)
        case Or():
            return connected(operands, decisive=True)
        case Choose():
            condition, then, otherwise = operands
            return lambda: then() if condition() else otherwise()
        case Not() | IsNull() | Widen():
            return of_one(expression, *operands)
        case Call() | Read() | ReadClassifier() | ReadMatchNumber() | Reduce():
            raise AssertionError(expression)
        case _:
            assert_never(expression)


def compared(expression: Compare, left: Compute, right: Compute) -> Compute:
    """The truth value of a comparison."""
    compare = COMPARED[expression.comparison]
    is_null_safe = expression.comparison is Comparison.NULL_SAFE_EQUAL
    is_floating = kind_of(expression.left) is Kind.FLOATING

    def value() -> Held:
        one, other = left(), right()
        if one is None or other is None:
            return int(one is other) if is_null_safe else None
        return int(compare(rank(one), rank(other)) if is_floating else compare(one, other))

    return value


def connected(parts: Sequence[Compute], *, decisive: bool) -> Compute:
    """AND, or OR, which a true part decides; what comes after that is not computed."""

    def value() -> Held:
        known = True
        for part in parts:
            found = part()
            if found is not None and bool(found) is decisive:
                return int(decisive)
            known = known and found is not None
        return int(not decisive) if known else None

    return value


def of_one(expression: Not | IsNull | Widen, part: Compute) -> Compute:
    """An operation of one value."""
    if isinstance(expression, IsNull):
        return lambda: int(part() is None)
    is_truth = isinstance(expression, Not)

    def value() -> Held:
        found = part()
        if found is None:
            return None
        return 1 - found if is_truth else float(found)

    return value


def computed(expression: Arithmetic | Narrow | Mathematics, operands: Sequence[Compute]) -> Compute:
    """A compiled function of one number or two."""
    number = function_of(expression)
    is_arithmetic = number >= op.ARITHMETIC
    call = pointer_to(compute_arithmetic if is_arithmetic else compute).ctypes
    floats = [kind_of(one) is Kind.FLOATING for one in operands_of(expression)]
    is_floating = kind_of(expression) is Kind.FLOATING
    values = operands[:2] if number == ROUNDING else operands

    def value() -> Held:
        numbers = [one() for one in values]
        if None in numbers:
            return None
        bits = [
            to_bits(one) if is_float else one
            for one, is_float in zip(numbers, floats, strict=False)
        ]
        found: int = call(number, bits[0], bits[-1])
        if found == op.NO_RESULT and is_arithmetic:
            answer = call(number + op.WHY, bits[0], bits[-1])
            if answer in REASONS:
                raise AnsiError(REASONS[answer])
            if answer == op.NULL:
                return None
        elif found == op.NO_RESULT:
            return operands[2]() if number == ROUNDING else None
        held: Held = of_bits(found) if is_floating else found
        return held

    return value
