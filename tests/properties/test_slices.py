"""Random partitions cut in two at every place, each part with the rows that it must borrow.

The searches of both parts find what the reference matcher finds over the whole, and fail where that
does; or they say that they cannot know which rows begin a match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from matchrec.compile.lookaround import find_lookaround
from matchrec.conditions.operations import Comparison, Reduction
from matchrec.conditions.run_condition import Compare, Constant, Reduce
from matchrec.conditions.types import Kind
from matchrec.engine.compiled import compile_task
from matchrec.engine.contiguous.backtracking import Backtracking
from matchrec.engine.contiguous.breadth_first import BreadthFirst
from matchrec.engine.interface import Engine
from matchrec.engine.matches import FailureKind, RunFailure
from matchrec.engine.partitions import Frontier, IntArray
from matchrec.engine.skipping import longest_leap
from matchrec.engine.slices.starting_rows import (
    LENT,
    LENT_EARLY,
    OWN,
    SliceOverlap,
    Slices,
    SliceSearch,
    find_starting_rows,
)
from matchrec.frontends.row_pattern.grammar import parse_row_pattern
from matchrec.plan.clauses import ONE_OF_A_ROW, AfterMatchSkip, SkipTo
from tests.properties.test_engines import LONGER, VARIABLES, queries, run_dependent, windowed
from tests.quick.scale import examples
from tests.tasks.contiguous import Outcome, Query, Rows, listed, run_reference, search, words

EXAMPLES = max(examples(15), 3)
Found = list[tuple[int, str]] | tuple[str, int]  # first row, word; or failure and its row
CANNOT_KNOW = (FailureKind.UNKNOWN_START.name, -1)
ENGINES = pytest.mark.parametrize("engine", [Backtracking(), BreadthFirst()], ids=["bt", "bf"])
DEPENDS = pytest.mark.parametrize("depends", [False, True], ids=["data", "run"])

LIMITS = (1, 3), (0, 3), (0, 5), (0, 4)  # of leaps, more, step, and how far two cuts lie apart
TWICE = st.lists(st.sets(st.sampled_from(VARIABLES)).map(frozenset), min_size=10, max_size=24)
DENSE = "A B{1,4}", "(A | C){1,3} B C?", "A{2} B{1,2} | C B{1,3}", "A B{1,2}? C{0,3}"
OFTEN = st.sampled_from(["ABC", "ABC", "AB", "BC", "AC", "A", "B"]).map(frozenset)
GAPS = st.sampled_from([0, 1, 1, 3])  # between the times of rows

random_examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class Cutting:
    """How one partition is cut: in front of which rows.

    leaps: see `SliceOverlap`. more: how many rows each slice borrows in front that it need not.
    step: how many rows come to the engine at once, 0 for all.
    """

    cuts: tuple[int, ...]
    leaps: int = 1
    more: int = 0
    step: int = 0


def found_in_slices(engine: Engine, query: Query, rows: Rows, cutting: Cutting) -> Found:
    """What is found in the one partition of `rows`."""
    found: list[tuple[int, str]] = []
    length = len(rows.words[0])
    overlap = overlap_of(query, rows, cutting.leaps)
    for own in pairwise((0, *cutting.cuts, length)):
        begin, end, kinds = lent(rows, own, overlap, cutting.more)
        if begin == end:
            continue
        part = SlicedRows(rows.part(0, begin, end), kinds, overlap)
        outcome = found_in_pieces(engine, query, part, cutting.step)
        if isinstance(outcome, tuple):
            kind, row = outcome
            return CANNOT_KNOW if kind == CANNOT_KNOW[0] else (kind, begin + row)
        found += [(begin + at, word) for at, word in outcome]
    return found


@dataclass(frozen=True)
class SlicedRows:
    """The rows of a slice, and what each of them is."""

    rows: Rows
    kinds: IntArray
    overlap: SliceOverlap


def found_in_pieces(engine: Engine, query: Query, slice_: SlicedRows, step: int) -> Found:
    """What is found in a slice that comes in pieces, so many rows at once."""
    task, rows, kinds = query.task(), slice_.rows, slice_.kinds
    seen = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ())
    assert seen is not None
    every_row = replace(
        task,
        after_match=AfterMatchSkip(SkipTo.NEXT_ROW),
        windowed=rows.window_end is not None,
    )
    leaps = SliceSearch(slice_.overlap, every_row, engine.choose(every_row))
    found: list[tuple[int, str]] = []
    begin, here, length, frontier = 0, 0, len(kinds), Frontier(0)
    while here < length:
        here = min(here + (step or length), length)
        frontier.edge = here - begin - seen.after if here < length else None
        part = rows.part(0, begin, here).partitions(query.variables)
        part = replace(part, frontier=frontier)
        try:
            slices = Slices(part, kinds[begin:here], np.zeros(1, np.int64))
            part = replace(part, searched=find_starting_rows(task, leaps, slices))
            chunks = list(search(engine, task, part))
        except RunFailure as failure:
            return failure.kind.name, begin + failure.row
        for chunk in chunks:
            found += [(begin + at, word) for _, _, at, word in listed(chunk, query.variables)]
        done = max(frontier.start - max(1, seen.before), 0)
        begin, frontier.start = begin + done, frontier.start - done
    return found


def overlap_of(query: Query, rows: Rows, leaps: int) -> SliceOverlap:
    """How far a query looks; where there are windows, behind them."""
    task = query.task()
    seen, longest = find_lookaround(task, len(rows.columns[Kind.INTEGER]), ()), task.pattern.longest
    assert seen is not None
    leap = longest_leap(query.after_match, longest)
    if rows.window_end is not None:
        return SliceOverlap(seen.before, seen.after, 1 if leap == 1 else None, leaps)
    assert longest is not None
    return SliceOverlap(seen.before, max(0, longest - 1) + seen.after, leap, leaps)


def lent(
    rows: Rows, own: tuple[int, int], overlap: SliceOverlap, more: int
) -> tuple[int, int, IntArray]:
    """From where to where a slice has rows, and what each is."""
    begin, end = own
    length, early = len(rows.words[0]), 0
    first, last = max(0, begin - overlap.borrowed_before - more), end
    if rows.window_end is not None:
        ends = rows.window_end[0]
        last = max([end, *ends[begin:end]])
        if overlap.leap is None:
            while first and ends[first - 1] > begin:
                first -= 1
            early = ends[first - 1] if first else 0
    last = min(last + (overlap.after or 0), length)
    here = np.arange(first, last)
    kinds = np.where((here >= begin) & (here < end), OWN, LENT)
    return first, last, np.where(here < min(early, begin), LENT_EARLY, kinds)


def expected(query: Query, rows: Rows) -> Found:
    outcome: Outcome = run_reference(query, rows)
    if isinstance(outcome, tuple):
        return outcome[0], outcome[2]
    return [(start, word) for _, _, start, word in outcome]


@st.composite
def cases(draw: st.DrawFn, depends: bool) -> tuple[Query, Rows]:
    """A query of bounded lookaround that can be asked of slices, and one partition."""
    if depends:
        query, rows = draw(run_dependent())
        assume(rows.words)
        rows = rows.part(0, 0, len(rows.words[0]))
    else:
        query, rows = draw(queries()), Rows((draw(st.one_of(LONGER, TWICE.map(tuple))),))
        output = draw(st.sampled_from(ONE_OF_A_ROW))
        query = replace(query, output=output)
    if draw(st.booleans()):
        rows = draw(windowed(rows))
    pattern = query.task().pattern
    assume(not pattern.has_anchors)
    assume(not compile_task(query.task(), 2).counts_matches)
    assume(rows.window_end is not None or pattern.longest is not None)
    return query, rows


@st.composite
def dense_cases(draw: st.DrawFn) -> tuple[Query, Rows]:
    """Patterns and partitions whose matches contain most rows."""
    pattern = parse_row_pattern(draw(st.sampled_from(DENSE)))
    to = draw(st.sampled_from([SkipTo.PAST_LAST_ROW, SkipTo.LAST]))
    skip = AfterMatchSkip(to, "B" if to is SkipTo.LAST else None)
    length = draw(st.integers(20, 40))
    words_of = draw(st.lists(OFTEN, min_size=length, max_size=length))
    times = np.cumsum(draw(st.lists(GAPS, min_size=length, max_size=length)))
    ends = np.searchsorted(times, times + draw(st.integers(2, 4)))
    window_end = (tuple(map(int, ends)),) if draw(st.booleans()) else None
    return Query(pattern, skip), Rows((tuple(words_of),), window_end=window_end)


@ENGINES
@DEPENDS
@random_examples
@given(st.data())
def test_slices_find_what_the_whole_has(engine: Engine, depends: bool, data: st.DataObject) -> None:
    query, rows = data.draw(cases(depends))
    query = replace(query, after_match=AfterMatchSkip(SkipTo.NEXT_ROW))
    step = data.draw(st.integers(0, 5))
    for cut in range(len(rows.words[0]) + 1):
        found = found_in_slices(engine, query, rows, Cutting((cut,), step=step))
        assert found == expected(query, rows)


@ENGINES
@DEPENDS
def test_slices_find_it_where_skipping_depends_on_matches(engine: Engine, depends: bool) -> None:
    told: Counter[bool] = Counter()

    @random_examples
    @given(st.data())
    def agrees(data: st.DataObject) -> None:
        query, rows = data.draw(cases(depends))
        assume(query.after_match.to is not SkipTo.NEXT_ROW)
        told.update(agreements(engine, data, query, rows))

    agrees()
    assert told[True] > 9 * told[False], told


@ENGINES
def test_slices_find_it_where_most_rows_are_in_matches(engine: Engine) -> None:
    """Ways from one starting row to the next meet late, or never."""
    told: Counter[bool] = Counter()

    @random_examples
    @given(st.data(), dense_cases())
    def agrees(data: st.DataObject, case: tuple[Query, Rows]) -> None:
        told.update(agreements(engine, data, *case))

    agrees()
    assert told[True] > told[False] > 0, told


def agreements(engine: Engine, data: st.DataObject, query: Query, rows: Rows) -> Iterator[bool]:
    """For each cut whether slices know what they find, which then is what the whole has."""
    leaps, more, step, apart = (data.draw(st.integers(*two)) for two in LIMITS)
    length = len(rows.words[0])
    for cut in range(length + 1):
        cutting = Cutting((cut, min(cut + apart, length)), leaps, more, step)
        found = found_in_slices(engine, query, rows, cutting)
        assert found in (expected(query, rows), CANNOT_KNOW)
        yield found != CANNOT_KNOW


@ENGINES
def test_a_failure_on_a_borrowed_row_fails_the_search_from_an_own_one(engine: Engine) -> None:
    """The sum is too large on the second row, but is asked first where the first way is tried."""
    too_large = Compare(
        Comparison.GREATER,
        Reduce(Reduction.SUM, None, 0, Kind.INTEGER),
        Constant(0, Kind.INTEGER),
    )
    pattern = parse_row_pattern("A B B | A C")
    query = Query(pattern, AfterMatchSkip(SkipTo.NEXT_ROW), run_conditions={"C": too_large})
    rows = words("A BC -")
    rows.columns[Kind.INTEGER] = ((2**62, 2**62, 0),)
    assert expected(query, rows) == ("OVERFLOW", 1)
    for cut in range(4):
        assert found_in_slices(engine, query, rows, Cutting((cut,))) == ("OVERFLOW", 1)
