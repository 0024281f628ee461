"""Conditions of absent rows: which of them can end a run before its match is complete."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from matchrec.compile.absence_conditions import check_absence_condition
from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    Comparison,
    Constant,
    OnFailure,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
    TriedMatchNumber,
)
from matchrec.conditions.types import Kind
from matchrec.errors.match_totals import (
    ABSENCE_BY_CLASSIFIER,
    ABSENCE_BY_LATER_ROW,
    ABSENCE_BY_MATCH_NUMBER,
    ABSENCE_BY_OPERATION,
    ABSENCE_BY_SUM,
    MustBuildMatchesError,
)
from matchrec.plan.expression import Navigation

ONE = Constant(1, Kind.INTEGER)
PLUS = ArithmeticOperator.ADD


def find_reason(part: RunExpression) -> str:
    """Return why matches must be built if no row between A and B may satisfy `part = 1`.

    The result is "" if a run may end at such a row. Rows are mapped to B after the absence begins.
    """
    condition = RunOperation(Comparison.EQUAL, (part, ONE))
    members = {name: frozenset([index]) for index, name in enumerate("AB")}
    task: Any = SimpleNamespace(
        conditions={2: SimpleNamespace(run_condition=condition)}, members=members
    )
    absent: Any = SimpleNamespace(variable=2)
    try:
        check_absence_condition(task, absent, members["B"])
    except MustBuildMatchesError as error:
        return error.message.partition(": ")[2]
    return ""


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (ReadValue(0, Kind.INTEGER), ""),
        (ReadValue(0, Kind.INTEGER, Navigation("A")), ""),
        (ReadValue(0, Kind.INTEGER, Navigation("B")), ABSENCE_BY_LATER_ROW),
        (RunAggregate(Reduction.MAX, "A", 0, Kind.INTEGER), ""),
        (RunAggregate(Reduction.MAX, None, 0, Kind.INTEGER), ABSENCE_BY_LATER_ROW),
        (RunAggregate(Reduction.SUM, "A", 0, Kind.INTEGER), ABSENCE_BY_SUM),
        (Arithmetic(PLUS, (ONE, ONE), Kind.INTEGER), ABSENCE_BY_OPERATION),
        (Arithmetic(PLUS, (ONE, ONE), Kind.INTEGER, on_error=OnFailure.WRAP), ""),
        (Arithmetic(PLUS, (ONE, ONE), Kind.INTEGER, on_error=OnFailure.NULL), ""),
        (ReadClassifier(Navigation("A")), ABSENCE_BY_CLASSIFIER),
        (TriedMatchNumber(), ABSENCE_BY_MATCH_NUMBER),
    ],
)
def test_the_reason_is_true(part: RunExpression, reason: str) -> None:
    assert find_reason(part) == reason
