"""Run patterns on both algorithms: one without Spark, or many with one Spark job.

The stages are the same as in matchrec, with two differences. The columns before the match are
computed in Python for a single question, and by one Spark query for a batch. The function that
Spark's workers would call runs in this process, and its output is read directly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import sqlglot
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types
from sqlglot import expressions as sql

import matchrec
from matchrec.compile.compiled_query import CompiledQuery, ResultColumn
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.row_column import RowColumn
from matchrec.errors import MatchRecognizeError
from matchrec.output.measure_sql import ReadInSql
from matchrec.patterns.stages.after_match import AfterMatch
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan.resolve import InputColumns
from matchrec.search.partitions import Partitions
from matchrec.search.task import Task
from matchrec.spark.types import to_value_type
from matchrec.worker.encode import encode_partitions
from tests.cases.pattern_notation import NAMES, SCHEMA, Question, build_pattern
from tests.generators.pattern_trees import Event
from tests.references.pattern_conditions import evaluate
from tests.references.patterns import Skip, SkipTo
from tests.tasks.linking import link, split_plan
from tests.tasks.query_batches import Prepared, QueryBatch, Run

ALGORITHMS = ("backtracking", "breadth_first")
TABLE = "pattern_events"
KEYS = ("q", "p")
COLUMNS = InputColumns(("q", *NAMES))
ROWS_PER_BATCH = 1 << 20
Streams = Mapping[str, Sequence[Event]]


def split_pattern(question: Question) -> SplitQuery:
    """Split the conditions of the pattern of a question.

    Raises:
        MatchRecognizeError: the pattern is not valid.
    """
    pattern = build_pattern(question.calls, matchrec.Pattern).after_match(
        make_after_match(question.strategy)
    )
    query = PatternQuery(pattern, ("t", "n"), KEYS, ("e",), timeouts=question.timeouts)
    return split_plan(lower_pattern(query)[0], COLUMNS, str)


def make_after_match(skip: Skip) -> AfterMatch:
    """Return matchrec's object for an after-match skip strategy."""
    match skip.to:
        case SkipTo.NO_SKIP:
            return AfterMatch.NO_SKIP
        case SkipTo.NEXT:
            return AfterMatch.SKIP_TO_NEXT
        case SkipTo.PAST_LAST_EVENT:
            return AfterMatch.SKIP_PAST_LAST_EVENT
        case SkipTo.FIRST:
            strategy = AfterMatch.skip_to_first(skip.stage)
        case SkipTo.LAST:
            strategy = AfterMatch.skip_to_last(skip.stage)
    return strategy.throw_on_miss() if skip.throws else strategy


# One question, without Spark


def answer_question(
    question: Question, algorithms: Sequence[str] = ALGORITHMS, rows_per_batch: int = ROWS_PER_BATCH
) -> dict[str, list[str]]:
    """Return for each algorithm the lines of a question, or one line with the error."""
    try:
        linked, prepared = make_compiled_queries(question, algorithms)
    except MatchRecognizeError as error:
        return {algorithm: [f"error {error}"] for algorithm in algorithms}
    return {
        algorithm: run(Run(compiled_query, prepared, None, rows_per_batch), question.streams)
        for algorithm, compiled_query in linked.items()
    }


def make_compiled_queries(
    question: Question, algorithms: Sequence[str]
) -> tuple[dict[str, CompiledQuery], Prepared]:
    """Return the compiled query for each algorithm, and the columns that they need.

    Raises:
        MatchRecognizeError: the pattern is not valid.
    """
    split = split_pattern(question)
    streams = question.streams
    events = [{"q": 0, **event} for stream in streams.values() for event in stream]
    types = {
        column: to_value_type(find_spark_type(compute_column(column, events).type))
        for column in split.columns
    }
    linked = {algorithm: link(split, types, algorithm, ansi=True) for algorithm in algorithms}
    columns = {
        column
        for compiled_query in linked.values()
        for column in (*compiled_query.sent_columns.columns, *compiled_query.row_conditions)
    }
    starts = np.zeros(len(events), np.bool_)
    starts[np.cumsum([0, *map(len, streams.values())])[:-1]] = True
    return linked, Prepared(
        {column: compute_column(column, events) for column in columns}, {}, starts
    )


def make_search(question: Question) -> tuple[Task, Partitions]:
    """Return the task and the partitions of the search for a question."""
    linked, prepared = make_compiled_queries(question, ("breadth_first",))
    (compiled_query,) = linked.values()
    table = prepared.table(compiled_query, None).combine_chunks()
    starts = np.append(np.flatnonzero(prepared.starts), table.num_rows)
    return compiled_query.task, encode_partitions(compiled_query, table, starts)


