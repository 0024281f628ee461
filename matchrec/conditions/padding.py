"""Columns of CHAR(n) in DEFINE: of several rows they are compared as Spark compares those of one.

In a table of Spark's, `c CHAR(3)` of 'a' is 'a  ', and Spark pads with blanks what is compared with
it: `c = 'a'` holds. It does so beside the column itself, which during the match is no more there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matchrec.conditions.split import is_bare
from matchrec.plan import expression
from matchrec.plan.expression import Operation, Reference, Scalar
from matchrec.plan.match_plan import MatchPlan, with_expressions
from matchrec.plan.remarks import COMPARISONS


@dataclass(frozen=True)
class Padding:
    """Pads what is compared.

    length_of: the n of a column of CHAR(n), by its names. is_text: whether a constant is a text.
    """

    length_of: Callable[[tuple[str, ...]], int | None]
    is_text: Callable[[str], bool]

    def of_plan(self, plan: MatchPlan) -> MatchPlan:
        """The plan, in whose conditions a CHAR(n) of another row is padded as one of their own.

        Measures are as they were: Spark computes them of columns of CHAR(n).
        """

        def change(scalar: Scalar, variable: str | None) -> Scalar:
            if variable is None:
                return scalar
            return expression.with_operations(scalar, lambda one: self.padded(one, variable))

        return with_expressions(plan, change)

    def padded(self, operation: Operation, variable: str) -> Operation:
        """The operation with what it compares of one length, if Spark would make it so.

        That is if all of it is columns of CHAR(n) and constants. variable: that is defined.
        """
        compared = compared_by(operation)
        if all(is_here(one, variable) for part in compared for one in part.references):
            return operation
        lengths: Mapping[int, str | None] = {id(one): self.length(one) for one in compared}
        found = {*lengths.values()}
        columns = any(part.references for part in compared)
        if None in found or len(found) == 1 or not columns:
            return operation
        longest = f"GREATEST({', '.join(sorted(filter(None, found)))})"

        def pad(one: Scalar) -> Scalar:
            if id(one) not in lengths:
                return one
            return Operation("RPAD", ("RPAD(", one, f", {longest}, ' ')"), one.span)

        return operation.of_operands(pad)

    def length(self, scalar: Scalar) -> str | None:
        """The length of a text that is a constant or of CHAR(n), as SQL; None of anything else."""
        if not scalar.references:
            text = "".join(map(str, scalar.pieces))
            return f"LENGTH({text})" if self.is_text(text) else None
        column = scalar.references[0]
        if not is_bare(scalar) or not isinstance(column, expression.ColumnReference):
            return None
        length = self.length_of(column.names)
        return None if length is None else str(length)


def compared_by(operation: Operation) -> tuple[Scalar, ...]:
    """The operands that Spark makes of one length, as it pads nothing in BETWEEN or NULLIF.

    Source: Spark's ApplyCharTypePadding.
    """
    operands = operation.operands
    if operation.operator in expression.COMPARED_CHOICES:
        return expression.branches(operation)[0]
    of_constants = operation.operator == "IN" and not any(one.references for one in operands[1:])
    return operands if of_constants or operation.operator in COMPARISONS else ()


def is_here(reference: Reference, variable: str) -> bool:
    if not isinstance(reference, expression.ColumnReference):
        return False
    asked = reference.navigation
    own = asked.variable in (None, variable)
    return own and asked.is_last and not asked.physical_offset
