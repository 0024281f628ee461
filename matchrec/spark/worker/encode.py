"""Arrow columns → the arrays that an engine sees.

Integers, booleans, dates, timestamps and intervals become int64, floats float64. Values of any
other sortable type become their rank among all values of the columns of that type that are read
by run conditions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.compile.executable import Executable
from matchrec.engine.partitions import (
    Frontier,
    IntArray,
    Partitions,
    WordArray,
)
from matchrec.spark import wire
from matchrec.spark.before.bits import BITS_A_COLUMN
from matchrec.spark.worker.arrays import (
    as_floats,
    as_integers,
    column,
    dense_ranks,
    is_whole,
    ranks_of_repeated,
    validity,
)
from matchrec.spark.worker.nested import Shape, rank_nested, shape
from matchrec.spark.worker.windows import window_end


def partitions_of(
    executable: Executable,
    table: pa.Table,
    starts: IntArray,
    frontier: Frontier | None = None,
    satisfied: WordArray | None = None,
) -> Partitions:
    """The engine's view of a table whose columns are those of `spark.before.columns`.

    satisfied: the row conditions as an engine reads them, if no column of the table has them.
    """
    if satisfied is None:
        satisfied = satisfied_words(table, len(executable.conditions))
    ranks, values = ranked_columns(executable, table)

    def held(indices: tuple[int, ...]) -> list[pa.Array]:
        return [ranks.get(i, column(table, wire.column(i))) for i in indices]

    integers, floats = held(executable.crossing.integers), held(executable.crossing.floats)
    rows = table.num_rows
    return Partitions(
        frontier=frontier,
        window_end=window_end(executable, table, starts),
        ends=ends_of(executable, table),
        starts=starts,
        satisfied=satisfied,
        integers=stacked([as_integers(one) for one in integers], rows, np.int64),
        floats=stacked([as_floats(one) for one in floats], rows, np.float64),
        integers_valid=stacked([validity(one) for one in integers], rows, np.bool_),
        floats_valid=stacked([validity(one) for one in floats], rows, np.bool_),
        ranked=values,
    )


def ends_of(executable: Executable, table: pa.Table) -> IntArray | None:
    """When windows end that begin with a row, as far as they compare: see `Partitions`."""
    stages = executable.task.stages
    if not executable.crossing.ends or stages is None or not stages.timeouts:
        return None
    ends = [column(table, wire.column(i)) for i in executable.crossing.ends]
    if not all(is_whole(one.type) for one in ends):
        ranks = dense_ranks(pa.chunked_array(ends).combine_chunks())
        ends = [ranks.slice(i * table.num_rows, table.num_rows) for i in range(len(ends))]
    found: list[npt.NDArray[np.generic]] = [as_integers(one) for one in ends]
    if not executable.task.windowed:
        found.insert(0, np.full(table.num_rows, np.iinfo(np.int64).max))
    return stacked(found, table.num_rows, np.int64)


def value_at(table: pa.Table, name: str, row: int) -> object:
    """A value as Python's; as text, where Python has no such date or time."""
    value = table.column(name)[row]
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return value.cast(pa.string()).as_py()


def stacked(columns: list[npt.NDArray[np.generic]], rows: int, kind: type) -> npt.NDArray:  # type: ignore[type-arg]
    """kind[len(columns), rows]."""
    if not columns:
        return np.empty((0, rows), kind)
    return np.ascontiguousarray(np.stack(columns).astype(kind, copy=False))


def satisfied_words(table: pa.Table, conditions: int) -> WordArray:
    """uint64[n, w]: bit c says that condition c holds; the first packed bit is dropped."""
    flags = conditions + 1
    columns = range((flags + BITS_A_COLUMN - 1) // BITS_A_COLUMN)
    packed = [as_integers(column(table, wire.bits(i))).view(np.uint64) for i in columns]
    if len(packed) == 1:
        return np.asarray((packed[0] >> np.uint64(1)).reshape(-1, 1), np.uint64)
    words = np.zeros((table.num_rows, (conditions + 63) // 64), np.uint64)
    for condition in range(conditions):
        source, bit = divmod(condition + 1, BITS_A_COLUMN)
        flag = (packed[source] >> np.uint64(bit)) & np.uint64(1)
        words[:, condition // 64] |= flag << np.uint64(condition % 64)
    return words


def ranked_columns(
    executable: Executable, table: pa.Table
) -> tuple[dict[int, pa.Array], dict[int, list[object]]]:
    """For every ranked column, the dense ranks of its values; columns of one type rank together.

    Then, where Python computes with them, for each integer column the values in that order.
    """
    by_type: dict[Shape, list[int]] = {}
    for index in sorted(executable.crossing.ranked):
        by_type.setdefault(shape(table.column(wire.column(index)).type), []).append(index)
    ranks: dict[int, pa.Array] = {}
    values: dict[int, list[object]] = {}
    for indices in by_type.values():
        columns = [column(table, wire.column(index)) for index in indices]
        ranked, known = ranked_together(columns, in_python=executable.task.calls_python)
        for position, index in enumerate(indices):
            ranks[index] = ranked.slice(position * table.num_rows, table.num_rows)
            values[executable.crossing.integers.index(index)] = known
    return ranks, values


def ranked_together(columns: list[pa.Array], *, in_python: bool) -> tuple[pa.Array, list[object]]:
    """The ranks of the values of columns, one after the other; the values, if Python needs them."""
    if pa.types.is_nested(columns[0].type):
        return rank_nested(columns)
    together = pa.chunked_array(columns).combine_chunks()
    return ranks_of_repeated(together), ordered(together) if in_python else []


def ordered(values: pa.Array) -> list[object]:
    """The different values in ascending order, as Python's; without NULL."""
    different = pc.unique(values.drop_null())
    found: list[object] = different.take(pc.sort_indices(different)).to_pylist()
    return found
