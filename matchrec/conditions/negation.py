"""The condition of a variable under NOT, as it is asked of a row that is mapped to another one.

In `A NOT B C` the row that C takes must not satisfy B's condition, as if it were mapped to B after
the rows so far. It is asked when the row has been mapped to C, or at the end of a pattern when the
row before it has been mapped; so references to rows of the match are counted from there.

    B AS x > 2 * LAST(C.x)     of the row that C takes: x > 2 * LAST(C.x, 1)
                               of the row after that of A: NEXT(x) > 2 * LAST(C.x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from matchrec.conditions.residual import NOWHERE
from matchrec.errors.sql.pattern import reads_forbidden_row
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Frame,
    MatchValue,
    Navigation,
    Piece,
    Reference,
    Scalar,
    column_term,
    complement,
    inner_references,
    joined,
    literal,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import string_literal
from matchrec.source import Span


class Forbidden(IntEnum):
    """Which row must not be there: the one that is mapped, or the one after it."""

    HERE = 0
    AFTER = 1


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """From where a condition is asked: of variable `negated`, of a row mapped to another one.

    least: how many rows are mapped to some variables before the row that it is about, at least.
    """

    plan: MatchPlan
    negated: str
    mapped: str
    row: Forbidden
    least: Callable[[frozenset[int]], int]

    def absence(self) -> Scalar:
        """That the row does not satisfy the condition, or is not there."""
        definitions = (one for one in self.plan.definitions if one.variable == self.negated)
        asked = [with_references(definition.condition, self.read) for definition in definitions]
        if self.row is Forbidden.AFTER:
            is_there = column_term(self.candidate(0), "TRUE")  # NULL where no row comes after
            asked = [is_there, *asked]
        return complement(all_of(asked)) if asked else literal("FALSE", NOWHERE)

    def candidate(self, physical: int) -> Navigation:
        return Navigation(self.mapped, physical_offset=physical + self.row)

    def read(self, reference: Reference) -> Piece:
        match reference:
            case ColumnReference(navigation=navigation):
                return replace(reference, navigation=self.navigation(navigation, reference.span))
            case Classifier():
                return self.classifier(reference)
            case Aggregate():
                return self.aggregate(reference)
            case MatchValue():
                return reference

    def includes(self, variable: str | None) -> tuple[bool, bool]:
        """Whether a name stands for the negated variable, and for that of the row itself."""
        members, ids = self.plan.members[variable], self.plan.ids
        is_mapped = self.row is Forbidden.HERE and ids[self.mapped] in members
        return variable is None or ids[self.negated] in members, is_mapped

    def navigation(self, navigation: Navigation, span: Span | None) -> Navigation:
        is_candidate, is_mapped = self.includes(navigation.variable)
        offset = navigation.logical_offset
        if navigation.end is End.FIRST:
            return self.first_row(navigation, span)
        if is_candidate and offset == 0:
            return self.candidate(navigation.physical_offset)
        before = offset - is_candidate  # the last row before is number 0
        return replace(navigation, logical_offset=before + is_mapped)

    def first_row(self, navigation: Navigation, span: Span | None) -> Navigation:
        """The row that FIRST finds, unless it may be the row that the condition is about."""
        is_candidate, is_mapped = self.includes(navigation.variable)
        least = self.least(self.plan.members[navigation.variable])
        if is_candidate == is_mapped or least > navigation.logical_offset:
            return navigation
        if navigation.variable == self.negated and navigation.logical_offset == 0:
            return self.candidate(navigation.physical_offset)
        hint = "read a row that the match has in any case, such as FIRST of its first variable"
        raise reads_forbidden_row(
            span, what="FIRST of rows that may be missing", name=self.negated, hint=hint
        )

    def classifier(self, reference: Classifier) -> Piece:
        """The variable of a row of the match; that of the row itself is the negated one."""
        navigation = reference.navigation
        is_candidate, _ = self.includes(navigation.variable)
        if is_candidate and navigation.is_last and navigation.physical_offset == 0:
            return string_literal(self.negated)
        if navigation.physical_offset > 0:
            hint = "read the classifier of a row before, with PREV or LAST"
            raise reads_forbidden_row(
                reference.span, what="NEXT(CLASSIFIER())", name=self.negated, hint=hint
            )
        found = self.navigation(navigation, reference.span)  # a row before, of any variable
        return replace(reference, navigation=replace(found, variable=navigation.variable))

    def aggregate(self, aggregate: Aggregate) -> Aggregate:
        """The aggregate over the rows before, or with the row where it counts here too."""
        if aggregate.frame is not None:
            # the rows around the row that must not be there, counted from the one that is mapped
            bounds = aggregate.frame.start, aggregate.frame.end
            own = (None if one is None else one + self.row for one in bounds)
            return replace(aggregate, frame=Frame(*own))
        is_candidate, is_mapped = self.includes(aggregate.variable)
        inner = inner_references(aggregate)
        if is_candidate and (not is_mapped or any(isinstance(one, Classifier) for one in inner)):
            what, hint = f"{aggregate.function} over the row itself", "aggregate rows of variables"
            raise reads_forbidden_row(
                aggregate.span, what=what, name=self.negated, hint=f"{hint} of the match"
            )
        return replace(aggregate, so_far=True) if is_mapped and not is_candidate else aggregate


def all_of(parts: Sequence[Scalar]) -> Scalar:
    return joined("AND", parts, parts[-1].span)
