"""A stream of batches is searched in pieces; rows that no search needs any more are dropped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from matchrec.compile.lookaround import Lookaround
from matchrec.search.partitions import Partitions
from matchrec.worker.pieces import Piece, split_into_pieces

ALL_ROWS = 2**62


def make_batches(sizes: list[int], rows_per_batch: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of partitions of these sizes. The column __c0 numbers all rows."""
    rows = sum(sizes)
    bits = np.zeros(rows, np.int64)
    bits[np.cumsum([0, *sizes[:-1]])] = 1
    for begin in range(0, rows, rows_per_batch):
        end = min(begin + rows_per_batch, rows)
        columns = [pa.array(np.arange(begin, end)), pa.array(bits[begin:end])]
        yield pa.RecordBatch.from_arrays(columns, ["__c0", "__bits0"])


def find_first_row(piece: Piece) -> int:
    """Return the number of the first row of a piece."""
    return int(piece.table.column("__c0")[0].as_py())


def record_search(piece: Piece, decided_rows: int) -> int:
    """Record a search without matches that has decided this many rows of the last partition.

    Returns:
        the row at which the search of the last partition goes on.
    """
    partitions = Partitions(
        starts=piece.starts,
        condition_bits=np.zeros((piece.table.num_rows, 1), np.uint64),
        columns=np.zeros((0, piece.table.num_rows), np.int64),
        valid=np.zeros((0, piece.table.num_rows), np.bool_),
        integer_count=0,
        frontier=piece.frontier.copy(),
    )
    assert partitions.frontier is not None
    start = partitions.frontier.next_start
    edge = min(piece.frontier.edge[-1], piece.table.num_rows)
    start[-1] = min(edge, start[-1] + decided_rows)
    piece.record_search(partitions, piece.is_covered)
    return int(start[-1])


def test_decided_rows_are_dropped() -> None:
    """The search decides all rows before the edge."""
    decided = 0
    largest = 0
    for piece in split_into_pieces(
        make_batches([100_000], 100), Lookaround(2, 1), rows_per_call=1_000
    ):
        begin = find_first_row(piece)
        largest = max(largest, piece.table.num_rows)
        assert begin == piece.rows_before
        assert begin + piece.frontier.next_start[0] == max(decided, 0)
        assert begin == 0 or piece.frontier.next_start[0] >= 2
        if piece.frontier.is_incomplete:
            assert piece.frontier.edge[0] == piece.table.num_rows - 1
        decided = begin + record_search(piece, ALL_ROWS)
    assert decided == 100_000
    assert largest <= 2_100


def test_a_piece_of_undecided_rows_doubles() -> None:
    sizes = []
    for piece in split_into_pieces(
        make_batches([100_000], 100), Lookaround(0, 0), rows_per_call=1_000
    ):
        sizes.append(piece.table.num_rows)
        record_search(piece, 0)
    assert sizes == [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000]


def test_a_partition_can_be_kept_in_one_piece() -> None:
    (piece,) = split_into_pieces(make_batches([100_000], 100), None, rows_per_call=1_000)
    assert piece.table.num_rows == 100_000
    assert not piece.frontier.is_incomplete


def test_small_partitions_share_a_piece_and_large_ones_do_not() -> None:
    sizes = [300, 300, 5_000, 10, 10]
    pieces = []
    for piece in split_into_pieces(make_batches(sizes, 70), Lookaround(0, 0), rows_per_call=1_000):
        pieces.append(
            (np.diff(piece.starts).tolist(), piece.frontier.is_incomplete, piece.new_partitions)
        )
        record_search(piece, ALL_ROWS)
    complete = [partitions for partitions, is_incomplete, _ in pieces if not is_incomplete]
    assert complete[0] == [300, 300]
    assert pieces[1][1:] == (True, 1)
    assert (
        sum(map(len, complete[1:])) == 3
    )  # together with the last rows of the large one, or after them
    assert sum(new_partitions for *_, new_partitions in pieces) == len(sizes)
