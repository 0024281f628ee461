"""Errors of `coverage`."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.source import Span


def coverage_of_match_number() -> MatchRecognizeUnsupportedError:
    """MATCH_NUMBER() in a condition of a query that may skip rows, or asks for all matches."""
    return MatchRecognizeUnsupportedError(
        "coverage of a query with event selection and MATCH_NUMBER() in a condition",
        notes=("every row is a starting row then, so matches have no numbers",),
        hint="leave that condition out, or ask matchrec.why about a partition",
    )


def coverage_without_clause() -> MatchRecognizePlanError:
    """A text without a clause, such as one of SASE+."""
    return MatchRecognizePlanError(
        "the query has no MATCH_RECOGNIZE clause to cover",
        hint="pass the query that has it; for SASE+ call coverage_sase, for a Pattern"
        " coverage_pattern",
    )


def coverage_of_longest() -> MatchRecognizeUnsupportedError:
    """PATTERN (...) LONGEST MATCH."""
    return MatchRecognizeUnsupportedError(
        "coverage of LONGEST MATCH",
        notes=("starting rows are counted while the preferred match of each is sought",),
        hint="leave LONGEST MATCH out: the same starting rows begin no match",
    )


def coverage_of_stream() -> MatchRecognizeUnsupportedError:
    """Coverage over a streaming DataFrame."""
    return MatchRecognizeUnsupportedError(
        "coverage over a streaming DataFrame",
        notes=("it is counted over rows that are all there",),
        hint="count over a table of the same rows, or over each batch in foreachBatch",
    )


def coverage_of_negation(span: Span | None) -> MatchRecognizeUnsupportedError:
    """NOT in PATTERN."""
    return MatchRecognizeUnsupportedError(
        "coverage of a query with NOT in PATTERN",
        span,
        notes=("it counts how often each variable takes a row, and NOT takes none",),
        hint="ask matchrec.why about a starting row",
    )
