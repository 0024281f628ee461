"""Random patterns over random streams: both algorithms find the matches of the reference.

The reference enumerates matches as the definitions say. A long run:

    MATCHREC_EXAMPLES=20000 pytest tests/properties/test_patterns.py
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
from tests.references.patterns import Search, TooManyWaysError, report_matches, select_matches
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
def test_both_algorithms_find_what_the_definitions_say(
    question: Question, rows_per_batch: int, matches: int, solo_reads_per_row: int
) -> None:
    """Both algorithms give one of the correct results.

    Args:
        question: the pattern, and the events.
        rows_per_batch: the number of rows in a batch.
        matches: the number of matches after which the search decides which of them are output.
        solo_reads_per_row: the number of reads of a row after which the runs of all starting rows
            are followed at once, instead of the runs of one starting row.
    """
    try:
        expected = list_right_lines(question)
    except TooManyWaysError:
        assume(False)
    capacities = {
        "SMALL_CAPACITY": Capacity(matches=matches),
        "LARGE_CAPACITY": Capacity(matches=3 * matches),
    }
    with patch.multiple(selection, **capacities, SOLO_READS_PER_ROW=solo_reads_per_row):
        lines_by_algorithm = answer_question(question, rows_per_batch=rows_per_batch)
    for algorithm, lines in lines_by_algorithm.items():
        assert any(are_correct(question, correct_lines, lines) for correct_lines in expected), (
            algorithm,
            lines,
            expected,
        )


def are_correct(question: Question, correct_lines: list[str], lines: list[str]) -> bool:
    """Return whether a result is correct. Without a skip strategy the order does not matter."""
    if question.skip:
        return lines == correct_lines
    return sorted(lines) == sorted(correct_lines)


@random_examples
@given(questions(), st.integers(1, 3))
def test_the_first_matches_are_those_of_all(question: Question, most: int) -> None:
    try:
        linked, prepared = make_compiled_queries(replace(question, timeouts=False), ALGORITHMS)
    except MatchRecognizeError:
        assume(False)
    for compiled_query in linked.values():
        limited = replace(compiled_query, task=replace(compiled_query.task, max_matches=most))
        try:
            all_matches = name_columns(Run(compiled_query, prepared, None, ROWS_PER_BATCH))
        except (
            MatchRecognizeError
        ):  # a match has no event of the stage to skip to; it may be a later match
            assume(False)
        first_matches = name_columns(Run(limited, prepared, None, ROWS_PER_BATCH))
        assert first_matches == [row for row in all_matches if row["match_number"] <= most]


def name_columns(run: Run) -> list[dict[str, Any]]:
    """Return the rows of the result as dicts."""
    return [
        read_row(run.compiled_query, row) for batch in run.batches() for row in batch.to_pylist()
    ]


@random_examples
@given(questions().filter(lambda question: question.skip and "throws" not in question.skip))
def test_both_formulations_of_skipping_agree(question: Question) -> None:
    """In the reference, skipping over all matches and event by event selects the same."""
    (stream,) = question.streams.values()
    try:
        search = Search(build_pattern(question.calls, Pattern), stream)
        orders = list(search.list_orders())
    except TooManyWaysError:
        assume(False)
    for ordered in orders:
        assert (
            tuple(select_matches(ordered, question.strategy))
            == report_matches(search, ordered, question.strategy).matches
        )
