"""The results of a search: matches in flat arrays, or a failure that depends on the rows.

The two matches A B, with the rows 5 and 6, and A, with the row 8, of partition 0:

    partition     0    0
    number        1    2
    start         5    8
    offsets       0    2    3    match 0 has the mapped rows 0 and 1, match 1 has mapped row 2
    classifiers   A    B    A    as ids of variables, one for each mapped row
    rows          5    6    8

`find_next_starts` applies AFTER MATCH SKIP to matches that have been found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from matchrec.automaton.run_endings import A_MATCH
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run.location import RowLocation
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.expression import End
from matchrec.plan.stages import Skip
from matchrec.search.flat_arrays import list_positions
from matchrec.search.kernels import search_loop
from matchrec.search.kernels.layout import SkipRule
from matchrec.search.partitions import BoolArray, IntArray

# Each number in `Matches.totals` has three words: see `kernels.carried_totals`. This is the index
# of the word with the bits of a double. A number of matches or paths is 0 if this word is 0.
DOUBLE_WORD = 2


@dataclass(frozen=True, slots=True)
class Chains:
    """The order of the mapped rows in matches that share rows.

    A match is a chain of mapped rows. Chains can join, and never part again. The matches A B C and
    B C, which share the mapped rows 0 and 1:

        mapped row           0    1    2
        variable             C    B    A
        next_mapped_rows    -1    0    1
        first_mapped_rows    2    1         of the first and of the second match
    """

    # int64[m], index of each match's first mapped row; -1 for an empty match.
    first_mapped_rows: IntArray
    # int32[k], for each mapped row, the index of the next one in its matches, which is a smaller
    # index; -1 at the end of a chain.
    next_mapped_rows: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Pointers:
    """The g pointers of the graph of all matches. Each leads to an earlier pointer: see `graph`."""

    # int64[g], for each pointer, the index of the pointer before; -1 at the start of a run.
    previous_pointers: IntArray
    # bool[g], whether a match ends with the pointer.
    completes: BoolArray
    # The version number of pointer i is digits[offsets[i] : offsets[i + 1]].
    offsets: IntArray
    # int32[d], the digits of all version numbers.
    digits: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Matches:
    """m matches of some partitions, in the order in which they were found, with k mapped rows."""

    # int64[m], index of each match's partition.
    partition: IntArray
    # int64[m], match number in its partition, from 1. Empty matches count.
    number: IntArray
    # int64[m], the position of the starting row.
    start: IntArray
    # int64[m + 1], match i has the mapped rows offsets[i] .. offsets[i + 1] - 1.
    offsets: IntArray
    # int16[k], variable id of each mapped row, match after match.
    classifiers: npt.NDArray[np.int16]
    # bool[k], true for rows matched inside an exclusion.
    is_excluded: BoolArray
    # int64[k], the position of each mapped row; None if the rows of every match follow each other
    # without a gap.
    rows: IntArray | None = None
    # The pointers of the graph of all matches. Each pointer counts as a match of one row. None for
    # any other output.
    pointers: Pointers | None = None
    # int64[m], with event selection, the row at which each match is complete. None for preferred
    # matches, which are not ordered by this row.
    completing_rows: IntArray | None = None
    # int64[m], the kind of output: A_MATCH, or the kind of a run whose window has ended, see
    # `automaton.run_endings`. None if a search without event selection finds them, because then all
    # are matches.
    kind: IntArray | None = None
    # The order of mapped rows that matches share, if the task wants chains; None if each match has
    # its own mapped rows, in order. With chains, offsets only give the lengths of matches: the
    # mapped rows of match i are those to which `chains.first_mapped_rows[i]` leads.
    chains: Chains | None = None
    # int64[m, w], the aggregates over all matches of each group, which counts as a match of one
    # row: see `kernels.carried_totals`. None if the matches themselves are sought.
    totals: IntArray | None = None

    @property
    def count(self) -> int:
        """Return the number of matches m."""
        return len(self.start)

    @property
    def mapped_rows(self) -> IntArray:
        """Return int64[k], the position of every mapped row."""
        if self.rows is not None:
            return self.rows
        return list_positions(self.start, np.diff(self.offsets))


def make_one_row_matches(
    partition: IntArray, row: IntArray, classifiers: npt.NDArray[np.int16]
) -> Matches:
    """Return pointers of the graph, or groups of matches, each in the form of a match of one row.

    Args:
        partition: int64[m], the partition of each pointer or group.
        row: int64[m], the row of each pointer or group.
        classifiers: int16[m], the id of a variable for each row.
    """
    offsets = np.arange(len(row) + 1, dtype=np.int64)
    return Matches(
        partition=partition,
        number=offsets[1:],
        start=row,
        offsets=offsets,
        classifiers=classifiers,
        is_excluded=np.zeros(len(row), np.bool_),
        rows=row,
    )


@cache  # a stream calls this for every key
def make_empty_matches() -> Matches:
    """Return no matches, with the fields that matches of event selection have."""
    nothing = np.zeros(0, np.int64)
    matches = make_one_row_matches(nothing, nothing, np.zeros(0, np.int16))
    return replace(matches, completing_rows=nothing, kind=nothing)


class Numbering:
    """A counter that numbers the matches of each partition over several chunks.

    Args:
        last_number: the number of the last match of partition 0 before these chunks.
    """

    def __init__(self, last_number: int = 0) -> None:
        # The partition of the last match. `last_number` is its number.
        self.partition = 0
        self.last_number = last_number

    def number_matches(self, matches: Matches) -> Matches:
        """Return matches with their numbers, which go on after the numbers of the chunks before.

        The matches are in order of partition. A run whose window has ended is not a match and gets
        -1.
        """
        if not matches.count:
            return matches
        is_match = np.ones(matches.count, np.bool_)
        if matches.kind is not None:
            is_match = matches.kind == A_MATCH
        # For each match, the index of the first match of its partition.
        first_of_partition = np.searchsorted(matches.partition, matches.partition, side="left")
        match_count_up_to: IntArray = np.cumsum(is_match, dtype=np.int64)
        match_count_before = match_count_up_to - is_match
        number: IntArray = match_count_up_to - match_count_before[first_of_partition]
        number[matches.partition == self.partition] += self.last_number
        self.partition = int(matches.partition[-1])
        self.last_number = int(number[-1])
        return replace(matches, number=np.where(is_match, number, -1))


class RunFailure(Exception):  # noqa: N818 -- the worker turns it into an error for the user
    """A failure, because of the rows, of a search or of the code that reads its matches.

    Args:
        make_error: makes the user's error.
        row: position of the row that the error names. For AFTER MATCH SKIP, it is the match's
            starting row; for a condition, the candidate row; for a sum, the last row added.
        fields: the arguments of `make_error`, apart from the location of the row.
    """

    def __init__(self, make_error: MakeRunError, row: int, fields: Mapping[str, object]) -> None:
        super().__init__(make_error, row, fields)
        self.make_error = make_error
        self.row = row
        self.fields = fields

    def build_error(self, location: RowLocation) -> MatchRecognizeRunError:
        """Return the error for the user. `location` says where `row` is, in the user's terms."""
        return self.make_error(location=location, **self.fields)


