"""Counters of a query's matching, gathered over Spark's tasks by an Observation.

A worker's last row carries what it has counted (`tally`) and the number of its task.
`DataFrame.observe` collects these rows on the way to the first action's result; then a filter takes
the row away and a projection the column. Without counters none of this is in the plan.

The rows are added up here and not by Spark, because Spark may run a task more than once: for a
sample of the rows before it sorts them, or again after it has lost the machine with the result.
What is observed would then count twice; of several rows of one task, the last one counts.
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

from matchrec.arguments import ArgumentKind, checked, is_number
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import nothing_counted, nothing_observed
from matchrec.explain.pictures.html import preformatted, table
from matchrec.search.kernels import layout
from matchrec.source import counted
from matchrec.spark.backends import backend_of
from matchrec.spark.sail.probes import can_observe
from matchrec.spark.types import struct_of
from matchrec.worker import count, wire


@dataclass(frozen=True)
class CounterField:
    """A counter of the search."""

    name: str
    text: str  # what a table of counters calls it
    place: int  # its index in the column of counters
    is_maximum: bool = False  # over tasks and clauses, the largest value counts, and not the sum

    def total(self, numbers: Sequence[int]) -> int:
        """Return the value over several tasks or clauses, 0 if there are none."""
        return max(numbers, default=0) if self.is_maximum else sum(numbers)


OF_SELECTION = (
    CounterField("reads", "rows read by runs", count.OF_KERNELS + layout.READS),
    CounterField("runs", "runs created", count.OF_KERNELS + layout.RUNS_CREATED),
    CounterField("most_live_runs", "most live runs", count.OF_KERNELS + layout.MOST_LIVE, True),
    CounterField("forks", "forks", count.OF_KERNELS + layout.FORKS),
    CounterField("merges", "merges", count.OF_KERNELS + layout.MERGES),
    CounterField("nodes", "buffer nodes", count.OF_KERNELS + layout.NODES_CREATED),
    CounterField("pruned", "nodes pruned", count.OF_KERNELS + layout.NODES_PRUNED),
)
COUNTED = (
    CounterField("events", "events", count.EVENTS),
    CounterField("partitions", "partitions", count.PARTITIONS),
    *OF_SELECTION,
    CounterField("matches", "matches", count.MATCHES),
    CounterField("waiting", "seconds of waiting", count.WAITING),
    CounterField("encoding", "seconds of encoding", count.ENCODING),
    CounterField("seconds", "seconds of matching", count.MATCHING),
    CounterField("gathering", "seconds of gathering", count.GATHERING),
)
TALLIES = "tallies"
# As text, because an Observation of Spark 3.5 has no arrays for Python. `collect_list` leaves out
# NULL, which the rows of the result have.
TALLIES_SEEN = (
    f"to_json(collect_list(IF(size({wire.COUNTERS}) > 0, {wire.COUNTERS}, NULL))) AS {TALLIES}"
)
SECONDS = ("waiting", "encoding", "seconds", "gathering")
SECONDS_OF_REPR = 0.5  # that a notebook waits for the end of an action

SECONDS_WAITED = ArgumentKind(
    "a number of seconds, 0 or more",
    lambda given: is_number(given) and 0 <= given <= TIMEOUT_MAX,
    "write timeout=10, or leave it out",
)


class Counters:
    """Counters of the work of a search: events, runs, forks, merges, buffer nodes, matches,
    seconds.

    Pass a new object as `Options(counters=...)`. It has values once the first action on the result
    has finished, and counts what that action has read. Actions such as `show` and `take` may stop
    early. If Spark runs a task several times, it counts once. Over Connect, the values of `sql` are
    available after `collect`, `toPandas` or `toArrow` of the result.

    Events are the rows that reach the search. `explain` says which rows do not. The largest number
    of live runs is that of one task at one time. The algorithm backtracking has a single run, so
    there this counter is the largest number of rows in it, each of which may have postponed
    another run. All other values, also the seconds, are sums over tasks. Only queries with event
    selection count runs and the buffer.

    Seconds are those of the Python workers: waiting for rows from Spark, with sorting if the
    workers sort; making arrays; matching; gathering the results.

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
        self._seen: list[Observed] = []
        self._result: DataFrame | None = None

    @checked(timeout=SECONDS_WAITED)
    def values(self, timeout: float = 10) -> dict[str, int | float]:
        """Return the counters by name, over all clauses of the query.

        Args:
            timeout: how many seconds to wait for an action to finish.

        Raises:
            MatchRecognizePlanError: no action has finished after `timeout` seconds.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> counters = matchrec.Counters()
        >>> found = matchrec.match_recognize(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
        ... ''', options=matchrec.Options(counters=counters)).collect()
        >>> counters.values()["matches"]
        1
        """
        if not self._seen:
            raise nothing_counted()
        clauses = [one.numbers(self._result, timeout) for one in self._seen]
        selects = any(one.selects for one in self._seen)
        found: dict[str, int | float] = {}
        for field in COUNTED:
            if selects or field not in OF_SELECTION:
                found[field.name] = field.total([clause[field.name] for clause in clauses])
        return found | {name: found[name] / 1e9 for name in SECONDS}

    def __str__(self) -> str:
        values = self.values()
        lines = [f"{text:<21}{number:>15}" for text, number in written(values)]
        if len(values) < len(COUNTED):
            lines.append("without event selection, runs and buffer are not counted")
        return "\n".join(lines)

    def __repr__(self) -> str:
        try:
            values = self.values(SECONDS_OF_REPR)
        except MatchRecognizeError:
            return "<Counters: no action has finished>"
        events = counted(int(values["events"]), "event")
        return f"<Counters: {events}, {counted(int(values['matches']), 'match', 'matches')}>"

    def _repr_html_(self) -> str:
        try:
            return table(("counter", "value"), list(written(self.values(SECONDS_OF_REPR))))
        except MatchRecognizeError as error:
            return preformatted(str(error))

    def observe(self, frame: DataFrame, *, selects: bool) -> DataFrame:
        """Return the rows of `frame`, whose counters are observed when an action reads them.

        Args:
            frame: the output of the workers, with the column of counters.
            selects: whether the engine counts runs.
        """
        check_observed(frame.sparkSession, "counters=")
        name = f"matchrec_{uuid4().hex}"
        observation = backend_of(frame.sparkSession).observation(name)
        seen = frame.observe(observation, expr(TALLIES_SEEN))
        self._seen.append(Observed(observation, name, selects))
        return seen.filter(f"size({wire.COUNTERS}) = 0").drop(wire.COUNTERS)

    def run(self, result: DataFrame) -> None:
        """Run a query of SQL text for its counters only. Its rows are dropped."""
        backend_of(result.sparkSession).run_unread(self.of_query(result))

    def of_query(self, result: DataFrame) -> DataFrame:
        """Return the result of a query whose clauses are observed, to run an action on it."""
        self._result = backend_of(result.sparkSession).observed(result)
        return self._result


