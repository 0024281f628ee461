"""Restrict the plan of a row pattern window to the rows of its frame.

Rows outside the frame do not exist for the window: they can be neither mapped nor read.

    PREV(x)         →  LAST(x, 1)                                  if its row may be outside
    NEXT(x)         →  CASE WHEN count(*) <= 4 THEN NEXT(x) END    for 4 FOLLOWING
    n FOLLOWING     →  a match spans at most n + 1 rows
    e FOLLOWING     →  count(*) - 1 <= FIRST(e)                    for every variable

PREV becomes LAST if the tested row can be the first row of the match. The row before the match is
outside the frame: PREV would find it, but LAST finds no row.

n FOLLOWING is the number of rows after the first row of the frame, so the frame has n + 1 rows.
`count(*)` is the number of the tested row in the frame, because the search starts at the first row
of the frame.

The number may be an expression e, which is evaluated on the first row of the match. Then the
condition of every variable also tests that at most FIRST(e) rows are before the tested row. This is
written `count(*) - 1 <= FIRST(e)`, because `FIRST(e) + 1` could overflow.

The worker restricts measures to the frame when it reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from matchrec.errors.run.origins import FRAME_LENGTH_ERROR
from matchrec.errors.sql import window as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.build_expressions import join_conditions, make_comparison, make_number
from matchrec.plan.change_expressions import map_references
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
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import RowCount, count_rows_before
from matchrec.source import Span
from matchrec.syntax.tokens import TokenSequence


@dataclass(frozen=True)
class FrameRestriction:
    """The restriction of a plan to the frame of its window.

    In the methods, `tested_variable` is the variable whose condition is restricted. The condition
    is evaluated on the *tested row*.
    """

    plan: MatchPlan
    # The number of rows after the first row of the frame, or an expression for it; None if the
    # frame ends with the partition.
    rows_after_first: int | TokenSequence | None
    # Where the frame is written.
    frame_span: Span

    @cached_property
    def rows_before(self) -> dict[str, RowCount]:
        """Return, for each variable, how many rows of a match are before a row of it."""
        return count_rows_before(self.plan.pattern)

    def restrict_plan(self) -> MatchPlan:
        """Return the plan restricted to the frame.

        Raises:
            MatchRecognizeError: a condition reads rows outside the frame in a way that cannot be
                rewritten.
        """
        definitions = [self.restrict_definition(definition) for definition in self.plan.definitions]
        plan = replace(self.plan, definitions=tuple(definitions))
        if self.rows_after_first is None:
            return plan
        if isinstance(self.rows_after_first, int):
            return replace(plan, within_rows=self.rows_after_first + 1)
        definitions_by_variable = {
            definition.variable: definition for definition in plan.definitions
        }
        limited_definitions = [
            self.add_row_limit(name, definitions_by_variable.get(name))
            for name in patterns.list_variable_names(plan.pattern)
        ]
        return replace(plan, definitions=tuple(limited_definitions))

    def add_row_limit(self, variable: str, definition: Definition | None) -> Definition:
        """Return the definition of a variable whose rows must also be in the frame.

        `definition` is the definition so far; None if the variable has no condition.
        """
        limit = self.build_row_test(0, self.frame_span)
        if definition is None:
            return Definition(variable, limit)
        condition = definition.condition
        return replace(
            definition, condition=join_conditions("AND", (condition, limit), condition.span)
        )

    def restrict_definition(self, definition: Definition) -> Definition:
        """Return a definition whose condition reads no row outside the frame.

        Raises:
            MatchRecognizeError: the condition reads rows outside the frame in a way that cannot be
                rewritten.
        """
        tested_variable = definition.variable
        condition = map_references(
            definition.condition, lambda reference: self.guard_start(reference, tested_variable)
        )
        self.check_next(condition, tested_variable)
        return replace(definition, condition=self.guard_end(condition, tested_variable))

    def guard_start(self, reference: Reference, tested_variable: str) -> Reference:
        """Return a reference that is NULL if its row is before the start of the frame.

        If PREV may leave the frame, it becomes LAST: the rows of the frame before the tested row
        are exactly the rows that are already matched.

        Raises:
            MatchRecognizeError: PREV may leave the frame, and does not start at the tested row; or
                the reference is an aggregate with OVER.
        """
        if isinstance(reference, Aggregate) and reference.frame is not None:
            raise errors.over_in_window_define(reference.span)
        if not isinstance(reference, ColumnReference):
            return reference
        navigation = reference.navigation
        if navigation.physical_offset >= 0:
            return reference
        distance = -navigation.physical_offset
        starts_at_tested_row = self.starts_at_tested_row(navigation, tested_variable)
        if starts_at_tested_row:
            names = [tested_variable]
        else:
            member_ids = self.plan.members[navigation.variable]
            names = [self.plan.variables[variable_id] for variable_id in member_ids]
        least_rows_before = min(self.rows_before[name].least for name in names)
        if distance <= least_rows_before:
            return reference
        if not starts_at_tested_row:
            raise errors.rows_beyond_frame(reference.span, function="PREV")
        navigation_in_match = Navigation(logical_offset=distance, semantics=navigation.semantics)
        return replace(reference, navigation=navigation_in_match)

    def check_next(self, scalar: Scalar, tested_variable: str) -> None:
        """Check that each NEXT starts at the tested row if the frame has an end.

        Raises:
            MatchRecognizeError: a NEXT starts at another row, so the row that it reads cannot be
                compared with the end of the frame.
        """
        if self.rows_after_first is None:
            return
        for reference in scalar.references:
            if not isinstance(reference, ColumnReference):
                continue
            navigation = reference.navigation
            is_next = navigation.physical_offset > 0
            if is_next and not self.starts_at_tested_row(navigation, tested_variable):
                raise errors.rows_beyond_frame(reference.span, function="NEXT")

    def guard_end(self, scalar: Scalar, tested_variable: str) -> Scalar:
        """Return an expression in which NEXT is NULL if its row is after the end of the frame.

        Raises:
            MatchRecognizeError: NEXT is part of SQL that cannot be guarded.
        """
        leaving_references = [
            reference
            for reference in scalar.references
            if self.may_leave_at_end(reference, tested_variable)
        ]
        if not leaving_references:
            return scalar
        match scalar:
            case Operation():
                return scalar.map_operands(lambda operand: self.guard_end(operand, tested_variable))
            case Term(pieces=(ColumnReference(navigation=navigation),)):
                row_test = self.build_row_test(navigation.physical_offset, scalar.span)
                parts = ("(CASE WHEN ", row_test, " THEN ", scalar, " END)")
                return Operation("CASE", parts, scalar.span)
        raise errors.rows_beyond_frame(leaving_references[0].span, function="NEXT")

    def may_leave_at_end(self, reference: Reference, tested_variable: str) -> bool:
        """Return whether a reference is a NEXT whose row may be after the end of the frame.

        A NEXT starts at the tested row: see `check_next`.
        """
        if not isinstance(reference, ColumnReference) or self.rows_after_first is None:
            return False
        distance = reference.navigation.physical_offset
        if distance <= 0:
            return False
        if not isinstance(self.rows_after_first, int):
            return True  # The frame may have only one row.
        return self.rows_before[tested_variable].most + distance > self.rows_after_first

    def starts_at_tested_row(self, navigation: Navigation, tested_variable: str) -> bool:
        """Return whether a navigation starts at the tested row."""
        member_ids = self.plan.members[navigation.variable]
        return navigation.is_last and self.plan.ids[tested_variable] in member_ids

    def build_row_test(self, distance: int, span: Span) -> Operation:
        """Return the condition that a row is in the frame.

        Args:
            distance: how many rows the row is after the tested row; 0 for the tested row itself.
            span: the location that errors show.
        """
        assert self.rows_after_first is not None, "only a frame with an end needs a test"
        row_number = Term((Aggregate("count", None, (), span=span),), span)
        if isinstance(self.rows_after_first, int):
            last_row_number = make_number(self.rows_after_first + 1 - distance, span)
            return make_comparison("<=", row_number, last_row_number)
        limit = ColumnReference(
            Navigation(end=End.FIRST),
            write_limit(self.rows_after_first.text),
            self.rows_after_first.full_span,
        )
        # The numbers are added to the row number, not to the limit: `FIRST(e) + 1` could overflow.
        row_index = add_number(row_number, distance - 1, span)
        return make_comparison("<=", row_index, Term((limit,), span))


def add_number(scalar: Scalar, number: int, span: Span) -> Operation:
    """Return the sum of an expression and a number. `x + -1` is written `x - 1`."""
    operator = "-" if number < 0 else "+"
    parts = (scalar, f" {operator} ", make_number(abs(number), span))
    return Operation(operator, parts, span)


def write_limit(text: str) -> str:
    """Return SQL for the number of rows after the first row of a frame.

    The SQL raises an error if the number is NULL or negative.
    """
    return f"CASE WHEN ({text}) >= 0 THEN ({text}) ELSE raise_error('{FRAME_LENGTH_ERROR}') END"
