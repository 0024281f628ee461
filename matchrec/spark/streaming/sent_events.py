"""Run the searches of a query or a rule set over the events of a stream, in Spark's operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import StructType

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.spark import substitutes
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.streaming.arrival import EventLayout
from matchrec.spark.streaming.stream_worker import (
    StreamWorker,
    build_query_worker,
    build_rules_worker,
)
from matchrec.spark.transport import make_task_function, make_unpacker
from matchrec.worker import wire
from matchrec.worker.rule_set import RuleSetOutput


@dataclass(frozen=True)
class SentEvents:
    """The events of a stream as they are sent to its workers."""

    rows: DataFrame
    # The fields of the columns that the query uses.
    fields: tuple[spark_types.StructField, ...]
    # What the events are.
    event_layout: EventLayout

    def run_query(self, compiled_query: CompiledQuery, schema: StructType, name: str) -> DataFrame:
        """Return the reads of a query, as a stream. Takes the same arguments as `run`."""
        return self.run(build_query_worker(compiled_query, self.event_layout), schema, name)

    def run_rules(self, output: RuleSetOutput, schema: StructType, name: str) -> DataFrame:
        """Return the output rows of a rule set, as a stream. Takes the same arguments as `run`."""
        return self.run(build_rules_worker(output, self.event_layout), schema, name)

    def run(self, worker: StreamWorker, schema: StructType, name: str) -> DataFrame:
        """Return the output of a worker over the events of all keys, as a stream.

        Output rows leave Spark's operator as the bytes of Arrow streams, which `mapInArrow` reads
        after it. Pandas would alter them, and Spark's own conversion of nested columns differs
        between its versions.

        Args:
            worker: searches the events of each bucket of keys.
            schema: the schema of the DataFrame.
            name: the name of the operator in Spark's plan.
        """
        run = make_task_function(worker)

        def search(key: Any, frames: Iterable[pd.DataFrame], group: Any) -> Iterator[pd.DataFrame]:
            """Run the worker for a bucket of keys."""
            return run(key, frames, group)

        search.__name__ = name
        groups = self.rows.groupBy(wire.BUCKET)
        with use_own_interpreter(self.rows.sparkSession):
            packed = groups.applyInPandasWithState(
                search, "rows binary", "state binary", "append", "EventTimeTimeout"
            )
            unpacked = packed.mapInArrow(make_unpacker(), substitutes.build_sent_schema(schema))
            return substitutes.decode_columns(unpacked, schema)
