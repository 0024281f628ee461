"""Rounding a float rounds the decimal that it is written as."""

from __future__ import annotations

import struct
from decimal import ROUND_HALF_UP, Context, Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from matchrec.evaluate.mathematics.functions import NO_RESULT, ROUNDING, compute
from matchrec.jit.callbacks import pointer_to
from tests.quick.scale import examples

WIDE = Context(prec=800)


def rounded(value: float, places: int) -> float | None:
    """What the compiled function says; None where it is not certain."""
    bits = pointer_to(compute).ctypes(
        ROUNDING, struct.unpack("<q", struct.pack("<d", value))[0], places
    )
    if bits == NO_RESULT:
        return None
    found: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return found


@settings(max_examples=examples(5000), deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-(10**9), 10**9).map(lambda one: one / 1000),
        st.integers(-(10**6), 10**6).map(lambda one: one / 20),
    ),
    st.integers(-4, 8),
)
@example(0.15, 1)
@example(1.005, 2)
@example(2.5, 0)
@example(-2.5, 0)
@example(0.49999999999999994, 0)
@example(5e-324, 3)
def test_rounding(value: float, places: int) -> None:
    found = rounded(value, places)
    if found is None:
        assert abs(value) * 10.0**places >= 2.0**48
        return
    exact = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, WIDE)
    assert found == float(exact)
