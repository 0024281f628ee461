"""Rank the values of columns that conditions compare and int64 cannot hold, such as texts.

Ranks begin with 1, and equal values have the same rank. Columns of one type are ranked together, so
that a condition can compare them:

    name        ["bob", "al", NULL, "bob"]    →    [2, 1, NULL, 2]
    nickname    ["al", "cy", NULL, NULL]      →    [1, 3, NULL, NULL]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.functions.comparisons import find_representative, make_rank_key
from matchrec.worker import arrays, internal_names
from matchrec.worker.arrays import make_array
from matchrec.worker.python_values import read_values
from matchrec.worker.sort_keys import rank_encoded_values


class Ranking(NamedTuple):
    """The ranks of the values of a column, or of several columns one after the other."""

    # int64, the rank of each value; NULL for NULL.
    ranks: pa.Array
    # The distinct values in Python, in the order of their ranks. Values of other columns are among
    # them if the columns were ranked together. Empty if nobody reads the distinct values.
    distinct_values: list[object]


def rank_columns(compiled_query: CompiledQuery, table: pa.Table) -> dict[int, Ranking]:
    """Rank the values of the columns that conditions read as ranks.

    Returns:
        The ranking of each such column, by its index in `SentColumns.columns`. A ranking has the
        distinct values if their type is nested, or if a condition calls Python.
    """
    indices_by_type: dict[object, list[int]] = {}
    for index in sorted(compiled_query.sent_columns.ranked_columns):
        shape = find_type_shape(table.column(internal_names.name_column(index)).type)
        indices_by_type.setdefault(shape, []).append(index)
    calls_python = any(compiled_query.task.find_python_expressions())
    rankings: dict[int, Ranking] = {}
    for indices in indices_by_type.values():
        columns = [
            arrays.take_encoded_column(table, internal_names.name_column(index))
            for index in indices
        ]
        common_ranking = rank_together(columns, with_values=calls_python)
        for position, index in enumerate(indices):
            ranks = common_ranking.ranks.slice(position * table.num_rows, table.num_rows)
            rankings[index] = common_ranking._replace(ranks=ranks)
    return rankings


def rank_together(columns: Sequence[pa.Array], *, with_values: bool) -> Ranking:
    """Return the ranking of the values of several columns, one column after the other.

    Args:
        columns: one or more columns of one `find_type_shape`.
        with_values: whether to return the distinct values of a type that is not nested. The values
            of a nested type are always returned.
    """
    if pa.types.is_nested(columns[0].type):
        return rank_nested(columns)
    if all(pa.types.is_dictionary(values.type) for values in columns):
        all_values = pa.chunked_array(columns).unify_dictionaries().combine_chunks()
    else:
        decoded = [arrays.decode_dictionary(values) for values in columns]
        all_values = pa.chunked_array(decoded).combine_chunks().dictionary_encode()
    distinct_values = sort_distinct(all_values.dictionary) if with_values else []
    return Ranking(rank_encoded_values(all_values), distinct_values)


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


def rank_nested(columns: Sequence[pa.Array]) -> Ranking:
    """Return the ranking of nested values, one column after the other.

    In the distinct values, -0.0 is 0.0. Maps are ranked, too, but their order has no meaning.

    Args:
        columns: columns of one `find_type_shape`.
    """
    keys: list[Any] = []  # the rank key of each value, None for NULL
    value_by_key: dict[Any, object] = {}
    for column in columns:
        for value in read_values(column):
            if value is None:
                keys.append(None)
                continue
            representative = find_representative(value)
            key = make_rank_key(representative)
            keys.append(key)
            value_by_key[key] = representative
    sorted_keys = sorted(value_by_key)
    rank_by_key = {key: number for number, key in enumerate(sorted_keys, 1)}
    ranks = np.array([0 if key is None else rank_by_key[key] for key in keys], np.int64)
    return Ranking(make_array(ranks, ranks == 0), [value_by_key[key] for key in sorted_keys])
