"""Fill Arrow columns with what the output reads of matches: one column for each read.

A search returns matches as row positions. Most reads are filled in two steps: find the row that
each output row reads, then `take` the values of these rows from the input. So a value of any type
is passed on as it is:

    LAST(A.price)        positions [4, -1, 9]   →   prices of rows 4 and 9, NULL between them

A `Gatherer` has the output rows and the input: it divides them into batches, and looks up values
and names. A function `fill_...` fills the column of one class of `output.reads`; `FILL` lists these
functions. If an aggregate needs several steps, the function starts a class for them: `Aggregation`
for the rows of a match, `worker.totals.TotalFiller` for all matches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec import memory
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.aggregate_table import ValueChoice, find_entry
from matchrec.conditions.run_condition import Reduction
from matchrec.errors.run import failures
from matchrec.loading import makes_queries
from matchrec.output.aggregates import AggregateReader, find_links, find_total_rows
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import (
    PointerField,
    Read,
    ReadAccumulated,
    ReadAt,
    ReadBasicAggregate,
    ReadChosenValue,
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
)
from matchrec.plan.expression import Navigation, Semantics
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, FloatArray, IntArray, take_or_default
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import find_valid, make_array, read_offsets, take_column, take_rows
from matchrec.worker.decimals import find_too_large, has_exact_sums, make_decimals, widen_for_sum
from matchrec.worker.encode import read_values
from matchrec.worker.totals import TotalFiller

# Output rows as batches.

# About how many bytes a batch has at most.
BYTES_PER_BATCH = 128 << 20
# The most bytes of one output row: offsets in an Arrow column have 31 bits.
MOST_BYTES_OF_ROW = (1 << 31) - 2 * BYTES_PER_BATCH
# Sail makes one batch of this many rows, and holds this many copies of it.
SAIL_ROWS, SAIL_COPIES = 1 << 13, 5


@dataclass(frozen=True)
class Gatherer:
    """A gatherer of the reads of a compiled query, for output rows over one table."""

    compiled_query: CompiledQuery
    table: pa.Table
    reader: MatchReader
    # Columns that are filled already.
    filled: Mapping[Read, pa.Array] = field(default_factory=dict)
    # The row positions that navigations find, as indices for `take`. Filled as they are needed.
    positions: dict[Navigation, pa.Array] = field(default_factory=dict)

    def divide(self, events: Collection[int] = ()) -> Iterator[Gatherer]:
        """Yield gatherers for consecutive output rows, so that batches are not too large.

        A batch has about BYTES_PER_BATCH at most. Without output rows there is no gatherer.

        Args:
            events: columns whose values on all rows of the match are added to each output row, of
                which there is one for each match.

        Raises:
            RunFailure: a row is too large for Arrow, or the rows of a batch are for this machine.
        """
        matches = self.reader.matches
        rows = self.reader.rows
        if not rows.count:
            return
        # rows of these stand for no input row, and are small
        are_groups_or_pointers = matches.totals is not None or matches.pointers is not None
        most_bytes = self.estimate_longest_row() * rows.count
        most_bytes += self.estimate_longest_values(events) * len(matches.classifiers)
        if are_groups_or_pointers or most_bytes <= BYTES_PER_BATCH:
            yield self
            return
        sizes = self.estimate_sizes()
        if events:
            sizes += self.estimate_list_sizes(RowList(None, tuple(events), Semantics.FINAL))
        self.check_sizes(sizes)
        # columns of fixed width are filled once for all batches, since they cost little memory
        narrow = [read for read in self.compiled_query.reads if not self.is_wide(read)]
        filled = {read: self.fill_column(read) for read in narrow}
        first_rows = np.flatnonzero(np.diff(np.cumsum(sizes) // BYTES_PER_BATCH, prepend=0))
        for begin, end in pairwise(np.unique([0, *first_rows, len(sizes)]).tolist()):
            slices = {read: values.slice(begin, end - begin) for read, values in filled.items()}
            reader = self.reader.select_rows(begin, end)
            yield replace(self, reader=reader, filled=slices, positions={})

    def check_sizes(self, sizes: IntArray) -> None:
        """Check that each output row fits into a batch, and the batches of Sail into memory.

        Args:
            sizes: int64[r], about how many bytes each output row takes.

        Raises:
            RunFailure: they do not fit.
        """
        largest = int(np.argmax(sizes))
        row = int(self.reader.rows.row[largest])
        size = int(sizes[largest])
        if size > MOST_BYTES_OF_ROW:
            fields = {"mebibytes": size >> 20, "limit": MOST_BYTES_OF_ROW >> 20}
            raise RunFailure(failures.row_too_large, row, fields)
        if makes_queries.is_set():  # the worker is a thread of a program with Sail
            sail_bytes = SAIL_COPIES * int(np.sort(sizes)[-SAIL_ROWS:].sum())
            if not memory.has_room(sail_bytes):
                raise RunFailure(failures.rows_too_large, row, {"mebibytes": sail_bytes >> 20})

    def is_wide(self, read: Read) -> bool:
        """Return whether some values of a read take more bytes than others."""
        if read.row_list is not None:
            return True
        index = read.value_column
        return index is not None and not isinstance(
            arrays.estimate_value_sizes(self.read_encoded_column(index)), int
        )

    def estimate_longest_row(self) -> float:
        """Return about how many bytes an output row takes at most; infinity if it has arrays."""
        reads = self.compiled_query.reads
        if any(read.row_list is not None for read in reads):
            return inf
        columns = [read.value_column for read in reads if read.value_column is not None]
        return arrays.BYTES_OF_A_NUMBER * len(reads) + self.estimate_longest_values(columns)

    def estimate_longest_values(self, columns: Iterable[int]) -> int:
        """Return about how many bytes a row takes at most in all of these columns."""
        total = 0
        for index in columns:
            sizes = arrays.estimate_value_sizes(self.read_encoded_column(index))
            total += int(np.max(sizes, initial=0))
        return total

    def estimate_sizes(self) -> IntArray:
        """Return about how many bytes each output row takes, as int64[r]."""
        reader = self.reader
        reads = self.compiled_query.reads
        sizes = np.full(reader.rows.count, arrays.BYTES_OF_A_NUMBER * len(reads), np.int64)
        for read in reads:
            if isinstance(read, ReadRow):
                sizes += self.estimate_sizes_at(read.column, reader.rows.row)
            elif isinstance(read, ReadAt):
                sizes += self.estimate_sizes_at(read.column, reader.find_positions(read.navigation))
            elif read.row_list is not None:
                sizes += self.estimate_list_sizes(read.row_list)
            elif read.value_column is not None:
                values = self.read_encoded_column(read.value_column)
                sizes += int(np.mean(arrays.estimate_value_sizes(values)))
        return sizes

    def estimate_sizes_at(self, index: int, positions: IntArray) -> IntArray:
        """Return about how many bytes the values of a column at row positions take, as int64[p].

        Args:
            index: the index of the column.
            positions: int64[p], -1 for NULL, which takes none.
        """
        sizes = arrays.estimate_value_sizes(self.read_encoded_column(index))
        sizes_there = sizes if isinstance(sizes, int) else sizes[positions]
        return np.where(positions < 0, 0, sizes_there)

    def estimate_list_sizes(self, row_list: RowList) -> IntArray:
        """Return about how many bytes the array of rows of each output row takes, as int64[r]."""
        reader = self.reader
        rows = reader.matches.mapped_rows
        sizes = np.full(len(rows), arrays.BYTES_OF_A_NUMBER, np.int64)
        for index in row_list.columns:
            sizes += self.estimate_sizes_at(index, rows)
        return reader.add_up(sizes * reader.find_mask(row_list.variable), row_list.semantics)

    def build_batch(self) -> pa.RecordBatch:
        """Return the reads of the output rows as one batch."""
        columns = [self.fill_column(read) for read in self.compiled_query.reads]
        assert columns, "a batch without columns loses its rows"
        return pa.RecordBatch.from_arrays(columns, wire.name_output(self.compiled_query))

    def fill_column(self, read: Read) -> pa.Array:
        """Return the values of a read on all output rows."""
        if read in self.filled:
            return self.filled[read]
        return FILL[type(read)](self, read)

    # Values of the input.

    def read_column(self, index: int) -> pa.Array:
        """Return the values of a column, by row position."""
        return take_column(self.table, wire.name_column(index))

    def read_encoded_column(self, index: int) -> pa.Array:
        """Return the same, with the dictionary of the column if it has one."""
        return arrays.take_encoded_column(self.table, wire.name_column(index))

    def find_true(self, index: int) -> BoolArray:
        """Return on which rows a truth value is true, not false or NULL: bool[n]."""
        return arrays.read_integers(self.read_column(index)).astype(np.bool_)

    def take_values(self, index: int, positions: IntArray) -> pa.Array:
        """Return the values of a column at row positions, NULL at -1."""
        return self.take_at(index, make_array(positions, positions < 0))

    def take_at(self, index: int, positions: pa.Array) -> pa.Array:
        """Return the values of a column at row positions, NULL at NULL."""
        return arrays.decode(take_rows(self.read_encoded_column(index), positions))

    def find_positions(self, navigation: Navigation) -> pa.Array:
        """Return the row positions that a navigation finds, NULL if it finds no row."""
        if navigation not in self.positions:
            positions = self.reader.find_positions(navigation)
            self.positions[navigation] = make_array(positions, positions < 0)
        return self.positions[navigation]

    def name_variables(self, variables: IntArray | npt.NDArray[np.int16]) -> pa.Array:
        """Return the names of the variables of these ids, NULL for -1."""
        names = pa.array(self.compiled_query.task.variables, pa.string())
        return names.take(make_array(variables, variables < 0))

    def take_mapped_rows(self, mapped: IntArray, columns: Iterable[int]) -> list[pa.Array]:
        """Return the values of columns on mapped rows, then the names of their variables.

        Args:
            mapped: indices among the mapped rows of all matches.
            columns: indices of columns.
        """
        matches = self.reader.matches
        rows = matches.mapped_rows[mapped]
        variables = matches.classifiers[mapped].astype(np.int64)
        values = [self.take_values(index, rows) for index in columns]
        return [*values, self.name_variables(variables)]


def make_lists_of_structs(
    offsets: IntArray, values: list[pa.Array], names: Sequence[str]
) -> pa.Array:
    """Return an array of structs for each output row.

    Args:
        offsets: int64[r + 1], where the structs of each output row begin.
        values: the fields of the structs.
        names: the names of the fields.
    """
    return pa.ListArray.from_arrays(
        read_offsets(offsets), pa.StructArray.from_arrays(values, names)
    )


# Values of single rows.


def fill_rows(gatherer: Gatherer, read: ReadRow) -> pa.Array:
    """Return the values of a column on the input rows that the output rows stand for."""
    return gatherer.take_values(read.column, gatherer.reader.rows.row)


def fill_navigation(gatherer: Gatherer, read: ReadAt) -> pa.Array:
    """Return the values of a column on the rows that a navigation finds."""
    return gatherer.take_at(read.column, gatherer.find_positions(read.navigation))


def fill_classifiers(gatherer: Gatherer, read: ReadClassifierAt) -> pa.Array:
    """Return the names of the variables of the rows that a navigation finds."""
    return gatherer.name_variables(gatherer.reader.find_classifiers(read.navigation))


# Facts about matches.


def fill_match_numbers(gatherer: Gatherer, _: ReadMatchNumber) -> pa.Array:
    """Return the number of the match of each output row, NULL without one."""
    match_numbers = gatherer.reader.find_match_numbers()
    return make_array(match_numbers, match_numbers < 0)


def fill_positions(gatherer: Gatherer, _: ReadPosition) -> pa.Array:
    """Return the position in its match of the row that measures look from."""
    return make_array(gatherer.reader.find_current_positions())


def fill_is_matched(gatherer: Gatherer, _: ReadIsMatched) -> pa.Array:
    """Return whether each output row belongs to a match."""
    return make_array(gatherer.reader.rows.match >= 0)


def fill_kinds(gatherer: Gatherer, _: ReadKind) -> pa.Array:
    """Return whether each match is one, or a run whose window has ended."""
    reader = gatherer.reader
    assert reader.matches.kind is not None
    return make_array(reader.matches.kind[reader.rows.match])


def fill_nothing(gatherer: Gatherer, _: ReadNothing) -> pa.Array:
    """Return TRUE for each output row."""
    return make_array(np.ones(gatherer.reader.rows.count, np.bool_))


def fill_pointers(gatherer: Gatherer, read: ReadPointer) -> pa.Array:
    """Return a field of the pointers of the graph of all matches; each is an output row."""
    matches = gatherer.reader.matches
    pointers = matches.pointers
    assert pointers is not None
    partition_start = gatherer.reader.partitions.starts[matches.partition]
    row_number = matches.mapped_rows - partition_start + 1
    is_first = pointers.before < 0
    match read.field:
        case PointerField.ROW:
            return make_array(row_number)
        case PointerField.PREVIOUS_ROW:
            return make_array(row_number[pointers.before], is_first)
        case PointerField.PREVIOUS_STATE:
            states = matches.classifiers[pointers.before].astype(np.int64)
            return gatherer.name_variables(np.where(is_first, -1, states))
        case PointerField.COMPLETES:
            return make_array(pointers.completes)
        case PointerField.VERSION:
            offsets = read_offsets(pointers.offsets)
            return pa.ListArray.from_arrays(offsets, make_array(pointers.digits))


# Arrays of rows.


def fill_lists(gatherer: Gatherer, read: ReadList) -> pa.Array:
    """Return for each output row the array of a variable's values that are not NULL."""
    reader = gatherer.reader
    rows = reader.matches.mapped_rows
    has_value = find_valid(gatherer.read_column(read.column))[rows]
    is_listed = reader.find_mask(read.variable) & has_value
    mapped, offsets = reader.collect(is_listed, read.semantics)
    values = gatherer.take_values(read.column, rows[mapped])
    return pa.ListArray.from_arrays(read_offsets(offsets), values)


