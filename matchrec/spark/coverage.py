"""A plan and a relation → what the workers count of its starting rows. One job of Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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
from matchrec.spark.transport import Sent
from matchrec.spark.types import struct_of
from matchrec.spark.worker.cover import AttemptWorker, CoverageWorker, add_up

NOTED = 5  # numbers of a starting row


def count_starting_rows(question: Question) -> Counted:
    """Run a query, and count how far its starting rows come.

    Raises MatchRecognizeError for whatever is wrong with it.
    """
    check_coverable(question.rules[0].plan)
    if question.is_stream:
        raise asked_of_stream(asked="coverage")
    asked, task, rows = count(question)
    found = rows.collect()
    figures, counts = add_up(task, (row[0] for row in found))
    keys = [name for name, _ in task.executable.crossing.keys]
    names = [*keys, *(output.name for output in asked.drafted.outputs)]
    named = [question.columns.name(name) or name for name in names]
    nearest = nearest_of(found, named[: len(keys)], named[len(keys) :])
    return Counted(asked, task, figures, counts, nearest)


def count(question: Question) -> tuple[CoverageDraft, CoverageTask, DataFrame]:
    """What counts the starting rows of a query, and a row of counts for each of Spark's tasks.

    What names a row is text in what comes out: PySpark has no value for some of Spark's.
    """
    with covering(question) as (asked, task, sent):
        schema = schema_of(task, sent.fields)
        rows = sent.run(
            lambda sends: CoverageWorker(task, sends, sent.incoming), schema, name_of(task)
        )
        texts = (f"CAST({name} AS STRING) AS {name}" for name in schema.names[2:])
        shown = rows.selectExpr(*schema.names[:2], *texts)
        return asked, task, question.runner.analyse(shown)


def attempts_of(question: Question) -> tuple[CoverageDraft, CoverageTask, DataFrame]:
    """A row for each starting row: see `AttemptWorker`. The plan has an order.

    Raises MatchRecognizeError, as `count_starting_rows`.
    """
    check_coverable(question.rules[0].plan)
    with covering(question) as (asked, task, sent):
        kinds = [sent.fields[index].dataType for index in task.ends]
        kinds += [kinds[-1], *[spark_types.LongType()] * NOTED]
        schema = struct_of({wire.read(i): kind for i, kind in enumerate(kinds)})
        rows = sent.run(
            lambda sends: AttemptWorker(task, sends, sent.incoming), schema, name_of(task)
        )
        return asked, task, question.runner.analyse(rows)


def name_of(task: CoverageTask) -> str:
    """What Spark's own plan shows."""
    return f"match_recognize_coverage[PATTERN ({task.executable.pattern})]"


@contextmanager
def covering(question: Question) -> Iterator[tuple[CoverageDraft, CoverageTask, Sent]]:
    """What counts the starting rows of a query, and the rows on their way to it.

    Raises MatchRecognizeError in terms of the query.
    """
    (rule,) = question.rules

    def demand(scope: ScopeOf) -> Demand[CoverageDraft]:
        asked = draft_coverage(question.draft(rule, scope(rule.plan)))
        return demand_of(question, asked, asked.drafted)

    with quiet_analysis(), question.asking(rule):
        prepared = prepare(question, demand)
        asked, executable = prepared.demand.drafts_made, prepared.link(rule)
        task = link_coverage(asked, executable)
        yield asked, task, prepared.send(executable.crossing.columns)


def schema_of(
    task: CoverageTask, fields: Sequence[spark_types.StructField]
) -> spark_types.StructType:
    """The schema of a worker's row: counts, what the nearest run needed, what names its start.

    fields: of the columns that cross.
    """
    long = spark_types.LongType()
    named = {wire.read(i): fields[index].dataType for i, index in enumerate(task.naming)}
    return struct_of({wire.COUNTERS: spark_types.ArrayType(long), wire.ROW_NUMBER: long} | named)


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
