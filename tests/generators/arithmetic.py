"""Random operations on numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from matchrec.conditions.run_condition import (
    BITWISE,
    SHIFTS,
    Arithmetic,
    ArithmeticOperator,
    RunExpression,
)
from matchrec.conditions.types import Kind

OF_INTEGERS = [one for one in ArithmeticOperator if one is not ArithmeticOperator.DIVIDE]
OF_FLOATS = [one for one in ArithmeticOperator if one not in BITWISE]


@st.composite
def arithmetic(
    draw: st.DrawFn, kind: Kind, left: RunExpression, right: RunExpression
) -> Arithmetic:
    """An operation on values of a kind; shifts are of 64 bits, as values have any width here."""
    operator = draw(st.sampled_from(OF_INTEGERS if kind is Kind.INTEGER else OF_FLOATS))
    shifts = operator in SHIFTS
    bits = 64 if kind is Kind.FLOATING or shifts else draw(st.sampled_from([8, 32, 64]))
    ansi, tries = draw(st.sampled_from([(False, False), (True, False), (True, True)]))
    return Arithmetic(operator, left, right, kind, bits, ansi, tries)
