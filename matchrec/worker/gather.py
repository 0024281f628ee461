"""Fill Arrow columns with what the output reads of matches: one column for each read.

A search returns matches as row positions. Most reads are filled in two steps: find the row that
each output row reads, then `take` the values of these rows from the input. So a value of any type
is passed on as it is:

    LAST(A.price)        positions [4, -1, 9]   →   prices of rows 4 and 9, NULL between them

A `Gatherer` has the output rows and the input: it divides them into batches, and looks up values
and names. A function `fill_...` fills the column of one class of `output.reads`; `FILL` lists these
functions. Aggregates need several steps, so they have a class: `worker.match_aggregates` has
`AggregateFiller` for the rows of a match, `worker.totals` has `TotalFiller` for all matches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.aggregate_table import ValueChoice, find_entry
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
)
from matchrec.plan.expression import Navigation, Semantics
from matchrec.search.partitions import BoolArray, IntArray, take_or_default
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import find_valid, make_array, make_offsets, take_column, take_rows
from matchrec.worker.match_aggregates import AggregateFiller
from matchrec.worker.python_values import read_values
from matchrec.worker.row_sizes import SizeEstimator
from matchrec.worker.totals import TotalFiller


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

        Without output rows there is no gatherer.

        Args:
            events: see `SizeEstimator.find_batch_borders`.

        Raises:
            RunFailure: a row is too large for Arrow, or a batch is too large for this machine.
        """
        if not self.reader.rows.count:
            return
        estimator = SizeEstimator(self.compiled_query, self.table, self.reader)
        borders = estimator.find_batch_borders(events)
        if len(borders) == 2:
            yield self
            return
        # columns of fixed width are filled once for all batches, since they cost little memory
        narrow = [read for read in self.compiled_query.reads if not estimator.is_wide(read)]
        filled = {read: self.fill_column(read) for read in narrow}
        for begin, end in pairwise(borders.tolist()):
            slices = {read: values.slice(begin, end - begin) for read, values in filled.items()}
            reader = self.reader.select_rows(begin, end)
            yield replace(self, reader=reader, filled=slices, positions={})

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
        make_offsets(offsets), pa.StructArray.from_arrays(values, names)
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
    """Return the kind of each match: a match, or the reason why a run ended without one."""
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
            offsets = make_offsets(pointers.offsets)
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
    return pa.ListArray.from_arrays(make_offsets(offsets), values)


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
    from matchrec.conditions.accumulators.table import AGGREGATES  # few queries need it

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
        keys = arrays.make_sort_keys(gatherer.read_column(read.key))
    reader = gatherer.reader
    greatest = find_entry(read.function).choice in (ValueChoice.LAST, ValueChoice.GREATEST_KEY)
    aggregates = AggregateReader(reader, read.variable, valid)
    chosen = aggregates.find_extreme_rows(keys, greatest=greatest, takes_last=True)
    rows = take_or_default(chosen, find_total_rows(reader, read.semantics), -1)
    return gatherer.take_values(read.column, rows)


def fill_aggregates(gatherer: Gatherer, read: ReadBasicAggregate) -> pa.Array:
    """Return a count, a sum, an average or an extreme of the rows that each output row sees.

    Raises:
        RunFailure: a sum is too large for its type, in ANSI mode.
    """
    values = None if read.column is None else gatherer.read_column(read.column)
    filler = AggregateFiller(
        reader=gatherer.reader, read=read, values=values, ansi=gatherer.compiled_query.ansi
    )
    return filler.fill()


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
