"""Errors in how PREV, NEXT, FIRST, LAST, CLASSIFIER and MATCH_NUMBER are called.

`clause` is the clause in which the call stands, e.g. MEASURES.
"""

from __future__ import annotations

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import part
from matchrec.errors.sql.foreign_names import or_dialect
from matchrec.source import Span


def no_column(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """A navigation that reads nothing from the row it finds."""
    return MatchRecognizePlanError(
        f"{function} in {clause} reads no column",
        span,
        hint=f"write {function}(A.x) or {function}(CLASSIFIER())",
    )


def wrong_nesting(
    outer: str, inner: str, clause: str, spans: tuple[Span, Span]
) -> MatchRecognizePlanError:
    """Navigation in navigation, other than FIRST or LAST directly in PREV or NEXT."""
    return MatchRecognizePlanError(
        f"{inner} cannot stand in {outer} in {clause}",
        *spans,
        notes=("only PREV and NEXT may hold another navigation: FIRST or LAST, and nothing else",),
        hint="write PREV(FIRST(A.x, 2), 3), with the whole expression in the inner one",
    )


def bad_offset(
    function: str, written: str, clause: str, default: int, span: Span
) -> MatchRecognizePlanError:
    """An offset that is no whole number, or not known before the match."""
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `{written}`, not a constant whole number of rows",
        span,
        hint=f"write a number from 0 on; left out, it is {default}",
    )


def offset_too_large(
    function: str, clause: str, limit: int, span: Span
) -> MatchRecognizeUnsupportedError:
    """PREV(x, 9223372036854775807)."""
    return MatchRecognizeUnsupportedError(
        f"offset of {function} in {clause} is over {limit:,}",
        span,
        hint="write a number of rows that a partition can have",
    )


def negative_offset(
    function: str, written: str, rows: str, clause: str, span: Span
) -> MatchRecognizePlanError:
    """An offset below 0: so many `rows` the other way."""
    opposite = {"PREV": "NEXT", "NEXT": "PREV", "FIRST": "LAST", "LAST": "FIRST"}[function]
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `{written}`; the least offset is 0",
        span,
        hint=f"write {opposite}(x, {rows}) to go the other way",
    )


def wrong_number_of_arguments(
    function: str, expected: str, given: int, clause: str, span: Span
) -> MatchRecognizePlanError:
    """Too many arguments, or too few."""
    return MatchRecognizePlanError(
        f"{function} in {clause} takes {expected}, {given} given", span, hint=_USAGE.get(function)
    )


_USAGE = {
    "PREV": "write PREV(A.x) or PREV(A.x, 2)",
    "NEXT": "write NEXT(A.x) or NEXT(A.x, 2)",
    "FIRST": "write FIRST(A.x) or FIRST(A.x, 2)",
    "LAST": "write LAST(A.x) or LAST(A.x, 2)",
    "CLASSIFIER": "write CLASSIFIER() or CLASSIFIER(A)",
    "MATCH_NUMBER": "write MATCH_NUMBER()",
    "MATCH_ROW_NUMBER": "write MATCH_ROW_NUMBER()",
    "MATCHED_ROWS": "write MATCHED_ROWS() or MATCHED_ROWS(A)",
    "count": or_dialect("write count(*) for all rows, count(A.*) for the rows of A", "trino"),
}


def modifier_of_navigation(
    function: str, modifier: str, clause: str, span: Span
) -> MatchRecognizeParseError:
    """DISTINCT, FILTER, IGNORE NULLS with a navigation."""
    modifier = f"{modifier} NULLS" if modifier in ("IGNORE", "RESPECT") else modifier
    hint = _MODIFIED.get((function, modifier), f"remove {modifier}")
    return MatchRecognizeParseError(
        f"{modifier} with {function} in {clause}",
        span,
        notes=(f"{function} reads one row of the match and takes an offset only",),
        hint=hint.format(define=part("DEFINE")),
    )


_MODIFIED = {
    ("FIRST", "FILTER"): "test the row in {define}, or write min_by(A.x, order) FILTER (WHERE ...)",
    ("LAST", "FILTER"): "test the row in {define}, or write max_by(A.x, order) FILTER (WHERE ...)",
    ("FIRST", "IGNORE NULLS"): "write min_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
    ("LAST", "IGNORE NULLS"): "write max_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
}
