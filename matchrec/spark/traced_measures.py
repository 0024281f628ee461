"""Compute the measures of matches that the driver has made, one for each trial of a trace.

The output rows of the matches are built on the driver. A task returns them unchanged, so that the
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

# The texts of the measures of each match, by its index.
TextsByMatch = dict[int, tuple[str | None, ...]]

# The column of the result with the index of the match.
MATCH_INDEX = "__match"


def compute_measures(partition: CollectedPartition, matches: Matches) -> TextsByMatch:
    """Compute the measures of the plan over the matches of some trials. Runs a job.

    Args:
        partition: the partition of the matches.
        matches: a match for each trial.

    Returns:
        The measures of each match as texts, by the index of the match.
    """
    compiled_query = add_match_index(partition.compiled_query)
    output_rows = list_output_rows(matches)
    reader = MatchReader(matches, output_rows, partition.partitions, compiled_query.task.members)
    packed = write_batches([Gatherer(compiled_query, partition.table, reader).build_batch()])

    def return_packed_batch(task_rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the output rows in a task, whose own row is ignored."""
        for _ in task_rows:  # one batch of one row
            yield from pa.ipc.open_stream(packed)

    schema = read_types.build_read_schema(compiled_query, partition.fields)
    spark = partition.relation.runner.spark
    with use_own_interpreter(spark):
        one_row = spark.range(0, 1, 1, 1)
        sent = one_row.mapInArrow(return_packed_batch, substitutes.build_sent_schema(schema))
    matched = substitutes.decode_columns(sent, schema)
    result = project_result(partition.relation, compiled_query, matched)
    measure_names = {measure.name for measure in partition.plan.measures}
    measure_fields = [field for field in result.schema.fields if field.name in measure_names]
    texts = result.selectExpr(MATCH_INDEX, *[write_quoted_text(field) for field in measure_fields])
    return {row[0]: tuple(row[1:]) for row in texts.collect()}


def add_match_index(compiled_query: CompiledQuery) -> CompiledQuery:
    """Return the query with the index of the match as a further column of the result."""
    read = ReadInSql(len(compiled_query.reads))
    column = ResultColumn(MATCH_INDEX, (read,), is_measure=False)
    return replace(
        compiled_query,
        reads=(*compiled_query.reads, ReadMatchIndex()),
        outputs=(*compiled_query.outputs, column),
    )


def list_output_rows(matches: Matches) -> OutputRows:
    """Return an output row for each match of a trial, with the current row of its measures.

    The current row is the row before the last row, if the match has two rows or more. So a running
    aggregate leaves out the row that is tried: see `explain.tracing.condition_parts`.
    """
    row_counts = np.diff(matches.offsets)
    current_rows = matches.offsets[1:] - np.minimum(row_counts, 2)
    return OutputRows(matches.start, np.arange(matches.count), current_rows)


def write_quoted_text(field: spark_types.StructField) -> str:
    """Return SQL of the text of a column's value, in quotes if the column has texts."""
    text = write_value_text(quote_name(field.name), field.dataType)
    is_text = isinstance(field.dataType, spark_types.StringType)
    return f"concat(chr(39), {text}, chr(39))" if is_text else text
