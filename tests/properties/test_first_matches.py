"""`FIRST k MATCHES` gives the matches of each partition whose number is at most k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.task import Task
from tests.generators.selection import cases, general, sequences
from tests.properties.test_algorithms import (
    ALGORITHMS,
    LONG_PARTITION,
    cases_with_run_conditions,
    queries,
    random_examples,
)
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.contiguous import (
    Query,
    Rows,
    SearchFailure,
    WordMatch,
    read_rows,
    run_algorithm,
    run_algorithm_in_pieces,
)
from tests.tasks.selection import WindowedRows, build_task, make_query, run_task, write_matches

few_examples = settings(random_examples, max_examples=examples(16))


@dataclass(frozen=True)
class FirstMatchesQuery(Query):
    """A query with `FIRST k MATCHES`."""

    # The largest number of matches of a partition: k.
    most: int = 1

    def task(self) -> Task:
        """Return the task of a search for this query."""
        return replace(super().task(), max_matches=self.most)


def limit_matches(query: Query, most: int) -> FirstMatchesQuery:
    """Return a query with FIRST MATCHES."""
    return FirstMatchesQuery(
        **{name: getattr(query, name) for name in query.__dataclass_fields__}, most=most
    )


def take_first(matches: list[WordMatch], most: int) -> list[WordMatch]:
    """Return the matches whose number is at most `most`."""
    return [match for match in matches if match.number <= most]


@few_examples
@given(st.data(), st.integers(1, 4), st.integers(1, 5))
def test_first_contiguous_matches_are_those_of_all(
    data: st.DataObject, most: int, step: int
) -> None:
    query = data.draw(queries())
    rows = Rows(data.draw(st.lists(LONG_PARTITION, max_size=2).map(tuple)))
    if data.draw(st.booleans()):
        query, rows = data.draw(cases_with_run_conditions())
    for longest in (False, True):
        full_query = replace(query, output=MatchOutput.LONGEST) if longest else query
        for algorithm in ALGORITHMS:
            if algorithm.find_obstacle(full_query.task()) is not None:
                continue
            outcome = run_algorithm(algorithm, full_query, rows)
            if isinstance(outcome, SearchFailure):
                continue  # the failure may come after the first matches
            expected = take_first(outcome, most)
            limited_query = limit_matches(full_query, most)
            assert run_algorithm(algorithm, limited_query, rows) == expected
            assert run_algorithm_in_pieces(algorithm, limited_query, rows, step) == expected


SELECTIONS = (EventSelection.SKIP_TILL_NEXT_MATCH, EventSelection.SKIP_TILL_ANY_MATCH)
OUTPUTS = (MatchOutput.PREFERRED, MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)


@pytest.mark.parametrize(("selection", "output"), [*product(SELECTIONS, OUTPUTS)])
def test_first_matches_with_event_selection_are_those_of_all(
    selection: EventSelection, output: MatchOutput
) -> None:
    shapes = st.one_of(general(), sequences())

    @few_examples
    @given(
        cases(shapes=shapes, selection=selection, output=output, depends_on_run=True, most_rows=7),
        st.integers(1, 4),
    )
    def run(case: tuple[SelectionQuery, WindowedRows], most: int) -> None:
        """Compare the first matches of each algorithm with all its matches."""
        query, rows = case
        full_task = build_task(query)
        for algorithm in ALGORITHMS:
            if algorithm.find_obstacle(full_task) is None:
                outcome = run_task(algorithm, full_task, rows)
                if isinstance(outcome, list):
                    first_matches = run_task(algorithm, replace(full_task, max_matches=most), rows)
                    assert first_matches == [match for match in outcome if match.number <= most]

    run()


def test_a_search_ends_with_the_last_requested_match() -> None:
    """The loop over 60 rows has 2 to the power of 60 matches."""
    full_task = build_task(make_query("A+", SELECTIONS[1], MatchOutput.ALL))
    rows = WindowedRows(read_rows(" ".join(["A"] * 60)))
    breadth_first = ALGORITHMS[2]
    outcome = run_task(breadth_first, replace(full_task, max_matches=3), rows)
    assert write_matches(outcome) == ["A0", "A0 A1", "A1"]
