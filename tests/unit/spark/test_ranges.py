"""Stretches of rows that are kept, and ranges of them: each match is in one range."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matchrec.worker.ranges import RangeWorker, Stretches

# The masks of the conditions that hold for some row, and for the first row, of every match.
NEEDED, FIRST = 0b110, 0b010

# Rows as their key, position and bits.
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-40, 40), st.sampled_from([0, 0, 0, 2, 4, 6, 8])),
    min_size=1,
    max_size=30,
)


@given(ROWS, st.integers(1, 12), st.integers(1, 3), st.sampled_from([0, FIRST]), st.integers(1, 9))
def test_all_rows_of_a_match_are_in_one_range(
    rows: list[tuple[int, int, int]],
    window: int,
    stretches_per_window: int,
    first_mask: int,
    least_rows: int,
) -> None:
    """Rows within a window can be a match if they satisfy all needed conditions."""
    width = -(-window // stretches_per_window)

    def find_stretch(key: int, position: int) -> tuple[int, int]:
        """Return the key and the number of the stretch of a row. Like DIV, `int` rounds to 0."""
        return key, int(position / width)

    bits_by_stretch: dict[tuple[int, int], list[int]] = {}
    for key, position, bits in rows:
        bits_by_stretch.setdefault(find_stretch(key, position), []).append(bits)
    stretches = sorted(bits_by_stretch)
    worker = RangeWorker(stretches_per_window, NEEDED, first_mask, least_rows)
    numbers = worker.find_ranges(
        Stretches(
            np.array([key for key, _ in stretches]),
            np.array([number for _, number in stretches]),
            np.array([np.bitwise_or.reduce(bits_by_stretch[stretch]) for stretch in stretches]),
            np.array([len(bits_by_stretch[stretch]) for stretch in stretches]),
        )
    )
    ranges = dict(zip(stretches, numbers.tolist(), strict=True))
    for key, begin, bits in rows:
        rows_in_window = [row for row in rows if row[0] == key and begin <= row[1] < begin + window]
        for _, end, _ in rows_in_window:
            run = [row for row in rows_in_window if row[1] <= end]
            satisfied = int(np.bitwise_or.reduce([row[2] for row in run]))
            if satisfied & NEEDED == NEEDED and bits & first_mask == first_mask:
                range_numbers = {ranges[find_stretch(key, row[1])] for row in run}
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
