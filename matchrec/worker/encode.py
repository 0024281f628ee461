"""Arrow columns → the arrays that an engine sees, and where windows end.

Integers, booleans, dates, timestamps and intervals become int64, floats float64. Values of any
other sortable type become their rank among all values of the columns of that type that are read
by run conditions. Windows are those of WITHIN, of a number of rows, and those that conditions say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.compile.executable import ColumnAspect, Executable, TotalledColumn
from matchrec.conditions.functions.comparisons import normalized, rank
from matchrec.conditions.functions.function import Value
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.message import Message
from matchrec.errors.run import failures
from matchrec.plan.clauses import Distance, Form
from matchrec.search import partitions
from matchrec.search.matches import RunFailure
from matchrec.search.partitions import BoolArray, Frontier, IntArray, Partitions, ends_by_distance
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import arrow_of, as_floats, as_integers, column, validity

SIGN = np.uint64(1 << 63)
WORD = 64  # bits


def partitions_of(
    executable: Executable,
    table: pa.Table,
    starts: IntArray,
    frontier: Frontier | None = None,
    satisfied: partitions.WordArray | None = None,
) -> Partitions:
    """The engine's view of a table whose columns are those of `spark.columns`. satisfied: the row
    conditions as an engine reads them, if no column of the table has them.
    """
    if satisfied is None:
        satisfied = satisfied_words(table, len(executable.conditions))
    ranks, values = ranked_columns(executable, table)
    windows = window_end(executable, table, starts)
    if windows is not None and frontier is not None and frontier.goes_on:
        windows = frontier.let_grow(starts, windows)
        if executable.window_rows is not None:  # one of rows ends, whatever comes
            windows = np.minimum(windows, np.arange(len(windows)) + executable.window_rows)

    def held(indices: tuple[int, ...]) -> list[pa.Array]:
        return [ranks.get(i, column(table, wire.column(i))) for i in indices]

    integers, floats = held(executable.crossing.integers), held(executable.crossing.floats)
    added = [column(table, wire.column(one.column)) for one in executable.totalled]
    numbers = [*map(as_read, integers), *(as_floats(one).view(np.int64) for one in floats)]
    numbers += [as_added(*one) for one in zip(added, executable.totalled, strict=True)]
    known = [validity(one) for one in (*integers, *floats, *added)]
    return Partitions(
        frontier=frontier,
        window_end=windows,
        ends=ends_of(executable, table),
        starts=starts,
        satisfied=satisfied,
        columns=stacked(numbers, table.num_rows, np.int64),
        valid=stacked(known, table.num_rows, np.bool_),
        integers=len(integers),
        ranked=values,
    )


def as_read(values: pa.Array) -> IntArray:
    """int64[n], what conditions read of a column of no floats; of a type that has neither numbers
    nor ranks they ask whether a value is NULL, and no more.
    """
    kind = values.type
    has_numbers = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    is_asked = has_numbers and not pa.types.is_interval(kind)
    return as_integers(values) if is_asked else np.zeros(len(values), np.int64)


def as_added(values: pa.Array, totalled: TotalledColumn) -> IntArray:
    """int64[n], what totals read of a column: a float as its bits, or numbers in its order."""
    if totalled.aspect is ColumnAspect.PRESENCE:
        return np.zeros(len(values), np.int64)
    if totalled.aspect is ColumnAspect.ORDER:
        return arrays.sort_keys(values)
    is_floating = pa.types.is_floating(values.type)
    return as_floats(values).view(np.int64) if is_floating else as_integers(values)


def ends_of(executable: Executable, table: pa.Table) -> IntArray | None:
    """When windows end that begin with a row, as far as they compare: see `Partitions`. One that
    ends at no time of its type never does.
    """
    stages = executable.task.stages
    if not executable.crossing.ends or stages is None or not stages.timeouts:
        return None
    ends = [column(table, wire.column(i)) for i in executable.crossing.ends]
    if not all(arrays.is_whole(one.type) for one in ends):
        tables = [pa.table({"ends": one}) for one in ends]  # decimals of several types become one
        whole = pa.concat_tables(tables, promote_options="permissive")
        ranks = arrays.dense_ranks(whole.column("ends").combine_chunks())
        ends = [ranks.slice(i * table.num_rows, table.num_rows) for i in range(len(ends))]
    never = np.iinfo(np.int64).max
    found = [np.where(validity(one), as_integers(one), never) for one in ends]
    if not executable.task.windowed:
        found.insert(0, np.full(table.num_rows, never))
    return stacked(found, table.num_rows, np.int64)


def value_at(table: pa.Table, name: str, row: int) -> object:
    """A value as Python's; as text, where Python has no such date or time."""
    value = table.column(name)[row]
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.string()).as_py()


