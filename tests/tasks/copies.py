"""The second size of random tests: what is found in one example is found in each of many copies.

The rows of a small example are repeated, as partitions of their own or one copy after another in
one long partition, so that buffers grow and chunks end anywhere. What an engine finds there is what
it has found in the example, which a slow reference has checked, as often and so many rows on.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import currently_in_test_context

from matchrec.automaton.program import A_MATCH
from matchrec.compile.executable import find_lookaround
from matchrec.conditions.run_condition import TriedMatchNumber, parts_of
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.coverage import Counts, Coverable, find_matches
from matchrec.search.interface import Room, Task
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, Frontier, IntArray, Partitions
from matchrec.search.strategies import Strategy
from tests.quick import scale
from tests.quick.scale import copies_of
from tests.tasks.by_python import as_python_runs, compare_with_python, rows_of

AnyArray = npt.NDArray[Any]
LARGE = 40_000  # rows: more than 16 bits count
MIDDLE = 2 * scale.LARGE  # rows: several chunks, and buffers that grow
LEAST = Room(rows=350, matches=150, memory=4)  # of a search of copies
FRONTIER = ("start", "number")  # memory that grows makes steps more


def search_both_sizes(
    strategy: Strategy, task: Task, partitions: Partitions, counters: IntArray | None = None
) -> Iterator[Matches]:
    """The matches of an example, of a random one after as many have been found in many copies.

    Raises RunFailure, with which copies fail as well.
    """
    compare_with_python(strategy, task, partitions)
    copies = copies_of_example(partitions) if currently_in_test_context() else 1
    if copies == 1:
        return strategy.search(task, partitions, counters)
    roomy = with_room(strategy)
    beside = copies_beside(partitions, copies)
    try:
        found = list(strategy.search(task, partitions, counters))
    except RunFailure as failure:
        check_failure(roomy, task, beside, failure)
        raise
    check_copies(roomy, task, beside, parts_of_found(strategy, found, partitions), copies)
    if partitions.rows and can_follow_each_other(task, partitions):
        gap = gap_of(task, partitions)
        once, often = (one_after_another(task, partitions, gap, n) for n in (1, copies))
        one = Found.of(list(strategy.search(task, once)), once)
        check_copies(roomy, task, often, [replace(one, partitions=0)], copies)
    return iter(found)


def copies_of_example(partitions: Partitions) -> int:
    """How many copies an example has: every eighth, by its values, more rows than 16 bits count."""
    is_eighth = zlib.crc32(partitions.satisfied.tobytes()) % 8 == 0
    return copies_of(partitions.rows, LARGE if is_eighth else MIDDLE)


def with_room(strategy: Strategy) -> Strategy:
    """The algorithm, with room for more than a few matches in a chunk."""
    return strategy if strategy.room.rows > LEAST.rows else replace(strategy, room=LEAST)


def check_failure(strategy: Strategy, task: Task, copies: Partitions, expected: RunFailure) -> None:
    """Whether a search of copies fails at the first row of the first copy that fails."""
    with pytest.raises(RunFailure) as raised:
        for _ in strategy.search(task, copies):
            pass
    assert raised.value.args[:3] == expected.args[:3]


def check_copies(
    strategy: Strategy, task: Task, large: Partitions, one: Sequence[Found], copies: int
) -> None:
    """Whether a search of copies finds what it has found in one, as often."""
    found = parts_of_found(strategy, list(strategy.search(task, large)), large)
    for part, often in zip(one, found, strict=True):
        expected = part.times(copies)
        if task.output is MatchOutput.GRAPH:
            del expected["number"]  # nothing can ask for the number of a pointer
        if task.chained:  # a chunk that ends within a partition has its chains once more
            for name in ("classifiers", "excluded", "rows"):
                expected.pop(name, None)
        for name, values in expected.items():
            equal = np.array_equal(often.arrays[name], values)
            assert equal, f"{strategy}: copies differ in {name}"


def parts_of_found(
    strategy: Strategy, chunks: Sequence[Matches], partitions: Partitions
) -> list[Found]:
    """What is found: matches, and apart from them runs that come after all of them."""
    if not strategy.finds_runs:
        return [Found.of(chunks, partitions)]
    parts: tuple[list[Matches], list[Matches]] = [], []
    for chunk in chunks:
        assert chunk.kind is not None
        parts[bool((chunk.kind != A_MATCH).any())].append(chunk)
    return [Found.of(part, partitions) for part in parts]


def cover_both_sizes(
    coverable: Coverable, partitions: Partitions, room: Room
) -> tuple[Counts, list[Matches]]:
    """What is counted of an example, and its matches; of copies it is as often as much.

    Raises RunFailure.
    """
    copies = copies_of_example(partitions)
    once, often = Counts.of(coverable), Counts.of(coverable)
    chunks = list(find_matches(coverable, once, partitions, room))
    for _ in as_python_runs(partitions):
        again = Counts.of(coverable)
        found = list(find_matches(coverable, again, partitions, room))
        assert [*map(list, map(rows_of, found))] == [*map(list, map(rows_of, chunks))]
        assert all(map(np.array_equal, again, once))
    large = copies_beside(partitions, copies)
    roomy = room if room.rows > LEAST.rows else LEAST
    found = Found.of(list(find_matches(coverable, often, large, roomy)), large)
    expected = Found.of(chunks, partitions).times(copies)
    for name in {"partition", "start", "length", "rows"} & {*expected}:  # nobody asks for more
        assert np.array_equal(found.arrays[name], expected[name]), name
    for name in ("came", "ended", "parts_false"):
        assert np.array_equal(getattr(often, name), getattr(once, name) * copies), name
    assert np.array_equal(often.best, once.best)
    return once, chunks


@dataclass(frozen=True)
class Found:
    """Matches, and where the search has come to, as arrays.

    partitions, rows: how far the next copy's are from the first one's; no partitions where copies
    follow each other in one partition, the numbers of whose matches go on.
    """

    arrays: dict[str, AnyArray]
    partitions: int
    rows: int

    @staticmethod
    def of(chunks: Sequence[Matches], partitions: Partitions) -> Found:
        arrays = {"length": joined([np.diff(one.offsets) for one in chunks])}
        for name in ("partition", "number", "start", "classifiers", "excluded"):
            arrays[name] = joined([getattr(one, name) for one in chunks])
        for name in ("rows", "completed", "kind"):
            values = [getattr(one, name) for one in chunks]
            if values and values[0] is not None:
                arrays[name] = joined(values)
        if partitions.frontier is not None:
            arrays |= {f"frontier {one}": getattr(partitions.frontier, one) for one in FRONTIER}
        return Found(arrays, len(partitions.starts) - 1, partitions.rows)

    def times(self, copies: int) -> dict[str, AnyArray]:
        """What is found in so many copies."""
        numbers = self.arrays["number"]
        matches = 0 if self.partitions else int(np.count_nonzero(numbers > 0))
        steps = {"partition": self.partitions, "number": matches}
        steps |= dict.fromkeys(("start", "rows", "completed", "frontier start"), self.rows)
        return {
            name: repeated(values, copies, steps.get(name, 0), kept=name == "number")
            for name, values in self.arrays.items()
        }


def joined(arrays: Sequence[AnyArray]) -> AnyArray:
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def repeated(values: AnyArray, copies: int, step: int = 0, *, kept: bool = False) -> AnyArray:
    """The values so many times, each time `step` more. kept: those below 1 stay as they are."""
    found = np.tile(values, copies)
    if step:
        added = np.repeat(np.arange(copies) * step, len(values))
        found = found + (np.where(found < 1, 0, added) if kept else added)
    return found


def copies_beside(partitions: Partitions, copies: int) -> Partitions:
    """Copies that are partitions of their own."""
    rows = partitions.rows
    starts = repeated(partitions.starts[:-1], copies, rows)

    def moved(name: str) -> AnyArray | None:
        """Positions of rows, each copy's among its own."""
        values = getattr(partitions, name)
        return None if values is None else repeated(values, copies, rows)

    return replace(
        at_rows(partitions, np.tile(np.arange(rows), copies)),
        starts=np.append(starts, rows * copies),
        window_end=moved("window_end"),
        ends=None if partitions.ends is None else moved_in_rows(partitions.ends, copies, rows),
        frontier=copies_of_frontier(partitions.frontier, copies, rows),
    )


