"""Functions that only kernels call are compiled with the first kernel, and not before."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from matchrec.jit.decorators import inner, kernel

PLANNING = """
import sys, matchrec
matchrec.sql, matchrec.match_sase, matchrec.match_pattern, matchrec.match_rules
sys.exit("numba" in sys.modules)
"""


@inner
def double(number):
    """Return a number times 2."""
    return number * 2


@inner
def quadruple(number):
    """Return a number times 4."""
    return double(double(number))


@inner
def floor(number):
    """Return the floor of a number."""
    return math.floor(number)


@kernel
def floor_by_part(number):
    """Return the floor of a number, by another function."""
    return floor(number)


@kernel
def multiply_by_six(number):
    """Return a number times 6, by two other functions."""
    return quadruple(number) + double(number)


def test_parts_call_parts() -> None:
    assert multiply_by_six(5) == 30
    assert "double" in multiply_by_six.__wrapped__.__globals__
    assert multiply_by_six.__wrapped__.__globals__["double"] is double


def test_a_part_may_name_an_attribute_as_itself() -> None:
    assert floor_by_part(1.5) == 1


@pytest.mark.slow  # starts a program
def test_a_query_is_made_without_numba() -> None:
    assert subprocess.run([sys.executable, "-c", PLANNING], check=False).returncode == 0
