"""What makes its arrays itself gives the same ones by Python, which takes the first few steps, and
compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
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
from matchrec.search.window_ends import find_ends_by_bounds, find_ends_by_distance
from matchrec.shortcuts import ALL, use_shortcuts

BIG = 1 << 63
Call = tuple[Callable[..., Any], tuple[object, ...]]


def draw_calls(generator: np.random.Generator) -> list[Call]:
    """Draw the arguments of a call of each function, over arrays of 0 to 40 rows."""
    rows = generator.integers(1, 30)
    mapped = generator.integers(0, 40)
    matches = generator.integers(0, 9)
    links = np.arange(-1, mapped - 1, dtype=np.int32)
    links[generator.random(mapped) < 0.3] = -1
    counted = generator.integers(-1, rows, mapped)
    numbers = generator.integers(-BIG, BIG - 1, rows)
    middle = rows // 2
    starts = np.array([0, middle, rows])
    sizes = (middle, rows - middle)
    keys = np.concatenate([np.sort(generator.integers(-50, 50, size)) for size in sizes])
    valid = generator.random(rows) < 0.9
    begin = np.sort(generator.integers(0, mapped + 1, matches))
    end = np.minimum(begin + generator.integers(0, 6, matches), mapped)
    before = np.array([generator.integers(-1, max(row, 1)) for row in range(mapped)], np.int64)
    before = np.minimum(before, np.arange(mapped) - 1)
    first = bool(generator.integers(2))
    sign = int(generator.choice([1, -1]))
    nodes = generator.integers(-1, max(mapped, 1), matches)
    nodes[nodes >= mapped] = -1
    longer = generator.integers(1, 3, mapped)
    classifiers = generator.integers(0, 3, mapped).astype(np.int16)
    is_marked_variable = generator.random(3) < 0.5
    return [
        (sum_values, (numbers, counted, links)),
        (sum_values, (generator.normal(size=rows) * 1e300, counted, links)),
        (sum_decimals, (generator.integers(-BIG, BIG - 1, (rows, 2)), counted, links)),
        (find_extreme_rows, (numbers, counted, links, sign, first)),
        (find_last_marked, (classifiers, is_marked_variable, begin, end)),
        (
            find_nth_marked,
            (classifiers, is_marked_variable, begin, end, int(generator.integers(-3, 3))),
        ),
        (find_first_marked, (generator.random(mapped) < 0.5, links)),
        (
            find_nth_last_marked,
            (generator.random(mapped) < 0.5, links, int(generator.integers(0, 3))),
        ),
        (sum_each_match, (generator.normal(size=rows), counted, links, nodes)),
        (find_ends_by_bounds, (starts, keys, valid, keys + 5, valid)),
        (find_ends_by_distance, (starts, keys.astype(np.float64), valid, 4.0)),
        (find_ends_by_distance, (starts, (keys + 50).astype(np.uint64), valid, np.uint64(4))),
        (
            lambda *arguments: number_digits(*arguments)[1],
            (before, generator.integers(0, 9, mapped), generator.random(mapped) < 0.5, longer),
        ),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_python_and_compiled_code_agree(seed: int) -> None:
    for function, arguments in draw_calls(np.random.default_rng(seed)):
        with use_shortcuts(replace(ALL, max_python_steps=1 << 40)):
            by_python = function(*arguments)
        with use_shortcuts(replace(ALL, max_python_steps=0)):
            compiled = function(*arguments)
        assert by_python.dtype == compiled.dtype
        np.testing.assert_array_equal(by_python, compiled)
