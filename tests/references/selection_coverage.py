"""How far starting rows come where rows may be skipped: every run of each, one after the other.

Beside `event_selection`, whose words it asks row by row, and `coverage`, which says what a match
still needs after some rows, it uses nothing. Slow and obvious.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from matchrec.plan.clauses import MatchOutput
from tests.references.coverage import Needs, Taken, numbered
from tests.references.event_selection import Mapped, Partition, State, ways


@dataclass(frozen=True)
class Run:
    """The rows of a run, as occurrences.

    until: the row before which it has ended, past the last one if no row has ended it.
    """

    start: int
    mapped: Mapped
    until: int

    @property
    def taken(self) -> Taken:
        return tuple(int(name) for _, name in self.mapped)


@dataclass(frozen=True)
class Covered:
    """Of a starting row: whether it begins a match; its nearest run, and what that still needed."""

    begins: bool
    nearest: Run
    needed: int


def by_occurrence(partition: Partition) -> Partition:
    """The question, with a variable of its own for each occurrence of one in the pattern."""
    tree, names = numbered(partition.query.pattern)
    words = tuple(
        frozenset(str(i) for i, name in enumerate(names) if name in word)
        for word in partition.words
    )
    return replace(partition, query=replace(partition.query, pattern=tree), words=words)


def runs_from(asked: Partition, start: int, mapped: Mapped, state: State) -> Iterator[Run]:
    """Every run that has mapped these rows or more, preferred first, some more than once."""
    row = mapped[-1][0] + 1 if mapped else start
    found = []
    while row < asked.window_end[start]:
        for way in ways(state):
            if way is not None and asked.may_take(mapped, row, way[0]):
                found += runs_from(asked, start, (*mapped, (row, way[0])), way[1])
        row += 1
        if not mapped or not asked.may_skip(mapped, row - 1, state):
            break
    else:
        row += 1
    yield Run(start, mapped, row)
    yield from found


def cover(partition: Partition) -> Iterator[Covered]:
    """How far each row of a partition comes. Conditions look at the data alone."""
    asked = by_occurrence(partition)
    pattern, count = asked.query.pattern, len(numbered(partition.query.pattern)[1])
    needs = Needs(pattern, count)
    for start in range(len(asked.words)):
        found = list(runs_from(asked, start, (), (pattern,)))
        needed = [needed_rows(needs, run.taken, start, asked.query.output) for run in found]
        best = min(range(len(found)), key=lambda i: (needed[i], -len(found[i].mapped), i))
        matches = asked.matches_from(start)
        if asked.query.output is not MatchOutput.PREFERRED:
            matches = (one for one in matches if one)
        yield Covered(next(matches, None) is not None, found[best], needed[best])


def needed_rows(needs: Needs, taken: Taken, start: int, output: MatchOutput) -> int:
    """How many rows a match still needs; of an empty one, where that is none, one at least."""
    if taken or output is MatchOutput.PREFERRED:
        return needs.of(taken, start)
    return 1 + min(needs.of((one,), start) for one in range(needs.occurrences))