def fill_matched_rows(gatherer: Gatherer, read: ReadMatchedRows) -> pa.Array:
    """Return for each output row the rows of its match that are output, with their variables.

    The last field of the structs in the input column only holds the place for the variable.
    """
    reader = gatherer.reader
    is_listed = reader.find_mask(read.variable) & ~reader.matches.excluded
    mapped, offsets = reader.collect(is_listed, Semantics.FINAL)
    structs, variables = gatherer.take_mapped_rows(mapped, [read.column])
    names = [struct_field.name for struct_field in structs.type]
    fields = [*structs.flatten()[:-1], variables]
    return make_lists_of_structs(offsets, fields, names)


def fill_rows_for_spark(gatherer: Gatherer, read: ReadRowsForSpark) -> pa.Array:
    """Return for each output row all rows of its match, with their variables and positions.

    The array of an unmatched row or an empty match is empty.
    """
    reader = gatherer.reader
    mapped, offsets = reader.collect(reader.find_mask(None), Semantics.FINAL)
    values = gatherer.take_mapped_rows(mapped, read.columns)
    values.append(make_array(reader.find_positions_in_match()[mapped]))
    return make_lists_of_structs(offsets, values, read.names)


# Aggregates of the rows of a match.


def fill_accumulated(gatherer: Gatherer, read: ReadAccumulated) -> pa.Array:
    """Return an aggregate of the rows that each output row sees, added up row by row in Python."""
    from matchrec.conditions.accumulators import AGGREGATES  # few queries need it

    begin = partial(AGGREGATES[read.function].begin, read.use)
    reader = gatherer.reader
    rows = reader.matches.mapped_rows
    is_counted = reader.find_mask(read.variable)
    if read.condition is not None:
        is_counted &= gatherer.find_true(read.condition)[rows]
    last_mapped = find_total_rows(reader, read.semantics)
    is_read = np.zeros(len(rows), np.bool_)  # whether an output row reads the value up to a row
    is_read[last_mapped[last_mapped >= 0]] = True

    arguments = [gatherer.take_values(index, rows[is_counted]) for index in read.columns]
    values = zip(*(read_values(argument) for argument in arguments), strict=True)
    results = [begin().compute_result()]  # the first is for output rows that see no row
    accumulator = begin()
    begins_match = find_links(reader.matches) < 0
    marks = (begins_match.tolist(), is_counted.tolist(), is_read.tolist())
    for begins, counts, reads_result in zip(*marks, strict=True):
        if begins:
            accumulator = begin()
        if counts:
            accumulator.add(*next(values))
        if reads_result:
            results.append(accumulator.compute_result())

    result_type = pa.int64() if read.is_count else pa.float64()
    result_index = np.append(0, np.cumsum(is_read))[last_mapped + 1]
    return arrays.make_value_array(results, result_type).take(make_array(result_index))


