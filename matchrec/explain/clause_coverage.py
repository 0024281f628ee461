"""The coverage of a clause in numbers: how many starting rows reached each variable of PATTERN.

`explain.coverage_summary` computes it from what the workers have counted. `explain.funnel` shows it
as text, `explain.funnel_picture` as a picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from matchrec.compile.counted_coverage import Figures, NearestStart
from matchrec.public_names import public


class Reason(Enum):
    """The reason why a run came no closer to a match, as a sentence.

    `{}` in a sentence stands for the variables that the run awaited. The members are in the order
    in which `search.kernels.nearest_runs` numbers reasons.
    """

    FALSE = "{}'s condition was not true"
    NO_ROW = "the partition ended before {}"
    OUT_OF_WINDOW = "the window ended before {}"
    ANCHORED = "^ or $ did not hold"
    FORBIDDEN = "a forbidden row came before {}"

    def __repr__(self) -> str:
        """Return the name of the member, without the sentence."""
        return f"Reason.{self.name}"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """How many runs ended for one reason, while they awaited the same variables."""

    reason: Reason
    # The names of the variables that would have brought the runs closer to a match.
    awaited: tuple[str, ...]
    # The least number of rows that a match still needed.
    remaining: int
    # The number of runs.
    count: int

    def __str__(self) -> str:
        """Return the reason as a sentence with the names of the awaited variables."""
        if self.reason is Reason.FALSE and len(self.awaited) != 1:
            return f"the conditions of {', '.join(self.awaited)} were not true"
        return self.reason.value.format(" or ".join(self.awaited) or "the end of the match")


@dataclass(frozen=True, slots=True)
class FalsePart:
    """A part of a condition that has several parts, and how often the part was not true.

    All conjuncts that depend on the run are one part, which counts only if the other parts were
    true.
    """

    variable: str  # the name of the variable or stage
    text: str  # the part as the user wrote it
    count: int  # the number of runs for which the part was not true


@dataclass(frozen=True, slots=True)
class LoopCoverage:
    """How many starting rows reached a number of rows in a loop, such as two rows of `A{5,}`."""

    # The number of rows of the loop.
    rows: int
    # The number of starting rows that reached this number of rows.
    reached: int
    # The reasons why some of these starting rows did not reach the next number that is listed.
    stop_reasons: tuple[RunEnding, ...]


@dataclass(frozen=True, slots=True)
class OccurrenceCoverage:
    """How many starting rows reached an occurrence of a variable in PATTERN, or the start.

    The start is before any row. Every starting row reaches it.
    """

    # The number of the occurrence in PATTERN, from 1; 0 for the start.
    number: int
    # The name of the variable; None at the start.
    variable: str | None
    # The number of starting rows whose match or nearest run has a row there.
    reached: int
    # The number of these starting rows that began no match, and whose nearest run had its last row
    # there.
    stopped: int
    # The reasons why these nearest runs ended, the most frequent reason first.
    stop_reasons: tuple[RunEnding, ...]
    # The parts of conditions that were not true when these runs ended, the most frequent part
    # first.
    false_parts: tuple[FalsePart, ...]
    # For a loop that needs several rows, how many starting rows reached one row of the loop, two
    # rows, and so on up to the number that it needs; for a long loop, only some of these numbers.
    # Empty for other occurrences.
    loop: tuple[LoopCoverage, ...] = ()


@public
@dataclass(frozen=True, repr=False, match_args=False)
class ClauseCoverage:
    """How far the starting rows of one clause got through its pattern, from `Coverage.clauses`.

    Attributes:
        pattern: the row pattern as text.
        figures: the numbers of `rows`, `partitions`, `matched_partitions` with a match, `matches`,
            `rows_in_matches` and `ties`; the number of rows of the `longest_match` and of the
            `largest_partition`, and the most rows that a worker held in memory (`rows_held`).
        occurrences: the start, before any row, then each variable in the order of PATTERN. Each has
            a `variable`, and the numbers of starting rows that `reached` it and `stopped` there.
        nearest: the starting row without a match that came closest to a match, with its values in
            the `partition` and `order` columns, and the number of rows that a match still needed
            (`remaining`); None if there is no such row.
        tries_every_row: whether every row is a starting row, because rows can be skipped or all
            matches are needed. Then `figures.matches` counts the rows that begin a match.
        ranges_requested: whether the options ask for ranges. `coverage` does not cut partitions.
        ignored_option: FIRST n MATCHES of the query, because `coverage` counts all matches; None if
            the query has no such option.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> clause = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL RISE) DEFINE FALL AS price < PREV(price), RISE AS price > 100
    ... ''').coverage().clauses[1]
    >>> [(occurrence.variable, occurrence.reached) for occurrence in clause.occurrences]
    [(None, 4), ('FALL', 2), ('RISE', 0)]
    """

    pattern: str
    figures: Figures
    occurrences: tuple[OccurrenceCoverage, ...]
    nearest: NearestStart | None
    tries_every_row: bool = False
    ranges_requested: bool = False
    ignored_option: str | None = None

    def __repr__(self) -> str:
        """Return the summary."""
        return f"<ClauseCoverage: {self.summary}>"

    @property
    def tried(self) -> int:
        """The number of starting rows: rows from which the search tried to find a match.

        The other rows are inside matches.
        """
        return self.occurrences[0].reached

    @property
    def without_match(self) -> int:
        """The number of starting rows that began no match."""
        return self.tried - self.figures.matches

    @property
    def summary(self) -> str:
        """The row pattern, and how many of the starting rows begin a match, in one line."""
        begin = f"{self.figures.matches:,} of {self.tried:,} starting rows begin a match"
        return f"{self.pattern}, {begin}"
