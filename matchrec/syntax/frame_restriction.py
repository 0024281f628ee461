"""Restrict the plan of a row pattern window to the rows of its frame.

Rows outside of a window's frame do not exist for it: they can be neither mapped nor read.

    PREV(x)         →  LAST(x, 1)                                  if it may be on the first row
    NEXT(x)         →  CASE WHEN count(*) <= 4 THEN NEXT(x) END    in a frame of 5 rows
    n FOLLOWING     →  a match spans at most n + 1 rows
    e FOLLOWING     →  count(*) + -1 <= FIRST(e), for every variable; e + 1 could overflow

The search starts at the first row of the frame, so the rows of a run are counted from there.
The worker restricts measures to the frame when it reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.errors.sql import window as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Term,
    compare_scalars,
    join_conditions,
    make_number,
    map_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import RowCount, count_rows_before
from matchrec.source import Span
from matchrec.syntax.nodes import FrameEnd
from matchrec.syntax.tokens import TokenSequence

_LENGTH_ERROR = "a length of a frame is neither NULL nor negative"


@dataclass(frozen=True)
class FrameRestriction:
    """The restriction of a plan to the frame of its window.

    In the methods `candidate` is the variable whose condition is restricted.
    """

    plan: MatchPlan
    # The frame. Its length is not a parameter.
    frame: FrameEnd

    @cached_property
    def rows_before(self) -> dict[str, RowCount]:
        """The number of rows of a match before a row of each variable, see `count_rows_before`."""
        return count_rows_before(self.plan.pattern)

    def restrict_plan(self) -> MatchPlan:
        """Return the plan restricted to the frame."""
        definitions = [self.restrict_definition(definition) for definition in self.plan.definitions]
        plan = replace(self.plan, definitions=tuple(definitions))
        if self.frame.rows is None:
            return plan
        if isinstance(self.frame.rows, int):
            return replace(plan, within_rows=self.frame.rows + 1)
        conditions = {definition.variable: definition for definition in plan.definitions}
        counted = [
            self.add_row_limit(name, conditions.get(name))
            for name in patterns.list_variable_names(plan.pattern)
        ]
        return replace(plan, definitions=tuple(counted))

    def add_row_limit(self, variable: str, definition: Definition | None) -> Definition:
        """Return the definition of a variable whose rows must also be in the frame."""
        limit = self.build_row_test(0, self.frame.span)
        if definition is None:
            return Definition(variable, limit)
        condition = definition.condition
        return replace(
            definition, condition=join_conditions("AND", (condition, limit), condition.span)
        )

    def restrict_definition(self, definition: Definition) -> Definition:
        """Return a definition whose condition reads no row outside of the frame.

        Raises:
            MatchRecognizeError: that cannot be expressed.
        """
        candidate = definition.variable
        moved = map_references(
            definition.condition, lambda reference: self.keep_after_start(reference, candidate)
        )
        return replace(definition, condition=self.guard_end(moved, candidate))

    def guard_end(self, scalar: Scalar, candidate: str) -> Scalar:
        """Return an expression in which NEXT is NULL if its row is after the end of the frame."""
        leaving = [
            reference
            for reference in scalar.references
            if self.may_leave_at_end(reference, candidate)
        ]
        if not leaving:
            return scalar
        match scalar:
            case Operation():
                return scalar.map_operands(lambda operand: self.guard_end(operand, candidate))
            case Term(pieces=(ColumnReference(navigation),)):
                row_test = self.build_row_test(navigation.physical_offset, scalar.span)
                parts = ("(CASE WHEN ", row_test, " THEN ", scalar, " END)")
                return Operation("CASE", parts, scalar.span)
        raise errors.rows_beyond_frame(leaving[0].span, function="NEXT")

    def keep_after_start(self, reference: Reference, candidate: str) -> Reference:
        """Return a reference that is NULL if its row is before the start of the frame.

        If PREV may leave the frame, it becomes LAST, because the frame has no other rows before
        the candidate than the run.
        """
        if isinstance(reference, Aggregate) and reference.frame is not None:
            raise errors.over_in_window_define(reference.span)
        if not isinstance(reference, ColumnReference):
            return reference
        navigation = reference.navigation
        distance = -navigation.physical_offset
        is_candidate = self.is_candidate(navigation, candidate)
        if is_candidate:
            names = [candidate]
        else:
            members = self.plan.members[navigation.variable]
            names = [self.plan.variables[member] for member in members]
        least_rows_before = min((self.rows_before[name].least for name in names), default=0)
        if distance <= least_rows_before:
            return reference
        if not is_candidate:
            raise errors.rows_beyond_frame(reference.span, function="PREV")
        in_run = Navigation(logical_offset=distance, semantics=navigation.semantics)
        return replace(reference, navigation=in_run)

    def may_leave_at_end(self, reference: Reference, candidate: str) -> bool:
        """Return whether a reference is a NEXT whose row may be after the end of the frame.

        Raises:
            MatchRecognizeError: it starts at another row than the candidate's, so that the frame
                cannot be checked.
        """
        if not isinstance(reference, ColumnReference) or self.frame.rows is None:
            return False
        navigation = reference.navigation
        if navigation.physical_offset <= 0:
            return False
        if not self.is_candidate(navigation, candidate):
            raise errors.rows_beyond_frame(reference.span, function="NEXT")
        rows = self.frame.rows if isinstance(self.frame.rows, int) else 0
        return self.rows_before[candidate].most + navigation.physical_offset > rows

    def is_candidate(self, navigation: Navigation, candidate: str) -> bool:
        """Return whether a navigation starts at the row that the condition of `candidate` tests."""
        members = self.plan.members[navigation.variable]
        return navigation.is_last and self.plan.ids[candidate] in members

    def build_row_test(self, distance: int, span: Span) -> Operation:
        """Return the condition that a row is in the frame.

        Args:
            distance: how many rows after the tested row it is.
            span: what errors point at.
        """
        rows = self.frame.rows
        assert not isinstance(rows, patterns.Parameter), "it has a value by now: lower_window"
        counted = Term((Aggregate("count", None, (), span=span),), span)
        if not isinstance(rows, TokenSequence):
            return compare_scalars("<=", counted, make_number((rows or 0) + 1 - distance, span))
        length = ColumnReference(
            Navigation(end=End.FIRST), write_frame_length(rows.text), rows.full_span
        )
        rows_after_first = Operation("+", (counted, " + ", make_number(distance - 1, span)), span)
        return compare_scalars("<=", rows_after_first, Term((length,), span))


def write_frame_length(text: str) -> str:
    """Return SQL for the length of a row's frame, which raises an error if it is not valid."""
    return f"CASE WHEN ({text}) >= 0 THEN ({text}) ELSE raise_error('{_LENGTH_ERROR}') END"
