"""Builds Python functions that compute the formulas of run conditions.

A formula is made of functions and aggregates of Spark. Kernels hold a value as its bits, or as its
rank. Python holds it as the value itself, and NULL as None.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from matchrec.conditions import run_condition
from matchrec.conditions.accumulators import AGGREGATES, build_list_aggregate
from matchrec.conditions.evaluate.kernels.machine import BoolArray, IntArray
from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import Compute, Value
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Family, ValueType, is_ranked

Decode = Callable[[int], Value]
RankedValues = Mapping[int, Sequence[Value]]

_FLOAT, _BITS = struct.Struct("<d"), struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of rows."""

    # See `kernels.machine.Input`.
    columns: IntArray
    valid: BoolArray
    # For each integer column of ranks, the values in the order of their ranks, which begin with 1.
    ranked: RankedValues


def find_ranked_column(expression: RunExpression) -> int | None:
    """Return the integer column whose ranks a ranked expression has, or None."""
    match expression:
        case run_condition.ReadValue(column=column) | run_condition.RunAggregate(column=column):
            return column
        case run_condition.RunOperation(run_condition.BasicOperator.CHOOSE, (_, then, otherwise)):
            column = find_ranked_column(then)
            return find_ranked_column(otherwise) if column is None else column
        case _:
            return None


def make_decoder(type_: ValueType, expression: RunExpression, source: RowValues) -> Decode:
    """Return a function that makes a value from its bits, or from its rank.

    Args:
        type_: the type of the value.
        expression: the expression whose value it is.
        source: the rows, which know the values by rank.
    """
    column = find_ranked_column(expression) if is_ranked(type_) else None
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


def make_encoder(type_: ValueType) -> Callable[[Value], int]:
    """Return a function that makes the bits of a value of a type.

    It raises OverflowError if the value does not fit.
    """
    match type_.family:
        case Family.FLOATING:
            return lambda value: _BITS.unpack(_FLOAT.pack(value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int


Evaluate = Callable[[], Value]


def build_formula(expression: RunExpression, arguments: Iterator[Evaluate]) -> Evaluate:
    """Return a function that computes a formula.

    Args:
        expression: the formula.
        arguments: functions that read its arguments, in the order of `find_python_arguments`.
    """
    match expression:
        case run_condition.PythonAggregate(name, use=use):
            aggregate = AGGREGATES[name]
            rows = next(arguments)
            total = build_list_aggregate(lambda: aggregate.begin(use))
            return lambda: total(*rows())
        case run_condition.PythonCall(name, parts):
            function = load_functions()[name]
            reads = tuple(build_formula(part, arguments) for part in parts)
            compute = function.build(expression.use)
            if function.takes_nulls:
                return lambda: compute(*[read() for read in reads])
            return _return_null_for_null(compute, reads)
        case _:
            return next(arguments)


def _return_null_for_null(compute: Compute, reads: Sequence[Evaluate]) -> Evaluate:
    """Return a function that computes a value, or returns None at the first argument that is NULL.

    Spark does not evaluate the later arguments then.
    """

    def compute_value() -> Value:
        """Return the value of the function, or None at the first NULL argument."""
        values = []
        for read in reads:
            value = read()
            if value is None:
                return None
            values.append(value)
        return compute(*values)

    return compute_value
