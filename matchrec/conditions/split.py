"""Who computes what of a DEFINE condition: Spark before the match, or the engine during it.

A conjunct that looks only at the row itself and at rows a fixed distance away is Spark's, and is
one bit by the time a row reaches the engine. In every other conjunct, the largest parts that look
at one position of the run are columns that Spark computes for every row and the engine reads there;
what combines them is the engine's, and is a tree of `Step`s.

    price < PREV(price) AND price > 2 * LAST(A.price) AND count(A.*) < 9
      before:  price < lag(price)
      during:  AND(> (price, `2 * price` at LAST(A)), < (count(A), 9))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import compress

from matchrec.conditions.aggregates import framed, split_aggregate
from matchrec.conditions.forms import (
    OF_ALL_ROWS,
    Write,
    all_of,
    by_classifier,
    cannot_cross,
    formula,
    is_bare,
    is_known,
    is_name,
    is_null_on_null,
    is_there,
    is_truth,
    joined,
    lambda_variables,
    not_computed,
    null_of_the_same_type,
    one_position,
    variables_of_rows,
    writing,
)
from matchrec.conditions.guards import guards_of, holds_of_rows, is_partial, may_fail, under
from matchrec.conditions.residual import (
    Combined,
    Lambda,
    LambdaRead,
    Nearby,
    NumberOfMatch,
    SplitCondition,
    Step,
    Value,
)
from matchrec.conditions.row_column import Framed, RowColumn, Shifted, conjunction, row_column
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.expression import (
    LAMBDA,
    Aggregate,
    Classifier,
    ColumnReference,
    Frame,
    MatchNumber,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Term,
    argument_of,
    conjuncts,
    references,
    render,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import string_literal


class RowScope(Enum):
    """Which rows Spark can compute a condition of, before the match.

    NEIGHBOURS: the row itself and rows at a fixed distance. ROW: the row itself, as in a stream,
    where the engine reads its neighbours. SORTED: the row itself, as the worker sorts the rows;
    that computes what reads neighbours for all of them, before the match.
    """

    NEIGHBOURS = "the row and its neighbours"
    ROW = "the row alone"
    SORTED = "the row alone, before the worker sorts the rows"


def split(plan: MatchPlan, scope: RowScope = RowScope.NEIGHBOURS) -> tuple[SplitCondition, ...]:
    """The conditions of all variables that have one, in the order of DEFINE."""
    return tuple(
        ConditionSplitter(plan, definition.variable, scope).condition(definition.condition)
        for definition in plan.definitions
    )


@dataclass(frozen=True, slots=True)
class ConditionSplitter:
    """Splits the condition of one variable. guards: what holds where it is asked."""

    plan: MatchPlan
    variable: str
    scope: RowScope = RowScope.NEIGHBOURS
    guards: tuple[Scalar, ...] = ()

    def condition(self, scalar: Scalar) -> SplitCondition:
        """Conjuncts at a fixed distance go before the match, the others during it."""
        parts = conjuncts(scalar)
        tests = [self.after(parts[:place]).test(part) for place, part in enumerate(parts)]
        known = tuple(test for test in tests if test is not None)
        before = tuple(test for test in known if isinstance(test, RowColumn))
        nearby = tuple(test for test in known if isinstance(test, Nearby))
        rest = [place for place, test in enumerate(tests) if test is None]
        during = [self.after(parts[:place]).step(parts[place]) for place in rest]
        return SplitCondition(
            self.variable,
            conjunction(before) if before else None,
            all_of(during, scalar.span) if during else None,
            scalar.span,
            known,
            tuple(parts[place] for place in rest),
            joined(nearby, scalar.span) if nearby else None,
        )

    def test(self, scalar: Scalar) -> RowColumn | Nearby | None:
        """A conjunct that Spark or the worker computes before the match; None of any other."""
        if self.is_fixed(scalar):
            return self.fixed_column(scalar)
        if self.is_nearby(scalar):
            nearby = NearbySplitter(self.plan, self.variable, self.scope, self.guards)
            return Nearby(self.fixed_column(scalar), nearby.step(scalar))
        return None

    def after(self, guards: Sequence[Scalar]) -> ConditionSplitter:
        """The splitter of what is asked where these hold."""
        return replace(self, guards=(*self.guards, *guards))

    def is_fixed(self, scalar: Scalar) -> bool:
        """Whether it reads only rows that Spark can compute it of, before the match."""
        distances = self.distances(scalar)
        known = None not in distances and not lambda_variables(scalar)
        return known and (self.scope is RowScope.NEIGHBOURS or not any(distances))

    def is_nearby(self, scalar: Scalar) -> bool:
        """Whether the worker computes it for all rows, as it reads some at a fixed distance."""
        known = None not in self.distances(scalar) and not self.is_fixed(scalar)
        return known and self.scope is RowScope.SORTED

    def distances(self, scalar: Scalar) -> set[int | None]:
        """How far from the current row it reads; None where the run decides."""
        return {self.distance(reference) for reference in references(scalar)}

    def distance(self, reference: Reference) -> int | None:
        """How far from the current row the reference reads, or None where the run decides."""
        if isinstance(reference, ColumnReference | Classifier):
            navigation = reference.navigation
            here = self.plan.ids[self.variable] in self.plan.members(navigation.variable)
            at_current = here and navigation.is_last
            unmoved = navigation.physical_offset == 0 or isinstance(reference, ColumnReference)
            return navigation.physical_offset if at_current and unmoved else None
        return 0 if isinstance(reference, Aggregate) and reference.frame else None

    def fixed_column(self, scalar: Scalar) -> RowColumn:
        """The column of an expression that reads rows at a fixed distance."""
        write = writing(scalar)
        column = RowColumn(tuple(self.fixed_piece(piece, write) for piece in scalar.pieces))
        return row_column(column.text) if column.looks_at_one_row else column

    def fixed_piece(self, piece: str | Reference, write: Write) -> str | Shifted | Framed:
        match piece:
            case ColumnReference(argument=argument):
                distance = self.distance(piece) or 0
                return Shifted(argument if distance else write(piece), distance)
            case Classifier():
                return string_literal(self.variable)
            case Aggregate(frame=Frame()):
                return framed(piece)
            case str():
                return piece
            case _:
                raise AssertionError(piece)

    def step(self, scalar: Scalar) -> Step:
        """What the engine computes for `scalar`."""
        if isinstance(scalar, Operation) and cannot_cross(scalar):
            return self.combined(scalar)
        if self.is_fixed(scalar):
            here, late = self.fixed_column(self.guarded(scalar)), self.late(scalar)
            return Value(here, None, None, scalar.span, late=late)
        found, variables = references(scalar), lambda_variables(scalar)
        if isinstance(scalar, Term) and len(variables) == 1 and is_name(scalar):
            return LambdaRead(next(iter(variables)), scalar.span)
        if is_bare(scalar) and isinstance(found[0], Aggregate):
            names = variables_of_rows(self.plan, found[0])
            return split_aggregate(found[0], names, self.step_of_row, scalar.span)
        if is_bare(scalar) and isinstance(found[0], MatchNumber):
            return NumberOfMatch(scalar.span)
        position = one_position(scalar)
        if position is not None and isinstance(found[0], ColumnReference):
            return self.move_inside(scalar, position)
        if position is not None and isinstance(found[0], Classifier) and is_truth(scalar):
            return by_classifier(scalar, position, self.plan.variables)
        if isinstance(scalar, Operation) and is_known(scalar.operator):
            return self.combined(scalar)
        if self.is_nearby(scalar) and not lambda_variables(scalar):
            return Value(self.fixed_column(scalar), None, None, scalar.span)  # so Spark must sort
        raise not_computed(scalar)

    def move_inside(self, scalar: Scalar, position: Navigation) -> Value:
        """f(LAST(A.x)) as the column f(x) read at LAST(A); f(NULL) where there is no such row."""
        asked = self.guarded(scalar)
        column = row_column(render(asked, writing(asked)))
        missing = None
        if not is_null_on_null(scalar) and not is_there(self.plan, self.variable, position):
            missing = row_column(render(scalar, null_of_the_same_type))
        return Value(column, position, missing, scalar.span, late=self.late(scalar))

    def operand(self, scalar: Scalar) -> Step:
        """A value; or a lambda function, whose body the engine computes."""
        if not isinstance(scalar, Operation) or scalar.operator != LAMBDA:
            return self.step(scalar)
        *names, body = scalar.operands
        variables = (variable for name in names for variable in lambda_variables(name))
        return Lambda(tuple(variables), self.of_lambda(body), scalar.span)

    def of_lambda(self, body: Scalar) -> Step:
        """What the engine computes of each element."""
        return self.step(body)

    def combined(self, scalar: Operation) -> Combined:
        """An operation that the engine computes."""
        operands = tuple(one.operand(part) for one, part in self.operands(scalar))
        return Combined(scalar.operator, operands, scalar.span, scalar.words)

    def late(self, scalar: Scalar) -> Combined | None:
        """What may fail, as an operation, where other rows tell whether it is asked."""
        if not isinstance(scalar, Operation) or not may_fail(scalar):
            return None
        if not is_known(scalar.operator):
            return None
        if all(self.read_same_row(scalar)):
            return None
        try:
            return self.combined(scalar)
        except MatchRecognizeUnsupportedError:  # in a lambda function, of whose variables it is
            return None

    def operands(self, scalar: Operation) -> Iterator[tuple[ConditionSplitter, Scalar]]:
        """The operands, each with its splitter: some are asked only where others hold."""
        for guards, operand in zip(guards_of(scalar), scalar.operands, strict=True):
            yield self.after(guards), operand

    def guarded(self, scalar: Scalar) -> Scalar:
        """What may fail, computed where the guards of the same row hold."""
        if not may_fail(scalar):
            return scalar
        same_row = compress(self.guards, self.read_same_row(scalar))
        return under((*self.known(scalar), *same_row), scalar)

    def known(self, scalar: Scalar) -> tuple[Scalar, ...]:
        """What holds of the row, as it is mapped, at which the expression looks; none of others."""
        position = None if self.is_fixed(scalar) else one_position(scalar)
        is_mapped = position is not None and not position.physical_offset
        if position is None or not is_mapped or not is_partial(render(scalar, argument_of)):
            return ()
        return tuple(filter(None, (holds_of_rows(self.plan, position.variable),)))

    def read_same_row(self, scalar: Scalar) -> Iterator[bool]:
        """Of each guard, whether it looks at the row, or rows, at which the expression looks."""
        if self.is_fixed(scalar):
            return map(self.is_fixed, self.guards)
        position = one_position(scalar)
        return (position is not None and one_position(one) == position for one in self.guards)

    def step_of_row(self, variable: str, term: Scalar) -> Step:
        """What is made on a row, mapped to a variable, of what an aggregate evaluates."""
        return replace(self, variable=variable, guards=()).step(term)


class NearbySplitter(ConditionSplitter):
    """Splits a condition over neighbours: what the worker computes of it, for all rows."""

    __slots__ = ()

    def step(self, scalar: Scalar) -> Step:
        """What the worker computes for `scalar`; what only Spark knows is a column of its own."""
        distances = self.distances(scalar)
        if self.is_fixed(scalar):
            here = self.fixed_column(self.guarded(scalar))
            return Value(here, None, None, scalar.span, formula(scalar, None), self.late(scalar))
        is_known = isinstance(scalar, Operation) and scalar.operator in OF_ALL_ROWS
        if len(distances) == 1 and (is_null_on_null(scalar) or not is_known):
            position = Navigation(physical_offset=distances.pop() or 0)
            return replace(self.move_inside(scalar, position), formula=formula(scalar, position))
        if isinstance(scalar, Operation) and is_known:
            return self.combined(scalar)
        return Value(self.fixed_column(scalar), None, None, scalar.span)

    def of_lambda(self, body: Scalar) -> Step:
        """Spark has the values of neighbours, and calls the function."""
        raise not_computed(body)
