"""Matches: what an engine answers, in flat arrays; and the failure that depends on the data.

Here is also where a skip strategy leads from matches that are found already. To add a strategy,
give it a line in `plan.clauses.SkipTo`, its words in a front end, and a case. What the engine does
about it follows: all searches ask `kernels.starts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from matchrec.automaton.program import A_MATCH
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.message import Message
from matchrec.errors.run.place import RowPlace
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.expression import End
from matchrec.plan.stages import Skip
from matchrec.search.kernels import starts as kernel
from matchrec.search.kernels.layout import SkipRule
from matchrec.search.partitions import BoolArray, IntArray, ranges


@dataclass(frozen=True, slots=True)
class Chains:
    """How matches share mapped rows: each match is a chain of them, and chains may join.

    first: int64[m], index of each match's first mapped row, -1 of an empty match. following:
    int32[k], index of the mapped row after each one, which is less than its own; -1 at the end.
    """

    first: IntArray
    following: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pointers:
    """The pointers of some partitions, g in all; one leads to another that stands before it.

    before: int64[g], index of the pointer that it leads to, -1 at the start of a run.
    completes: bool[g], whether a match ends here. digits: int32[d], the version numbers, one after
    the other; that of pointer i is digits[offsets[i] : offsets[i + 1]].
    """

    before: IntArray
    completes: BoolArray
    offsets: IntArray
    digits: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Matches:
    """Matches of some partitions, in the order in which they were found; k rows are mapped in all.

    partition: int64[m], index of each match's partition.
    number: int64[m], match number in its partition, from 1, empty matches counted.
    start: int64[m], row position of the starting row.
    offsets: int64[m + 1]; match i has offsets[i + 1] - offsets[i] rows, from start[i] on.
    classifiers: int16[k], variable id of each mapped row, match after match.
    excluded: bool[k], true for rows matched inside an exclusion.
    rows: int64[k], position of each mapped row; None where every match is its first row and those
    that follow it. pointers: of the graph of all matches, in which each pointer stands as a match
    of one row. completed: int64[m], with event selection the row at which each match is complete;
    None of preferred ones, which nobody ranks by it.
    kind: int64[m], whether it is one, or a run whose window has ended: see `automaton.program`.
    chains: where matches share mapped rows, which then come in no order, and offsets only say how
    long matches are; only a task that asks for it gets such.
    totals: int64[m, w], what is known of the matches of each group, which stands as a match of one
    row: see `kernels.totals`.
    """

    partition: IntArray
    number: IntArray
    start: IntArray
    offsets: IntArray
    classifiers: npt.NDArray[np.int16]
    excluded: BoolArray
    rows: IntArray | None = None
    pointers: Pointers | None = None
    completed: IntArray | None = None
    kind: IntArray | None = None
    chains: Chains | None = None
    totals: IntArray | None = None

    @property
    def count(self) -> int:
        return len(self.start)

    @property
    def mapped_rows(self) -> IntArray:
        if self.rows is not None:
            return self.rows
        return ranges(self.start, np.diff(self.offsets))


def of_one_row(partition: IntArray, row: IntArray, classifiers: npt.NDArray[np.int16]) -> Matches:
    """What is no match, each as a match of one row: pointers of a graph, groups of matches."""
    one_each, excluded = np.arange(len(row) + 1, dtype=np.int64), np.zeros(len(row), np.bool_)
    return Matches(partition, one_each[1:], row, one_each, classifiers, excluded, row)


@cache  # a stream asks key after key
def no_matches() -> Matches:
    none = np.zeros(0, np.int64)
    return replace(of_one_row(none, none, np.zeros(0, np.int16)), completed=none, kind=none)


class Numbering:
    """Counts matches over several chunks. found: those of the first partition before."""

    def __init__(self, found: int = 0) -> None:
        self.partition = 0
        self.found = found

    def number_matches(self, matches: Matches) -> Matches:
        """Number matches that come in order of partition; a run whose window has ended has -1."""
        if not matches.count:
            return matches
        kind = A_MATCH if matches.kind is None else matches.kind
        is_match = np.full(matches.count, kind == A_MATCH)
        first = np.searchsorted(matches.partition, matches.partition, side="left")
        counted = is_match.astype(np.int64)
        before: IntArray = np.cumsum(counted) - counted
        number: IntArray = before + counted - before[first]
        number[matches.partition == self.partition] += self.found
        self.partition, self.found = int(matches.partition[-1]), int(number[-1])
        return replace(matches, number=np.where(is_match, number, -1))


class RunFailure(Exception):  # noqa: N818 -- not a user's error yet: the runtime words that one
    """A search, or what is read of its matches, ended by its rows.

    message, fields: of the user's error, which has the place of the row besides. row: row position,
    of the match's starting row for SKIP, of the candidate row for a condition, of the row up to
    which a sum is.
    """

    def __init__(
        self, message: Message[MatchRecognizeRunError], row: int, fields: Mapping[str, object]
    ) -> None:
        super().__init__(message, row, fields)
        self.message, self.row, self.fields = message, row, fields

    def error(self, place: RowPlace) -> MatchRecognizeRunError:
        return self.message(place=place, **self.fields)


def skip_rule(to: SkipTo) -> SkipRule:
    return SkipRule(to.end is End.LAST, to.past)


def find_targets(
    variable: str | None, members: Mapping[str, frozenset[int]], mapped: IntArray
) -> BoolArray:
    """bool[k], which of the variables `mapped` a strategy counts from: all where it names none."""
    if variable is None:
        return np.ones(len(mapped), np.bool_)
    return np.isin(mapped, list(members[variable]))


def next_starts(
    skip: AfterMatchSkip | Skip, members: Mapping[str, frozenset[int]], matches: Matches
) -> IntArray:
    """int64[m], the row from which the search goes on after each match, or `kernel.NO_ROW`."""
    variables = np.arange(int(matches.classifiers.max(initial=0)) + 1)
    is_target = find_targets(skip.variable, members, variables)
    found = np.empty(matches.count, np.int64)
    start, offsets = map(np.ascontiguousarray, (matches.start, matches.offsets))
    mapped = np.ascontiguousarray(matches.classifiers)
    rows = None if matches.rows is None else np.ascontiguousarray(matches.rows)
    kernel.next_starts(skip_rule(skip.to), is_target, start, offsets, mapped, rows, found)
    return found
