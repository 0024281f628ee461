"""Turn failures of a search into errors that name the row in the user's terms.

A search knows a row only by its position in the arrays. An error shows the keys of the partition,
the number of the row in the partition, and the values of the ORDER BY keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors.run.failures import partition_out_of_memory, waiting_rows_out_of_memory
from matchrec.errors.run.location import RowLocation
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import Partitions
from matchrec.worker import internal_names
from matchrec.worker.column_roles import ShownColumn
from matchrec.worker.pieces import PartitionWithoutRoom, Piece
from matchrec.worker.python_values import read_value_at
from matchrec.worker.windows import check_windows


@contextmanager
def locate_failures(locate: Callable[[int], RowLocation]) -> Iterator[None]:
    """Turn a RunFailure that the `with` block raises into an error that names the row.

    Args:
        locate: returns the location of a row, given its position in the arrays.

    Raises:
        MatchRecognizeRunError: the user's error for the RunFailure.
    """
    try:
        yield
    except RunFailure as failure:
        raise failure.build_error(locate(failure.row)) from failure


def locate_row(
    compiled_query: CompiledQuery,
    table: pa.Table,
    row: int,
    row_number: int | None,
    order_columns: tuple[ShownColumn, ...] = (),
) -> RowLocation:
    """Return the location of a row: the keys of its partition, and its number in the partition.

    Args:
        compiled_query: has the columns that are keys of partitions.
        table: rows as the worker gets them.
        row: the position of the row in `table`.
        row_number: the number of the row in its partition, from 1; None if it is not known.
        order_columns: the columns of the ORDER BY keys whose values the location has.
    """
    keys = {
        name: read_value_at(table, internal_names.name_column(index), row)
        for name, index in compiled_query.sent_columns.partition_keys
    }
    order = {key.text: read_value_at(table, key.name, row) for key in order_columns}
    return RowLocation(
        keys, row_number, relevant_only=bool(compiled_query.row_filters), order=order
    )


def locate_row_of_piece(
    compiled_query: CompiledQuery,
    row: int,
    piece: Piece,
    partitions: Partitions,
    order_columns: tuple[ShownColumn, ...],
) -> RowLocation:
    """Return the location of a row of a piece.

    Args:
        compiled_query: has the columns that are keys of partitions.
        row: the position of the row in the table of the piece.
        piece: the piece with the row.
        partitions: the rows of the piece as the search sees them.
        order_columns: the columns of the ORDER BY keys whose values the location has.
    """
    row_number: int | None = None
    if piece.rows_before is not None:
        partition = int(np.searchsorted(partitions.starts, row, side="right")) - 1
        row_number = row - int(partitions.starts[partition]) + 1
        if partition == 0:  # only the first partition can have rows in earlier pieces
            row_number += piece.rows_before
    return locate_row(compiled_query, piece.table, row, row_number, order_columns)


@contextmanager
def check_and_locate(
    compiled_query: CompiledQuery,
    piece: Piece,
    partitions: Partitions,
    order_columns: tuple[ShownColumn, ...] = (),
) -> Iterator[None]:
    """Check the windows of a piece, then name the row of any RunFailure of the `with` block.

    Raises:
        MatchRecognizeRunError: the end of a window is unknown or wraps around, or the block has
            raised a RunFailure.
    """
    locate = partial(
        locate_row_of_piece,
        compiled_query,
        piece=piece,
        partitions=partitions,
        order_columns=order_columns,
    )
    with locate_failures(locate):
        check_windows(compiled_query, piece.table, piece.starts)
        yield


def name_large_partitions(
    compiled_query: CompiledQuery, pieces: Iterator[Piece]
) -> Iterator[Piece]:
    """Yield the same pieces. If memory does not suffice for a partition, name it in the error.

    Raises:
        MatchRecognizeRunError: there is too little memory for the rows of a partition.
    """
    try:
        yield from pieces
    except PartitionWithoutRoom as error:
        make_error = partition_out_of_memory if error.must_be_whole else waiting_rows_out_of_memory
        location = locate_row(compiled_query, error.last_row, 0, None)
        raise make_error(
            rows=error.row_count, mebibytes=error.byte_count >> 20, location=location
        ) from error
