"""Turn the parts of conditions into measures, whose values explain a trial.

A trial can be seen as a match that ends with the row that is tried: a measure of this match reads
what the condition reads in the run. So each conjunct, each side of a comparison and each reference
becomes a measure, which Spark evaluates like any other measure.

    price < PREV(price) * 0.9   →   the whole conjunct; `price`; `PREV(price) * 0.9`; `PREV(price)`

The measures have final semantics, so they read all rows of this match. Only an aggregate that
leaves out the row that is tried, such as `avg(a[..i-1].price)` of SASE+, must not read the last
row. Such an aggregate has running semantics, and `spark.traced_measures` evaluates all measures at
the row before the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from matchrec.compile.negation import NegationTest
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
from matchrec.plan.operations import UNPARSED, can_fail
from matchrec.plan.show import show_scalar
from matchrec.plan.text import quote_string
from matchrec.source import Span

# The location of expressions that are not in the user's text.
NOWHERE = Span(0, 0)

# A function that returns an expression as its author wrote it.
WriteExpression = Callable[[Scalar], str]


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """A reference in a conjunct, and the measure of its value."""

    # The reference as it is written in a query.
    text: str
    # The index of the measure in `ConditionParts.measures`.
    measure: int
    # The navigation to the row that the reference reads; None for an aggregate, and for a value
    # that all rows share.
    navigation: Navigation | None
    # Whether a side of the comparison consists of this reference only.
    is_side: bool


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of a condition, and the measures of its values."""

    # The conjunct as the user wrote it.
    text: str
    # Whether the conjunct has an aggregate that leaves out the row that is tried. Such a conjunct
    # cannot be measured in a match of one row, which has no row before the last.
    excludes_tried_row: bool
    # The index of the measure that says whether the conjunct is true; None if no measure can say
    # so. Then the conjunct has no measures at all, and the fields below have their defaults.
    truth_measure: int | None = None
    # The operator of a comparison; empty if the conjunct is not a comparison.
    operator: str = ""
    # The indices of the measures of the left and the right side of a comparison; empty if the
    # conjunct is not a comparison.
    side_measures: tuple[int, ...] = ()
    # The references in the conjunct, each once.
    references: tuple[ReferencePart, ...] = ()
    # Whether the conjunct can raise an error, so that it is evaluated only if the conjuncts before
    # it hold.
    is_guarded: bool = False


@dataclass(frozen=True, slots=True)
class ConditionParts:
    """The parts of all conditions of a plan."""

    # The conjuncts of each condition, by the name of the variable or of the test.
    conjuncts: dict[str, tuple[Conjunct, ...]]
    # The measures of all conjuncts. A measure is known by its index in this tuple.
    measures: tuple[Measure, ...]


