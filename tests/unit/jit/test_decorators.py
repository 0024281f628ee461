"""Kernels as numba compiles them: their types, options and calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from matchrec.jit.bits import bits_to_float, float_to_bits
from matchrec.jit.decorators import allocating, inlined, inner, kernel
from matchrec.jit.parts import copy_with_parts, make_dispatcher
from matchrec.shortcuts import ALL, use_shortcuts


class Record(NamedTuple):
    """The record that the kernels of these tests read."""

    numbers: Any
    factor: int


@kernel
def add_count(progress, numbers):
    """Count numbers in a record."""
    for _ in range(numbers.shape[0]):
        progress.last += 1


@inner
def add_up(numbers):
    """Return the sum of some numbers."""
    total = 0
    for index in range(numbers.shape[0]):
        total += numbers[index]
    return total


@inlined
def add_up_first_half(record):
    """Return the sum of the first half of the numbers."""
    return add_up(record.numbers[: record.numbers.shape[0] // 2])


@kernel
def multiply_or_add_up(record, others):
    """Multiply the numbers of a record, and return the sum of others."""
    if others is None:
        return add_up_first_half(record) * record.factor
    return add_up(others)


@kernel
def halve_bits(bits):
    """Return the bits of half of a float."""
    return float_to_bits(bits_to_float(bits) / 2)


@allocating
def double_numbers(numbers):
    """Return the numbers times 2."""
    return numbers * 2


@kernel
def divide(number, divisor):
    """Return a quotient."""
    return number / divisor


def test_records_and_arrays_that_may_be_missing() -> None:
    record = Record(np.array([1, 2, 3, 4]), 5)
    assert multiply_or_add_up(record, None) == 15
    assert multiply_or_add_up(record, np.array([6])) == 6


def test_a_record_with_named_fields_is_written_to() -> None:
    for fields in (["first", "last"], ["last", "first"]):
        progress = np.zeros(1, (np.record, [(field, np.int64) for field in fields]))[0]
        add_count(progress, np.array([7, 8]))
        add_count(progress, np.array([9]))
        assert (progress.first, progress.last) == (0, 3)
    assert len(add_count.compiled) == 2


def test_read_only_arrays_use_the_same_machine_code() -> None:
    fixed = np.array([1, 2, 3])
    fixed.flags.writeable = False
    with use_shortcuts(replace(ALL, max_python_steps=0)):
        assert [double_numbers(numbers).tolist() for numbers in (fixed, np.array([4]))] == [
            [2, 4, 6],
            [8],
        ]
    assert len(double_numbers.compiled) == 1


def test_no_reference_is_counted() -> None:
    """Counting references of arrays that kernels pass on makes searches 3 to 10 times as slow.

    The option `_nrt` turns it off. It is not in numba's documentation.
    """
    compiled = make_dispatcher(
        copy_with_parts(multiply_or_add_up.function), multiply_or_add_up.options
    )
    compiled(Record(np.array([1, 2]), 2), np.array([6]))
    (text,) = compiled.inspect_llvm().values()
    assert "@NRT_" not in text


def test_a_float_is_held_as_bits() -> None:
    assert halve_bits(np.float64(5.0).view(np.int64)) == np.float64(2.5).view(np.int64)


def test_a_division_by_zero_is_no_error_of_python() -> None:
    assert divide(1.0, 0.0) == np.inf
