"""The reference for coverage with event selection: how far the runs of each starting row get.

It is slow and obvious: it lists every run of every starting row. `event_selection` says how a run
can go on, and `coverage` how many rows a match still needs. It uses nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.plan.clauses import MatchOutput
from tests.references.coverage import Needs, RunOccurrences, number_occurrences
from tests.references.event_selection import Mapped, MappedRow, Partition, State, list_ways


@dataclass(frozen=True)
class Run:
    """A run, with the row that ended it."""

    # The starting row.
    start: int
    # Its rows, each with the occurrence to which it is mapped, as text.
    mapped: Mapped
    # The row after the row that ended it. The end of a window counts as the first row after it.
    end: int

    @property
    def occurrences(self) -> RunOccurrences:
        """Return the occurrences that its rows are mapped to."""
        return tuple(int(name) for _, name in self.mapped)


@dataclass(frozen=True)
class Covered:
    """How far a starting row gets."""

    # Whether it begins a match.
    begins_match: bool
    # Its run that needs the fewest rows for a match.
    nearest: Run
    # How many more rows a match would have needed after this run.
    needed: int


def split_by_occurrence(partition: Partition) -> Partition:
    """Return the partition with a different variable for each occurrence in the pattern."""
    tree, names = number_occurrences(partition.query.pattern)
    words = tuple(
        frozenset(str(occurrence) for occurrence, name in enumerate(names) if name in word)
        for word in partition.words
    )
    return replace(partition, query=replace(partition.query, pattern=tree), words=words)


def list_runs_from(partition: Partition, start: int, mapped: Mapped, state: State) -> Iterator[Run]:
    """Yield a run and all runs that continue it, preferred ones first, some repeatedly."""
    row = mapped[-1][0] + 1 if mapped else start
    longer: list[Run] = []
    while row < partition.window_end[start]:
        for way in list_ways(state):
            if way is None:
                continue
            if partition.may_take(mapped, row, way.variable):
                longer_mapped = (*mapped, MappedRow(row, way.variable))
                longer += list_runs_from(partition, start, longer_mapped, way.next_state)
        row += 1
        if not mapped or not partition.may_skip(mapped, row - 1, state):
            break
    else:  # the window has ended
        row += 1
    yield Run(start, mapped, row)
    yield from longer


def cover(partition: Partition) -> Iterator[Covered]:
    """Find out how far each row of a partition gets. Conditions may read the data only."""
    numbered_partition = split_by_occurrence(partition)
    query = numbered_partition.query
    _, names = number_occurrences(partition.query.pattern)
    needs = Needs(query.pattern, len(names))
    for start in range(len(partition.words)):
        runs = list(list_runs_from(numbered_partition, start, (), (query.pattern,)))
        needed = [count_needed_rows(needs, run.occurrences, start, query.output) for run in runs]
        best = min(range(len(runs)), key=lambda i: (needed[i], -len(runs[i].mapped), i))
        matches = numbered_partition.find_matches_from(start)
        if query.output is MatchOutput.PREFERRED:
            begins_match = next(matches, None) is not None
        else:  # empty matches are not in the result
            begins_match = any(matches)
        yield Covered(begins_match, runs[best], needed[best])


def count_needed_rows(
    needs: Needs, occurrences: RunOccurrences, start: int, output: MatchOutput
) -> int:
    """Return the number of rows that a match still needs after a run.

    Unless the preferred match is searched for, empty matches do not count: a run without rows needs
    at least one.
    """
    if occurrences or output is MatchOutput.PREFERRED:
        return needs.count_needed(occurrences, start)
    return 1 + min(needs.count_needed((first,), start) for first in range(needs.occurrence_count))
