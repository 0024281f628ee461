"""Sort the events of a bucket as they arrive.

Events wait until the watermark has passed them. Only then is it certain which events come before
them, so they are sorted and handed to the searches:

    rows of the state   kept by searches | waiting
    new events                                     new
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
from matchrec.search.flat_arrays import find_group_starts
from matchrec.search.partitions import IntArray
from matchrec.spark.pandas_encoding import PandasEncoding
from matchrec.spark.streaming.bucket_state import ROW_COUNTS, BucketState, ColumnMap
from matchrec.spark.streaming.keyed_values import KeyedValues
from matchrec.worker import internal_names
from matchrec.worker.arrays import read_flags, read_integers, take_column
from matchrec.worker.column_roles import SortColumn, Sorting
from matchrec.worker.equal_codes import encode_by_equality, number_rows
from matchrec.worker.shared_rows import select_rows_of_version
from matchrec.worker.sorting.order import find_order


@dataclass(frozen=True, slots=True)
class EventLayout:
    """The columns of the events that arrive, and what each column is for. Picklable."""

    # How Spark encodes the events for pandas.
    encoding: PandasEncoding
    # The columns of the decoded events.
    schema: pa.Schema
    # The names of the columns of the partition keys.
    keys: tuple[str, ...]
    # The columns by which events of a key are sorted if their times are equal.
    order_after_time: tuple[SortColumn, ...]
    # The SQL of the columns and bits.
    column_map: ColumnMap

    def make_empty_state(self) -> BucketState:
        """Return the state of a bucket that has had no events."""
        rows = self.schema.empty_table()
        return BucketState(
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

    def describe_partitions(self) -> tuple[object, ...]:
        """Return what defines partitions and their order, for a digest of the query.

        The digest depends on the SQL and the types of columns, but not on their names.
        """
        keys = self.describe_columns(self.keys)
        order = self.describe_columns(column.name for column in self.order_after_time)
        directions = [(column.descending, column.nulls_first) for column in self.order_after_time]
        return keys, order, directions

    def convert_state(self, bucket_state: BucketState) -> BucketState:
        """Return a state whose rows have the columns and bits of the rows that arrive now.

        The stored columns and bits are others if the rules of a set have changed. A column that was
        not stored becomes NULL, and a condition that was not stored becomes false.
        """
        if bucket_state.column_map == self.column_map:
            return bucket_state
        rows = bucket_state.rows
        stored_names = {text: name for name, text in bucket_state.column_map.columns.items()}
        stored_bits = {text: bit for bit, text in enumerate(bucket_state.column_map.bits)}
        bit_columns = self.number_bit_columns()
        arrays = []
        for field in self.schema:
            if field.name in bit_columns:
                packed_bits = self.repack_bits(rows, stored_bits, bit_columns[field.name])
                arrays.append(packed_bits.cast(field.type))
                continue
            text = self.column_map.columns.get(field.name, field.name)
            stored_name = stored_names.get(text)
            if stored_name is not None and rows.schema.field(stored_name).type == field.type:
                arrays.append(take_column(rows, stored_name))
            else:
                arrays.append(pa.nulls(rows.num_rows, field.type))
        return replace(bucket_state, rows=pa.table(arrays, self.schema), column_map=self.column_map)

    def number_bit_columns(self) -> dict[str, int]:
        """Return the index of each column of bits among these columns, by its name."""
        column_count = internal_names.count_bit_columns(len(self.column_map.bits))
        return {internal_names.name_bits(index): index for index in range(column_count)}

    def repack_bits(
        self, rows: pa.Table, stored_bits: Mapping[str, int], bit_column: int
    ) -> pa.Array:
        """Return a column of bits for rows that were stored with other bits.

        Args:
            rows: the rows.
            stored_bits: the indices of the conditions with which the rows were stored, by the SQL
                of the conditions.
            bit_column: the index of the column among the columns of bits.
        """
        packed_bits = np.zeros(rows.num_rows, np.int64)
        bits_per_column = internal_names.count_bits_per_column()
        for condition, text in enumerate(self.column_map.bits):
            # Bit 0 of the first column marks the first rows of partitions: see `internal_names`.
            column, bit = divmod(condition + 1, bits_per_column)
            if column == bit_column and text in stored_bits:
                packed_bits |= read_flags(rows, stored_bits[text]) << bit
        return pa.array(packed_bits)


@dataclass(frozen=True, slots=True)
class SearchRows:
    """The n rows of p keys that a search reads.

    For each key, these are the rows that the search has kept, then the new rows.
    """

    # The rows, key after key.
    table: pa.Table
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

    # The k keys, one row for each: those with a stored state, then new keys.
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

    def find_key_of_row(self) -> IntArray:
        """Return int64[n]: the index of the key of each of the n `rows`."""
        keys = np.arange(len(self.new_counts))
        return np.append(np.repeat(keys, self.kept_counts), np.repeat(keys, self.new_counts))

    def find_new_rows(self, version: Version) -> KeyedValues:
        """Return the new rows of each key that a version of a rule reads, as indices of `rows`."""
        first_new_row = int(self.kept_counts.sum())
        row_count = int(self.new_counts.sum())
        indices = np.arange(first_new_row, first_new_row + row_count)
        if version.covers_all_time:
            return KeyedValues(indices, self.new_counts)
        times = read_times(self.rows.slice(first_new_row))
        has_time = np.ones(row_count, np.bool_)  # events without a time do not arrive here
        is_of_version = select_rows_of_version(version, times, has_time)
        key_count = len(self.new_counts)
        key_of_row = np.repeat(np.arange(key_count), self.new_counts)
        sizes = np.bincount(key_of_row[is_of_version], minlength=key_count).astype(np.int64)
        return KeyedValues(indices[is_of_version], sizes)

    def select_rows(
        self, kept_rows: KeyedValues, new_rows: KeyedValues, watermark: int
    ) -> SearchRows:
        """Return the rows of some keys for a search.

        Args:
            kept_rows: for each key, the rows that the search has kept, as indices of `rows`.
            new_rows: for each key, the rows that are new to the search, also as indices of `rows`.
            watermark: in microseconds.
        """
        all_indices = np.append(kept_rows.values, new_rows.values)
        keys = np.arange(len(kept_rows.sizes))
        key_of_row = np.append(np.repeat(keys, kept_rows.sizes), np.repeat(keys, new_rows.sizes))
        # The order is stable, so the kept rows of a key stay before its new rows.
        indices = all_indices[np.argsort(key_of_row, kind="stable")]
        return SearchRows(
            table=self.rows.take(pa.array(indices)).combine_chunks(),
            starts=find_group_starts(kept_rows.sizes + new_rows.sizes),
            new_counts=new_rows.sizes,
            indices=indices,
            watermark=watermark,
        )


def arrange_events(
    bucket_state: BucketState,
    events: Iterable[pa.RecordBatch],
    event_layout: EventLayout,
    watermark: int,
) -> ArrivedRows:
    """Sort the events of a bucket that the watermark has passed. The other events wait.

    Late events, which the watermark had passed before they arrived, are dropped.

    Args:
        bucket_state: the state of the bucket after the last micro-batch.
        events: the new events.
        event_layout: the columns of the events.
        watermark: in microseconds.
    """
    stored_counts = bucket_state.arrays.get(ROW_COUNTS, np.zeros(0, np.int64))
    kept_row_count = int(stored_counts.sum())
    kept_rows = bucket_state.rows.slice(0, kept_row_count)
    waiting_rows = bucket_state.rows.slice(kept_row_count)
    ordered_until = bucket_state.ordered_until
    new_rows = pa.Table.from_batches(list(events), event_layout.schema)
    if ordered_until is not None:  # Spark drops late rows, too, and counts them
        new_rows = new_rows.filter(pa.array(read_times(new_rows) > ordered_until))
    unsorted_rows = pa.concat_tables([waiting_rows, new_rows]).combine_chunks()
    is_passed = read_times(unsorted_rows) <= watermark
    passed_rows = unsorted_rows.filter(pa.array(is_passed)).combine_chunks()

    # Stored keys come first, so they get the numbers that they had before.
    key_rows = pa.concat_tables([bucket_state.keys, passed_rows.select(event_layout.keys)])
    key_rows = key_rows.combine_chunks()
    codes = [encode_by_equality(take_column(key_rows, name)) for name in event_layout.keys]
    key_numbers, first_rows = number_rows(codes)
    key_count = len(first_rows)
    key_of_passed_row = key_numbers[bucket_state.keys.num_rows :]
    passed_rows = sort_rows(passed_rows, event_layout.order_after_time, key_of_passed_row)

    no_kept_rows = np.zeros(key_count - len(stored_counts), np.int64)
    return ArrivedRows(
        keys=key_rows.take(pa.array(first_rows)).combine_chunks(),
        rows=pa.concat_tables([kept_rows, passed_rows]).combine_chunks(),
        kept_counts=np.append(stored_counts, no_kept_rows),
        new_counts=np.bincount(key_of_passed_row, minlength=key_count).astype(np.int64),
        waiting=unsorted_rows.filter(pa.array(~is_passed)),
        ordered_until=watermark if ordered_until is None else max(watermark, ordered_until),
    )


def read_times(rows: pa.Table) -> IntArray:
    """Return int64[n]: the time of each row, in microseconds."""
    return read_integers(take_column(rows, internal_names.EVENT_MICROSECONDS))


def sort_rows(
    rows: pa.Table, order_after_time: tuple[SortColumn, ...], key_of_row: IntArray
) -> pa.Table:
    """Return rows sorted by their key, by time, by further columns, then by arrival.

    Args:
        rows: n rows, in the order of their arrival.
        order_after_time: the further columns.
        key_of_row: int64[n], the number of the key of each row.
    """
    if not rows.num_rows:
        return rows
    time = SortColumn(internal_names.EVENT_MICROSECONDS, descending=False, nulls_first=True)
    sorting = Sorting((internal_names.KEY_CLASS,), (time, *order_after_time))
    # The number of a key serves as the partition key.
    keyed_rows = rows.append_column(internal_names.KEY_CLASS, pa.array(key_of_row))
    order = find_order(keyed_rows, sorting).row_numbers
    return rows if order is None else rows.take(pa.array(order)).combine_chunks()
