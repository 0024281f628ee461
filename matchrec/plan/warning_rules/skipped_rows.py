"""Warnings about PREV in conditions if the match may have skipped the previous row."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.clauses import EventSelection
from matchrec.plan.expression import ColumnReference
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import find_first_variables
from matchrec.plan.warning_rules.references import reads_nearby_row, show_plain_argument


def warn_about_skipped_rows(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each PREV of the tested row if a match can skip rows.

    PREV reads the previous row of the partition, even if the match has skipped this row. A variable
    that can begin the match raises no warning: there, PREV reads the row before the match.
    """
    if plan.selection is EventSelection.STRICT_CONTIGUITY or plan.staging is not None:
        return
    first_variables = find_first_variables(plan.pattern)
    for definition in plan.definitions:
        if definition.variable in first_variables:
            continue
        for reference in definition.condition.references:
            if isinstance(reference, ColumnReference) and reads_nearby_row(
                reference, definition, plan, offset=-1
            ):
                yield warnings.prev_of_skipped_row(
                    reference.span,
                    selection=plan.selection.value,
                    argument=show_plain_argument(reference),
                )
