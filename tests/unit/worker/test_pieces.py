"""Pieces of partitions: where partitions start."""

from __future__ import annotations

import pyarrow as pa
import pytest

from matchrec.worker import pieces


@pytest.mark.parametrize(
    ("bits", "last_start"),
    [
        ([], None),
        ([0, 6, 2], None),
        ([1, 0, 7, 6], 2),  # bit 0 of 7 is 1, bit 0 of 6 is not
        ([1, 0, 0, 0, 0, 0, 0], 0),  # in the first block, which is shorter than the others
        ([0, 0, 1, 0, 1, 0, 0, 0, 0], 4),
        ([0, 1], 1),
    ],
)
def test_the_last_start_is_found_in_any_block(
    bits: list[int], last_start: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "ROWS_PER_BLOCK", 3)
    rows = pa.array([1, *bits], pa.int8()).slice(1)
    assert pieces.find_last_partition_start(rows) == last_start
