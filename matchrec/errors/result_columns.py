"""Errors in the columns of the result of a clause."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.source import Span


def measure_with_taken_name(
    span: Span | None, *, name: str, has_input_columns: bool
) -> MatchRecognizePlanError:
    """Return the error for a measure that has the name of another column of the result.

    Args:
        span: the name of the measure in the text of the query.
        name: the name, as the measure has it.
        has_input_columns: whether the result has all columns of the input. Otherwise, the other
            column is one of PARTITION BY.
    """
    if has_input_columns:
        note = "the result has all columns of the input, and one has this name"
    else:
        note = f"the result has the column `{name}` of {name_part('PARTITION BY')}"
    return MatchRecognizePlanError(
        f"the result would have two columns `{name}`",
        span,
        notes=(note,),
        hint=f"leave it out, or give it another name, such as {name}_2",
        code="duplicate-output-column",
    )


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
