"""ROUND rounds a float like the decimal that it is written as.

A number is narrowed to the nearest float of 32 bits.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from math import inf, nan

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from matchrec.conditions.evaluate.instructions import NARROW, NARROW_INTEGER, NO_RESULT
from matchrec.conditions.evaluate.kernels.functions import compute
from matchrec.conditions.functions import load_functions
from matchrec.conditions.functions.function import AnsiError, FunctionUse, Value
from matchrec.conditions.run_condition import MathFunction
from matchrec.conditions.types import DOUBLE, INT, TINYINT, ValueType, build_decimal_type
from matchrec.jit.callbacks import make_pointer
from tests.quick.scale import examples


def round_in_python(value: Value, type_: ValueType, digits: int, *, ansi: bool = True) -> Value:
    """Return a value that the Python function of ROUND has rounded."""
    use = FunctionUse((type_,), (str(digits),), ansi)
    return load_functions()["ROUND"].build(use)(value)


def float_to_bits(value: float) -> int:
    """Return the bits of a float as an integer."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits


def bits_to_float(bits: int) -> float:
    """Return the float that has some bits."""
    number: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return number


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (0.15, 1, 0.2),
        (1.005, 2, 1.01),
        (2.5, 0, 3.0),
        (-2.5, 0, -3.0),
        (0.49999999999999994, 0, 0.0),
        (5e-324, 3, 0.0),
        (15.0, -1, 20.0),
        (2.0**60 + 0.15, 1, 2.0**60),
        (inf, 2, inf),
    ],
)
def test_a_float_is_rounded_as_it_is_written(value: float, digits: int, expected: float) -> None:
    assert round_in_python(value, DOUBLE, digits) == expected


def test_other_numbers_keep_their_type_or_lose_places() -> None:
    assert str(round_in_python(Decimal("-0.25"), build_decimal_type(5, 2), 1)) == "-0.3"
    assert str(round_in_python(Decimal("-0.25"), build_decimal_type(5, 2), 0)) == "0"
    assert str(round_in_python(Decimal("155.25"), build_decimal_type(5, 2), -1)) == "160"
    assert str(round_in_python(Decimal("1.25"), build_decimal_type(5, 2), 7)) == "1.25"
    assert round_in_python(-125, INT, -1) == -130
    assert round_in_python(127, TINYINT, -1, ansi=False) == -126
    with pytest.raises(AnsiError):
        round_in_python(127, TINYINT, -1)


@settings(max_examples=examples(2500), deadline=None, database=None)
@given(
    st.floats(allow_nan=False, width=64)
    | st.decimals(-(10**9), 10**9, places=3).map(float)
    | st.decimals(-100, 100, places=7).map(float),
    st.integers(-6, 9),
)
def test_compiled_rounding_is_exact_or_left_to_python(value: float, digits: int) -> None:
    number = [*MathFunction].index(MathFunction.ROUND)
    bits = make_pointer(compute)(number, float_to_bits(value), float_to_bits(float(digits)))
    assert bits == NO_RESULT or bits_to_float(bits) == round_in_python(value, DOUBLE, digits)


def test_python_rounds_only_large_numbers_and_those_near_a_middle() -> None:
    number = [*MathFunction].index(MathFunction.ROUND)
    values = [(0.14, 1), (1.006, 2), (-2.4, 0), (1234567.891, 2), (161.0, -1)]
    for value, digits in values:
        bits = make_pointer(compute)(number, float_to_bits(value), float_to_bits(float(digits)))
        assert bits_to_float(bits) == round_in_python(value, DOUBLE, digits)
    for value, digits in [(0.15, 1), (2.0**50, 0), (inf, 0), (nan, 0)]:
        bits = make_pointer(compute)(number, float_to_bits(value), float_to_bits(float(digits)))
        assert bits == NO_RESULT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, 0.100000001490116119384765625),
        (16777217.0, 16777216.0),  # a tie goes to the even number
        (16777219.0, 16777220.0),
        (2.0**128 - 2.0**103, inf),  # halfway between the greatest float and the next power
        (2.0**-150, 0.0),
        (-0.0, -0.0),
        (-(2.0**-149), -(2.0**-149)),
        (nan, nan),
        (2**60 + 2**36 + 1, 2.0**60 + 2.0**37),  # as a double it would be a tie
    ],
)
def test_a_number_is_narrowed_to_32_bits(value: float, expected: float) -> None:
    is_integer = isinstance(value, int)
    function = NARROW_INTEGER if is_integer else NARROW
    bits = make_pointer(compute)(function, value if is_integer else float_to_bits(value), 0)
    assert repr(bits_to_float(bits)) == repr(expected)
