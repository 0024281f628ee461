"""Warns of rows that ORDER BY does not tell apart, once a query has run.

Workers that sort count such rows and report them (see `sorting.ties`). The warning belongs to the
call that has run the query, so it is given in the thread of that call, as it returns:

- PySpark Classic hands every answer of Java to `get_return_value`, where PySpark itself translates
  errors; the updates of an accumulator are there before the action answers.
- The calls of a client of Connect are watched by `errors.second_look`. Only a server inside this
  program is heard, as Sail's that `matchrec.session` starts.

Other servers have no way to tell: neither an accumulator, nor a thread of this program.
"""

from __future__ import annotations

from collections import deque
from functools import wraps
from threading import current_thread
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from matchrec.errors.language import part
from matchrec.errors.run.place import column_name
from matchrec.errors.warnings import tied_rows, warn_caller
from matchrec.spark.sail import server
from matchrec.spark.session import application, is_connect
from matchrec.spark.sorting.ties import (
    AccumulatorChannel,
    Channel,
    ThreadChannel,
    TiesParameter,
    TieWatch,
    reported,
    this_program,
)

if TYPE_CHECKING:
    from matchrec.plan.match_plan import MatchPlan
    from matchrec.spark.wire import Sorting

HEARD = "_matchrec_heard"
MOST_REMEMBERED = 10_000

_warned: deque[str] = deque(maxlen=MOST_REMEMBERED)  # the ids of queries; the last ones are enough
_accumulators: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by SparkContext


def watch_ties(spark: SparkSession, plan: MatchPlan, sorting: Sorting) -> TieWatch | None:
    """Return what counts the ties of one query.

    None if there is no ORDER BY, or if the session's workers cannot report.

    Args:
        spark: the session of the query.
        plan: what the rows are sorted for.
        sorting: how the workers sort; its keys and order are those of the plan, in their order.
    """
    if not sorting.order or (channel := channel_of(spark)) is None:
        return None
    names = (*sorting.keys[: len(plan.keys)], *(item.name for item in sorting.order))
    texts = (column_name(one.text) for one in plan.sorted_by)
    columns = dict(zip(names, texts, strict=True))
    return TieWatch(uuid4().hex, channel, part("ORDER BY"), tuple(columns.items()))


def channel_of(spark: SparkSession) -> Channel | None:
    """Return how workers of the session report to this program, if they can."""
    if is_connect(spark):
        is_here = application(spark) in server.started
        return ThreadChannel(this_program()) if is_here else None
    listen_to_java()
    context = spark.sparkContext
    if context not in _accumulators:
        parameter = cast("Any", TiesParameter(this_program()))
        _accumulators[context] = context.accumulator(cast("Any", {}), parameter)
    return AccumulatorChannel(_accumulators[context])


def listen_to_java() -> None:
    """Have each call of Java that returns give the warnings there are, from now on.

    PySpark replaces the function that we wrap whenever it makes a session, so each query asks.
    """
    from py4j import java_gateway

    answer = java_gateway.get_return_value
    if hasattr(answer, HEARD):
        return

    @wraps(answer)
    def answer_and_warn(*given: Any, **named: Any) -> Any:
        found = answer(*given, **named)
        warn_of_ties()
        return found

    setattr(answer_and_warn, HEARD, True)
    java_gateway.get_return_value = answer_and_warn


def warn_of_ties() -> None:
    """Warn of the ties that workers have reported, once for each query.

    Does nothing in a daemon thread, such as one that asks how far a query is: nobody would see it.
    """
    if not reported or current_thread().daemon:
        return
    for query, ties in reported.take().items():
        if query not in _warned:
            _warned.append(query)
            warn_caller(tied_rows(ties.number, ties.clause, ties.example))
