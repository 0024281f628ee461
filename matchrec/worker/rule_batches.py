"""Build the output batches of a rule set: rows of all rules in one schema.

    __rule              the number of the rule, from 0
    __kind              what the output row stands for, see `RowKind`
    __k0 ...            the keys of the partition
    __n                 the number of the match; NULL for a run that is not a match
    __first, __last     the order values of the first and the last row of the match
    __events            the rows of the match, as an array of structs
    __message           why the rule failed in the partition
    __r0 ...            slots: the values that the rule reads

Each output row has a value only in the columns of its kind. The other columns are NULL. Rules share
the slots, each of which has a type: a set has as many slots of a type as the rule that reads most
values of this type.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import pyarrow as pa

from matchrec.worker import internal_names

# The field of `__events` that has the name of the variable of a row.
VARIABLE = "variable"

# Small batches of several rules are joined to batches of at least this many rows.
MIN_BATCH_ROWS = 1 << 14

# Columns of an output batch, by their names.
Columns = dict[str, pa.Array]


class RowKind(IntEnum):
    """What an output row of the worker stands for. The numbers are the values of `__kind`."""

    # A match. Has the columns of every match, and the slots if the rule has one row per match.
    MATCH = 0
    # A row of the result of a rule that has all rows per match. Has only the slots.
    ROW = 1
    # A partition in which a rule has failed. Has the keys and the message of the error.
    FAILURE = 2
    # A run that ended without a match, if the rule outputs such runs. Has the columns of a match,
    # except the number.
    PARTIAL = 3


# Batches.


def repeat_number(number: int, count: int) -> pa.Array:
    """Return an int32 column of `count` rows that all have the same number."""
    return pa.array(np.full(count, number, np.int32))


def make_batch(schema: pa.Schema, rule_number: int, columns: Columns) -> pa.RecordBatch:
    """Return output rows of a rule as a batch with all columns of the schema.

    Args:
        schema: the schema of the output.
        rule_number: the number of the rule, from 0.
        columns: the columns that these rows have, `__kind` among them. The other columns of the
            schema become NULL.
    """
    row_count = len(columns[internal_names.ROW_KIND])
    columns = {internal_names.RULE_NUMBER: repeat_number(rule_number, row_count)} | columns
    arrays = []
    for output_field in schema:
        values = columns.get(output_field.name)
        if values is None:
            arrays.append(pa.nulls(row_count, output_field.type))
        else:
            arrays.append(values.cast(output_field.type))
    return pa.RecordBatch.from_arrays(arrays, names=schema.names)


def join_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of small batches in larger batches.

    All batches except the last have at least MIN_BATCH_ROWS rows.
    """
    waiting_batches: list[pa.RecordBatch] = []
    waiting_rows = 0
    for batch in batches:
        waiting_batches.append(batch)
        waiting_rows += batch.num_rows
        if waiting_rows >= MIN_BATCH_ROWS:
            yield from combine_batches(waiting_batches)
            waiting_batches = []
            waiting_rows = 0
    if waiting_batches:
        yield from combine_batches(waiting_batches)


def combine_batches(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Return a list with one batch that has the rows of all batches; empty if there are no rows."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()  # type: ignore[no-any-return]
