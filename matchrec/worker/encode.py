"""Encode Arrow columns as the arrays that a search reads, and find where windows end.

Integers, booleans, dates, timestamps and intervals become int64, floats become float64. Values of
any other type that can be sorted become their ranks:

    name        ["bob", "al", NULL, "bob"]     →  [2, 1, 0, 2], not valid at the third row

Columns of one type are ranked together, so that a condition may compare them.

There are three kinds of windows: those of WITHIN, those of a number of rows, and those that the
conditions of a query amount to. For a search, each of them is one number for each row: the first
row that is outside of the window that begins with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.compile.compiled_query import ColumnAspect, CompiledQuery
from matchrec.conditions.functions.comparisons import find_representative, make_rank_key
from matchrec.conditions.functions.function import Value
from matchrec.errors.kinds import MakeRunError
from matchrec.errors.run import failures
from matchrec.plan.clauses import Distance, DistanceForm
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import (
    BoolArray,
    Frontier,
    IntArray,
    Partitions,
    WordArray,
    find_ends_by_bounds,
    find_ends_by_distance,
    find_ends_by_row_count,
)
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import find_valid, make_array, read_floats, read_integers, take_column

SIGN_BIT = np.uint64(1 << 63)
WORD = 64  # the bits of a word


def encode_partitions(
    compiled_query: CompiledQuery,
    table: pa.Table,
    starts: IntArray,
    frontier: Frontier | None = None,
    satisfied: WordArray | None = None,
) -> Partitions:
    """Return a table as a search sees it.

    Args:
        compiled_query: the compiled query.
        table: the rows, with the columns that `spark.columns` sends.
        starts: int64[p + 1], the row at which each partition starts, then the number of rows.
        frontier: how far each partition has been searched; None for whole partitions.
        satisfied: uint64[n, w], which row conditions hold, as in `Partitions`; None to read this
            from the columns of bits.
    """
    if satisfied is None:
        satisfied = unpack_conditions(table, len(compiled_query.row_conditions))
    ranks, ranked_values = rank_columns(compiled_query, table)
    window_end = find_first_rows_outside(compiled_query, table, starts)
    if window_end is not None and frontier is not None and frontier.is_incomplete:
        window_end = frontier.extend_open_windows(starts, window_end)
        if compiled_query.window_rows is not None:
            # a window of a number of rows does not grow beyond them, whatever rows follow
            row = np.arange(len(window_end))
            window_end = np.minimum(window_end, row + compiled_query.window_rows)

    def read_columns(indices: tuple[int, ...]) -> list[pa.Array]:
        """Return some columns of the rows, with ranks instead of values where there are ranks."""
        return [
            ranks[index] if index in ranks else take_column(table, wire.name_column(index))
            for index in indices
        ]

    integers = read_columns(compiled_query.sent_columns.integers)
    floats = read_columns(compiled_query.sent_columns.floats)
    totalled = [take_column(table, wire.name_column(use.column)) for use in compiled_query.totalled]
    numbers = [encode_for_conditions(values) for values in integers]
    numbers += [read_floats(values).view(np.int64) for values in floats]
    numbers += [
        encode_totalled(values, use.aspect)
        for values, use in zip(totalled, compiled_query.totalled, strict=True)
    ]
    valid = [find_valid(values) for values in (*integers, *floats, *totalled)]
    return Partitions(
        frontier=frontier,
        window_end=window_end,
        end_times=encode_timeouts(compiled_query, table),
        starts=starts,
        satisfied=satisfied,
        columns=stack_columns(numbers, table.num_rows, np.int64),
        valid=stack_columns(valid, table.num_rows, np.bool_),
        integers=len(integers),
        ranked=ranked_values,
    )


def encode_for_conditions(values: pa.Array) -> IntArray:
    """Return the values that conditions on the run read in a column without floats, as int64[n].

    A type that has neither numbers nor ranks becomes zeros: all that a condition can ask of it is
    whether a value is NULL.
    """
    kind = values.type
    has_numbers = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    if has_numbers and not pa.types.is_interval(kind):
        return read_integers(values)
    return np.zeros(len(values), np.int64)


def encode_totalled(values: pa.Array, aspect: ColumnAspect) -> IntArray:
    """Return the values that totals over all matches read in a column, as int64[n].

    Floats that are added up are given as their bits.
    """
    if aspect is ColumnAspect.PRESENCE:
        return np.zeros(len(values), np.int64)
    if aspect is ColumnAspect.ORDER:
        return arrays.sort_keys(values)
    if pa.types.is_floating(values.type):
        return read_floats(values).view(np.int64)
    return read_integers(values)


def encode_timeouts(compiled_query: CompiledQuery, table: pa.Table) -> IntArray | None:
    """Return when the windows that begin with each row end, see `Partitions.end_times`.

    The ends are numbers that compare as the ends do. None if no run is output because a window
    between neighbours in the pattern ends. A window whose end is beyond all values of its type
    never ends.
    """
    stages = compiled_query.task.stages
    if not compiled_query.sent_columns.ends or stages is None or not stages.outputs_timeouts:
        return None
    ends = [
        take_column(table, wire.name_column(index)) for index in compiled_query.sent_columns.ends
    ]
    if not all(arrays.is_whole(values.type) for values in ends):
        ranks = arrays.rank_values(append_columns(ends))
        ends = [ranks.slice(i * table.num_rows, table.num_rows) for i in range(len(ends))]
    never = np.iinfo(np.int64).max
    rows = [np.where(find_valid(values), read_integers(values), never) for values in ends]
    if not compiled_query.task.has_window:  # the first row is for the window of the match
        rows.insert(0, np.full(table.num_rows, never))
    return stack_columns(rows, table.num_rows, np.int64)


def append_columns(columns: Sequence[pa.Array]) -> pa.Array:
    """Return the values of all columns, one column after the other.

    Decimals of several types get a type that holds all of them.
    """
    tables = [pa.table({"values": values}) for values in columns]
    together = pa.concat_tables(tables, promote_options="permissive")
    return together.column("values").combine_chunks()


def read_value_at(table: pa.Table, name: str, row: int) -> object:
    """Return a value in Python; as text if Python cannot have such a date or time."""
    value = table.column(name)[row]
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.string()).as_py()


S = TypeVar("S", bound=np.generic)


def stack_columns(
    columns: Sequence[npt.NDArray[np.generic]], rows: int, kind: type[S]
) -> npt.NDArray[S]:
    """Return the columns as one array kind[len(columns), rows]. There may be no columns."""
    if not columns:
        return np.empty((0, rows), kind)
    return np.ascontiguousarray(np.stack(columns).astype(kind, copy=False))


def unpack_conditions(table: pa.Table, conditions: int, bits: int = 0) -> WordArray:
    """Return which row conditions hold on each row, as uint64[n, w].

    Condition c is bit c % 64 of word c // 64. The table packs 62 bits in each column, and its first
    bit marks partitions, so it is dropped.

    Args:
        table: rows with columns of bits.
        conditions: the number of conditions that the engine has computed.
        bits: the number of bits to make room for, if the worker computes conditions as well.
    """
    indices = range(wire.count_bit_columns(conditions))
    packed = [
        read_integers(take_column(table, wire.name_bits(index))).view(np.uint64)
        for index in indices
    ]
    word_count = -(-max(1, conditions, bits) // WORD)
    words = np.empty((table.num_rows, word_count), np.uint64)
    np.right_shift(packed[0], np.uint64(1), out=words[:, 0])
    words[:, 1:] = 0
    size = wire.count_bits_per_column()
    for index, flags in enumerate(packed[1:], 1):
        word, bit = divmod(index * size - 1, WORD)
        words[:, word] |= flags << np.uint64(bit)
        if bit + size > WORD and word + 1 < words.shape[1]:  # the column spans two words
            words[:, word + 1] |= flags >> np.uint64(WORD - bit)
    return words


# Ranks.


def rank_columns(
    compiled_query: CompiledQuery, table: pa.Table
) -> tuple[dict[int, pa.Array], dict[int, list[object]]]:
    """Rank the values of the columns that conditions read as ranks.

    Returns:
        The ranks of each such column, by its index in `SentColumns.columns`. Then the values by
        rank, by the index of the column among the integer columns: only for nested types, and for
        columns that Python computes with.
    """
    indices_by_type: dict[object, list[int]] = {}
    for index in sorted(compiled_query.sent_columns.ranked):
        shape = find_type_shape(table.column(wire.name_column(index)).type)
        indices_by_type.setdefault(shape, []).append(index)
    calls_python = any(compiled_query.task.list_calls())
    ranks: dict[int, pa.Array] = {}
    values_by_column: dict[int, list[object]] = {}
    for indices in indices_by_type.values():
        columns = [arrays.take_encoded_column(table, wire.name_column(index)) for index in indices]
        ranked, values = rank_together(columns, with_values=calls_python)
        for position, index in enumerate(indices):
            ranks[index] = ranked.slice(position * table.num_rows, table.num_rows)
            values_by_column[compiled_query.sent_columns.integers.index(index)] = values
    return ranks, values_by_column


def rank_together(
    columns: Sequence[pa.Array], *, with_values: bool
) -> tuple[pa.Array, list[object]]:
    """Return the ranks of the values of columns, one after the other, and the values by rank.

    Args:
        columns: columns of one type.
        with_values: whether to return the values of a type that is not nested; else the list is
            empty.
    """
    if pa.types.is_nested(columns[0].type):
        return rank_nested(columns)
    if all(pa.types.is_dictionary(values.type) for values in columns):
        together = pa.chunked_array(columns).unify_dictionaries().combine_chunks()
    else:
        decoded = [arrays.decode(values) for values in columns]
        together = pa.chunked_array(decoded).combine_chunks().dictionary_encode()
    ranks = arrays.rank_encoded_values(together)
    return ranks, sort_distinct(together.dictionary) if with_values else []


def sort_distinct(distinct: pa.Array) -> list[object]:
    """Return distinct values that are not NULL in ascending order, in Python."""
    return distinct.take(pc.sort_indices(distinct)).to_pylist()  # type: ignore[no-any-return]


def find_type_shape(kind: pa.DataType) -> object:
    """Return a key that is equal for types with the same values.

    Names of fields do not count, nor whether a field may be NULL, nor whether a column has a
    dictionary.
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not pa.types.is_nested(kind):
        return kind
    return (kind.id, *(find_type_shape(kind.field(index).type) for index in range(kind.num_fields)))


