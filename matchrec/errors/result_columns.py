"""Errors in the columns of the result of a clause."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.source import Span


def duplicate_output_column(span: Span | None = None, *, name: str) -> MatchRecognizePlanError:
    """Return the error for a result with two columns of the same name."""
    return MatchRecognizePlanError(
        f"the result would have two columns `{name}`",
        span,
        hint=(
            f"leave one of them out, or give it another name, such as {name}_2; rename an input "
            "column in a subquery"
        ),
        code="duplicate-output-column",
    )


def duplicate_classifier_field(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for MATCHED_ROWS over an input with a column `classifier`."""
    return MatchRecognizePlanError(
        "MATCHED_ROWS would have two fields `classifier`: the input has a column of that name",
        span,
        hint="rename the column first: FROM (SELECT * EXCEPT (classifier), classifier AS c ...)",
        code="duplicate-classifier-field",
    )


def no_output_columns(span: Span | None) -> MatchRecognizePlanError:
    """Return the error for ONE ROW PER MATCH with neither PARTITION BY nor MEASURES."""
    return MatchRecognizePlanError(
        "the result would have no columns: ONE ROW PER MATCH has neither PARTITION BY nor MEASURES",
        span,
        hint="add MEASURES, such as MATCH_NUMBER() AS match, or write ALL ROWS PER MATCH",
        code="no-output-columns",
    )
