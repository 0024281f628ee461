"""Contiguous searches over rows that come little by little: each match as soon as it is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.compile.executable import find_lookaround
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput, SkipTo
from matchrec.plan.pattern import PartitionEnd, PartitionStart, show_pattern, walk_pattern
from matchrec.search.partitions import Frontier
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from tests.properties.test_engines import LONGER, queries, run_dependent, windowed
from tests.quick.scale import examples
from tests.tasks.contiguous import (
    Outcome,
    Query,
    Rows,
    listed,
    query,
    run_algorithm,
    run_reference,
    search,
    words,
)

ALGORITHMS: list[SearchAlgorithm] = [
    SearchAlgorithm("backtracking"),
    SearchAlgorithm("backtracking", Capacity(mapped_rows=3, matches=2, initial_rows=1)),
    SearchAlgorithm("breadth_first"),
]
MORE = (frozenset("ABC"),) * 40
random_examples = settings(
    max_examples=examples(32),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def in_pieces(
    algorithm: SearchAlgorithm, asked: Query, rows: Rows, sizes: list[int]
) -> tuple[list[tuple[int, int, int, str]], list[int]]:
    """The matches of partitions whose rows come so many at a time, and their first undecided rows.

    Of each further partition the sizes come in turn from a later one on. Windows end where they do
    among all rows, whether these are here or not, as if by the clock.
    """
    task, seen = asked.task(), find_lookaround(asked.task(), len(rows.columns[Kind.INTEGER]), ())
    assert seen is not None
    come = [Come(len(words)) for words in rows.words]
    found: list[tuple[int, int, int, str]] = []
    for call in range(len(sizes) + 1):
        for place, one in enumerate(come):
            one.here += sizes[(call + place) % len(sizes)] if call < len(sizes) else one.length
            one.here = min(one.here, one.length)
        parts = [rows.part(p, one.begin, one.here) for p, one in enumerate(come)]
        known = joined(parts).partitions(asked.variables)
        edges = [max(0, one.here - one.begin - seen.after) for one in come]
        edge, start = (
            known.starts[:-1] + np.array(places, np.int64)
            for places in (edges, [one.start for one in come])
        )
        number = np.array([one.number for one in come], np.int64)
        frontier = Frontier(start, edge, edge, number, np.zeros(len(come), np.int64))
        partitions = replace(known, frontier=frontier)
        matches = [
            m
            for chunk in search(algorithm, task, partitions)
            for m in listed(chunk, asked.variables)
        ]
        for p, number, at, word in matches:
            found.append(
                (p, number, rows.offsets[p] + come[p].begin + at - int(known.starts[p]), word)
            )
        assert partitions.frontier is not None
        for p, one in enumerate(come):
            one.number = int(partitions.frontier.number[p])
            start = int(partitions.frontier.start[p] - known.starts[p])
            gone = max(start - max(1, seen.before), 0)
            one.begin, one.start = one.begin + gone, start - gone
    return sorted(found), [one.begin + one.start for one in come]


@dataclass
class Come:
    """How much of a partition has come, from where on it is kept, and how far its search is."""

    length: int
    here: int = 0
    begin: int = 0
    start: int = 0
    number: int = 0


def joined(parts: list[Rows]) -> Rows:
    """Partitions one after the other."""
    columns = {
        kind: tuple(
            tuple(value for part in parts for value in part.columns[kind][i])
            for i in range(len(parts[0].columns[kind]))
        )
        for kind in parts[0].columns
    }
    ends = None
    if parts[0].window_end is not None:
        ends = tuple(part.window_end[0] for part in parts if part.window_end is not None)
    return Rows(tuple(part.words[0] for part in parts), columns, ends)


def can_stream(asked: Query) -> bool:
    return not any(isinstance(one, PartitionEnd) for one in walk_pattern(asked.pattern))


def can_complete(asked: Query) -> bool:
    """Whether every run can; where `^` follows a row, none can."""
    anchors = (PartitionStart, PartitionEnd)
    return not any(isinstance(one, anchors) for one in walk_pattern(asked.pattern))


def decided(
    outcome: Outcome, rows: Rows, starts: list[int]
) -> list[tuple[int, int, int, str]] | None:
    """The matches that begin before a row of each partition; None where the search has failed."""
    if isinstance(outcome, tuple):
        return None
    return [one for one in outcome if one[2] - rows.offsets[one[0]] < starts[one[0]]]


SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@random_examples
@given(st.data(), SIZES)
def test_what_is_found_so_far_is_what_the_reference_finds(
    data: st.DataObject, sizes: list[int]
) -> None:
    words_of_rows = data.draw(st.lists(LONGER, min_size=1, max_size=3))
    asked, rows = data.draw(queries().filter(can_stream)), Rows(tuple(words_of_rows))
    if data.draw(st.booleans()):
        asked, rows = data.draw(run_dependent().filter(lambda case: can_stream(case[0])))
    if data.draw(st.booleans()):
        rows = data.draw(windowed(rows))
    if data.draw(st.booleans()):
        asked = replace(asked, output=MatchOutput.LONGEST)
    expected = run_reference(asked, rows)
    starts = set()
    for algorithm in ALGORITHMS:
        if algorithm.find_obstacle(asked.task()) is not None or isinstance(expected, tuple):
            continue
        found, ends = in_pieces(algorithm, asked, rows, sizes)
        assert found == decided(expected, rows, ends), (algorithm, show_pattern(asked.pattern))
        starts.add(tuple(ends))
        if rows.window_end is not None and not find_lookaround(asked.task(), 2, ()).after:
            assert ends == [*map(len, rows.words)], "each window has ended"
    assert len(starts) <= 1


@random_examples
@given(queries().filter(can_complete), LONGER, SIZES, st.sampled_from(SkipTo))
def test_what_is_undecided_depends_on_rows_that_may_follow(
    drawn: Query, here: tuple[frozenset[str], ...], sizes: list[int], to: SkipTo
) -> None:
    """Rows that satisfy all conditions complete whatever may be completed."""
    skip = AfterMatchSkip(SkipTo.NEXT_ROW if to is SkipTo.NEXT_ROW else SkipTo.PAST_LAST_ROW)
    asked = replace(drawn, after_match=skip)
    found, (start,) = in_pieces(ALGORITHMS[0], asked, Rows((here,)), sizes)
    ends, goes_on = (
        run_algorithm(ALGORITHMS[0], asked, Rows((rows,))) for rows in (here, here + MORE)
    )
    count = len(found)
    assert found == ends[:count] == goes_on[:count]
    if start < len(here):
        assert ends[count : count + 1] != goes_on[count : count + 1]


def test_a_loop_waits_and_a_last_variable_does_not() -> None:
    rows = words("A B B")
    assert in_pieces(ALGORITHMS[0], query("A B+"), rows, [3]) == ([], [0])
    assert in_pieces(ALGORITHMS[0], query("A B+?"), rows, [3]) == ([(0, 1, 0, "A B")], [3])
    assert in_pieces(ALGORITHMS[0], query("A B | A"), words("A"), [1]) == ([], [0])
    assert in_pieces(ALGORITHMS[0], query("A | A B"), words("A"), [1]) == ([(0, 1, 0, "A")], [1])
