"""Count the work of a search while an action reads the result of its query: `Counters`.

`spark.tallies` gathers the counters of each clause. Here they become values for the user: over all
clauses of a query, in seconds instead of nanoseconds, as a dict or as a table. A query without
`Options(counters=...)` does not load this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import TIMEOUT_MAX

from pyspark.sql import DataFrame, SparkSession

from matchrec.arguments import ArgumentKind, check_arguments, is_number
from matchrec.errors import MatchRecognizeError, MatchRecognizePlanError
from matchrec.errors.calls import counters_without_values
from matchrec.errors.machine import counters_not_supported
from matchrec.errors.wording import show_count
from matchrec.explain.pictures.html import build_html_table, write_preformatted
from matchrec.public_names import public
from matchrec.spark.backends import find_backend
from matchrec.spark.sail.probes import can_observe
from matchrec.spark.tallies import COUNTERS, SELECTION_COUNTERS, ClauseObservation, observe_tallies

# The note below the table if the counters are the reason that partitions were not cut into ranges.
KEPT_WHOLE_NOTE = "partitions were not cut into ranges, because all rows are counted"

# How many seconds `repr` and a notebook wait for the counters: not long, because debuggers call
# `repr`.
REPR_TIMEOUT = 0.5

# How many seconds `print` waits. Spark reports the counters a moment after an action has returned.
PRINT_TIMEOUT = 2.0

NANOSECONDS_PER_SECOND = 1e9

TIMEOUT = ArgumentKind(
    "a number of seconds, 0 or more",
    lambda seconds: is_number(seconds) and 0 <= seconds <= TIMEOUT_MAX,
    "write timeout=10, or leave it out",
    right_types=(int, float),
)


@public
class Counters:
    """Counters of the work of a search, such as rows, runs, matches and seconds.

    Pass a new object as `Options(counters=...)`. It has values once the first action on the result
    has finished, and counts what that action has read. Actions such as `show` and `take` can stop
    early. If Spark runs a task several times, the task counts once. Over Connect, the counters of a
    query of `sql` are available only after `collect`, `toPandas` or `toArrow` of the result.

    It prints as a table. Sail does not have counters, so the examples need a session of Spark:
    `spark = matchrec.session("spark")`.

    >>> counters = matchrec.Counters()
    >>> events = spark.sql("VALUES (1, 'Login'), (2, 'Error'), (3, 'Error') AS e(at, event_type)")
    >>> rows = matchrec.match_sase(
    ...     events, "PATTERN SEQ(Login a, Error b)", order_by="at",
    ...     options=matchrec.Options(counters=counters)).collect()
    >>> print(counters)
    rows            ...
    ...
    """

    def __init__(self) -> None:
        # The observations of the clauses of the query, which `observe_workers` appends.
        self._clauses: list[ClauseObservation] = []
        # The result if the query is SQL text, which `observe_query` sets. Over Connect, the action
        # on this DataFrame has the counters.
        self._result: DataFrame | None = None

    @check_arguments(timeout=TIMEOUT)
    def values(self, timeout: float = 10) -> dict[str, int | float]:
        """Return the value of each counter, over all clauses of the query, by its name.

        Counters whose names end with `_seconds` are times, added up over all tasks. All others are
        numbers of rows, partitions, matches and so on.

        Args:
            timeout: how many seconds to wait for an action to finish.

        Raises:
            MatchRecognizePlanError: no action has finished after `timeout` seconds.
            MatchRecognizeError: PySpark cannot read the counters.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> counters = matchrec.Counters()
        >>> rows = matchrec.match_recognize(ticks, '''
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
                value = field.combine([counts[field.name] for counts in clause_counts])
                is_time = field.is_time
                values[field.name] = value / NANOSECONDS_PER_SECOND if is_time else value
        return values

    def __str__(self) -> str:
        try:
            values = self.values(PRINT_TIMEOUT)
        except MatchRecognizeError as error:
            return error.message
        lines = [f"{name:<21}{value:>15}" for name, value in format_values(values)]
        if len(values) < len(COUNTERS):
            lines.append("runs and the buffer are counted only for queries with event selection")
        if any(clause.keeps_partitions_whole for clause in self._clauses):
            lines.append(KEPT_WHOLE_NOTE)
        return "\n".join(lines)

    def __repr__(self) -> str:
        try:
            values = self.values(REPR_TIMEOUT)
        except MatchRecognizePlanError:
            return "<Counters: no action has finished>"
        except MatchRecognizeError as error:
            return f"<Counters: {error.message}>"
        rows = show_count(int(values["rows"]), "row")
        return f"<Counters: {rows}, {show_count(int(values['matches']), 'match', 'matches')}>"

    def _repr_html_(self) -> str:
        """Return the counters as an HTML table, or the error that says why there are none."""
        try:
            values = self.values(REPR_TIMEOUT)
        except MatchRecognizeError as error:
            return write_preformatted(str(error))
        html = build_html_table(("counter", "value"), list(format_values(values)))
        if any(clause.keeps_partitions_whole for clause in self._clauses):
            return html + write_preformatted(KEPT_WHOLE_NOTE)
        return html


def observe_workers(
    counters: Counters, frame: DataFrame, *, counts_runs: bool, keeps_partitions_whole: bool
) -> DataFrame:
    """Return the output rows of a clause as a DataFrame whose action fills the counters.

    Args:
        counters: the user's object, which gets the counters.
        frame: the output of the workers, with the column of tallies.
        counts_runs: whether runs are counted, because the query has event selection.
        keeps_partitions_whole: whether partitions would be cut into ranges if nothing was counted.

    Raises:
        MatchRecognizeUnsupportedError: the session cannot count.
    """
    check_can_count(frame.sparkSession, "counters=")
    observation = ClauseObservation.create(
        frame.sparkSession, counts_runs=counts_runs, keeps_partitions_whole=keeps_partitions_whole
    )
    counters._clauses.append(observation)
    return observe_tallies(frame, observation)


def observe_query(counters: Counters, result: DataFrame) -> DataFrame:
    """Return the result of a query of SQL text as a DataFrame whose action fills the counters.

    Args:
        counters: the user's object, whose clauses are in the query.
        result: the result of the query.
    """
    counters._result = find_backend(result.sparkSession).make_observable(result)
    return counters._result


def count_without_rows(counters: Counters, result: DataFrame) -> None:
    """Run a query of SQL text only for its counters. Its rows are dropped.

    Args:
        counters: the user's object, whose clauses are in the query.
        result: the result of the query.
    """
    find_backend(result.sparkSession).run_for_counters(observe_query(counters, result))


def format_values(values: dict[str, int | float]) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each counter as text for a table.

    >>> list(format_values({"rows": 1200, "matching_seconds": 0.5}))
    [('rows', '1,200'), ('matching seconds', '0.500')]
    """
    for field in COUNTERS:
        if field.name in values:
            value = values[field.name]
            yield field.label, f"{value:,.3f}" if field.is_time else f"{value:,}"


def check_can_count(spark: SparkSession, argument: str) -> None:
    """Check that a session can count.

    Args:
        spark: the session.
        argument: the user's text that needs counters, such as `counters=`, for the error.

    Raises:
        MatchRecognizeUnsupportedError: the engine has no Observation.
    """
    if not can_observe(spark):
        raise counters_not_supported(argument=argument)
