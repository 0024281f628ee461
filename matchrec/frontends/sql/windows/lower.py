"""A window's clause, frame and calls → MatchPlan: each row once, with the match of its frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType

from matchrec.errors.rules import duplicate_measure
from matchrec.errors.sql import window as errors
from matchrec.frontends.row_pattern.parameters import Values
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize, Search
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.windows.functions import read_function
from matchrec.frontends.sql.windows.nodes import RowPatternWindow, uncalled
from matchrec.frontends.sql.windows.seek import seek, seek_measure
from matchrec.frontends.sql.windows.within_frame import WithinFrame
from matchrec.plan.clauses import Measure, RowsPerMatch
from matchrec.plan.expression import (
    MATCHED_ROWS,
    Aggregate,
    ColumnReference,
    MatchNumber,
    references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Negation, PartitionEnd, PartitionStart, walk
from matchrec.plan.rules import all_references
from matchrec.source import Span


def lower_window(
    clause: MatchRecognize, window: RowPatternWindow, values: Values = MappingProxyType({})
) -> MatchPlan:
    """The plan of a window. Its measures are those of the calls, then all others, unnamed by any.

    values: of parameters, which PATTERN may have as bounds.
    """
    _refuse_parts(clause)
    plan = lower(replace(clause, search=None, search_span=None), values)
    _refuse_in_plan(plan)
    functions = [read_function(one, clause.dialect) for one in window.calls if not one.measure]
    if clause.search is Search.SEEK:
        plan, functions = seek(plan), list(map(seek_measure, functions))
    limited = WithinFrame(plan, window.frame).limited()
    measures = (*_called(plan.measures, window), *functions)
    if isinstance(window.frame.rows, ExpressionText):
        _refuse_next(measures)
    return replace(limited, measures=measures, rows_per_match=RowsPerMatch.EACH_ROW)


def _called(measures: tuple[Measure, ...], window: RowPatternWindow) -> Iterator[Measure]:
    """The measures by the names of the columns that stand for their calls."""
    by_name: dict[str, Measure] = {}
    for measure in measures:
        other = by_name.setdefault(measure.name.lower(), measure)
        if other is not measure:
            raise duplicate_measure(measure.name, (other.span, measure.span))
    columns = {one.measure.lower(): one.column for one in window.calls if one.measure}
    for name, measure in by_name.items():
        yield replace(measure, name=columns.get(name, uncalled(measure.name)))


def _refuse_parts(clause: MatchRecognize) -> None:
    for window in clause.windows:
        raise errors.not_in_window("WITHIN", window.interval.span)
    if clause.selection is not None or clause.output is not None:
        words = clause.selection or clause.output
        assert words is not None
        raise errors.not_in_window(words.value, clause.pattern_span)
    for node in walk(clause.pattern):
        if isinstance(node, Negation):
            raise errors.not_in_window("NOT in PATTERN", node.span or clause.pattern_span)
        if isinstance(node, PartitionStart | PartitionEnd):
            sign = "^" if isinstance(node, PartitionStart) else "$"
            raise errors.not_in_window(sign, node.span or clause.pattern_span)


def _refuse_next(measures: tuple[Measure, ...]) -> None:
    """NEXT in measures, where the engine does not know where the frame ends."""
    for measure in measures:
        for reference in references(measure.value):
            if isinstance(reference, ColumnReference) and reference.navigation.physical_offset > 0:
                raise errors.next_in_own_frame(reference.span)


def _refuse_in_plan(plan: MatchPlan) -> None:
    values = [one.value for one in plan.measures]
    for scalar in (*values, *(one.condition for one in plan.definitions)):
        for reference in all_references(scalar):
            span = reference.span or Span(0, 0)
            if isinstance(reference, MatchNumber):
                raise errors.not_in_window("MATCH_NUMBER()", span)
            if isinstance(reference, Aggregate) and reference.function == MATCHED_ROWS:
                raise errors.not_in_window("MATCHED_ROWS()", span)
