"""Rounding a float rounds the decimal that it is written as; to 32 bits, to the nearest."""

from __future__ import annotations

import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from math import inf, nan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from matchrec.evaluate.instructions import NARROW, NARROW_INTEGER
from matchrec.evaluate.kernels.functions import NO_RESULT, ROUNDING, compute
from matchrec.jit.callbacks import pointer_to
from tests.quick.scale import examples

WIDE = Context(prec=800)


def rounded(value: float, places: int) -> float | None:
    """What the compiled function says; None where it is not certain."""
    bits = pointer_to(compute).ctypes(ROUNDING, bits_of(value), places)
    return None if bits == NO_RESULT else float_of(bits)


def bits_of(value: float) -> int:
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits


def float_of(bits: int) -> float:
    found: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return found


@settings(max_examples=examples(2500), deadline=None)
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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, 0.100000001490116119384765625),
        (16777217.0, 16777216.0),  # a tie goes to the even one
        (16777219.0, 16777220.0),
        (2.0**128 - 2.0**103, inf),  # halfway between the greatest float and the next power
        (2.0**-150, 0.0),
        (-0.0, -0.0),
        (-(2.0**-149), -(2.0**-149)),
        (nan, nan),
        (2**60 + 2**36 + 1, 2.0**60 + 2.0**37),  # as a double it would be a tie
    ],
)
def test_a_number_of_32_bits(value: float, expected: float) -> None:
    whole = isinstance(value, int)
    function = NARROW_INTEGER if whole else NARROW
    found = pointer_to(compute).ctypes(function, value if whole else bits_of(value), 0)
    assert repr(float_of(found)) == repr(expected)
