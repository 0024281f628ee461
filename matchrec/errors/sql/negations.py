"""Errors in NOT in a row pattern, and in the conditions of variables under NOT.

In the arguments, `name` is the variable that NOT forbids.
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.wording import join_lines
from matchrec.source import Span


def malformed_negation(span: Span) -> MatchRecognizeParseError:
    """Return the error for NOT that no variable follows."""
    names = re.findall(r"[^\W\d]\w*", read_users_text(span) or "")[1:]
    hint = "write NOT B, or NOT (B | C); if a variable is called NOT, write it in backticks"
    if len(set(names)) > 1:
        hint = f"write NOT {names[0]}, or NOT ({' | '.join(dict.fromkeys(names))})"
    elif names:
        hint = f"write NOT {names[0]}"
    return MatchRecognizeParseError(
        "NOT in PATTERN needs one variable or alternatives",
        span,
        hint=hint,
        code="malformed-negation",
    )


def negation_with_quantifier(span: Span) -> MatchRecognizeParseError:
    """Return the error for NOT B+.

    Args:
        span: NOT with its operand and the beginning of the quantifier.
    """
    negation = re.match(r".*[\w)`\"]", join_lines(read_users_text(span) or "NOT B"))
    return MatchRecognizeParseError(
        "a quantifier is not allowed after NOT in PATTERN",
        span,
        notes=("NOT matches no row, so there is nothing to repeat",),
        hint=f"write {negation[0] if negation else 'NOT B'}; it forbids every such row",
        code="negation-with-quantifier",
    )


def negation_at_start(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NOT B A if the rows of a match are consecutive."""
    return MatchRecognizeUnsupportedError(
        "NOT is not supported before the first row of a match in PATTERN",
        span,
        hint=(
            "write NOT after a variable, A NOT B; write what the first row must not be in its "
            "condition, and read the row before it with PREV"
        ),
        code="negation-at-start",
    )


def several_negations_at_end(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for A (NOT B | NOT C) at the end of PATTERN."""
    return MatchRecognizeUnsupportedError(
        "a PATTERN that can end with one of several NOTs is not supported",
        span,
        hint="end it with one NOT, such as NOT (B | C)",
        code="several-negations-at-end",
    )


def negation_with_preferred_matches(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NOT with preferred matches and an event selection that skips rows."""
    return MatchRecognizeUnsupportedError(
        "NOT in PATTERN is not supported for preferred matches that may skip rows",
        span,
        hint="write ALL MATCHES or NON-OVERLAPPING MATCHES after the event selection",
        code="negation-with-preferred-matches",
    )


def negation_inside_group(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for (A NOT B)+ C if a match may skip rows."""
    return MatchRecognizeUnsupportedError(
        "NOT inside a group, an exclusion or PERMUTE is not supported for matches that may skip "
        "rows",
        span,
        hint="write it between two parts of the whole pattern, A NOT B C",
        code="negation-inside-group",
    )


def negation_beside_optional(span: Span | None, *, side: str) -> MatchRecognizeUnsupportedError:
    """Return the error for A NOT B C? if a match may skip rows.

    Args:
        span: the location in the text of the query.
        side: the side of NOT on which all variables are optional, "before" or "after".
    """
    return MatchRecognizeUnsupportedError(
        f"NOT is not supported if all variables {side} it in PATTERN are optional and matches may "
        "skip rows",
        span,
        hint=f"write a variable {side} it that has a row in every match",
        code="negation-beside-optional",
    )


def negation_without_within(span: Span | None, *, name: str, end: str) -> MatchRecognizePlanError:
    """Return the error for A NOT B without WITHIN if a match may skip rows.

    Args:
        span: the location in the text of the query.
        name: the variable that NOT forbids.
        end: the end of PATTERN that has NOT, "beginning" or "end".
    """
    return MatchRecognizePlanError(
        f"missing WITHIN for NOT {name} at the {end} of PATTERN",
        span,
        notes=("rows may be skipped, so NOT forbids such a row in the whole window of the match",),
        hint="add WITHIN after PATTERN (...), such as WITHIN INTERVAL 1 HOUR",
        code="negation-without-within",
    )


def variable_reused_beside_negation(
    span: Span | None, *, name: str, positions: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for A NOT B C A or A NOT B C B if a match may skip rows.

    Args:
        span: the location in the text of the query.
        name: the variable that PATTERN has twice.
        positions: the two places, such as "before NOT and after it".
    """
    return MatchRecognizeUnsupportedError(
        f"`{name}` {positions} is not supported for matches that may skip rows",
        span,
        hint="write another variable with the same condition in one of the two places",
        code="variable-reused-beside-negation",
    )


def variable_under_negation(
    span: Span | None, *, name: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a clause that reads rows of a variable under NOT."""
    return MatchRecognizePlanError(
        f"`{name}` in {clause} has no rows, because PATTERN has it under NOT",
        span,
        hint="name a variable that has rows",
        code="variable-under-negation",
    )


def reads_row_under_negation(
    span: Span | None, *, what: str, name: str, hint: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a condition of a variable under NOT that reads an unknown value.

    The search does not know such values of a row that it does not map.

    Args:
        span: the location in the text of the query.
        what: the value that the condition reads, such as NEXT(CLASSIFIER()).
        name: the variable.
        hint: what to write instead.
    """
    return MatchRecognizeUnsupportedError(
        f"{what} is not supported in the condition of `{name}`, which is under NOT",
        span,
        hint=hint,
        code="reads-row-under-negation",
    )
