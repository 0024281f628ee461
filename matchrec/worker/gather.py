"""Reads → Arrow columns: positions become values by `take`, so a value of any type passes as is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from matchrec import memory
from matchrec.compile.executable import Executable
from matchrec.conditions.row_column import show_column
from matchrec.errors.calls import total_too_large
from matchrec.errors.run import failures
from matchrec.loading import makes_queries
from matchrec.output.aggregates import (
    AggregateReader,
    adds_whole_numbers,
    last_seen,
    links_of,
    never_wraps,
    sum_values,
)
from matchrec.output.measures import Reader
from matchrec.output.reads import (
    PointerField,
    Read,
    ReadAccumulated,
    ReadAt,
    ReadBasicAggregate,
    ReadClassifierAt,
    ReadIsMatched,
    ReadKind,
    ReadList,
    ReadMatchedRows,
    ReadMatchNumber,
    ReadNothing,
    ReadPointer,
    ReadPosition,
    ReadRow,
    ReadRowsForSpark,
    ReadTotal,
    RowList,
    read_from_chains,
)
from matchrec.plan.expression import Navigation, Semantics
from matchrec.search.interface import Task, Total
from matchrec.search.kernels import totals
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray, at
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import arrow_of, column, doubles_of, offsets_of, validity
from matchrec.worker.encode import values_of

SUMS = ("sum", "avg")
LIMIT = 10**38  # the first number of more digits than a decimal has
SURELY_A_BIGINT = 9.2e18
SURELY_MORE = 1.2e38  # beyond it whatever a sum of doubles has lost; a wrapped sum is beyond 2.4e38

BYTES_A_BATCH = 128 << 20
MOST_BYTES = (1 << 31) - 2 * BYTES_A_BATCH  # of a row; Arrow's places in a column have 31 bits
ROWS_TOGETHER, TIMES_TOGETHER = 1 << 13, 5  # that Sail makes one batch of, and copies of these


def always_fit(values: pa.Array) -> bool:
    """Whether every sum of some of the values has at most 38 digits."""
    if values.type.precision <= 28 or not len(values):
        return True
    high = arrays.decimal_words(values)[:, 1]
    return len(values) * (max(int(high.max()), -int(high.min())) + 1) << 64 < LIMIT


def too_large(words: IntArray, roughly: FloatArray, scale: int, limit: int = LIMIT) -> BoolArray:
    """bool[n], sums that are not less than a limit, with or without their sign. words: int64[n, 2],
    of the sums, which may have wrapped. roughly: the same sums of doubles.
    """
    low, high = words[:, 0].view(np.uint64), words[:, 1]
    most, least = divmod(limit, 2**64), divmod(-limit, 2**64)
    over = (high > most[0]) | ((high == most[0]) & (low >= np.uint64(most[1])))
    under = (high < least[0]) | ((high == least[0]) & (low <= np.uint64(least[1])))
    wrapped = ~(np.abs(roughly) * 10.0**scale <= SURELY_MORE)  # or it is no number
    return np.asarray(over | under | wrapped, np.bool_)


def summed(kind: pa.DataType) -> pa.DataType:
    return pa.decimal128(min(38, kind.precision + 10), kind.scale)


def decimals(words: IntArray, absent: BoolArray, kind: pa.DataType) -> pa.Array:
    data = pa.py_buffer(np.ascontiguousarray(words).tobytes())
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little").tobytes())
    widest = pa.decimal128(38, kind.scale)
    return pa.Array.from_buffers(widest, len(words), [valid, data]).cast(kind)


def chain_matches(executable: Executable, table: pa.Table, starts: IntArray) -> Task:
    """Return the task, with matches that share their rows if that is enough to answer all reads.

    Args:
        executable: the compiled query.
        table: the rows that are searched.
        starts: int64[p + 1], where each partition starts, then the number of rows.
    """
    task, reads = executable.task, executable.reads
    if not (task.shares_rows and read_from_chains(reads, executable.rows_per_match)):
        return task
    exact = all(
        adds_exactly(read, column(table, wire.column(read.column)), starts, ansi=executable.ansi)
        for read in reads
        if isinstance(read, ReadBasicAggregate) and read.function in SUMS
        if read.column is not None
    )
    return replace(task, chained=exact)


def adds_exactly(
    read: ReadBasicAggregate, values: pa.Array, starts: IntArray, *, ansi: bool
) -> bool:
    """Return whether a sum or an average does not depend on the order in which values are added.

    Spark adds integers as DOUBLE for an average, as BIGINT for a sum.
    """
    if pa.types.is_decimal(values.type):
        return always_fit(values)
    if pa.types.is_floating(values.type):
        return adds_whole_numbers(arrays.as_floats(values), starts)
    integers = arrays.as_integers(values)
    if read.function == "avg":
        return adds_whole_numbers(integers.astype(np.float64), starts)
    return not ansi or never_wraps(integers)


def list_of_structs(offsets: IntArray, values: list[pa.Array], names: Sequence[str]) -> pa.Array:
    """An array of structs for each output row. offsets: where each begins."""
    return pa.ListArray.from_arrays(offsets_of(offsets), pa.StructArray.from_arrays(values, names))


@dataclass(frozen=True)
class Gatherer:
    """Fills the reads of an executable for output rows over one table. known: what is filled.
    found: where navigations lead, as indices for `take`.
    """

    executable: Executable
    table: pa.Table
    reader: Reader
    known: Mapping[Read, pa.Array] = field(default_factory=dict)
    found: dict[Navigation, pa.Array] = field(default_factory=dict)

    def divide(self, events: Collection[int] = ()) -> Iterator[Gatherer]:
        """Gatherers for some output rows each, so that batches are of about BYTES_A_BATCH at most.
        events: columns of which each output row, one for each match, has those of all rows of the
        match besides. None where there are no rows. Raises RunFailure.
        """
        matches, rows = self.reader.matches, self.reader.rows
        if not rows.count:
            return
        not_of_rows = matches.totals is not None or matches.pointers is not None
        most = self.longest() * rows.count + self.most_of(events) * len(matches.classifiers)
        if not_of_rows or most <= BYTES_A_BATCH:
            yield self
            return
        sizes = self.sizes()
        if events:
            sizes += self.sizes_of_lists(RowList(None, tuple(events), Semantics.FINAL))
        largest = int(np.argmax(sizes))
        row, size = int(rows.row[largest]), int(sizes[largest])
        if size > MOST_BYTES:
            fields = {"mebibytes": size >> 20, "limit": MOST_BYTES >> 20}
            raise RunFailure(failures.row_too_large, row, fields)
        if makes_queries.is_set():
            together = TIMES_TOGETHER * int(np.sort(sizes)[-ROWS_TOGETHER:].sum())
            if not memory.has_room(together):
                raise RunFailure(failures.rows_too_large, row, {"mebibytes": together >> 20})
        narrow = [read for read in self.executable.reads if not self.is_wide(read)]
        known = {read: self.column(read) for read in narrow}
        begins = np.flatnonzero(np.diff(np.cumsum(sizes) // BYTES_A_BATCH, prepend=0))
        for begin, end in pairwise(np.unique([0, *begins, len(sizes)]).tolist()):
            own = {read: values.slice(begin, end - begin) for read, values in known.items()}
            yield replace(self, reader=self.reader.between(begin, end), known=own, found={})

    def is_wide(self, read: Read) -> bool:
        """Whether the values of a read differ in their bytes."""
        if read.row_list is not None:
            return True
        place = read.value_column
        return place is not None and not isinstance(arrays.sizes_of(self.values(place)), int)

    def longest(self) -> float:
        """About how many bytes an output row takes at most; infinite where there are lists."""
        reads = self.executable.reads
        if any(read.row_list is not None for read in reads):
            return inf
        columns = [read.value_column for read in reads]
        of_values = self.most_of(place for place in columns if place is not None)
        return arrays.BYTES_OF_A_NUMBER * len(reads) + of_values

    def most_of(self, places: Iterable[int]) -> int:
        """About how many bytes a value of each of some columns takes together at most."""
        return sum(int(np.max(arrays.sizes_of(self.values(place)), initial=0)) for place in places)

    def sizes(self) -> IntArray:
        """int64[r], about how many bytes each output row takes."""
        reader, reads = self.reader, self.executable.reads
        sizes = np.full(reader.rows.count, arrays.BYTES_OF_A_NUMBER * len(reads), np.int64)
        for read in reads:
            if isinstance(read, ReadRow):
                sizes += self.sizes_at(read.column, reader.rows.row)
            elif isinstance(read, ReadAt):
                sizes += self.sizes_at(read.column, reader.positions(read.navigation))
            elif read.row_list is not None:
                sizes += self.sizes_of_lists(read.row_list)
            elif read.value_column is not None:
                sizes += int(np.mean(arrays.sizes_of(self.values(read.value_column))))
        return sizes

    def sizes_at(self, place: int, positions: IntArray) -> IntArray:
        """int64[p], about how many bytes the values of a column at row positions take."""
        sizes = arrays.sizes_of(self.values(place))
        return np.where(positions < 0, 0, sizes if isinstance(sizes, int) else sizes[positions])

    def sizes_of_lists(self, row_list: RowList) -> IntArray:
        """int64[r], about how many bytes the array of rows of each output row takes."""
        reader = self.reader
        rows = reader.matches.mapped_rows
        sizes = np.full(len(rows), arrays.BYTES_OF_A_NUMBER, np.int64)
        for place in row_list.columns:
            sizes += self.sizes_at(place, rows)
        return reader.add_up(sizes * reader.mask(row_list.variable), row_list.semantics)

    def batch(self) -> pa.RecordBatch:
        """The reads of the output rows."""
        columns = [self.column(read) for read in self.executable.reads]
        assert columns, "a batch without columns loses its rows"
        return pa.RecordBatch.from_arrays(columns, wire.names_of(self.executable))

    def column(self, read: Read) -> pa.Array:
        """Return the values of a read on all output rows."""
        if read in self.known:
            return self.known[read]
        return FILL[type(read)](self, read)

    def find(self, navigation: Navigation) -> pa.Array:
        """The row positions to which a navigation leads, NULL where it leads to none."""
        if navigation not in self.found:
            positions = self.reader.positions(navigation)
            self.found[navigation] = arrow_of(positions, positions < 0)
        return self.found[navigation]

    def take_values(self, place: int, positions: IntArray) -> pa.Array:
        """Take the values of a column at row positions, NULL at -1."""
        return self.values(place).take(arrow_of(positions, positions < 0))

    def values(self, place: int) -> pa.Array:
        return column(self.table, wire.column(place))

    def collect_rows(self, read: ReadList) -> pa.Array:
        """For each output row the array of a variable's values that are not NULL."""
        reader, rows = self.reader, self.reader.matches.mapped_rows
        counted = reader.mask(read.variable) & validity(self.values(read.column))[rows]
        index, offsets = reader.collect(counted, read.semantics)
        values = self.take_values(read.column, rows[index])
        return pa.ListArray.from_arrays(offsets_of(offsets), values)

    def accumulate(self, read: ReadAccumulated) -> pa.Array:
        """The aggregate of the rows that each output row sees, added up from row to row."""
        from matchrec.conditions.accumulators import AGGREGATES  # few queries need it

        begin = partial(AGGREGATES[read.function].begin_rows, read.use)
        rows, links = self.reader.matches.mapped_rows, links_of(self.reader.matches)
        counted = self.reader.mask(read.variable)
        if read.condition is not None:
            counted &= arrays.as_integers(self.values(read.condition)).astype(np.bool_)[rows]
        index = last_seen(self.reader, read.semantics)
        wanted = np.zeros(len(rows), np.bool_)
        wanted[index[index >= 0]] = True
        arguments = [self.take_values(place, rows[counted]) for place in read.columns]
        values, found = zip(*map(values_of, arguments), strict=True), [begin().result()]
        accumulator = begin()
        marks = ((links < 0).tolist(), counted.tolist(), wanted.tolist())
        for starts, counts, asks in zip(*marks, strict=True):
            if starts:
                accumulator = begin()
            if counts:
                accumulator.add(*next(values))
            if asks:
                found.append(accumulator.result())
        kind = pa.int64() if read.function == "count" else pa.float64()
        kind = kind if read.value_column is None else self.values(read.value_column).type
        places = np.append(0, np.cumsum(wanted))[index + 1]
        return arrays.array_of(found, kind).take(arrow_of(places))

    def match(self, read: ReadMatchedRows) -> pa.Array:
        """For each output row the rows of its match that come out, each with its classifier."""
        matches, reader = self.reader.matches, self.reader
        shown = reader.mask(read.variable) & ~matches.excluded
        index, offsets = reader.collect(shown, Semantics.FINAL)
        rows, variables = self.of_mapped(index, [read.column])
        names = [one.name for one in rows.type]
        return list_of_structs(offsets, [*rows.flatten()[:-1], variables], names)

    def matched_rows(self, read: ReadRowsForSpark) -> pa.Array:
        """For each output row all rows of its match, an array of structs; empty without rows."""
        index, offsets = self.reader.collect(self.reader.mask(None), Semantics.FINAL)
        values = self.of_mapped(index, read.columns)
        values.append(arrow_of(self.reader.positions_in_match()[index]))
        return list_of_structs(offsets, values, read.names)

    def of_mapped(self, index: IntArray, places: Iterable[int]) -> list[pa.Array]:
        """The values of columns on mapped rows, then the names of their variables."""
        matches = self.reader.matches
        rows, variables = matches.mapped_rows[index], matches.classifiers[index]
        values = [self.take_values(place, rows) for place in places]
        return [*values, self.name_variables(variables.astype(np.int64))]

    def pointer(self, read: ReadPointer) -> pa.Array:
        matches, starts = self.reader.matches, self.reader.partitions.starts
        pointers, rows = matches.pointers, self.reader.matches.mapped_rows
        assert pointers is not None
        position = rows - starts[matches.partition] + 1
        before, none = pointers.before, pointers.before < 0
        match read.field:
            case PointerField.ROW:
                return arrow_of(position)
            case PointerField.PREVIOUS_ROW:
                return arrow_of(position[before], none)
            case PointerField.PREVIOUS_STATE:
                states = matches.classifiers[before].astype(np.int64)
                return self.name_variables(np.where(none, -1, states))
            case PointerField.COMPLETES:
                return arrow_of(pointers.completes)
            case PointerField.VERSION:
                offsets = offsets_of(pointers.offsets)
                return pa.ListArray.from_arrays(offsets, arrow_of(pointers.digits))

    def total(self, read: ReadTotal) -> pa.Array:
        """An aggregate over all matches of a group, each of which is an output row. Raises
        RunFailure where it is too large for its type.
        """
        words, task = self.reader.matches.totals, self.executable.task
        assert words is not None
        assert task.totals is not None
        place = [one for one in self.executable.reads if isinstance(one, ReadTotal)].index(read)
        total, begin = task.totals.asked[place], totals.NUMBER + place * totals.OF_A_TOTAL
        known, value = (words[:, begin + part :] for part in (totals.KNOWN, totals.VALUE))
        absent = known[:, 2] == 0
        if total.over == "count":
            number, absent = (words if read.of is None else known), np.zeros(len(words), np.bool_)
            return self.added(read, total, number, absent)
        if total.over == "sum":
            return self.added(read, total, value, absent)
        if total.inside in ("count", "sum"):
            return self.extreme(value, absent, floats=total.floats)
        assert read.of is not None
        assert read.of.column is not None
        return self.take_values(read.of.column, np.where(absent, -1, value[:, totals.ROW]))

    def added(self, read: ReadTotal, total: Total, words: IntArray, absent: BoolArray) -> pa.Array:
        """A count or a sum over all matches, NULL where `absent`. Raises RunFailure."""
        numbers, roughly = np.ascontiguousarray(words[:, :2]), doubles_of(words[:, 2])
        if total.floats or read.asked.is_double:
            doubles, lost = self.as_doubles(total, numbers, roughly)
            self.refuse_lost(read, lost & ~absent, "DOUBLE")
            return arrow_of(doubles, absent)
        kind = self.type_added(read, total)
        if pa.types.is_decimal(kind):
            lost = too_large(numbers, roughly, 0, 10**kind.precision)
            self.refuse_lost(read, lost & ~absent, f"DECIMAL({kind.precision}, {kind.scale})")
            return decimals(numbers, absent, kind)
        lost = too_large(numbers, roughly, 0) | (numbers[:, 1] != numbers[:, 0] >> 63)
        self.refuse_lost(read, lost & ~absent, "BIGINT")
        return arrow_of(numbers[:, 0], absent)

    def as_doubles(
        self, total: Total, numbers: IntArray, roughly: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Numbers of 128 bits as doubles, and which of them are not known."""
        if total.floats:
            assert self.reader.matches.totals is not None
            return roughly, np.isinf(doubles_of(self.reader.matches.totals[:, 2]))
        low, high, wrapped = numbers[:, 0], numbers[:, 1], ~(roughly <= SURELY_MORE)
        large = high * 2.0**64 + low.view(np.uint64)
        exact = np.where(high == low >> 63, low.astype(np.float64), large)
        if "count" in (total.over, total.inside):  # of which none is negative
            return np.where(wrapped, roughly, exact), np.isinf(roughly)
        return exact, wrapped

    def type_added(self, read: ReadTotal, total: Total) -> pa.DataType:
        """The type of a count or a sum over all matches that is exact."""
        kind = pa.int64()
        if total.over == "sum" and total.inside != "count":
            assert read.of is not None
            assert read.of.column is not None
            kind = self.values(read.of.column).type
        is_decimal = pa.types.is_decimal(kind)
        if read.asked.cast is not None:
            return pa.decimal128(38, kind.scale if is_decimal else 0)
        if not is_decimal:
            return pa.int64()
        return summed(summed(kind)) if total.inside == "sum" else summed(kind)

    def refuse_lost(self, read: ReadTotal, lost: BoolArray, type_name: str) -> None:
        """Raises RunFailure for the first group of which a number is too large."""
        if lost.any():
            row = int(self.reader.rows.row[int(np.flatnonzero(lost)[0])])
            columns = [show_column(one) for one in self.executable.crossing.columns]
            fields = {"type_name": type_name, "asked": read.show(columns)}
            raise RunFailure(total_too_large, row, fields)

    def extreme(self, words: IntArray, absent: BoolArray, *, floats: bool) -> pa.Array:
        """The least or greatest count or sum of a match. Raises RunFailure."""
        if floats:
            return arrow_of(doubles_of(words[:, 0]), absent)
        lost = np.flatnonzero((doubles_of(words[:, 2]) > SURELY_A_BIGINT) & ~absent)
        if len(lost):
            row = int(self.reader.rows.row[lost[0]])
            raise RunFailure(failures.sum_too_large, row, {"type_name": "BIGINT"})
        return arrow_of(words[:, 0], absent)

    def name_variables(self, variables: IntArray) -> pa.Array:
        """Name the variables of these ids, NULL for -1."""
        names = pa.array(self.executable.task.variables, pa.string())
        return names.take(arrow_of(variables, variables < 0))

    def aggregate(self, read: ReadBasicAggregate) -> pa.Array:
        values = None if read.column is None else self.values(read.column)
        valid = np.ones(self.table.num_rows, np.bool_) if values is None else validity(values)
        aggregates = AggregateReader(self.reader, read.variable, valid)
        return Aggregation(aggregates, values, self.executable.ansi).of(read)


def fill_classifiers(gatherer: Gatherer, read: ReadClassifierAt) -> pa.Array:
    return gatherer.name_variables(gatherer.reader.classifiers(read.navigation))


def fill_match_numbers(gatherer: Gatherer, _: ReadMatchNumber) -> pa.Array:
    numbers = gatherer.reader.match_numbers()
    return arrow_of(numbers, numbers < 0)


def fill_kinds(gatherer: Gatherer, _: ReadKind) -> pa.Array:
    reader = gatherer.reader
    assert reader.matches.kind is not None
    return arrow_of(reader.matches.kind[reader.rows.match])


# What fills the columns of each class of reads, on all output rows.
FILL: Mapping[type[Read], Callable[[Gatherer, Any], pa.Array]] = {
    ReadRow: lambda gatherer, read: gatherer.take_values(read.column, gatherer.reader.rows.row),
    ReadAt: lambda gatherer, read: gatherer.values(read.column).take(
        gatherer.find(read.navigation)
    ),
    ReadClassifierAt: fill_classifiers,
    ReadRowsForSpark: Gatherer.matched_rows,
    ReadMatchNumber: fill_match_numbers,
    ReadPosition: lambda gatherer, _: arrow_of(gatherer.reader.current_positions()),
    ReadIsMatched: lambda gatherer, _: arrow_of(gatherer.reader.rows.match >= 0),
    ReadKind: fill_kinds,
    ReadNothing: lambda gatherer, _: arrow_of(np.ones(gatherer.reader.rows.count, np.bool_)),
    ReadPointer: Gatherer.pointer,
    ReadBasicAggregate: Gatherer.aggregate,
    ReadList: Gatherer.collect_rows,
    ReadMatchedRows: Gatherer.match,
    ReadAccumulated: Gatherer.accumulate,
    ReadTotal: Gatherer.total,
}


@dataclass(frozen=True)
class Aggregation:
    """One aggregate on all output rows. values: of its column, None of a count of rows."""

    aggregates: AggregateReader
    values: pa.Array
    ansi: bool

    def of(self, read: ReadBasicAggregate) -> pa.Array:
        """The values, NULL of no rows."""
        counts = self.aggregates.counts(read.semantics)
        index = last_seen(self.aggregates.reader, read.semantics)
        match read.function:
            case "count":
                return arrow_of(counts)
            case "sum":
                return self.sums(index, counts == 0)
            case "avg":
                sums = at(self.float_sums(), index, 0)
                return arrow_of(sums / np.maximum(counts, 1), counts == 0)
            case function:
                keys = arrays.sort_keys(self.values)
                rows = at(self.aggregates.extremes(keys, greatest=function == "max"), index, -1)
                return self.values.take(arrow_of(rows, rows < 0))

    def sums(self, index: IntArray, absent: BoolArray) -> pa.Array:
        kind = self.values.type
        if pa.types.is_decimal(kind):
            return self.decimal_sums(index, absent)
        if pa.types.is_floating(kind):
            return arrow_of(at(self.float_sums(), index, 0), absent)
        sums = self.aggregates.integer_sums(arrays.as_integers(self.values), ansi=self.ansi)
        return arrow_of(at(sums, index, 0), absent)

    def decimal_sums(self, index: IntArray, absent: BoolArray) -> pa.Array:
        """A sum of more than 38 digits is NULL, or an error: as Spark has it."""
        kind = self.values.type
        total = summed(kind)
        words = at(self.aggregates.decimal_sums(arrays.decimal_words(self.values)), index, 0)
        if always_fit(self.values):
            return decimals(words, absent, total)
        lost = too_large(words, at(self.float_sums(), index, 0), kind.scale) & ~absent
        if self.ansi and lost.any():
            row = int(self.aggregates.rows[index[np.flatnonzero(lost)[0]]])
            fields = {"type_name": f"DECIMAL(38, {kind.scale})"}
            raise RunFailure(failures.sum_too_large, row, fields)
        return decimals(words, absent | lost, total)

    def float_sums(self) -> FloatArray:
        """By mapped row, added up in the order of the rows."""
        values, aggregates = self.values, self.aggregates
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        return sum_values(arrays.as_floats(values), aggregates.counted, aggregates.links)
