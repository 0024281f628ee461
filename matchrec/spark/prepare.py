"""A plan over a relation → its draft, and what has Spark prepare the rows: by whom they are sorted.

Spark's sort is the largest part of what a query costs besides the crossing. A worker sorts by
compiled code; Spark then only shuffles, no window follows, and what conditions read on neighbouring
rows is the worker's to look up. It can do so where the order and the equality of the types are
reproduced exactly, and where nothing is needed of several rows that only Spark can compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pyspark.sql.types import DataType

from matchrec.compile.draft import Draft
from matchrec.compile.path import draft
from matchrec.conditions.functions.times.zones import has_one_offset
from matchrec.conditions.split import Scope
from matchrec.conditions.within import OrderType
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import worker_cannot_sort
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.use import Use
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.options import Options
from matchrec.spark.relation import Relation
from matchrec.spark.session import REFUSALS
from matchrec.spark.sessions.bucketed import is_bucketed_by
from matchrec.spark.sorting.sorting import sorts_exactly
from matchrec.spark.types import value_type

T = TypeVar("T")

SORTS = ("auto", "spark", "worker")
REFUSED = "it does not take them unsorted"


@dataclass(frozen=True)
class Execution:
    """A plan that is to run over a relation with these columns. use: what is used of its result."""

    plan: MatchPlan
    relation: Relation
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


def prepare_stream(execution: Execution) -> tuple[Preparation, Draft]:
    """What computes columns and bits of events."""
    from matchrec.spark.streaming.execute import scope_of
    from matchrec.spark.streaming.prepare import Events

    drafted = execution.draft(scope_of(execution.plan))
    return Events(execution.relation, drafted.plan), drafted


def prepare_unsorted(execution: Execution) -> tuple[Preparation, Draft]:
    """What computes columns and bits of whole partitions, which the workers sort.

    Raises as `unsorted` and `check_workers_may_sort`.
    """
    check_workers_may_sort(execution)
    drafted = execution.draft(Scope.SORTED)
    return unsorted(execution, drafted), drafted


def prepare_sorted(execution: Execution, reason: str) -> tuple[Preparation, Draft]:
    """What computes columns and bits of whole partitions, which Spark sorts. reason: why."""
    drafted = execution.draft(Scope.NEIGHBOURS)
    return sorted_by_spark(execution, drafted, reason), drafted


def unsorted(execution: Execution, drafted: Draft) -> Unsorted:
    """What computes a draft's columns and bits, of rows that the workers sort.

    Raises MatchRecognizeUnsupportedError for what only Spark can compute or sort.
    """
    check_workers_can_sort(execution, drafted.plan, drafted.needs_spark)
    return Unsorted(execution.relation, drafted.plan, execution.key_tests(drafted))


def sorted_by_spark(execution: Execution, drafted: Draft, reason: str) -> Preparation:
    """The same, of rows that Spark sorts. reason: why."""
    tests = execution.key_tests(drafted)
    return Preparation(execution.relation, drafted.plan, tests, reason=reason)


def sorted_by_either(sort: str, by_workers: Callable[[], T], by_spark: Callable[[str], T]) -> T:
    """What is made of rows that the workers sort, or else Spark, which is told why.

    sort: one of `SORTS`. Raises what `by_workers` does where the workers are to sort.
    """
    try:
        return by_workers()
    except (MatchRecognizeError, *REFUSALS) as error:
        if sort == "worker":
            raise
        reason = error.message if isinstance(error, MatchRecognizeError) else REFUSED
    return by_spark(reason)


def check_workers_may_sort(execution: Execution) -> None:
    """Raises MatchRecognizeUnsupportedError where they are not to, whatever the conditions are.

    So where Spark needs no shuffle and nobody has asked for the workers.
    """
    reason = why_spark_sorts(execution)
    if reason is not None:
        raise worker_cannot_sort(reason)


def check_workers_can_sort(execution: Execution, plan: MatchPlan, needs_spark: str | None) -> None:
    """Raises MatchRecognizeUnsupportedError for what only Spark can compute or sort.

    plan: resolved. needs_spark: what only Spark computes, if anything.
    """
    reason = needs_spark or next(unsortable(plan, execution.relation.type_of), None)
    if reason is not None:
        raise worker_cannot_sort(reason)


def why_spark_sorts(execution: Execution) -> str | None:
    """Why the workers are not to sort, whatever the conditions are; None if they may."""
    options = execution.options
    if options.sort == "spark":
        return "it was asked to"
    if options.transport == "pandas":
        return "only Spark sorts rows that cross in pandas"
    keys = [execution.columns.name(key.text) or "" for key in execution.plan.partition_by]
    if options.sort == "auto" and is_bucketed_by(execution.relation.rows, keys):
        return "it reads the table's buckets without a shuffle"
    return None


def unsortable(plan: MatchPlan, type_of: Callable[[str], DataType]) -> Iterator[str]:
    """The keys and orders of which only Spark knows what is equal, or what comes first.

    type_of: the type of an expression over the input.
    """
    for one in (*plan.keys, *(item.expression for item in plan.order_by)):
        kind = type_of(one.text)
        if not sorts_exactly(kind):
            yield f"only Spark can sort by {one.text}, which is {kind.simpleString()}"


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
