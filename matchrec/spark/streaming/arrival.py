"""Events of a bucket of keys as they come: first in order, as far as the watermark has passed.

What is known of many keys is held in flat arrays, the values of each key one after the other:

    sizes [2, 0, 1]   values [a, b, c]   ->   key 0 has a and b, key 1 nothing, key 2 has c

What is stored of a bucket between two micro-batches are bytes:

    length of the header | header, JSON | arrays, one after the other | keys | rows, Arrow streams

The header names what wrote it: the state of another query is refused, not misread. It says what the
columns and bits of the rows mean, as another set of rules has other ones.
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
from matchrec.errors.streams import state_of_another_query
from matchrec.search.partitions import IntArray, ranges, starts_of
from matchrec.spark.transport import PandasEncoding
from matchrec.worker import wire
from matchrec.worker.arrays import as_integers, codes_of, column, flags_of, number_equal
from matchrec.worker.rule_set import rows_of_version
from matchrec.worker.sorting.order import order_of
from matchrec.worker.wire import SortColumn, Sorting

FORMAT = 5
LENGTH = 4  # bytes of the length of the header

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """What the columns of a bucket's rows are, as SQL, by their names; and their bits, in order."""

    columns: Mapping[str, str]
    bits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A bucket between two micro-batches.

    passed: the watermark up to which rows have been put in order, in microseconds, or None. arrays:
    the state of the searches, by name. keys: those that have any, a row each. rows: those that the
    searches still need, key after key, then those that wait. versions: of the rules that it has
    been searched for, with the names of messages, by what tells their searches apart.
    """

    passed: int | None
    arrays: Arrays
    keys: pa.Table
    rows: pa.Table
    column_map: ColumnMap
    versions: Mapping[str, Version]


def dump(memory: Memory, query: str) -> bytes:
    """Write a memory as bytes. query: a digest of the query that it belongs to."""
    arrays = {name: np.ascontiguousarray(array) for name, array in memory.arrays.items()}
    header = {
        "format": FORMAT,
        "query": query,
        "passed": memory.passed,
        "columns": memory.column_map.columns,
        "bits": memory.column_map.bits,
        "versions": {name: astuple(one) for name, one in memory.versions.items()},
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    text = json.dumps(header).encode()
    out = BytesIO()
    out.write(len(text).to_bytes(LENGTH, "little") + text)
    for one in arrays.values():
        out.write(one.tobytes())
    for table in (memory.keys, memory.rows):
        with pa.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    return out.getvalue()


def load(data: bytes, query: str) -> Memory:
    """Read a memory from its bytes. Raises MatchRecognizeRunError for those of another query."""
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    header: Mapping[str, Any] = json.loads(data[LENGTH:begin])
    if (header["format"], header["query"]) != (FORMAT, query):
        raise state_of_another_query()
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, kind, shape in header["arrays"]:
        one = np.frombuffer(data, np.dtype(kind), int(np.prod(shape)), begin).reshape(shape)
        arrays[name] = one.copy()
        begin += one.nbytes
    source = pa.BufferReader(pa.py_buffer(data).slice(begin))
    tables = [pa.ipc.open_stream(source).read_all() for _ in range(2)]
    column_map = ColumnMap(header["columns"], tuple(header["bits"]))
    versions = {name: Version(*one) for name, one in header["versions"].items()}
    return Memory(header["passed"], arrays, tables[0], tables[1], column_map, versions)


Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ByKey:
    """Values of k keys. values: any[n, ...], key after key; sizes: int64[k], how many each has."""

    values: Array
    sizes: IntArray

    @staticmethod
    def one_each(values: Array) -> ByKey:
        return ByKey(values, np.ones(len(values), np.int64))

    @staticmethod
    def joined(parts: Sequence[Array]) -> ByKey:
        """Those of some keys, at least one, each in an array."""
        return ByKey(np.concatenate(parts), np.array([len(part) for part in parts], np.int64))

    def take(self, keys: IntArray) -> ByKey:
        places = ranges(starts_of(self.sizes)[keys], self.sizes[keys])
        return ByKey(self.values[places], self.sizes[keys])

    def followed_by(self, others: ByKey) -> ByKey:
        values = np.concatenate([self.values, others.values])
        return ByKey(values, np.concatenate([self.sizes, others.sizes]))

    def each(self) -> list[Array]:
        """The values of each of one or more keys in an array."""
        return np.split(self.values, np.cumsum(self.sizes)[:-1])


States = Mapping[str, ByKey]  # what searches of some keys need, by name


def take(states: States, keys: IntArray) -> States:
    return {name: state.take(keys) for name, state in states.items()}


def join(states: States, others: States) -> States:
    """The states of some keys, then those of further ones."""
    return {name: state.followed_by(others[name]) for name, state in states.items()}


@dataclass(frozen=True, slots=True)
class Arriving:
    """What events are and their order. keys: what tells partitions; orders: beside the time."""

    encoding: PandasEncoding
    schema: pa.Schema
    keys: tuple[str, ...]
    orders: tuple[SortColumn, ...]
    column_map: ColumnMap

    def nothing(self) -> Memory:
        rows = self.schema.empty_table()
        return Memory(None, {}, rows.select(self.keys), rows, self.column_map, {})

    def of_columns(self, names: Iterable[str]) -> list[tuple[str, str]]:
        return [(self.column_map.columns[one], str(self.schema.field(one).type)) for one in names]

    @property
    def partitions(self) -> tuple[object, ...]:
        """What tells partitions and their order from others, whatever the columns are called."""
        orders = [(order.descending, order.nulls_first) for order in self.orders]
        sorted_by = self.of_columns(order.name for order in self.orders)
        return self.of_columns(self.keys), sorted_by, orders

    def adopt(self, memory: Memory) -> Memory:
        """A memory with the columns and bits of these rows; NULL and false those it has not."""
        if memory.column_map == self.column_map:
            return memory
        rows, names = memory.rows, {text: one for one, text in memory.column_map.columns.items()}
        places = {text: place for place, text in enumerate(memory.column_map.bits)}
        packed = wire.bit_columns_of(len(self.column_map.bits))
        of_bits = {wire.bits(number): number for number in range(packed)}
        arrays = []
        for field in self.schema:
            before = names.get(self.column_map.columns.get(field.name, field.name))
            if field.name in of_bits:
                arrays.append(self.pack(rows, places, of_bits[field.name]).cast(field.type))
            elif before is not None and rows.schema.field(before).type == field.type:
                arrays.append(column(rows, before))
            else:
                arrays.append(pa.nulls(rows.num_rows, field.type))
        return replace(memory, rows=pa.table(arrays, self.schema), column_map=self.column_map)

    def pack(self, rows: pa.Table, places: Mapping[str, int], number: int) -> pa.Array:
        """A column of packed bits, by its number. places: of the bits that the rows have."""
        found, size = np.zeros(rows.num_rows, np.int64), wire.bits_a_column()
        begin = number * size - 1  # the first bit is of no condition
        for place, text in enumerate(self.column_map.bits):
            if begin <= place < begin + size and text in places:
                found |= flags_of(rows, places[text]) << (place - begin)
        return pa.array(found)


@dataclass(frozen=True, slots=True)
class Known:
    """Rows of some keys that a search looks at, key after key.

    starts: int64[p + 1], where those of each key start. new: int64[p], how many of each key, its
    last ones, no search has had before. places: int64[n], which of the bucket's rows they are.
    watermark: in microseconds.
    """

    rows: pa.Table
    starts: IntArray
    new: IntArray
    places: IntArray
    watermark: int

    @property
    def sizes(self) -> IntArray:
        """int64[p], how many rows each key has."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class ArrivedRows:
    """The rows of a bucket in one micro-batch.

    keys: those that had any state, then those that are new, k in all. rows: what searches need from
    before, then the new ones that the watermark has passed, key after key and in order. kept, new:
    int64[k], how many of them each key has of either. later: rows that wait. passed: see `Memory`.
    """

    keys: pa.Table
    rows: pa.Table
    kept: IntArray
    new: IntArray
    later: pa.Table
    passed: int

    def new_of(self, version: Version) -> ByKey:
        """The new rows of all keys that are a version's own: which of the rows they are."""
        first, count = int(self.kept.sum()), int(self.new.sum())
        places = np.arange(first, first + count)
        if version.covers_all_time:
            return ByKey(places, self.new)
        own = rows_of_version(version, times(self.rows.slice(first)), np.ones(count, np.bool_))
        key = np.repeat(np.arange(len(self.new)), self.new)[own]
        return ByKey(places[own], np.bincount(key, minlength=len(self.new)).astype(np.int64))

    def known(self, kept: ByKey, new: ByKey, watermark: int) -> Known:
        """Rows of some keys: those that are kept of each, and its new ones."""
        places = np.append(kept.values, new.values)
        count = np.arange(len(kept.sizes))
        key = np.concatenate([np.repeat(count, one.sizes) for one in (kept, new)])
        places = places[np.argsort(key, kind="stable")]
        rows = self.rows.take(pa.array(places)).combine_chunks()
        return Known(rows, starts_of(kept.sizes + new.sizes), new.sizes, places, watermark)


