"""What computes the formulas of conditions on the run: the functions and aggregates they name.

Kernels hold a value by its bits, or by its rank; NULL is None.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from matchrec.conditions import run_condition
from matchrec.conditions.accumulators import AGGREGATES, fold
from matchrec.conditions.evaluate.kernels.machine import BoolArray, IntArray
from matchrec.conditions.functions import functions
from matchrec.conditions.functions.function import Compute, Value
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Family, ValueType, is_ranked

Decode = Callable[[int], Value]
Ranked = Mapping[int, Sequence[Value]]

_FLOAT, _BITS = struct.Struct("<d"), struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class RowValues:
    """The rows. columns, valid: see `conditions.evaluate.kernels.machine`.

    ranked: by integer column, the values in the order of their ranks, of which the first is 1.
    """

    columns: IntArray
    valid: BoolArray
    ranked: Ranked


def ranked_column(expression: RunExpression) -> int | None:
    """The integer column among whose values those of a ranked expression have their ranks."""
    match expression:
        case run_condition.ReadValue(column=column) | run_condition.Reduce(column=column):
            return column
        case run_condition.Operate(run_condition.Basic.CHOOSE, (_, then, otherwise)):
            found = ranked_column(then)
            return ranked_column(otherwise) if found is None else found
        case _:
            return None


def decoder(type_: ValueType, expression: RunExpression, source: RowValues) -> Decode:
    """How a value of a type is made of the bits that hold it, or of its rank."""
    column = ranked_column(expression) if is_ranked(type_) else None
    if column is not None and column in source.ranked:
        ranked = source.ranked[column]
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


Evaluate = Callable[[], Value]


def build(expression: RunExpression, arguments: Iterator[Evaluate]) -> Evaluate:
    """What computes a value. arguments: what reads each that `arguments_of` names."""
    match expression:
        case run_condition.Aggregated(name, use=use):
            aggregate, rows = AGGREGATES[name], next(arguments)
            total = fold(lambda: aggregate.begin_rows(use))
            return lambda: total(*rows())
        case run_condition.Apply(name, parts):
            function = functions()[name]
            reads = tuple(build(part, arguments) for part in parts)
            compute = function.build(expression.use)
            if function.takes_nulls:
                return lambda: compute(*[read() for read in reads])
            return _null_in_null_out(compute, reads)
        case _:
            return next(arguments)


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
