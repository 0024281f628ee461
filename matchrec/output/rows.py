"""The rows of the row pattern output table: one or all per match, empty matches, unmatched rows.

Source: ISO/IEC 19075-5, ONE ROW PER MATCH and ALL ROWS PER MATCH.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matchrec.plan.clauses import RowsPerMatch
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions, overwrite_few


@dataclass(frozen=True, slots=True)
class OutputRows:
    """The r output rows of some matches."""

    # int64[r]: the position of the input row. With ONE ROW PER MATCH, the match's starting row.
    row: IntArray
    # int64[r]: the index of the match, -1 for an unmatched row.
    match: IntArray
    # int64[r]: the row from which measures look, as its index among the mapped rows of all matches.
    # -1 for an empty match or an unmatched row.
    current: IntArray

    @property
    def count(self) -> int:
        """Return the number r of output rows."""
        return len(self.row)

    def take(self, selection: BoolArray | slice) -> OutputRows:
        """Return some of the output rows.

        Args:
            selection: bool[r], which rows to return; or a slice of the rows.
        """
        return OutputRows(self.row[selection], self.match[selection], self.current[selection])


def find_output_rows(matches: Matches, rows_per_match: RowsPerMatch) -> OutputRows:
    """Return the output rows of matches.

    The output rows of unmatched input rows are not among them: see `find_unmatched_rows`.
    """
    if rows_per_match.has_one_row_per_match:
        return find_one_row_per_match(matches)
    return list_all_rows(matches, with_empty=rows_per_match.shows_empty)


def list_all_rows(matches: Matches, *, with_empty: bool) -> OutputRows:
    """Return one output row per mapped row that is not excluded.

    Args:
        matches: matches in any order. They must not share their rows.
        with_empty: whether an empty match has an output row, too.
    """
    lengths = np.diff(matches.offsets)
    rows_of_matches = np.maximum(lengths, 1) if with_empty else lengths
    match = np.repeat(np.arange(matches.count), rows_of_matches)
    first = np.cumsum(rows_of_matches) - rows_of_matches
    position_in_match = np.arange(len(match)) - first[match]
    is_empty = lengths[match] == 0
    current = np.where(is_empty, -1, matches.offsets[:-1][match] + position_in_match)
    is_shown = np.ones(len(match), np.bool_)
    is_shown[~is_empty] = ~matches.excluded[current[~is_empty]]
    row = matches.start[match] + position_in_match
    if matches.rows is not None:
        # Rows were skipped, so the rows of a match need not be neighbours.
        row[~is_empty] = matches.rows[current[~is_empty]]
    rows = OutputRows(row, match, current)
    return rows if is_shown.all() else rows.take(is_shown)


def find_one_row_per_match(matches: Matches) -> OutputRows:
    """Return one output row per match. Its measures look from the last row of the match.

    If matches share their rows, measures look from the first row of the match.
    """
    if matches.chains is not None:
        return OutputRows(matches.start, np.arange(matches.count), matches.chains.first)
    current = matches.offsets[1:] - 1
    overwrite_few(current, current < matches.offsets[:-1], -1)  # the match is empty
    return OutputRows(matches.start, np.arange(matches.count), current)


def find_matched_rows(matches: Matches, row_count: int) -> BoolArray:
    """Return which of the input rows are in a match, even in an empty one: bool[n].

    An empty match has its starting row.

    Args:
        matches: matches that were found in these rows.
        row_count: the number n of input rows.
    """
    is_matched = np.zeros(row_count, np.bool_)
    is_matched[matches.mapped_rows] = True
    is_matched[matches.start] = True
    return is_matched


def find_covered_rows(matches: Matches, rows_per_match: RowsPerMatch, row_count: int) -> BoolArray:
    """Return which rows matches cover, so that they are not output as unmatched: bool[n].

    A match covers its rows. In the output of a row pattern window, which has one row per input row,
    a match covers only its starting row.

    Args:
        matches: matches that were found in these rows.
        rows_per_match: the output of the query.
        row_count: the number n of input rows.
    """
    if not rows_per_match.is_window_output:
        return find_matched_rows(matches, row_count)
    is_start = np.zeros(row_count, np.bool_)
    is_start[matches.start] = True
    return is_start


def find_unmatched_rows(is_covered: BoolArray, partitions: Partitions) -> OutputRows:
    """Return the output rows of the input rows that no match covers.

    Args:
        is_covered: bool[n], which input rows a match covers.
        partitions: the partitions of the n input rows.
    """
    assert len(is_covered) == partitions.row_count
    row = np.flatnonzero(~is_covered)
    no_match = np.full(len(row), -1, np.int64)
    return OutputRows(row, match=no_match, current=no_match)
