"""A plan over a relation → its draft, and what has Spark prepare the rows: by whom they are sorted.

Spark's sort is the largest part of what a query costs besides the crossing. A worker sorts by
compiled code; Spark then only shuffles, no window follows, and what conditions read on neighbouring
rows is the worker's to look up. It can do so where the order and the equality of the types are
reproduced exactly, and where nothing is needed of several rows that only Spark can compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.types import DataType

from matchrec.compile.draft import Draft
from matchrec.compile.path import draft
from matchrec.conditions.functions.times.zones import has_one_offset
from matchrec.conditions.row_column import show_column
from matchrec.conditions.split import Scope, needs_spark
from matchrec.conditions.within import OrderType
from matchrec.errors.calls import worker_cannot_sort
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.use import Use
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.options import Options
from matchrec.spark.relation import Relation
from matchrec.spark.sorting import sorts_exactly
from matchrec.spark.streaming.execute import scope_of
from matchrec.spark.streaming.prepare import Events
from matchrec.spark.types import value_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SORTS = ("auto", "spark", "worker")


@dataclass(frozen=True)
class Execution:
    """A plan that is to run over a relation. use: what is used of its result.

    rows, columns: of the relation.
    """

    plan: MatchPlan
    relation: Relation
    rows: DataFrame
    columns: InputColumns
    options: Options
    use: Use

    def draft(self, scope: Scope) -> Draft:
        """The draft of the plan. scope: what Spark can compute before the match."""
        chosen, order = self.options.optimisations, type_of_order(self.relation)
        return draft(self.plan, self.columns, self.relation.name_of, chosen, scope, order)

    def key_tests(self, drafted: Draft) -> tuple[str, ...]:
        """Tests of whole partitions: see `key_tests`."""
        return key_tests(drafted.plan, self.columns, self.use)

    def type_of(self, text: str) -> DataType:
        """The type of an expression over one row."""
        name = self.columns.name(text)
        return self.relation.type_of(text) if name is None else self.rows.schema[name].dataType


def prepare_stream(execution: Execution) -> tuple[Preparation, Draft]:
    """What computes columns and bits of events."""
    drafted = execution.draft(scope_of(execution.plan))
    return Events(execution.relation, drafted.plan), drafted


def prepare_batch(execution: Execution) -> tuple[Preparation, Draft]:
    """What computes columns and bits of whole partitions, sorted by the workers or by Spark.

    Raises MatchRecognizeUnsupportedError where workers are asked to sort what they cannot.
    """
    reason = why_spark_sorts(execution)
    if reason is None:
        drafted = execution.draft(Scope.SORTED)
        reason = next(obstacles(drafted, execution.type_of), None)
        if reason is None:
            return Unsorted(execution.relation, drafted.plan, execution.key_tests(drafted)), drafted
    if execution.options.sort == "worker":
        raise worker_cannot_sort(reason)
    drafted = execution.draft(Scope.NEIGHBOURS)
    tests = execution.key_tests(drafted)
    return preparation_of(execution.relation, drafted.plan, tests, reason), drafted


def why_spark_sorts(execution: Execution) -> str | None:
    """Why the workers are not to sort, as far as the query tells; None if they may."""
    options = execution.options
    if options.sort == "spark":
        return "asked for"
    if options.slices > 1:
        return "it cuts partitions into slices where it sorts them"
    if options.transport == "pandas":
        return "rows cross in pandas"
    return needs_spark(execution.plan)


def obstacles(drafted: Draft, type_of: Callable[[str], DataType]) -> Iterator[str]:
    """What of a draft is Spark's alone: values over sorted rows, orders and equalities of types.

    type_of: the type of an expression over the input.
    """
    for column in (*drafted.columns(), *drafted.row_conditions):
        if not column.looks_at_one_row:
            yield f"only Spark can compute `{show_column(column)}`"
    keys = [(key.text, True) for key in drafted.plan.keys]
    for text, as_key in (*keys, *((one.expression.text, False) for one in drafted.plan.order_by)):
        kind = type_of(text)
        if not sorts_exactly(kind, as_key=as_key):
            yield f"only Spark can sort `{text}`, which is {kind.simpleString()}"


def type_of_order(relation: Relation) -> Callable[[str], OrderType]:
    """What tells the type of an order column."""

    def find(text: str) -> OrderType:
        zone = relation.runner.setting("spark.sql.session.timeZone")
        return OrderType(value_type(relation.type_of(text)), has_one_offset(zone))

    return find


def key_tests(plan: MatchPlan, columns: InputColumns, use: Use) -> tuple[str, ...]:
    """Tests of partition columns that every row of the result passes, as SQL over one row."""
    return tuple(
        f"{key.text} {one.test}"
        for one in use.keys
        for key in plan.partition_by
        if (column := columns.name(key.text)) is not None
        and columns.same(key.name or column, one.column)
    )


def preparation_of(
    relation: Relation, plan: MatchPlan, keys: tuple[str, ...], reason: str = ""
) -> Preparation:
    """What computes columns and bits of a plan over whole partitions, which Spark sorts.

    keys: tests of these. reason: why it is Spark that sorts.
    """
    first = plan.order_by[:1]
    order = relation.type_of(first[0].expression.text) if first else None
    return Preparation(relation, plan, keys, order, reason=reason)