def rank_nested(columns: Sequence[pa.Array]) -> tuple[pa.Array, list[Value]]:
    """Return the ranks of nested values, one column after the other, and the values by rank.

    Ranks begin with 1. Equal values have the same rank, NULL has none. In the values by rank, -0.0
    is 0.0. Maps are ranked, too, but their order has no meaning.

    Args:
        columns: columns of one `find_type_shape`.
    """
    values = [
        None if value is None else find_representative(value)
        for nested in columns
        for value in read_values(nested)
    ]
    keys = [None if value is None else make_rank_key(value) for value in values]
    value_by_key = {key: value for key, value in zip(keys, values, strict=True) if key is not None}
    sorted_keys = sorted(value_by_key)
    rank_by_key = {key: number for number, key in enumerate(sorted_keys, 1)}
    ranks = np.array([0 if key is None else rank_by_key[key] for key in keys], np.int64)
    return make_array(ranks, ranks == 0), [value_by_key[key] for key in sorted_keys]


def read_values(array: pa.Array) -> list[Value]:
    """Return the values of a column of any type, in Python as `functions.function` describes."""
    kind = array.type
    if pa.types.is_nested(kind):
        values = read_structs(array) if pa.types.is_struct(kind) else read_elements(array)
        present: list[bool] = array.is_valid().to_pylist()
        return [
            value if is_present else None for value, is_present in zip(values, present, strict=True)
        ]
    if pa.types.is_temporal(kind):
        array = make_array(read_integers(array), ~find_valid(array))
    return array.to_pylist()  # type: ignore[no-any-return]


