"""The reference for SHOW TIMEOUT and UNFINISHED MATCHES: find the runs that are output.

It is slow and obvious. A run is live at the end of its window if it could go on there, whatever the
next rows are. That is the case if it is the beginning of a longer word, all of whose rows after the
window may be mapped to any variable.

    PATTERN (A B+ C), window of three rows     A B B is live: A B B C begins with it

Words have the same meanings as in the reference matchers, which share nothing with the search
algorithms: `find_live_run` is for contiguous matches, `list_live_runs` for event selection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

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
from tests.references.event_selection import Mapped, Partition, State, list_ways
from tests.references.matcher import MappedVariable, Word, WordSearch, find_next_start

# The kinds of runs that are output.
TIMED_OUT = "timed out"
UNFINISHED = "unfinished"


class LastRowVariable(str):
    """The variable of the last row of the partition: `$` was matched after it."""

    __slots__ = ()


@dataclass(frozen=True)
class OnwardWordSearch(WordSearch):
    """A search for words that go on after a window, with rows that may have any variable.

    The partition may end after any of those rows, so `$` matches there, and no row can follow it.
    `row_count` must be large enough for the shortest way to complete the pattern.
    """

    # The first row after the window.
    end: int = 0

    def extend(self, node: RowPattern, word: Word) -> Iterator[Word]:
        """Yield `word` followed by each word of `node`, preferred ones first."""
        match node:
            case PartitionEnd():
                if self.start + len(word) > self.end:
                    name, excluded = word[-1]
                    yield (*word[:-1], MappedVariable(LastRowVariable(name), excluded))
            case Variable():
                if not word or not isinstance(word[-1].name, LastRowVariable):
                    yield from super().extend(node, word)
            case Exclusion(part):
                for longer in self.extend(part, word):
                    # A `$` in the exclusion may have marked a row of `word` as the last one.
                    before = longer[: len(word)]
                    excluded = [
                        MappedVariable(name, is_excluded=True) for name, _ in longer[len(word) :]
                    ]
                    yield (*before, *excluded)
            case _:
                yield from super().extend(node, word)


def find_live_run(search: WordSearch, pattern: RowPattern, end: int) -> Word | None:
    """Return the preferred run that is live at the end of a window, None if there is none.

    Args:
        search: the search from the starting row.
        pattern: the row pattern.
        end: the first row after the window.
    """

    def can_map(number: int, start: int, names: tuple[str, ...]) -> bool:
        """Allow any variable for the rows after the window."""
        row = start + len(names) - 1
        return row >= end or search.can_map(number, start, names)

    rows = end + count_needed_rows(pattern)
    onward_search = OnwardWordSearch(rows, search.start, can_map, search.number, end=end)
    length = end - search.start
    for word in onward_search.list_words(pattern):
        if len(word) > length:
            return word[:length]
    return None


def count_needed_rows(pattern: RowPattern) -> int:
    """Return a number of rows that suffices to complete a pattern from any part of it."""
    match pattern:
        case Variable():
            return 1
        case Concatenation(parts) | Permutation(parts):
            return sum(map(count_needed_rows, parts))
        case Alternation(parts):
            return max(map(count_needed_rows, parts))
        case Quantified(part=part, least=least):
            return max(1, least) * count_needed_rows(part)
        case Exclusion(part):
            return count_needed_rows(part)
        case _:
            return 0


class OutputRun(NamedTuple):
    """A run that is output."""

    # The starting row.
    start: int
    # TIMED_OUT or UNFINISHED.
    kind: str
    # Its rows with their variables.
    mapped: Mapped


# Returns the live runs of a starting row, preferred ones first. The arguments are the starting row,
# and the number that a match there would have.
ListLiveRuns = Callable[[int, int], Iterator[Mapped]]


class UnmatchedStart(NamedTuple):
    """A starting row without a match."""

    row: int
    # The number that a match there would have.
    number: int


@dataclass(frozen=True)
class RunSelection:
    """A partition, and the kinds of runs that a query outputs."""

    # The number of rows of the partition.
    rows: int
    # For each starting row, the first row after its window.
    window_end: tuple[int, ...]
    partial: PartialMatches

    def list_runs(
        self, unmatched_starts: Iterable[UnmatchedStart], list_live: ListLiveRuns
    ) -> Iterator[OutputRun]:
        """Yield the runs that are output: the preferred one of each starting row.

        Only the first unfinished run of a partition is output.

        Args:
            unmatched_starts: the starting rows without a match.
            list_live: lists the live runs of a starting row.
        """
        has_unfinished = False
        for start, number in unmatched_starts:
            end = self.window_end[start]
            kind = self.choose_kind(end)
            if kind is None or (kind == UNFINISHED and has_unfinished) or end <= start:
                continue
            run = next(list_live(start, number), None)
            if run is not None:
                has_unfinished = has_unfinished or kind == UNFINISHED
                yield OutputRun(start, kind, run)

    def choose_kind(self, end: int) -> str | None:
        """Return the kind of a run whose window ends at a row, None if it is not output."""
        if self.partial.shows_unfinished and end == self.rows:
            return UNFINISHED
        return TIMED_OUT if self.partial.shows_timed_out else None


def list_unmatched_starts(
    rows: int,
    matches: Iterable[tuple[int, Mapped]],
    skip: AfterMatchSkip,
    primary_variables: dict[str, frozenset[str]],
) -> Iterator[UnmatchedStart]:
    """Yield the starting rows from which the search found no match.

    Args:
        rows: the number of rows of the partition.
        matches: the starting row and the rows of each match.
        skip: where the search continues after a match.
        primary_variables: those that each name in AFTER MATCH SKIP stands for.
    """
    row = 0
    number = 1
    for start, mapped in matches:
        for searched in range(row, start):
            yield UnmatchedStart(searched, number)
        row = find_next_start(mapped, start, skip, primary_variables)
        number += 1
    for searched in range(row, rows):
        yield UnmatchedStart(searched, number)


def list_selected_runs(partition: Partition, partial: PartialMatches) -> Iterator[OutputRun]:
    """Yield the runs that a query with event selection outputs.

    With ALL MATCHES these are all live runs, otherwise the preferred one of each starting row.
    """
    query = partition.query
    rows = len(partition.words)
    if query.output is MatchOutput.ALL:
        runs = {run for start in range(rows) for run in list_live_runs(partition, start)}
        for run in sorted(runs):
            yield OutputRun(start=run[0][0], kind=TIMED_OUT, mapped=run)
        return
    unmatched_starts = list_unmatched_starts(
        rows, partition.list_matches(), query.after_match, query.primary_variables
    )

    def list_live(start: int, number: int) -> Iterator[Mapped]:
        """Yield the live runs of a starting row."""
        return list_live_runs(replace(partition, number=number), start)

    yield from RunSelection(rows, partition.window_end, partial).list_runs(
        unmatched_starts, list_live
    )


def list_live_runs(partition: Partition, start: int) -> Iterator[Mapped]:
    """Yield the runs of a starting row that are live at the end of its window, preferred first."""
    return continue_run(partition, start, (), start, (partition.query.pattern,))


def continue_run(
    partition: Partition, start: int, mapped: Mapped, row: int, state: State
) -> Iterator[Mapped]:
    """Yield the live runs that continue a run.

    Args:
        start: the starting row.
        mapped: what the run has mapped.
        row: the next row.
        state: what remains to be matched.
    """
    if row == partition.window_end[start]:
        if mapped and any(list_ways(state)):
            yield mapped
        return
    for way in list_ways(state):
        if way is None:
            continue
        variable, next_state = way
        if partition.may_take(mapped, row, variable):
            longer = (*mapped, (row, variable))
            yield from continue_run(partition, start, longer, row + 1, next_state)
    if mapped and partition.may_skip(mapped, row, state):
        yield from continue_run(partition, start, mapped, row + 1, state)
