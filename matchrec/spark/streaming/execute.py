"""A plan and a streaming relation → a streaming DataFrame.

Output rows leave the stateful operator as bytes of Arrow, which `mapInArrow` reads after it:
pandas would alter them, and Spark's own way to nested columns differs with its version.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import types as spark_types

from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.conditions.row_column import RowColumn
from matchrec.engine.incremental import keeps_values
from matchrec.engine.records import compile_task
from matchrec.errors.calls import backwards_in_time, cannot_stream, no_time
from matchrec.output.reads import ReadAt
from matchrec.plan.clauses import MatchOutput, RowsPerMatch
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import PartitionEnd, negations, walk
from matchrec.spark import wire
from matchrec.spark.crossing import crossing_schema, decode_columns
from matchrec.spark.environment import able_workers
from matchrec.spark.prepare import D, Prepared
from matchrec.spark.question import Options
from matchrec.spark.streaming.bucket import Bucket, StreamWorker
from matchrec.spark.streaming.prepare import Crossed, send_events
from matchrec.spark.streaming.search import ContiguousSearch, KeySearch
from matchrec.spark.streaming.selecting import SelectingSearch
from matchrec.spark.types import schema_of_reads

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOUND = spark_types.StructType([spark_types.StructField("rows", spark_types.BinaryType())])
STATE = spark_types.StructType([spark_types.StructField("state", spark_types.BinaryType())])


def check_plan(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for a plan whose rows cannot come little by little."""
    if not plan.order_by:
        raise no_time(plan.pattern.span)
    first = plan.order_by[0]
    if first.descending:
        raise backwards_in_time(first.expression.text, first.expression.span)
    if plan.rows_per_match is RowsPerMatch.EACH_ROW:
        raise cannot_stream(
            "PATTERN in a window",
            "each row comes out once, and whether a match begins there later rows may decide",
            "write FROM t MATCH_RECOGNIZE (...), which gives the matches",
            plan.pattern.span,
        )
    if plan.output is MatchOutput.GRAPH:
        raise cannot_stream(
            'form="compressed"', "the graph of all matches has no last row", 'write form="verbose"'
        )
    check_ends(plan)
    if plan.row_gap is not None and not plan.selects:
        raise cannot_stream(
            "WITHIN BETWEEN ROWS",
            "which rows follow each other is known of whole partitions",
            "write ts < LAST(ts, 1) + ... in the conditions of all variables but the first",
            plan.row_gap.span,
        )


