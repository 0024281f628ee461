"""A plan and a relation → what the workers count of its starting rows. One job of Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.compile.coverage import (
    Counted,
    CoverageDraft,
    CoverageTask,
    NearestStart,
    check_coverable,
    draft_coverage,
    link_coverage,
)
from matchrec.errors.run.failures import asked_of_stream
from matchrec.spark import wire
from matchrec.spark.execute import Demand, ScopeOf, demand_of, prepare
from matchrec.spark.question import Question
from matchrec.spark.session import quiet_analysis
from matchrec.spark.types import as_text, struct_of
from matchrec.spark.worker.cover import AttemptWorker, CoverageWorker, add_up
from matchrec.spark.worker.matching import Incoming

NOTED = 5  # numbers of a starting row

Fields = Sequence[spark_types.StructField]


def count_starting_rows(question: Question) -> Counted:
    """Run a query, and count how far its starting rows come.

    What names a row is text in what comes out: PySpark has no value for some of Spark's.
    Raises MatchRecognizeError for whatever is wrong with it.
    """
    if question.is_stream:
        raise asked_of_stream(asked="coverage")
    asked, task, rows = search(question, CoverageWorker, schema_of_counts)
    texts = (f"{as_text(one.name, one.dataType)} AS {one.name}" for one in rows.schema.fields[2:])
    found = rows.selectExpr(*rows.columns[:2], *texts).collect()
    figures, counts = add_up(task, (row[0] for row in found))
    keys = [name for name, _ in task.executable.crossing.keys]
    names = [*keys, *(output.name for output in asked.drafted.outputs)]
    named = [question.columns.name(name) or name for name in names]
    nearest = nearest_of(found, named[: len(keys)], named[len(keys) :])
    return Counted(asked, task, figures, counts, nearest)


def attempts_of(question: Question) -> tuple[CoverageDraft, CoverageTask, DataFrame]:
    """A row for each starting row: see `AttemptWorker`. The plan has an order."""
    return search(question, AttemptWorker, schema_of_attempts)


def search(
    question: Question,
    worker: Callable[[CoverageTask, pa.Schema, Incoming], Any],
    schema_of: Callable[[CoverageTask, Fields], spark_types.StructType],
) -> tuple[CoverageDraft, CoverageTask, DataFrame]:
    """What a worker makes of the starting rows of a query. Runs no job.

    schema_of: of its rows, by the fields of the columns that cross. Raises MatchRecognizeError in
    terms of the query.
    """
    (rule,) = question.rules
    check_coverable(rule.plan)

    def demand(scope: ScopeOf) -> Demand[CoverageDraft]:
        asked = draft_coverage(question.draft(rule, scope(rule.plan)))
        return demand_of(question, asked, asked.drafted)

    with quiet_analysis(), question.asking(rule):
        prepared = prepare(question, demand)
        asked, executable = prepared.demand.drafts_made, prepared.link(rule)
        task = link_coverage(asked, executable)
        sent = prepared.send(executable.crossing.columns)
        name = f"match_recognize_coverage[PATTERN ({executable.pattern})]"
        schema = schema_of(task, sent.fields)
        rows = sent.run(lambda sends: worker(task, sends, sent.incoming), schema, name)
        return asked, task, question.runner.analyse(rows)


def schema_of_counts(task: CoverageTask, fields: Fields) -> spark_types.StructType:
    """Counts, what the nearest run needed, what names its start."""
    long = spark_types.LongType()
    named = {wire.read(i): fields[index].dataType for i, index in enumerate(task.naming)}
    return struct_of({wire.COUNTERS: spark_types.ArrayType(long), wire.ROW_NUMBER: long} | named)


def schema_of_attempts(task: CoverageTask, fields: Fields) -> spark_types.StructType:
    """What names the partition, the order on the first and the last row, and numbers."""
    kinds = [fields[index].dataType for index in task.ends]
    kinds += [kinds[-1], *[spark_types.LongType()] * NOTED]
    return struct_of({wire.read(i): kind for i, kind in enumerate(kinds)})


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
