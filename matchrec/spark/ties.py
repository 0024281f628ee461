"""Warn of ties, which are rows that ORDER BY does not tell apart, once a query has run.

Workers that sort count ties (`worker.sorting.ties`) and report them (`worker.sorting.tie_reports`).
The warning belongs to the call that has run the query, so it is raised in the thread of this call,
when the call returns:

- PySpark Classic passes every answer of Java to `get_return_value`, which `listen_to_java` wraps.
  Spark applies the updates of an accumulator before an action answers.
- For a client of Connect, `errors.failed_actions` calls `warn_of_ties` after each call. This works
  only if the server runs inside this program, such as the Sail that `matchrec.session` starts.

Workers of other servers cannot report: they have no accumulator, and are not threads of this
program.
"""

from __future__ import annotations

from collections import deque
from functools import wraps
from threading import current_thread
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from matchrec.errors.language import SQL, current_language, name_part
from matchrec.errors.run.location import unquote_column
from matchrec.errors.warn_caller import warn_caller
from matchrec.errors.warnings import tied_rows
from matchrec.spark.sail import server
from matchrec.spark.session import find_application, find_context
from matchrec.worker.column_roles import ShownColumn
from matchrec.worker.sorting.tie_reports import (
    AccumulatorTieChannel,
    ThreadTieChannel,
    TieChannel,
    TiesAccumulatorParam,
    identify_process,
    reported_ties,
)
from matchrec.worker.sorting.ties import TieReporter

if TYPE_CHECKING:
    from matchrec.compile.joined_queries import JoinedQueries
    from matchrec.worker.column_roles import Sorting

# The attribute that marks a function of PySpark as wrapped.
WARNS_OF_TIES = "_matchrec_warns_of_ties"

# The ids of the last queries with a warning, so that each query gets one warning. All reports of a
# query arrive soon after it has run, so older ids are not needed.
MAX_QUERY_IDS = 10_000
_warned_query_ids: deque[str] = deque(maxlen=MAX_QUERY_IDS)

# The accumulator of each SparkContext.
_accumulators: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def make_tie_reporter(
    spark: SparkSession, joined: JoinedQueries, sorting: Sorting
) -> TieReporter | None:
    """Return the object by which workers count and report the ties of a query.

    Returns None if the session's workers cannot report, or if the query has no ORDER BY. Also
    returns None if all columns of SQL's ORDER BY are in PARTITION BY, because a `NoEffectWarning`
    says so when the query is planned.

    Args:
        spark: the session of the query.
        joined: the query whose rows are sorted.
        sorting: the columns by which the workers sort: the columns of `joined.sorted_by`, in their
            order. Other keys, such as the number of a range, follow the keys of the query.
    """
    key_names = sorting.keys[: len(joined.partition_keys)]
    order_names = [column.name for column in sorting.order]
    if not order_names or (current_language() is SQL and set(order_names) <= set(key_names)):
        return None
    channel = find_channel(spark)
    if channel is None:
        return None
    texts = [unquote_column(expression.text) for expression in joined.sorted_by]
    # An expression that is both a key and in ORDER BY is shown once.
    texts_by_name = dict(zip((*key_names, *order_names), texts, strict=True))
    columns = tuple(ShownColumn(text, name) for name, text in texts_by_name.items())
    return TieReporter(
        query_id=uuid4().hex, channel=channel, clause=name_part("ORDER BY"), columns=columns
    )


def find_channel(spark: SparkSession) -> TieChannel | None:
    """Return the channel by which workers of a session report; None if they cannot report."""
    context = find_context(spark)
    if context is None:
        is_server_in_program = find_application(spark) in server.started_applications
        return ThreadTieChannel(identify_process()) if is_server_in_program else None
    listen_to_java()
    if context not in _accumulators:
        parameter = cast("Any", TiesAccumulatorParam(identify_process()))
        _accumulators[context] = context.accumulator(cast("Any", {}), parameter)
    return AccumulatorTieChannel(_accumulators[context])


def listen_to_java() -> None:
    """Wrap the function that returns Java's answers, so that each answer warns of ties.

    PySpark sets this function again whenever it makes a session, so each query calls
    `listen_to_java`.
    """
    from py4j import java_gateway

    get_return_value = java_gateway.get_return_value
    if hasattr(get_return_value, WARNS_OF_TIES):
        return

    @wraps(get_return_value)
    def return_and_warn(*arguments: Any, **named_arguments: Any) -> Any:
        """Return the value from Java, and warn of the ties that were reported before it came."""
        value = get_return_value(*arguments, **named_arguments)
        warn_of_ties()
        return value

    setattr(return_and_warn, WARNS_OF_TIES, True)
    java_gateway.get_return_value = return_and_warn


def warn_of_ties() -> None:
    """Warn of the ties that workers have reported, once for each query.

    Does nothing in a daemon thread, such as the one that shows progress: it would take the reports
    from the thread of the user's call.
    """
    if not reported_ties or current_thread().daemon:
        return
    for query_id, ties in reported_ties.take().items():
        if query_id not in _warned_query_ids:
            _warned_query_ids.append(query_id)
            warn_caller(tied_rows(count=ties.row_count, clause=ties.clause, example=ties.example))