def fill_chosen_values(gatherer: Gatherer, read: ReadChosenValue) -> pa.Array:
    """Return the value of the row that an aggregate chooses of those that an output row sees."""
    valid = np.ones(gatherer.table.num_rows, np.bool_)
    if read.condition is not None:
        valid &= gatherer.find_true(read.condition)
    if read.ignores_nulls:
        valid &= find_valid(gatherer.read_column(read.column))
    if read.key is None:  # the first or the last row
        keys = np.arange(gatherer.table.num_rows)
    else:
        valid &= find_valid(gatherer.read_column(read.key))
        keys = arrays.sort_keys(gatherer.read_column(read.key))
    reader = gatherer.reader
    greatest = find_entry(read.function).choice in (ValueChoice.LAST, ValueChoice.GREATEST_KEY)
    aggregates = AggregateReader(reader, read.variable, valid)
    chosen = aggregates.find_extreme_rows(keys, greatest=greatest, takes_last=True)
    rows = take_or_default(chosen, find_total_rows(reader, read.semantics), -1)
    return gatherer.take_values(read.column, rows)


def fill_aggregates(gatherer: Gatherer, read: ReadBasicAggregate) -> pa.Array:
    """Return a count, a sum, an average or an extreme of the rows that each output row sees."""
    if read.column is None:
        values = None
        valid = np.ones(gatherer.table.num_rows, np.bool_)
    else:
        values = gatherer.read_column(read.column)
        valid = find_valid(values)
    aggregates = AggregateReader(gatherer.reader, read.variable, valid)
    return Aggregation(aggregates, values, gatherer.compiled_query.ansi).compute(read)


