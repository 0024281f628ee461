"""Random patterns over random streams against enumeration by definition.

A long run: MATCHREC_EXAMPLES=20000 pytest tests/test_random_patterns.py
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, assume, given, settings

from pattern_brute_force import Search, TooMuchError, reported, selected
from pattern_notation import built, read_events, read_skip
from pattern_trees import Pattern
from random_patterns import Question, questions

EXAMPLES = int(os.environ.get("MATCHREC_EXAMPLES", "200"))

random_examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@random_examples
@given(questions().filter(lambda one: one.skip and "throws" not in one.skip))
def test_both_formulations_of_skipping_agree(question: Question) -> None:
    """The bar over all matches, and matches held back event by event: the enumeration's own."""
    (stream,) = read_events(question.words).values()
    skip = read_skip(question.skip)
    try:
        search = Search(built(question.calls, Pattern), stream)
        orders = list(search.orders())
    except TooMuchError:
        assume(False)
    for ordered in orders:
        assert tuple(selected(ordered, skip)) == reported(search, ordered, skip).matches
