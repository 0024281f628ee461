"""`FIRST k MATCHES`: those of all matches whose numbers are at most k, of each partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.task import Task
from tests.generators.selection import cases, general, sequences
from tests.properties.test_engines import (
    ALGORITHMS,
    LONGER,
    queries,
    random_examples,
    run_dependent,
)
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.contiguous import (
    Outcome,
    Query,
    Rows,
    run_algorithm,
    run_algorithm_in_pieces,
    words,
)
from tests.tasks.selection import WindowedRows, run_task, task, write_matches
from tests.tasks.selection import query as selected

few_examples = settings(random_examples, max_examples=examples(16))


@dataclass(frozen=True)
class FirstOf(Query):
    """The first matches of each partition."""

    most: int = 1

    def task(self) -> Task:
        return replace(super().task(), most_matches=self.most)


def first_of(query: Query, most: int) -> FirstOf:
    return FirstOf(**{name: getattr(query, name) for name in query.__dataclass_fields__}, most=most)


def first(found: Outcome, most: int) -> Outcome:
    """Those of all matches; a failure may be one of a later match."""
    return [one for one in found if one[1] <= most] if isinstance(found, list) else found


@few_examples
@given(st.data(), st.integers(1, 4), st.integers(1, 5))
def test_contiguous_matches(data: st.DataObject, most: int, step: int) -> None:
    query, rows = data.draw(queries()), Rows(data.draw(st.lists(LONGER, max_size=2).map(tuple)))
    if data.draw(st.booleans()):
        query, rows = data.draw(run_dependent())
    for longest in (False, True):
        asked = replace(query, output=MatchOutput.LONGEST) if longest else query
        for algorithm in ALGORITHMS:
            if algorithm.find_obstacle(asked.task()) is not None:
                continue
            whole = run_algorithm(algorithm, asked, rows)
            if isinstance(whole, list):
                assert run_algorithm(algorithm, first_of(asked, most), rows) == first(whole, most)
                again = run_algorithm_in_pieces(algorithm, first_of(asked, most), rows, step)
                assert again == first(whole, most)


SELECTIONS = (EventSelection.SKIP_TILL_NEXT_MATCH, EventSelection.SKIP_TILL_ANY_MATCH)
OUTPUTS = (MatchOutput.PREFERRED, MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)


@pytest.mark.parametrize(("selection", "output"), [*product(SELECTIONS, OUTPUTS)])
def test_event_selection(selection: EventSelection, output: MatchOutput) -> None:
    shapes = st.one_of(general(), sequences())

    @few_examples
    @given(
        cases(shapes=shapes, selection=selection, output=output, depends_on_run=True, most_rows=7),
        st.integers(1, 4),
    )
    def run(case: tuple[SelectionQuery, WindowedRows], most: int) -> None:
        whole, rows = task(case[0]), case[1]
        for algorithm in ALGORITHMS:
            if algorithm.find_obstacle(whole) is None:
                found = run_task(algorithm, whole, rows)
                if isinstance(found, list):
                    again = run_task(algorithm, replace(whole, most_matches=most), rows)
                    assert again == [one for one in found if one[1] <= most]

    run()


def test_a_search_ends_with_the_last_match_that_is_asked_for() -> None:
    """The loop over 60 rows has 2 to the power of 60 matches."""
    whole = task(selected("A+", SELECTIONS[1], MatchOutput.ALL))
    rows = WindowedRows(words(" ".join(["A"] * 60)))
    assert write_matches(run_task(ALGORITHMS[2], replace(whole, most_matches=3), rows)) == [
        "A0",
        "A0 A1",
        "A1",
    ]
