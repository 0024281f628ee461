"""Run a worker over the rows of a DataFrame, by mapInArrow or mapInPandas.

Arrow is the default, because it keeps every value and is faster. Pandas would alter some values, so
the rows for mapInPandas are encoded: see `pandas_encoding`.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.loading import makes_queries
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.arrow_tables import to_arrow_schema
from matchrec.spark.environment import use_own_interpreter
from matchrec.spark.pandas_encoding import build_encoding
from matchrec.spark.substitutes import build_sent_schema, decode_columns


class Worker(Protocol):
    """An object that runs over the rows of a task, such as a `QueryWorker`. Picklable."""

    def run(self, batches: Iterator[pa.RecordBatch], /) -> Iterator[pa.RecordBatch]:
        """Yield the output rows of a task.

        Args:
            batches: the rows of the task.
        """


def plan_worker_output(
    rows: DataFrame,
    worker: Worker,
    schema: StructType,
    name: str,
    pandas_query: CompiledQuery | None = None,
) -> DataFrame:
    """Return the DataFrame of the rows that a worker yields for each task. Nothing runs.

    Args:
        rows: the rows as the worker gets them. All rows of a partition are in one task.
        worker: the worker. It yields batches with the schema `build_output_schema(schema)`.
        schema: the schema of the DataFrame.
        name: the name of the operator in Spark's plan.
        pandas_query: the query of the rows, if they are sent through pandas; None to send them by
            Arrow.

    Raises:
        MatchRecognizeUnsupportedError: pandas would alter a column.
    """
    run = make_task_function(worker)
    if pandas_query is not None:
        encoding = build_encoding(rows, pandas_query)
        rows = encoding.encode(rows)
        run = encoding.adapt_to_pandas(run)
    run.__name__ = name
    with use_own_interpreter(rows.sparkSession):
        map_batches: Any = rows.mapInArrow if pandas_query is None else rows.mapInPandas
        return decode_columns(map_batches(run, build_sent_schema(schema)), schema)


def build_output_schema(schema: StructType) -> pa.Schema:
    """Return the Arrow schema of the batches that a worker yields.

    Args:
        schema: the schema of the DataFrame of the worker's output.
    """
    return to_arrow_schema(build_sent_schema(schema))


def make_task_function(worker: Any) -> Callable[..., Iterator[Any]]:
    """Return a function that runs `worker.run` in a Python process of Spark.

    The worker is pickled separately from the function. So a process that lacks this package can
    load the function, which then raises an error that says what to install. For the same reason,
    the function must not use any name of this module.

    Args:
        worker: a picklable object. Its method `run` has the arguments of the function; the function
            counts the rows of arguments that are iterators.
    """
    makes_queries.set()  # so that this process does not count as a mere worker
    pickled_worker = pickle.dumps(worker)
    shortcuts = current_shortcuts()
    workers: list[Any] = []  # the unpickled worker, which all tasks of a process share

    def run(*arguments: Any) -> Iterator[Any]:
        """Run the worker in a task."""
        try:
            from matchrec.shortcuts import yield_under
            from matchrec.worker.error_reports import read_input, report_errors, unpickle

            def run_worker() -> Iterator[Any]:
                """Unpickle the worker at the first call, and run it."""
                if not workers:
                    workers.append(unpickle(pickled_worker))
                inputs = [
                    read_input(argument) if isinstance(argument, Iterator) else argument
                    for argument in arguments
                ]
                return workers[0].run(*inputs)  # type: ignore[no-any-return]

            yield from yield_under(shortcuts, lambda: report_errors(run_worker))
        except ModuleNotFoundError as missing:
            raise RuntimeError(
                f"a Spark worker lacks the Python package {missing.name}: install matchrec on "
                f"every worker, for the interpreter {sys.executable}"
            ) from missing

    return run


def make_unpacker() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for mapInArrow that unpacks rows from the first column.

    Each value of this column is an Arrow stream of rows. The function needs no package but Arrow.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that are packed in each batch."""
        for batch in batches:
            for stream in batch.column(0):
                with pa.ipc.open_stream(stream.as_buffer()) as reader:
                    yield from reader

    return run
