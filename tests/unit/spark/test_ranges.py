"""Stretches that are kept, and ranges of them: no match lies in two, or in a stretch left out."""

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
def test_what_a_match_may_have_is_in_one_range(
    rows: list[tuple[int, int, int]], window: int, parts: int, first: int, least: int
) -> None:
    width = -(-window // parts)
    known: dict[tuple[int, int], list[int]] = {}
    for one, place, bits in rows:
        known.setdefault((one, int(place / width)), []).append(bits)  # as DIV does, towards 0
    order = sorted(known)
    found = RangeWorker(parts, NEEDED, first, least).find_ranges(
        Stretches(
            np.array([one for one, _ in order]),
            np.array([place for _, place in order]),
            np.array([int(np.bitwise_or.reduce(known[one])) for one in order]),
            np.array([len(known[one]) for one in order]),
        )
    )
    ranges = dict(zip(order, found.tolist(), strict=True))
    for one, begin, bits in rows:
        inside = [row for row in rows if row[0] == one and begin <= row[1] < begin + window]
        for _, end, _ in inside:
            run = [row for row in inside if row[1] <= end]
            has_all = int(np.bitwise_or.reduce([row[2] for row in run])) & NEEDED == NEEDED
            if has_all and bits & first == first:
                its = {ranges[one, int(row[1] / width)] for row in run}
                assert len(its) == 1
                assert its != {-1}


def test_a_range_has_so_many_rows_and_ends_where_it_can() -> None:
    places = np.arange(6) * 10
    stretches = Stretches(0 * places, places, 0 * places, 0 * places + 4)
    assert RangeWorker(2, 0, 0, 8).find_ranges(stretches).tolist() == [0, 0, 1, 1, 2, 2]
    together = Stretches(0 * places, np.arange(6), 0 * places, 0 * places + 4)
    assert RangeWorker(2, 0, 0, 8).find_ranges(together).tolist() == [0] * 6
    assert RangeWorker(2, 6, 2, 8).find_ranges(together).tolist() == [-1] * 6
