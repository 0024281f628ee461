"""Check that the condition of an absent row can be tested when the row comes.

If matches are not built, a run ends at an absent row: see `absences`. Normally, the condition is
tested once a match has been found, so it may read rows that the run has not mapped yet, and it is
not tested for a run that never becomes a match.
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

# Operators that never raise an error.
SAFE_OPERATORS = (*BasicOperator, *Comparison)


def check_condition(task: Task, absence: AbsenceCondition, later_variables: frozenset[int]) -> None:
    """Check that the condition of an absent row has its final value when the row comes.

    Args:
        task: the task of the search.
        absence: the absence.
        later_variables: the variables to which rows are mapped once the absence has begun.

    Raises:
        MustBuildMatchesError: the condition can raise, its value can change until the match is
            found, or it calls a function for which this is not known.
    """
    condition = task.conditions[absence.variable].run_condition
    if condition is None:
        return
    for part in walk_expression(condition):
        reason = find_obstacle_in_condition(part)
        if reason is not None:
            raise errors.MustBuildMatchesError(reason)
        match part:
            case ReadValue(navigation=Navigation(variable=name)) | RunAggregate(variable=name):
                read_later = later_variables
                if name is not None:
                    read_later = later_variables & task.members[name]
                if read_later:
                    raise errors.MustBuildMatchesError(errors.ABSENCE_BY_LATER_ROW)


def find_obstacle_in_condition(part: RunExpression) -> str | None:
    """Return why an expression may not be part of the condition of an absent row; None if it may.

    CLASSIFIER, MATCH_NUMBER and lists of rows may change until the match is found, and nobody has
    shown for which patterns they do not. Functions that Python computes may raise, and so may sums
    and some operations. A run that never becomes a match must not raise.
    """
    match part:
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
            assert_never(part)
