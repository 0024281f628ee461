"""Check that the condition of a row that must be absent can be tested as soon as the row arrives.

- If matches are built, the condition is tested after a match is complete. It may read rows that the
  run maps later, and it is not tested for runs that never become a match.
- If matches are not built, the condition is tested when the row arrives, and a run ends at a row
  that satisfies it: see `absences`.

This module rejects conditions for which the two tests could differ.
"""

from __future__ import annotations

from typing_extensions import assert_never

from matchrec.conditions.run_condition import (
    Arithmetic,
    BasicOperator,
    Comparison,
    Constant,
    OnFailure,
    PythonAggregate,
    PythonCall,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
    TriedMatchNumber,
    walk_expression,
)
from matchrec.errors import match_totals as errors
from matchrec.plan.expression import Navigation
from matchrec.search.task import AbsenceCondition, Task

# Operators that never raise an error. Each `MathFunction` is left out, because it may raise one.
SAFE_OPERATORS = (*BasicOperator, *Comparison)


def check_absence_condition(
    task: Task, absence: AbsenceCondition, later_variables: frozenset[int]
) -> None:
    """Check that the condition of a row that must be absent has its final value when it is tested.

    Args:
        task: the task of the search.
        absence: which rows must be absent.
        later_variables: the variables to which rows are mapped once the absence has begun.

    Raises:
        MustBuildMatchesError: the condition may raise an error, or its value may change until the
            match is complete.
    """
    condition = task.conditions[absence.variable].run_condition
    if condition is None:
        return
    for part in walk_expression(condition):
        reason = explain_unsafe_node(part)
        if reason is not None:
            raise errors.MustBuildMatchesError(reason)
        match part:
            case ReadValue(navigation=Navigation(variable=name)) | RunAggregate(variable=name):
                variables_read_too_early = later_variables
                if name is not None:
                    variables_read_too_early = later_variables & task.members[name]
                if variables_read_too_early:
                    raise errors.MustBuildMatchesError(errors.ABSENCE_BY_LATER_ROW)


def explain_unsafe_node(node: RunExpression) -> str | None:
    """Return why a condition may not contain this node, whatever its operands are; None if it may.

    CLASSIFIER, MATCH_NUMBER and lists of rows may change until the match is complete. Functions
    that Python computes, sums and some operations may raise an error, but a run that never becomes
    a match must not raise one.
    """
    match node:
        case Constant() | ReadValue():
            return None
        case ReadClassifier():
            return errors.ABSENCE_BY_CLASSIFIER
        case TriedMatchNumber():
            return errors.ABSENCE_BY_MATCH_NUMBER
        case PythonCall():
            return errors.ABSENCE_BY_PYTHON_CALL
        case PythonAggregate():
            return errors.ABSENCE_BY_PYTHON_AGGREGATE
        case RunAggregate(function=function):
            return errors.ABSENCE_BY_SUM if function is Reduction.SUM else None
        case RunOperation(operator=operator):
            return None if operator in SAFE_OPERATORS else errors.ABSENCE_BY_OPERATION
        case Arithmetic(on_error=on_error):
            return errors.ABSENCE_BY_OPERATION if on_error is OnFailure.RAISE else None
        case _:
            assert_never(node)
