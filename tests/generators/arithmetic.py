"""Draw random operations on numbers."""

from __future__ import annotations

from hypothesis import strategies as st

from matchrec.conditions.run_condition import (
    Arithmetic,
    ArithmeticOperator,
    OnFailure,
    RunExpression,
)
from matchrec.conditions.types import Kind


@st.composite
def arithmetic(
    draw: st.DrawFn, kind: Kind, left: RunExpression, right: RunExpression
) -> Arithmetic:
    """Draw an operation on two values of a kind."""
    operator = draw(st.sampled_from(ArithmeticOperator))
    bits = 64 if kind is Kind.FLOATING else draw(st.sampled_from([8, 32, 64]))
    on_error = draw(st.sampled_from(OnFailure))
    return Arithmetic(operator, (left, right), kind, bits, on_error)