def stacked(columns: Sequence[npt.NDArray[np.generic]], rows: int, kind: type) -> npt.NDArray:  # type: ignore[type-arg]
    if not columns:
        return np.empty((0, rows), kind)
    return np.ascontiguousarray(np.stack(columns).astype(kind, copy=False))


def satisfied_words(table: pa.Table, conditions: int, bits: int = 0) -> partitions.WordArray:
    """uint64[n, w]: bit c says that condition c holds; the first packed bit is dropped. bits: how
    many there is to be room for, if for more.
    """
    columns = range(wire.bit_columns_of(conditions))
    packed = [as_integers(column(table, wire.bits(i))).view(np.uint64) for i in columns]
    words = np.zeros((table.num_rows, -(-max(1, conditions, bits) // WORD)), np.uint64)
    words[:, 0] = packed[0] >> np.uint64(1)
    size = wire.bits_a_column()
    for index, flags in enumerate(packed[1:], 1):
        word, bit = divmod(index * size - 1, WORD)
        words[:, word] |= flags << np.uint64(bit)
        if bit + size > WORD and word + 1 < words.shape[1]:
            words[:, word + 1] |= flags >> np.uint64(WORD - bit)
    return words


def ranked_columns(
    executable: Executable, table: pa.Table
) -> tuple[dict[int, pa.Array], dict[int, list[object]]]:
    """For every ranked column, the dense ranks of its values; columns of one type rank together.
    Then, where Python computes with them, for each integer column the values in that order.
    """
    by_type: dict[object, list[int]] = {}
    for index in sorted(executable.crossing.ranked):
        by_type.setdefault(shape(table.column(wire.column(index)).type), []).append(index)
    ranks: dict[int, pa.Array] = {}
    values: dict[int, list[object]] = {}
    for indices in by_type.values():
        columns = [column(table, wire.column(index)) for index in indices]
        if pa.types.is_nested(columns[0].type):
            ranked, known = rank_nested(columns)
        else:
            together = pa.chunked_array(columns).combine_chunks()
            ranked = arrays.ranks_of_repeated(together)
            known = ordered(together) if any(executable.task.calls()) else []
        for position, index in enumerate(indices):
            ranks[index] = ranked.slice(position * table.num_rows, table.num_rows)
            values[executable.crossing.integers.index(index)] = known
    return ranks, values


def ordered(values: pa.Array) -> list[object]:
    """The different values in ascending order, as Python's; without NULL."""
    different = pc.unique(values.drop_null())
    return different.take(pc.sort_indices(different)).to_pylist()  # type: ignore[no-any-return]


def shape(kind: pa.DataType) -> object:
    """What is equal for equal types, also where names of parts differ, or whether they are NULL."""
    if not pa.types.is_nested(kind):
        return kind
    return (kind.id, *(shape(kind.field(place).type) for place in range(kind.num_fields)))


def rank_nested(columns: Sequence[pa.Array]) -> tuple[pa.Array, list[Value]]:
    """The ranks of the values of columns of one shape, one column after the other: from 1 on, equal
    ones alike, NULL for NULL. And the values by rank. Zeros among them lose their sign. Maps have
    an order, too, which means nothing.
    """
    found = (one for column in columns for one in values_of(column))
    values = [None if one is None else normalized(one) for one in found]
    keys = [None if value is None else rank(value) for value in values]
    of_key = {key: value for key, value in zip(keys, values, strict=True) if key is not None}
    ordered = sorted(of_key)
    numbers = {key: number for number, key in enumerate(ordered, 1)}
    ranks = np.array([0 if key is None else numbers[key] for key in keys], np.int64)
    return arrow_of(ranks, ranks == 0), [of_key[key] for key in ordered]


def values_of(array: pa.Array) -> list[Value]:
    """Values of any type, as `conditions.functions.function` has them."""
    kind = array.type
    if pa.types.is_nested(kind):
        if pa.types.is_struct(kind):
            found = list(zip(*map(values_of, array.flatten()), strict=True)) or [()] * len(array)
        else:
            found = lists_of(array)
        present: list[bool] = array.is_valid().to_pylist()
        return [one if valid else None for one, valid in zip(found, present, strict=True)]
    if pa.types.is_temporal(kind):
        array = arrow_of(as_integers(array), ~validity(array))
    return array.to_pylist()  # type: ignore[no-any-return]


def lists_of(array: pa.ListArray | pa.MapArray) -> list[Value]:
    """Tuples of the elements, or of keys with their values."""
    if pa.types.is_fixed_size_list(array.type):  # as Sail has it from a file
        array = array.cast(pa.list_(array.type.value_field))
    if pa.types.is_map(array.type):
        elements = list(zip(values_of(array.keys), values_of(array.items), strict=True))
    else:
        elements = values_of(array.values)
    return [tuple(elements[begin:end]) for begin, end in pairwise(array.offsets.to_pylist())]


def window_end(executable: Executable, table: pa.Table, starts: IntArray) -> IntArray | None:
    """For each row the first row that is outside of its windows; None without a window."""
    crossing = executable.crossing
    if executable.window_rows is not None:
        whole: IntArray | None = partitions.ends_after(starts, executable.window_rows)
    else:
        whole = ends_of_windows(table, starts, crossing.window, crossing.distance)
    if (near := ends_of_windows(table, starts, crossing.gap, crossing.gap_distance)) is None:
        return whole
    # the next row that lies too far after the row before it, or which is not of its partition
    following = np.arange(1, starts[-1] + 1)
    borders = np.unique(np.append(following[near <= following], starts))
    ends = borders[np.searchsorted(borders, following - 1, side="right")]
    return ends if whole is None else np.minimum(whole, ends)


def ends_of_windows(
    table: pa.Table, starts: IntArray, places: tuple[int, ...], distance: Distance | None
) -> IntArray | None:
    """For each row the first row outside of a window that begins with it; None without one. places:
    of the columns that say where it is: the order and the end, or the order alone.
    """
    if not places:
        return None
    order, *rest = (column(table, wire.column(i)) for i in places)
    if distance is not None:
        return ends_at_distance(distance, order, starts)
    return partitions.window_ends(starts, *comparable(order, *rest))


def comparable(order: pa.Array, bound: pa.Array) -> tuple[IntArray, BoolArray, IntArray, BoolArray]:
    """The keys of rows and the ends of their windows as int64 that compare, and which there are."""
    if pa.types.is_floating(order.type) or arrays.is_whole(order.type):
        keys, bounds = arrays.sort_keys(order), arrays.sort_keys(bound)
    else:  # of one type, whose ranks compare
        both = as_integers(arrays.dense_ranks(pa.chunked_array([order, bound]).combine_chunks()))
        keys, bounds = np.split(both, [len(order)])
    return keys, validity(order), bounds, validity(bound)


def ends_at_distance(window: Distance, order: pa.Array, starts: IntArray) -> IntArray:
    """For each row the first row outside of a window of which it is known how far it reaches."""
    valid = validity(order)
    if not pa.types.is_floating(order.type):
        keys = as_integers(order).view(np.uint64) ^ SIGN  # a difference does not overflow
        ends = ends_by_distance(starts, keys, valid, np.uint64(window.limit))
    elif window.forms == (Form.DIFFERENCE,):
        ends = ends_by_distance(starts, as_floats(order), valid, np.float64(window.limit))
    else:
        first = here = as_floats(order)
        if window.forms == (Form.SUM,):
            first = first + window.limit
        else:
            here = here - window.limit
        bounds = arrays.rising_floats(first) + (not window.strict)
        ends = partitions.window_ends(starts, arrays.rising_floats(here), valid, bounds, valid)
    return ends if window.tests_first else np.maximum(ends, np.arange(1, len(ends) + 1))


def check_windows(executable: Executable, table: pa.Table, starts: IntArray) -> None:
    """Raises RunFailure for a window whose end is not known, or would not be right."""
    crossing = executable.crossing
    for words, places in (("WITHIN", crossing.window), ("WITHIN BETWEEN ROWS", crossing.gap)):
        if len(places) == 2:
            order, end = (column(table, wire.column(i)) for i in places)
            keys, valid, bounds, known = comparable(order, end)
            wrong = valid & ~(known & (keys <= bounds))  # no sum, or one that has wrapped around
            fail_at(wrong, failures.window_without_end, words=words)
    if crossing.distance is not None and crossing.distance.bits and not executable.ansi:
        check_distance(crossing.distance, starts, column(table, wire.column(crossing.window[0])))


def fail_at(wrong: BoolArray, message: Message[MatchRecognizeRunError], **fields: object) -> None:
    """Raises RunFailure of the first of these rows, if there is one."""
    if wrong.any():
        raise RunFailure(message, int(np.argmax(wrong)), fields)


def check_distance(window: Distance, starts: IntArray, order: pa.Array) -> None:
    """Raises RunFailure where what conditions compute would wrap around, as Spark's does not in
    ANSI mode: then they would hold of rows again that are too far away.
    """
    if not len(order):
        return
    keys, valid = as_integers(order), validity(order)
    most = (1 << window.bits - 1) - 1
    wraps = np.zeros(len(keys), np.bool_)
    if Form.SUM in window.forms:
        wraps |= keys > most - window.limit - 1
    if Form.LESS in window.forms:
        wraps |= keys < window.limit - most
    if Form.DIFFERENCE in window.forms:
        first = np.minimum.reduceat(np.where(valid, keys, np.iinfo(np.int64).max), starts[:-1])
        first = np.repeat(first, np.diff(starts))
        wraps |= (keys > first) & ((keys - first).view(np.uint64) > most)
    variables = " and ".join(window.variables)
    fail_at(np.asarray(wraps & valid, np.bool_), failures.window_wraps, variables=variables)
