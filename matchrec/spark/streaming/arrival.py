"""Sort the events of a bucket as they arrive.

Events wait until the watermark has passed them. Only then is it certain which events come before
them, so they are sorted and handed to the searches:

    memory.rows   kept by searches | waiting
    new events                               new
                                   |_____________|
                                    passed | waiting    the watermark is between the two

`arrange_events` returns the kept rows, followed by the passed rows: key after key, each key in its
order. The other events continue to wait. `ArrivedRows.select_rows` returns the rows of some keys
for a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.search.partitions import IntArray, find_group_starts
from matchrec.spark.pandas_encoding import PandasEncoding
from matchrec.spark.streaming.by_key import KeyedValues
from matchrec.spark.streaming.memory import BucketMemory, ColumnMap
from matchrec.worker import wire
from matchrec.worker.arrays import read_flags, read_integers, take_column
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.equal_codes import encode_equal, number_rows
from matchrec.worker.shared_rows import select_rows_of_version
from matchrec.worker.sorting.order import find_order


@dataclass(frozen=True, slots=True)
class EventLayout:
    """The columns of the events that arrive in buckets, with their roles. Picklable."""

    # How Spark encodes the events for pandas.
    encoding: PandasEncoding
    # The columns of the decoded events.
    schema: pa.Schema
    # The names of the columns of the partition keys.
    keys: tuple[str, ...]
    # The columns by which events of a partition are sorted after the time.
    orders: tuple[SortColumn, ...]
    # The SQL of the columns and bits.
    column_map: ColumnMap

    def make_empty_memory(self) -> BucketMemory:
        """Return the memory of a bucket that has had no events."""
        rows = self.schema.empty_table()
        return BucketMemory(
            ordered_until=None,
            arrays={},
            keys=rows.select(self.keys),
            rows=rows,
            column_map=self.column_map,
            versions={},
        )

    def describe_columns(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return the SQL and the type of some columns, for a digest of the query."""
        texts = self.column_map.columns
        return [(texts[name], str(self.schema.field(name).type)) for name in names]

    @property
    def partitions(self) -> tuple[object, ...]:
        """Return what defines partitions and their order, for a digest of the query.

        The digest depends on the SQL and the types of columns, but not on their names.
        """
        orders = [(order.descending, order.nulls_first) for order in self.orders]
        sorted_by = self.describe_columns(order.name for order in self.orders)
        return self.describe_columns(self.keys), sorted_by, orders

    def convert_memory(self, memory: BucketMemory) -> BucketMemory:
        """Return a memory whose rows have the columns and bits of the rows that arrive now.

        The stored columns and bits are others if the rules of a set have changed. A column that was
        not stored becomes NULL, and a condition that was not stored becomes false.
        """
        if memory.column_map == self.column_map:
            return memory
        rows = memory.rows
        stored_names = {text: name for name, text in memory.column_map.columns.items()}
        stored_bits = {text: bit for bit, text in enumerate(memory.column_map.bits)}
        bit_columns = self.number_bit_columns()
        arrays = []
        for field in self.schema:
            text = self.column_map.columns.get(field.name, field.name)
            stored_name = stored_names.get(text)
            if field.name in bit_columns:
                packed = self.repack_bits(rows, stored_bits, bit_columns[field.name])
                arrays.append(packed.cast(field.type))
            elif stored_name is not None and rows.schema.field(stored_name).type == field.type:
                arrays.append(take_column(rows, stored_name))
            else:
                arrays.append(pa.nulls(rows.num_rows, field.type))
        return replace(memory, rows=pa.table(arrays, self.schema), column_map=self.column_map)

    def number_bit_columns(self) -> dict[str, int]:
        """Return the index of each column of bits among these columns, by its name."""
        count = wire.count_bit_columns(len(self.column_map.bits))
        return {wire.name_bits(index): index for index in range(count)}

    def repack_bits(
        self, rows: pa.Table, stored_bits: Mapping[str, int], bit_column: int
    ) -> pa.Array:
        """Return a column of bits for rows that were stored with other bits.

        Args:
            rows: the rows.
            stored_bits: the bits of the conditions with which the rows were stored, by their SQL.
            bit_column: the index of the column among the columns of bits.
        """
        packed = np.zeros(rows.num_rows, np.int64)
        bits_per_column = wire.count_bits_per_column()
        for condition, text in enumerate(self.column_map.bits):
            # Bit 0 of the first column marks the first rows of partitions: see `wire`.
            column, bit = divmod(condition + 1, bits_per_column)
            if column == bit_column and text in stored_bits:
                packed |= read_flags(rows, stored_bits[text]) << bit
        return pa.array(packed)


