"""Run the coverage of a query: how far its starting rows come, counted or row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import types as spark_types

from matchrec.compile import coverage
from matchrec.errors.inspection import method_not_for_stream
from matchrec.spark.compile import compile_query
from matchrec.spark.request import MatchRequest
from matchrec.spark.session import silence_analysis
from matchrec.spark.substitutes import write_text
from matchrec.spark.transport import Worker, build_output_schema
from matchrec.spark.types import make_struct_type
from matchrec.worker import wire
from matchrec.worker.cover import AttemptWorker, CoverageWorker, sum_coverage
from matchrec.worker.query_worker import TaskInput

# The number of BIGINT columns in which `AttemptWorker` returns what it notes of a starting row.
NOTED = 5

OutputFields = Sequence[spark_types.StructField]


def count_starting_rows(request: MatchRequest) -> coverage.CountedCoverage:
    """Count how far the starting rows of a query come. Runs a job.

    Args:
        request: has one rule: the query.

    Raises:
        MatchRecognizeError: the query is wrong, coverage does not support it, or it fails.
    """
    if request.is_stream:
        raise method_not_for_stream(call="coverage")
    query, task, rows = follow_starting_rows(request, CoverageWorker, build_counts_schema)
    # the columns that name a row are collected as texts: PySpark has no value for some of Spark's
    count_columns, naming_fields = rows.columns[:2], rows.schema.fields[2:]
    naming_texts = [
        f"{write_text(field.name, field.dataType)} AS {field.name}" for field in naming_fields
    ]
    task_rows = rows.selectExpr(*count_columns, *naming_texts).collect()
    figures, counts = sum_coverage(task, (row[0] for row in task_rows))
    nearest = find_nearest_start(request, query, task, task_rows)
    asked_for_ranges = request.must_cut_partitions
    return coverage.CountedCoverage(query, task, figures, counts, nearest, asked_for_ranges)


def find_nearest_start(
    request: MatchRequest,
    query: coverage.CoverageQuery,
    task: coverage.CoverageTask,
    task_rows: Sequence[Row],
) -> coverage.NearestStart | None:
    """Return the starting row whose run needed the fewest rows, of those that began no match.

    Of several, it is the one whose names come first as texts. None if there is none.

    Args:
        request: the query and its input.
        query: the query.
        task: its task.
        task_rows: one row for each task: its counts, how many rows the nearest run needed, and the
            texts that name the starting row.
    """
    candidates = [row for row in task_rows if row[1] is not None]
    if not candidates:
        return None
    nearest = min(candidates, key=lambda row: (row[1], *(text or "" for text in row[2:])))
    keys = [name for name, _ in task.compiled_query.sent_columns.keys]
    names = [*keys, *(output.name for output in query.outputs)]
    shown_names = [request.columns.find_by_text(name) or name for name in names]
    values = list(zip(shown_names, nearest[2:], strict=True))
    partition, order = dict(values[: len(keys)]), dict(values[len(keys) :])
    return coverage.NearestStart(nearest[1], partition, order)


def list_attempts(
    request: MatchRequest,
) -> tuple[coverage.CoverageQuery, coverage.CoverageTask, DataFrame]:
    """Return a row for each starting row of a query, see `AttemptWorker`. Runs no job.

    Args:
        request: has one rule: the query, with ORDER BY.

    Raises:
        MatchRecognizeError: the query is wrong, or coverage does not support it.
    """
    return follow_starting_rows(request, AttemptWorker, build_attempt_schema)


def follow_starting_rows(
    request: MatchRequest,
    make_worker: Callable[[coverage.CoverageTask, pa.Schema, TaskInput], Worker],
    schema_of: Callable[[coverage.CoverageTask, OutputFields], spark_types.StructType],
) -> tuple[coverage.CoverageQuery, coverage.CoverageTask, DataFrame]:
    """Let a worker follow the starting rows of a query. Runs no job.

    Args:
        request: has one rule: the query. It is made for coverage.
        make_worker: makes the worker, from the schema of its rows and the way in which it gets
            Spark's.
        schema_of: returns the schema of the worker's rows, from the fields of the columns that are
            sent to it.

    Returns:
        the query, its task, and the rows of the worker.

    Raises:
        MatchRecognizeError: the query is wrong, or coverage does not support it.
    """
    (rule,) = request.rules
    coverage.check_coverable(rule.plan)

    with silence_analysis(), request.locate_rule_errors(rule):
        compiled = compile_query(request)
        (query,) = compiled.queries
        assert isinstance(query, coverage.CoverageQuery), "the request is made for coverage"
        (compiled_query,) = compiled.compiled_queries
        task = coverage.build_coverage_task(query, compiled_query)
        sent_rows = compiled.preparation.send(compiled_query.sent_columns.columns)
        name = f"match_recognize_coverage[PATTERN ({compiled_query.pattern})]"
        schema = schema_of(task, sent_rows.fields)
        cover_worker = make_worker(task, build_output_schema(schema), sent_rows.task_input)
        rows = sent_rows.run(cover_worker, schema, name)
        return query, task, request.runner.analyse(rows)


def build_counts_schema(
    task: coverage.CoverageTask, fields: OutputFields
) -> spark_types.StructType:
    """Return the schema of `CoverageWorker`.

    Its columns are the counts, how many rows the nearest run needed, and what names its starting
    row.

    Args:
        task: the task.
        fields: the fields of the columns that are sent to the worker.
    """
    long = spark_types.LongType()
    types = {wire.COUNTERS: spark_types.ArrayType(long), wire.ROW_NUMBER: long}
    for index, column in enumerate(task.naming_columns):
        types[wire.name_read(index)] = fields[column].dataType
    return make_struct_type(types)


def build_attempt_schema(
    task: coverage.CoverageTask, fields: OutputFields
) -> spark_types.StructType:
    """Return the schema of `AttemptWorker`.

    Its columns are what names the partition, the order on the first and on the last row of the
    attempt, and the numbers that are noted.

    Args:
        task: the task.
        fields: the fields of the columns that are sent to the worker.
    """
    naming_types = [fields[column].dataType for column in task.first_naming_columns]
    order_type = naming_types[-1]
    types = [*naming_types, order_type, *[spark_types.LongType()] * NOTED]
    return make_struct_type({wire.name_read(index): type_ for index, type_ in enumerate(types)})
