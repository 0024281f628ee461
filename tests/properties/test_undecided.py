"""Contiguous searches over rows that arrive in pieces find each match as soon as it is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.compile.compiled_query import find_lookaround
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
    list_matches,
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


PieceMatch = tuple[int, int, int, str]  # partition, match number, first row, variables


@dataclass
class Arrival:
    """How much of a partition has arrived, and how far its search is."""

    length: int  # how many rows the partition will have
    arrived: int = 0  # how many of them have arrived
    begin: int = 0  # the first row that is kept
    start: int = 0  # the row at which the search goes on, counted from `begin`
    number: int = 0  # how many matches were found


def search_in_pieces(
    algorithm: SearchAlgorithm, asked: Query, rows: Rows, sizes: list[int]
) -> tuple[list[PieceMatch], list[int]]:
    """Return the matches of partitions whose rows arrive in pieces, and what is undecided.

    Windows end where they do among all rows, whether these have arrived or not, as if by the clock.

    Args:
        algorithm: the algorithm of the search.
        asked: the query.
        rows: all rows.
        sizes: how many rows arrive at a time. For each further partition, the sizes begin one
            later, and go round.

    Returns:
        The matches, and for each partition the first starting row that is undecided.
    """
    task = asked.task()
    lookaround = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ())
    assert lookaround is not None
    arrivals = [Arrival(len(words)) for words in rows.words]
    found: list[PieceMatch] = []
    for call in range(len(sizes) + 1):
        for partition, arrival in enumerate(arrivals):
            is_last_call = call == len(sizes)
            size = arrival.length if is_last_call else sizes[(call + partition) % len(sizes)]
            arrival.arrived = min(arrival.arrived + size, arrival.length)
        parts = [
            rows.part(partition, arrival.begin, arrival.arrived)
            for partition, arrival in enumerate(arrivals)
        ]
        known = join_partitions(parts).partitions(asked.variables)
        edges = [max(0, arrival.arrived - arrival.begin - lookaround.after) for arrival in arrivals]
        edge = known.starts[:-1] + np.array(edges, np.int64)
        start = known.starts[:-1] + np.array([arrival.start for arrival in arrivals], np.int64)
        number = np.array([arrival.number for arrival in arrivals], np.int64)
        frontier = Frontier(start, edge, edge, number, np.zeros(len(arrivals), np.int64))
        partitions = replace(known, frontier=frontier)
        for chunk in search(algorithm, task, partitions):
            for partition, match_number, row, word in list_matches(chunk, asked.variables):
                row_in_part = row - int(known.starts[partition])
                first_row = rows.offsets[partition] + arrivals[partition].begin + row_in_part
                found.append((partition, match_number, first_row, word))
        assert partitions.frontier is not None
        for partition, arrival in enumerate(arrivals):
            arrival.number = int(partitions.frontier.number[partition])
            new_start = int(partitions.frontier.start[partition] - known.starts[partition])
            dropped = max(new_start - max(1, lookaround.before), 0)
            arrival.begin += dropped
            arrival.start = new_start - dropped
    return sorted(found), [arrival.begin + arrival.start for arrival in arrivals]


def join_partitions(parts: list[Rows]) -> Rows:
    """Return partitions one after the other."""
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
    """Return whether a stream can answer a query: no `$` waits for the end of a partition."""
    return not any(isinstance(node, PartitionEnd) for node in walk_pattern(asked.pattern))


def can_complete(asked: Query) -> bool:
    """Return whether some rows complete every run. A run can never pass a `^` after a row."""
    anchors = (PartitionStart, PartitionEnd)
    return not any(isinstance(node, anchors) for node in walk_pattern(asked.pattern))


def list_decided(outcome: Outcome, rows: Rows, starts: list[int]) -> list[PieceMatch] | None:
    """Return the matches that begin before the first undecided row of each partition.

    None if the search has failed.
    """
    if isinstance(outcome, tuple):
        return None
    return [
        (partition, number, row, word)
        for partition, number, row, word in outcome
        if row - rows.offsets[partition] < starts[partition]
    ]


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
        found, ends = search_in_pieces(algorithm, asked, rows, sizes)
        assert found == list_decided(expected, rows, ends), (algorithm, show_pattern(asked.pattern))
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
    found, (start,) = search_in_pieces(ALGORITHMS[0], asked, Rows((here,)), sizes)
    ends, goes_on = (
        run_algorithm(ALGORITHMS[0], asked, Rows((rows,))) for rows in (here, here + MORE)
    )
    count = len(found)
    assert found == ends[:count] == goes_on[:count]
    if start < len(here):
        assert ends[count : count + 1] != goes_on[count : count + 1]


def test_a_loop_waits_and_a_last_variable_does_not() -> None:
    rows = words("A B B")
    assert search_in_pieces(ALGORITHMS[0], query("A B+"), rows, [3]) == ([], [0])
    assert search_in_pieces(ALGORITHMS[0], query("A B+?"), rows, [3]) == ([(0, 1, 0, "A B")], [3])
    assert search_in_pieces(ALGORITHMS[0], query("A B | A"), words("A"), [1]) == ([], [0])
    assert search_in_pieces(ALGORITHMS[0], query("A | A B"), words("A"), [1]) == (
        [(0, 1, 0, "A")],
        [1],
    )
