"""Join queries that share one pass over the input: give each condition its bit.

A clause is a single query, and each rule of a set is a query. A condition is computed once for all
queries, and its truth value is a bit of each row. The bits of Spark's conditions come first, in the
order of `JoinedQueries.row_conditions`. The bits of the workers' conditions follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.origins import ComputedValue
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.run.origins import SqlOrigin
from matchrec.plan.clauses import RowExpression, SortItem
from matchrec.plan.expression import Scalar


class NearbyKey(NamedTuple):
    """The key of a condition that the worker computes. Conditions with equal keys share a bit."""

    # The columns by which the rule divides partitions further.
    dividing_columns: tuple[RowColumn, ...]
    # The bit of the part that Spark computes; None without such a part.
    spark_bit: int | None
    # The condition as Spark would compute it.
    column: RowColumn


@dataclass(frozen=True)
class JoinedQueries:
    """Queries that share one pass over the input, and the values that Spark computes for them.

    The queries are a single one, or all rules of a set.
    """

    queries: tuple[SplitQuery, ...]
    # The expressions that divide the rows into partitions.
    partition_keys: tuple[RowExpression, ...]
    # The order of the rows in each partition.
    order_by: tuple[SortItem, ...]
    # The conditions that Spark computes, each once. The index of a condition is its bit.
    row_conditions: tuple[RowColumn, ...]
    # The filters of all queries. There are none if a query needs all rows.
    row_filters: tuple[RowColumn, ...]
    # Columns that are sent for all queries, in addition to the columns that each query needs.
    shared_columns: tuple[RowColumn, ...] = ()
    # The origins of all queries, as in `SplitQuery`.
    origins: Mapping[ComputedValue, SqlOrigin] = field(default_factory=dict)
    # The conjuncts of all queries, as in `SplitQuery`.
    conjuncts: Mapping[RowColumn, tuple[Scalar, ...]] = field(default_factory=dict)

    @property
    def sorted_by(self) -> tuple[RowExpression, ...]:
        """Return the partition keys, then the keys of ORDER BY."""
        return (*self.partition_keys, *(item.expression for item in self.order_by))

    @cached_property
    def columns(self) -> tuple[RowColumn, ...]:
        """Return every column whose type must be known to compile the queries, each once."""
        query_columns = [column for query in self.queries for column in query.columns]
        return tuple(dict.fromkeys((*self.shared_columns, *query_columns)))

    def number_shared_columns(self) -> dict[RowColumn, int]:
        """Return the indices of the shared columns, which come before all other sent columns."""
        return {column: index for index, column in enumerate(self.shared_columns)}

    @cached_property
    def spark_bits(self) -> Mapping[RowColumn, int]:
        """Return the bit of each condition that Spark computes."""
        return {condition: bit for bit, condition in enumerate(self.row_conditions)}

    @cached_property
    def nearby_bits(self) -> Mapping[NearbyKey, int]:
        """Return the bit of each condition that a worker computes. These bits follow Spark's."""
        bits: dict[NearbyKey, int] = {}
        for query in self.queries:
            dividing_columns = find_dividing_columns(query.plan)
            for condition, test in query.find_nearby_tests():
                spark_bit = self.find_spark_bit(condition)
                key = NearbyKey(dividing_columns, spark_bit, test.column)
                bits.setdefault(key, len(self.row_conditions) + len(bits))
        return bits

    def find_spark_bit(self, condition: SplitCondition) -> int | None:
        """Return the bit of the part of a condition that Spark computes.

        None if Spark computes no part of the condition. For stages, the bit is also None for a part
        that is always true: `SplitQuery.row_conditions` leaves this part out.
        """
        return None if condition.row_test is None else self.spark_bits.get(condition.row_test)


def join_query(query: SplitQuery) -> JoinedQueries:
    """Return a single query with the values that Spark computes for it."""
    return JoinedQueries(
        queries=(query,),
        partition_keys=query.plan.partition_keys,
        order_by=query.plan.order_by,
        row_conditions=query.row_conditions,
        row_filters=query.row_filters,
        origins=query.origins,
        conjuncts=query.conjuncts,
    )
