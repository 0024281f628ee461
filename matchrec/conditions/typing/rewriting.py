"""Rewrite operations that the search does not have with the few basic ones that it has.

The table of operators in `plan.operators` says how:

    NVL(a, b)        →   IF(a IS NOT NULL, a, b)
    BIGINT(a)        →   CAST(a AS BIGINT)
    ZEROIFNULL(a)    →   COALESCE(a, 0)
"""

from __future__ import annotations

from fractions import Fraction

from matchrec.conditions.residual import CombinedStep, Step, TypedOperation, read_current_row
from matchrec.conditions.row_column import build_row_column
from matchrec.plan.amounts import Amount
from matchrec.plan.forms import apply_form
from matchrec.plan.operators import OPERATORS, OperatorKind

# The number zero in rewritten functions. Its type is known, so Spark is not asked for it as for the
# columns of the query.
ZERO = build_row_column("0", Amount(Fraction(0)))


def rewrite_operation(step: TypedOperation) -> Step | None:
    """Return an operation rewritten with other operations, closer to the basic ones.

    The result may contain operations that must be rewritten in turn: NOT IN becomes NOT of IN. None
    if the operation is not rewritten.
    """
    entry = OPERATORS.get(step.operator)
    if entry is None:
        return None
    if entry.kind is OperatorKind.CAST:
        assert entry.target is not None
        return CombinedStep("CAST", step.operands, step.span, words=(entry.target,))
    if entry.kind is not OperatorKind.REWRITTEN:
        return None
    assert entry.form is not None

    def combine(operator: str, *operands: Step) -> Step:
        """Return a step for an operation of the form."""
        return CombinedStep(operator, operands, step.span)

    zero: Step = read_current_row(ZERO, step.span)
    return apply_form(entry.form, step.operands, combine, zero)
