"""Errors of NOT in a row pattern. `name` is the variable that NOT forbids."""

from __future__ import annotations

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.source import Span


def nothing_negated(span: Span) -> MatchRecognizeParseError:
    """`NOT )`, `NOT (A B)`, `NOT (A | B+)`."""
    return MatchRecognizeParseError(
        "NOT in PATTERN is about one row: a variable, or one of several",
        span,
        hint="write NOT B, or NOT (B | C); if a variable is called NOT, write it in backticks",
    )


def negation_repeated(span: Span) -> MatchRecognizeParseError:
    """`NOT B+`."""
    return MatchRecognizeParseError(
        "NOT in PATTERN matches no row, so it has no quantifier",
        span,
        hint="write NOT B once; it forbids each such row by itself",
    )


def negation_at_start(span: Span | None) -> MatchRecognizeUnsupportedError:
    """`NOT B A` where rows follow each other."""
    return MatchRecognizeUnsupportedError(
        "NOT in PATTERN with no row of the match before it",
        span,
        hint="write it after a variable, A NOT B; what the first row must not be belongs in its "
        "condition, and the row before it is read with PREV",
    )


def several_ends(span: Span | None) -> MatchRecognizeUnsupportedError:
    """`A (NOT B | NOT C)` at the end."""
    return MatchRecognizeUnsupportedError(
        "PATTERN may end with one NOT or with another",
        span,
        hint="end it with one NOT, such as NOT (B | C)",
    )


def preferred_negation(span: Span | None) -> MatchRecognizeUnsupportedError:
    """NOT where rows are skipped and preferred matches are asked for."""
    return MatchRecognizeUnsupportedError(
        "NOT in PATTERN where rows are skipped is tested on all matches, not on preferred ones",
        span,
        hint="write ALL MATCHES or NON-OVERLAPPING MATCHES after the event selection",
    )


def nested_negation(span: Span | None) -> MatchRecognizeUnsupportedError:
    """`(A NOT B)+ C` where rows are skipped."""
    return MatchRecognizeUnsupportedError(
        "NOT inside a group, an exclusion or PERMUTE, where rows are skipped",
        span,
        hint="write it between two parts of the whole pattern, A NOT B C",
    )


def negation_beside_optional(side: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """`A NOT B C?` where rows are skipped. side: before or after."""
    return MatchRecognizeUnsupportedError(
        f"NOT in PATTERN where all that stands {side} it may have no rows, and rows are skipped",
        span,
        hint=f"write a variable {side} it that has a row in every match",
    )


def negation_without_window(name: str, end: str, span: Span | None) -> MatchRecognizePlanError:
    """`A NOT B` where rows are skipped, without WITHIN. end: beginning or end."""
    return MatchRecognizePlanError(
        f"NOT {name} at the {end} of PATTERN has no WITHIN, and rows are skipped",
        span,
        hint="add WITHIN: such a row must not come in the window of the match",
    )


def variable_on_both_sides(name: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """`A NOT B C A` where rows are skipped. name: that stands before and after NOT."""
    return MatchRecognizeUnsupportedError(
        f"`{name}` stands before NOT and after it, where rows are skipped",
        span,
        hint=f"use another variable with the condition of `{name}` on one side",
    )


def negated_and_mapped(name: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """`A NOT B C B` where rows are skipped."""
    return MatchRecognizeUnsupportedError(
        f"`{name}` stands under NOT and by itself, where rows are skipped",
        span,
        hint=f"use another variable with the condition of `{name}` under NOT",
    )


def negated_variable(name: str, clause: str, span: Span | None) -> MatchRecognizePlanError:
    """A variable under NOT where one with rows is asked for."""
    return MatchRecognizePlanError(
        f"`{name}` in {clause} stands under NOT in PATTERN: no row is mapped to it",
        span,
        hint="name a variable that has rows",
    )


def reads_forbidden_row(
    what: str, name: str, span: Span | None, hint: str
) -> MatchRecognizeUnsupportedError:
    """What the condition of a variable under NOT cannot read."""
    return MatchRecognizeUnsupportedError(
        f"{what} in the condition of `{name}`, which stands under NOT", span, hint=hint
    )
