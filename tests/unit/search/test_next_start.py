"""The starting row after a match, for every skip rule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from matchrec.jit.decorators import kernel
from matchrec.search.kernels import layout
from matchrec.search.kernels.search_loop import (
    NO_TARGET,
    compute_skip_distance,
    fill_next_starts,
    find_next_start,
    go_on_from,
)

A, B = 0, 1
RULES = [layout.SkipRule(*rule) for rule in itertools.product((False, True), (0, 1, 2))]
WORDS = [word for length in range(4) for word in itertools.product((A, B), repeat=length)]


def compute_next_start(
    rule: layout.SkipRule, word: tuple[int, ...], rows: range, is_target: list[bool]
) -> int:
    """Return the next starting row after a match, as worked out from its word."""
    if not word:
        return rows.start + 1
    targets = [row for row, variable in zip(rows, word, strict=False) if is_target[variable]]
    if not targets:
        return NO_TARGET
    return targets[-1 if rule.uses_last_target else 0] + rule.rows_after_target


@pytest.mark.parametrize("is_target", [[True, True], [False, True]], ids=["any row", "rows of B"])
@pytest.mark.parametrize("apart", [1, 3])
def test_the_search_goes_on_some_rows_after_the_first_or_last_target(
    is_target: list[bool], apart: int
) -> None:
    rows = range(10, 10 + 9 * apart, apart)
    positions = np.array(rows, np.int64)
    compiled = kernel(find_next_start.py_func)
    for rule, word in itertools.product(RULES, WORDS):
        mapped = np.array(word, np.int16)
        positions_of_match = None if apart == 1 else positions[: len(word)]
        row = compiled(rule, np.array(is_target), mapped, 10, positions_of_match)
        assert row == compute_next_start(rule, word, rows, is_target)


@pytest.mark.parametrize("is_target", [[True, True], [False, True]], ids=["any row", "rows of B"])
def test_the_skip_distance_leads_to_the_same_row(is_target: list[bool]) -> None:
    step_back = kernel(compute_skip_distance.py_func)
    for rule, word in itertools.product(RULES, filter(None, WORDS)):
        distance = NO_TARGET
        for variable in reversed(word):
            distance = step_back(rule, is_target[variable], distance)
        row = NO_TARGET if distance == NO_TARGET else 10 + distance
        assert row == compute_next_start(rule, word, range(10, 20), is_target)


def test_the_next_starts_of_many_matches_are_filled_in() -> None:
    next_starts = np.empty(3, np.int64)
    starts, offsets = np.array([4, 6, 9]), np.array([0, 2, 2, 3])
    mapped, rows = np.array([A, B, A], np.int16), np.array([4, 7, 9])
    to_b = layout.SkipRule(uses_last_target=False, rows_after_target=0)
    fill_next_starts(to_b, np.array([False, True]), starts, offsets, mapped, rows, next_starts)
    assert next_starts.tolist() == [7, 7, NO_TARGET]


def test_a_search_fails_if_its_next_start_is_not_after_its_start() -> None:
    progress = layout.make_record(layout.Progress)
    progress.match_limit = 1
    compiled = kernel(go_on_from.py_func)
    assert compiled(12, 10, progress) == layout.DONE
    assert progress.start == 12
    assert compiled(NO_TARGET, 10, progress) == layout.SKIP_TO_NO_ROW
    assert compiled(10, 10, progress) == layout.SKIP_TO_FIRST_ROW
    assert (progress.start, progress.row) == (12, 10)
    progress.match_number = 1
    assert compiled(12, 10, progress) == layout.DONE
    assert progress.start == layout.NO_LIMIT  # as many matches as are sought
