"""The truth of each conjunct, from the values of Spark and the outcome of the search."""

from __future__ import annotations

import pytest

from matchrec.explain.tracing.condition_parts import split_into_parts
from matchrec.explain.tracing.explainer import Truth, find_truths
from matchrec.explain.tracing.trials import Outcome, Trial
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

CLAUSE = """
    ORDER BY day PATTERN (A B)
    DEFINE B AS price < PREV(price) * 0.9 AND name LIKE 'x%'
"""


def make_trial(outcome: Outcome) -> Trial:
    """Return a trial with an outcome."""
    return Trial(row=1, variable=1, condition_variable=1, outcome=outcome, previous=0, depth=1)


def test_a_condition_is_taken_apart() -> None:
    first, second = split_into_parts(lower_clause(parse_clause(CLAUSE))).conjuncts["B"]
    assert first.text == "price < PREV(price) * 0.9"
    assert first.operator == "<"
    assert len(first.side_measures) == 2
    assert [(reference.text, reference.is_side) for reference in first.references] == [
        ("price", True),
        ("PREV(price)", False),
    ]
    assert (second.text, second.side_measures) == ("name LIKE 'x%'", ())


@pytest.mark.parametrize(
    ("outcome", "first", "second", "expected"),
    [
        (Outcome.TAKEN, "true", "true", (Truth.TRUE, Truth.TRUE)),
        (Outcome.FAILED, "true", "false", (Truth.TRUE, Truth.FALSE)),
        (Outcome.FAILED, None, "true", (Truth.NULL, Truth.TRUE)),
        (Outcome.FAILED, "true", "true", (None, None)),  # the engine is right: nothing is said
        (Outcome.TAKEN, "true", "false", (None, None)),
    ],
)
def test_values_that_do_not_give_the_answer_are_not_shown(
    outcome: Outcome, first: str | None, second: str | None, expected: tuple[Truth | None, ...]
) -> None:
    conjuncts = split_into_parts(lower_clause(parse_clause(CLAUSE))).conjuncts["B"]
    values: list[str | None] = [""] * 100
    values[conjuncts[0].truth_measure or 0], values[conjuncts[1].truth_measure or 0] = first, second
    assert find_truths(make_trial(outcome), conjuncts, values) == expected


def test_without_values_the_conjuncts_of_a_true_condition_are_true() -> None:
    conjuncts = split_into_parts(lower_clause(parse_clause(CLAUSE))).conjuncts["B"]
    assert find_truths(make_trial(Outcome.TAKEN), conjuncts, ()) == (Truth.TRUE, Truth.TRUE)
    assert find_truths(make_trial(Outcome.FAILED), conjuncts, ()) == (None, None)
