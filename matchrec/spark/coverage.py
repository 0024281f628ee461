"""A plan and a relation → what the workers count of its starting rows. One job of Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types

from matchrec.compile import coverage
from matchrec.errors.run.failures import asked_of_stream
from matchrec.spark.execute import Demand, ScopeOf, demand_single_rule, prepare
from matchrec.spark.question import Question
from matchrec.spark.session import quiet_analysis
from matchrec.spark.types import as_text, struct_of
from matchrec.worker import wire
from matchrec.worker.cover import AttemptWorker, CoverageWorker, add_up
from matchrec.worker.matching import Incoming

NOTED = 5  # numbers of a starting row

Fields = Sequence[spark_types.StructField]


def count_starting_rows(question: Question) -> coverage.CountedCoverage:
    """Run a query, and count how far its starting rows come."""
    if question.is_stream:
        raise asked_of_stream(asked="coverage")
    asked, task, rows = search(question, CoverageWorker, schema_of_counts)
    # as texts: PySpark has no value for some of Spark's
    texts = (f"{as_text(one.name, one.dataType)} AS {one.name}" for one in rows.schema.fields[2:])
    found = rows.selectExpr(*rows.columns[:2], *texts).collect()
    figures, counts = add_up(task, (row[0] for row in found))
    keys = [name for name, _ in task.executable.crossing.keys]
    names = [*keys, *(output.name for output in asked.draft.outputs)]
    nearest, known = None, [row for row in found if row[1] is not None]
    if known:  # of several the one whose names come first
        best = min(known, key=lambda row: (row[1], *(text or "" for text in row[2:])))
        shown = (question.columns.name(name) or name for name in names)
        named = list(zip(shown, best[2:], strict=True))
        nearest = coverage.NearestStart(best[1], dict(named[: len(keys)]), dict(named[len(keys) :]))
    return coverage.CountedCoverage(asked, task, figures, counts, nearest)


def attempts_of(
    question: Question,
) -> tuple[coverage.CoverageDraft, coverage.CoverageTask, DataFrame]:
    """A row for each starting row: see `AttemptWorker`. The plan has an order."""
    return search(question, AttemptWorker, schema_of_attempts)


def search(
    question: Question,
    worker: Callable[[coverage.CoverageTask, pa.Schema, Incoming], Any],
    schema_of: Callable[[coverage.CoverageTask, Fields], spark_types.StructType],
) -> tuple[coverage.CoverageDraft, coverage.CoverageTask, DataFrame]:
    """What a worker makes of the starting rows of a query, in rows of `schema_of`. Runs no job."""
    (rule,) = question.rules
    coverage.check_coverable(rule.plan)

    def demand(scope: ScopeOf) -> Demand[coverage.CoverageDraft]:
        asked = coverage.draft_coverage(question.draft(rule, scope(rule.plan)))
        return demand_single_rule(question, asked, asked.draft)

    with quiet_analysis(), question.locating_errors(rule):
        prepared = prepare(question, demand)
        asked, executable = prepared.demand.caller_draft, prepared.link(rule)
        task = coverage.link_coverage(asked, executable)
        sent = prepared.send(executable.crossing.columns)
        name = f"match_recognize_coverage[PATTERN ({executable.pattern})]"
        schema = schema_of(task, sent.fields)
        rows = sent.run(lambda sends: worker(task, sends, sent.incoming), schema, name)
        return asked, task, question.runner.analyse(rows)


def schema_of_counts(task: coverage.CoverageTask, fields: Fields) -> spark_types.StructType:
    """Counts, what the nearest run needed, what names its start."""
    long = spark_types.LongType()
    named = {wire.read(i): fields[index].dataType for i, index in enumerate(task.naming_columns)}
    return struct_of({wire.COUNTERS: spark_types.ArrayType(long), wire.ROW_NUMBER: long} | named)


def schema_of_attempts(task: coverage.CoverageTask, fields: Fields) -> spark_types.StructType:
    """What names the partition, the order on the first and the last row, and numbers."""
    kinds = [fields[index].dataType for index in task.first_naming_columns]
    kinds += [kinds[-1], *[spark_types.LongType()] * NOTED]
    return struct_of({wire.read(i): kind for i, kind in enumerate(kinds)})