@dataclass(frozen=True)
class Aggregation:
    """A computation of an aggregate of one column for all output rows."""

    aggregates: AggregateReader
    values: pa.Array  # the column; None for a count of rows
    ansi: bool

    def compute(self, read: ReadBasicAggregate) -> pa.Array:
        """Return the aggregate for each output row; NULL if it sees no value, 0 for a count."""
        counts = self.aggregates.count_values(read.semantics)
        last_mapped = find_total_rows(self.aggregates.reader, read.semantics)
        match read.function:
            case Reduction.COUNT:
                return make_array(counts)
            case Reduction.SUM:
                return self.sum_rows(read.semantics, last_mapped, counts == 0)
            case Reduction.AVG:
                sums = self.sum_floats(read.semantics)
                return make_array(sums / np.maximum(counts, 1), counts == 0)
            case Reduction.MIN | Reduction.MAX as function:
                keys = arrays.sort_keys(self.values)
                extremes = self.aggregates.find_extreme_rows(
                    keys, greatest=function is Reduction.MAX
                )
                rows = take_or_default(extremes, last_mapped, -1)
                return self.values.take(make_array(rows, rows < 0))

    def sum_rows(self, semantics: Semantics, last_mapped: IntArray, is_null: BoolArray) -> pa.Array:
        """Return the sum for each output row.

        Args:
            semantics: which rows an output row sees.
            last_mapped: int64[r], the last mapped row that each output row sees, or -1.
            is_null: bool[r], the output rows that see no value.

        Raises:
            RunFailure: a sum is too large for its type, in ANSI mode.
        """
        value_type = self.values.type
        if pa.types.is_decimal(value_type):
            return self.sum_decimals(semantics, last_mapped, is_null)
        if pa.types.is_floating(value_type):
            return make_array(self.sum_floats(semantics), is_null)
        integers = arrays.read_integers(self.values)
        sums = self.aggregates.sum_integers(integers, ansi=self.ansi)
        return make_array(take_or_default(sums, last_mapped, 0), is_null)

    def sum_decimals(
        self, semantics: Semantics, last_mapped: IntArray, is_null: BoolArray
    ) -> pa.Array:
        """Return the sum of decimals for each output row, see `sum_rows`.

        As in Spark, a sum of more than 38 digits is NULL, or an error in ANSI mode.
        """
        value_type = self.values.type
        type_of_sum = widen_for_sum(value_type)
        words_by_row = self.aggregates.sum_decimals(arrays.read_decimal_words(self.values))
        words = take_or_default(words_by_row, last_mapped, 0)
        if has_exact_sums(self.values):
            return make_decimals(words, is_null, type_of_sum)
        doubles = self.sum_floats(semantics)
        is_too_large = find_too_large(words, doubles, value_type.scale) & ~is_null
        if self.ansi and is_too_large.any():
            first = int(np.flatnonzero(is_too_large)[0])
            row = int(self.aggregates.rows[last_mapped[first]])
            fields = {"type_name": f"DECIMAL(38, {value_type.scale})"}
            raise RunFailure(failures.sum_too_large, row, fields)
        return make_decimals(words, is_null | is_too_large, type_of_sum)

    def sum_floats(self, semantics: Semantics) -> FloatArray:
        """Return the sum as a double for each output row, added up in the order of the rows."""
        values = self.values
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        return self.aggregates.sum_floats(arrays.read_floats(values), semantics)


