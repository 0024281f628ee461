"""What has been counted of a query's starting rows, and of what."""

from __future__ import annotations

from dataclasses import field

from matchrec.compile.coverage import CoverageDraft, CoverageTask
from matchrec.dataclass import dataclass
from matchrec.engine.contiguous.coverage import Counts


@dataclass(frozen=True, slots=True)
class Figures:
    """What is counted of rows and matches. The last three are the most of one, not a sum.

    matched_partitions: with a match. covered: rows of matches. ties: rows that equal the one before
    in their order. longest: rows of a match. largest: rows of a partition. held: rows that were
    looked at in one call.
    """

    rows: int = 0
    partitions: int = 0
    matched_partitions: int = 0
    matches: int = 0
    covered: int = 0
    ties: int = 0
    longest: int = 0
    largest: int = 0
    held: int = 0


SUMS = 6


@dataclass(frozen=True, slots=True)
class NearestStart:
    """The starting row that came nearest to a match and began none.

    remaining: how many rows a match still needed. partition, order: its keys and its values in the
    ORDER BY, each as text by its name; None for NULL.
    """

    remaining: int
    partition: dict[str, str | None] = field(default_factory=dict)
    order: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted of a clause, and of what."""

    asked: CoverageDraft
    task: CoverageTask
    figures: Figures
    counts: Counts
    nearest: NearestStart | None
