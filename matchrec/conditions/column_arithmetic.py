"""Arithmetic of columns and constants, which the search can compute instead of reading a column.

For `price * 2 + fee`, Spark would compute one more column. If the search has `price` and `fee`
anyway, the search computes the value: see `typing.steps.type_column_arithmetic`.
"""

from __future__ import annotations

from matchrec.conditions.residual import ColumnRead, CombinedStep, Step, read_current_row
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.rows_read import is_single_reference
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    find_amount,
    render,
    write_argument,
)

# The operations of `ColumnRead.arithmetic`.
ARITHMETIC_OPERATORS = ("+", "-", "*")


def build_column_arithmetic(scalar: Scalar, position: Navigation | None) -> CombinedStep | None:
    """Return the operation for an expression that is arithmetic of columns and constants.

    `price * 2 + fee` is such an expression. None for any other expression, such as a single column
    or a call.

    Args:
        scalar: the expression. All its columns are read at one position.
        position: that position; None for the current row.
    """
    step = build_arithmetic_operand(scalar, position)
    return step if isinstance(step, CombinedStep) else None


def build_arithmetic_operand(scalar: Scalar, position: Navigation | None) -> Step | None:
    """Return the step for a column, a constant or arithmetic of these; None for anything else.

    For the arguments see `build_column_arithmetic`.
    """
    if is_single_reference(scalar) and isinstance(scalar.references[0], ColumnReference):
        column = build_row_column(render(scalar, write_argument))
        return ColumnRead(column, navigation=position, column_without_row=None, span=scalar.span)
    amount = find_amount(scalar)
    if amount is not None:
        return read_current_row(build_row_column(render(scalar, str), amount), scalar.span)
    if not isinstance(scalar, Operation) or scalar.operator not in ARITHMETIC_OPERATORS:
        return None
    operands = []
    for operand in scalar.operands:
        step = build_arithmetic_operand(operand, position)
        if step is None:
            return None
        operands.append(step)
    return CombinedStep(scalar.operator, tuple(operands), scalar.span)