# Aggregates over all matches.


def fill_totals(gatherer: Gatherer, read: ReadTotal) -> pa.Array:
    """Return an aggregate over all matches of each group. An output row is a group.

    Raises:
        RunFailure: a number is too large for its type.
    """
    compiled_query = gatherer.compiled_query
    task_totals = compiled_query.task.totals
    assert task_totals is not None
    reads = [other for other in compiled_query.reads if isinstance(other, ReadTotal)]
    index = reads.index(read)
    filler = TotalFiller(
        compiled_query=compiled_query,
        table=gatherer.table,
        reader=gatherer.reader,
        read=read,
        index=index,
        total=task_totals.aggregates[index],
    )
    return filler.fill()


# How the column of each class of reads is filled, for all output rows.
FILL: Mapping[type[Read], Callable[[Gatherer, Any], pa.Array]] = {
    ReadRow: fill_rows,
    ReadAt: fill_navigation,
    ReadClassifierAt: fill_classifiers,
    ReadRowsForSpark: fill_rows_for_spark,
    ReadMatchNumber: fill_match_numbers,
    ReadPosition: fill_positions,
    ReadIsMatched: fill_is_matched,
    ReadKind: fill_kinds,
    ReadNothing: fill_nothing,
    ReadPointer: fill_pointers,
    ReadBasicAggregate: fill_aggregates,
    ReadList: fill_lists,
    ReadMatchedRows: fill_matched_rows,
    ReadAccumulated: fill_accumulated,
    ReadChosenValue: fill_chosen_values,
    ReadTotal: fill_totals,
}
