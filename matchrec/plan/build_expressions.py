"""Build expressions, with the text that Spark evaluates."""

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
    navigation: Navigation, text: str, span: Span | None = None, names: tuple[str, ...] = ()
) -> Term:
    """Return a column on the row that a navigation finds as an expression.

    Args:
        navigation: which row to read.
        text: SQL over that row without operations.
        span: where the user wrote the column; None if they did not write it.
        names: the names of the column, see `ColumnReference.names`.
    """
    reference = ColumnReference(navigation, text, span, operations=NO_OPERATIONS, names=names)
    return Term((reference,), span or Span(0, 0))


def join_conditions(operator: str, parts: Sequence[Scalar], span: Span | None = None) -> Scalar:
    """Join conditions by AND or OR. A single condition is returned as it is.

    Args:
        operator: AND or OR.
        parts: one or more conditions. If there are several, each gets parentheses.
        span: where the result is in the query. By default, the result spans the text from the first
            to the last part, which must be in the order of the text.

    >>> a_or_b = [make_literal("a", Span(0, 1)), make_literal("b", Span(5, 6))]
    >>> join_conditions("OR", a_or_b).pieces
    ('(a) OR (b)',)
    """
    if len(parts) == 1:
        return parts[0]
    texts_and_parts: list[str | Scalar] = []
    for part in parts:
        opening = f" {operator} (" if texts_and_parts else "("
        texts_and_parts += [opening, part, ")"]
    return Operation(operator, tuple(texts_and_parts), span or parts[0].span.to(parts[-1].span))


def cast_nulls_to_boolean(condition: Scalar) -> Scalar:
    """Return a condition in which literal NULLs joined by AND are cast to BOOLEAN.

    Spark's NULL has no type, so it would reject them as conditions.
    """
    parts = split_conjuncts(condition)
    if not any(is_null(part) for part in parts):
        return condition
    null = "CAST(NULL AS BOOLEAN)"
    typed = [make_literal(null, part.span) if is_null(part) else part for part in parts]
    return join_conditions("AND", typed, condition.span)


def negate(condition: Scalar) -> Operation:
    """Return NOT of a condition. The result is NULL if the condition is NULL."""
    return Operation("NOT", ("NOT (", condition, ")"), condition.span)


def make_complement(condition: Scalar) -> Operation:
    """Return a test that a condition is false or NULL.

    The text of the test is a CASE: Spark casts the operand of IS NOT TRUE to BOOLEAN, so it would
    accept a string as a condition.
    """
    parts = ("CASE WHEN ", condition, " THEN FALSE ELSE TRUE END")
    return Operation("IS NOT TRUE", parts, condition.span)


def compare_scalars(operator: str, left: Scalar, right: Scalar) -> Operation:
    """Return the comparison of two values by an operator such as `<`."""
    return Operation(operator, (left, f" {operator} ", right), left.span)


def build_difference_test(minuend: Term, subtrahend: Term, length: Term) -> Operation:
    """Return the test `try_subtract(minuend, subtrahend) < length`.

    A difference that does not fit its type is NULL, so the test is not true.
    """
    parts = ("try_subtract(", minuend, ", ", subtrahend, ")")
    difference = Operation("TRY_SUBTRACT", parts, minuend.span)
    return Operation("<", (difference, " < ", length), minuend.span)


def build_operation_parts(
    operands: Sequence[Scalar], write: Callable[[Span], str], span: Span
) -> OperationParts:
    """Return the parts of an operation: its text, with the operands as holes.

    Args:
        operands: expressions whose spans are inside `span`.
        write: returns the text of the query at a span.
        span: where the operation is in the query.
    """
    replacements = ((operand.span, (operand,)) for operand in operands)
    return tuple(part for part in replace_spans(write, span, replacements) if part != "")


def add_text_around(inner: Scalar, write: Callable[[Span], str], span: Span) -> Scalar:
    """Return the expression together with the text around it, such as parentheses.

    Args:
        inner: the expression.
        write: returns the text of the query at a span.
        span: where the expression and the text around it are in the query.
    """
    before = write(Span(span.start, inner.span.start))
    after = write(Span(inner.span.end, span.end))
    if isinstance(inner, Operation):
        return replace(inner, parts=(before, *inner.parts, after), span=span)
    return replace(inner, pieces=separate_references((before, *inner.pieces, after)), span=span)
