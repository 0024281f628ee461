"""Build Python functions that compute formulas: functions and aggregates in run conditions.

A kernel holds a value as an int64: the bits of a float, the digits of a decimal, the rank of a
ranked value, or the number itself. Python holds the value itself, and NULL as None. A *decoder*
makes the value from the int64, an *encoder* the int64 from the value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from matchrec.conditions import run_condition
from matchrec.conditions.accumulators.shared_lists import build_list_aggregate
from matchrec.conditions.accumulators.table import AGGREGATES
from matchrec.conditions.evaluate.kernels.machine import BoolArray, IntArray
from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import Compute, Value
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Family, ValueType, is_ranked

# Returns the value that an int64 of a kernel stands for.
Decode = Callable[[int], Value]
# For each integer column of ranks, the values in the order of their ranks, which begin with 1.
RankedValues = Mapping[int, Sequence[Value]]

_FLOAT, _BITS = struct.Struct("<d"), struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class RowValues:
    """The values of the rows that are searched, as kernels hold them."""

    # int64[c, n]: the integer columns, then the floating columns.
    columns: IntArray
    # bool[c, n]: where the columns are not NULL.
    valid: BoolArray
    # The values that ranks stand for.
    ranked: RankedValues


def find_ranked_column(expression: RunExpression) -> int | None:
    """Return the integer column of ranks that an expression reads, or None if it reads none."""
    match expression:
        case run_condition.ReadValue(column=column) | run_condition.RunAggregate(column=column):
            return column
        case run_condition.RunOperation(run_condition.BasicOperator.CHOOSE, (_, then, otherwise)):
            column = find_ranked_column(then)
            return find_ranked_column(otherwise) if column is None else column
        case _:
            return None


def make_decoder(type_: ValueType, expression: RunExpression, source: RowValues) -> Decode:
    """Return the decoder for the values of an expression.

    Args:
        type_: the type of the values.
        expression: the expression.
        source: the rows, which have the values by rank.
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
    """Return the encoder for values of a type. The values are not NULL.

    Its result is a Python integer of any size. If it has more than 64 bits, storing it in an int64
    array raises OverflowError.

    Args:
        type_: the type. It is not ranked, because Python keeps such values itself.
    """
    match type_.family:
        case Family.FLOATING:
            return lambda value: _BITS.unpack(_FLOAT.pack(value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int


# Computes or reads a value of the call that a kernel has just made.
Evaluate = Callable[[], Value]


def build_formula(expression: RunExpression, arguments: Iterator[Evaluate]) -> Evaluate:
    """Return a function that computes a formula.

    Args:
        expression: the formula.
        arguments: functions that read the arguments of the formula, in the order of
            `find_python_arguments`. As many of them are consumed as the formula has arguments.
    """
    match expression:
        case run_condition.PythonAggregate(name, use=use):
            aggregate = AGGREGATES[name]
            rows = next(arguments)
            total = build_list_aggregate(lambda: aggregate.begin(use))
            return lambda: total(*rows())
        case run_condition.PythonCall(name, operands):
            function = load_functions()[name]
            reads = tuple(build_formula(operand, arguments) for operand in operands)
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
