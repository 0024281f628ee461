"""What optimises event selection, switched off: the same matches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from matchrec.engine.engines import Backtracking, BreadthFirst
from matchrec.engine.interface import Engine, Optimisations, Room
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import show
from tests.generators.selection import cases, general, sequences
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.compiled import cloned, compiled
from tests.tasks.selection import (
    ANY,
    NEXT,
    STRICT,
    Outcome,
    WindowedRows,
    plain_rows,
    query,
    run_engine,
    run_task,
    task,
    texts,
)

EXAMPLES = examples(100) // 8
ENGINES: list[Engine] = [
    Backtracking(),
    BreadthFirst(),
    BreadthFirst(room=Room(rows=3, matches=2, memory=1)),
]
ALL, NON_OVERLAPPING = MatchOutput.ALL, MatchOutput.NON_OVERLAPPING
LATE_WINDOW = Optimisations(push_window=False)
CLONING = Optimisations(constrain_proceed=False)
APART = Optimisations(merge_runs=False)
NONE = Optimisations(push_window=False, constrain_proceed=False, merge_runs=False)


def without(
    engine: Engine, query: SelectionQuery, rows: WindowedRows, optimisations: Optimisations
) -> Outcome:
    asked = replace(task(query), optimisations=optimisations)
    if asked.selects and not optimisations.constrain_proceed:
        asked = replace(asked, pattern=cloned(asked.pattern))
    return run_task(engine, asked, rows)


@pytest.mark.parametrize("depends_on_run", [False, True])
@pytest.mark.parametrize("output", [ALL, NON_OVERLAPPING])
@pytest.mark.parametrize("selection", EventSelection)
@pytest.mark.parametrize("shapes", [sequences(), general()], ids=["sequences", "patterns"])
def test_results_are_the_same(
    shapes: object, selection: EventSelection, output: MatchOutput, depends_on_run: bool
) -> None:
    switched = [LATE_WINDOW, APART] + ([CLONING, NONE] if selection is not NEXT else [])

    @settings(
        max_examples=max(EXAMPLES, 1),
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(
        cases(
            shapes=shapes,
            selection=selection,
            output=output,
            depends_on_run=depends_on_run,
            most_rows=6,
        )
    )
    def run(case: tuple[SelectionQuery, WindowedRows]) -> None:
        query, rows = case
        for engine in ENGINES:
            expected = run_engine(engine, query, rows)
            for optimisations in switched:
                found = without(engine, query, rows, optimisations)
                assert found == expected, (engine, optimisations, show(query.pattern))

    run()


def test_a_run_that_outlives_its_window_gives_no_match() -> None:
    rows = plain_rows("A A B B", 2, 3, 3, 4)
    for engine in ENGINES:
        assert texts(without(engine, query("A B", ANY), rows, LATE_WINDOW)) == ["A1 B2"]


def test_with_cloning_a_run_waits_in_each_component_by_itself() -> None:
    """`A C* B`: after A, one run in the loop and one before B."""
    folding = cloned(compiled(query("A C* B", ANY).pattern, ("A", "B", "C"), ANY)).folding
    a, b, c = range(3)
    mapped = [[(one.variable, one.target) for one in choices] for choices in folding.choices]
    assert mapped == [[(a, 1), (a, 2)], [(c, 1), (c, 2)], [(b, 3)], [(None, None)]]
    assert [one.again for one in folding.choices[1]] == [True, False]


@pytest.mark.parametrize("selection", [STRICT, ANY])
def test_cloning_at_the_end_and_the_start_of_a_partition(selection: EventSelection) -> None:
    for text in ("^ A+ B* $", "A+ $", "(^ A | B)+", "A* (B | $)"):
        for words in ("A A B", "A B A", "AB AB AB", "B A - A"):
            rows = plain_rows(words)
            for engine in ENGINES:
                expected = run_engine(engine, query(text, selection), rows)
                assert without(engine, query(text, selection), rows, NONE) == expected, text


def test_cloning_does_not_know_which_row_had_to_be_taken() -> None:
    """Why skip till next match needs constrained proceed edges: A2 may not be skipped."""
    constrained = run_engine(BreadthFirst(), query("A+ B", NEXT), plain_rows("A A B"))
    cloned = without(BreadthFirst(), query("A+ B", NEXT), plain_rows("A A B"), CLONING)
    assert texts(constrained) == ["A0 A1 B2", "A1 B2"]
    assert texts(cloned) == ["A0 A1 B2", "A0 B2", "A1 B2"]
