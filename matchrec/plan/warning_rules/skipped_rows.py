"""Warnings about PREV in conditions if the match may have skipped the previous row."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.clauses import EventSelection
from matchrec.plan.expression import ColumnReference
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import find_first_variables
from matchrec.plan.warning_rules.references import reads_current_row, show_plain_argument


def warn_about_skipped_rows(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each PREV of the current row if rows may be skipped.

    The match may have skipped the previous row. In the condition of a variable that can begin the
    match, PREV reads the row before the match, so it raises no warning.
    """
    if plan.selection is EventSelection.STRICT_CONTIGUITY or plan.staging is not None:
        return
    first_variables = find_first_variables(plan.pattern)
    for definition in plan.definitions:
        if definition.variable in first_variables:
            continue
        for reference in definition.condition.references:
            if isinstance(reference, ColumnReference) and reads_current_row(
                reference, definition, plan, step=-1
            ):
                yield warnings.prev_of_skipped_row(
                    reference.span,
                    selection=plan.selection.value,
                    argument=show_plain_argument(reference),
                )
