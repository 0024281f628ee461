"""The events of a bucket as they arrive: what is stored of them, and how they are put in order.

Events wait until the watermark has passed them. Only then is it certain which events come before
them, so they are sorted and handed to the searches.

Values of many keys are held in flat arrays, the values of each key one after the other:

    sizes [2, 0, 1]   values [a, b, c]   →   key 0 has a and b, key 1 has none, key 2 has c

Between two micro-batches a bucket is stored as bytes:

    length of the header | header, JSON | arrays, one after the other | keys | rows, Arrow streams

The header names the query that wrote it, so the state of another query is rejected rather than
misread. It also says what the columns and bits of the rows mean, because another set of rules over
the same events has other ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.compile.rule_set import Version
from matchrec.errors.streams import checkpoint_of_other_query
from matchrec.search.partitions import IntArray, find_group_starts, list_positions
from matchrec.spark.pandas_encoding import PandasEncoding
from matchrec.worker import wire
from matchrec.worker.arrays import encode_equal, number_rows, read_flags, read_integers, take_column
from matchrec.worker.shared_rows import select_rows_of_version
from matchrec.worker.sorting.order import find_order
from matchrec.worker.wire import SortColumn, Sorting

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]

# What is stored between two micro-batches.


FORMAT = 5  # increased whenever bytes that were stored before would be misread
LENGTH = 4  # the number of bytes that hold the length of the header


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """What the columns and bits of a bucket's rows mean."""

    columns: Mapping[str, str]  # the SQL of each column, by its name
    bits: tuple[str, ...]  # the SQL of each row condition, in the order of their bits


@dataclass(frozen=True, slots=True)
class Memory:
    """A bucket between two micro-batches."""

    # The watermark up to which rows have been put in order, in microseconds. None at the beginning.
    passed: int | None
    # The arrays of the state of the searches, and how many rows are kept of each key.
    arrays: Arrays
    # The keys that have any state, a row for each.
    keys: pa.Table
    # The rows that the searches still need, key after key, then the rows that wait.
    rows: pa.Table
    column_map: ColumnMap
    # The rules as they were for these rows, by what identifies their searches.
    versions: Mapping[str, Version]


