"""Rank the values of columns that conditions compare and int64 cannot hold, such as texts.

Ranks begin with 1, and equal values have the same rank. Columns of one type are ranked together, so
that a condition may compare them:

    name        ["bob", "al", NULL, "bob"]    →    [2, 1, NULL, 2]
    nickname    ["al", "cy", NULL, NULL]      →    [1, 3, NULL, NULL]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.functions.comparisons import find_representative, make_rank_key
from matchrec.conditions.functions.function import Value
from matchrec.worker import arrays, wire
from matchrec.worker.arrays import make_array
from matchrec.worker.python_values import read_values
from matchrec.worker.sort_keys import rank_encoded_values


def rank_columns(
    compiled_query: CompiledQuery, table: pa.Table
) -> tuple[dict[int, pa.Array], dict[int, list[object]]]:
    """Rank the values of the columns that conditions read as ranks.

    Returns:
        The ranks of each such column, by its index in `SentColumns.columns`. And the values of each
        such column in the order of their ranks, by its index among the integer columns. They are
        left out (an empty list) unless the type is nested or a condition calls Python.
    """
    indices_by_type: dict[object, list[int]] = {}
    for index in sorted(compiled_query.sent_columns.ranked):
        shape = find_type_shape(table.column(wire.name_column(index)).type)
        indices_by_type.setdefault(shape, []).append(index)
    calls_python = any(compiled_query.task.iterate_calls())
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
    ranks = rank_encoded_values(together)
    return ranks, sort_distinct(together.dictionary) if with_values else []


def sort_distinct(distinct: pa.Array) -> list[object]:
    """Return distinct values that are not NULL in ascending order, in Python."""
    return distinct.take(pc.sort_indices(distinct)).to_pylist()  # type: ignore[no-any-return]


def find_type_shape(data_type: pa.DataType) -> object:
    """Return a key that is equal for types with the same values.

    Names of fields do not count, nor whether a field may be NULL, nor whether a column has a
    dictionary.
    """
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
    if not pa.types.is_nested(data_type):
        return data_type
    return (
        data_type.id,
        *(find_type_shape(data_type.field(index).type) for index in range(data_type.num_fields)),
    )


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
