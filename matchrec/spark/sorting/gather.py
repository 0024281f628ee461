"""A table's rows in another order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.spark import wire
from matchrec.spark.sorting.order import Order, order_of
from matchrec.spark.sorting.parts import is_text
from matchrec.spark.sorting.sorting import Sorting
from matchrec.spark.worker.arrays import arrow_of, column, numbers_of


def sort_table(table: pa.Table, sorting: Sorting) -> pa.Table:
    """The rows of a table of contiguous columns in order, the first of each partition marked."""
    if not table.num_rows:
        return table
    order = order_of(table, sorting)
    return with_begins(in_order(table, order, sorting), order)


def in_order(table: pa.Table, order: Order, sorting: Sorting) -> pa.Table:
    """The rows of a table in order."""
    if order.rows is None:
        return table
    rows = arrow_of(order.rows)
    columns = [
        of_partitions(column(table, name), order)
        if name in sorting.keys and is_text(table.schema.field(name).type)
        else pc.take(column(table, name), rows, boundscheck=False)
        for name in table.column_names
    ]
    return pa.Table.from_arrays(columns, schema=table.schema)


def of_partitions(values: pa.Array, order: Order) -> pa.Array:
    """A column that is the same in all rows of a partition: a text is looked up once for each."""
    assert order.rows is not None
    of_each = pc.take(values, arrow_of(order.rows[order.begins]), boundscheck=False)
    partitions = np.cumsum(order.begins, dtype=np.int32) - np.int32(1)
    return pc.take(of_each, arrow_of(partitions), boundscheck=False)


def with_begins(table: pa.Table, order: Order) -> pa.Table:
    """The same rows; bit 0 of the first bits says which are the first of a partition."""
    if wire.FIRST_BITS not in table.column_names:
        return table.append_column(wire.FIRST_BITS, arrow_of(order.begins.astype(np.int8)))
    place = table.column_names.index(wire.FIRST_BITS)
    field = table.schema.field(place)
    bits = numbers_of(column(table, wire.FIRST_BITS))
    marked = arrow_of((bits & ~1) | order.begins.astype(bits.dtype))
    return table.set_column(place, field, marked)