def compute_column(column: RowColumn, events: Sequence[Event]) -> pa.Array:
    """Compute a column over all events, as Spark would."""
    (text,) = column.pieces
    if text == "struct(`e`)":
        return pa.array([{"e": event["e"]} for event in events], pa.struct([("e", pa.string())]))
    tree = sqlglot.parse_one(text, read="spark")
    values = [evaluate(tree, event, {}) for event in events]
    if isinstance(tree, sql.Cast):
        return pa.array(values, pa.float64() if tree.is_type("double") else pa.int64())
    if isinstance(tree, sql.Add | sql.SafeAdd | sql.Literal) or text in (
        "`q`",
        "`n`",
        "`t`",
        "`x`",
    ):
        kind = pa.int64() if tree.find(sql.Cast) else pa.int32()
        return pa.array([None if item is None else int(item) for item in values], kind)
    return pa.array(values, pa.string() if text == "`p`" else pa.bool_())


def find_spark_type(arrow: pa.DataType) -> spark_types.DataType:
    """Return Spark's type for an Arrow type."""
    if pa.types.is_struct(arrow):
        return spark_types.StructType([spark_types.StructField("e", spark_types.StringType())])
    return {
        pa.bool_(): spark_types.BooleanType(),
        pa.int32(): spark_types.IntegerType(),
        pa.int64(): spark_types.LongType(),
        pa.float64(): spark_types.DoubleType(),
        pa.string(): spark_types.StringType(),
    }[arrow]


# Many questions, for one Spark job


class PatternBatch(QueryBatch):
    """A batch of questions. The rows of all of them are in one table, with the question in `q`."""

    def __init__(self, spark: SparkSession, questions: Sequence[Question]) -> None:
        self.questions = questions
        rows = [
            (number, *(event[name] for name in NAMES))
            for number, question in enumerate(questions)
            for stream in question.streams.values()
            for event in stream
        ]
        Random(0).shuffle(rows)
        spark.createDataFrame(rows, f"q int, {SCHEMA}").createOrReplaceTempView(TABLE)
        super().__init__(spark, TABLE, ())
        for number, question in enumerate(questions):
            with self.translate_server_errors(number):
                self.split_queries[number] = split_pattern(question)

    def answers(self) -> dict[str, list[list[str]]]:
        """Return for each algorithm the lines of each question."""
        linked = {algorithm: self.link(algorithm) for algorithm in ALGORITHMS}
        compiled_queries = [
            compiled_query
            for of_algorithm in linked.values()
            for compiled_query in of_algorithm.values()
        ]
        prepared = self.prepared(compiled_queries)
        numbers = range(len(self.questions))
        return {
            algorithm: [self.lines(number, linked[algorithm], prepared) for number in numbers]
            for algorithm in ALGORITHMS
        }

    def lines(self, number: int, linked: dict[int, CompiledQuery], prepared: Prepared) -> list[str]:
        """Return the lines of one question, or one line with the error."""
        if number not in linked:
            return [f"error {self.refused[number]}"]
        compiled_query = linked[number]
        question = prepared.columns[
            compiled_query.sent_columns.columns[compiled_query.sent_columns.partition_keys[0][1]]
        ].to_numpy()
        partition = np.cumsum(prepared.starts) - 1
        partitions = np.unique(partition[question == number]).tolist()
        streams = self.questions[number].streams
        return run(Run(compiled_query, prepared, partitions, ROWS_PER_BATCH), streams)


# Output


def run(run: Run, streams: Streams) -> list[str]:
    """Return the lines of each partition, or one line with the error.

    If a match has no event of the stage to skip to, that line is `throws STAGE`.
    """
    try:
        batches = run.batches()
    except MatchRecognizeError as error:
        missed = re.match(r"the skip to stage `(\w+)`", str(error))
        return [f"throws {missed[1]}" if missed else f"error {error}"]
    rows = [read_row(run.compiled_query, row) for batch in batches for row in batch.to_pylist()]
    return [line for p in streams for line in lines([row for row in rows if row["p"] == p])]


def read_row(compiled_query: CompiledQuery, row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an output row by the names of the result, from a row of the worker."""
    reads = {f"__r{index}": value for index, value in enumerate(row.values())}
    return {output.name: compute_result_column(output, reads) for output in compiled_query.outputs}


def compute_result_column(output: ResultColumn, row: dict[str, Any]) -> Any:
    """Compute a column of the result: a value that was read, or a formula over such values."""
    match output.pieces:
        case (ReadInSql(index),):
            return row[f"__r{index}"]
    text = "".join(
        f"__r{piece.index}" if isinstance(piece, ReadInSql) else piece for piece in output.pieces
    )
    return evaluate(sqlglot.parse_one(text, read="spark"), row, {})


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Write the rows of one partition as cases do: matches by number, then what timed out."""
    matches = sorted((r for r in rows if r["match_number"]), key=lambda r: r["match_number"])
    assert [row["match_number"] for row in matches] == list(range(1, len(matches) + 1))
    timed_out = (row for row in rows if row["match_number"] is None)
    return [show_row(row) for row in matches] + sorted(
        f"{show_row(row)} timed out {row['timed_out_at']}" for row in timed_out
    )


def show_row(row: dict[str, Any]) -> str:
    """Write the events of a match: `a: a1, b: b1 b2`."""
    stages = ((name, value) for name, value in row.items() if isinstance(value, list) and value)
    return ", ".join(f"{name}: {' '.join(e['e'] for e in events)}" for name, events in stages)
