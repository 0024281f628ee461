"""Build Python functions that compute formulas: calls of functions and aggregates over the run.

A kernel holds a value as an int64, which is called its *bits* here. Python holds the value itself,
and NULL as None. A *decoder* makes the value from the bits, an *encoder* the bits from the value:

    type                      bits
    float                     the bits of the float
    decimal(5,2)              its digits: 1250 for 12.50
    text, wide decimal, ...   the rank of the value among the values of the column, from 1
    any other                 the number
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from matchrec.conditions import run_condition
from matchrec.conditions.accumulators.shared_lists import ListAggregate
from matchrec.conditions.accumulators.table import AGGREGATES
from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import Compute, Value
from matchrec.conditions.run_condition import RunExpression
from matchrec.conditions.types import Family, ValueType, is_ranked
from matchrec.jit.array_types import BoolArray, IntArray

# Returns the value that some bits stand for.
Decode = Callable[[int], Value]
# For each integer column of ranks, the values in the order of their ranks, which begin with 1.
RankedValues = Mapping[int, Sequence[Value]]

# `jit.bits` does the same for kernels. Called from Python, it takes longer.
_FLOAT = struct.Struct("<d")
_BITS = struct.Struct("<q")


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
    """Return the integer column whose ranks are the values of an expression; None if there is none.

    For an IF it is the column of the first branch that has one.
    """
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
        values_by_rank = source.ranked[column]
        return lambda rank: values_by_rank[rank - 1]
    match type_.family:
        case Family.BOOLEAN:
            return bool
        case Family.FLOATING:
            return lambda bits: _FLOAT.unpack(_BITS.pack(bits))[0]
        case Family.DECIMAL:
            return lambda digits: Decimal(digits).scaleb(-type_.scale)
        case _:
            return int


def make_encoder(type_: ValueType) -> Callable[[Value], int]:
    """Return the encoder for values of a type. The values are not NULL.

    Its result can have more than 64 bits. Then storing it in an int64 array raises OverflowError.

    Args:
        type_: the type. Ranked values have no encoder: Python keeps them itself.
    """
    match type_.family:
        case Family.FLOATING:
            return lambda value: _BITS.unpack(_FLOAT.pack(value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int


# Returns a value for the call that a kernel has just made: a part of the formula, or one of its
# arguments, which are on the stack.
Evaluate = Callable[[], Value]


def build_formula(expression: RunExpression, arguments: Iterator[Evaluate]) -> Evaluate:
    """Return a function that computes a formula.

    Args:
        expression: the formula, or a part of it.
        arguments: functions that read the arguments of the formula, in the order of
            `find_python_arguments`. A part takes its arguments from the front.
    """
    match expression:
        case run_condition.PythonAggregate(name, use=use):
            aggregate = AGGREGATES[name]
            read_list = next(arguments)  # returns the number of the list, and all lists
            list_aggregate = ListAggregate(lambda: aggregate.begin(use))
            return lambda: list_aggregate.compute(*read_list())
        case run_condition.PythonCall(name, operands):
            function = load_functions()[name]
            operand_functions = [build_formula(operand, arguments) for operand in operands]
            compute = function.build(expression.use)
            if function.takes_nulls:
                return lambda: compute(*[evaluate() for evaluate in operand_functions])
            return _build_strict_call(compute, operand_functions)
        case _:  # an argument, which the kernel has computed
            return next(arguments)


def _build_strict_call(compute: Compute, operand_functions: Sequence[Evaluate]) -> Evaluate:
    """Return a function that calls `compute`, or returns None if an operand is NULL.

    As in Spark, the operands after the first one that is NULL are not evaluated.
    """

    def evaluate_call() -> Value:
        """Return the value of the call; None at the first operand that is NULL."""
        values = []
        for evaluate in operand_functions:
            value = evaluate()
            if value is None:
                return None
            values.append(value)
        return compute(*values)

    return evaluate_call
