"""Counters of the work of a search, gathered from Spark's tasks by an Observation.

1. The last row of each worker has a tally: what the worker has counted, and the number of its task.
2. `DataFrame.observe` collects the tallies on the way to the result of the first action.
3. A filter then removes these rows, and a projection removes their column: `observe_workers`.
4. The tallies of the tasks are added up here: `add_up`.

Without counters none of this is in the plan.

Spark does not add up the tallies, because it may run a task more than once: for a sample of the
rows before it sorts them, or again after it has lost the machine with the result. The task would
then count twice. Here, only the last tally of each task counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Thread
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types
from pyspark.sql.functions import expr

from matchrec.arguments import ArgumentKind, check_arguments, is_number
from matchrec.errors import MatchRecognizeError, MatchRecognizePlanError
from matchrec.errors.calls import counters_not_readable, counters_without_values
from matchrec.errors.machine import counters_not_supported
from matchrec.errors.wording import show_count
from matchrec.explain.pictures.html import build_html_table, write_preformatted
from matchrec.search.kernels import layout
from matchrec.spark.backends import find_backend
from matchrec.spark.sail.probes import can_observe
from matchrec.spark.types import make_struct_type
from matchrec.worker import wire
from matchrec.worker.count import FIRST_OF_KERNELS, WorkerCounter


@dataclass(frozen=True)
class CounterField:
    """A counter of the search."""

    name: str
    text: str  # its name in a table of counters
    index: int  # its index in a tally
    # Whether the value over several tasks or clauses is the largest of theirs, not the sum.
    is_maximum: bool = False

    def total(self, numbers: Sequence[int]) -> int:
        """Return the value over several tasks or clauses, 0 if there are none."""
        return max(numbers, default=0) if self.is_maximum else sum(numbers)


# The counters that only event selection counts.
SELECTION_COUNTERS = (
    CounterField("reads", "rows read by runs", FIRST_OF_KERNELS + layout.READS),
    CounterField("runs", "runs created", FIRST_OF_KERNELS + layout.RUNS_CREATED),
    CounterField(
        "most_live_runs", "most live runs", FIRST_OF_KERNELS + layout.MOST_LIVE, is_maximum=True
    ),
    CounterField("forks", "forks", FIRST_OF_KERNELS + layout.FORKS),
    CounterField("merges", "merges", FIRST_OF_KERNELS + layout.MERGES),
    CounterField("nodes", "buffer nodes", FIRST_OF_KERNELS + layout.NODES_CREATED),
    CounterField("pruned", "nodes pruned", FIRST_OF_KERNELS + layout.NODES_PRUNED),
)
# All counters, in the order of the table.
COUNTERS = (
    CounterField("events", "events", WorkerCounter.ROWS),
    CounterField("partitions", "partitions", WorkerCounter.PARTITIONS),
    *SELECTION_COUNTERS,
    CounterField("matches", "matches", WorkerCounter.MATCHES),
    CounterField("waiting", "seconds of waiting", WorkerCounter.WAITING),
    CounterField("encoding", "seconds of encoding", WorkerCounter.ENCODING),
    CounterField("seconds", "seconds of matching", WorkerCounter.MATCHING),
    CounterField("gathering", "seconds of gathering", WorkerCounter.GATHERING),
)
# The name of the tallies in an Observation.
TALLIES = "tallies"

# SQL of the tallies. They are text, because Spark 3.5 returns no observed arrays to Python.
# `collect_list` leaves out NULL, which the rows of the result have.
COLLECT_TALLIES = (
    f"to_json(collect_list(IF(size({wire.COUNTERS}) > 0, {wire.COUNTERS}, NULL))) AS {TALLIES}"
)

# The names of the counters that workers count in nanoseconds.
SECONDS = ("waiting", "encoding", "seconds", "gathering")

# What is printed if partitions would be cut into ranges without counters.
KEPT_WHOLE = "partitions were not cut into ranges, because all rows are counted"

# How many seconds `repr` and a notebook wait for the end of an action. A debugger calls `repr`.
REPR_TIMEOUT = 0.5

# How many seconds `print` waits. Spark reports the counters a moment after an action has returned.
PRINT_TIMEOUT = 2.0

TIMEOUT = ArgumentKind(
    "a number of seconds, 0 or more",
    lambda seconds: is_number(seconds) and 0 <= seconds <= TIMEOUT_MAX,
    "write timeout=10, or leave it out",
)


class Counters:
    """Counters of the work of a search, such as rows, runs, matches and seconds.

    Pass a new object as `Options(counters=...)`. It has values once the first action on the result
    has finished, and counts what that action has read. Actions such as `show` and `take` may stop
    early. If Spark runs a task several times, the task counts once. Over Connect, the values of
    `sql` are available after `collect`, `toPandas` or `toArrow` of the result.

    It prints as a table. Sail does not have counters.

    >>> counters = matchrec.Counters()
    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> found = matchrec.match_sase(
    ...     events, "PATTERN SEQ(Login a, Error b)", order_by="at",
    ...     options=matchrec.Options(counters=counters)).collect()
    >>> print(counters)
    events          ...
    ...
    """

    def __init__(self) -> None:
        self._clauses: list[ClauseObservation] = []
        # The result of a query of SQL text, whose action may know the counts.
        self._result: DataFrame | None = None

    @check_arguments(timeout=TIMEOUT)
    def values(self, timeout: float = 10) -> dict[str, int | float]:
        """Return the name and the value of each counter, over all clauses of the query.

        Args:
            timeout: how many seconds to wait for an action to finish.

        Raises:
            MatchRecognizePlanError: no action has finished after `timeout` seconds.
            MatchRecognizeError: PySpark cannot read the counters.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> counters = matchrec.Counters()
        >>> found = matchrec.match_recognize(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
        ... ''', options=matchrec.Options(counters=counters)).collect()
        >>> counters.values()["matches"]
        1
        """
        if not self._clauses:
            raise counters_without_values()
        clause_counts = [clause.read_counts(self._result, timeout) for clause in self._clauses]
        counts_runs = any(clause.counts_runs for clause in self._clauses)
        values: dict[str, int | float] = {}
        for field in COUNTERS:
            if counts_runs or field not in SELECTION_COUNTERS:
                values[field.name] = field.total([counts[field.name] for counts in clause_counts])
        return values | {name: values[name] / 1e9 for name in SECONDS}

    def __str__(self) -> str:
        try:
            values = self.values(PRINT_TIMEOUT)
        except MatchRecognizeError as error:
            return error.message
        lines = [f"{name:<21}{value:>15}" for name, value in format_values(values)]
        if len(values) < len(COUNTERS):
            lines.append("runs and the buffer are counted only for queries with event selection")
        if any(clause.kept_whole for clause in self._clauses):
            lines.append(KEPT_WHOLE)
        return "\n".join(lines)

    def __repr__(self) -> str:
        try:
            values = self.values(REPR_TIMEOUT)
        except MatchRecognizePlanError:
            return "<Counters: no action has finished>"
        except MatchRecognizeError as error:
            return f"<Counters: {error.message}>"
        events = show_count(int(values["events"]), "event")
        return f"<Counters: {events}, {show_count(int(values['matches']), 'match', 'matches')}>"

    def _repr_html_(self) -> str:
        """Return the counters as an HTML table, or the error that prevents it."""
        try:
            counters = list(format_values(self.values(REPR_TIMEOUT)))
        except MatchRecognizeError as error:
            return write_preformatted(str(error))
        html = build_html_table(("counter", "value"), counters)
        if any(clause.kept_whole for clause in self._clauses):
            return html + write_preformatted(KEPT_WHOLE)
        return html

    def _observe(self, frame: DataFrame, *, counts_runs: bool, kept_whole: bool) -> DataFrame:
        """Return the output rows of the workers: see `observe_workers`."""
        check_can_count(frame.sparkSession, "counters=")
        name = f"matchrec_{uuid4().hex}"
        observation = find_backend(frame.sparkSession).make_observation(name)
        observed_frame = frame.observe(observation, expr(COLLECT_TALLIES))
        self._clauses.append(ClauseObservation(observation, name, counts_runs, kept_whole))
        return observed_frame.filter(f"size({wire.COUNTERS}) = 0").drop(wire.COUNTERS)

    def _observe_query(self, result: DataFrame) -> DataFrame:
        """Return the result of a query of SQL text: see `observe_query`."""
        self._result = find_backend(result.sparkSession).make_observable(result)
        return self._result


# What the package does with the counters of a user.


def observe_workers(
    counters: Counters, frame: DataFrame, *, counts_runs: bool, kept_whole: bool
) -> DataFrame:
    """Return the output rows of the workers, which are counted when an action reads them.

    Args:
        counters: the object that gets the counts.
        frame: the output of the workers, with the column of tallies.
        counts_runs: whether runs are counted, because the query has event selection.
        kept_whole: whether partitions would be cut into ranges if nothing was counted.

    Raises:
        MatchRecognizeUnsupportedError: the session cannot count.
    """
    return counters._observe(frame, counts_runs=counts_runs, kept_whole=kept_whole)


def observe_query(counters: Counters, result: DataFrame) -> DataFrame:
    """Return the result of a query of SQL text, such that its action finds the counters."""
    return counters._observe_query(result)


def count_without_rows(counters: Counters, result: DataFrame) -> None:
    """Run a query of SQL text only for its counters. Its rows are dropped."""
    find_backend(result.sparkSession).run_unread(observe_query(counters, result))


def format_values(values: dict[str, int | float]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each counter, as a table shows them.

    >>> list(format_values({"events": 1200, "seconds": 0.5}))
    [('events', '1,200'), ('seconds of matching', '0.500')]
    """
    for field in COUNTERS:
        if field.name in values:
            value = values[field.name]
            yield field.text, f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


class ObservationReader:
    """A thread that reads an observation.

    In Classic, `Observation.get` waits for an action that may never come. So another thread calls
    it. A thread that waits for ever cannot be ended, so later reads wait for the same thread.
    """

    def __init__(self, observation: Any) -> None:
        # What the observation has counted; empty if no action has finished.
        self.result: dict[str, Any] = {}
        # Why PySpark could not read the observation.
        self.error: Exception | None = None
        self._thread = Thread(target=self._read, args=(observation,), daemon=True)
        self._thread.start()

    def _read(self, observation: Any) -> None:
        """Read the observation. Runs in the thread."""
        try:
            self.result = dict(observation.get)
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
    """The observation of the counters of one clause."""

    observation: Any  # an Observation of Classic or of Connect
    name: str
    counts_runs: bool  # because the clause has event selection
    kept_whole: bool  # whether partitions would be cut into ranges if nothing was counted
    counts: dict[str, int] | None = None  # the counters by name, once an action has finished
    reader: ObservationReader | None = None  # the last one, from the first read on

    def read_counts(self, result: DataFrame | None, timeout: float) -> dict[str, int]:
        """Return the counters of the first action. They are 0 if no task had rows.

        Args:
            result: the result of the query if it is SQL text, else None.
            timeout: how many seconds to wait for the action.

        Raises:
            MatchRecognizePlanError: no action has finished.
            MatchRecognizeError: PySpark cannot read the observation.
        """
        if self.counts is None:
            # In Connect, a thread ends at once, also before an action. Then a new one reads again.
            if self.reader is None or not self.reader.is_waiting:
                self.reader = ObservationReader(self.observation)
            self.reader.wait(timeout)
            observed = self.reader.result
            if not observed and result is not None:
                observed = find_backend(result.sparkSession).read_counts(result, self.name)
            error = self.reader.error
            if not observed and error is not None:
                raise counters_not_readable(kind=type(error).__name__, text=str(error)) from error
            if not observed:
                raise counters_without_values()
            self.counts = add_up(json.loads(observed[TALLIES] or "[]"))
        return self.counts


def add_up(tallies: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return each counter over all tasks, by its name.

    >>> first, again, other = [4, 1, 2] + [0] * 11, [4, 1, 2] + [0] * 11, [5, 1, 0] + [0] * 11
    >>> add_up([[*first, 0], [*again, 0], [*other, 1]])["events"]
    9

    Args:
        tallies: the counters of each run of a task, then the number of the task. Only the last
            tally of each task counts.
    """
    last_tallies = {tally[-1]: tally for tally in tallies}  # by the number of the task
    return {
        field.name: field.total([tally[field.index] for tally in last_tallies.values()])
        for field in COUNTERS
    }


def append_counters_column(schema: spark_types.StructType) -> spark_types.StructType:
    """Return the schema of a worker's output with the column of tallies.

    Any column may be NULL, because the row of a tally has no other values.
    """
    tally_type = spark_types.ArrayType(spark_types.LongType())
    types = {field.name: field.dataType for field in schema}
    return make_struct_type(types | {wire.COUNTERS: tally_type})


def check_can_count(spark: SparkSession, request_text: str) -> None:
    """Check that a session can count.

    Args:
        spark: the session.
        request_text: the user's text that needs counters, for the error.

    Raises:
        MatchRecognizeUnsupportedError: the engine has no Observation.
    """
    if not can_observe(spark):
        raise counters_not_supported(argument=request_text)
