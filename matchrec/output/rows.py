"""The rows of the row pattern output table: one or all per match, empty matches, unmatched rows.

Source: ISO/IEC 19075-5, ONE ROW PER MATCH and ALL ROWS PER MATCH.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matchrec.plan.clauses import RowsPerMatch
from matchrec.search.flat_arrays import overwrite_few
from matchrec.search.matches import Matches
from matchrec.search.partitions import BoolArray, IntArray, Partitions


@dataclass(frozen=True, slots=True)
class OutputRows:
    """The r output rows of some matches, or of unmatched rows."""

    # int64[r]: the position of the input row. With ONE ROW PER MATCH, the match's starting row.
    input_rows: IntArray
    # int64[r]: the index of the match, -1 for an unmatched row.
    match_indices: IntArray
    # int64[r]: the row from which measures look, as its index among the mapped rows of all matches.
    # -1 for an empty match or an unmatched row.
    current_rows: IntArray

    @property
    def count(self) -> int:
        """Return the number r of output rows."""
        return len(self.input_rows)

    def take(self, selection: BoolArray | slice) -> OutputRows:
        """Return some of the output rows.

        Args:
            selection: bool[r], which rows to return; or a slice of the rows.
        """
        return OutputRows(
            input_rows=self.input_rows[selection],
            match_indices=self.match_indices[selection],
            current_rows=self.current_rows[selection],
        )


def find_output_rows(matches: Matches, rows_per_match: RowsPerMatch) -> OutputRows:
    """Return the output rows of matches.

    The output rows of unmatched input rows are not among them: see `find_unmatched_rows`.
    """
    if rows_per_match.has_one_row_per_match:
        return find_one_row_per_match(matches)
    return list_all_rows(matches, with_empty=rows_per_match.shows_empty)


def list_all_rows(matches: Matches, *, with_empty: bool) -> OutputRows:
    """Return one output row per mapped row that is not excluded, match after match.

    Args:
        matches: matches in any order. They must not share their rows.
        with_empty: whether an empty match has an output row, too: its starting row.
    """
    lengths = np.diff(matches.offsets)
    row_counts = np.maximum(lengths, 1) if with_empty else lengths
    match_indices = np.repeat(np.arange(matches.count), row_counts)
    first_output_rows = np.cumsum(row_counts) - row_counts
    positions_in_match = np.arange(len(match_indices)) - first_output_rows[match_indices]
    has_current_row = lengths[match_indices] > 0
    current_rows = np.where(
        has_current_row, matches.offsets[:-1][match_indices] + positions_in_match, -1
    )
    input_rows = matches.start[match_indices] + positions_in_match
    if matches.rows is not None:
        # Rows were skipped, so the rows of a match need not be neighbours.
        input_rows[has_current_row] = matches.rows[current_rows[has_current_row]]
    output_rows = OutputRows(input_rows, match_indices, current_rows)
    is_shown = np.ones(len(match_indices), np.bool_)
    is_shown[has_current_row] = ~matches.is_excluded[current_rows[has_current_row]]
    return output_rows if is_shown.all() else output_rows.take(is_shown)


def find_one_row_per_match(matches: Matches) -> OutputRows:
    """Return one output row per match. Its measures look from the last row of the match.

    If matches share their rows, measures look from the first row of the match, because only the
    rows after a mapped row can be found from it.
    """
    match_indices = np.arange(matches.count)
    if matches.chains is not None:
        return OutputRows(matches.start, match_indices, matches.chains.first_mapped_rows)
    current_rows = matches.offsets[1:] - 1
    is_empty = current_rows < matches.offsets[:-1]
    overwrite_few(current_rows, is_empty, -1)
    return OutputRows(matches.start, match_indices, current_rows)


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
    input_rows = np.flatnonzero(~is_covered)
    nothing = np.full(len(input_rows), -1, np.int64)
    return OutputRows(input_rows, match_indices=nothing, current_rows=nothing)
