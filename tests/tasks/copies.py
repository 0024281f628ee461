"""The second size of random tests: search many copies of an example.

A slow reference checks what a search finds in a small example. Then the rows of the example are
repeated, so that buffers grow and chunks end anywhere. The search must find the same in every copy,
with positions moved by the rows before it. The copies are

- partitions next to each other (`copy_beside`), or
- parts of one long partition, with a gap between them (`join_in_one_partition`).
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

from matchrec.automaton.run_endings import A_MATCH
from matchrec.compile.lookaround import find_lookaround
from matchrec.conditions.run_condition import TriedMatchNumber, walk_expression
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.coverage import AnnotatedTask, Counts, find_matches
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import NO_EDGE, Frontier, IntArray, Partitions
from matchrec.search.strategy import Strategy
from matchrec.search.task import Capacity, Task
from tests.quick import scale
from tests.quick.scale import copies_of
from tests.tasks.by_python import as_python_runs, compare_with_python, list_matches

AnyArray = npt.NDArray[Any]
LARGE = 40_000  # rows: their numbers need more than 16 bits
MIDDLE = 2 * scale.LARGE  # rows: enough for several chunks, and for buffers to grow
# The least capacity with which copies are searched.
LEAST = Capacity(mapped_rows=350, matches=150, initial_rows=4)
# The fields of a frontier that are compared. The number of steps differs, because growing a buffer
# takes some.
FRONTIER = ("next_start", "match_number")


def search_both_sizes(
    strategy: Strategy, task: Task, partitions: Partitions, counters: IntArray | None = None
) -> Iterator[Matches]:
    """Return the matches in an example, and compare with a search in Python if it is small.

    If the example is a random one, its copies are searched, too.

    Raises:
        RunFailure: the search fails, and the search of the copies fails likewise.
    """
    compare_with_python(strategy, task, partitions)
    copies = count_copies(partitions) if currently_in_test_context() else 1
    if copies == 1:
        return strategy.search(task, partitions, counters)
    roomy = give_room(strategy)
    large = copy_beside(partitions, copies)
    try:
        chunks = list(strategy.search(task, partitions, counters))
    except RunFailure as failure:
        check_failure(roomy, task, large, failure)
        raise
    check_copies(roomy, task, large, split_by_kind(strategy, chunks, partitions), copies)
    if partitions.row_count and can_follow_each_other(task, partitions):
        gap = find_gap(task, partitions)
        single = join_in_one_partition(task, partitions, gap, 1)
        repeated_partitions = join_in_one_partition(task, partitions, gap, copies)
        found_matches = FoundMatches.join(list(strategy.search(task, single)), single)
        check_copies(
            roomy, task, repeated_partitions, [replace(found_matches, partitions=0)], copies
        )
    return iter(chunks)


def count_copies(partitions: Partitions) -> int:
    """Return the number of copies of an example.

    One example in eight has LARGE rows after copying. Which ones depends on their values, so that a
    failing example fails again.
    """
    is_eighth = zlib.crc32(partitions.condition_bits.tobytes()) % 8 == 0
    return copies_of(partitions.row_count, LARGE if is_eighth else MIDDLE)


def give_room(strategy: Strategy) -> Strategy:
    """Return the strategy with room for more than a few matches in a chunk."""
    return (
        strategy
        if strategy.capacity.mapped_rows > LEAST.mapped_rows
        else replace(strategy, capacity=LEAST)
    )


def check_failure(strategy: Strategy, task: Task, copies: Partitions, expected: RunFailure) -> None:
    """Check that a search of copies fails like the search of the example, in the first copy."""
    with pytest.raises(RunFailure) as raised:
        for _ in strategy.search(task, copies):
            pass
    assert raised.value.args[:3] == expected.args[:3]


def check_copies(
    strategy: Strategy,
    task: Task,
    large: Partitions,
    example_found: Sequence[FoundMatches],
    copies: int,
) -> None:
    """Check that a search of copies finds in each copy what it found in the example.

    Args:
        large: the copies.
        example_found: what was found in the example, see `split_by_kind`.
    """
    found_matches = split_by_kind(strategy, list(strategy.search(task, large)), large)
    for part_once, part in zip(example_found, found_matches, strict=True):
        expected = part_once.repeat(copies)
        if task.output is MatchOutput.GRAPH:
            del expected["number"]  # no query can read the number of a pointer
        if task.wants_chains:  # if a chunk ends within a partition, the next one repeats the chains
            for name in ("classifiers", "is_excluded", "rows"):
                expected.pop(name, None)
        for name, values in expected.items():
            equal = np.array_equal(part.arrays[name], values)
            assert equal, f"{strategy}: copies differ in {name}"


def split_by_kind(
    strategy: Strategy, chunks: Sequence[Matches], partitions: Partitions
) -> list[FoundMatches]:
    """Return the matches that were found, and if the strategy finds runs, the runs separately.

    A search outputs runs after all matches, so the matches and runs of copies do not alternate.
    """
    if not strategy.finds_runs:
        return [FoundMatches.join(chunks, partitions)]
    matches: list[Matches] = []
    runs: list[Matches] = []
    for chunk in chunks:
        assert chunk.kind is not None
        has_runs = bool((chunk.kind != A_MATCH).any())
        (runs if has_runs else matches).append(chunk)
    return [FoundMatches.join(matches, partitions), FoundMatches.join(runs, partitions)]


def cover_both_sizes(
    coverable: AnnotatedTask, partitions: Partitions, capacity: Capacity
) -> tuple[Counts, list[Matches]]:
    """Return the coverage and the matches of an example, and check them for copies.

    Raises:
        RunFailure: the rows cause an error.
    """
    copies = count_copies(partitions)
    counts = Counts.create(coverable)
    chunks = list(find_matches(coverable, counts, partitions, capacity))
    for _ in as_python_runs(partitions):
        python_counts = Counts.create(coverable)
        python_chunks = list(find_matches(coverable, python_counts, partitions, capacity))
        python_matches = [list(list_matches(chunk)) for chunk in python_chunks]
        assert python_matches == [list(list_matches(chunk)) for chunk in chunks]
        assert all(map(np.array_equal, python_counts, counts))
    large = copy_beside(partitions, copies)
    large_counts = Counts.create(coverable)
    roomy = capacity if capacity.mapped_rows > LEAST.mapped_rows else LEAST
    found_matches = FoundMatches.join(
        list(find_matches(coverable, large_counts, large, roomy)), large
    )
    expected = FoundMatches.join(chunks, partitions).repeat(copies)
    for name in {"partition", "start", "length", "rows"} & {
        *expected
    }:  # coverage reads no other arrays
        assert np.array_equal(found_matches.arrays[name], expected[name]), name
    for name in ("reached_counts", "end_counts", "false_parts"):
        assert np.array_equal(getattr(large_counts, name), getattr(counts, name) * copies), name
    assert np.array_equal(large_counts.nearest_of_all, counts.nearest_of_all)
    return counts, chunks


@dataclass(frozen=True)
class FoundMatches:
    """What a search found: its matches, and the state in which it left the frontier."""

    arrays: dict[str, AnyArray]
    # The distance from one copy to the next. It is 0 partitions if the copies follow each other in
    # one partition. Then the numbers of the matches go on from copy to copy.
    partitions: int
    rows: int

    @staticmethod
    def join(chunks: Sequence[Matches], partitions: Partitions) -> FoundMatches:
        """Join the chunks of matches that were found in partitions."""
        arrays = {"length": join_arrays([np.diff(chunk.offsets) for chunk in chunks])}
        for name in ("partition", "number", "start", "classifiers", "is_excluded"):
            arrays[name] = join_arrays([getattr(chunk, name) for chunk in chunks])
        for name in ("rows", "completing_rows", "kind"):
            values = [getattr(chunk, name) for chunk in chunks]
            if values and values[0] is not None:
                arrays[name] = join_arrays(values)
        if partitions.frontier is not None:
            for name in FRONTIER:
                arrays[f"frontier {name}"] = getattr(partitions.frontier, name)
        return FoundMatches(arrays, len(partitions.starts) - 1, partitions.row_count)

    def repeat(self, copies: int) -> dict[str, AnyArray]:
        """Return what must be found in a number of copies of the example."""
        numbers = self.arrays["number"]
        matches = 0 if self.partitions else int(np.count_nonzero(numbers > 0))
        steps = {"partition": self.partitions, "number": matches}
        steps |= dict.fromkeys(
            ("start", "rows", "completing_rows", "frontier next_start"), self.rows
        )
        return {
            name: repeat_with_step(values, copies, steps.get(name, 0), kept=name == "number")
            for name, values in self.arrays.items()
        }


def join_arrays(arrays: Sequence[AnyArray]) -> AnyArray:
    """Return arrays one after the other."""
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)


def repeat_with_step(
    values: AnyArray, copies: int, step: int = 0, *, kept: bool = False
) -> AnyArray:
    """Repeat the values, larger by `step` each time.

    `repeat_with_step([1, 2], 3, step=10)` is [1, 2, 11, 12, 21, 22].

    Args:
        kept: whether values below 1 are not increased.
    """
    result = np.tile(values, copies)
    if step:
        increase = np.repeat(np.arange(copies) * step, len(values))
        result = result + (np.where(result < 1, 0, increase) if kept else increase)
    return result


def copy_beside(partitions: Partitions, copies: int) -> Partitions:
    """Return copies of the partitions, one after another."""
    rows = partitions.row_count
    starts = repeat_with_step(partitions.starts[:-1], copies, rows)

    def move_rows(name: str) -> AnyArray | None:
        """Return an array of row numbers, moved to the rows of each copy."""
        values = getattr(partitions, name)
        return None if values is None else repeat_with_step(values, copies, rows)

    end_times = partitions.end_times
    if end_times is not None:
        end_times = repeat_moved(end_times, copies, rows)
    return replace(
        take_rows(partitions, np.tile(np.arange(rows), copies)),
        starts=np.append(starts, rows * copies),
        window_end=move_rows("window_end"),
        end_times=end_times,
        frontier=copy_frontier(partitions.frontier, copies, rows),
    )


def repeat_moved(values: AnyArray, copies: int, rows: int) -> AnyArray:
    """Repeat each line of a matrix of row numbers, moved to the rows of each copy."""
    return np.stack([repeat_with_step(line, copies, rows) for line in values])


def take_rows(partitions: Partitions, rows: IntArray) -> Partitions:
    """Return partitions with the values of these rows.

    Row -1 is a row without values that satisfies no condition. The caller sets `starts` and
    everything else that depends on row numbers.
    """
    exists = rows >= 0
    values = {
        "columns": partitions.columns[:, rows],
        "valid": partitions.valid[:, rows] & exists,
        "condition_bits": np.where(exists[:, None], partitions.condition_bits[rows], np.uint64(0)),
    }
    # Kernels need contiguous arrays.
    contiguous = {name: np.ascontiguousarray(array) for name, array in values.items()}
    return replace(partitions, **contiguous)


def copy_frontier(frontier: Frontier | None, copies: int, rows: int) -> Frontier | None:
    """Return the frontier of copies of an example with a number of rows."""
    if frontier is None:
        return None
    edge = repeat_with_step(frontier.edge, copies, rows)
    return Frontier(
        repeat_with_step(frontier.next_start, copies, rows),
        repeat_with_step(frontier.start_limit, copies, rows),
        np.where(np.tile(frontier.edge, copies) == NO_EDGE, NO_EDGE, edge),
        np.tile(frontier.match_number, copies),
        np.tile(frontier.step_count, copies),
    )


def can_follow_each_other(task: Task, partitions: Partitions) -> bool:
    """Return whether each copy in one partition has exactly the matches of the example.

    It does not if the pattern has anchors, if a condition reads the number of the match, if only
    the first matches of a partition are searched, or if rows come in pieces. If rows may be
    skipped, a match stays in its copy only if windows do.
    """
    run_conditions = [c.run_condition for c in task.conditions if c.run_condition]
    reads_number = any(
        isinstance(part, TriedMatchNumber)
        for condition in run_conditions
        for part in walk_expression(condition)
    )
    is_numbered = reads_number or task.max_matches is not None
    is_in_pieces = partitions.frontier is not None or partitions.end_times is not None
    stays_in_copy = task.has_window or task.selection is EventSelection.STRICT_CONTIGUITY
    # A condition without a row condition may hold for the rows of the gap.
    may_match_gap = any(condition.row_bit is None for condition in task.conditions)
    return stays_in_copy and not (
        is_numbered
        or is_in_pieces
        or may_match_gap
        or task.pattern.guards
        or task.partial
        or task.stages
    )


def find_gap(task: Task, partitions: Partitions) -> int:
    """Return a number of rows that no condition looks across."""
    contiguous = replace(
        task,
        selection=EventSelection.STRICT_CONTIGUITY,
        output=MatchOutput.PREFERRED,
        absences=(),
        closing_condition=None,
    )
    lookaround = find_lookaround(contiguous, partitions.integer_count, ())
    assert lookaround is not None
    return max(lookaround.rows_before, lookaround.rows_after) + 1


def join_in_one_partition(task: Task, partitions: Partitions, gap: int, copies: int) -> Partitions:
    """Return copies of all partitions in one partition.

    Each partition is followed by `gap` rows that satisfy no condition.
    """
    counts = np.diff(partitions.starts)
    gap_rows_before = np.repeat(np.arange(len(counts)) * gap, counts)
    rows = np.full(partitions.row_count + gap * len(counts), -1)
    targets = np.arange(partitions.row_count) + gap_rows_before
    rows[targets] = np.arange(partitions.row_count)
    ends = None
    if partitions.window_end is not None:
        ends = np.arange(len(rows)) + 1
        ends[targets] = partitions.window_end + gap_rows_before
        ends = repeat_with_step(ends, copies, len(rows))
    return replace(
        take_rows(partitions, np.tile(rows, copies)),
        starts=np.array([0, len(rows) * copies], np.int64),
        window_end=ends,
    )
