"""The numbers that the workers counted for a clause: rows, matches, and how far each start came."""

from __future__ import annotations

from dataclasses import dataclass, field

from matchrec.compile.coverage import CoverageQuery, CoverageTask
from matchrec.search.coverage import Counts


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers of rows and matches, counted by one worker or summed over all workers.

    A worker sends the fields in this order.
    """

    rows: int = 0
    partitions: int = 0
    matched_partitions: int = 0  # partitions with a match
    matches: int = 0
    rows_in_matches: int = 0  # rows that are in a match
    ties: int = 0  # rows that equal the row before them in their order
    longest_match: int = 0  # in rows
    largest_partition: int = 0  # in rows
    rows_held: int = 0  # the most rows that a worker held in memory at once

    def merge(self, other: Figures) -> Figures:
        """Return the figures of two chunks or workers together."""
        return Figures(
            rows=self.rows + other.rows,
            partitions=self.partitions + other.partitions,
            matched_partitions=self.matched_partitions + other.matched_partitions,
            matches=self.matches + other.matches,
            rows_in_matches=self.rows_in_matches + other.rows_in_matches,
            ties=self.ties + other.ties,
            longest_match=max(self.longest_match, other.longest_match),
            largest_partition=max(self.largest_partition, other.largest_partition),
            rows_held=max(self.rows_held, other.rows_held),
        )


@dataclass(frozen=True, slots=True)
class NearestStart:
    """The starting row without a match that came closest to a match."""

    # The smallest number of rows that a match still needed.
    remaining: int
    # The values of the row in the columns of PARTITION BY, by the name of the column: numbers for
    # integer columns, texts for other columns, and None for NULL.
    partition: dict[str, str | int | None] = field(default_factory=dict)
    # The values of the row in the columns of ORDER BY, in the same form.
    order: dict[str, str | int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CountedCoverage:
    """The numbers that the workers counted for a clause, and the compiled clause."""

    query: CoverageQuery
    task: CoverageTask
    figures: Figures
    # How far the starting rows came, and why they went no further.
    counts: Counts
    # The starting row that came closest to a match; None if all starting rows began a match.
    nearest: NearestStart | None
    # Whether the user chose to cut partitions into ranges. Coverage does not cut them, because it
    # needs every row.
    ranges_requested: bool