def arrange(
    memory: Memory, new: Iterable[pa.RecordBatch], arriving: Arriving, watermark: int
) -> ArrivedRows:
    """Put the new events of a bucket in order with those that wait. watermark: in microseconds."""
    kept = memory.arrays.get("rows", np.zeros(0, np.int64))  # that searches need of each key
    count = int(kept.sum())
    fresh = pa.Table.from_batches(list(new), arriving.schema)
    if memory.passed is not None:  # Spark itself drops late rows, and counts them
        fresh = fresh.filter(pa.array(times(fresh) > memory.passed))
    waiting = pa.concat_tables([memory.rows.slice(count), fresh]).combine_chunks()
    is_passed = times(waiting) <= watermark
    here = waiting.filter(pa.array(is_passed)).combine_chunks()
    both = pa.concat_tables([memory.keys, here.select(arriving.keys)]).combine_chunks()
    number, first = number_equal([codes_of(column(both, name)) for name in arriving.keys])
    number = number[memory.keys.num_rows :]
    here = in_order(here, arriving.orders, number)
    kept = np.append(kept, np.zeros(len(first) - len(kept), np.int64))
    return ArrivedRows(
        keys=both.take(pa.array(first)).combine_chunks(),
        rows=pa.concat_tables([memory.rows.slice(0, count), here]).combine_chunks(),
        kept=kept,
        new=np.bincount(number, minlength=len(first)).astype(np.int64),
        later=waiting.filter(pa.array(~is_passed)),
        passed=watermark if memory.passed is None else max(memory.passed, watermark),
    )


def times(rows: pa.Table) -> IntArray:
    """Microseconds."""
    return as_integers(column(rows, wire.MICROSECONDS))


def in_order(rows: pa.Table, orders: tuple[SortColumn, ...], key: IntArray) -> pa.Table:
    """Sort the rows by the number of their key, by time, by `orders`, then by arrival."""
    if not rows.num_rows:
        return rows
    time = SortColumn(wire.MICROSECONDS, descending=False, nulls_first=True)
    sorting = Sorting((wire.ROW_NUMBER,), (time, *orders))
    order = order_of(rows.append_column(wire.ROW_NUMBER, pa.array(key)), sorting).rows
    return rows if order is None else rows.take(pa.array(order)).combine_chunks()
