"""Compute the measures that explain the trials of a trace.

A trace lists the steps of a search. Such a step, a trial, tries a row for a variable. For each
trial, `explain.tracing` makes a match, whose measures read what the conditions of the step read.
The driver builds the output rows of these matches, and a task returns them unchanged. So the
session computes the measures from them as it does for any query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.compile.compiled_query import CompiledQuery, ResultColumn
from matchrec.output.match_reader import MatchReader
from matchrec.output.measure_sql import ReadInSql
from matchrec.output.reads import ReadMatchIndex
from matchrec.output.rows import OutputRows
from matchrec.plan.text import quote_name
from matchrec.search.matches import Matches
from matchrec.spark import read_types, substitutes
from matchrec.spark.clause_result import project_result
from matchrec.spark.collected_partition import CollectedPartition
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.value_texts import write_value_text
from matchrec.worker.arrays import write_batches
from matchrec.worker.gather import Gatherer

# The texts of the measures of each match, by the index of the match. None is NULL.
TextsByMatch = dict[int, tuple[str | None, ...]]

# The result's column of the indices of matches.
MATCH_INDEX = "__match"


def compute_measures(partition: CollectedPartition, matches: Matches) -> TextsByMatch:
    """Compute the measures of a plan over the matches of some trials. Runs a job.

    Args:
        partition: the partition of the matches, and the plan.
        matches: a match for each trial.

    Returns:
        The measures of each match as texts, in the order of the plan.
    """
    compiled_query = add_match_index(partition.compiled_query)
    output_rows = find_trial_rows(matches)
    reader = MatchReader(matches, output_rows, partition.partitions, compiled_query.task.members)
    packed = write_batches([Gatherer(compiled_query, partition.table, reader).build_batch()])

    def return_packed_batch(task_rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the output rows, whatever the row of the task is."""
        for _ in task_rows:  # one batch, which has one row
            yield from pa.ipc.open_stream(packed)

    schema = read_types.build_read_schema(compiled_query, partition.fields)
    spark = partition.relation.runner.spark
    with use_own_interpreter(spark):
        one_row = spark.range(0, 1, 1, 1)
        encoded = one_row.mapInArrow(return_packed_batch, substitutes.build_sent_schema(schema))
    read_values = substitutes.decode_columns(encoded, schema)
    result = project_result(partition.relation, compiled_query, read_values)
    measure_names = {measure.name for measure in partition.plan.measures}
    measure_fields = [field for field in result.schema.fields if field.name in measure_names]
    texts = result.selectExpr(MATCH_INDEX, *[write_quoted_text(field) for field in measure_fields])
    return {row[0]: tuple(row[1:]) for row in texts.collect()}


def add_match_index(compiled_query: CompiledQuery) -> CompiledQuery:
    """Return the query with MATCH_INDEX as its last output column."""
    read_in_sql = ReadInSql(len(compiled_query.reads))
    column = ResultColumn(MATCH_INDEX, (read_in_sql,), is_measure=False)
    return replace(
        compiled_query,
        reads=(*compiled_query.reads, ReadMatchIndex()),
        outputs=(*compiled_query.outputs, column),
    )


def find_trial_rows(matches: Matches) -> OutputRows:
    """Return one output row for each match.

    The current row of its measures is the row before the last row, if the match has two rows or
    more. So a running aggregate leaves out the row that is tried: see
    `explain.tracing.condition_parts`.
    """
    row_counts = np.diff(matches.offsets)
    current_rows = matches.offsets[1:] - np.minimum(row_counts, 2)
    return OutputRows(matches.start, np.arange(matches.count), current_rows)


def write_quoted_text(field: spark_types.StructField) -> str:
    """Return SQL of the text of a column's value. The text of a string is in quotes."""
    text = write_value_text(quote_name(field.name), field.dataType)
    is_text = isinstance(field.dataType, spark_types.StringType)
    return f"concat(chr(39), {text}, chr(39))" if is_text else text
