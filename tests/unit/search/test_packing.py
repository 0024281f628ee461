"""Numbers that kernels pack into one number are unpacked to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from matchrec.search.kernels import chained, distances, mapping, memo, skipping
from matchrec.search.kernels.search_loop import NO_MATCH, NOT_NOTED, encode_status


@pytest.mark.parametrize("block_level", [skipping.FREE, skipping.BLOCKED, skipping.STOPPED])
@pytest.mark.parametrize("matches", [0, 1, 7])
def test_a_mark_holds_two_numbers(matches: int, block_level: int) -> None:
    mark = skipping.pack_mark(matches, block_level)
    assert skipping.unpack_match_count(mark) == matches
    assert skipping.unpack_block_level(mark) == block_level


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_the_distance_without_acceptance_differs_from_all_others(rows: int) -> None:
    noted = distances.pack_too_far(rows)
    assert distances.unpack_too_far(noted) == rows
    assert noted < min(NOT_NOTED, distances.NO_FARTHEST, 0)


def test_a_continuation_is_a_node_or_the_end() -> None:
    assert [chained.unpack_node(chained.pack_node(node)) for node in (0, 1, 9)] == [0, 1, 9]
    assert chained.unpack_node(chained.MATCH_ENDS) == chained.NO_NODE
    assert chained.pack_node(0) > max(chained.FAILED, chained.MATCH_ENDS, NOT_NOTED)


def test_each_memo_number_has_a_bit() -> None:
    bits = {(memo.find_byte(number), memo.find_mask(number)) for number in range(20)}
    assert len(bits) == 20
    assert memo.find_byte(17) == 2
    assert memo.find_mask(17) == 2


def test_rows_of_a_ring_follow_each_other() -> None:
    assert [memo.find_in_ring(row, 4) for row in range(3, 9)] == [3, 0, 1, 2, 3, 0]


def test_no_two_runs_have_the_same_slot() -> None:
    slots = [mapping.find_slot(run, bank) for run in range(5) for bank in range(2)]
    assert sorted(slots) == list(range(1, 11))


def test_an_encoded_status_is_not_a_length() -> None:
    assert encode_status(np.int64(1)) < NO_MATCH
