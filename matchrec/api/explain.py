"""What `explain` shows of a planned clause."""

from __future__ import annotations

from matchrec.api.remarks import Remarks
from matchrec.explain.clause import ExplainedClause
from matchrec.spark.execute import ClauseResult


def explain_result(result: ClauseResult, remarks: Remarks) -> ExplainedClause:
    """Return the explanation of a planned clause, with the warnings about it."""
    preparation = result.prepared.preparation
    return ExplainedClause(
        plan=result.draft.plan,
        executable=result.executable,
        keys=preparation.row_filters,
        warnings=tuple(map(str, remarks)),
        is_stream=result.prepared.question.is_stream,
        written=result.draft.written,
        sorter=preparation.sorter,
        reason_for_building_matches=result.reason_for_building_matches,
        ranges=preparation.show_ranges(),
    )
