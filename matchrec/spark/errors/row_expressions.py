"""Write the expressions of a plan as SQL over the input, so that an engine can analyse them.

An engine knows nothing about matches. A reference is replaced by SQL over one row of the input that
has the same type, and an aggregate over the rows of a match becomes an aggregate over all rows:

    LAST(B.price) > A.price      `price` > `price`
    CLASSIFIER() = 'B'           '' = 'B'
    SUM(A.size) > 5              SUM(`size`) > 5, over all rows

Only the types of these expressions are used. They are never evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from matchrec.conditions.guards import is_truth_value
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Reference,
    Scalar,
    Term,
    list_inner_references,
    list_inputs,
    render,
    split_conjuncts,
    write_operand,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import write_aggregate_call
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class ExpressionSql:
    """SQL over one row that stands for an expression of the user, or for a part of an expression.

    For `SUM(DISTINCT prise) > 5` in DEFINE, the part `prise` has the call `SUM(DISTINCT `.
    """

    # The name of the clause, for messages.
    clause: str
    # The SQL.
    text: str
    # The location of the expression in the user's text; None if it is not known.
    span: Span | None
    # The aggregate call around the expression up to its argument, such as `SUM(DISTINCT `, or
    # `CLASSIFIER(` if the expression is compared with CLASSIFIER(); otherwise empty.
    call: str = ""
    # The columns in the same expression.
    columns: tuple[ColumnReference, ...] = ()
    # The expression that the SQL stands for; None if it was not parsed.
    scalar: Scalar | None = field(default=None, compare=False)


def list_expressions(plan: MatchPlan) -> list[ExpressionSql]:
    """Return the parts of every expression, smallest first, so that the caret is exact.

    For `DEFINE A AS upper(prise) = 'X' AND price > 1`, the parts are `prise`, `price`,
    `upper(prise) = 'X'` and `price > 1`.
    """
    expressions = list_keys(plan)
    for interval in plan.window_lengths:
        expressions.append(ExpressionSql("WITHIN", interval.text, interval.span))
    for clause, scalar in list_scalars(plan):
        expressions += iterate_parts(clause, scalar)
    return list(dict.fromkeys(expressions))


def list_scalars(plan: MatchPlan) -> list[tuple[str, Scalar]]:
    """Return the conditions and the measures of a plan, each with the name of its clause."""
    conditions = [("DEFINE", definition.condition) for definition in plan.definitions]
    return conditions + [("MEASURES", measure.value) for measure in plan.measures]


def list_keys(plan: MatchPlan) -> list[ExpressionSql]:
    """Return the expressions that divide and sort the rows."""
    return [
        ExpressionSql(find_clause_of_key(plan, key), key.text, key.span, scalar=key.scalar)
        for key in plan.sorted_by
    ]


def find_clause_of_key(plan: MatchPlan, key: RowExpression) -> str:
    """Return the name of the clause of an expression that divides or sorts the rows.

    In SASE+, an equivalence test divides the events: its attributes are equal in all events of a
    match.
    """
    if key in plan.partition_by:
        return "PARTITION BY"
    return "an equivalence test" if key in plan.equivalence_keys else "ORDER BY"


def list_row_conditions(plan: MatchPlan) -> list[ExpressionSql]:
    """Return the conditions without aggregates as SQL over one row, each part of an AND by itself.

    Parts whose form shows that they are truth values, such as comparisons, are left out.
    """
    return [
        write_over_one_row("DEFINE", part)
        for definition in plan.definitions
        for part in split_conjuncts(definition.condition)
        if not is_truth_value(part) and not has_aggregate(part)
    ]


def iterate_parts(clause: str, scalar: Scalar) -> Iterator[ExpressionSql]:
    """Yield the parts of an expression as SQL, smallest first, as `list_expressions` returns them.

    These are the columns and the aggregates that it reads, then the parts of its AND, if it is one,
    or else the whole expression. Parts of an AND with aggregates are left out.
    """
    all_columns = tuple(
        column for reference in scalar.references for column in find_columns_read(reference)
    )
    for reference in scalar.references:
        span = reference.span or scalar.span
        call = find_call_around(reference, scalar)
        for column in find_columns_read(reference):
            yield ExpressionSql(clause, column.argument, span, call, all_columns)
        if isinstance(reference, Aggregate):
            aggregate = Term((reference,), span)
            yield ExpressionSql(clause, write_over_all_rows(reference), span, scalar=aggregate)
    for conjunct in split_conjuncts(scalar):
        if not has_aggregate(conjunct):
            yield write_over_one_row(clause, conjunct)


def list_aggregating_expressions(plan: MatchPlan) -> list[ExpressionSql]:
    """Return the expressions with aggregates as SQL over all rows, as if they were one match."""
    return [
        ExpressionSql(clause, render(part, render_over_all_rows), part.span, scalar=part)
        for clause, scalar in list_scalars(plan)
        for part in split_conjuncts(scalar)
        if has_aggregate(part)
    ]


def find_call_around(reference: Reference, scalar: Scalar) -> str:
    """Return the call of an aggregate up to its argument; empty for other references.

    If the expression has CLASSIFIER(), the result is "CLASSIFIER(": a name that is compared with
    the classifier is probably the name of a variable, not of a column.

    Args:
        reference: a reference in the expression.
        scalar: the expression.
    """
    scalars = list_inputs(reference) if isinstance(reference, Aggregate) else (scalar,)
    for inner in scalars:
        if any(isinstance(part, Classifier) for part in inner.references):
            return "CLASSIFIER("
    if not isinstance(reference, Aggregate):
        return ""
    distinct = "DISTINCT " if reference.is_distinct else ""
    return f"{reference.function.upper()}({distinct}"


def find_columns_read(reference: Reference) -> tuple[ColumnReference, ...]:
    """Return the columns that a reference reads: an aggregate reads its columns on each row."""
    references = (
        list_inner_references(reference) if isinstance(reference, Aggregate) else (reference,)
    )
    return tuple(column for column in references if isinstance(column, ColumnReference))


def has_aggregate(scalar: Scalar) -> bool:
    """Return whether an expression has an aggregate over rows of the match."""
    return any(isinstance(reference, Aggregate) for reference in scalar.references)


def write_over_one_row(clause: str, scalar: Scalar) -> ExpressionSql:
    """Return an expression without aggregates as SQL: every reference reads the same row."""
    return ExpressionSql(clause, render(scalar, render_stand_in), scalar.span, scalar=scalar)


def write_over_all_rows(aggregate: Aggregate) -> str:
    """Return an aggregate as SQL over all rows of the input."""
    arguments = (render(argument, render_stand_in) for argument in aggregate.arguments)
    ordering = (f"{render(term, render_stand_in)} {words}" for term, words in aggregate.ordering)
    condition = None
    if aggregate.condition:
        condition = render(aggregate.condition, render_stand_in)
    return write_aggregate_call(aggregate, arguments, ordering, condition)


def render_over_all_rows(reference: Reference) -> str:
    """Return SQL over all rows that has the type of a reference."""
    if isinstance(reference, Aggregate):
        return write_over_all_rows(reference)
    text = render_stand_in(reference)
    return f"any_value({text})" if isinstance(reference, ColumnReference) else text


def render_stand_in(reference: Reference) -> str:
    """Return SQL over one row that has the type of a reference.

    The type of MATCH_TIMEOUT() depends on the window, so the SQL is NULL, which fits any type.
    """
    match reference:
        case ColumnReference():
            return write_operand(reference)
        case Aggregate():
            raise AssertionError(reference)
        case Classifier() | MatchValue(function=MatchFunction.STATUS):
            return "''"
        case MatchValue(function=MatchFunction.TIMEOUT):
            return "NULL"
        case MatchValue():
            return "1L"
