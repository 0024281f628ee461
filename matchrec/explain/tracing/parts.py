"""The parts of conditions, whose values explain a trial, as measures of the rows mapped so far.

A trial of a run is a match that ends with the row in question: what a condition reads there, a
measure reads. So each conjunct, each side of a comparison and each reference is a measure, which
Spark evaluates as it does all others.

    price < PREV(price) * 0.9   →   whether it holds; `price`; `PREV(price) * 0.9`; `PREV(price)`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from matchrec.conditions.residual import COMPARISONS
from matchrec.conditions.split import is_bare
from matchrec.explain.formulas import show_test
from matchrec.plan.clauses import Definition, Measure
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchFunction,
    MatchValue,
    Navigation,
    Operation,
    Piece,
    Reference,
    Scalar,
    Semantics,
    Term,
    conjuncts,
    terms,
    with_semantics,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import UNREAD, may_fail
from matchrec.plan.show import show_scalar
from matchrec.plan.text import string_literal
from matchrec.source import Span

# A measure finds the index of its trial and the match number in one number: see `number_of`.
MATCH_NUMBERS = 2**31

NOWHERE = Span(0, 0)
Write = Callable[[Scalar], str]


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """A reference. is_side: whether a side of the comparison is this and nothing else."""

    text: str
    measure: int
    navigation: Navigation | None
    is_side: bool


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A part of a condition that must be true.

    truth: the measure that says whether it is; None where no measure reads what it does. sides: of
    a comparison, each with its measure. references: each once.
    looks_back: whether one of them leaves out the current row. is_guarded: whether it is asked only
    where those before it hold, as it may fail elsewhere.
    """

    text: str
    truth: int | None
    operator: str
    sides: tuple[int, ...]
    references: tuple[ReferencePart, ...]
    looks_back: bool
    is_guarded: bool


@dataclass(frozen=True, slots=True)
class Parts:
    """The conjuncts of each variable's condition, by name, and the measures of their values, of
    which the first is the number of the trial.
    """

    conjuncts: dict[str, tuple[Conjunct, ...]]
    measures: tuple[Measure, ...]


def parts_of(
    plan: MatchPlan, write: Write | None = None, tests: Iterable[tuple[str, Definition]] = ()
) -> Parts:
    """The parts of all conditions. write: an expression as its author wrote it. tests: further
    conditions of rows that are mapped to a variable, with its name.
    """
    number = Term((MATCH_NUMBER, f" DIV {MATCH_NUMBERS}"), NOWHERE)
    splitter = Splitter(plan.staging is not None, write, [Measure("__why0", number)])
    asked = [(definition.variable, definition) for definition in plan.definitions]
    found = {one.variable: splitter.conjuncts(one, mapped) for mapped, one in (*asked, *tests)}
    return Parts(found, tuple(splitter.measures))


def number_of(trial: int, match_number: int) -> int:
    """The match number of the match that stands for a trial."""
    return trial * MATCH_NUMBERS + match_number


