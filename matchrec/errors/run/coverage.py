"""Errors of `coverage`."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeUnsupportedError
from matchrec.source import Span


def coverage_of_event_selection() -> MatchRecognizeUnsupportedError:
    """A query that may skip rows, or asks for all matches."""
    return MatchRecognizeUnsupportedError(
        "coverage of a query with event selection",
        notes=("a run that may skip every row ends nowhere: nothing says how far it came",),
        hint="count its runs instead: pass counters=matchrec.Counters()",
    )


def coverage_of_longest() -> MatchRecognizeUnsupportedError:
    """PATTERN (...) LONGEST MATCH."""
    return MatchRecognizeUnsupportedError(
        "coverage of LONGEST MATCH",
        notes=("starting rows are counted while the preferred match of each is sought",),
        hint="leave LONGEST MATCH out: the same starting rows begin no match",
    )


def coverage_of_negation(span: Span | None) -> MatchRecognizeUnsupportedError:
    """NOT in PATTERN."""
    return MatchRecognizeUnsupportedError(
        "coverage of a query with NOT in PATTERN",
        span,
        notes=("it counts how often each variable takes a row, and NOT takes none",),
        hint="ask matchrec.why about a starting row",
    )