def read_structs(array: pa.StructArray) -> list[Value]:
    """Return each struct as a tuple of its fields. Anything may be under a NULL struct."""
    fields = [read_values(values) for values in array.flatten()]
    if not fields:
        return [()] * len(array)
    return list(zip(*fields, strict=True))


def read_elements(array: pa.ListArray | pa.MapArray) -> list[Value]:
    """Return each array as a tuple of its elements, each map as a tuple of (key, value)."""
    if pa.types.is_fixed_size_list(array.type):  # Sail reads such a type from a file
        array = array.cast(pa.list_(array.type.value_field))
    if pa.types.is_map(array.type):
        elements = list(zip(read_values(array.keys), read_values(array.items), strict=True))
    else:
        elements = read_values(array.values)
    return [tuple(elements[begin:end]) for begin, end in pairwise(array.offsets.to_pylist())]


# Ends of windows.


def find_first_rows_outside(
    compiled_query: CompiledQuery, table: pa.Table, starts: IntArray
) -> IntArray | None:
    """Return for each row the first row that is outside of its windows; None without a window."""
    sent_columns = compiled_query.sent_columns
    if compiled_query.window_rows is not None:
        ends: IntArray | None = find_ends_by_row_count(starts, compiled_query.window_rows)
    else:
        ends = find_ends_along_order(table, starts, sent_columns.window, sent_columns.distance)
    ends_of_gaps = find_ends_along_order(table, starts, sent_columns.gap, sent_columns.gap_distance)
    if ends_of_gaps is None:
        return ends
    first_gaps = find_first_gaps(ends_of_gaps, starts)
    return first_gaps if ends is None else np.minimum(ends, first_gaps)


