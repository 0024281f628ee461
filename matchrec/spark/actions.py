"""Show the progress of an action while it runs, and let Ctrl-C cancel it.

Progress is the share of tasks that are done. PySpark Classic has a call that returns the tasks
(`statusTracker`), and a client of Connect gets reports (`registerProgressHandler`, from PySpark 4.0
on). Sail has neither, but its workers run in this program, and count the rows that they read. A
thread reads these numbers four times a second. The query never waits for the thread.

When the user presses Ctrl-C, PySpark is waiting for an answer from Java. An exception at this point
leaves a broken connection, pages of tracebacks, and jobs that continue to run. So the signal
handler only starts a thread that cancels the jobs, by a tag that no other job has. Then Java
answers that the jobs were cancelled.
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

from matchrec.arguments import SESSION, check_arguments
from matchrec.errors.wording import show_count
from matchrec.public_names import public
from matchrec.spark.session import find_context
from matchrec.spark.session_errors import SESSION_ERRORS
from matchrec.worker.failing import rows_read_by_workers

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have
    from rich.console import Console

REPORTS_PER_SECOND = 4

# The width of the line below a notebook's cell, which is overwritten with blanks at the end.
LINE_WIDTH = 40

# The exceptions that calls of a session raise after the session has ended.
SESSION_ENDED: tuple[type[Exception], ...] = (*SESSION_ERRORS, OSError, AttributeError)


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of the stages that are running."""

    done: int = 0
    all: int = 0  # 0 if the tasks are not known
    # The number of rows that the workers have read, if the tasks are not known.
    rows: int = 0

    def __str__(self) -> str:
        if not self.all:
            return f"{show_count(self.rows, 'row')} read" if self.rows else "no task yet"
        return f"{100 * self.done // self.all:3} % of {self.all:,} tasks"


@public
@check_arguments(spark=SESSION)
@contextmanager
def progress(spark: SparkSession) -> Iterator[None]:
    """Show how far the queries in a `with` block are.

    In a terminal, it writes a line to stderr. In a notebook, it writes a line below the cell. The
    line disappears at the end of the block. Elsewhere, for example if stderr is a file, it does
    nothing.

    On Spark, the line shows the share of finished tasks in all running stages of the application.
    On Sail, it shows the number of rows that the search has read.

    Args:
        spark: the session that runs the queries.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> found = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> with matchrec.progress(spark):
    ...     rows = found.collect()
    >>> len(rows)
    1
    """
    console = find_console()
    if console is None:
        yield
        return
    began = monotonic()
    ended = Event()
    with watch_tasks(spark) as read_tasks, open_line(console) as write:

        def report() -> None:
            """Write the progress at regular intervals until the block ends."""
            while not ended.wait(1 / REPORTS_PER_SECOND):
                write(f"{read_tasks()}, {monotonic() - began:.0f} s")

        reporter = Thread(target=report, daemon=True)
        reporter.start()
        try:
            yield
        finally:
            ended.set()
            reporter.join()


