"""Build expressions, with the text that the engine evaluates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from matchrec.plan.amounts import Amount
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    OperationParts,
    Scalar,
    Term,
    is_null,
    separate_references,
    split_conjuncts,
)
from matchrec.plan.operations import NO_OPERATIONS
from matchrec.plan.templates import replace_spans
from matchrec.source import Span


def make_literal(text: str, span: Span, amount: Amount | None = None) -> Term:
    """Return a string, an interval or another constant as an expression."""
    return Term((text,), span, text_operations=NO_OPERATIONS, amount=amount)


def make_number(number: int, span: Span) -> Term:
    """Return an integer as an expression."""
    return make_literal(str(number), span, Amount(Fraction(number)))


def make_column(
    navigation: Navigation,
    argument: str,
    span: Span | None = None,
    column_path: tuple[str, ...] = (),
) -> Term:
    """Return a column on the row that a navigation finds as an expression.

    Args:
        navigation: which row to read.
        argument: SQL over that row. It must have no operations, since the result says that it has
            none.
        span: where the user wrote the column; None if they did not write it.
        column_path: the path of the column, see `ColumnReference.column_path`.
    """
    reference = ColumnReference(
        navigation, argument, span, operations=NO_OPERATIONS, column_path=column_path
    )
    return Term((reference,), span or Span(0, 0))


def join_conditions(
    operator: str, conditions: Sequence[Scalar], span: Span | None = None
) -> Scalar:
    """Join conditions by AND or OR. A single condition is returned as it is.

    Args:
        operator: AND or OR.
        conditions: one or more conditions. If there are several, each gets parentheses.
        span: where the result is in the query. By default, the result spans the text from the first
            to the last condition, which must be in the order of the text.

    >>> a_or_b = [make_literal("a", Span(0, 1)), make_literal("b", Span(5, 6))]
    >>> join_conditions("OR", a_or_b).pieces
    ('(a) OR (b)',)
    """
    if len(conditions) == 1:
        return conditions[0]
    parts: list[str | Scalar] = []
    for condition in conditions:
        opening = f" {operator} (" if parts else "("
        parts += [opening, condition, ")"]
    return Operation(operator, tuple(parts), span or conditions[0].span.to(conditions[-1].span))


def cast_nulls_to_boolean(condition: Scalar) -> Scalar:
    """Return a condition in which literal NULLs joined by AND are cast to BOOLEAN.

    In Spark, a literal NULL has no type, so Spark would reject it as a condition.
    """
    conjuncts = split_conjuncts(condition)
    if not any(is_null(conjunct) for conjunct in conjuncts):
        return condition
    null_text = "CAST(NULL AS BOOLEAN)"
    typed_conjuncts = [
        make_literal(null_text, conjunct.span) if is_null(conjunct) else conjunct
        for conjunct in conjuncts
    ]
    return join_conditions("AND", typed_conjuncts, condition.span)


def negate(condition: Scalar) -> Operation:
    """Return the negation of a condition. The result is NULL if the condition is NULL."""
    return Operation("NOT", ("NOT (", condition, ")"), condition.span)


def make_complement(condition: Scalar) -> Operation:
    """Return the test that a condition is false or NULL.

    The operator is IS NOT TRUE, but the text is CASE WHEN: Spark casts a string before IS NOT TRUE
    to BOOLEAN, and rejects a string after WHEN.
    """
    parts = ("CASE WHEN ", condition, " THEN FALSE ELSE TRUE END")
    return Operation("IS NOT TRUE", parts, condition.span)


def make_comparison(operator: str, left: Scalar, right: Scalar) -> Operation:
    """Return the comparison of two values by an operator such as `<`.

    The values get no parentheses, so they must bind more tightly than the operator.
    """
    return Operation(operator, (left, f" {operator} ", right), left.span)


def make_difference_test(minuend: Term, subtrahend: Term, length: Term) -> Operation:
    """Return the test `try_subtract(minuend, subtrahend) < length`.

    If the difference does not fit its type, the test is NULL.
    """
    parts = ("try_subtract(", minuend, ", ", subtrahend, ")")
    difference = Operation("TRY_SUBTRACT", parts, minuend.span)
    return make_comparison("<", difference, length)


def build_operation_parts(
    operands: Sequence[Scalar], read_text: Callable[[Span], str], span: Span
) -> OperationParts:
    """Return the parts of an operation: its text, with the operands as holes.

    Args:
        operands: expressions whose spans are inside `span`.
        read_text: returns the text of the query at a span.
        span: where the operation is in the query.
    """
    replacements = ((operand.span, (operand,)) for operand in operands)
    return tuple(part for part in replace_spans(read_text, span, replacements) if part != "")


def add_text_around(inner: Scalar, read_text: Callable[[Span], str], span: Span) -> Scalar:
    """Return the expression together with the text around it, such as parentheses.

    Args:
        inner: an expression whose span is inside `span`.
        read_text: returns the text of the query at a span.
        span: where the expression and the text around it are in the query.
    """
    text_before = read_text(Span(span.start, inner.span.start))
    text_after = read_text(Span(inner.span.end, span.end))
    if isinstance(inner, Operation):
        return replace(inner, parts=(text_before, *inner.parts, text_after), span=span)
    return replace(
        inner, pieces=separate_references((text_before, *inner.pieces, text_after)), span=span
    )
