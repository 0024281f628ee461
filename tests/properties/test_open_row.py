"""Contiguous searches over rows that come little by little: each match as soon as it is decided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.compile.lookaround import find_lookaround
from matchrec.conditions.types import Kind
from matchrec.engine.contiguous.backtracking import Backtracking
from matchrec.engine.contiguous.breadth_first import BreadthFirst
from matchrec.engine.contiguous.search import Room
from matchrec.engine.incremental.open_row import ask_open_row, before_open_row, with_open_row
from matchrec.engine.interface import Engine
from matchrec.engine.partitions import Frontier
from matchrec.plan.clauses import AfterMatchSkip, MatchOutput, SkipTo
from matchrec.plan.pattern import PartitionEnd, PartitionStart, show, walk
from tests.properties.test_engines import LONGER, queries, run_dependent, windowed
from tests.quick.scale import examples
from tests.tasks.contiguous import (
    Outcome,
    Query,
    Rows,
    listed,
    query,
    run_engine,
    run_reference,
    search,
    words,
)

ENGINES: list[Engine] = [
    Backtracking(),
    Backtracking(Room(rows=3, matches=2, memory=1)),
    BreadthFirst(),
    BreadthFirst(merge_runs=False),
]
MORE = (frozenset("ABC"),) * 40
random_examples = settings(
    max_examples=examples(100),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def in_pieces(
    engine: Engine, asked: Query, rows: Rows, sizes: list[int]
) -> tuple[list[tuple[int, int, int, str]], int]:
    """The matches of one partition whose rows come so many at a time, and the first undecided row.

    Windows end where they do among all rows, whether these are here or not, as if by the clock.
    """
    task, seen = asked.task(), find_lookaround(asked.task(), len(rows.columns[Kind.INTEGER]), ())
    assert seen is not None
    task = ask_open_row(task, len(rows.columns[Kind.INTEGER]))
    length, here = len(rows.words[0]), 0
    begin, frontier = 0, Frontier(0)
    found: list[tuple[int, int, int, str]] = []
    for size in sizes:
        here = min(here + size, length)
        known = with_blank_row(rows.part(0, begin, here)).partitions(asked.variables)
        open_row = max(0, here - begin - seen.after)
        grows = np.zeros(here - begin + 1, np.bool_)
        if rows.window_end is not None:
            ends = [*rows.window_end[0][begin:here], 0]
            grows = np.array([end > here for end in ends])
        given_rows = with_open_row(known, frontier, open_row, grows)
        chunks = list(before_open_row(search(engine, task, given_rows), frontier))
        matches = [one for chunk in chunks for one in listed(chunk, asked.variables)]
        found += [(0, number, begin + at, word) for _, number, at, word in matches]
        done = max(frontier.start - max(1, seen.before), 0)
        begin, frontier.start = begin + done, frontier.start - done
    return found, begin + frontier.start


def with_blank_row(rows: Rows) -> Rows:
    """The rows of one partition and one more, which satisfies nothing."""
    columns = {
        kind: tuple((*column, None) for column in columns) for kind, columns in rows.columns.items()
    }
    ends = None
    if rows.window_end is not None:
        ends = ((*rows.window_end[0], len(rows.words[0])),)
    return Rows(((*rows.words[0], frozenset()),), columns, ends)


def can_stream(asked: Query) -> bool:
    return not any(isinstance(one, PartitionEnd) for one in walk(asked.pattern))


def can_complete(asked: Query) -> bool:
    """Whether every run can; where `^` follows a row, none can."""
    anchors = (PartitionStart, PartitionEnd)
    return not any(isinstance(one, anchors) for one in walk(asked.pattern))


def decided(outcome: Outcome, start: int) -> list[tuple[int, int, int, str]] | None:
    """The matches that begin before a row; None where the search has failed."""
    if isinstance(outcome, tuple):
        return None
    return [one for one in outcome if one[2] < start]


SIZES = st.lists(st.integers(0, 3), max_size=12).map(lambda sizes: [*sizes, 99])


@random_examples
@given(st.data(), SIZES)
def test_what_is_found_so_far_is_what_the_reference_finds(
    data: st.DataObject, sizes: list[int]
) -> None:
    asked, rows = data.draw(queries().filter(can_stream)), Rows((data.draw(LONGER),))
    if data.draw(st.booleans()):
        asked, rows = data.draw(run_dependent().filter(lambda case: can_stream(case[0])))
        rows = rows.part(0, 0, len(rows.words[0]))
    if data.draw(st.booleans()):
        rows = data.draw(windowed(rows))
    if data.draw(st.booleans()):
        asked = replace(asked, output=MatchOutput.LONGEST)
    expected = run_reference(asked, rows)
    starts = set()
    for engine in ENGINES:
        if engine.supports(asked.task()) is not None or isinstance(expected, tuple):
            continue
        found, start = in_pieces(engine, asked, rows, sizes)
        assert found == decided(expected, start), (engine, show(asked.pattern))
        starts.add(start)
        if rows.window_end is not None and not find_lookaround(asked.task(), 2, ()).after:
            assert start == len(rows.words[0]), "each window has ended"
    assert len(starts) <= 1


@random_examples
@given(queries().filter(can_complete), LONGER, SIZES, st.sampled_from(SkipTo))
def test_what_is_undecided_depends_on_rows_that_may_follow(
    drawn: Query, here: tuple[frozenset[str], ...], sizes: list[int], to: SkipTo
) -> None:
    """Rows that satisfy all conditions complete whatever may be completed."""
    skip = AfterMatchSkip(SkipTo.NEXT_ROW if to is SkipTo.NEXT_ROW else SkipTo.PAST_LAST_ROW)
    asked = replace(drawn, after_match=skip)
    found, start = in_pieces(ENGINES[0], asked, Rows((here,)), sizes)
    ends, goes_on = (run_engine(ENGINES[0], asked, Rows((rows,))) for rows in (here, here + MORE))
    count = len(found)
    assert found == ends[:count] == goes_on[:count]
    if start < len(here):
        assert ends[count : count + 1] != goes_on[count : count + 1]


def test_a_loop_waits_and_a_last_variable_does_not() -> None:
    rows = words("A B B")
    assert in_pieces(ENGINES[0], query("A B+"), rows, [3]) == ([], 0)
    assert in_pieces(ENGINES[0], query("A B+?"), rows, [3]) == ([(0, 1, 0, "A B")], 3)
    assert in_pieces(ENGINES[0], query("A B | A"), words("A"), [1]) == ([], 0)
    assert in_pieces(ENGINES[0], query("A | A B"), words("A"), [1]) == ([(0, 1, 0, "A")], 1)