def encode_skip(to: SkipTo) -> SkipRule:
    """Return a skip strategy as kernels read it."""
    return SkipRule(uses_last_target=to.end is End.LAST, rows_after_target=to.past)


def find_skip_targets(
    variable: str | None, members: Mapping[str, frozenset[int]], variable_ids: IntArray
) -> BoolArray:
    """Return bool[k], for each variable, whether its rows are targets of AFTER MATCH SKIP.

    Args:
        variable: the variable that the strategy names, primary or union; None if it names none, so
            that all rows are targets.
        members: ids of primary variables, by the name of a variable.
        variable_ids: int64[k], the ids of the variables.
    """
    if variable is None:
        return np.ones(len(variable_ids), np.bool_)
    return np.isin(variable_ids, list(members[variable]))


def find_next_starts(
    skip: AfterMatchSkip | Skip, members: Mapping[str, frozenset[int]], matches: Matches
) -> IntArray:
    """Return int64[m], the row from which the search goes on after each match.

    It is `search_loop.NO_TARGET` if the match has no target.
    """
    variable_ids = np.arange(int(matches.classifiers.max(initial=0)) + 1)
    is_target = find_skip_targets(skip.variable, members, variable_ids)
    start_after = np.empty(matches.count, np.int64)
    search_loop.fill_next_starts(
        encode_skip(skip.to),
        is_target,
        np.ascontiguousarray(matches.start),
        np.ascontiguousarray(matches.offsets),
        np.ascontiguousarray(matches.classifiers),
        None if matches.rows is None else np.ascontiguousarray(matches.rows),
        start_after,
    )
    return start_after
