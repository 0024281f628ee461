"""Lower a row pattern window to a `MatchPlan`, which outputs each row with the match of its frame.

`lower_window` takes four steps:

1. Make the plan of the window's clause (`lower_clause`).
2. Turn the functions over the rows of a match into measures (`window_functions`).
3. For SEEK, let the pattern pass over rows before the match (`seek`).
4. Restrict the conditions to rows inside the frame (`frame_restriction`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType

from matchrec.errors.rules import duplicate_measure
from matchrec.errors.sql import window as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.amounts import Amount
from matchrec.plan.change_expressions import map_references
from matchrec.plan.clauses import Measure, RowExpression, RowsPerMatch
from matchrec.plan.expression import MATCH_NUMBER, MATCHED_ROWS, Aggregate, ColumnReference
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.rules import check_unique, walk_references
from matchrec.source import Span
from matchrec.syntax.amounts import read_whole_number
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_row_expression
from matchrec.syntax.frame_restriction import FrameRestriction
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import (
    FrameEnd,
    InitialOrSeek,
    MatchRecognize,
    WindowCall,
    name_uncalled_measure,
)
from matchrec.syntax.parameter_values import ParameterValues, look_up_number
from matchrec.syntax.seek import build_seek_plan, read_match_only
from matchrec.syntax.tokens import TokenSequence
from matchrec.syntax.window_functions import read_function


def lower_window(
    clause: MatchRecognize,
    calls: tuple[WindowCall, ...],
    values: ParameterValues = MappingProxyType({}),
) -> MatchPlan:
    """Return the plan of a window.

    Measures are named like the columns that replace their calls. A measure without a call is
    checked, too, and named by `name_uncalled_measure`.

    Args:
        clause: the clause of the window.
        calls: the calls over the window.
        values: the values of parameters, see `lower_clause`.

    Raises:
        MatchRecognizeError: the window is malformed, or has a part that a window may not have.
    """
    _reject_options_in_window(clause)
    plan = lower_clause(replace(clause, search=None, search_span=None), values)
    _reject_functions_in_window(plan)
    functions = [read_function(call) for call in calls if not call.measure]
    if clause.search is InitialOrSeek.SEEK:
        plan = build_seek_plan(plan)
        functions = [
            replace(function, value=map_references(function.value, read_match_only))
            for function in functions
        ]
    assert clause.frame is not None, "`find_sections` rejects a window without a frame"
    length = _read_frame_length(clause.frame, values)
    restricted_plan = FrameRestriction(plan, length.rows, clause.frame.span).restrict_plan()
    measures = (*_rename_measures(plan.measures, calls), *functions)
    if isinstance(length.rows, TokenSequence):
        _reject_next_in_measures(measures)
    return replace(
        restricted_plan,
        frame_length=length.constant,
        measures=measures,
        rows_per_match=RowsPerMatch.EACH_ROW,
    )


@dataclass(frozen=True, slots=True)
class _FrameLength:
    """The length of a frame, once the values of parameters are known."""

    # The number of rows after the first row of the frame, or an expression for it; None if the
    # frame ends with the partition.
    rows: int | TokenSequence | None
    # The expression, parsed, if it is a constant that only the engine can compute, such as 2 + 3.
    # Otherwise None.
    constant: RowExpression | None = None


def _read_frame_length(frame: FrameEnd, values: ParameterValues) -> _FrameLength:
    """Return the length of a frame.

    Raises:
        MatchRecognizeError: the length is malformed, or not a whole number of rows, 0 or more.
    """
    if isinstance(frame.rows, patterns.Parameter):
        return _FrameLength(look_up_number(frame.rows, values, "the length of a frame"))
    if not isinstance(frame.rows, TokenSequence):
        return _FrameLength(frame.rows)
    expression = parse_row_expression(frame.rows, ClausePart.FRAME)
    if expression.amount is not None:
        return _FrameLength(_count_rows(expression.amount, frame.rows.full_span))
    return _FrameLength(frame.rows, constant=expression if expression.is_constant else None)


def _reject_next_in_measures(measures: tuple[Measure, ...]) -> None:
    """Raise an error for NEXT in a measure of a window whose frame length is an expression.

    The engine evaluates the expression, so the worker does not know the end of the frame.
    """
    for measure in measures:
        for reference in measure.value.references:
            if not isinstance(reference, ColumnReference):
                continue
            if reference.navigation.physical_offset > 0:
                raise errors.next_with_varying_frame(reference.span)


def _count_rows(amount: Amount, span: Span) -> int | None:
    """Return a literal as a number of rows; None if it is greater than any row number.

    Raises:
        MatchRecognizePlanError: the literal is not a whole number of rows, 0 or more.
    """
    if amount.is_time:
        raise errors.wrong_frame_length(span, length="an interval")
    if amount.value < 0:
        raise errors.wrong_frame_length(span, length="negative")
    if amount.value.denominator > 1:
        raise errors.wrong_frame_length(span, length="not a whole number")
    return read_whole_number(str(amount.value.numerator))


def _rename_measures(
    measures: tuple[Measure, ...], calls: tuple[WindowCall, ...]
) -> Iterator[Measure]:
    """Yield the measures with the names of the columns that replace their calls.

    Raises:
        MatchRecognizeError: two measures have the same name.
    """
    names = [(measure.name, measure.span) for measure in measures]
    check_unique(names, duplicate_measure, str.lower)
    columns = {call.measure.lower(): call.column for call in calls if call.measure}
    for measure in measures:
        column = columns.get(measure.name.lower(), name_uncalled_measure(measure.name))
        yield replace(measure, name=column, reference_name=measure.name)


def _reject_options_in_window(clause: MatchRecognize) -> None:
    """Raise an error for options and pattern symbols that a window may not have."""
    if clause.windows:
        span = clause.windows[0].interval_span
        raise errors.part_not_allowed_in_window(span, what="WITHIN")
    for option in (clause.partial, clause.first_matches):
        if option is not None:
            raise errors.part_not_allowed_in_window(option.span or clause.span, what=option.words)
    for choice in (clause.selection, clause.output):
        if choice is not None:
            raise errors.part_not_allowed_in_window(clause.options_span, what=choice.words)
    for node in patterns.walk_pattern(clause.pattern):
        if isinstance(node, patterns.Negation | patterns.PartitionStart | patterns.PartitionEnd):
            what = (
                "NOT in PATTERN"
                if isinstance(node, patterns.Negation)
                else patterns.show_pattern(node)
            )
            raise errors.part_not_allowed_in_window(node.span or clause.pattern_span, what=what)


def _reject_functions_in_window(plan: MatchPlan) -> None:
    """Raise an error for functions that a window may not call."""
    for reference in chain.from_iterable(map(walk_references, plan.expressions)):
        span = reference.span or Span(0, 0)
        if reference == MATCH_NUMBER:
            raise errors.part_not_allowed_in_window(span, what="MATCH_NUMBER()")
        if isinstance(reference, Aggregate) and reference.function == MATCHED_ROWS:
            raise errors.part_not_allowed_in_window(span, what="MATCHED_ROWS()")
