"""The scope of an expression: what it may refer to, which depends on where it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.parameter_values import ParameterValues


@dataclass(frozen=True)
class Scope:
    """The scope of an expression: the variables, rows and parameters to which it may refer."""

    # The part of the clause that contains the expression.
    part: ClausePart
    # The primary variables, normalized: in upper case unless they are quoted.
    primary: tuple[str, ...] = ()
    # The union variables of SUBSET, normalized.
    unions: tuple[str, ...] = ()
    # Whether the expression may read rows of a match; if not, it is SQL over one row of the input.
    reads_match: bool = True
    # The values of parameters; None if no parameter may replace a number of rows.
    parameter_values: ParameterValues | None = None

    @cached_property
    def variables(self) -> frozenset[str]:
        """Return the primary and the union variables."""
        return frozenset((*self.primary, *self.unions))