@dataclass
class Splitter:
    """Collects measures. of_stages: whether conditions are asked before the row is mapped."""

    of_stages: bool
    write: Write | None
    measures: list[Measure]

    def conjuncts(self, definition: Definition, mapped: str) -> tuple[Conjunct, ...]:
        every = conjuncts(definition.condition)
        found = []
        for index, one in enumerate(every):
            earlier = every[:index] if may_fail(one.operations) else ()
            guards = [guard for guard in earlier if all(map(is_measured, guard.references))]
            found.append(self.conjunct(one, mapped, guards))
        return tuple(found)

    def conjunct(self, scalar: Scalar, variable: str, guards: Sequence[Scalar]) -> Conjunct:
        looks_back = any(map(self.looks_back, scalar.references))
        text = self.text(scalar, variable)
        is_complement = isinstance(scalar, Operation) and scalar.operator == "IS NOT TRUE"
        if self.write is not None and not is_complement:  # which may be one of a NOT
            text = self.write(scalar)
        if not all(map(is_measured, scalar.references)):
            return Conjunct(text, None, "", (), (), looks_back, False)
        sides: tuple[Scalar, ...] = ()
        operator = ""
        if isinstance(scalar, Operation) and scalar.operator in COMPARISONS:
            sides, operator = scalar.operands, scalar.operator
        shown = {one for side in sides if is_bare(side) for one in side.references}
        once = dict.fromkeys(scalar.references)
        truth = self.measure(scalar, variable, guards)
        measured = tuple(self.measure(side, variable, guards) for side in sides)
        parts = tuple(self.reference(one, variable, is_side=one in shown) for one in once)
        return Conjunct(text, truth, operator, measured, parts, looks_back, bool(guards))

    def reference(self, reference: Reference, variable: str, *, is_side: bool) -> ReferencePart:
        navigation = None
        if isinstance(reference, ColumnReference | Classifier):
            navigation = self.navigation(reference.navigation)
        term = Term((reference,), NOWHERE)
        text = self.text(term, variable)
        return ReferencePart(text, self.measure(term, variable), navigation, is_side)

    def text(self, scalar: Scalar, variable: str) -> str:
        return show_test(scalar, variable) if self.of_stages else show_scalar(scalar)

    def measure(self, scalar: Scalar, variable: str, guards: Sequence[Scalar] = ()) -> int:
        """The place of the measure that gives a value where it is asked for."""
        value = self.measured(scalar)
        mapped = Classifier(Navigation(semantics=Semantics.FINAL))
        tests: list[Scalar] = [Term((mapped, f" = {string_literal(variable)}"), NOWHERE)]
        tests += map(self.measured, guards)
        # one in the other: an AND may ask all of them at once
        conditions = [part for test in tests for part in ("CASE WHEN ", test, " THEN ")]
        parts = (*conditions, value, " END" * len(tests))
        # operations stay operations: whoever computes them may need them written otherwise
        shown = Operation("SHOWN", parts, NOWHERE, own=UNREAD)
        self.measures.append(Measure(f"__why{len(self.measures)}", shown))
        return len(self.measures) - 1

    def measured(self, scalar: Scalar) -> Scalar:
        if isinstance(scalar, Operation):
            return scalar.of_operands(self.measured)
        pieces = tuple(changed for one in scalar.pieces for changed in self.as_measured(one))
        return replace(scalar, pieces=pieces)

    def as_measured(self, piece: Piece) -> Iterator[Piece]:
        """A piece of a condition as a measure reads it: from the match's last row."""
        match piece:
            case str():
                yield piece
            case MatchValue(MatchFunction.NUMBER):
                yield from ("(", piece, f" % {MATCH_NUMBERS})")
            case Aggregate():  # with running semantics without the current row: see `spark.tracing`
                semantics = Semantics.RUNNING if self.looks_back(piece) else Semantics.FINAL
                yield with_semantics(piece, semantics)
            case ColumnReference(navigation=navigation) | Classifier(navigation=navigation):
                moved = replace(piece, navigation=self.navigation(navigation))
                yield with_semantics(moved, Semantics.FINAL)
            case _:
                yield piece

    def looks_back(self, reference: Reference) -> bool:
        """Whether it is over the rows before the one in question."""
        if not isinstance(reference, Aggregate):
            return False
        is_of_all = reference.variable is None and reference.frame is None
        return reference.so_far or (self.of_stages and is_of_all)

    def navigation(self, navigation: Navigation) -> Navigation:
        """Where a reference reads when the row in question is the match's last one."""
        counts_back = navigation.variable is None and navigation.end is End.LAST
        if not (self.of_stages and counts_back):
            return navigation
        return replace(navigation, logical_offset=navigation.logical_offset + 1)


def is_measured(reference: Reference) -> bool:
    if not isinstance(reference, Aggregate):
        return True
    return all(MATCH_NUMBER not in term.pieces for term in terms(reference))