def write_memory(memory: Memory, query: str) -> bytes:
    """Write a memory as bytes.

    Args:
        memory: the memory.
        query: a digest of the query that it belongs to.
    """
    arrays = {name: np.ascontiguousarray(array) for name, array in memory.arrays.items()}
    header = {
        "format": FORMAT,
        "query": query,
        "passed": memory.passed,
        "columns": memory.column_map.columns,
        "bits": memory.column_map.bits,
        "versions": {name: astuple(version) for name, version in memory.versions.items()},
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    text = json.dumps(header).encode()
    out = BytesIO()
    out.write(len(text).to_bytes(LENGTH, "little") + text)
    for array in arrays.values():
        out.write(array.tobytes())
    for table in (memory.keys, memory.rows):
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()


def read_memory(data: bytes, query: str) -> Memory:
    """Read a memory from bytes.

    Args:
        data: what `write_memory` has returned.
        query: a digest of the query that reads it.

    Raises:
        MatchRecognizeRunError: another query wrote it, or another version of matchrec.
    """
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    header: Mapping[str, Any] = json.loads(data[LENGTH:begin])
    if (header["format"], header["query"]) != (FORMAT, query):
        raise checkpoint_of_other_query()
    arrays: dict[str, Array] = {}
    for name, kind, shape in header["arrays"]:
        view = np.frombuffer(data, np.dtype(kind), int(np.prod(shape)), begin).reshape(shape)
        arrays[name] = view.copy()  # the bytes cannot be written to
        begin += view.nbytes
    source = pa.BufferReader(pa.py_buffer(data).slice(begin))
    keys = pa.ipc.open_stream(source).read_all()
    rows = pa.ipc.open_stream(source).read_all()
    return Memory(
        passed=header["passed"],
        arrays=arrays,
        keys=keys,
        rows=rows,
        column_map=ColumnMap(header["columns"], tuple(header["bits"])),
        versions={name: Version(*fields) for name, fields in header["versions"].items()},
    )


# Values of many keys.


@dataclass(frozen=True, slots=True)
class ByKey:
    """Values of k keys in one array."""

    values: Array  # any[n, ...], key after key
    sizes: IntArray  # int64[k], how many values each key has

    @staticmethod
    def from_single_values(values: Array) -> ByKey:
        """Return values with one value for each key."""
        return ByKey(values, np.ones(len(values), np.int64))

    @staticmethod
    def concatenate(parts: Sequence[Array]) -> ByKey:
        """Return the values of one or more keys, which are given as an array for each key."""
        return ByKey(np.concatenate(parts), np.array([len(part) for part in parts], np.int64))

    def take(self, keys: IntArray) -> ByKey:
        """Return the values of some keys, in the order of `keys`. A key may be taken twice."""
        indices = list_positions(find_group_starts(self.sizes)[keys], self.sizes[keys])
        return ByKey(self.values[indices], self.sizes[keys])

    def append(self, others: ByKey) -> ByKey:
        """Return the values of these keys, then the values of other keys."""
        values = np.concatenate([self.values, others.values])
        return ByKey(values, np.concatenate([self.sizes, others.sizes]))

    def split(self) -> list[Array]:
        """Return an array for each key. There must be a key."""
        return np.split(self.values, np.cumsum(self.sizes)[:-1])


# What a search needs of some keys, by the names of its states. All states have the same keys.
KeyStates = Mapping[str, ByKey]


def take_states(states: KeyStates, keys: IntArray) -> KeyStates:
    """Return the states of some keys, see `ByKey.take`."""
    return {name: state.take(keys) for name, state in states.items()}


def join_states(states: KeyStates, others: KeyStates) -> KeyStates:
    """Return the states of some keys, then the states of other keys."""
    return {name: state.append(others[name]) for name, state in states.items()}


# What arrives.


@dataclass(frozen=True, slots=True)
class Arriving:
    """What the events are that arrive in each bucket, and their order. Picklable."""

    encoding: PandasEncoding
    schema: pa.Schema
    # The columns of the partition keys.
    keys: tuple[str, ...]
    # The order within a partition, after the time.
    orders: tuple[SortColumn, ...]
    column_map: ColumnMap

    def make_empty_memory(self) -> Memory:
        """Return the memory of a bucket that has had no events."""
        rows = self.schema.empty_table()
        return Memory(None, {}, rows.select(self.keys), rows, self.column_map, {})

    def describe_columns(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return the SQL and the type of each column, for a digest of the query."""
        texts = self.column_map.columns
        return [(texts[name], str(self.schema.field(name).type)) for name in names]

    @property
    def partitions(self) -> tuple[object, ...]:
        """The definition of partitions and their order, for a digest of the query.

        The names of columns do not matter.
        """
        orders = [(order.descending, order.nulls_first) for order in self.orders]
        sorted_by = self.describe_columns(order.name for order in self.orders)
        return self.describe_columns(self.keys), sorted_by, orders

    def convert_memory(self, memory: Memory) -> Memory:
        """Return a memory with the columns and bits of the rows that arrive now.

        They differ after the rules of a set have changed. The rows of the memory get NULL for a
        column that they do not have, and false for a condition.
        """
        if memory.column_map == self.column_map:
            return memory
        rows = memory.rows
        old_names = {text: name for name, text in memory.column_map.columns.items()}
        old_bits = {text: bit for bit, text in enumerate(memory.column_map.bits)}
        packed_count = wire.count_bit_columns(len(self.column_map.bits))
        packed_index = {wire.name_bits(index): index for index in range(packed_count)}
        arrays = []
        for field in self.schema:
            text = self.column_map.columns.get(field.name, field.name)
            old_name = old_names.get(text)
            if field.name in packed_index:
                packed = self.repack_bits(rows, old_bits, packed_index[field.name])
                arrays.append(packed.cast(field.type))
            elif old_name is not None and rows.schema.field(old_name).type == field.type:
                arrays.append(take_column(rows, old_name))
            else:
                arrays.append(pa.nulls(rows.num_rows, field.type))
        return replace(memory, rows=pa.table(arrays, self.schema), column_map=self.column_map)

    def repack_bits(self, rows: pa.Table, old_bits: Mapping[str, int], index: int) -> pa.Array:
        """Return a column of bits for rows that were stored with other bits.

        Args:
            rows: the rows.
            old_bits: the bits of the conditions that the rows have, by their SQL.
            index: the index of the column among the columns of bits.
        """
        packed = np.zeros(rows.num_rows, np.int64)
        size = wire.count_bits_per_column()
        first_condition = index * size - 1  # the first bit of all is not that of a condition
        for condition, text in enumerate(self.column_map.bits):
            bit = condition - first_condition
            if 0 <= bit < size and text in old_bits:
                packed |= read_flags(rows, old_bits[text]) << bit
        return pa.array(packed)


@dataclass(frozen=True, slots=True)
class SearchRows:
    """The rows of p keys that a search looks at, key after key.

    The rows that it has kept of a key come before the new ones.
    """

    rows: pa.Table
    # int64[p + 1], where the rows of each key start, then the number of rows.
    starts: IntArray
    # int64[p], how many of the rows of each key, its last ones, are new to the search.
    new_counts: IntArray
    # int64[n], the index of each row among all rows of the bucket.
    indices: IntArray
    # In microseconds.
    watermark: int

    @property
    def sizes(self) -> IntArray:
        """int64[p], how many rows each key has."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class ArrivedRows:
    """The rows of a bucket in one micro-batch, with those that are kept from before."""

    # The keys that had any state, then those that are new; k in all.
    keys: pa.Table
    # The rows that searches need from before, key after key; then the new rows that the watermark
    # has passed, key after key and in order.
    rows: pa.Table
    # int64[k], how many rows from before, and how many new rows, each key has.
    kept: IntArray
    new: IntArray
    # The rows that the watermark has not passed.
    later: pa.Table
    # The watermark up to which rows have been put in order, in microseconds.
    passed: int

    def find_new_rows(self, version: Version) -> ByKey:
        """Return the new rows of each key that a version of a rule sees, as indices of `rows`."""
        first_new = int(self.kept.sum())
        count = int(self.new.sum())
        indices = np.arange(first_new, first_new + count)
        if version.covers_all_time:
            return ByKey(indices, self.new)
        has_time = np.ones(count, np.bool_)
        is_of_version = select_rows_of_version(
            version, read_times(self.rows.slice(first_new)), has_time
        )
        key = np.repeat(np.arange(len(self.new)), self.new)[is_of_version]
        sizes = np.bincount(key, minlength=len(self.new)).astype(np.int64)
        return ByKey(indices[is_of_version], sizes)

    def select(self, kept: ByKey, new: ByKey, watermark: int) -> SearchRows:
        """Return the rows of some keys for a search.

        Args:
            kept: for each key, the rows that the search has kept, as indices of `rows`.
            new: for each key, the rows that are new to the search, likewise.
            watermark: in microseconds.
        """
        indices = np.append(kept.values, new.values)
        keys = np.arange(len(kept.sizes))
        key = np.append(np.repeat(keys, kept.sizes), np.repeat(keys, new.sizes))
        indices = indices[np.argsort(key, kind="stable")]
        rows = self.rows.take(pa.array(indices)).combine_chunks()
        starts = find_group_starts(kept.sizes + new.sizes)
        return SearchRows(rows, starts, new.sizes, indices, watermark)


def arrange(
    memory: Memory, new: Iterable[pa.RecordBatch], arriving: Arriving, watermark: int
) -> ArrivedRows:
    """Put the events of a bucket in order that the watermark has passed.

    Args:
        memory: the bucket after the last micro-batch.
        new: the new events.
        arriving: what they are.
        watermark: in microseconds.
    """
    kept = memory.arrays.get("rows", np.zeros(0, np.int64))  # the number of kept rows of each key
    kept_count = int(kept.sum())
    fresh = pa.Table.from_batches(list(new), arriving.schema)
    if memory.passed is not None:  # Spark itself drops late rows, and counts them
        fresh = fresh.filter(pa.array(read_times(fresh) > memory.passed))
    waiting = pa.concat_tables([memory.rows.slice(kept_count), fresh]).combine_chunks()
    is_passed = read_times(waiting) <= watermark
    passed_rows = waiting.filter(pa.array(is_passed)).combine_chunks()

    key_rows = pa.concat_tables([memory.keys, passed_rows.select(arriving.keys)]).combine_chunks()
    codes = [encode_equal(take_column(key_rows, name)) for name in arriving.keys]
    key, first_rows = number_rows(codes)
    key = key[memory.keys.num_rows :]  # of each passed row
    key_count = len(first_rows)
    passed_rows = sort_rows(passed_rows, arriving.orders, key)
    return ArrivedRows(
        keys=key_rows.take(pa.array(first_rows)).combine_chunks(),
        rows=pa.concat_tables([memory.rows.slice(0, kept_count), passed_rows]).combine_chunks(),
        kept=np.append(kept, np.zeros(key_count - len(kept), np.int64)),
        new=np.bincount(key, minlength=key_count).astype(np.int64),
        later=waiting.filter(pa.array(~is_passed)),
        passed=watermark if memory.passed is None else max(memory.passed, watermark),
    )


def read_times(rows: pa.Table) -> IntArray:
    """Return the time of each row, in microseconds."""
    return read_integers(take_column(rows, wire.EVENT_MICROSECONDS))


def sort_rows(rows: pa.Table, orders: tuple[SortColumn, ...], key: IntArray) -> pa.Table:
    """Sort rows by their key, by time, by further columns, then by arrival.

    Args:
        rows: the rows.
        orders: the further columns.
        key: int64[n], the number of the key of each row.
    """
    if not rows.num_rows:
        return rows
    time = SortColumn(wire.EVENT_MICROSECONDS, descending=False, nulls_first=True)
    sorting = Sorting((wire.ROW_NUMBER,), (time, *orders))
    order = find_order(rows.append_column(wire.ROW_NUMBER, pa.array(key)), sorting).row_numbers
    return rows if order is None else rows.take(pa.array(order)).combine_chunks()
