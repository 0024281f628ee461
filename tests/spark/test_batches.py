"""Pieces of a stream of batches, without Spark: what waits, and what is let go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import Lookaround
from matchrec.worker.batches import Piece, split_into_pieces


def make_batches(sizes: list[int], rows_per_batch: int) -> Iterator[pa.RecordBatch]:
    """Yield partitions of so many rows; column __c0 numbers all rows."""
    rows = sum(sizes)
    bits = np.zeros(rows, np.int64)
    bits[np.cumsum([0, *sizes[:-1]])] = 1
    for begin in range(0, rows, rows_per_batch):
        end = min(begin + rows_per_batch, rows)
        columns = [pa.array(np.arange(begin, end)), pa.array(bits[begin:end])]
        yield pa.RecordBatch.from_arrays(columns, ["__c0", "__bits0"])


def first_row(piece: Piece) -> int:
    return int(piece.table.column("__c0")[0].as_py())


def end_search(piece: Piece) -> None:
    """Move the frontier to the end, as if each row had been decided."""
    piece.frontier.start[-1] = min(piece.frontier.edge[-1], piece.table.num_rows)


def test_what_is_decided_is_let_go() -> None:
    """All rows before the edge are decided at once."""
    seen, largest = 0, 0
    for piece in split_into_pieces(
        make_batches([100_000], 100), Lookaround(2, 1), rows_per_call=1_000
    ):
        begin = first_row(piece)
        largest = max(largest, piece.table.num_rows)
        assert begin == piece.rows_before
        assert begin + piece.frontier.start[0] == max(seen, 0)
        assert begin == 0 or piece.frontier.start[0] >= 2
        if piece.frontier.is_incomplete:
            assert piece.frontier.edge[0] == piece.table.num_rows - 1
        end_search(piece)
        seen = begin + piece.frontier.start[-1]
    assert seen == 100_000
    assert largest <= 2_100


def test_what_is_undecided_doubles() -> None:
    sizes = [
        piece.table.num_rows
        for piece in split_into_pieces(
            make_batches([100_000], 100), Lookaround(0, 0), rows_per_call=1_000
        )
    ]
    assert sizes == [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000]


def test_partitions_that_must_be_whole_are() -> None:
    (piece,) = split_into_pieces(make_batches([100_000], 100), None, rows_per_call=1_000)
    assert piece.table.num_rows == 100_000
    assert not piece.frontier.is_incomplete


def test_small_partitions_come_together_and_large_ones_by_themselves() -> None:
    sizes = [300, 300, 5_000, 10, 10]
    found = []
    for piece in split_into_pieces(make_batches(sizes, 70), Lookaround(0, 0), rows_per_call=1_000):
        found.append(
            (np.diff(piece.starts).tolist(), piece.frontier.is_incomplete, piece.new_partitions)
        )
        end_search(piece)
    whole = [one for one, goes_on, _ in found if not goes_on]
    assert whole[0] == [300, 300]
    assert found[1][1:] == (True, 1)
    assert sum(map(len, whole[1:])) == 3  # with the large one's last rows, or after them
    assert sum(fresh for *_, fresh in found) == len(sizes)
