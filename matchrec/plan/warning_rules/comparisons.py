"""Warnings about comparisons in conditions that probably have a mistake.

Each of these conditions can be computed, but is never true or has one value for all rows:

    DEFINE A AS price > A.price       a value is compared with itself
    DEFINE A AS B.price > 1           B has no row yet when a row is tested for A
    DEFINE A AS price < LAST(A.price, 1)    the first row of A has no row of A before it
    DEFINE A AS price > MAX(A.price)  at the first row of A, both sides are its price
    DEFINE A AS price = NULL          a comparison with NULL is never true
    DEFINE A AS "status" = 'on'       two texts are compared; one was meant as a column
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

from matchrec.errors import warnings
from matchrec.errors.language import SQL, current_language
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.change_expressions import map_column_references
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import (
    COMPARISONS,
    Aggregate,
    ColumnReference,
    End,
    Navigation,
    Operation,
    Scalar,
    Term,
    TextPiece,
    find_amount,
    is_null,
    split_conjuncts,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.show import show_scalar
from matchrec.plan.warning_rules.references import (
    find_literal_text,
    reads_nearby_row,
    show_plain_argument,
    use_plain_argument,
)
from matchrec.plan.warning_rules.wildcards import warn_about_wildcards

if TYPE_CHECKING:
    from matchrec.plan.stages import StageTest

# The comparisons that are false if both sides are equal.
_FALSE_IF_EQUAL = frozenset({"<", ">", "<>"})

# The aggregates whose value over one row is the value of that row.
_VALUES_OF_ONE_ROW = frozenset({"avg", "max", "mean", "median", "min", "sum"})

_PYTHON_OPERATORS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Subject:
    """The variable or stage that a part of a condition tests."""

    # The name of a variable or a stage, or "the group".
    name: str
    # The names of the variables that can have rows when the part is tested.
    early_variables: Collection[str]


@dataclass(frozen=True, slots=True)
class ComparisonInCondition:
    """A comparison, and the condition that contains it."""

    comparison: Operation
    # The condition, with the variable to which it belongs.
    definition: Definition
    # The plan that has the condition.
    plan: MatchPlan
    # Whether the comparison must hold for the condition to hold: it does in `x > 1 AND c`, and not
    # in `x > 1 OR c`.
    is_required: bool


@dataclass(frozen=True, slots=True)
class BareReference:
    """A subexpression that is only a reference to a column."""

    # The subexpression.
    term: Term
    # Its reference.
    reference: ColumnReference


def warn_about_comparisons(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each comparison or LIKE in a condition that probably has a mistake."""
    early_variables = EarlyVariables(plan)
    for definition in plan.definitions:
        required_parts = split_conjuncts(definition.condition)
        required_ids = {id(part) for part in required_parts}
        for part in walk_scalar(definition.condition):
            if not isinstance(part, Operation):
                continue
            yield from warn_about_wildcards(part)
            if part.operator in COMPARISONS:
                is_required = id(part) in required_ids
                context = ComparisonInCondition(part, definition, plan, is_required)
                yield from warn_about_operands(context, early_variables)
        for part in required_parts:
            if isinstance(part, Operation) and not part.references:
                yield from warn_about_constants(part)


def warn_about_constants(comparison: Operation) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if a comparison of two numbers or two texts is false.

    In `"status" = 'on'`, the text in double quotes was probably meant as the name of a column.

    Args:
        comparison: an operation without references, which must hold for a condition to hold.
            Operations other than comparisons raise no warning.
    """
    if is_false_comparison(comparison):
        yield warnings.false_constant_comparison(comparison.span)
        return
    operand_texts = [find_literal_text(operand) for operand in comparison.operands]
    texts = [text for text in operand_texts if text is not None]
    if comparison.operator != "=" or len(texts) < 2:
        return
    # Texts that differ only in case or in outer blanks raise no warning: a collation may make them
    # equal.
    folded_texts = {text[1:-1].strip().casefold() for text in texts}
    if len(folded_texts) == 2:
        double_quoted_text = next((text for text in texts if text[0] == '"'), None)
        yield warnings.different_strings(comparison.span, quoted=double_quoted_text)


def warn_about_operands(
    context: ComparisonInCondition, early_variables: EarlyVariables
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if the operands of a comparison probably have a mistake.

    A value is compared with itself, with NULL, or with a row that is not there yet.
    """
    comparison = context.comparison
    plan = context.plan
    left, right = [
        normalize_operand(operand, context.definition, plan) for operand in comparison.operands
    ]
    if left == right and comparison.operands[0].references:
        yield make_same_value_warning(context)
    if comparison.operator == "<=>":
        return  # The operator is meant for values that may be NULL.
    if plan.staging or current_language() is SQL:
        yield from warn_about_later_rows(context, early_variables)
    if context.is_required and not plan.staging and current_language() is SQL:
        yield from warn_about_first_row(context, early_variables)
        yield from warn_about_only_row(context, early_variables)
    operands_except_null = [operand for operand in comparison.operands if not is_null(operand)]
    if len(operands_except_null) == 1:
        other_text = show_users_operand(operands_except_null[0], "x" if plan.staging else None)
        yield warnings.compared_with_null(
            comparison.span, operator=comparison.operator, other=other_text
        )


