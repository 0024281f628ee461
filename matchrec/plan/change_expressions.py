"""Change expressions: their references, their operations, and the inputs of their aggregates.

An expression is never changed in place. If nothing has changed, the same object is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Operation,
    Reference,
    Scalar,
    Semantics,
    TextPiece,
    are_identical,
)


def set_semantics(reference: Reference, semantics: Semantics) -> Reference:
    """Return the reference with running or final semantics. A `MatchValue` has no semantics."""
    match reference:
        case ColumnReference() | Classifier():
            navigation = replace(reference.navigation, semantics=semantics)
            return replace(reference, navigation=navigation)
        case Aggregate():
            return replace(reference, semantics=semantics)
        case MatchValue():
            return reference


def set_final_semantics(scalar: Scalar) -> Scalar:
    """Return the expression with final semantics for every reference."""
    return map_references(scalar, lambda reference: set_semantics(reference, Semantics.FINAL))


def map_references(scalar: Scalar, change: Callable[[Reference], TextPiece]) -> Scalar:
    """Return the expression with each reference changed, or replaced by text.

    References in the inputs of aggregates are not changed. If nothing has changed, the same object
    is returned.

    Args:
        scalar: the expression whose references are changed.
        change: returns another reference, or a text that cannot fail: a literal or a name. The
            operations of the expression do not include the operations of the text.
    """
    if isinstance(scalar, Operation):
        return scalar.map_operands(lambda operand: map_references(operand, change))
    pieces = tuple(piece if isinstance(piece, str) else change(piece) for piece in scalar.pieces)
    return scalar if are_identical(pieces, scalar.pieces) else replace(scalar, pieces=pieces)


def map_column_references(
    scalar: Scalar, change: Callable[[ColumnReference], ColumnReference]
) -> Scalar:
    """Return the expression with every column changed, including columns inside aggregates."""

    def change_columns(reference: Reference) -> Reference:
        """Change a column, or the columns inside an aggregate; leave others unchanged."""
        if isinstance(reference, Aggregate):
            return map_inputs(reference, lambda inner: map_column_references(inner, change))
        return change(reference) if isinstance(reference, ColumnReference) else reference

    return map_references(scalar, change_columns)


def map_operations(scalar: Scalar, change: Callable[[Operation], Scalar]) -> Scalar:
    """Return the expression with every operation changed, including operations inside aggregates.

    The operands of an operation are changed before the operation.
    """
    if isinstance(scalar, Operation):
        return change(scalar.map_operands(lambda operand: map_operations(operand, change)))

    def change_inner_operations(reference: Reference) -> Reference:
        """Change the operations inside an aggregate; leave other references unchanged."""
        if isinstance(reference, Aggregate):
            return map_inputs(reference, lambda inner: map_operations(inner, change))
        return reference

    return map_references(scalar, change_inner_operations)


def map_inputs(aggregate: Aggregate, change: Callable[[Scalar], Scalar]) -> Aggregate:
    """Return the aggregate with all its inputs changed."""
    condition = aggregate.condition
    return replace(
        aggregate,
        arguments=tuple(change(argument) for argument in aggregate.arguments),
        condition=None if condition is None else change(condition),
        ordering=tuple(item._replace(scalar=change(item.scalar)) for item in aggregate.ordering),
    )