def find_ends_along_order(
    table: pa.Table, starts: IntArray, columns: tuple[int, ...], distance: Distance | None
) -> IntArray | None:
    """Return for each row the first row outside of the window that begins with it.

    Args:
        table: the rows.
        starts: see `encode_partitions`.
        columns: the columns of the order and of the end of each window, or of the order alone if
            there is a distance. Empty without a window, for which None is returned.
        distance: how far the window reaches, if that was known when the query was compiled.
    """
    if not columns:
        return None
    order = take_column(table, wire.name_column(columns[0]))
    if distance is not None:
        return find_ends_at_distance(distance, order, starts)
    bound = take_column(table, wire.name_column(columns[1]))
    return find_ends_by_bounds(starts, *make_comparable(order, bound))


def make_comparable(
    order: pa.Array, bound: pa.Array
) -> tuple[IntArray, BoolArray, IntArray, BoolArray]:
    """Return the keys of rows and the ends of their windows as int64 that compare as they do.

    Returns:
        The keys, which of them are not NULL, the ends, and which of these are not NULL.
    """
    if pa.types.is_floating(order.type) or arrays.is_whole(order.type):
        keys = arrays.sort_keys(order)
        bounds = arrays.sort_keys(bound)
    else:
        # int64 cannot hold such values, but both columns have one type, so their ranks compare
        together = pa.chunked_array([order, bound]).combine_chunks()
        ranks = read_integers(arrays.rank_values(together))
        keys, bounds = np.split(ranks, [len(order)])
    return keys, find_valid(order), bounds, find_valid(bound)


def find_first_gaps(ends_of_gaps: IntArray, starts: IntArray) -> IntArray:
    """Return for each row the next row that is too far from the row before it, as int64[n].

    The first row of the next partition counts as too far.

    Args:
        ends_of_gaps: int64[n], for each row the first row that is too far from it.
        starts: see `encode_partitions`.
    """
    next_row = np.arange(1, starts[-1] + 1)
    borders = np.unique(np.append(next_row[ends_of_gaps <= next_row], starts))
    return borders[np.searchsorted(borders, next_row - 1, side="right")]


