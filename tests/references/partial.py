"""Runs that come out beside matches, by definition. Slow and obvious.

A run is live where its window ends if it could have gone on there, whatever rows came: if it is the
beginning of a word that is longer than the window and of which any row after that may be mapped to
any variable. Words are those of the reference matchers, which share nothing with the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from matchrec.plan.clauses import AfterMatchSkip, MatchOutput, PartialMatches
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Exclusion,
    PartitionEnd,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)
from tests.references.event_selection import Mapped, Partition, State, ways
from tests.references.matcher import Word, Words, next_start

TIMED_OUT, UNFINISHED = "timed out", "unfinished"

Members = dict[str, frozenset[str]]


class Last(str):
    """The variable of a row after which a word has asked for the partition's end."""

    __slots__ = ()


@dataclass(frozen=True)
class Onward(Words):
    """Words of which the rows from `end` on are any rows; the partition may end after any of them.

    `rows` must leave room for the shortest way on.
    """

    end: int = 0

    def of(self, node: RowPattern, word: Word) -> Iterator[Word]:
        match node:
            case PartitionEnd():
                if self.start + len(word) > self.end:
                    name, excluded = word[-1]
                    yield (*word[:-1], (Last(name), excluded))
            case Variable():
                if not word or not isinstance(word[-1][0], Last):
                    yield from super().of(node, word)
            case Exclusion(part):
                for longer in self.of(part, word):
                    new = longer[len(word) :]
                    yield longer[: len(word)] + tuple((variable, True) for variable, _ in new)
            case _:
                yield from super().of(node, word)


def run_of(words: Words, pattern: RowPattern, end: int) -> Word | None:
    """The most preferred run from the starting row of `words` that is live at row `end`."""

    def may(number: int, start: int, names: tuple[str, ...]) -> bool:
        return start + len(names) > end or words.may(number, start, names)

    room = end + rows_needed(pattern)
    onward = Onward(room, words.start, may, words.number, end=end)
    length = end - words.start
    longer = (word for word in onward.of(pattern, ()) if len(word) > length)
    return next((word[:length] for word in longer), None)


def rows_needed(pattern: RowPattern) -> int:
    """At least as many rows as the shortest way through any part of a pattern has."""
    match pattern:
        case Variable():
            return 1
        case Concatenation(parts) | Permutation(parts):
            return sum(map(rows_needed, parts))
        case Alternation(parts):
            return max(map(rows_needed, parts))
        case Quantified(part=part, least=least):
            return max(1, least) * rows_needed(part)
        case Exclusion(part):
            return rows_needed(part)
        case _:
            return 0


Run = tuple[int, str, Mapped]  # starting row, kind, rows
Begun = Callable[[int, int], Iterator[Mapped]]  # runs live at the end, of a row as match `number`


@dataclass(frozen=True)
class Asked:
    """One partition: how many rows it has, where their windows end, which runs come out."""

    rows: int
    window_end: tuple[int, ...]
    partial: PartialMatches

    def runs(self, left: Iterable[tuple[int, int]], begun: Begun) -> Iterator[Run]:
        """The runs that come out. left: starting rows without a match, as matches of a number."""
        has_unfinished = False
        for start, number in left:
            kind = self.kind(self.window_end[start])
            if kind is None or (kind == UNFINISHED and has_unfinished):
                continue
            run = next(begun(start, number), None) if self.window_end[start] > start else None
            if run is not None:
                has_unfinished = has_unfinished or kind == UNFINISHED
                yield start, kind, run

    def kind(self, end: int) -> str | None:
        """What a run is whose window ends at a row, None where it does not come out."""
        if self.partial.unfinished and end == self.rows:
            return UNFINISHED
        return TIMED_OUT if self.partial.timed_out else None


def rows_left(
    rows: int, matches: Iterable[tuple[int, Mapped]], skip: AfterMatchSkip, members: Members
) -> Iterator[tuple[int, int]]:
    """The starting rows that begin no match, each with the number that a match there would have."""
    row, number = 0, 1
    for start, mapped in matches:
        yield from ((one, number) for one in range(row, start))
        row, number = next_start(mapped, start, skip, members), number + 1
    yield from ((one, number) for one in range(row, rows))


def selected_runs(partition: Partition, partial: PartialMatches) -> Iterator[Run]:
    """The runs that come out with event selection; beside all matches, every one of them."""
    query, rows = partition.query, len(partition.words)
    if query.output is MatchOutput.ALL:
        runs = {run for start in range(rows) for run in live_runs(partition, start)}
        yield from ((run[0][0], TIMED_OUT, run) for run in sorted(runs))
        return
    left = rows_left(rows, partition.matches(), query.after_match, query.members)

    def begun(start: int, number: int) -> Iterator[Mapped]:
        return live_runs(replace(partition, number=number), start)

    yield from Asked(rows, partition.window_end, partial).runs(left, begun)


def live_runs(partition: Partition, start: int) -> Iterator[Mapped]:
    """The runs from a row that are live where its window ends, preferred first."""
    return onward(partition, start, (), start, (partition.query.pattern,))


def onward(
    partition: Partition, start: int, mapped: Mapped, row: int, state: State
) -> Iterator[Mapped]:
    if row == partition.window_end[start]:
        if mapped and any(ways(state)):
            yield mapped
        return
    for way in ways(state):
        if way is not None and partition.may_take(mapped, row, way[0]):
            longer = (*mapped, (row, way[0]))
            yield from onward(partition, start, longer, row + 1, way[1])
    if mapped and partition.may_skip(mapped, row, state):
        yield from onward(partition, start, mapped, row + 1, state)
