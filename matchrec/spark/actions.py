"""While an action runs: how far it is, and Ctrl-C.

Spark says how many tasks are done: Classic is asked for it (`statusTracker`), a client of Connect
is told (`registerProgressHandler`, from PySpark 4.0 on). Sail tells nothing: its workers run in
this program, and count the rows that they read. A thread asks four times a second; the query waits
for none of it.

On Ctrl-C PySpark is waiting for an answer of Java's. An exception in the middle of that leaves a
broken connection, pages of tracebacks, and jobs that go on. So the signal only has another thread
cancel the jobs, by a tag that is theirs alone; then Java answers that they were cancelled.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from pyspark.sql import SparkSession

from matchrec.arguments import SESSION, checked
from matchrec.source import counted
from matchrec.spark.session import FAILURES, find_context
from matchrec.worker.failing import rows_read

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have
    from rich.console import Console

TIMES_A_SECOND = 4
WIDTH = 40  # of the line in a cell, which is written over
GONE: tuple[type[Exception], ...] = (*FAILURES, OSError, AttributeError)  # when a session has ended


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of running stages, how many are done; or rows read, where no tasks are told."""

    done: int = 0
    all: int = 0
    rows: int = 0

    def __str__(self) -> str:
        if not self.all:
            return f"{counted(self.rows, 'row')} read" if self.rows else "no task yet"
        return f"{100 * self.done // self.all:3} % of {self.all:,} tasks"


@checked(spark=SESSION)
@contextmanager
def progress(spark: SparkSession) -> Iterator[None]:
    """Show how far the queries in a `with` block are, in a terminal (on stderr) or a notebook.

    On Spark it shows the share of finished tasks in all running stages of the application. On Sail
    it shows how many rows the search has read. It disappears at the end of the block. It shows
    nothing if stderr is not a terminal, such as a file.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> found = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
    ... ''')
    >>> with matchrec.progress(spark):
    ...     rows = found.collect()
    >>> len(rows)
    1
    """
    if (console := find_console()) is None:
        yield
        return
    began, ended = monotonic(), Event()
    with watch_tasks(spark) as tasks, line_of(console) as write:

        def tell() -> None:
            while not ended.wait(1 / TIMES_A_SECOND):
                write(f"{tasks()}, {monotonic() - began:.0f} s")

        teller = Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            ended.set()
            teller.join()


def find_console() -> Console | None:
    """The terminal or notebook at which somebody looks; None where progress shows nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None


@contextmanager
def line_of(console: Console) -> Iterator[Callable[[str], object]]:
    """What writes over a line, gone in the end: after what turns, or below a cell."""
    if not console.is_jupyter:
        with console.status(f"{Tasks()}, 0 s") as status:
            yield status.update
        return

    def write(text: str) -> None:
        sys.stdout.write(f"\r{text:<{WIDTH}}\r")
        sys.stdout.flush()

    try:
        yield write
    finally:
        write("")


@contextmanager
def watch_tasks(spark: SparkSession) -> Iterator[Callable[[], Tasks]]:
    """What tells, at any time, how far the running stages are; nothing on Connect before 4.0."""
    context = find_context(spark)
    if context is not None:
        yield classic_tasks(context)
        return
    told, session = ReportedTasks(), cast("Any", spark)
    if not hasattr(session, "registerProgressHandler"):
        yield told.tasks
        return
    session.registerProgressHandler(told)
    try:
        yield told.tasks
    finally:
        session.removeProgressHandler(told)


def classic_tasks(context: SparkContext) -> Callable[[], Tasks]:
    """Return what asks Spark for its tasks. It writes no lines of its own from now on."""
    own: Any = cast("Any", context)._jsc.sc().progressBar()
    if own.isDefined():
        own.get().stop()
    tracker = context.statusTracker()

    def tasks() -> Tasks:
        try:
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        except GONE:
            return Tasks()
        known = [stage for stage in stages if stage is not None]
        done = sum(one.numCompletedTasks for one in known)
        return Tasks(done, sum(one.numTasks for one in known))

    return tasks


class ReportedTasks:
    """Keeps what a server of Connect has told last."""

    def __init__(self) -> None:
        self._last = Tasks()
        self._before = rows_read.number

    def __call__(self, *, stages: Any, done: bool, **_: object) -> None:
        known = [] if done else list(stages or ())
        completed = sum(one.num_completed_tasks for one in known)
        self._last = Tasks(completed, sum(one.num_tasks for one in known))

    def tasks(self) -> Tasks:
        return self._last if self._last.all else Tasks(rows=rows_read.number - self._before)


AGAIN = 0.3  # seconds: a job may start after others were cancelled


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; the jobs of the query are cancelled."""

    def __str__(self) -> str:
        return "interrupted; the jobs of the query are cancelled"


@contextmanager
def cancelled_by_interrupt(spark: SparkSession) -> Iterator[None]:
    """Ctrl-C cancels the jobs that are started inside. Raises Interrupted once they have ended, and
    KeyboardInterrupt at once where it is pressed again.
    """
    if current_thread() is not main_thread():  # which alone is told of signals
        yield
        return
    add, remove, cancel = tags_of(spark)
    tag, interrupted, ended = f"matchrec-{uuid4().hex[:12]}", Event(), Event()

    def cancel_jobs() -> None:
        while not ended.is_set():
            try:
                cancel(tag)
            except GONE:  # Java was told of the signal, too
                return
            ended.wait(AGAIN)

    def interrupt(*_: object) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        Thread(target=cancel_jobs, daemon=True).start()

    before = signal.signal(signal.SIGINT, interrupt)
    add(tag)
    try:
        yield
    except Exception as error:
        if interrupted.is_set():
            raise Interrupted from error
        raise
    finally:
        ended.set()
        signal.signal(signal.SIGINT, before)
        with suppress(*GONE):
            remove(tag)
    if interrupted.is_set():
        raise Interrupted


def tags_of(spark: SparkSession) -> tuple[Callable[[str], object], ...]:
    """What adds a tag to the jobs of this thread, removes it, and cancels the jobs that have it."""
    context = find_context(spark)
    if context is None:
        session = cast("Any", spark)
        return session.addTag, session.removeTag, session.interruptTag
    return context.addJobTag, context.removeJobTag, context.cancelJobsWithTag