def make_same_value_warning(context: ComparisonInCondition) -> MatchRecognizeWarning:
    """Return the warning for a comparison of a value with itself.

    If SQL compares a column of the tested row, the advice names the same column of other rows.
    """
    span = context.comparison.span
    definition = context.definition
    plan = context.plan
    match context.comparison.operands[0]:
        case Term((ColumnReference() as reference,)):
            is_plain_column = len(reference.column_path) == 1
            reads_tested_row = reads_nearby_row(reference, definition, plan, offset=0)
            is_column_of_tested_row = is_plain_column and reads_tested_row
        case _:
            is_column_of_tested_row = False
    if not is_column_of_tested_row or current_language() is not SQL:
        return warnings.same_value(span)
    variables = patterns.list_variable_names(plan.pattern)
    other_variable = next((name for name in variables if name != definition.variable), None)
    return warnings.same_value(span, column=show_plain_argument(reference), other=other_variable)


def show_users_operand(operand: Scalar, example: str | None = None) -> str:
    """Return an operand as the user wrote it.

    Several blanks become one.

    Args:
        operand: an operand of a condition.
        example: what to return if the user's text is not known, because the operand's SQL is not
            the user's. None to return this SQL then.
    """
    users_text = read_users_text(operand.span)
    if users_text:
        return " ".join(users_text.split())
    return example or show_scalar(map_column_references(operand, use_plain_argument))


