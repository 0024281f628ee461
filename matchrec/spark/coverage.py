"""A plan and a relation → what the workers count of its starting rows. One job of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import types as spark_types

from matchrec.compile.counted import Counted, NearestStart
from matchrec.compile.coverage import (
    CoverageDraft,
    CoverageTask,
    check_coverable,
    draft_coverage,
    link_coverage,
)
from matchrec.conditions.split import Scope
from matchrec.conditions.within import check_order
from matchrec.dataclass import dataclass
from matchrec.errors.run.coverage import coverage_of_stream
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.use import Use
from matchrec.spark import wire
from matchrec.spark.before.columns import Preparation, with_keys_once
from matchrec.spark.before.sent import Prepared
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.crossing import crossing_schema, decode_columns, encode_columns
from matchrec.spark.execute import in_terms_of_the_query, input_columns, is_streaming, link_prepared
from matchrec.spark.options import Options
from matchrec.spark.prepare import (
    Execution,
    check_workers_may_sort,
    sorted_by_either,
    sorted_by_spark,
    unsorted,
)
from matchrec.spark.relation import Relation
from matchrec.spark.session import quiet_analysis
from matchrec.spark.transport import arrow_schema, map_in_arrow, runner_in_worker
from matchrec.spark.worker.cover import CoverageWorker, add_up

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Counting:
    """What the workers count. rows: a row of counts for each of Spark's tasks."""

    asked: CoverageDraft
    task: CoverageTask
    rows: DataFrame


def count_starting_rows(
    plan: MatchPlan, relation: Relation, alias: str | None, use: Use, options: Options
) -> Counted:
    """Run a plan over a relation, and count how far its starting rows come.

    Arguments as of `execute`. Raises MatchRecognizeError for whatever is wrong with the query.
    """
    check_coverable(plan)
    rows = relation.rows
    columns = input_columns(relation.runner, rows.columns, alias)
    if is_streaming(rows):
        raise coverage_of_stream()
    check_order(plan)
    with quiet_analysis(), in_terms_of_the_query(plan, relation, columns):
        counting = counting_of(Execution(plan, relation, columns, options, use))
    asked, task, found = counting.asked, counting.task, counting.rows.collect()
    figures, counts = add_up(task, (row[0] for row in found))
    keys = [name for name, _ in task.executable.crossing.keys]
    names = [*keys, *(one.name for one in asked.drafted.outputs)]
    named = [columns.name(name) or name for name in names]
    nearest = nearest_of(found, named[: len(keys)], named[len(keys) :])
    return Counted(asked, task, figures, counts, nearest)


def counting_of(execution: Execution) -> Counting:
    """What counts, of rows that the workers sort, or else Spark."""
    return sorted_by_either(
        execution.options.sort,
        lambda: count_unsorted(execution),
        lambda reason: count_sorted(execution, reason),
    )


def count_unsorted(execution: Execution) -> Counting:
    """What counts where the workers sort. Raises where they cannot."""
    check_workers_may_sort(execution)
    asked = draft_coverage(execution.draft(Scope.SORTED))
    return count(asked, unsorted(execution, asked.drafted), execution.options)


def count_sorted(execution: Execution, reason: str) -> Counting:
    """The same where Spark sorts. reason: why."""
    asked = draft_coverage(execution.draft(Scope.NEIGHBOURS))
    return count(asked, sorted_by_spark(execution, asked.drafted, reason), execution.options)


def count(asked: CoverageDraft, preparation: Preparation, options: Options) -> Counting:
    """What counts the rows as they are prepared.

    What names a row is text in what comes out: PySpark has no value for some of Spark's.
    """
    drafted, runner, sorting = asked.drafted, preparation.relation.runner, None
    columns = drafted.columns()
    prepared = preparation.dataframe(columns, drafted)
    executable = link_prepared(Prepared(prepared, columns), runner, drafted, options)
    if isinstance(preparation, Unsorted):
        executable = executable.with_keys_in_all_rows()
        sorting = preparation.sorted_by(executable.crossing.columns, drafted)
    task = link_coverage(asked, executable)
    if executable.crossing.columns != columns:
        prepared = preparation.dataframe(executable.crossing.columns, drafted)
    schema = schema_of(task, prepared)
    sends = crossing_schema(schema)
    crossing = with_keys_once(encode_columns(prepared), executable.crossing.once)
    run = runner_in_worker(CoverageWorker(task, arrow_schema(sends), sorting))
    name = f"match_recognize_coverage[PATTERN ({executable.pattern})]"
    rows = decode_columns(map_in_arrow(crossing, run, sends, name), schema)
    texts = (f"CAST({name} AS STRING) AS {name}" for name in schema.names[2:])
    return Counting(asked, task, runner.analyse(rows.selectExpr(*schema.names[:2], *texts)))


def schema_of(task: CoverageTask, prepared: DataFrame) -> spark_types.StructType:
    """The schema of a worker's row: counts, what the nearest run needed, what names its start."""
    long = spark_types.LongType()
    named = [prepared.schema.fields[index].dataType for index in task.naming]
    return spark_types.StructType(
        [
            spark_types.StructField(wire.COUNTERS, spark_types.ArrayType(long)),
            spark_types.StructField(wire.ROW_NUMBER, long),
            *(spark_types.StructField(wire.read(i), one) for i, one in enumerate(named)),
        ]
    )


def nearest_of(found: list[Any], keys: list[str], orders: list[str]) -> NearestStart | None:
    """The nearest of the tasks' starting rows; of several the one whose names come first.

    keys, orders: the columns of the partition and of its order.
    """
    known = [row for row in found if row[1] is not None]
    if not known:
        return None
    best = min(known, key=lambda row: (row[1], *(text or "" for text in row[2:])))
    partition = dict(zip(keys, best[2:], strict=False))
    order = dict(zip(orders, best[2 + len(keys) :], strict=True))
    return NearestStart(best[1], partition, order)
