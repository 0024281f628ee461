"""Turn matches into the Arrow columns that a worker returns: one column for each read.

A read (`output.reads`) is a value that the output needs, such as `LAST(A.price)`. A search returns
matches as row positions. Most columns are filled in two steps, which copy values of any type
unchanged:

1. Find the row that each output row reads: for `LAST(A.price)`, positions [4, -1, 9].
2. Take the values of these rows from the input: the prices of rows 4 and 9, NULL between them.

A `Gatherer` has the output rows and the input. It divides the output rows into batches, and looks
up values and names. For each class of reads, a function `fill_...` fills the column.
`FILL_FUNCTIONS` maps the classes to these functions. Aggregates take more steps, which are in other
modules:

    match_aggregates   counts, sums, averages and extremes of the rows of a match
    accumulated        aggregates of the rows of a match that Python adds up
    totals             aggregates over all matches
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
from matchrec.output.aggregates import AggregateReader, find_total_rows
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import (
    PointerField,
    Read,
    ReadAccumulated,
    ReadBasicAggregate,
    ReadChosenValue,
    ReadClassifierName,
    ReadEndingKind,
    ReadIsMatched,
    ReadList,
    ReadMatchedRows,
    ReadMatchIndex,
    ReadMatchNumber,
    ReadNavigation,
    ReadNothing,
    ReadPointer,
    ReadPosition,
    ReadRow,
    ReadRowsForEngine,
    ReadTotal,
)
from matchrec.output.total_kernels import find_links
from matchrec.plan.expression import Navigation, Semantics
from matchrec.search.flat_arrays import take_or_default
from matchrec.search.partitions import BoolArray, IntArray
from matchrec.worker import arrays, internal_names
from matchrec.worker.accumulated import accumulate_matches
from matchrec.worker.arrays import find_valid, make_array, make_offsets, take_column, take_rows
from matchrec.worker.match_aggregates import AggregateFiller
from matchrec.worker.python_values import read_values
from matchrec.worker.row_sizes import SizeEstimator
from matchrec.worker.sort_keys import make_sort_keys
from matchrec.worker.totals import TotalFiller


@dataclass(frozen=True)
class Gatherer:
    """A gatherer of the values that a compiled query reads, for output rows over one table."""

    compiled_query: CompiledQuery
    table: pa.Table  # the input: a row position is an index in this table
    reader: MatchReader  # reads the matches, and has their output rows
    # Columns that are filled already, for the output rows of `reader`.
    filled_columns: Mapping[Read, pa.Array] = field(default_factory=dict)
    # The cache of `find_navigation_indices`, which adds to it.
    navigation_indices: dict[Navigation, pa.Array] = field(default_factory=dict)

    def divide_into_batches(self, event_columns: Collection[int] = ()) -> Iterator[Gatherer]:
        """Yield gatherers for consecutive output rows, so that batches are not too large.

        Yields nothing if there are no output rows.

        Args:
            event_columns: columns that the caller adds to each output row, with their values on all
                rows of the match. There must be one output row for each match.

        Raises:
            RunFailure: a row is too large for Arrow, or a batch is too large for this machine.
        """
        if not self.reader.output_rows.count:
            return
        estimator = SizeEstimator(self.compiled_query, self.table, self.reader)
        borders = estimator.find_batch_borders(event_columns)
        if len(borders) == 2:
            yield self
            return
        # Columns of fixed width are filled once for all batches, since they cost little memory.
        narrow_columns = {
            read: self.fill_column(read)
            for read in self.compiled_query.reads
            if not estimator.is_wide(read)
        }
        for begin, end in pairwise(borders.tolist()):
            yield replace(
                self,
                reader=self.reader.select_rows(begin, end),
                filled_columns={
                    read: values.slice(begin, end - begin)
                    for read, values in narrow_columns.items()
                },
                navigation_indices={},
            )

    def build_batch(self) -> pa.RecordBatch:
        """Return the reads of the output rows as one batch.

        Raises:
            RunFailure: a sum or total is too large for its type.
        """
        columns = [self.fill_column(read) for read in self.compiled_query.reads]
        assert columns, "a batch without columns loses its rows"
        return pa.RecordBatch.from_arrays(columns, internal_names.name_output(self.compiled_query))

    def fill_column(self, read: Read) -> pa.Array:
        """Return the value of a read for each output row.

        Raises:
            RunFailure: a sum or total is too large for its type.
        """
        if read in self.filled_columns:
            return self.filled_columns[read]
        return FILL_FUNCTIONS[type(read)](self, read)

    # Values of the input. The argument `column` is an index among the columns that were sent.

    def read_column(self, column: int) -> pa.Array:
        """Return the values of a column, by row position."""
        return take_column(self.table, internal_names.name_column(column))

    def find_true_rows(self, column: int) -> BoolArray:
        """Return on which input rows a boolean column is true, not false or NULL: bool[n]."""
        return arrays.read_integers(self.read_column(column)).astype(np.bool_)

    def take_values(self, column: int, positions: IntArray) -> pa.Array:
        """Return the values of a column at row positions, NULL at -1."""
        return self.take_indexed_values(column, make_array(positions, positions < 0))

    def take_indexed_values(self, column: int, indices: pa.Array) -> pa.Array:
        """Return the values of a column at row positions in an Arrow array, NULL at NULL."""
        # Values are taken first and decoded then, because most values of a column are not read.
        encoded_values = arrays.take_encoded_column(self.table, internal_names.name_column(column))
        return arrays.decode_dictionary(take_rows(encoded_values, indices))

    def find_navigation_indices(self, navigation: Navigation) -> pa.Array:
        """Return the row position that a navigation finds for each output row, or NULL."""
        if navigation not in self.navigation_indices:
            positions = self.reader.find_row_positions(navigation)
            self.navigation_indices[navigation] = make_array(positions, positions < 0)
        return self.navigation_indices[navigation]

    def name_variables(self, variables: IntArray | npt.NDArray[np.int16]) -> pa.Array:
        """Return the names of the variables of these ids, NULL for -1."""
        names = pa.array(self.compiled_query.task.variables, pa.string())
        return names.take(make_array(variables, variables < 0))

    def take_mapped_rows(self, mapped: IntArray, columns: Iterable[int]) -> list[pa.Array]:
        """Return the values of columns on mapped rows, then the names of their variables.

        Args:
            mapped: indices among the mapped rows of all matches.
            columns: the columns. The result has an array for each column, and one more.
        """
        matches = self.reader.matches
        rows = matches.mapped_rows[mapped]
        variables = matches.classifiers[mapped].astype(np.int64)
        values = [self.take_values(column, rows) for column in columns]
        return [*values, self.name_variables(variables)]


def make_lists_of_structs(
    offsets: IntArray, values: list[pa.Array], names: Sequence[str]
) -> pa.Array:
    """Return an array of structs for each output row.

    With offsets [0, 2, 3] and the field `x` of values [7, 8, 9], the first output row has the
    structs {x: 7} and {x: 8}, the second one has {x: 9}.

    Args:
        offsets: int64[r + 1] for r output rows, where the structs of each output row begin, then
            the number of structs.
        values: for each field of the structs, the values of the field in all structs.
        names: the names of the fields.
    """
    return pa.ListArray.from_arrays(
        make_offsets(offsets), pa.StructArray.from_arrays(values, names)
    )


# Values of single rows.


def fill_rows(gatherer: Gatherer, read: ReadRow) -> pa.Array:
    """Return the values of a column on the input rows that the output rows stand for."""
    return gatherer.take_values(read.column, gatherer.reader.output_rows.input_rows)


def fill_navigation(gatherer: Gatherer, read: ReadNavigation) -> pa.Array:
    """Return the values of a column on the rows that a navigation finds."""
    indices = gatherer.find_navigation_indices(read.navigation)
    return gatherer.take_indexed_values(read.column, indices)


def fill_classifiers(gatherer: Gatherer, read: ReadClassifierName) -> pa.Array:
    """Return the names of the variables of the rows that a navigation finds."""
    return gatherer.name_variables(gatherer.reader.find_classifiers(read.navigation))


# Facts about matches.


def fill_match_numbers(gatherer: Gatherer, _: ReadMatchNumber) -> pa.Array:
    """Return the number of the match of each output row, NULL for an unmatched row."""
    match_numbers = gatherer.reader.find_match_numbers()
    return make_array(match_numbers, match_numbers < 0)


def fill_match_indices(gatherer: Gatherer, _: ReadMatchIndex) -> pa.Array:
    """Return the index of the match of each output row, -1 for an unmatched row."""
    return make_array(gatherer.reader.output_rows.match_indices)


def fill_positions_in_match(gatherer: Gatherer, _: ReadPosition) -> pa.Array:
    """Return the position of the current row in its match, from 0, for each output row; or -1."""
    return make_array(gatherer.reader.find_current_positions_in_match())


def fill_is_matched(gatherer: Gatherer, _: ReadIsMatched) -> pa.Array:
    """Return whether each output row belongs to a match."""
    return make_array(gatherer.reader.output_rows.match_indices >= 0)


def fill_ending_kinds(gatherer: Gatherer, _: ReadEndingKind) -> pa.Array:
    """Return how each run ended: as a match, or why without one."""
    reader = gatherer.reader
    assert reader.matches.kind is not None
    return make_array(reader.matches.kind[reader.output_rows.match_indices])


def fill_nothing(gatherer: Gatherer, _: ReadNothing) -> pa.Array:
    """Return TRUE for each output row, because a batch without columns would lose its rows."""
    return make_array(np.ones(gatherer.reader.output_rows.count, np.bool_))


def fill_pointers(gatherer: Gatherer, read: ReadPointer) -> pa.Array:
    """Return a field of the pointers of the graph of all matches. An output row is a pointer.

    The first pointer of a run leads to no other pointer, so its `PREVIOUS_` fields are NULL.
    """
    matches = gatherer.reader.matches
    pointers = matches.pointers
    assert pointers is not None
    partition_start = gatherer.reader.partitions.starts[matches.partition]
    row_number = matches.mapped_rows - partition_start + 1
    # At the start of a run, -1 selects some value, which becomes NULL below.
    is_first = pointers.previous_pointers < 0
    match read.field:
        case PointerField.ROW:
            return make_array(row_number)
        case PointerField.PREVIOUS_ROW:
            return make_array(row_number[pointers.previous_pointers], is_first)
        case PointerField.PREVIOUS_STATE:
            states = matches.classifiers[pointers.previous_pointers].astype(np.int64)
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
    is_listed = reader.mark_mapped_rows(read.variable) & has_value
    mapped, offsets = reader.collect_rows(is_listed, read.semantics)
    values = gatherer.take_values(read.column, rows[mapped])
    return pa.ListArray.from_arrays(make_offsets(offsets), values)


def fill_matched_rows(gatherer: Gatherer, read: ReadMatchedRows) -> pa.Array:
    """Return for each output row the rows of its match that are output, with their variables.

    The last field of the structs in the input column has no values: the names of the variables
    replace it.
    """
    reader = gatherer.reader
    is_listed = reader.mark_mapped_rows(read.variable) & ~reader.matches.is_excluded
    mapped, offsets = reader.collect_rows(is_listed, Semantics.FINAL)
    structs, variables = gatherer.take_mapped_rows(mapped, [read.column])
    names = [struct_field.name for struct_field in structs.type]
    fields = [*structs.flatten()[:-1], variables]
    return make_lists_of_structs(offsets, fields, names)


def fill_rows_for_engine(gatherer: Gatherer, read: ReadRowsForEngine) -> pa.Array:
    """Return for each output row all rows of its match, with their variables and positions.

    The array of an unmatched row or an empty match is empty.
    """
    reader = gatherer.reader
    mapped, offsets = reader.collect_rows(reader.mark_mapped_rows(None), Semantics.FINAL)
    values = gatherer.take_mapped_rows(mapped, read.columns)
    values.append(make_array(reader.find_positions_in_match()[mapped]))
    return make_lists_of_structs(offsets, values, read.names)


# Aggregates of the rows of a match.


def fill_accumulated(gatherer: Gatherer, read: ReadAccumulated) -> pa.Array:
    """Return an aggregate of the rows that each output row sees, added up row by row in Python."""
    from matchrec.conditions.accumulators.table import AGGREGATES  # few queries need the module

    reader = gatherer.reader
    rows = reader.matches.mapped_rows
    is_counted = reader.mark_mapped_rows(read.variable)
    if read.condition is not None:
        is_counted &= gatherer.find_true_rows(read.condition)[rows]
    counted_rows = rows[is_counted]
    arguments = [read_values(gatherer.take_values(column, counted_rows)) for column in read.columns]

    total_rows = find_total_rows(reader, read.semantics)
    is_read = np.zeros(len(rows), np.bool_)
    is_read[total_rows[total_rows >= 0]] = True

    aggregate = accumulate_matches(
        partial(AGGREGATES[read.function].begin, read.aggregate_use),
        zip(*arguments, strict=True),
        begins_match=find_links(reader.matches) < 0,
        is_counted=is_counted,
        is_read=is_read,
    )
    result_type = pa.int64() if read.is_count else pa.float64()
    results = arrays.make_value_array(aggregate.results, result_type)
    return results.take(make_array(aggregate.find_indices(total_rows)))


def fill_chosen_values(gatherer: Gatherer, read: ReadChosenValue) -> pa.Array:
    """Return a value of one of the rows that each output row sees: `max_by(A.name, A.price)`.

    The value is read on the row with the greatest or least key. `first` and `last` have no key, so
    the row position is their key. NULL if no row counts.
    """
    is_counted = np.ones(gatherer.table.num_rows, np.bool_)
    if read.condition is not None:
        is_counted &= gatherer.find_true_rows(read.condition)
    if read.ignores_nulls:
        is_counted &= find_valid(gatherer.read_column(read.column))
    if read.key is None:
        keys = np.arange(gatherer.table.num_rows)
    else:
        is_counted &= find_valid(gatherer.read_column(read.key))
        keys = make_sort_keys(gatherer.read_column(read.key))
    reader = gatherer.reader
    greatest = find_entry(read.function).choice in (ValueChoice.LAST, ValueChoice.GREATEST_KEY)
    aggregates = AggregateReader(reader, read.variable, is_counted)
    chosen_rows = aggregates.find_extreme_rows(keys, greatest=greatest, takes_last=True)
    rows = take_or_default(chosen_rows, find_total_rows(reader, read.semantics), -1)
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
    # The search computes one aggregate for each of these reads, in their order.
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


# The function that fills the column of each class of reads. Its second argument is the read.
FILL_FUNCTIONS: Mapping[type[Read], Callable[[Gatherer, Any], pa.Array]] = {
    ReadRow: fill_rows,
    ReadNavigation: fill_navigation,
    ReadClassifierName: fill_classifiers,
    ReadRowsForEngine: fill_rows_for_engine,
    ReadMatchNumber: fill_match_numbers,
    ReadMatchIndex: fill_match_indices,
    ReadPosition: fill_positions_in_match,
    ReadIsMatched: fill_is_matched,
    ReadEndingKind: fill_ending_kinds,
    ReadNothing: fill_nothing,
    ReadPointer: fill_pointers,
    ReadBasicAggregate: fill_aggregates,
    ReadList: fill_lists,
    ReadMatchedRows: fill_matched_rows,
    ReadAccumulated: fill_accumulated,
    ReadChosenValue: fill_chosen_values,
    ReadTotal: fill_totals,
}
