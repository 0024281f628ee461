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
def doubled(number):
    """Return a number times 2."""
    return number * 2


@inner
def quadrupled(number):
    """Return a number times 4."""
    return doubled(doubled(number))


@inner
def floor(number):
    """Return the floor of a number."""
    return math.floor(number)


@kernel
def floored(number):
    """Return the floor of a number, by another function."""
    return floor(number)


@kernel
def changed(number):
    """Return a number times 6, by two other functions."""
    return quadrupled(number) + doubled(number)


def test_parts_call_parts() -> None:
    assert changed(5) == 30
    assert "doubled" in changed.__wrapped__.__globals__
    assert changed.__wrapped__.__globals__["doubled"] is doubled


def test_a_part_may_name_an_attribute_as_itself() -> None:
    assert floored(1.5) == 1


@pytest.mark.slow  # starts a program
def test_a_query_is_made_without_numba() -> None:
    assert subprocess.run([sys.executable, "-c", PLANNING], check=False).returncode == 0
