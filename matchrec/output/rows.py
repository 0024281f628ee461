"""The rows of the row pattern output table: one or all per match, empty matches, unmatched rows.

Source: ISO/IEC 19075-5, ONE ROW PER MATCH and ALL ROWS PER MATCH.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matchrec.plan.clauses import RowsPerMatch
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Output rows of some matches, r in all.

    row: int64[r], the input row an output row stands for; of ONE ROW, the match's starting row.
    match: int64[r], index of the match, -1 for an unmatched row.
    current: int64[r], index among the mapped rows of all matches of the row from which measures
    look, -1 where there is none: an empty match, an unmatched row.
    """

    row: IntArray
    match: IntArray
    current: IntArray

    @property
    def count(self) -> int:
        return len(self.row)

    def take(self, part: BoolArray | slice) -> OutputRows:
        return OutputRows(self.row[part], self.match[part], self.current[part])


def output_rows(matches: Matches, rows_per_match: RowsPerMatch) -> OutputRows:
    """The rows that come out for `matches`; unmatched rows are `unmatched_rows`'s to add."""
    if rows_per_match.is_one_row:
        return one_row_each(matches)
    # one for each mapped row that is not excluded, and mostly for each empty match
    lengths = np.diff(matches.offsets)
    with_empty = rows_per_match is not RowsPerMatch.ALL_ROWS_OMIT_EMPTY
    shown = np.maximum(lengths, 1) if with_empty else lengths
    match = np.repeat(np.arange(matches.count), shown)
    first = np.cumsum(shown) - shown
    within = np.arange(len(match)) - first[match]
    empty = lengths[match] == 0
    current = np.where(empty, -1, matches.offsets[:-1][match] + within)
    kept = np.ones(len(match), np.bool_)
    kept[~empty] = ~matches.excluded[current[~empty]]
    row = matches.start[match] + within
    if matches.rows is not None:
        row[~empty] = matches.rows[current[~empty]]
    rows = OutputRows(row, match, current)
    return rows if kept.all() else rows.take(kept)


def one_row_each(matches: Matches) -> OutputRows:
    """One row per match, which looks from the match's last row."""
    if matches.chains is not None:  # what it sees from its first row on
        return OutputRows(matches.start, np.arange(matches.count), matches.chains.first)
    lengths = np.diff(matches.offsets)
    current = np.where(lengths > 0, matches.offsets[1:] - 1, -1)
    return OutputRows(matches.start, np.arange(matches.count), current)


def matched_rows(matches: Matches, rows: int) -> BoolArray:
    """bool[rows], true where a row is in some match, or is the row of an empty match."""
    covered = np.zeros(rows, np.bool_)
    covered[matches.mapped_rows] = True
    covered[matches.start] = True
    return covered


def rows_that_come_out(matches: Matches, rows_per_match: RowsPerMatch, rows: int) -> BoolArray:
    """bool[rows], true where a row comes out for a match, so not as an unmatched one."""
    if rows_per_match is not RowsPerMatch.EACH_ROW:
        return matched_rows(matches, rows)
    started = np.zeros(rows, np.bool_)
    started[matches.start] = True
    return started


def unmatched_rows(covered: BoolArray, partitions: Partitions) -> OutputRows:
    assert len(covered) == partitions.rows
    row = np.flatnonzero(~covered)
    nothing = np.full(len(row), -1, np.int64)
    return OutputRows(row, nothing, nothing)
