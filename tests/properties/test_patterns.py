"""Random patterns over random streams: both algorithms against enumeration by definition.

A long run: MATCHREC_EXAMPLES=20000 pytest tests/properties/test_patterns.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.search import selection
from matchrec.search.task import Capacity
from tests.cases.pattern_notation import Question, build_pattern, list_right_lines
from tests.generators.pattern_trees import Pattern
from tests.generators.patterns import questions
from tests.quick.scale import examples
from tests.references.patterns import Search, TooMuchError, report_matches, select_matches
from tests.tasks.patterns import (
    ALGORITHMS,
    ROWS_PER_BATCH,
    answer_question,
    make_compiled_queries,
    read_row,
)
from tests.tasks.query_batches import Run

EXAMPLES = examples(75)

random_examples = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@random_examples
@given(
    questions(),
    st.sampled_from((1, 2, 1000)),
    st.sampled_from((1, 2, 1000)),
    st.sampled_from((0, 1, 8)),
)
def test_both_engines_find_what_the_definitions_say(
    question: Question, rows_per_batch: int, matches: int, reads_alone: int
) -> None:
    """matches: after how many it is decided which of them come out. reads_alone: after how many
    of a row all runs are followed at once, not those of one starting row.
    """
    try:
        expected = list_right_lines(question)
    except TooMuchError:
        assume(False)
    capacities = {
        "SMALL_CAPACITY": Capacity(matches=matches),
        "LARGE_CAPACITY": Capacity(matches=3 * matches),
    }
    with patch.multiple(selection, **capacities, READS_ALONE=reads_alone):
        found = answer_question(question, rows_per_batch=rows_per_batch)
    for algorithm, lines in found.items():
        assert any(agrees(question, right, lines) for right in expected), (
            algorithm,
            lines,
            expected,
        )


def agrees(question: Question, right: list[str], lines: list[str]) -> bool:
    """Return whether the lines are the right ones, in any order unless there is a skip strategy."""
    return lines == right if question.skip else sorted(lines) == sorted(right)


@random_examples
@given(questions(), st.integers(1, 3))
def test_the_first_matches_are_those_of_all(question: Question, most: int) -> None:
    try:
        linked, prepared = make_compiled_queries(replace(question, timeouts=False), ALGORITHMS)
    except MatchRecognizeError:
        assume(False)
    for one in linked.values():
        limited = replace(one, task=replace(one.task, most_matches=most))
        try:
            every = name_columns(Run(one, prepared, None, ROWS_PER_BATCH))
        except MatchRecognizeError:  # of a stage that a match misses, maybe behind the first ones
            assume(False)
        found = name_columns(Run(limited, prepared, None, ROWS_PER_BATCH))
        assert found == [row for row in every if row["match_number"] <= most]


def name_columns(run: Run) -> list[dict[str, Any]]:
    """Return the rows of the result, by the names of their columns."""
    return [
        read_row(run.compiled_query, row) for batch in run.batches() for row in batch.to_pylist()
    ]


@random_examples
@given(questions().filter(lambda one: one.skip and "throws" not in one.skip))
def test_both_formulations_of_skipping_agree(question: Question) -> None:
    """The bar over all matches, and matches held back event by event: the enumeration's own."""
    (stream,) = question.streams.values()
    try:
        search = Search(build_pattern(question.calls, Pattern), stream)
        orders = list(search.orders())
    except TooMuchError:
        assume(False)
    for ordered in orders:
        assert (
            tuple(select_matches(ordered, question.strategy))
            == report_matches(search, ordered, question.strategy).matches
        )
