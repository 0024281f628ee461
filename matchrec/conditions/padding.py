"""Pad CHAR(n) columns in DEFINE, so that values of several rows compare as in Spark.

In a table of Spark, `c CHAR(3)` holds 'a' as 'a  '. In `c = 'a'`, Spark pads the constant with
blanks, so that the condition is true. But Spark does so only if it sees the column in the
comparison. To the search, values of other rows are texts like any other, so they are padded here:

    LAST(A.c) = 'a'    →    RPAD(LAST(A.c), GREATEST(3, LENGTH('a')), ' ')
                            = RPAD('a', GREATEST(3, LENGTH('a')), ' ')
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matchrec.conditions.rows_read import is_single_reference
from matchrec.plan import change_expressions, expression
from matchrec.plan.expression import COMPARISONS, Operation, Reference, Scalar
from matchrec.plan.match_plan import MatchPlan, map_expressions


@dataclass(frozen=True)
class TextPadder:
    """A padder of the texts that the conditions of a plan compare, see `pad_plan`."""

    # Returns the n of a CHAR(n) column, None for any other column. The argument is
    # `ColumnReference.column_path`.
    find_char_length: Callable[[tuple[str, ...]], int | None]
    # Returns whether a constant, as SQL, is a text.
    is_text: Callable[[str], bool]

    def pad_plan(self, plan: MatchPlan) -> MatchPlan:
        """Return the plan with padding in conditions that compare CHAR(n) of several rows.

        Measures need none: Spark computes them from CHAR(n) columns.
        """

        def pad_scalar(scalar: Scalar, variable: str | None) -> Scalar:
            """Pad the compared texts in the condition of a variable; leave measures unchanged."""
            if variable is None:
                return scalar
            return change_expressions.map_operations(
                scalar, lambda operation: self.pad_operation(operation, variable)
            )

        return map_expressions(plan, pad_scalar)

    def pad_operation(self, operation: Operation, variable: str) -> Operation:
        """Return the operation with the texts that it compares padded to one length.

        An operation is returned unchanged if it reads only the current row, because Spark pads
        there, if it compares anything but CHAR(n) columns and constants, or if all of these are
        CHAR(n) columns with one n.

        Args:
            operation: an operation in a condition.
            variable: the variable that the condition defines.
        """
        compared_operands = find_compared_operands(operation)
        references = [
            reference for operand in compared_operands for reference in operand.references
        ]
        if all(is_on_current_row(reference, variable) for reference in references):
            return operation
        lengths: set[str] = set()
        for operand in compared_operands:
            length = self.write_length(operand)
            if length is None:
                return operation
            lengths.add(length)
        if len(lengths) == 1:
            return operation
        longest_length = f"GREATEST({', '.join(sorted(lengths))})"
        # By identity: in a CASE, a value can be equal to an operand that is compared.
        compared_ids = {id(operand) for operand in compared_operands}

        def pad_operand(operand: Scalar) -> Scalar:
            """Return an operand padded to the longest length, if it is compared."""
            if id(operand) not in compared_ids:
                return operand
            parts = ("RPAD(", operand, f", {longest_length}, ' ')")
            return Operation("RPAD", parts, operand.span)

        return operation.map_operands(pad_operand)

    def write_length(self, scalar: Scalar) -> str | None:
        """Return the length of a constant text or of a CHAR(n) column, as SQL.

        `LENGTH('a')` for the constant `'a'`, `3` for a CHAR(3) column. None for any other
        expression.
        """
        if not scalar.references:
            text = "".join(str(piece) for piece in scalar.pieces)
            return f"LENGTH({text})" if self.is_text(text) else None
        column = scalar.references[0]
        if not is_single_reference(scalar) or not isinstance(column, expression.ColumnReference):
            return None
        length = self.find_char_length(column.column_path)
        return None if length is None else str(length)


def find_compared_operands(operation: Operation) -> tuple[Scalar, ...]:
    """Return the operands that Spark pads to one length; none if it does not pad the operation.

    It pads comparisons, IN with constants, and a CASE that compares, but not BETWEEN and NULLIF.

    Source: Spark's ApplyCharTypePadding.
    """
    operands = operation.operands
    if operation.operator in expression.COMPARED_CHOICES:
        return expression.split_branches(operation).tests
    if operation.operator in COMPARISONS:
        return operands
    if operation.operator == "IN" and not any(operand.references for operand in operands[1:]):
        return operands
    return ()


def is_on_current_row(reference: Reference, variable: str) -> bool:
    """Return whether a reference is a column of the row that can be mapped to the variable."""
    if not isinstance(reference, expression.ColumnReference):
        return False
    navigation = reference.navigation
    has_variable = navigation.variable in (None, variable)
    return has_variable and navigation.is_last and not navigation.physical_offset
