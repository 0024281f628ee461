"""Errors of `coverage`."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError


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


def no_such_clause(asked: int, clauses: int) -> MatchRecognizePlanError:
    """clause= is none of the query's clauses."""
    known = "one clause" if clauses == 1 else f"clauses 1 to {clauses}"
    return MatchRecognizePlanError(
        f"clause {asked} of a query that has {known}", hint="leave clause out for all of them"
    )


def nothing_to_cover() -> MatchRecognizePlanError:
    """A query without a clause."""
    return MatchRecognizePlanError(
        "coverage of a query without MATCH_RECOGNIZE", hint="pass a query with a clause"
    )