def moved_in_rows(values: AnyArray, copies: int, rows: int) -> AnyArray:
    return np.stack([repeated(one, copies, rows) for one in values])


def at_rows(partitions: Partitions, rows: IntArray) -> Partitions:
    """Other rows with the same values, row -1 with none; the rest is still to be said."""
    here = rows >= 0
    values = {
        "columns": partitions.columns[:, rows],
        "valid": partitions.valid[:, rows] & here,
        "satisfied": np.where(here[:, None], partitions.satisfied[rows], np.uint64(0)),
    }
    as_kernels_take_them = {name: np.ascontiguousarray(one) for name, one in values.items()}
    return replace(partitions, **as_kernels_take_them)


def copies_of_frontier(frontier: Frontier | None, copies: int, rows: int) -> Frontier | None:
    if frontier is None:
        return None
    edge = repeated(frontier.edge, copies, rows)
    return Frontier(
        repeated(frontier.start, copies, rows),
        repeated(frontier.until, copies, rows),
        np.where(np.tile(frontier.edge, copies) == NO_EDGE, NO_EDGE, edge),
        np.tile(frontier.number, copies),
        np.tile(frontier.steps, copies),
    )


def can_follow_each_other(task: Task, partitions: Partitions) -> bool:
    """Whether nothing but rows tells copies apart that follow each other in one partition.

    Not where a pattern has anchors, a condition the number of the match, rows come in pieces, or
    the first matches of a partition are asked for. What may skip rows keeps to its copy where
    windows do.
    """
    parts = (parts_of(one.run_condition) for one in task.conditions if one.run_condition)
    numbered = any(isinstance(part, TriedMatchNumber) for all_ in parts for part in all_)
    numbered = numbered or task.most_matches is not None
    in_pieces = partitions.frontier is not None or partitions.ends is not None
    keeps = task.windowed or task.selection is EventSelection.STRICT_CONTIGUITY
    unasked = any(one.row_condition is None for one in task.conditions)
    return keeps and not (
        numbered or in_pieces or unasked or task.pattern.guards or task.partial or task.stages
    )


def gap_of(task: Task, partitions: Partitions) -> int:
    """So many rows that satisfy nothing that no condition sees further."""
    asked = {"selection": EventSelection.STRICT_CONTIGUITY, "output": MatchOutput.PREFERRED}
    plain = replace(task, **asked, absent=(), closing=None)
    seen = find_lookaround(plain, partitions.integers, ())
    assert seen is not None
    return max(seen.before, seen.after) + 1


def one_after_another(task: Task, partitions: Partitions, gap: int, copies: int) -> Partitions:
    """Copies of all partitions in one partition, each before so many rows that satisfy nothing."""
    counts = np.diff(partitions.starts)
    before = np.repeat(np.arange(len(counts)) * gap, counts)
    rows = np.full(partitions.rows + gap * len(counts), -1)
    places = np.arange(partitions.rows) + before
    rows[places] = np.arange(partitions.rows)
    ends = None
    if partitions.window_end is not None:
        ends = np.arange(len(rows)) + 1
        ends[places] = partitions.window_end + before
        ends = repeated(ends, copies, len(rows))
    return replace(
        at_rows(partitions, np.tile(rows, copies)),
        starts=np.array([0, len(rows) * copies], np.int64),
        window_end=ends,
    )
