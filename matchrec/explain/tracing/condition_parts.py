"""Turn the parts of conditions into measures, whose values explain a trial.

A trial can be seen as a match that ends with the row that is tried: a measure of this match reads
what the condition reads in the run. So each conjunct, each side of a comparison and each reference
becomes a measure, which Spark evaluates as it does all others.

    price < PREV(price) * 0.9   →   whether it holds; `price`; `PREV(price) * 0.9`; `PREV(price)`

The measures see all rows of this match, by final semantics. Only an aggregate that leaves out the
row that is tried, such as `avg(a[..i-1].price)` of SASE+, must not see the last row. It gets
running semantics, and in `spark.traced_measures` all measures look from the row before the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from matchrec.conditions.rows_read import is_single_reference
from matchrec.explain.condition_texts import show_stage_condition
from matchrec.plan.change_expressions import set_semantics
from matchrec.plan.clauses import Definition, Measure
from matchrec.plan.expression import (
    COMPARISONS,
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    TextPiece,
    list_inputs,
    split_conjuncts,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import UNPARSED, may_fail
from matchrec.plan.show import show_scalar
from matchrec.plan.text import quote_string
from matchrec.source import Span

# The location of expressions that nobody wrote.
NOWHERE = Span(0, 0)

# Returns an expression as its author wrote it.
WriteExpression = Callable[[Scalar], str]


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """A reference in a conjunct, and the measure of its value."""

    # The reference as it is written in a query.
    text: str
    # The index of the measure.
    measure: int
    # Finds the row that it reads; None for an aggregate, and for a value that all rows share.
    navigation: Navigation | None
    # Whether a side of the comparison consists of this reference only.
    is_side: bool


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A part of a condition that must be true, and the measures of its values."""

    # The conjunct as the user wrote it.
    text: str
    # Whether it has an aggregate that leaves out the row that is tried. It cannot be measured in a
    # match of one row, which has no row before the last.
    looks_back: bool
    # The index of the measure that says whether it is true; None if no measure can say it. Then
    # nothing is measured, and the other fields have their defaults.
    truth: int | None = None
    # The operator of a comparison; empty if the conjunct is not a comparison.
    operator: str = ""
    # The indices of the measures of the sides of a comparison.
    sides: tuple[int, ...] = ()
    # Its references, each once.
    references: tuple[ReferencePart, ...] = ()
    # Whether it can raise an error, so that it is evaluated only if those before it hold.
    is_guarded: bool = False


@dataclass(frozen=True, slots=True)
class ConditionParts:
    """The parts of all conditions of a plan."""

    # The conjuncts of each variable's condition, by the name of the variable.
    conjuncts: dict[str, tuple[Conjunct, ...]]
    # The measures of their values.
    measures: tuple[Measure, ...]


def split_into_parts(
    plan: MatchPlan,
    write: WriteExpression | None = None,
    tests: Iterable[tuple[str, Definition]] = (),
) -> ConditionParts:
    """Return the parts of all conditions of a plan.

    Args:
        plan: the plan of the query.
        write: returns an expression as its author wrote it. Without it, texts are made from the
            plan.
        tests: the tests for a NOT in the pattern, whose conditions are not in the plan: the name of
            the variable that the tested row is mapped to, and the test.
    """
    builder = ConjunctBuilder(plan.staging is not None, write)
    conjuncts_by_variable = {
        definition.variable: builder.build_conjuncts(definition, definition.variable)
        for definition in plan.definitions
    }
    for variable, test in tests:
        conjuncts_by_variable[test.variable] = builder.build_conjuncts(test, variable)
    return ConditionParts(conjuncts_by_variable, tuple(builder.measures))


def find_bare_references(sides: Sequence[Scalar]) -> set[Reference]:
    """Return the references that are a whole side of a comparison."""
    return {
        reference for side in sides if is_single_reference(side) for reference in side.references
    }