def split_into_parts(
    plan: MatchPlan,
    write: WriteExpression | None = None,
    negation_tests: Iterable[NegationTest] = (),
) -> ConditionParts:
    """Return the parts of all conditions of a plan.

    Args:
        plan: the plan of the query.
        write: returns an expression as its author wrote it; None to make texts from the plan.
        negation_tests: the tests that the search has instead of each NOT in the pattern. Their
            conditions are not in the plan.
    """
    builder = ConjunctBuilder(plan.staging is not None, write)
    conjuncts_by_variable = {
        definition.variable: builder.build_conjuncts(definition, definition.variable)
        for definition in plan.definitions
    }
    for test in negation_tests:
        # The definition has the name of the test. The tested row is mapped to the test's variable.
        definition = test.definition
        conjuncts = builder.build_conjuncts(definition, test.variable)
        conjuncts_by_variable[definition.variable] = conjuncts
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
        """Return the conjuncts of a condition, and add the measures of their values.

        A conjunct that can raise an error is guarded by the conjuncts before it.

        Args:
            definition: the condition.
            variable: the variable that the row is mapped to.
        """
        scalars = split_conjuncts(definition.condition)
        conjuncts = []
        for index, scalar in enumerate(scalars):
            earlier = scalars[:index] if can_fail(scalar.operations) else ()
            guards = [guard for guard in earlier if all(map(is_measured, guard.references))]
            conjuncts.append(self.build_conjunct(scalar, variable, guards))
        return tuple(conjuncts)

    def build_conjunct(self, scalar: Scalar, variable: str, guards: Sequence[Scalar]) -> Conjunct:
        """Return a conjunct, and add the measures of its values.

        Args:
            scalar: the conjunct as an expression.
            variable: the variable that the row is mapped to.
            guards: the conjuncts that must hold so that this conjunct is evaluated.
        """
        excludes_tried_row = any(
            self.excludes_tried_row(reference) for reference in scalar.references
        )
        text = self.write_conjunct(scalar, variable)
        if not all(map(is_measured, scalar.references)):
            return Conjunct(text, excludes_tried_row)  # its truth cannot be measured
        sides: tuple[Scalar, ...] = ()
        operator = ""
        if isinstance(scalar, Operation) and scalar.operator in COMPARISONS:
            sides = scalar.operands
            operator = scalar.operator
        bare_sides = find_bare_references(sides)
        truth_measure = self.add_measure(scalar, variable, guards)
        side_measures = [self.add_measure(side, variable, guards) for side in sides]
        references = [
            self.build_reference(reference, variable, is_side=reference in bare_sides)
            for reference in dict.fromkeys(scalar.references)
        ]
        return Conjunct(
            text=text,
            excludes_tried_row=excludes_tried_row,
            truth_measure=truth_measure,
            operator=operator,
            side_measures=tuple(side_measures),
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
            is_side: whether a side of the comparison consists of this reference only.
        """
        navigation = None
        if isinstance(reference, ColumnReference | Classifier):
            navigation = self.move_navigation(reference.navigation)
        term = Term((reference,), NOWHERE)
        text = self.show(term, variable)
        return ReferencePart(text, self.add_measure(term, variable), navigation, is_side)

    def write_conjunct(self, scalar: Scalar, variable: str) -> str:
        """Return a conjunct as its author wrote it, or as text made from the plan."""
        # A NOT in the pattern becomes such an operation, which is not in the user's text.
        is_complement = isinstance(scalar, Operation) and scalar.operator == "IS NOT TRUE"
        if self.write is None or is_complement:
            return self.show(scalar, variable)
        return self.write(scalar)

    def show(self, scalar: Scalar, variable: str) -> str:
        """Return the text of an expression in a variable's condition, made from the plan."""
        return show_stage_condition(scalar, variable) if self.has_stages else show_scalar(scalar)

    def add_measure(self, scalar: Scalar, variable: str, guards: Sequence[Scalar] = ()) -> int:
        """Add a measure of an expression, and return the index of the measure.

        The measure is NULL unless the last row is mapped to the variable and the guards hold.

        Args:
            scalar: the expression.
            variable: the variable in whose trials the expression is measured.
            guards: the conditions without which the expression can raise an error.
        """
        value = self.convert_scalar(scalar)
        classifier = Classifier(Navigation(semantics=Semantics.FINAL))
        is_mapped = Term((classifier, f" = {quote_string(variable)}"), NOWHERE)
        tests = [is_mapped, *map(self.convert_scalar, guards)]
        # One CASE is inside another, because Spark can evaluate all operands of an AND.
        cases: list[str | Scalar] = []
        for test in tests:
            cases += ["CASE WHEN ", test, " THEN "]
        pieces = (*cases, value, " END" * len(tests))
        # An operation, whose operands stay operations: some backends rewrite them.
        measure = Operation("SHOWN", pieces, NOWHERE, operator_operations=UNPARSED)
        self.measures.append(Measure(f"__why{len(self.measures)}", measure))
        return len(self.measures) - 1

    def convert_scalar(self, scalar: Scalar) -> Scalar:
        """Return an expression of a condition for a measure: `convert_piece` of all its pieces."""
        if isinstance(scalar, Operation):
            return scalar.map_operands(self.convert_scalar)
        pieces = tuple(
            new_piece for piece in scalar.pieces for new_piece in self.convert_piece(piece)
        )
        return replace(scalar, pieces=pieces)

    def convert_piece(self, piece: TextPiece) -> Iterator[TextPiece]:
        """Yield a piece of a condition as a measure needs it, with the last row as current row."""
        match piece:
            case str():
                yield piece
            case Aggregate():
                semantics = Semantics.RUNNING if self.excludes_tried_row(piece) else Semantics.FINAL
                yield set_semantics(piece, semantics)
            case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
                moved = replace(piece, navigation=self.move_navigation(navigation))
                yield set_semantics(moved, Semantics.FINAL)
            case _:
                yield piece

    def excludes_tried_row(self, reference: Reference) -> bool:
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
    """Return whether a measure can read the value that a condition reads by a reference.

    A measure cannot read the value of an aggregate over MATCH_NUMBER().
    """
    if not isinstance(reference, Aggregate):
        return True
    return all(MATCH_NUMBER not in term.pieces for term in list_inputs(reference))