def written(values: dict[str, int | float]) -> Iterator[tuple[str, str]]:
    for field in COUNTED:
        if field.name in values:
            value = values[field.name]
            yield field.text, f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


@dataclass
class Observed:
    """The observation of one clause."""

    observation: Any
    name: str
    selects: bool  # whether the engine counts runs
    found: dict[str, int] | None = None  # the counters, once an action has finished

    def numbers(self, result: DataFrame | None, timeout: float) -> dict[str, int]:
        """Return the counters of the first action, each 0 if no task had rows.

        Args:
            result: the result of the query if it is SQL text, else None.
            timeout: how many seconds to wait for the action.

        Raises:
            MatchRecognizePlanError: no action has finished.
        """
        if self.found is None:
            seen = wait_for(self.observation, timeout)
            if not seen and result is not None:
                seen = backend_of(result.sparkSession).seen_by(result, self.name)
            if not seen:
                raise nothing_counted()
            self.found = add_up(json.loads(seen[TALLIES] or "[]"))
        return self.found


def add_up(tallies: Sequence[Sequence[int]]) -> dict[str, int]:
    """Return each counter over all tasks.

    >>> first, again, other = [4, 1, 2] + [0] * 11, [4, 1, 2] + [0] * 11, [5, 1, 0] + [0] * 11
    >>> add_up([[*first, 0], [*again, 0], [*other, 1]])["events"]
    9

    Args:
        tallies: what each task has counted, with the number of the task as the last value. If Spark
            has run a task several times, the last of these counts.
    """
    last_tally_of_task = {tally[-1]: tally for tally in tallies}
    tallies_that_count = last_tally_of_task.values()
    return {
        field.name: field.total([tally[field.place] for tally in tallies_that_count])
        for field in COUNTED
    }


def with_counters(schema: spark_types.StructType) -> spark_types.StructType:
    """The schema of a worker's output with the column of counters; any column may be NULL."""
    counters = spark_types.ArrayType(spark_types.LongType())
    return struct_of({field.name: field.dataType for field in schema} | {wire.COUNTERS: counters})


def check_observed(spark: SparkSession, given: str) -> None:
    """Raises MatchRecognizeUnsupportedError where a session tells no counters. given: what asks."""
    if not can_observe(spark):
        raise nothing_observed(given=given)


def wait_for(observation: Any, timeout: float) -> dict[str, Any]:
    """Return what an observation has counted, or nothing if no action has finished in time."""
    found: list[dict[str, Any]] = []
    # in Classic, `get` waits for an action that may never come
    waiting = Thread(target=lambda: found.append(observation.get), daemon=True)
    waiting.start()
    waiting.join(timeout)
    return dict(found[0]) if found else {}