def check_ends(plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for what only the last row of a partition decides."""
    if plan.partial is not None:
        raise cannot_stream(
            plan.partial.words,
            "runs that are no matches are looked for once a partition is there as a whole",
            "use matchrec.detect with timeouts=True",
            plan.partial.span,
        )
    if any(isinstance(one, PartitionEnd) for one in walk(plan.pattern)):
        raise cannot_stream(
            "`$` in PATTERN",
            "a stream has no last row",
            "leave `$` out; with WITHIN a match also ends with its window",
            plan.pattern.span,
        )
    if negations(plan.pattern) and not plan.selects:
        raise cannot_stream(
            "NOT in PATTERN",
            "whether a row that must not follow does is not known before it comes",
            "write the condition on the row before, as in NEXT(x) IS NULL OR NEXT(x) < 3",
            plan.pattern.span,
        )
    if plan.selects and plan.output is MatchOutput.PREFERRED:
        raise cannot_stream(
            "one match for each starting row where rows may be skipped",
            "of these, what is preferred is not known before the last row",
            "write ALL MATCHES or NON-OVERLAPPING MATCHES after PATTERN (...)",
            plan.pattern.span,
        )


def check_options(options: Options) -> None:
    """Raises MatchRecognizeError for options that a stream does not have."""
    if options.transport == "arrow":
        raise cannot_stream(
            'transport="arrow"',
            "Spark's stateful operator hands events over in pandas",
            "leave transport out",
        )
    if options.counters is not None:
        raise cannot_stream(
            "counters", "they are of one action", "see StreamingQuery.lastProgress instead"
        )
    if options.sort != "auto":
        raise cannot_stream(
            f'sort="{options.sort}"',
            "events are sorted as the watermark lets them go",
            "leave sort out",
        )


def ranks(executable: Executable) -> frozenset[int]:
    """The integer columns that are ranks, by their place among those that conditions read."""
    places = enumerate(executable.crossing.integers)
    return frozenset(place for place, column in places if column in executable.crossing.ranked)


def check_executable(executable: Executable, plan: MatchPlan) -> None:
    """Raises MatchRecognizeError for what needs all rows at once."""
    if executable.aggregates:
        raise cannot_stream(
            "an aggregate that only Spark knows",
            "it needs a GROUP BY after the matches, which a stream cannot have there",
            "use count, sum, avg, min, max or collect_list, or aggregate arrays of events",
        )
    if plan.selects:
        check_selection(executable)


def check_selection(executable: Executable) -> None:
    """Raises MatchRecognizeError for event selection that needs all rows at once."""
    if executable.algorithm.engine != "breadth_first":
        raise cannot_stream(
            f'engine="{executable.algorithm.engine}"',
            "it goes back to rows that a stream no longer has",
            'write engine="breadth_first", or leave it out',
        )
    if executable.task.keeps_lists:
        raise cannot_stream(
            "an aggregate over a list of events in a condition",
            "lists are not kept between two micro-batches",
            "use count, sum, avg, min or max of numbers, without DISTINCT",
        )
    if keeps_values(executable.task, ranks(executable)):
        raise cannot_stream(
            "min or max of strings, or of other values that are not numbers, in a condition,",
            "they are compared by their rank among all events",
            "compare with first or last instead",
        )
    if reads_neighbours(executable):
        raise cannot_stream(
            "PREV or NEXT of a row of a match that may skip rows",
            "rows that are skipped are not kept",
            "read the rows of the match, as in LAST(A.x, 1)",
        )


def reads_neighbours(executable: Executable) -> bool:
    """Whether rows beside those of a match are read."""
    reads = (one.navigation.physical_offset for one in executable.reads if isinstance(one, ReadAt))
    compiled = compile_task(executable.task, len(executable.crossing.integers))
    return any(compiled.offsets) or any(reads)


def match_events(prepared: Prepared[Draft], executable: Executable) -> DataFrame:
    """The reads of the output rows, each as soon as it is complete.

    Raises MatchRecognizeError for what needs all rows at once.
    """
    check_executable(executable, prepared.preparation.plan)
    events = send_stream(prepared, executable.crossing.columns)
    schema = schema_of_reads(executable, events.fields)
    query = digest(executable, events.arriving)
    bucket = Bucket(events.arriving, query, (search_of(executable),))
    return run_on_buckets(events, bucket, f"PATTERN ({executable.pattern})", schema)


def send_stream(prepared: Prepared[D], columns: tuple[RowColumn, ...]) -> Crossed:
    """The events with these columns. Raises MatchRecognizeUnsupportedError as `send_events`."""
    preparation = prepared.preparation
    return send_events(preparation.dataframe(columns), columns, preparation.plan)


def search_of(executable: Executable) -> KeySearch:
    """What searches the events of keys."""
    return (SelectingSearch if executable.task.selects else ContiguousSearch)(executable)


def digest(*asked: object) -> str:
    """What tells one query from all others."""
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def run_on_buckets(
    events: Crossed, bucket: Bucket, name: str, schema: spark_types.StructType
) -> DataFrame:
    """What comes out of the events of all keys. name: what Spark's own plan shows.

    schema: of the rows that come out, once they are here.
    """
    function = over_groups(StreamWorker(bucket, events.columns))
    function.__name__ = f"match_recognize[{name}]"
    groups = events.frame.groupBy(wire.BUCKET)
    with able_workers(events.frame.sparkSession):
        found = groups.applyInPandasWithState(function, FOUND, STATE, "append", "EventTimeTimeout")
        rows = found.mapInArrow(unpack(), crossing_schema(schema))
    return decode_columns(rows, schema)


def unpack() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that takes output rows out of their bytes; a worker needs no more than Arrow."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for rows in batch.column(0):
                with pa.ipc.open_stream(rows.as_buffer()) as reader:
                    yield from reader

    return run


def over_groups(worker: StreamWorker) -> Callable[..., Iterator[pd.DataFrame]]:
    """The function that Spark calls with a bucket's new events.

    The worker travels as bytes: read with the function, it would fail before a word of ours.
    """
    payload = pickle.dumps(worker)
    workers: list[Any] = []

    def run(_key: Any, frames: Iterable[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
        try:
            from matchrec.spark.errors.failing import report_errors, unpickle

            def output() -> Iterator[pd.DataFrame]:
                if not workers:
                    workers.append(unpickle(payload))
                return workers[0].run(frames, group)  # type: ignore[no-any-return]

            yield from report_errors(output)
        except ModuleNotFoundError as missing:
            raise RuntimeError(
                f"a Spark worker lacks the Python package {missing.name}: install matchrec "
                f"on every worker, for the interpreter {sys.executable}"
            ) from missing

    return run