@dataclass
class ConjunctBuilder:
    """A builder of the conjuncts of conditions, which collects the measures of their values."""

    # Whether the pattern has stages, whose conditions are evaluated before the row is mapped.
    has_stages: bool
    # Returns an expression as its author wrote it; None to make texts from the plan.
    write: WriteExpression | None
    # The measures so far.
    measures: list[Measure] = field(default_factory=list)

    def build_conjuncts(self, definition: Definition, variable: str) -> tuple[Conjunct, ...]:
        """Return the conjuncts of a condition.

        A conjunct that can raise an error is guarded by those before it.

        Args:
            definition: the condition.
            variable: the variable that the row is mapped to.
        """
        scalars = split_conjuncts(definition.condition)
        conjuncts = []
        for index, scalar in enumerate(scalars):
            earlier = scalars[:index] if may_fail(scalar.operations) else ()
            guards = [guard for guard in earlier if all(map(is_measured, guard.references))]
            conjuncts.append(self.build_conjunct(scalar, variable, guards))
        return tuple(conjuncts)

    def build_conjunct(self, scalar: Scalar, variable: str, guards: Sequence[Scalar]) -> Conjunct:
        """Return a conjunct, and add the measures of its values.

        Args:
            scalar: the conjunct as an expression.
            variable: the variable that the row is mapped to.
            guards: conjuncts that must hold for it to be evaluated.
        """
        looks_back = any(self.looks_back(reference) for reference in scalar.references)
        text = self.write_conjunct(scalar, variable)
        if not all(map(is_measured, scalar.references)):
            return Conjunct(text, looks_back)
        sides: tuple[Scalar, ...] = ()
        operator = ""
        if isinstance(scalar, Operation) and scalar.operator in COMPARISONS:
            sides = scalar.operands
            operator = scalar.operator
        bare_sides = find_bare_references(sides)
        truth = self.add_measure(scalar, variable, guards)
        side_measures = [self.add_measure(side, variable, guards) for side in sides]
        references = [
            self.build_reference(reference, variable, is_side=reference in bare_sides)
            for reference in dict.fromkeys(scalar.references)
        ]
        return Conjunct(
            text=text,
            looks_back=looks_back,
            truth=truth,
            operator=operator,
            sides=tuple(side_measures),
            references=tuple(references),
            is_guarded=bool(guards),
        )

    def build_reference(
        self, reference: Reference, variable: str, *, is_side: bool
    ) -> ReferencePart:
        """Return a reference of a conjunct, and add the measure of its value.

        Args:
            reference: the reference.
            variable: the variable that the row is mapped to.
            is_side: see `ReferencePart`.
        """
        navigation = None
        if isinstance(reference, ColumnReference | Classifier):
            navigation = self.move_navigation(reference.navigation)
        term = Term((reference,), NOWHERE)
        text = self.show(term, variable)
        return ReferencePart(text, self.add_measure(term, variable), navigation, is_side)

    def write_conjunct(self, scalar: Scalar, variable: str) -> str:
        """Return a conjunct of a variable's condition as its author wrote it, if that is known."""
        # Such an operation may come from a NOT in the pattern: then nobody wrote it.
        is_complement = isinstance(scalar, Operation) and scalar.operator == "IS NOT TRUE"
        if self.write is None or is_complement:
            return self.show(scalar, variable)
        return self.write(scalar)

    def show(self, scalar: Scalar, variable: str) -> str:
        """Return an expression in a variable's condition as one would write it."""
        return show_stage_condition(scalar, variable) if self.has_stages else show_scalar(scalar)

    def add_measure(self, scalar: Scalar, variable: str, guards: Sequence[Scalar] = ()) -> int:
        """Add a measure of an expression, and return its index.

        The measure is NULL unless the last row is mapped to the variable and the guards hold.
        """
        value = self.convert_scalar(scalar)
        classifier = Classifier(Navigation(semantics=Semantics.FINAL))
        is_mapped = Term((classifier, f" = {quote_string(variable)}"), NOWHERE)
        tests = [is_mapped, *map(self.convert_scalar, guards)]
        # One CASE within the other: an AND may evaluate all tests at once.
        cases: list[str | Scalar] = []
        for test in tests:
            cases += ["CASE WHEN ", test, " THEN "]
        pieces = (*cases, value, " END" * len(tests))
        # An operation, whose operands stay operations: a backend may have to rewrite them.
        measure = Operation("SHOWN", pieces, NOWHERE, operator_operations=UNPARSED)
        self.measures.append(Measure(f"__why{len(self.measures)}", measure))
        return len(self.measures) - 1

    def convert_scalar(self, scalar: Scalar) -> Scalar:
        """Return a part of a condition as a measure reads it."""
        if isinstance(scalar, Operation):
            return scalar.map_operands(self.convert_scalar)
        pieces = tuple(
            new_piece for piece in scalar.pieces for new_piece in self.convert_piece(piece)
        )
        return replace(scalar, pieces=pieces)

    def convert_piece(self, piece: TextPiece) -> Iterator[TextPiece]:
        """Yield a piece of a condition as a measure reads it: from the match's last row."""
        match piece:
            case str():
                yield piece
            case Aggregate():
                semantics = Semantics.RUNNING if self.looks_back(piece) else Semantics.FINAL
                yield set_semantics(piece, semantics)
            case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
                moved = replace(piece, navigation=self.move_navigation(navigation))
                yield set_semantics(moved, Semantics.FINAL)
            case _:
                yield piece

    def looks_back(self, reference: Reference) -> bool:
        """Return whether a reference is an aggregate that leaves out the row that is tried."""
        if not isinstance(reference, Aggregate):
            return False
        reads_all_rows = reference.variable is None and reference.frame is None
        return reference.excludes_current_row or (self.has_stages and reads_all_rows)

    def move_navigation(self, navigation: Navigation) -> Navigation:
        """Return a navigation for a measure, for which the current row is the match's last one.

        The condition of a stage does not count the current row among the rows of the match, so
        that a measure must go back one row more.
        """
        counts_back = navigation.variable is None and navigation.end is End.LAST
        if not (self.has_stages and counts_back):
            return navigation
        return replace(navigation, logical_offset=navigation.logical_offset + 1)


def is_measured(reference: Reference) -> bool:
    """Return whether a measure reads what a condition reads by this reference.

    It does not for an aggregate over MATCH_NUMBER().
    """
    if not isinstance(reference, Aggregate):
        return True
    return all(MATCH_NUMBER not in term.pieces for term in list_inputs(reference))
