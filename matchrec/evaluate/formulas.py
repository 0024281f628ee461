"""What computes the formulas of conditions on the run: the functions and aggregates they name.

Of the rows of a list, and of what IF chooses, Python computes what kernels compute elsewhere.
There a value is held as an engine holds it, by its bits; NULL is None. Arithmetic and mathematics
are the compiled functions that kernels call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from matchrec.conditions.accumulators import AGGREGATES, fold
from matchrec.conditions.functions import functions
from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.functions.function import AnsiError, Compute, FunctionUse, Value
from matchrec.conditions.run_condition import (
    Aggregated,
    And,
    Apply,
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
    ReadValue,
    Reduce,
    RunExpression,
    Widen,
    held_type,
    is_calculated,
    kind_of,
    operands_of,
)
from matchrec.conditions.types import BIGINT, BOOLEAN, DOUBLE, Family, Kind, ValueType, is_ranked
from matchrec.evaluate import instructions as op
from matchrec.evaluate.code import function_of
from matchrec.evaluate.kernels.functions import compute, compute_arithmetic
from matchrec.jit.callbacks import pointer_to

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Decode = Callable[[int], Value]
Ranked = Mapping[int, Sequence[Value]]

_FLOAT, _BITS = struct.Struct("<d"), struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class RowValues:
    """The rows. columns, valid: see `evaluate.kernels.machine`.

    ranked: by integer column, the values in the order of their ranks, of which the first is 1.
    """

    columns: IntArray
    valid: BoolArray
    ranked: Ranked


def ranked_values(source: RowValues, column: int | None) -> Sequence[Value] | None:
    """The values of which a column has the ranks; None of what is no rank."""
    return None if column is None else source.ranked.get(column)


def ranked_column(expression: RunExpression) -> int | None:
    """The integer column among whose values those of a ranked expression have their ranks."""
    match expression:
        case ReadValue(column=column) | Reduce(column=column):
            return column
        case Choose(_, then, otherwise):
            found = ranked_column(then)
            return ranked_column(otherwise) if found is None else found
        case _:
            return None


def decoder(type_: ValueType, ranked: Sequence[Value] | None) -> Decode:
    """How a value of a type is made of the bits that hold it, or of its rank."""
    if is_ranked(type_) and ranked is not None:
        return lambda bits: ranked[bits - 1]
    match type_.family:
        case Family.BOOLEAN:
            return bool
        case Family.FLOATING:
            return lambda bits: _FLOAT.unpack(_BITS.pack(bits))[0]
        case Family.DECIMAL:
            return lambda bits: Decimal(bits).scaleb(-type_.scale)
        case _:
            return int


def encoder(type_: ValueType) -> Callable[[Value], int]:
    """The bits that hold a value of a type. Raises OverflowError where they cannot."""
    match type_.family:
        case Family.FLOATING:
            return lambda value: _BITS.unpack(_FLOAT.pack(value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int


Held = int | None
Hold = Callable[[], Held]

REASONS: Mapping[int, str] = {
    op.OVERFLOW: "a number is too large for its type",
    op.DIVISION_BY_ZERO: "division by zero",
}

to_bits = encoder(DOUBLE)


def encoded_reader(type_: ValueType, read: Callable[[], Value]) -> Hold:
    """What reads a value as it is held. Raises OverflowError where it has more than 64 bits."""
    encode = encoder(type_)

    def held() -> Held:
        value = read()
        if value is None:
            return None
        bits = encode(value)
        if not -(1 << 63) <= bits < 1 << 63:
            raise OverflowError
        return bits

    return held


def decoded_reader(type_: ValueType, compute: Hold) -> Callable[[], Value]:
    """What makes a value of what is held."""
    decode = decoder(type_, None)

    def value() -> Value:
        held = compute()
        return None if held is None else decode(held)

    return value


def compared(expression: Compare, left: Hold, right: Hold) -> Hold:
    """The truth value of a comparison."""
    function = COMPARISONS[expression.comparison.value]
    type_ = DOUBLE if kind_of(expression.left) is Kind.FLOATING else BIGINT
    compare = function.build(FunctionUse((type_, type_)))
    left, right = decoded_reader(type_, left), decoded_reader(type_, right)

    def value() -> Held:
        one, other = left(), right()
        is_unknown = (one is None or other is None) and not function.takes_nulls
        return None if is_unknown else int(compare(one, other))

    return value


def connected(parts: Sequence[Hold], *, decisive: bool) -> Hold:
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


def of_one(expression: Not | IsNull | Widen, part: Hold) -> Hold:
    """An operation of one value."""
    if isinstance(expression, IsNull):
        return lambda: int(part() is None)
    is_truth = isinstance(expression, Not)

    def value() -> Held:
        found = part()
        if found is None:
            return None
        return 1 - found if is_truth else to_bits(float(found))

    return value


def computed(expression: Arithmetic | Narrow | Mathematics, operands: Sequence[Hold]) -> Hold:
    """A compiled function of one number or two."""
    number = function_of(expression)
    is_arithmetic = number >= op.ARITHMETIC
    call = pointer_to(compute_arithmetic if is_arithmetic else compute)

    def value() -> Held:
        bits = [operand() for operand in operands]
        if None in bits:
            return None
        found: int = call(number, bits[0], bits[-1])
        if found != op.NO_RESULT:
            return found
        if not is_arithmetic:
            return None
        answer = call(number + op.WHY, bits[0], bits[-1])
        if answer in REASONS:
            raise AnsiError(REASONS[answer])
        return None if answer == op.NULL else found

    return value


Evaluate = Callable[[], Value]


def build(
    expression: RunExpression,
    type_: ValueType,
    arguments: Sequence[Evaluate],
    *,
    lazy: bool = False,
) -> Evaluate:
    """What computes a value of a type. arguments: what reads each that `arguments_of` names."""
    return Builder(iter(arguments)).value(expression, type_, lazy=lazy)


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds what computes values."""

    arguments: Iterator[Evaluate]

    def value(self, expression: RunExpression, type_: ValueType, *, lazy: bool = False) -> Evaluate:
        """What computes a value. lazy: see `run_condition.arguments_of`, read in the same order."""
        match expression:
            case Aggregated(name, use=use):
                aggregate, rows = AGGREGATES[name], next(self.arguments)
                total = fold(lambda: aggregate.begin_rows(use))
                return lambda: total(*rows())
            case Apply(name):
                return self.applied(expression, lazy=lazy or name == "IF")
            case Choose(condition, then, otherwise) if lazy:
                parts = (condition, BOOLEAN), (then, type_), (otherwise, type_)
                return _choice(*(self.value(*part, lazy=True) for part in parts))
            case _ if lazy and is_calculated(expression):
                return decoded_reader(type_, self.held(expression))
            case _:
                return next(self.arguments)

    def applied(self, call: Apply, *, lazy: bool) -> Evaluate:
        """What computes a function of its parts."""
        function, types = functions()[call.name], call.use.types
        pairs = zip(call.parts, types, strict=True)
        reads = tuple(self.value(part, type_, lazy=lazy) for part, type_ in pairs)
        if call.name == "IF":
            return _choice(*reads)
        compute = function.build(call.use)
        if function.takes_nulls:
            return lambda: compute(*[read() for read in reads])
        return _null_in_null_out(compute, reads)

    def held(self, expression: RunExpression) -> Hold:
        """What computes an expression as an engine would."""
        if isinstance(expression, Call) or not is_calculated(expression):
            type_ = held_type(expression)
            return encoded_reader(type_, self.value(expression, type_, lazy=True))
        operands = [self.held(operand) for operand in operands_of(expression)]
        match expression:
            case Constant(value):
                constant = encoded_reader(held_type(expression), lambda: value)()
                return lambda: constant
            case Compare():
                return compared(expression, *operands)
            case Arithmetic() | Narrow() | Mathematics():
                return computed(expression, operands)
            case And():
                return connected(operands, decisive=False)
            case Or():
                return connected(operands, decisive=True)
            case Choose():
                return _choice(*operands)
            case Not() | IsNull() | Widen():
                return of_one(expression, *operands)
            case _:
                raise AssertionError(expression)


def _choice(condition: Evaluate, then: Evaluate, otherwise: Evaluate = lambda: None) -> Evaluate:
    """IF, which does not compute what it does not choose."""
    return lambda: then() if condition() else otherwise()


def _null_in_null_out(compute: Compute, reads: Sequence[Evaluate]) -> Evaluate:
    """NULL at the first argument that is, as in Spark, which does not look at the others then."""

    def value() -> Value:
        values = []
        for read in reads:
            found = read()
            if found is None:
                return None
            values.append(found)
        return compute(*values)

    return value
