"""Collect what the tasks of a clause have counted, by an Observation of Spark.

When a task has run, its worker yields a tally: an array of its counters, followed by the number of
the task.

1. `append_counters_column` adds the column of tallies to the schema of a worker's output. Only the
   last row of a task has a tally.
2. `observe_tallies` lets `DataFrame.observe` collect the tallies during the first action. A filter
   then removes their rows, and a projection removes their column.
3. `ClauseObservation.read_counts` waits for the action and reads the tallies.
4. `add_up_tallies` adds up the tallies of the tasks.

Spark itself cannot add up the tallies, because it can run a task more than once: for a sample of
the rows before it sorts them, or again after it has lost the machine with the result. Then the task
would count twice. `add_up_tallies` uses only the last tally of each task.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types
from pyspark.sql.functions import expr

from matchrec.errors.calls import counters_not_readable, counters_without_values
from matchrec.search.kernels import layout
from matchrec.spark.backends import find_backend
from matchrec.spark.types import make_struct_type
from matchrec.worker import internal_names
from matchrec.worker.tally import FIRST_OF_KERNELS, WorkerCounter


@dataclass(frozen=True)
class CounterField:
    """A counter of the workers."""

    # The name by which users read the value: a plural noun for what is counted; for a time, the
    # step of the worker and the unit.
    name: str
    # The index of the counter in a tally.
    index: int
    # Whether the value over several tasks or clauses is their maximum instead of their sum.
    is_maximum: bool = False
    # Whether the counter is a time. Workers count nanoseconds, users read seconds.
    is_time: bool = False

    @property
    def label(self) -> str:
        """Return the name of the counter in a table for users."""
        return self.name.replace("_", " ")

    def combine(self, values: Sequence[int]) -> int:
        """Return the value over several tasks or clauses; 0 if there are none.

        Args:
            values: the value of each task or clause.
        """
        return max(values, default=0) if self.is_maximum else sum(values)


# The counters of queries with event selection. Other searches have neither runs nor a buffer.
SELECTION_COUNTERS = (
    CounterField("row_reads", FIRST_OF_KERNELS + layout.READS),
    CounterField("runs", FIRST_OF_KERNELS + layout.RUNS_CREATED),
    CounterField("most_live_runs", FIRST_OF_KERNELS + layout.MAX_LIVE, is_maximum=True),
    CounterField("forks", FIRST_OF_KERNELS + layout.FORKS),
    CounterField("merges", FIRST_OF_KERNELS + layout.MERGES),
    CounterField("buffer_entries", FIRST_OF_KERNELS + layout.NODES_CREATED),
    CounterField("removed_entries", FIRST_OF_KERNELS + layout.NODES_PRUNED),
)
# All counters, in the order of the table.
COUNTERS = (
    CounterField("rows", WorkerCounter.ROWS),
    CounterField("partitions", WorkerCounter.PARTITIONS),
    *SELECTION_COUNTERS,
    CounterField("matches", WorkerCounter.MATCHES),
    CounterField("waiting_seconds", WorkerCounter.WAITING, is_time=True),
    CounterField("encoding_seconds", WorkerCounter.ENCODING, is_time=True),
    CounterField("matching_seconds", WorkerCounter.MATCHING, is_time=True),
    CounterField("gathering_seconds", WorkerCounter.GATHERING, is_time=True),
)

# The name of the tallies in an Observation.
TALLIES = "tallies"

# The expression that an Observation computes: all tallies as JSON, because Spark 3.5 returns no
# observed arrays to Python. For rows without a tally, IF is NULL, which `collect_list` leaves out.
COLLECT_TALLIES = (
    f"to_json(collect_list(IF(size({internal_names.COUNTERS}) > 0,"
    f" {internal_names.COUNTERS}, NULL))) AS {TALLIES}"
)


def append_counters_column(schema: spark_types.StructType) -> spark_types.StructType:
    """Return the schema of a worker's output with the column of tallies.

    All columns can be NULL, because the row of a tally has no other values.
    """
    tally_type = spark_types.ArrayType(spark_types.LongType())
    types = {field.name: field.dataType for field in schema}
    return make_struct_type(types | {internal_names.COUNTERS: tally_type})


def observe_tallies(frame: DataFrame, observation: ClauseObservation) -> DataFrame:
    """Return a DataFrame of the output rows of workers, whose tallies an observation collects.

    Args:
        frame: the output of the workers, with the column of tallies. The result lacks this column,
            and the rows of tallies.
        observation: gets the tallies when an action reads the rows.
    """
    observed_frame = frame.observe(observation.observation, expr(COLLECT_TALLIES))
    return observed_frame.filter(f"size({internal_names.COUNTERS}) = 0").drop(
        internal_names.COUNTERS
    )


class ObservationReader:
    """A thread that reads an Observation, so that callers can stop waiting.

    In Spark Classic, `Observation.get` waits for an action, even if there never is one. A thread
    that waits forever cannot be ended, so later callers wait for the same thread.
    """

    def __init__(self, observation: Any) -> None:
        """Start a thread that reads an Observation of PySpark."""
        # The values of the observation; empty as long as no action has finished.
        self.values: dict[str, Any] = {}
        # The error with which PySpark could not read the observation; None if there is none.
        self.error: Exception | None = None
        self._thread = Thread(target=self._read, args=(observation,), daemon=True)
        self._thread.start()

    def _read(self, observation: Any) -> None:
        """Read the observation. Runs in the thread."""
        try:
            self.values = dict(observation.get)
        except Exception as error:  # noqa: BLE001 -- reported by the thread that waits
            self.error = error

    @property
    def is_waiting(self) -> bool:
        """Return whether the thread still waits for an action."""
        return self._thread.is_alive()

    def wait(self, timeout: float) -> None:
        """Wait until the observation has been read, or a number of seconds has passed."""
        self._thread.join(timeout)


@dataclass
class ClauseObservation:
    """The observation of the tallies of one clause."""

    # An Observation of Spark Classic or of Spark Connect. Sail has none.
    observation: Any
    # The name of the observation, which is unique.
    name: str
    # Whether runs are counted, because the clause has event selection.
    counts_runs: bool
    # Whether partitions would have been cut into ranges without counters.
    keeps_partitions_whole: bool
    # The value of each counter; None until the tallies have been read.
    counts: dict[str, int] | None = None
    # The thread that reads the observation; None before the first read.
    reader: ObservationReader | None = None

    @staticmethod
    def create(
        spark: SparkSession, *, counts_runs: bool, keeps_partitions_whole: bool
    ) -> ClauseObservation:
        """Return a new observation, whose name no other observation has."""
        name = f"matchrec_{uuid4().hex}"
        observation = find_backend(spark).make_observation(name)
        return ClauseObservation(
            observation,
            name,
            counts_runs=counts_runs,
            keeps_partitions_whole=keeps_partitions_whole,
        )

    def read_counts(self, result: DataFrame | None, timeout: float) -> dict[str, int]:
        """Return the value of each counter in the first action, by the name of the counter.

        The values are 0 if no task had rows.

        Args:
            result: the result of the query if the query is SQL text; otherwise None.
            timeout: how many seconds to wait for the action.

        Raises:
            MatchRecognizePlanError: no action has finished.
            MatchRecognizeError: PySpark cannot read the observation.
        """
        if self.counts is None:
            tallies = self.read_values(result, timeout)[TALLIES]
            self.counts = add_up_tallies(json.loads(tallies or "[]"))
        return self.counts

    def read_values(self, result: DataFrame | None, timeout: float) -> dict[str, Any]:
        """Return the values of the observation.

        The arguments and the errors are as in `read_counts`.
        """
        # Over Connect, a thread ends at once, even before an action. So a new thread reads again.
        if self.reader is None or not self.reader.is_waiting:
            self.reader = ObservationReader(self.observation)
        self.reader.wait(timeout)
        if self.reader.values:
            return self.reader.values
        if result is not None:
            values_of_result = find_backend(result.sparkSession).read_counts(result, self.name)
            if values_of_result:
                return values_of_result
        error = self.reader.error
        if error is not None:
            raise counters_not_readable(class_name=type(error).__name__, text=str(error)) from error
        raise counters_without_values()


def add_up_tallies(tallies: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return the value of each counter over all tasks, by the name of the counter.

    Args:
        tallies: the tally of each run of a task, in the order of the runs. Only the last tally of
            each task counts.

    Here, task 0 has run twice over 4 rows, and task 1 once over 5 rows. The first counter of a
    tally is the number of rows:

    >>> other_counters = [0] * 13
    >>> first, again = [4, *other_counters, 0], [4, *other_counters, 0]
    >>> add_up_tallies([first, again, [5, *other_counters, 1]])["rows"]
    9
    """
    last_tallies = {tally[-1]: tally for tally in tallies}  # by the number of the task
    return {
        field.name: field.combine([tally[field.index] for tally in last_tallies.values()])
        for field in COUNTERS
    }
