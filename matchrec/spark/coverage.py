"""Run the coverage of a query: find out how far its starting rows come in PATTERN.

`count_starting_rows` counts how many starting rows come how far. `plan_attempts` plans a DataFrame
with a row for each starting row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import types as spark_types

from matchrec.compile import coverage
from matchrec.compile.counted_coverage import CountedCoverage, NearestStart
from matchrec.errors.inspection import method_not_for_stream
from matchrec.plan.text import quote_name
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.compile import compile_request
from matchrec.spark.preparations.preparation import PartitionPreparation
from matchrec.spark.request import MatchRequest
from matchrec.spark.transport import Worker, build_output_schema, plan_worker_output
from matchrec.spark.types import make_struct_type
from matchrec.spark.value_texts import write_value_text
from matchrec.worker import internal_names
from matchrec.worker.attempts import ATTEMPT_NOTES, AttemptWorker
from matchrec.worker.coverage import CoverageWorker, sum_coverage
from matchrec.worker.task_input import TaskInput

# The fields of the columns that are sent to a worker.
SentFields = Sequence[spark_types.StructField]


@dataclass(frozen=True, slots=True)
class PlannedCoverage:
    """The coverage of a query, planned but not run."""

    query: coverage.CoverageQuery
    # The task of the workers.
    task: coverage.CoverageTask
    # The DataFrame of the output of the workers.
    rows: DataFrame


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """The row that `CoverageWorker` returns for one task."""

    # All counts as one list: see `worker.coverage.flatten_counts`.
    counters: list[int]
    # The number of rows that the nearest run still needed; None if all starting rows began a match.
    remaining_rows: int | None
    # The values of PARTITION BY and ORDER BY on the starting row of the nearest run, as texts; None
    # for NULL.
    naming_texts: tuple[str | None, ...]

    @classmethod
    def from_row(cls, row: Row) -> TaskCounts:
        """Return the counts in a row, whose schema `build_counts_schema` returns."""
        counters, remaining_rows, *naming_texts = row
        return cls(counters, remaining_rows, tuple(naming_texts))


def count_starting_rows(request: MatchRequest) -> CountedCoverage:
    """Count how far the starting rows of a query come. Runs a job.

    Args:
        request: the query as the only rule, with the purpose COVERAGE.

    Raises:
        MatchRecognizeError: the query is wrong, coverage does not support it, or it fails.
    """
    if request.is_stream:
        raise method_not_for_stream(call="coverage")
    planned = plan_coverage(request, CoverageWorker, build_counts_schema)
    task_counts = collect_counts(planned.rows)
    count_arrays = (counts_of_task.counters for counts_of_task in task_counts)
    figures, counts = sum_coverage(planned.task, count_arrays)
    return CountedCoverage(
        query=planned.query,
        task=planned.task,
        figures=figures,
        counts=counts,
        nearest=find_nearest_start(request, planned, task_counts),
        ranges_requested=request.must_cut_partitions,
    )


def collect_counts(rows: DataFrame) -> list[TaskCounts]:
    """Collect the rows of `CoverageWorker`. Runs a job.

    The columns that name a starting row become texts, because PySpark has no value for some of
    Spark's types.
    """
    count_columns = [internal_names.COUNTERS, internal_names.REMAINING_ROWS]
    naming_texts = [
        f"{write_value_text(field.name, field.dataType)} AS {field.name}"
        for field in rows.schema.fields
        if field.name not in count_columns
    ]
    task_rows = rows.selectExpr(*count_columns, *naming_texts).collect()
    return [TaskCounts.from_row(row) for row in task_rows]


def find_nearest_start(
    request: MatchRequest, planned: PlannedCoverage, task_counts: Sequence[TaskCounts]
) -> NearestStart | None:
    """Return the starting row without a match that needed the fewest further rows for a match.

    Of several such rows, the result is the row whose `TaskCounts.naming_texts` come first. Returns
    None if all starting rows began a match.

    Args:
        request: the query and its input.
        planned: the planned coverage of the query.
        task_counts: the counts of each task.
    """

    def make_ranking_key(counts: TaskCounts) -> tuple[int, tuple[str, ...]]:
        """Return the key by which the starting rows of different tasks are compared."""
        assert counts.remaining_rows is not None
        return counts.remaining_rows, tuple(text or "" for text in counts.naming_texts)

    candidates = [counts for counts in task_counts if counts.remaining_rows is not None]
    if not candidates:
        return None
    nearest = min(candidates, key=make_ranking_key)
    assert nearest.remaining_rows is not None
    key_texts = [text for text, _ in planned.task.compiled_query.sent_columns.partition_keys]
    order_texts = planned.query.order_texts
    known_fields = request.relation.known_fields
    named_values = []
    for text, value_text in zip((*key_texts, *order_texts), nearest.naming_texts, strict=True):
        name = request.columns.find_by_text(text) or text
        value = convert_integer(value_text, known_fields.get(quote_name(name)))
        named_values.append((name, value))
    return NearestStart(
        nearest.remaining_rows,
        partition=dict(named_values[: len(key_texts)]),
        order=dict(named_values[len(key_texts) :]),
    )


def convert_integer(text: str | None, field: spark_types.StructField | None) -> str | int | None:
    """Return the value of an integer column as a number, and any other value as its text.

    Args:
        text: the text of the value; None for NULL.
        field: the field of the column; None if the value is of an expression.
    """
    is_integer = field is not None and isinstance(field.dataType, spark_types.IntegralType)
    return int(text) if is_integer and text is not None else text


def plan_attempts(request: MatchRequest) -> PlannedCoverage:
    """Plan a DataFrame with a row for each starting row of a query. Nothing runs.

    `AttemptWorker` yields the rows, and `build_attempt_schema` lists their columns.

    Args:
        request: the query as the only rule, with the purpose COVERAGE. It has ORDER BY.

    Raises:
        MatchRecognizeError: the query is wrong, or coverage does not support it.
    """
    return plan_coverage(request, AttemptWorker, build_attempt_schema)


def plan_coverage(
    request: MatchRequest,
    make_worker: Callable[[coverage.CoverageTask, pa.Schema, TaskInput], Worker],
    build_schema: Callable[[coverage.CoverageTask, SentFields], spark_types.StructType],
) -> PlannedCoverage:
    """Plan the output of a worker that follows the starting rows of a query. Nothing runs.

    Args:
        request: the query as the only rule, with the purpose COVERAGE.
        make_worker: makes the worker from its task, the schema of its output, and the form in which
            rows reach it.
        build_schema: returns the schema of the worker's output, from its task and the fields of the
            columns that are sent to it.

    Raises:
        MatchRecognizeError: the query is wrong, or coverage does not support it.
    """
    (rule,) = request.rules
    coverage.check_coverable(rule.plan)

    with silence_analysis(), request.locate_rule_errors(rule):
        compiled = compile_request(request)
        (compiled_rule,) = compiled.rules
        query = compiled_rule.query
        assert isinstance(query, coverage.CoverageQuery), "the request is made for coverage"
        compiled_query = compiled_rule.compiled_query
        task = coverage.build_coverage_task(query, compiled_query)
        columns = compiled_query.sent_columns.columns
        preparation = compiled.preparation
        assert isinstance(preparation, PartitionPreparation), "callers have rejected streams"
        schema = build_schema(task, preparation.find_fields(columns, compiled.fields))
        task_input = preparation.build_task_input(columns)
        worker = make_worker(task, build_output_schema(schema), task_input)
        worker_rows = preparation.build_worker_rows(columns)
        name = f"match_recognize_coverage[PATTERN ({compiled_query.pattern_text})]"
        rows = plan_worker_output(worker_rows, worker, schema, name)
        return PlannedCoverage(query, task, request.runner.analyse(rows))


def build_counts_schema(task: coverage.CoverageTask, fields: SentFields) -> spark_types.StructType:
    """Return the schema of the output of `CoverageWorker`.

    The columns are the fields of `TaskCounts`. The naming values have their own types.

    Args:
        task: the task.
        fields: the fields of the columns that are sent to the worker.
    """
    long = spark_types.LongType()
    types = {
        internal_names.COUNTERS: spark_types.ArrayType(long),
        internal_names.REMAINING_ROWS: long,
    }
    for index, column in enumerate(task.naming_columns):
        types[internal_names.name_read(index)] = fields[column].dataType
    return make_struct_type(types)


def build_attempt_schema(task: coverage.CoverageTask, fields: SentFields) -> spark_types.StructType:
    """Return the schema of the output of `AttemptWorker`.

    The columns are the partition keys, the first ORDER BY value on the first and on the last row of
    the attempt, and ATTEMPT_NOTES.

    Args:
        task: the task.
        fields: the fields of the columns that are sent to the worker.
    """
    *key_types, order_type = [fields[column].dataType for column in task.first_naming_columns]
    note_types = [spark_types.LongType() for _ in ATTEMPT_NOTES]
    types = [*key_types, order_type, order_type, *note_types]
    return make_struct_type(
        {internal_names.name_read(index): type_ for index, type_ in enumerate(types)}
    )