def find_console() -> Console | None:
    """Return the terminal or the notebook of the user; None if stderr is neither."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None


@contextmanager
def open_line(console: Console) -> Iterator[Callable[[str], object]]:
    """Yield a function that overwrites a line of the console. The line is removed at the end.

    In a terminal, the line follows a spinner. In a notebook, it is below the cell.
    """
    if not console.is_jupyter:
        with console.status(f"{Tasks()}, 0 s") as status:
            yield status.update
        return

    def write(text: str) -> None:
        """Overwrite the line with a text."""
        sys.stdout.write(f"\r{text:<{LINE_WIDTH}}\r")
        sys.stdout.flush()

    try:
        yield write
    finally:
        write("")


@contextmanager
def watch_tasks(spark: SparkSession) -> Iterator[Callable[[], Tasks]]:
    """Yield a function that returns the tasks of the running stages.

    Over Connect before PySpark 4.0, tasks are not known.
    """
    context = find_context(spark)
    if context is not None:
        yield make_task_reader(context)
        return
    reported = ReportedTasks()
    session = cast("Any", spark)
    if not hasattr(session, "registerProgressHandler"):
        yield reported.tasks
        return
    session.registerProgressHandler(reported)
    try:
        yield reported.tasks
    finally:
        session.removeProgressHandler(reported)


def make_task_reader(context: SparkContext) -> Callable[[], Tasks]:
    """Return a function that reads the tasks of Spark in this program.

    Also stops Spark's own progress bar for good, because it would write into the same line.
    """
    progress_bar: Any = cast("Any", context)._jsc.sc().progressBar()
    if progress_bar.isDefined():
        progress_bar.get().stop()
    tracker = context.statusTracker()

    def read_tasks() -> Tasks:
        """Return the tasks of the running stages."""
        try:
            stages = [tracker.getStageInfo(stage_id) for stage_id in tracker.getActiveStageIds()]
        except SESSION_ENDED:
            return Tasks()
        running = [stage for stage in stages if stage is not None]
        done = sum(stage.numCompletedTasks for stage in running)
        return Tasks(done, sum(stage.numTasks for stage in running))

    return read_tasks


class ReportedTasks:
    """The tasks that a server of Connect has reported last, or the rows that workers have read."""

    def __init__(self) -> None:
        self._last = Tasks()
        self._rows_before = rows_read_by_workers.number

    def __call__(self, *, stages: Any, done: bool, **_: object) -> None:
        """Store a report. PySpark calls this method with the stages of one query so far."""
        running = [] if done else list(stages or ())
        tasks_done = sum(stage.num_completed_tasks for stage in running)
        self._last = Tasks(tasks_done, sum(stage.num_tasks for stage in running))

    def tasks(self) -> Tasks:
        """Return the tasks of the last report, or the rows read so far if it had no tasks."""
        if self._last.all:
            return self._last
        return Tasks(rows=rows_read_by_workers.number - self._rows_before)


# Ctrl-C.

# Seconds between two attempts to cancel: a job may start after others were cancelled.
SECONDS_BETWEEN_CANCELS = 0.3


class Interrupted(KeyboardInterrupt):
    """The user has pressed Ctrl-C, and the jobs of the query are cancelled."""

    def __str__(self) -> str:
        return "interrupted; the jobs of the query are cancelled"


@contextmanager
def cancelled_by_interrupt(spark: SparkSession) -> Iterator[None]:
    """Let Ctrl-C cancel the jobs that are started in the `with` block.

    Does nothing outside the main thread, because Python handles signals only there.

    Raises:
        Interrupted: the jobs were cancelled, and have ended.
        KeyboardInterrupt: the user has pressed Ctrl-C a second time. The jobs may still run.
    """
    if current_thread() is not main_thread():
        yield
        return
    tags = find_tags(spark)
    tag = f"matchrec-{uuid4().hex[:12]}"
    interrupted = Event()
    ended = Event()

    def cancel_jobs() -> None:
        """Cancel the jobs repeatedly until the action ends, because it may start new jobs."""
        while not ended.is_set():
            try:
                tags.cancel(tag)
            except SESSION_ENDED:  # Java also got the signal, and has stopped
                return
            ended.wait(SECONDS_BETWEEN_CANCELS)

    def interrupt(*_: object) -> None:
        """Cancel the jobs in a thread; raise KeyboardInterrupt at the second interrupt."""
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()
        Thread(target=cancel_jobs, daemon=True).start()

    handler_before = signal.signal(signal.SIGINT, interrupt)
    tags.add(tag)
    try:
        yield
    except Exception as error:
        if interrupted.is_set():
            raise Interrupted from error
        raise
    finally:
        ended.set()
        signal.signal(signal.SIGINT, handler_before)
        with suppress(*SESSION_ENDED):
            tags.remove(tag)
    if interrupted.is_set():
        raise Interrupted


@dataclass(frozen=True, slots=True)
class Tags:
    """The functions of a session for tags of jobs."""

    add: Callable[[str], object]  # to the jobs that this thread starts from now on
    remove: Callable[[str], object]
    cancel: Callable[[str], object]  # cancels all jobs with a tag


def find_tags(spark: SparkSession) -> Tags:
    """Return the functions for tags of a session."""
    context = find_context(spark)
    if context is None:
        session = cast("Any", spark)
        return Tags(session.addTag, session.removeTag, session.interruptTag)
    return Tags(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)
