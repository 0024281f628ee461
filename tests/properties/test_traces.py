"""A trace finds from each starting row the match that a search finds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.plan.clauses import EventSelection, MatchOutput
from tests.cases.pattern_notation import Question
from tests.generators.patterns import questions
from tests.generators.selection import cases, general, sequences
from tests.properties.test_algorithms import (
    LONG_PARTITION,
    PARTITIONS,
    add_windows,
    cases_with_run_conditions,
    queries,
)
from tests.quick.scale import examples
from tests.tasks.contiguous import Query, Rows
from tests.tasks.patterns import make_search
from tests.tasks.selection import build_task
from tests.tasks.traces import check_traces

OUTPUTS = (MatchOutput.PREFERRED, MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)

random_examples = settings(
    max_examples=examples(75), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def assert_traced(query: Query, rows: Rows) -> None:
    """Compare traces of a contiguous query with its matches."""
    check_traces(query.task(), rows.partitions(query.variables))


@random_examples
@given(queries(), PARTITIONS)
def test_traces_of_random_patterns_find_the_matches(
    query: Query, rows: tuple[tuple[frozenset[str], ...], ...]
) -> None:
    assert_traced(query, Rows(rows))


@random_examples
@given(st.data())
def test_traces_in_windows_find_the_matches(data: st.DataObject) -> None:
    rows = Rows(data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=2).map(tuple)))
    assert_traced(data.draw(queries()), data.draw(add_windows(rows)))


@random_examples
@given(cases_with_run_conditions())
def test_conditions_that_depend_on_the_run(case: tuple[Query, Rows]) -> None:
    assert_traced(*case)


@random_examples
@given(cases_with_run_conditions())
def test_traces_find_the_longest_matches(case: tuple[Query, Rows]) -> None:
    query, rows = case
    assert_traced(replace(query, output=MatchOutput.LONGEST), rows)


@random_examples
@given(st.data())
def test_traces_with_event_selection_find_the_matches(data: st.DataObject) -> None:
    query, rows = data.draw(
        cases(
            shapes=sequences() if data.draw(st.booleans()) else general(),
            selection=data.draw(st.sampled_from(EventSelection)),
            output=data.draw(st.sampled_from(OUTPUTS)),
            depends_on_run=data.draw(st.booleans()),
            most_rows=6,
        )
    )
    check_traces(build_task(query), rows.partitions(query.variables))


@random_examples
@given(questions())
def test_traces_of_stages_find_the_matches(question: Question) -> None:
    try:
        task, partitions = make_search(question)
    except MatchRecognizeError:
        assume(False)
    check_traces(task, partitions)
