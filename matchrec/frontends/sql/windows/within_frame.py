"""What lies outside of a window's frame is not there: neither rows to map nor rows to look at.

    PREV(x)         →  LAST(x, 1)                                     where B may be the first row
    NEXT(x)         →  CASE WHEN count(*) <= 4 THEN NEXT(x) END       in a frame of 5 rows
    n FOLLOWING     →  a match lies within n + 1 rows
    e FOLLOWING     →  count(*) <= FIRST(e) + 1, of every variable

The frame starts at the row at which the search starts, so rows of a run are counted from there.
Measures are read within the frame by the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from typing_extensions import assert_never

from matchrec.dataclass import dataclass
from matchrec.errors.sql import window as errors
from matchrec.frontends.expressions.analysis import Clause, Scope
from matchrec.frontends.expressions.expression import parse_scalar
from matchrec.frontends.sql.clause.nodes import ExpressionText
from matchrec.frontends.sql.windows.nodes import FrameEnd
from matchrec.frontends.sql.windows.rows_before import RowsBefore, rows_before
from matchrec.plan.clauses import Definition
from matchrec.plan.combined import joined
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Piece,
    Reference,
    Scalar,
    Term,
    references,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import variable_names
from matchrec.source import Span

_LENGTH = "a length of a frame is neither NULL nor negative"


@dataclass(frozen=True)
class WithinFrame:
    """Puts the conditions of a plan within the frame of its window."""

    plan: MatchPlan
    frame: FrameEnd

    @cached_property
    def before(self) -> dict[str, RowsBefore]:
        """How many rows of a match come before each variable."""
        return rows_before(self.plan.pattern)

    def limited(self) -> MatchPlan:
        """The plan, in which no match and no condition leaves the frame."""
        plan = replace(self.plan, definitions=tuple(map(self.definition, self.plan.definitions)))
        if self.frame.rows is None:
            return plan
        if isinstance(self.frame.rows, int):
            return replace(plan, within_rows=self.frame.rows + 1)
        defined = {one.variable: one for one in plan.definitions}
        names = variable_names(plan.pattern)
        return replace(plan, definitions=tuple(self.counted(name, defined) for name in names))

    def counted(self, variable: str, defined: dict[str, Definition]) -> Definition:
        """The condition of a variable, and that its row lies in the frame."""
        limit = self.template("count(*) <= FIRST(frame) + 1")
        own = defined.get(variable)
        if own is None:
            return Definition(variable, limit)
        return replace(own, condition=joined("AND", (own.condition, limit), own.condition.span))

    def definition(self, definition: Definition) -> Definition:
        """The condition of a variable, which looks at no row outside of the frame."""
        changed, _ = self.scalar(definition.condition, definition.variable)
        return replace(definition, condition=changed)

    def scalar(self, scalar: Scalar, candidate: str) -> tuple[Scalar, list[tuple[Piece, ...]]]:
        """The expression, and what stands now for each of its references, left to right."""
        moved = with_references(scalar, lambda one: self.moved_back(one, candidate))
        leaves = [one for one in references(moved) if self.leaves_at_end(one, candidate)]
        if not leaves:
            return moved, [(one,) for one in references(moved)]
        match moved:
            case Operation(operands=operands) if holds_all(operands, moved):
                found = [self.scalar(operand, candidate) for operand in operands]
                parts = [part for _, several in found for part in several]
                inner = tuple(operand for operand, _ in found)
                return replace(moved, operands=inner, pieces=filled(moved.pieces, parts)), parts
            case Term(pieces=(ColumnReference() as reference,)):
                guarded = self.guarded(reference, moved.span)
                return guarded, [("(", *guarded.pieces, ")")]
            case Operation() | Term():
                raise errors.rows_beyond_frame("NEXT", leaves[0].span)
            case _:
                assert_never(moved)

    def moved_back(self, reference: Reference, candidate: str) -> Reference:
        """PREV where it may leave the frame: the row before is then no row of the run."""
        if isinstance(reference, Aggregate) and reference.frame is not None:
            raise errors.frame_in_condition(reference.span)
        if not isinstance(reference, ColumnReference):
            return reference
        navigation = reference.navigation
        distance = -navigation.physical_offset
        if distance <= 0 or self.least_before(navigation, candidate) >= distance:
            return reference
        if not self.is_candidate(navigation, candidate):
            raise errors.rows_beyond_frame("PREV", reference.span)
        back = Navigation(None, End.LAST, distance, 0, navigation.semantics)
        return replace(reference, navigation=back)

    def leaves_at_end(self, reference: Reference, candidate: str) -> bool:
        """Whether NEXT may leave the frame. Raises where that could not be tested."""
        if not isinstance(reference, ColumnReference) or self.frame.rows is None:
            return False
        navigation = reference.navigation
        if navigation.physical_offset <= 0:
            return False
        if not self.is_candidate(navigation, candidate):
            raise errors.rows_beyond_frame("NEXT", reference.span)
        most, rows = self.before[candidate].most, self.frame.rows
        if most is None or not isinstance(rows, int):
            return True
        return most + navigation.physical_offset > rows

    def least_before(self, navigation: Navigation, candidate: str) -> int:
        """How many rows of the frame come before the row that a logical step finds, at least."""
        if self.is_candidate(navigation, candidate):
            return self.before[candidate].least
        names = (self.plan.variables[one] for one in self.plan.members(navigation.variable))
        return min((self.before[name].least for name in names), default=0)

    def is_candidate(self, navigation: Navigation, candidate: str) -> bool:
        """Whether a logical step finds the row that is tested."""
        members = self.plan.members(navigation.variable)
        return navigation.is_last and self.plan.ids[candidate] in members

    def guarded(self, reference: ColumnReference, span: Span) -> Scalar:
        """What NEXT reads, where the frame has such a row."""
        distance, rows = reference.navigation.physical_offset, self.frame.rows
        most = rows + 1 - distance if isinstance(rows, int) else f"FIRST(frame) + 1 - {distance}"
        return self.template(f"CASE WHEN count(*) <= {most} THEN found END", reference, span)

    def template(
        self, text: str, found: ColumnReference | None = None, span: Span | None = None
    ) -> Scalar:
        """A condition of ours, in which `found` and `frame` are names of what it reads."""
        rows, place = self.frame.rows, span or self.frame.span

        def read(reference: Reference) -> Reference:
            if isinstance(reference, ColumnReference) and reference.argument == "found":
                assert found is not None
                return found
            if isinstance(reference, ColumnReference):
                assert isinstance(rows, ExpressionText)
                return replace(reference, argument=length_of(rows.text), span=rows.span)
            return replace(reference, span=place)

        return placed(with_references(parse_scalar(text, 0, Scope(Clause.DEFINE)), read), place)


def length_of(text: str) -> str:
    """The length of a row's frame, which is tested on every row."""
    return f"CASE WHEN ({text}) >= 0 THEN ({text}) ELSE raise_error('{_LENGTH}') END"


def holds_all(operands: tuple[Scalar, ...], scalar: Scalar) -> bool:
    """Whether the references of an operation are those of its operands."""
    return sum(len(references(one)) for one in operands) == len(references(scalar))


def filled(pieces: tuple[Piece, ...], parts: list[tuple[Piece, ...]]) -> tuple[Piece, ...]:
    """The pieces with other ones in the place of each reference."""
    left = iter(parts)
    return tuple(
        one for piece in pieces for one in ((piece,) if isinstance(piece, str) else next(left))
    )


def placed(scalar: Scalar, span: Span) -> Scalar:
    """The same expression as if all of it were written at `span`."""
    put: Callable[[Scalar], Scalar] = lambda operand: placed(operand, span)  # noqa: E731
    match scalar:
        case Term():
            return replace(scalar, span=span)
        case Operation(operands=operands):
            return replace(scalar, operands=tuple(map(put, operands)), span=span)
        case _:
            assert_never(scalar)
