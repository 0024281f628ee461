"""Progress: how far a session's running jobs are, drawn while they run.

Spark says how many tasks are done: Classic is asked for it (`statusTracker`), a client of Connect
is told (`registerProgressHandler`, from PySpark 4.0 on). What the tasks that are done have searched
and found is in `Counters`. A thread of rich's asks twice a second; the query waits for none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from py4j.protocol import Py4JError

from matchrec.arguments import SESSION, Kind, checked
from matchrec.dataclass import dataclass
from matchrec.spark.counters import Counters
from matchrec.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console
    from rich.table import Table

TIMES_A_SECOND = 2
COUNTERS = Kind(
    "the Counters of the query, or None",
    lambda given: given is None or isinstance(given, Counters),
    "pass the same counters to the query and to progress, or leave it out",
)


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of the stages that are running, and how many of them are done."""

    done: int = 0
    all: int = 0

    def __str__(self) -> str:
        if not self.all:
            return "no task yet"
        return f"{100 * self.done // self.all:3} % of {self.all:,} tasks"


@checked(spark=SESSION, counters=COUNTERS)
@contextmanager
def progress(spark: SparkSession, counters: Counters | None = None) -> Iterator[None]:
    """Show in a terminal (on stderr) or a notebook how far the queries that run inside are.

    The share of tasks that are done, of the stages that run, whichever query of the application
    they are of; and with the `counters` of a query how many rows its finished tasks have searched
    and how many matches they have found, which Connect does not tell. It is gone at the end, and
    shows nothing where nobody looks, as in a file.

    >>> counters = matchrec.Counters()
    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> found = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
    ... ''', counters=counters)
    >>> with matchrec.progress(spark, counters):
    ...     rows = found.collect()
    >>> len(rows)
    1
    """
    console = watched_console()
    with drawn(spark, counters, console) if console else nullcontext():
        yield


def watched_console() -> Console | None:
    """The terminal or notebook at which somebody looks; None where progress shows nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None


@contextmanager
def drawn(spark: SparkSession, counters: Counters | None, console: Console) -> Iterator[None]:
    """The same, on a console that somebody looks at."""
    from rich.live import Live

    began = monotonic()
    with watched(spark) as tasks:

        def picture() -> Table:
            return line(tasks(), counters, monotonic() - began)

        with Live(
            get_renderable=picture,
            console=console,
            refresh_per_second=TIMES_A_SECOND,
            transient=True,
        ):
            yield


def line(tasks: Tasks, counters: Counters | None, seconds: float) -> Table:
    """One picture of the progress: a bar, and what it says in words."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    said = [str(tasks), f"{seconds:.0f} s"]
    found = counters.so_far() if counters is not None else {}
    said[1:1] = [f"{number:,} {name}" for name, number in found.items() if any(found.values())]
    grid = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=max(tasks.all, 1), completed=tasks.done, width=30)
    grid.add_row(bar, ", ".join(said))
    return grid


@contextmanager
def watched(spark: SparkSession) -> Iterator[Callable[[], Tasks]]:
    """What tells, at any time, how far the running stages are; nothing on Connect before 4.0."""
    if not is_connect(spark):
        yield asked(spark)
        return
    told, session = Told(), cast("Any", spark)
    if not hasattr(session, "registerProgressHandler"):
        yield told.tasks
        return
    session.registerProgressHandler(told)
    try:
        yield told.tasks
    finally:
        session.removeProgressHandler(told)


def asked(spark: SparkSession) -> Callable[[], Tasks]:
    """Asks Spark Classic. A session that has ended knows of no tasks."""
    tracker = spark.sparkContext.statusTracker()

    def tasks() -> Tasks:
        try:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        except (Py4JError, OSError):
            return Tasks()
        known = [one for one in stages if one is not None]
        return Tasks(
            sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known)
        )

    return tasks


class Told:
    """Keeps what a server of Connect has told last."""

    def __init__(self) -> None:
        self._last = Tasks()

    def __call__(self, *, stages: Any, done: bool, **_: object) -> None:
        """Called by PySpark, with the stages so far of one query."""
        known = [] if done else list(stages or ())
        self._last = Tasks(
            sum(one.num_completed_tasks for one in known), sum(one.num_tasks for one in known)
        )

    def tasks(self) -> Tasks:
        """How far that query is."""
        return self._last
