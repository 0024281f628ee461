"""Conditions under NOT, rewritten so that they can be tested on a row that is mapped elsewhere.

In `A NOT B C`, the row that C takes must not satisfy the condition of B, evaluated as if the row
were mapped to B after the rows so far. This row is the *candidate*. The *mapped row* is the row
that has just been mapped when the candidate is tested: the candidate itself, or, if NOT is at the
end of the pattern, the row before the candidate. References to rows of the match are rewritten to
count from the mapped row:

    B AS x > 2 * LAST(C.x)     tested on the row that C takes: x > 2 * LAST(C.x, 1)
                               tested one row before: NEXT(x) > 2 * LAST(C.x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from matchrec.conditions.residual import NO_SPAN
from matchrec.errors.sql.negations import reads_row_under_negation
from matchrec.plan.build_expressions import (
    join_conditions,
    make_column,
    make_complement,
    make_literal,
)
from matchrec.plan.change_expressions import map_references
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Frame,
    MatchValue,
    Navigation,
    Reference,
    Scalar,
    TextPiece,
    list_inner_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_string
from matchrec.source import Span


class CandidateOffset(IntEnum):
    """Which row is the candidate, as a number of rows after the mapped row."""

    MAPPED_ROW = 0
    NEXT_ROW = 1


@dataclass(frozen=True, slots=True)
class NegatedCondition:
    """A condition under NOT, and the mapped row from which it is tested.

    `make_absence_condition` rewrites the condition for the mapped row.
    """

    # The plan of the query.
    plan: MatchPlan
    # The variable under NOT.
    negated_variable: str
    # The variable to which the mapped row is mapped.
    mapped_variable: str
    # The distance from the mapped row to the candidate.
    candidate_offset: CandidateOffset
    # Returns the least number of rows that are mapped to some variables, given by their ids, before
    # the candidate.
    count_rows_before: Callable[[frozenset[int]], int]

    def make_absence_condition(self) -> Scalar:
        """Return the condition that the candidate does not satisfy the condition under NOT.

        The condition is also true if there is no candidate.

        Raises:
            MatchRecognizeUnsupportedError: a reference cannot be rewritten.
        """
        conditions = [
            map_references(definition.condition, self.rewrite_reference)
            for definition in self.plan.definitions
            if definition.variable == self.negated_variable
        ]
        if self.candidate_offset is CandidateOffset.NEXT_ROW:
            # The value of this column is NULL if no row comes after the mapped row.
            has_candidate = make_column(self.navigate_to_candidate(0), "TRUE")
            conditions.insert(0, has_candidate)
        if not conditions:  # every row satisfies a variable without a condition
            return make_literal("FALSE", NO_SPAN)
        return make_complement(join_tests(conditions))

    def navigate_to_candidate(self, physical_offset: int) -> Navigation:
        """Return the navigation to the row at an offset from the candidate; 0 is the candidate."""
        offset = physical_offset + self.candidate_offset
        return Navigation(self.mapped_variable, physical_offset=offset)

    def rewrite_reference(self, reference: Reference) -> TextPiece:
        """Return a reference of the condition, rewritten to count from the mapped row.

        Raises:
            MatchRecognizeUnsupportedError: the reference cannot be rewritten.
        """
        match reference:
            case ColumnReference(navigation=navigation):
                rewritten = self.rewrite_navigation(navigation, reference.span)
                return replace(reference, navigation=rewritten)
            case Classifier():
                return self.rewrite_classifier(reference)
            case Aggregate():
                return self.rewrite_aggregate(reference)
            case MatchValue():
                return reference

    def is_candidate_in_condition(self, variable: str | None) -> bool:
        """Return whether the condition counts the candidate among a variable's rows.

        True for the variable under NOT, for unions that contain it, and for the universal variable,
        which is None.
        """
        if variable is None:
            return True
        return self.plan.ids[self.negated_variable] in self.plan.members[variable]

    def is_candidate_in_match(self, variable: str | None) -> bool:
        """Return whether the match has the candidate among a variable's rows.

        True if the candidate is the mapped row and is mapped to the variable or a member of it.
        """
        if self.candidate_offset is not CandidateOffset.MAPPED_ROW:
            return False
        return self.plan.ids[self.mapped_variable] in self.plan.members[variable]

    def rewrite_navigation(self, navigation: Navigation, span: Span | None) -> Navigation:
        """Return the navigation that finds the same row from the mapped row.

        Raises:
            MatchRecognizeUnsupportedError: no navigation does, see `rewrite_first`.
        """
        if navigation.end is End.FIRST:
            return self.rewrite_first(navigation, span)
        is_in_condition = self.is_candidate_in_condition(navigation.variable)
        if is_in_condition and navigation.logical_offset == 0:
            return self.navigate_to_candidate(navigation.physical_offset)
        # Offsets count the variable's rows backwards. If the candidate is among these rows, it is
        # the first one that is counted, by the condition or by the search.
        offset = navigation.logical_offset
        if is_in_condition:
            offset -= 1
        if self.is_candidate_in_match(navigation.variable):
            offset += 1
        return replace(navigation, logical_offset=offset)

    def rewrite_first(self, navigation: Navigation, span: Span | None) -> Navigation:
        """Return the navigation that finds the same row as FIRST does.

        Raises:
            MatchRecognizeUnsupportedError: FIRST finds the candidate in some matches, and another
                row in others.
        """
        variable = navigation.variable
        if self.is_candidate_in_condition(variable) == self.is_candidate_in_match(variable):
            return navigation
        if self.count_rows_before(self.plan.members[variable]) > navigation.logical_offset:
            return navigation  # FIRST finds a row before the candidate
        if variable == self.negated_variable and navigation.logical_offset == 0:
            return self.navigate_to_candidate(navigation.physical_offset)
        raise reads_row_under_negation(
            span,
            what="FIRST of rows that may be missing",
            name=self.negated_variable,
            hint="read a row that the match has in any case, such as FIRST of its first variable",
        )

    def rewrite_classifier(self, reference: Classifier) -> TextPiece:
        """Return the SQL or the reference for the variable of a row.

        The variable of the candidate is the variable under NOT.

        Raises:
            MatchRecognizeUnsupportedError: the row can come after the candidate.
        """
        navigation = reference.navigation
        is_in_condition = self.is_candidate_in_condition(navigation.variable)
        if is_in_condition and navigation.is_last and navigation.physical_offset == 0:
            return quote_string(self.negated_variable)
        if navigation.physical_offset > 0:
            raise reads_row_under_negation(
                reference.span,
                what="NEXT(CLASSIFIER())",
                name=self.negated_variable,
                hint="read the classifier of an earlier row, with PREV or LAST",
            )
        # The row comes before the candidate, so the match has mapped it.
        rewritten = self.rewrite_navigation(navigation, reference.span)
        return replace(reference, navigation=replace(rewritten, variable=navigation.variable))

    def rewrite_aggregate(self, aggregate: Aggregate) -> Aggregate:
        """Return the aggregate over the same rows, evaluated when the mapped row is tested.

        Raises:
            MatchRecognizeUnsupportedError: the aggregate counts the candidate, but the match does
                not map the candidate to a variable of the aggregate, or CLASSIFIER() in an argument
                would be another variable.
        """
        if aggregate.frame is not None:
            return replace(aggregate, frame=self.rewrite_frame(aggregate.frame))
        is_in_condition = self.is_candidate_in_condition(aggregate.variable)
        is_in_match = self.is_candidate_in_match(aggregate.variable)
        has_classifier = any(
            isinstance(reference, Classifier) for reference in list_inner_references(aggregate)
        )
        if is_in_condition and (not is_in_match or has_classifier):
            raise reads_row_under_negation(
                aggregate.span,
                what=f"{aggregate.function} over the row itself",
                name=self.negated_variable,
                hint="aggregate rows of variables of the match",
            )
        if is_in_match and not is_in_condition:
            # The current row is the candidate, which the condition does not count.
            return replace(aggregate, excludes_current_row=True)
        return aggregate

    def rewrite_frame(self, frame: Frame) -> Frame:
        """Return the frame around the candidate, counted from the mapped row."""
        start = None if frame.start is None else frame.start + self.candidate_offset
        end = None if frame.end is None else frame.end + self.candidate_offset
        return Frame(start, end)


def join_tests(conditions: Sequence[Scalar]) -> Scalar:
    """Return the condition that all conditions are true. Errors point at the last one."""
    return join_conditions("AND", conditions, conditions[-1].span)