def find_ends_at_distance(window: Distance, order: pa.Array, starts: IntArray) -> IntArray:
    """Return for each row the first row that is further from it than a known distance."""
    valid = find_valid(order)
    if not pa.types.is_floating(order.type):
        # with the sign bit flipped, they compare as uint64, whose differences do not overflow
        keys = read_integers(order).view(np.uint64) ^ SIGN_BIT
        ends = find_ends_by_distance(starts, keys, valid, np.uint64(window.limit))
    elif window.forms == (DistanceForm.DIFFERENCE,):
        ends = find_ends_by_distance(starts, read_floats(order), valid, np.float64(window.limit))
    else:
        # the conditions round floats, so the same operation is done to the same side
        values = read_floats(order)
        bounds = values
        if window.forms == (DistanceForm.SUM,):
            bounds = values + window.limit
        else:
            values = values - window.limit
        rising_bounds = arrays.order_floats(bounds) + (not window.strict)
        ends = find_ends_by_bounds(starts, arrays.order_floats(values), valid, rising_bounds, valid)
    if window.first_must_be_inside:
        return ends
    # the first row is always inside
    return np.asarray(np.maximum(ends, np.arange(1, len(ends) + 1)), np.int64)


# Checks of windows.


def check_ends_of_windows(compiled_query: CompiledQuery, table: pa.Table, starts: IntArray) -> None:
    """Check that the end of every window is known and right.

    Args:
        compiled_query: the compiled query.
        table: the rows.
        starts: see `encode_partitions`.

    Raises:
        RunFailure: the end of a window is NULL, it is before its beginning, or what the conditions
            compute for a window wraps around.
    """
    sent_columns = compiled_query.sent_columns
    for clause, columns in (
        ("WITHIN", sent_columns.window),
        ("WITHIN BETWEEN ROWS", sent_columns.gap),
    ):
        if len(columns) == 2:
            order, bound = (take_column(table, wire.name_column(index)) for index in columns)
            check_window_ends(clause, order, bound)
    distance = sent_columns.distance
    if distance is not None and distance.bits and not compiled_query.ansi:
        check_distance(
            distance, starts, take_column(table, wire.name_column(sent_columns.window[0]))
        )


def check_window_ends(clause: str, order: pa.Array, bound: pa.Array) -> None:
    """Raise RunFailure if the sum of a key and a length is NULL or has wrapped around.

    Args:
        clause: the clause that the error names.
        order: the keys of the rows.
        bound: the ends of the windows that begin with them.
    """
    keys, has_key, bounds, has_bound = make_comparable(order, bound)
    is_wrong = has_key & ~(has_bound & (keys <= bounds))
    fail_at_first(is_wrong, failures.wrong_window_length, words=clause)


def check_distance(window: Distance, starts: IntArray, order: pa.Array) -> None:
    """Raise RunFailure if what the conditions of a window compute would wrap around.

    Without ANSI mode the engine's integers wrap around, and the conditions would hold again for
    rows that are far outside of the window.

    Args:
        window: the distance, along integers.
        starts: see `encode_partitions`.
        order: the keys of the rows.
    """
    if not len(order):
        return
    keys = read_integers(order)
    valid = find_valid(order)
    greatest = (1 << window.bits - 1) - 1
    wraps = np.zeros(len(keys), np.bool_)
    if DistanceForm.SUM in window.forms:
        wraps |= keys > greatest - window.limit - 1
    if DistanceForm.LESS in window.forms:
        wraps |= keys < window.limit - greatest
    if DistanceForm.DIFFERENCE in window.forms:
        present_keys = np.where(valid, keys, np.iinfo(np.int64).max)
        least = np.minimum.reduceat(present_keys, starts[:-1])  # of each partition
        least = np.repeat(least, np.diff(starts))
        wraps |= (keys > least) & ((keys - least).view(np.uint64) > greatest)
    variables = " and ".join(window.variables)
    fail_at_first(
        np.asarray(wraps & valid, np.bool_), failures.window_overflow, variables=variables
    )


def fail_at_first(is_wrong: BoolArray, make_error: MakeRunError, **fields: object) -> None:
    """Raise RunFailure for the first row that is wrong, if there is one.

    Args:
        is_wrong: bool[n], which rows are wrong.
        make_error: makes the error.
        fields: its arguments, without the location of the row.
    """
    if is_wrong.any():
        raise RunFailure(make_error, int(np.argmax(is_wrong)), fields)
