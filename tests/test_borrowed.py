"""Random partitions cut in two at every place, each part with the rows that it must borrow.

A search from all starting rows finds what the reference matcher finds over the whole, and fails
where that does.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.engine.backtracking import Backtracking
from matchrec.engine.breadth_first import BreadthFirst
from matchrec.engine.interface import Engine
from matchrec.engine.match import RunFailure
from matchrec.frontends.row_pattern import parse_row_pattern
from matchrec.nfa.closure import fold
from matchrec.nfa.facts import most_rows
from matchrec.output.sight import sight
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.glue import Compare, Comparison, Constant, Kind, Reduce, Reduction
from tests.engine_tasks import Query, Rows, listed, run_reference, words
from tests.test_engines import LONGER, queries, run_dependent, windowed

EXAMPLES = int(os.environ.get("MATCHREC_EXAMPLES", "30"))
Found = list[tuple[int, int, str]] | tuple[str, int, int]  # partition, first row, word; or failure


def found_in_slices(engine: Engine, query: Query, rows: Rows, cut: int) -> Found:
    """What is found where every partition is cut at a row."""
    found: list[tuple[int, int, str]] = []
    for partition, (offset, rows_here) in enumerate(zip(rows.offsets, rows.words, strict=False)):
        length = len(rows_here)
        for begin, end in ((0, min(cut, length)), (min(cut, length), length)):
            first, behind = lent(query, rows, partition, (begin, end))
            part = rows.part(partition, first, behind).partitions(query.variables)
            own = np.arange(first, behind)
            borrowed = (own < begin) | (own >= end)
            try:
                chunks = list(engine.search(query.task(), replace(part, borrowed=borrowed)))
            except RunFailure as failure:
                return failure.kind.name, partition, offset + first + failure.row
            for chunk in chunks:
                for _, _, at, word in listed(chunk, query.variables):
                    found.append((partition, offset + first + at, word))
    return found


def lent(query: Query, rows: Rows, partition: int, own: tuple[int, int]) -> tuple[int, int]:
    """From where to where a search from some rows of a partition may look."""
    task, (begin, end) = query.task(), own
    seen = sight(task, len(rows.columns[Kind.INTEGER]), ())
    folded = fold(task.program)
    assert seen is not None
    assert folded is not None
    longest = most_rows(folded)
    if rows.window_end is not None:
        last = max([end, *rows.window_end[partition][begin:end]])
    else:
        assert longest is not None
        last = end + max(0, longest - 1)
    length = len(rows.words[partition])
    return max(0, begin - seen.before), min(length, last + seen.behind)


def expected(query: Query, rows: Rows) -> Found:
    outcome = run_reference(query, rows)
    if isinstance(outcome, tuple):
        return outcome
    return [(partition, start, word) for partition, _, start, word in outcome]


@pytest.mark.parametrize("engine", [Backtracking(), BreadthFirst()], ids=["bt", "bf"])
@pytest.mark.parametrize("depends", [False, True], ids=["data", "run"])
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_slices_find_what_the_whole_has(engine: Engine, depends: bool, data: st.DataObject) -> None:
    query, rows = data.draw(queries()), Rows(data.draw(st.lists(LONGER, max_size=2).map(tuple)))
    if depends:
        query, rows = data.draw(run_dependent())
    if data.draw(st.booleans()):
        rows = data.draw(windowed(rows))
    folded = fold(query.task().program)
    assert folded is not None
    assume(not any(choice.guard for choices in folded for choice in choices))
    assume(rows.window_end is not None or most_rows(folded) is not None)
    query = replace(query, after_match=AfterMatchSkip(SkipTo.NEXT_ROW))
    for cut in range(max(map(len, rows.words), default=0) + 1):
        assert found_in_slices(engine, query, rows, cut) == expected(query, rows)


@pytest.mark.parametrize("engine", [Backtracking(), BreadthFirst()], ids=["bt", "bf"])
def test_a_failure_on_a_borrowed_row_fails_the_search_from_an_own_one(engine: Engine) -> None:
    """The sum is too large on the second row, but is asked first where the first way is tried."""
    too_large = Compare(
        Comparison.GREATER,
        Reduce(Reduction.SUM, None, 0, Kind.INTEGER),
        Constant(0, Kind.INTEGER),
    )
    pattern = parse_row_pattern("A B B | A C")
    query = Query(pattern, AfterMatchSkip(SkipTo.NEXT_ROW), glue={"C": too_large})
    columns = {Kind.INTEGER: ((2**62, 2**62, 0),), Kind.FLOATING: ()}
    rows = replace(words("A BC -"), columns=columns)
    assert expected(query, rows) == ("OVERFLOW", 0, 1)
    for cut in range(4):
        assert found_in_slices(engine, query, rows, cut) == ("OVERFLOW", 0, 1)
