"""Functions that return new arrays compute the same in Python and compiled.

Calls of few steps run in Python, because to wait for the compiled code would take longer. Here
shortcuts let each call run once in Python and once compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from matchrec.output.match_reader import (
    find_first_marked,
    find_last_marked,
    find_nth_last_marked,
    find_nth_marked,
)
from matchrec.output.total_kernels import (
    find_extreme_rows,
    sum_decimals,
    sum_each_match,
    sum_values,
)
from matchrec.search.graph import number_digits
from matchrec.search.partitions import IntArray
from matchrec.search.window_ends import find_ends_by_bounds, find_ends_by_distance
from matchrec.shortcuts import ALL, use_shortcuts

# One more than the greatest int64.
BIG = 1 << 63


class Call(NamedTuple):
    """A function that returns an array, with the arguments of a call."""

    function: Callable[..., Any]
    arguments: tuple[object, ...]


def draw_calls(generator: np.random.Generator) -> list[Call]:
    """Draw a call of each function, or several, over arrays of 0 to 40 elements."""
    return [
        *draw_calls_for_totals(generator),
        *draw_calls_for_marked_rows(generator),
        *draw_calls_for_window_ends(generator),
        draw_call_for_versions(generator),
    ]


def draw_links(generator: np.random.Generator, count: int) -> npt.NDArray[np.int32]:
    """Draw links from each of some mapped rows to the row before it, or to no row."""
    links = np.arange(-1, count - 1, dtype=np.int32)
    links[generator.random(count) < 0.3] = -1
    return links


def draw_calls_for_totals(generator: np.random.Generator) -> list[Call]:
    """Draw calls of the functions that add up values of mapped rows, or find extremes."""
    row_count = generator.integers(1, 30)
    mapped_count = generator.integers(0, 40)
    match_count = generator.integers(0, 9)
    links = draw_links(generator, mapped_count)
    counted_rows = generator.integers(-1, row_count, mapped_count)
    first_rows = generator.integers(-1, max(mapped_count, 1), match_count)
    first_rows[first_rows >= mapped_count] = -1
    numbers = generator.integers(-BIG, BIG - 1, row_count)
    large_floats = generator.normal(size=row_count) * 1e300
    floats = generator.normal(size=row_count)
    words = generator.integers(-BIG, BIG - 1, (row_count, 2))
    sign = int(generator.choice([1, -1]))
    takes_equal = bool(generator.integers(2))
    return [
        Call(sum_values, (numbers, counted_rows, links)),
        Call(sum_values, (large_floats, counted_rows, links)),
        Call(sum_decimals, (words, counted_rows, links)),
        Call(find_extreme_rows, (numbers, counted_rows, links, sign, takes_equal)),
        Call(sum_each_match, (floats, counted_rows, links, first_rows)),
    ]


def draw_calls_for_marked_rows(generator: np.random.Generator) -> list[Call]:
    """Draw calls of the functions that find marked rows among those that an output row sees."""
    mapped_count = generator.integers(0, 40)
    output_count = generator.integers(0, 9)
    classifiers = generator.integers(0, 3, mapped_count).astype(np.int16)
    is_marked_variable = generator.random(3) < 0.5
    begin = np.sort(generator.integers(0, mapped_count + 1, output_count))
    end = np.minimum(begin + generator.integers(0, 6, output_count), mapped_count)
    ordinal = int(generator.integers(-3, 3))
    links = draw_links(generator, mapped_count)
    is_marked = generator.random(mapped_count) < 0.5
    rows_after = int(generator.integers(0, 3))
    return [
        Call(find_last_marked, (classifiers, is_marked_variable, begin, end)),
        Call(find_nth_marked, (classifiers, is_marked_variable, begin, end, ordinal)),
        Call(find_first_marked, (is_marked, links)),
        Call(find_nth_last_marked, (is_marked, links, rows_after)),
    ]


def draw_calls_for_window_ends(generator: np.random.Generator) -> list[Call]:
    """Draw calls of the functions that find the ends of windows, in two partitions."""
    row_count = generator.integers(1, 30)
    middle = row_count // 2
    starts = np.array([0, middle, row_count])
    sizes = (middle, row_count - middle)
    keys = np.concatenate([np.sort(generator.integers(-50, 50, size)) for size in sizes])
    is_valid = generator.random(row_count) < 0.9
    float_keys = keys.astype(np.float64)
    unsigned_keys = (keys + 50).astype(np.uint64)
    return [
        Call(find_ends_by_bounds, (starts, keys, is_valid, keys + 5, is_valid)),
        Call(find_ends_by_distance, (starts, float_keys, is_valid, 4.0)),
        Call(find_ends_by_distance, (starts, unsigned_keys, is_valid, np.uint64(4))),
    ]


def draw_call_for_versions(generator: np.random.Generator) -> Call:
    """Draw a call of the function that numbers the versions of pointers."""
    count = generator.integers(0, 40)
    # Each pointer leads to an earlier one, or to none.
    previous_pointers = np.array(
        [generator.integers(-1, max(pointer, 1)) for pointer in range(count)], np.int64
    )
    previous_pointers = np.minimum(previous_pointers, np.arange(count) - 1)
    ranks = generator.integers(0, 9, count)
    waits_in_next_state = generator.random(count) < 0.5
    added_digits = generator.integers(1, 3, count)
    return Call(return_digits, (previous_pointers, ranks, waits_in_next_state, added_digits))


def return_digits(*arguments: Any) -> IntArray:
    """Return the digits of the versions that `number_digits` returns, without their offsets."""
    return number_digits(*arguments)[1]


@pytest.mark.parametrize("seed", range(20))
def test_python_and_compiled_code_agree(seed: int) -> None:
    for function, arguments in draw_calls(np.random.default_rng(seed)):
        with use_shortcuts(replace(ALL, max_python_steps=1 << 40)):
            by_python = function(*arguments)
        with use_shortcuts(replace(ALL, max_python_steps=0)):
            compiled = function(*arguments)
        assert by_python.dtype == compiled.dtype
        np.testing.assert_array_equal(by_python, compiled)
