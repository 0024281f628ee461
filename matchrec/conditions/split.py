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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from operator import attrgetter

from matchrec.conditions.aggregates import framed, split_aggregate
from matchrec.conditions.functions import functions
from matchrec.conditions.residual import (
    BASIC,
    COMPARISONS,
    CONVERSIONS,
    LOGIC,
    NULL_IN_NULL_OUT,
    REWRITINGS,
    Combined,
    Nearby,
    SplitCondition,
    Step,
    Typed,
    Value,
    VariableAt,
)
from matchrec.conditions.row_column import (
    Framed,
    RowColumn,
    Shifted,
    column_of,
    conjunction,
    row_column,
)
from matchrec.conditions.run_condition import TriedMatchNumber
from matchrec.conditions.types import BIGINT
from matchrec.conditions.typing.arithmetic import MATHEMATICAL, TRYING
from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError
from matchrec.errors.conditions import (
    lambda_of_several_rows,
    not_known_during_the_match,
    operations_nested_too_deep,
)
from matchrec.plan.expression import (
    COMPARED_CHOICES,
    DEEPEST,
    LONG_CHAIN,
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    Frame,
    Navigation,
    Operation,
    Reference,
    Scalar,
    Term,
    amount_of,
    argument_of,
    branches,
    comparison,
    complement,
    conjuncts,
    joined,
    looks_at_columns_only,
    negation,
    number_term,
    operand_of,
    render,
    row_text,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import NO_OPERATIONS, is_partial, may_fail, takes_long
from matchrec.plan.pattern import always_precedes
from matchrec.plan.show import show_scalar
from matchrec.plan.text import string_literal
from matchrec.source import Span


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


# Where a guard looks: at rows that are known before the match, or at one position of the run.
GuardedRow = tuple[bool, Navigation | None]

ELSEWHERE: GuardedRow = (False, None)


@dataclass(frozen=True, slots=True)
class ConditionSplitter:
    """Splits the condition of one variable. guards: by their rows, what holds where it is asked."""

    plan: MatchPlan
    variable: str
    scope: RowScope = RowScope.NEIGHBOURS
    guards: Mapping[GuardedRow, tuple[Scalar, ...]] = field(default_factory=dict)

    def condition(self, scalar: Scalar) -> SplitCondition:
        """Conjuncts at a fixed distance go before the match, the others during it."""
        known: list[RowColumn | Nearby] = []
        rest: list[Scalar] = []
        during: list[Step] = []
        for splitter, part in self.in_turn((part, (), (part,)) for part in conjuncts(scalar)):
            test = splitter.test(part)
            if test is None:
                rest.append(part)
                during.append(splitter.step(self.with_own_name(part)))
            else:
                known.append(test)
        before = tuple(test for test in known if isinstance(test, RowColumn))
        nearby = [test for test in known if isinstance(test, Nearby)]
        columns = tuple(map(attrgetter("column"), nearby))
        return SplitCondition(
            self.variable,
            conjunction(before) if before else None,
            all_of(during, scalar.span) if during else None,
            scalar.span,
            tuple(known),
            tuple(rest),
            Nearby(conjunction(columns), all_of([*map(attrgetter("step"), nearby)], scalar.span))
            if nearby
            else None,
        )

    def test(self, scalar: Scalar) -> RowColumn | Nearby | None:
        """A conjunct that Spark or the worker computes before the match; None of any other."""
        if self.is_fixed(scalar):
            return self.fixed_column(scalar)
        if self.is_nearby(scalar):
            nearby = NearbySplitter(self.plan, self.variable, self.scope, self.guards)
            return Nearby(self.fixed_column(scalar), nearby.step(scalar))
        return None

    def with_own_name(self, scalar: Scalar) -> Scalar:
        """The expression with the variable's name for the CLASSIFIER of the row itself."""

        def named(one: Reference) -> Reference | str:
            is_own = isinstance(one, Classifier) and self.distance(one) == 0
            return string_literal(self.variable) if is_own else one

        return with_references(scalar, named)

    def in_turn(self, parts: Iterable[Asked]) -> Iterator[tuple[ConditionSplitter, Scalar]]:
        """The parts, each with its splitter; what never fails needs no guards."""
        asked, earlier = self, list[Scalar]()
        for part, own, passed in parts:
            if may_fail(part.operations):
                asked, earlier = asked.where(earlier), []
                yield asked.where(own), part
            else:
                yield self, part
            earlier += passed

    def where(self, guards: Sequence[Scalar]) -> ConditionSplitter:
        if not guards:
            return self
        known = dict(self.guards)
        for one in guards:
            row = self.row_of(one)
            known[row] = (*known.get(row, ()), one)
        return replace(self, guards=known)

    def is_fixed(self, scalar: Scalar) -> bool:
        """Whether it reads only rows that Spark can compute it of, before the match."""
        distances = self.distances(scalar)
        if None in distances:
            return False
        return self.scope is RowScope.NEIGHBOURS or not any(distances)

    def is_nearby(self, scalar: Scalar) -> bool:
        """Whether the worker computes it for all rows, as it reads some at a fixed distance."""
        known = None not in self.distances(scalar) and not self.is_fixed(scalar)
        return known and self.scope is RowScope.SORTED

    def distances(self, scalar: Scalar) -> set[int | None]:
        return set(map(self.distance, scalar.references))

    def distance(self, reference: Reference) -> int | None:
        """How far from the current row the reference reads, or None where the run decides."""
        if isinstance(reference, ColumnReference | Classifier):
            navigation = reference.navigation
            here = self.plan.ids[self.variable] in self.plan.members[navigation.variable]
            at_current = here and navigation.is_last
            unmoved = navigation.physical_offset == 0 or isinstance(reference, ColumnReference)
            return navigation.physical_offset if at_current and unmoved else None
        return 0 if isinstance(reference, Aggregate) and reference.frame else None

    def fixed_column(self, scalar: Scalar) -> RowColumn:
        write = writing(scalar)
        found = column_of(self.fixed_piece(piece, write) for piece in scalar.pieces)
        return replace(found, may_fail=may_fail(scalar.operations), amount=amount_of(scalar))

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
        struct = scalar if isinstance(scalar, Operation) and scalar.operator == "STRUCT" else None
        if struct and len(set(struct.words)) < len(struct.words):  # one name twice: not in Arrow
            raise not_computed(scalar)
        if self.is_fixed(scalar):
            here, deferred = self.fixed_column(self.guarded(scalar)), self.defer(scalar)
            return Value(here, None, None, scalar.span, deferred=deferred)
        found = scalar.references
        if is_bare(scalar) and isinstance(found[0], Aggregate):
            names = variables_of_rows(self.plan, found[0])
            return split_aggregate(found[0], names, self.of_row, scalar.span)
        if found == (MATCH_NUMBER,) and is_bare(scalar):
            return Typed(TriedMatchNumber(), BIGINT, scalar.span)
        position = one_position(scalar)
        if position is not None and looks_at_columns_only(scalar):
            return self.move_inside(scalar, position)
        combined = scalar if isinstance(scalar, Operation) and is_known(scalar.operator) else None
        if position is not None and (combined is None or not may_fail(scalar.operations)):
            return by_classifier(scalar, position, self.plan.variables)  # of CLASSIFIER alone
        if combined is not None:
            return self.combined(combined)
        if self.is_nearby(scalar):
            return Value(self.fixed_column(scalar), None, None, scalar.span)  # so Spark must sort
        raise not_computed(scalar)

    def move_inside(self, scalar: Scalar, position: Navigation) -> Value:
        """f(LAST(A.x)) as the column f(x) read at LAST(A); f(NULL) where there is no such row."""
        asked = self.guarded(scalar)
        column = row_column(render(asked, writing(asked)))
        missing = None
        if not is_null_on_null(scalar) and not is_there(self.plan, self.variable, position):
            missing = row_column(render(scalar, lambda one: f"IF(FALSE, {argument_of(one)}, NULL)"))
        return Value(column, position, missing, scalar.span, deferred=self.defer(scalar))

    def combined(self, scalar: Operation) -> Combined:
        parts = self.in_turn(guards_of(scalar))
        operands = tuple(splitter.step(part) for splitter, part in parts)
        return Combined(scalar.operator, operands, scalar.span, scalar.words)

    def defer(self, scalar: Scalar) -> Combined | None:
        """What may fail, as an operation, where other rows tell whether it is asked."""
        if not isinstance(scalar, Operation) or not may_fail(scalar.operations):
            return None
        if not is_known(scalar.operator):
            return None
        if self.guards.keys() <= {self.row_of(scalar)} - {ELSEWHERE}:
            return None
        try:
            return self.combined(scalar)
        except MatchRecognizeUnsupportedError:  # a part that no engine has a value of
            return None

    def guarded(self, scalar: Scalar) -> Scalar:
        """What may fail, computed where the guards of the same row hold."""
        if not may_fail(scalar.operations):
            return scalar
        _, position = row = self.row_of(scalar)
        known = None  # of the row as it is mapped
        if position is not None and not position.physical_offset and is_partial(scalar.operations):
            known = holds_of_rows(self.plan, position.variable)
        same_row = () if row == ELSEWHERE else self.guards.get(row, ())
        return guard(same_row if known is None else (known, *same_row), scalar)

    def row_of(self, scalar: Scalar) -> GuardedRow:
        """The row, or rows, at which it looks: those before the match, or one of the run."""
        is_fixed = self.is_fixed(scalar)
        is_one = not is_fixed and looks_at_columns_only(scalar)
        return is_fixed, one_position(scalar) if is_one else None

    def of_row(self, variable: str, term: Scalar) -> Step:
        return replace(self, variable=variable, guards={}).step(term)


class NearbySplitter(ConditionSplitter):
    """Splits a condition over neighbours: what the worker computes of it, for all rows."""

    __slots__ = ()

    def step(self, scalar: Scalar) -> Step:
        """What the worker computes for `scalar`; what only Spark knows is a column of its own."""
        distances = self.distances(scalar)
        if self.is_fixed(scalar):
            here = self.fixed_column(self.guarded(scalar))
            return Value(here, None, None, scalar.span, formula(scalar, None), self.defer(scalar))
        is_known = isinstance(scalar, Operation) and scalar.operator in OF_ALL_ROWS
        if len(distances) == 1 and (is_null_on_null(scalar) or not is_known):
            position = Navigation(physical_offset=distances.pop() or 0)
            return replace(self.move_inside(scalar, position), formula=formula(scalar, position))
        if isinstance(scalar, Operation) and is_known:
            return self.combined(scalar)
        return Value(self.fixed_column(scalar), None, None, scalar.span)


Write = Callable[[Reference], str]

OF_TEXTS = {"LIKE", "ILIKE", "RLIKE", "REGEXP_LIKE", "CONTAINS", "STARTSWITH", "ENDSWITH"}

# What the worker computes for all rows, before the match.
OF_ALL_ROWS = BASIC | REWRITINGS.keys() | TRYING.keys()

OF_LAMBDAS = {"AGGREGATE", "EXISTS", "FILTER", "FORALL", "REDUCE", "TRANSFORM", "ZIP_WITH"} | {
    *("MAP_FILTER", "MAP_ZIP_WITH", "TRANSFORM_KEYS", "TRANSFORM_VALUES")
}

TRUTH_VALUED = COMPARISONS | LOGIC | OF_TEXTS | {"BETWEEN", "IN"}


def is_known(operator: str) -> bool:
    """Whether an operation of several rows is computed during the match, by engine or Python."""
    by_engine = operator in OF_ALL_ROWS or operator in MATHEMATICAL or operator in CONVERSIONS
    return by_engine or operator in functions()


def all_of(steps: list[Step], span: Span) -> Step:
    return steps[0] if len(steps) == 1 else Combined("AND", tuple(steps), span)


def by_classifier(scalar: Scalar, position: Navigation, variables: Sequence[str]) -> VariableAt:
    """The value for each variable that the row may be mapped to, then for none."""
    names = (*map(string_literal, variables), "CAST(NULL AS STRING)")

    def column(name: str) -> RowColumn:
        return row_column(render(scalar, lambda _: name))

    return VariableAt(position, tuple(map(column, names)), scalar.span)


def one_position(scalar: Scalar) -> Navigation | None:
    """The position that all references read, if it is one and they are of one sort."""
    found = scalar.references
    if set(map(type, found)) != {Classifier} and not looks_at_columns_only(scalar):
        return None
    positions = {
        reference.navigation
        for reference in found
        if isinstance(reference, ColumnReference | Classifier)
    }
    return positions.pop() if len(positions) == 1 else None


def is_truth(scalar: Scalar) -> bool:
    if not isinstance(scalar, Operation):
        return not scalar.references and render(scalar, str).upper() in ("TRUE", "FALSE", "NULL")
    if scalar.operator in COMPARED_CHOICES | {"CASE", "IF"}:
        return all(map(is_truth, branches(scalar)[1]))
    return scalar.operator in TRUTH_VALUED or scalar.operator.startswith(("IS ", "NOT "))


def is_bare(scalar: Scalar) -> bool:
    """Whether the expression is nothing but one reference, perhaps in parentheses."""
    return len(scalar.references) == 1 and all(
        not piece.strip(" \t\r\n()") for piece in scalar.pieces if isinstance(piece, str)
    )


def is_null_on_null(scalar: Scalar) -> bool:
    """Whether the value is NULL wherever any reference in it is; False where that is not known."""
    if isinstance(scalar, Operation):
        return scalar.operator in NULL_IN_NULL_OUT and any(
            operand.references and is_null_on_null(operand) for operand in scalar.operands
        )
    return is_bare(scalar)


def writing(scalar: Scalar) -> Write:
    return argument_of if is_bare(scalar) else operand_of


def is_there(plan: MatchPlan, variable: str, position: Navigation) -> bool:
    """Whether there is such a row whenever the condition of a variable is asked."""
    members, own = plan.members[position.variable], plan.ids[variable]
    if position.logical_offset or position.physical_offset or plan.staging is not None:
        return False
    if own in members:
        return True
    names = frozenset(plan.variables[member] for member in members)
    is_mapped = own in plan.members[None]
    return is_mapped and always_precedes(plan.pattern, names, variable)


def variables_of_rows(plan: MatchPlan, aggregate: Aggregate) -> tuple[str, ...]:
    """By primary variable, itself; one of the aggregate's for those that it is not over."""
    members, names = plan.members[aggregate.variable], plan.variables
    return tuple(name if plan.ids[name] in members else names[min(members)] for name in names)


def named(scalar: Scalar) -> str:
    if isinstance(scalar, Operation):
        return scalar.operator
    text = show_scalar(scalar)
    return (text.split("(")[0].split() or text.split())[0] if " " in text else text


def not_computed(scalar: Scalar) -> MatchRecognizeError:
    if isinstance(scalar, Operation) and scalar.operator == LONG_CHAIN:
        return operations_nested_too_deep(scalar.span, limit=DEEPEST)
    takes_lambda = named(scalar).upper() in OF_LAMBDAS
    refused = lambda_of_several_rows if takes_lambda else not_known_during_the_match
    return refused(scalar.span, what=named(scalar))


def formula(scalar: Scalar, position: Navigation | None) -> Combined | None:
    """Arithmetic of columns, all read at one position, and of constants; None of anything else."""
    found = part_of_formula(scalar, position)
    return found if isinstance(found, Combined) else None


def part_of_formula(scalar: Scalar, position: Navigation | None) -> Step | None:
    if is_bare(scalar) and isinstance(scalar.references[0], ColumnReference):
        return Value(row_column(render(scalar, argument_of)), position, None, scalar.span)
    if amount_of(scalar) is not None:
        return Value(row_column(render(scalar, str), amount_of(scalar)), None, None, scalar.span)
    if not isinstance(scalar, Operation) or scalar.operator not in ("+", "-", "*"):
        return None
    parts = [part_of_formula(part, position) for part in scalar.operands]
    known = tuple(part for part in parts if part is not None)
    return Combined(scalar.operator, known, scalar.span) if len(known) == len(parts) else None


# Guards: conditions on a row under which something is asked of it at all.
#
#     x <> 0 AND 10 / x < A.y             →   CASE WHEN x <> 0 THEN 10 / x END < A.y
#     A AS z > 0, B AS sum(1 / A.z) > 2   →   sum(CASE WHEN z > 0 THEN 1 / z END) > 2
#
# What Spark computes for every row before the match must not fail on rows on which the condition
# would not have come to it, or to which its variable is not mapped.


def holds_of_rows(plan: MatchPlan, variable: str | None) -> Scalar | None:
    """What holds of each row that is mapped to a variable, as SQL over that row; None: nothing."""
    names = [plan.variables[member] for member in sorted(plan.members[variable])]
    known = [_row_condition(plan, name) for name in names]
    found = [term for term in dict.fromkeys(known) if term is not None]
    return joined("OR", found) if found and None not in known else None


def _row_condition(plan: MatchPlan, variable: str) -> Term | None:
    """What the condition of a variable asks of the row alone, but for what takes long to ask."""
    conditions = (one.condition for one in plan.definitions if one.variable == variable)
    parts = [part for condition in conditions for part in conjuncts(condition)]
    splitter = ConditionSplitter(plan, variable)
    own = (one for one in parts if looks_at_columns_only(one) and splitter.distances(one) <= {0})
    quick = [part for part in own if not takes_long(part.operations)]
    texts = [row_text(part) for part in quick]
    text = texts[0] if len(quick) == 1 else " AND ".join(f"({one})" for one in texts)
    operations = NO_OPERATIONS.union(*(part.operations for part in quick))
    return Term((text,), parts[0].span, operations) if quick else None


def guard(guards: Sequence[Scalar], scalar: Scalar) -> Scalar:
    """The expression where all guards hold, in their order; NULL elsewhere.

    A truth value is a number in between: a CASE of truth values may become AND and OR, of which
    some sessions ask every part. So what may fail of the guards is in a CASE of its own.
    """
    if not guards:
        return scalar
    if is_truth(scalar):
        number = Operation("CAST", ("CAST(", scalar, " AS INT)"), scalar.span, words=("INT",))
        return comparison("=", guard(guards, number), number_term(1, scalar.span))
    later = (place for place, one in enumerate(guards) if place and may_fail(one.operations))
    first = next(later, len(guards))
    asked = guard(guards[first:], scalar)
    parts = "CASE WHEN ", joined("AND", guards[:first]), " THEN ", asked, " END"
    return Operation("CASE", parts, scalar.span)


# A part of an expression, with what must hold for it to be asked beside what must for those before
# it: for this one alone, then for all after it.
Asked = tuple[Scalar, Sequence[Scalar], Sequence[Scalar]]


def guards_of(operation: Operation) -> Iterator[Asked]:
    """The operands, each with what of those before it must hold for it to be asked."""
    passed = _PASSED.get(operation.operator)
    branches = operation.operator in ("IF", "CASE")
    for place, operand in enumerate(operation.operands):
        if branches and place % 2:  # a value, whose condition holds, and does not for what follows
            condition = operation.operands[place - 1]
            yield operand, (condition,), (complement(condition),)
        else:
            yield operand, (), () if passed is None else (passed(operand),)


def _unknown(scalar: Scalar) -> Operation:
    return Operation("IS NULL", ("(", scalar, ") IS NULL"), scalar.span)


# What must hold of an operand for the next one to be asked.
_PASSED: Mapping[str, Callable[[Scalar], Scalar]] = {
    "AND": lambda one: complement(negation(one)),
    "OR": complement,
    **dict.fromkeys(("COALESCE", "NVL", "IFNULL"), _unknown),
}