def warn_about_later_rows(
    context: ComparisonInCondition, early_variables: EarlyVariables
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if a comparison reads a column of a variable that has no row yet.

    In a condition of a stage, the name of the stage means its earlier events, without the event
    that is tested. So this name raises the warning, too, if the stage has no earlier event.
    """
    plan = context.plan
    span = context.comparison.span
    variables_in_pattern = patterns.list_variable_names(plan.pattern)
    subject = early_variables.find_subject(
        context.definition.variable, is_required=context.is_required
    )
    for operand in context.comparison.operands:
        match operand:
            case Term((ColumnReference(Navigation(str(variable_read))) as reference,)):
                pass
            case _:
                continue
        is_early = variable_read in subject.early_variables
        if is_early or variable_read not in variables_in_pattern:
            continue
        column = show_plain_argument(reference)
        operand_text = show_users_operand(
            operand, f"{variable_read}.{column}" if plan.staging else None
        )
        if variable_read == subject.name:
            yield warnings.compared_with_own_stage(
                span, read=operand_text, column=column, stage=variable_read
            )
        else:
            yield warnings.compared_with_later_variable(
                span, read=operand_text, other=variable_read, variable=subject.name
            )


def warn_about_first_row(
    context: ComparisonInCondition, early_variables: EarlyVariables
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if a comparison is NULL for the first row of the tested variable.

    In `A AS price < LAST(A.price, 1)`, the first row of A has no row of A before it. The comparison
    must hold for every row of A, so no row is mapped to A.

    Args:
        context: a comparison that must hold for a condition of SQL to hold.
        early_variables: the variables that can have rows when a condition is tested.
    """
    for read in find_required_reads(context.comparison):
        navigation = read.reference.navigation
        if navigation.logical_offset > 0 and has_no_earlier_row(
            context, early_variables, navigation.variable
        ):
            yield warnings.compared_with_row_before_first(
                context.comparison.span,
                read=show_users_operand(read.term),
                rows=navigation.variable,
                variable=context.definition.variable,
                condition=allow_first_rows(
                    context.comparison, navigation.variable, navigation.logical_offset
                ),
            )
            return


def has_no_earlier_row(
    context: ComparisonInCondition, early_variables: EarlyVariables, rows: str | None
) -> bool:
    """Return whether the first row of the tested variable is the first row of a set of rows.

    In `PATTERN (A B)`, the first row of B is the first row of B, but not of the whole match.

    Args:
        context: a comparison that must hold for a condition of SQL to hold.
        early_variables: the variables that can have rows when a condition is tested.
        rows: the variable, or the SUBSET, that has the rows; None for all rows of the match.
    """
    plan = context.plan
    variable = context.definition.variable
    if variable not in patterns.list_variable_names(plan.pattern):
        return False  # the variable is negated, or the condition tests whole matches
    subject = early_variables.find_subject(variable, is_required=True)
    earlier_ids = {plan.ids[name] for name in subject.early_variables if name != variable}
    members = plan.members[rows]
    return plan.ids[variable] in members and members.isdisjoint(earlier_ids)


def warn_about_only_row(
    context: ComparisonInCondition, early_variables: EarlyVariables
) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if both sides are equal at the first row of the tested variable.

    In `A AS price > MAX(A.price)`, MAX includes the tested row. At the first row of A it reads no
    other row, so `price > price` is false, and no row is mapped to A.

    Args:
        context: a comparison that must hold for a condition of SQL to hold.
        early_variables: the variables that can have rows when a condition is tested.
    """
    comparison = context.comparison
    if comparison.operator not in _FALSE_IF_EQUAL:
        return
    for column, value in (comparison.operands, comparison.operands[::-1]):
        match column, value:
            case Term((ColumnReference() as tested,)), Term(
                (ColumnReference() | Aggregate() as read,)
            ):
                pass
            case _:
                continue
        if not reads_nearby_row(tested, context.definition, context.plan, offset=0):
            continue
        rows = read.navigation.variable if isinstance(read, ColumnReference) else read.variable
        if find_column_of_only_row(read) == tested.argument and has_no_earlier_row(
            context, early_variables, rows
        ):
            yield warnings.compared_with_only_row(
                comparison.span,
                read=show_users_operand(value),
                variable=context.definition.variable,
                condition=allow_first_rows(comparison, rows, 1),
            )
            return


def find_column_of_only_row(read: ColumnReference | Aggregate) -> str | None:
    """Return the column whose value a reference has if its variable has only the tested row.

    `FIRST(A.price)` and `AVG(A.price)` have the value of `price` then. The result is None for
    references that can have another value, such as `COUNT(A.price)` and `PREV(FIRST(A.price))`.
    """
    if isinstance(read, ColumnReference):
        if read.navigation == Navigation(read.navigation.variable, End.FIRST):
            return read.argument
        return None
    is_plain = read == Aggregate(read.function, read.variable, read.arguments)
    if not is_plain or read.function not in _VALUES_OF_ONE_ROW:
        return None
    match read.arguments:
        case (Term((ColumnReference(argument=argument),)),):
            return argument
        case _:
            return None


def allow_first_rows(comparison: Operation, variable: str | None, count: int) -> str:
    """Return a comparison as the user wrote it, but true for the first rows.

    For `price < LAST(A.price, 1)`, the result is `count(A.*) = 1 OR price < LAST(A.price, 1)`.

    Args:
        comparison: a comparison that is not true for the first rows of a variable.
        variable: the variable, or the SUBSET; None for all rows of the match.
        count: the number of first rows for which the comparison is not true.
    """
    rows = "*" if variable is None else f"{variable}.*"
    test = "= 1" if count == 1 else f"<= {count}"
    return f"count({rows}) {test} OR {show_users_operand(comparison)}"


def find_required_reads(scalar: Scalar) -> Iterator[BareReference]:
    """Yield the reads of columns without whose row an expression is NULL.

    `price < 0.9 * LAST(A.price, 1)` has two such reads, `price` and `LAST(A.price, 1)`.
    `coalesce(LAST(A.price, 1), 0)` has none, because it has a value without the row.
    """
    match scalar:
        case Term((ColumnReference() as reference,)):
            yield BareReference(scalar, reference)
        case Operation() if scalar.operator in OPERATORS and OPERATORS[scalar.operator].is_strict:
            for operand in scalar.operands:
                yield from find_required_reads(operand)


class EarlyVariables:
    """The variables that can have rows when the conditions of a plan are tested."""

    def __init__(self, plan: MatchPlan) -> None:
        """Find the tests of stages, if the plan has stages."""
        self.plan = plan
        self.variables = patterns.list_variable_names(plan.pattern)
        # The tests of stages, by their names: for parts of conditions that need not hold. Empty if
        # the plan has no stages.
        self.tests_of_events: Mapping[str, StageTest] = {}
        # The tests of stages, by their names: for parts of conditions that must hold. Empty if the
        # plan has no stages.
        self.tests_of_first_events: Mapping[str, StageTest] = {}
        # The subjects that `find_subject` has found, by its arguments.
        self.subjects: dict[tuple[str, bool], Subject] = {}
        if plan.staging is not None:
            from matchrec.plan import stages  # SQL has no stages

            self.tests_of_events = stages.find_tests_of_events(plan.staging.steps)
            self.tests_of_first_events = stages.find_tests_of_first_events(plan.staging.steps)

    def find_subject(self, variable: str, *, is_required: bool) -> Subject:
        """Return the subject of a part of a condition.

        Args:
            variable: the name of the condition: a variable, or the test of a stage.
            is_required: whether the part must hold for the condition to hold. If so, the part must
                hold for the first row of the variable, too, before which fewer variables have rows.
        """
        key = (variable, is_required)
        if key not in self.subjects:
            self.subjects[key] = self._compute_subject(variable, is_required=is_required)
        return self.subjects[key]

    def _compute_subject(self, variable: str, *, is_required: bool) -> Subject:
        """Compute what `find_subject` returns."""
        if self.plan.staging is not None:
            tests = self.tests_of_first_events if is_required else self.tests_of_events
            if variable not in tests:
                return Subject(variable, self.variables)
            return Subject(tests[variable].subject, tests[variable].stages_before)
        if variable in self.plan.negated_variables:
            return Subject(variable, self.variables)
        variables_before = find_variables_before(
            variable, self.plan.pattern, only_first_row=is_required
        )
        return Subject(variable, {variable} | variables_before)


def find_variables_before(
    name: str, pattern: patterns.RowPattern, *, only_first_row: bool
) -> set[str]:
    """Return the variables that can have rows before a row of a variable.

    In `(A B)+`, B can have rows before the second row of A, but not before the first one. So if
    every row of A must follow a row of B, then no row can be mapped to A.

    Args:
        name: the name of the variable.
        pattern: a row pattern.
        only_first_row: whether to look only at the first row of the variable in a match.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> loop = parse_row_pattern("(A B)+")
    >>> find_variables_before("A", loop, only_first_row=True)
    set()
    >>> sorted(find_variables_before("A", loop, only_first_row=False))
    ['A', 'B']
    """
    parts = patterns.list_children(pattern)
    indexes = [
        index for index, part in enumerate(parts) if name in patterns.list_variable_names(part)
    ]
    if not indexes:
        return set()
    # The children that can be matched before the variable gets a row.
    earlier_parts: tuple[patterns.RowPattern, ...] = ()
    if isinstance(pattern, patterns.Concatenation):
        earlier_parts = parts[: indexes[-1]]
    elif isinstance(pattern, patterns.Permutation) or is_loop(pattern):
        earlier_parts = parts
    if only_first_row:
        # After a part that always has a row of the variable, no later row of it is the first one.
        earlier_parts = tuple(
            part for part in earlier_parts if not patterns.always_has_row(part, frozenset({name}))
        )
    variables: set[str] = set()
    for index in indexes:
        variables |= find_variables_before(name, parts[index], only_first_row=only_first_row)
    for part in earlier_parts:
        variables.update(patterns.list_variable_names(part))
    return variables


def is_loop(pattern: patterns.RowPattern) -> bool:
    """Return whether a node is a quantifier that can repeat its part."""
    return isinstance(pattern, patterns.Quantified) and pattern.most != 1


def normalize_operand(
    operand: Scalar, definition: Definition, plan: MatchPlan
) -> tuple[TextPiece, ...]:
    """Return the pieces of an operand's text in a form in which equivalent operands are equal.

    Several blanks become one, and all ways to read a column of the tested row become the same.
    """
    pieces: list[TextPiece] = []
    for piece in operand.pieces:
        if isinstance(piece, str):
            pieces.append(" ".join(piece.split()))
        elif isinstance(piece, ColumnReference) and reads_nearby_row(
            piece, definition, plan, offset=0
        ):
            pieces.append(replace(piece, navigation=Navigation(definition.variable)))
        else:
            pieces.append(piece)
    return tuple(pieces)


def is_false_comparison(operation: Operation) -> bool:
    """Return whether an operation is a comparison of two literal numbers that does not hold."""
    amounts = [find_amount(operand) for operand in operation.operands]
    numbers = [amount.value for amount in amounts if amount is not None and not amount.is_time]
    compare = _PYTHON_OPERATORS.get(operation.operator)
    return compare is not None and len(numbers) == 2 and not compare(*numbers)
