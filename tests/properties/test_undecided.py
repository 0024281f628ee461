"""Contiguous searches over rows that arrive in pieces output each match when it is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.compile.lookaround import find_lookaround
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput, SkipTo
from matchrec.plan.pattern import PartitionEnd, PartitionStart, show_pattern, walk_pattern
from matchrec.search.partitions import Frontier
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from tests.properties.test_algorithms import (
    LONG_PARTITION,
    add_windows,
    cases_with_run_conditions,
    queries,
)
from tests.quick.scale import examples
from tests.tasks.contiguous import (
    Outcome,
    Query,
    Rows,
    SearchFailure,
    WordMatch,
    list_matches,
    make_query,
    read_rows,
    run_algorithm,
    run_reference,
    search,
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


@dataclass
class Arrival:
    """The rows of a partition that have arrived, and the state of its search."""

    length: int  # the number of rows of the whole partition
    arrived: int = 0  # the number of rows that have arrived
    begin: int = 0  # the first row that is kept
    start: int = 0  # the row at which the search goes on, counted from `begin`
    number: int = 0  # the number of matches found so far


def search_in_pieces(
    algorithm: SearchAlgorithm, query: Query, rows: Rows, sizes: list[int]
) -> tuple[list[WordMatch], list[int]]:
    """Search partitions whose rows arrive in pieces.

    A window ends at the same row whether all rows have arrived or not, as if by a clock.

    Args:
        algorithm: the algorithm of the search.
        query: the query.
        rows: all rows.
        sizes: the numbers of rows that arrive at a time. Each partition begins with another one of
            the sizes, and goes round. All other rows arrive at the end.

    Returns:
        The matches, and for each partition the first starting row that is undecided.
    """
    task = query.task()
    lookaround = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ())
    assert lookaround is not None
    arrivals = [Arrival(len(words)) for words in rows.words]
    matches: list[WordMatch] = []
    for call in range(len(sizes) + 1):
        for partition, arrival in enumerate(arrivals):
            is_last_call = call == len(sizes)
            size = arrival.length if is_last_call else sizes[(call + partition) % len(sizes)]
            arrival.arrived = min(arrival.arrived + size, arrival.length)
        parts = [
            rows.part(partition, arrival.begin, arrival.arrived)
            for partition, arrival in enumerate(arrivals)
        ]
        arrived = join_partitions(parts).partitions(query.variables)
        edges = [
            max(0, arrival.arrived - arrival.begin - lookaround.rows_after) for arrival in arrivals
        ]
        edge = arrived.starts[:-1] + np.array(edges, np.int64)
        start = arrived.starts[:-1] + np.array([arrival.start for arrival in arrivals], np.int64)
        number = np.array([arrival.number for arrival in arrivals], np.int64)
        frontier = Frontier(start, edge, edge, number, np.zeros(len(arrivals), np.int64))
        partitions = replace(arrived, frontier=frontier)
        for chunk in search(algorithm, task, partitions):
            for match in list_matches(chunk, query.variables):
                row_in_part = match.start - int(arrived.starts[match.partition])
                begin = rows.offsets[match.partition] + arrivals[match.partition].begin
                matches.append(match._replace(start=begin + row_in_part))
        assert partitions.frontier is not None
        for partition, arrival in enumerate(arrivals):
            arrival.number = int(partitions.frontier.match_number[partition])
            new_start = int(partitions.frontier.next_start[partition] - arrived.starts[partition])
            dropped = max(new_start - max(1, lookaround.rows_before), 0)
            arrival.begin += dropped
            arrival.start = new_start - dropped
    return sorted(matches), [arrival.begin + arrival.start for arrival in arrivals]


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


def can_stream(query: Query) -> bool:
    """Return whether a stream can answer a query: no `$` waits for the end of a partition."""
    return not any(isinstance(node, PartitionEnd) for node in walk_pattern(query.pattern))


def can_complete(query: Query) -> bool:
    """Return whether some rows complete every run. A run can never pass a `^` after a row."""
    anchors = (PartitionStart, PartitionEnd)
    return not any(isinstance(node, anchors) for node in walk_pattern(query.pattern))


def list_decided(outcome: Outcome, rows: Rows, starts: list[int]) -> list[WordMatch] | None:
    """Return the matches that begin before the first undecided row of each partition.

    None if the search has failed.
    """
    if isinstance(outcome, SearchFailure):
        return None
    return [
        match
        for match in outcome
        if match.start - rows.offsets[match.partition] < starts[match.partition]
    ]


SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@random_examples
@given(st.data(), SIZES)
def test_what_is_found_so_far_is_what_the_reference_finds(
    data: st.DataObject, sizes: list[int]
) -> None:
    words_of_rows = data.draw(st.lists(LONG_PARTITION, min_size=1, max_size=3))
    query = data.draw(queries().filter(can_stream))
    rows = Rows(tuple(words_of_rows))
    if data.draw(st.booleans()):
        query, rows = data.draw(
            cases_with_run_conditions().filter(lambda case: can_stream(case[0]))
        )
    if data.draw(st.booleans()):
        rows = data.draw(add_windows(rows))
    if data.draw(st.booleans()):
        query = replace(query, output=MatchOutput.LONGEST)
    expected = run_reference(query, rows)
    starts = set()
    for algorithm in ALGORITHMS:
        if algorithm.find_obstacle(query.task()) is not None or isinstance(expected, SearchFailure):
            continue
        matches, ends = search_in_pieces(algorithm, query, rows, sizes)
        assert matches == list_decided(expected, rows, ends), (
            algorithm,
            show_pattern(query.pattern),
        )
        starts.add(tuple(ends))
        if rows.window_end is not None and not find_lookaround(query.task(), 2, ()).rows_after:
            assert ends == [*map(len, rows.words)], "each window has ended"
    assert len(starts) <= 1


@random_examples
@given(queries().filter(can_complete), LONG_PARTITION, SIZES, st.sampled_from(SkipTo))
def test_what_is_undecided_depends_on_rows_that_may_follow(
    random_query: Query, rows: tuple[frozenset[str], ...], sizes: list[int], to: SkipTo
) -> None:
    """Rows that satisfy all conditions complete whatever may be completed."""
    skip = AfterMatchSkip(SkipTo.NEXT_ROW if to is SkipTo.NEXT_ROW else SkipTo.PAST_LAST_ROW)
    query = replace(random_query, after_match=skip)
    matches, (start,) = search_in_pieces(ALGORITHMS[0], query, Rows((rows,)), sizes)
    matches_at_end, matches_with_more = (
        run_algorithm(ALGORITHMS[0], query, Rows((all_rows,))) for all_rows in (rows, rows + MORE)
    )
    count = len(matches)
    assert matches == matches_at_end[:count] == matches_with_more[:count]
    if start < len(rows):
        assert matches_at_end[count : count + 1] != matches_with_more[count : count + 1]


def test_a_loop_waits_and_a_last_variable_does_not() -> None:
    rows = read_rows("A B B")
    assert search_in_pieces(ALGORITHMS[0], make_query("A B+"), rows, [3]) == ([], [0])
    assert search_in_pieces(ALGORITHMS[0], make_query("A B+?"), rows, [3]) == (
        [(0, 1, 0, "A B")],
        [3],
    )
    assert search_in_pieces(ALGORITHMS[0], make_query("A B | A"), read_rows("A"), [1]) == ([], [0])
    assert search_in_pieces(ALGORITHMS[0], make_query("A | A B"), read_rows("A"), [1]) == (
        [(0, 1, 0, "A")],
        [1],
    )
