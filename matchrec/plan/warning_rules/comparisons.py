"""Warnings about comparisons in conditions that probably have a mistake.

Each of these conditions can be computed, but is never true or has one value for all rows:

    DEFINE A AS price > A.price             a value is compared with itself
    DEFINE A AS B.price > 1                 B has no row yet when a row is tested for A
    DEFINE A AS price < LAST(A.price, 1)    the first row of A has no row of A before it
    DEFINE A AS price > MAX(A.price)        at the first row of A, both sides are its price
    DEFINE A AS price = NULL                a comparison with NULL is never true
    DEFINE A AS "status" = 'on'             two texts are compared; one was meant as a column
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne

from matchrec.errors import condition_warnings
from matchrec.errors.language import SQL, current_language
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
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
    find_variable,
    is_null,
    split_conjuncts,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operators import OPERATORS
from matchrec.plan.warning_rules.early_variables import EarlyVariables
from matchrec.plan.warning_rules.references import (
    MIRRORED,
    find_literal_text,
    find_only_reference,
    reads_nearby_row,
    show_plain_argument,
    show_users_operand,
)
from matchrec.plan.warning_rules.same_values import make_same_value_warning
from matchrec.plan.warning_rules.tested_rows import warn_about_tested_row
from matchrec.plan.warning_rules.wildcards import warn_about_wildcards

# The comparisons that are false if both sides are equal.
_FALSE_IF_EQUAL = frozenset({"<", ">", "<>"})

# Comparisons with an aggregate over rows that include the tested row: `price > MAX(price)` and
# `price < MIN(price)` are never true. The operators by the aggregates.
_FALSE_FOR_EXTREMES = {"max": ">", "min": "<"}

# The aggregates whose value over one row is the value of that row.
_VALUES_OF_ONE_ROW = frozenset({"avg", "max", "mean", "median", "min", "sum"})

_PYTHON_OPERATORS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


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
                operand_warnings = tuple(warn_about_operands(context, early_variables))
                yield from operand_warnings
                if not operand_warnings and current_language() is SQL:
                    yield from warn_about_tested_row(part, definition, plan)
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
        yield condition_warnings.false_constant_comparison(comparison.span)
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
        yield condition_warnings.different_strings(comparison.span, quoted=double_quoted_text)


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
        yield make_same_value_warning(comparison, context.definition, plan, early_variables)
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
        yield condition_warnings.compared_with_null(
            comparison.span, operator=comparison.operator, other=other_text
        )


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
        reference = find_only_reference(operand)
        if not isinstance(reference, ColumnReference):
            continue
        variable_read = reference.navigation.variable
        is_in_pattern = variable_read in variables_in_pattern
        if variable_read is None or not is_in_pattern or variable_read in subject.early_variables:
            continue
        column = show_plain_argument(reference)
        operand_text = show_users_operand(
            operand, f"{variable_read}.{column}" if plan.staging else None
        )
        if variable_read == subject.name:
            yield condition_warnings.compared_with_own_stage(
                span, read=operand_text, column=column, stage=variable_read
            )
        else:
            yield condition_warnings.compared_with_later_variable(
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
    for operand in find_required_columns(context.comparison):
        reference = find_only_reference(operand)
        assert isinstance(reference, ColumnReference), reference
        navigation = reference.navigation
        if navigation.logical_offset > 0 and has_no_earlier_row(
            context, early_variables, navigation.variable
        ):
            yield condition_warnings.compared_with_row_before_first(
                context.comparison.span,
                read=show_users_operand(operand),
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

    In `A AS price > AVG(A.price)`, AVG includes the tested row. At the first row of A it reads no
    other row, so `price > price` is false, and no row is mapped to A. `price > MAX(A.price)` is
    false at every row.

    Args:
        context: a comparison that must hold for a condition of SQL to hold.
        early_variables: the variables that can have rows when a condition is tested.
    """
    comparison = context.comparison
    if comparison.operator not in _FALSE_IF_EQUAL:
        return
    left, right = comparison.operands
    for column, value in ((left, right), (right, left)):
        tested = find_only_reference(column)
        read = find_only_reference(value)
        if not isinstance(tested, ColumnReference):
            continue
        if not isinstance(read, ColumnReference | Aggregate):
            continue
        if not reads_nearby_row(tested, context.definition, context.plan, offset=0):
            continue
        rows = find_variable(read)
        if find_column_of_only_row(read) == tested.argument and has_no_earlier_row(
            context, early_variables, rows
        ):
            if isinstance(read, Aggregate) and is_beyond_extreme(
                comparison, read, is_read_left=value is left
            ):
                shown_left, shown_right = map(show_users_operand, comparison.operands)
                yield condition_warnings.beyond_extreme(
                    comparison.span,
                    read=show_users_operand(value),
                    value=show_users_operand(column),
                    is_greatest=read.function == "max",
                    inclusive=f"{shown_left} {comparison.operator}= {shown_right}",
                )
                return
            yield condition_warnings.compared_with_only_row(
                comparison.span,
                read=show_users_operand(value),
                variable=context.definition.variable,
                condition=allow_first_rows(comparison, rows, 1),
            )
            return


def is_beyond_extreme(comparison: Operation, read: Aggregate, *, is_read_left: bool) -> bool:
    """Return whether a comparison with the tested row is false because the row is included.

    In `price > MAX(A.price)`, MAX includes the tested row of A, so its price is never greater.

    Args:
        comparison: the comparison.
        read: the aggregate that includes the tested row.
        is_read_left: whether this is the left operand.
    """
    operator = MIRRORED[comparison.operator] if is_read_left else comparison.operator
    return _FALSE_FOR_EXTREMES.get(read.function) == operator


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


def find_required_columns(scalar: Scalar) -> Iterator[Term]:
    """Yield the terms that are a column and without whose row an expression is NULL.

    `price < 0.9 * LAST(A.price, 1)` has two such terms, `price` and `LAST(A.price, 1)`.
    `coalesce(LAST(A.price, 1), 0)` has none, because it has a value without the row.
    """
    match scalar:
        case Term((ColumnReference(),)):
            yield scalar
        case Operation() if scalar.operator in OPERATORS and OPERATORS[scalar.operator].is_strict:
            for operand in scalar.operands:
                yield from find_required_columns(operand)


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