@dataclass(frozen=True, slots=True)
class SearchRows:
    """The n rows of p keys that a search reads.

    For each key, the rows that the search has kept, then the new rows.
    """

    # The rows, key after key.
    rows: pa.Table
    # int64[p + 1]: where the rows of each key start, then the number of rows.
    starts: IntArray
    # int64[p]: how many rows of each key are new to the search. They are its last rows.
    new_counts: IntArray
    # int64[n]: the index of each row among all rows of the bucket.
    indices: IntArray
    # The watermark in microseconds.
    watermark: int

    @property
    def sizes(self) -> IntArray:
        """Return int64[p]: how many rows each key has."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class ArrivedRows:
    """The rows of a bucket in one micro-batch, and the rows that are kept from earlier ones."""

    # The k keys: those with a stored state, then new keys.
    keys: pa.Table
    # The rows that searches have kept, key after key; then the new rows that the watermark has
    # passed, key after key and in order.
    rows: pa.Table
    # int64[k]: how many kept rows each key has.
    kept_counts: IntArray
    # int64[k]: how many new rows each key has.
    new_counts: IntArray
    # The rows that the watermark has not passed. They wait.
    waiting: pa.Table
    # The watermark up to which rows have been sorted, in microseconds.
    ordered_until: int

    def find_new_rows(self, version: Version) -> KeyedValues:
        """Return the new rows of each key that a version of a rule reads, as indices of `rows`."""
        first_new = int(self.kept_counts.sum())
        count = int(self.new_counts.sum())
        indices = np.arange(first_new, first_new + count)
        if version.covers_all_time:
            return KeyedValues(indices, self.new_counts)
        has_time = np.ones(count, np.bool_)
        times = read_times(self.rows.slice(first_new))
        is_of_version = select_rows_of_version(version, times, has_time)
        keys = np.repeat(np.arange(len(self.new_counts)), self.new_counts)[is_of_version]
        sizes = np.bincount(keys, minlength=len(self.new_counts)).astype(np.int64)
        return KeyedValues(indices[is_of_version], sizes)

    def select_rows(self, kept: KeyedValues, new: KeyedValues, watermark: int) -> SearchRows:
        """Return the rows of some keys for a search.

        Args:
            kept: for each key, the rows that the search has kept, as indices of `rows`.
            new: for each key, the rows that are new to the search, also as indices of `rows`.
            watermark: in microseconds.
        """
        indices = np.append(kept.values, new.values)
        keys = np.arange(len(kept.sizes))
        key_of_row = np.append(np.repeat(keys, kept.sizes), np.repeat(keys, new.sizes))
        indices = indices[np.argsort(key_of_row, kind="stable")]
        rows = self.rows.take(pa.array(indices)).combine_chunks()
        starts = find_group_starts(kept.sizes + new.sizes)
        return SearchRows(rows, starts, new.sizes, indices, watermark)


def arrange_events(
    memory: BucketMemory,
    events: Iterable[pa.RecordBatch],
    event_layout: EventLayout,
    watermark: int,
) -> ArrivedRows:
    """Sort the events of a bucket that the watermark has passed. The other events wait.

    Late events, which the watermark had passed before they arrived, are dropped.

    Args:
        memory: the memory of the bucket after the last micro-batch.
        events: the new events.
        event_layout: the columns of the events.
        watermark: in microseconds.
    """
    kept_counts = memory.arrays.get("rows", np.zeros(0, np.int64))  # how many each stored key has
    kept_count = int(kept_counts.sum())
    new_rows = pa.Table.from_batches(list(events), event_layout.schema)
    if memory.ordered_until is not None:  # Spark itself drops late rows, and counts them
        new_rows = new_rows.filter(pa.array(read_times(new_rows) > memory.ordered_until))
    candidates = pa.concat_tables([memory.rows.slice(kept_count), new_rows]).combine_chunks()
    is_passed = read_times(candidates) <= watermark
    passed_rows = candidates.filter(pa.array(is_passed)).combine_chunks()

    # Stored keys come first, so they get the numbers that they had before.
    new_keys = passed_rows.select(event_layout.keys)
    key_rows = pa.concat_tables([memory.keys, new_keys]).combine_chunks()
    codes = [encode_equal(take_column(key_rows, name)) for name in event_layout.keys]
    key_numbers, first_rows = number_rows(codes)
    key_of_passed_row = key_numbers[memory.keys.num_rows :]
    key_count = len(first_rows)
    passed_rows = sort_rows(passed_rows, event_layout.orders, key_of_passed_row)
    ordered_until = watermark
    if memory.ordered_until is not None:
        ordered_until = max(ordered_until, memory.ordered_until)
    return ArrivedRows(
        keys=key_rows.take(pa.array(first_rows)).combine_chunks(),
        rows=pa.concat_tables([memory.rows.slice(0, kept_count), passed_rows]).combine_chunks(),
        kept_counts=np.append(kept_counts, np.zeros(key_count - len(kept_counts), np.int64)),
        new_counts=np.bincount(key_of_passed_row, minlength=key_count).astype(np.int64),
        waiting=candidates.filter(pa.array(~is_passed)),
        ordered_until=ordered_until,
    )


def read_times(rows: pa.Table) -> IntArray:
    """Return the time of each row, in microseconds."""
    return read_integers(take_column(rows, wire.EVENT_MICROSECONDS))


def sort_rows(rows: pa.Table, orders: tuple[SortColumn, ...], key_of_row: IntArray) -> pa.Table:
    """Return rows sorted by their key, by time, by further columns, then by arrival.

    Args:
        rows: n rows, in the order of their arrival.
        orders: the further columns.
        key_of_row: int64[n], the number of the key of each row.
    """
    if not rows.num_rows:
        return rows
    time = SortColumn(wire.EVENT_MICROSECONDS, descending=False, nulls_first=True)
    sorting = Sorting((wire.KEY_CLASS,), (time, *orders))
    # The number of a key serves as the partition key.
    keyed_rows = rows.append_column(wire.KEY_CLASS, pa.array(key_of_row))
    order = find_order(keyed_rows, sorting).row_numbers
    return rows if order is None else rows.take(pa.array(order)).combine_chunks()
