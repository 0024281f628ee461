"""Find out from types whether an operation can raise an error in ANSI mode.

For example, a sum of integers can overflow, and a sum of doubles cannot. `plan.operations` answers
the same question before types are known. There, both sums can raise an error.
"""

from __future__ import annotations

from typing_extensions import assert_never

from matchrec.conditions.residual import TypedOperation
from matchrec.conditions.types import MAX_DIGITS, NUMBERS, TIMES, Family, ValueType
from matchrec.conditions.typing.constants import is_nonzero_constant
from matchrec.plan import operations
from matchrec.plan.operations import find_operator_operations
from matchrec.plan.operators import OPERATORS, Failure, OperatorKind


def operation_can_fail(step: TypedOperation, type_: ValueType) -> bool:
    """Return whether an operation can raise an error if none of its operands does.

    Args:
        step: the operation.
        type_: the type of its result.
    """
    entry = OPERATORS.get(step.operator)
    if entry is None:
        return operations.can_fail(find_operator_operations(step.operator))
    match entry.failure:
        case Failure.NEVER | Failure.OTHER_CALLS:
            return False
        case Failure.TOO_LARGE:
            # FLOOR and CEIL of a number that is too large return the nearest BIGINT.
            return entry.kind is not OperatorKind.MATHEMATICS and can_overflow(type_)
        case Failure.DIVISION:
            return can_overflow(type_) or not is_nonzero_constant(step.operands[1])
        case Failure.CAST:
            return cast_can_fail(step.operands[0].type, type_)
        case Failure.PATTERN | Failure.POSSIBLE:
            return True
        case _:
            assert_never(entry.failure)


def can_overflow(type_: ValueType) -> bool:
    """Return whether the result of arithmetic can be too large for its type.

    Dates and timestamps are left out, because they hardly ever are too large.
    """
    if type_.family is Family.DECIMAL:
        # Spark gives a result all digits that it can need, up to this number.
        return type_.precision == MAX_DIGITS
    return type_.family is Family.INTEGER


def cast_can_fail(source: ValueType, target: ValueType) -> bool:
    """Return whether a cast from one type to another can raise an error in ANSI mode.

    True if that is not known: also for casts that never fail, such as one of BOOLEAN to INT.
    """
    if source == target or target.family is Family.STRING:
        return False
    if source.family in NUMBERS and target.family in NUMBERS:
        are_integers = source.family is target.family is Family.INTEGER
        is_wider = are_integers and source.bits <= target.bits
        return not (is_wider or target.family is Family.FLOATING)
    return not {source.family, target.family} <= TIMES
