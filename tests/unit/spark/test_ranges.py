"""Stretches of rows that are kept, and ranges of them: each match is in one range."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matchrec.worker.ranges import RangeWorker, Stretches

NEEDED, FIRST = 0b110, 0b010

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-40, 40), st.sampled_from([0, 0, 0, 2, 4, 6, 8])),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(1, 12), st.integers(1, 3), st.sampled_from([0, FIRST]), st.integers(1, 9))
def test_all_rows_of_a_match_are_in_one_range(
    rows: list[tuple[int, int, int]], window: int, parts: int, first: int, least: int
) -> None:
    width = -(-window // parts)
    bits_by_stretch: dict[tuple[int, int], list[int]] = {}
    for key, position, bits in rows:
        bits_by_stretch.setdefault((key, int(position / width)), []).append(
            bits
        )  # as DIV does, towards 0
    order = sorted(bits_by_stretch)
    numbers = RangeWorker(parts, NEEDED, first, least).find_ranges(
        Stretches(
            np.array([key for key, _ in order]),
            np.array([position for _, position in order]),
            np.array([int(np.bitwise_or.reduce(bits_by_stretch[key])) for key in order]),
            np.array([len(bits_by_stretch[key]) for key in order]),
        )
    )
    ranges = dict(zip(order, numbers.tolist(), strict=True))
    for key, begin, bits in rows:
        inside = [row for row in rows if row[0] == key and begin <= row[1] < begin + window]
        for _, end, _ in inside:
            run = [row for row in inside if row[1] <= end]
            has_all = int(np.bitwise_or.reduce([row[2] for row in run])) & NEEDED == NEEDED
            if has_all and bits & first == first:
                range_numbers = {ranges[key, int(row[1] / width)] for row in run}
                assert len(range_numbers) == 1
                assert range_numbers != {-1}


def test_ranges_have_enough_rows_and_end_between_matches() -> None:
    positions = np.arange(6) * 10
    stretches = Stretches(0 * positions, positions, 0 * positions, 0 * positions + 4)
    assert RangeWorker(2, 0, 0, 8).find_ranges(stretches).tolist() == [0, 0, 1, 1, 2, 2]
    together = Stretches(0 * positions, np.arange(6), 0 * positions, 0 * positions + 4)
    assert RangeWorker(2, 0, 0, 8).find_ranges(together).tolist() == [0] * 6
    assert RangeWorker(2, 6, 2, 8).find_ranges(together).tolist() == [-1] * 6


def test_a_range_after_a_large_one_may_have_fewer_rows() -> None:
    positions = np.arange(4) * 10
    stretches = Stretches(0 * positions, positions, 0 * positions, np.array([199, 1, 100, 100]))
    # The borders are after 0, 199, 200 and 300 rows.
    assert RangeWorker(2, 0, 0, 100).find_ranges(stretches).tolist() == [0, 1, 2, 3]
