"""Show the progress of an action while it runs: `progress`.

It shows the share of tasks that have finished. PySpark Classic has a call that returns the tasks
(`statusTracker`), and a client of Connect gets reports (`registerProgressHandler`, from PySpark 4.0
on). Sail has neither, but its workers run in this program, and count the rows that they read. A
thread reads these numbers four times a second. The query never waits for the thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import SparkSession

from matchrec.arguments import SESSION, check_arguments
from matchrec.errors.wording import show_count
from matchrec.public_names import public
from matchrec.spark.session import find_context
from matchrec.spark.session_errors import SESSION_ENDED
from matchrec.worker.error_reports import rows_read_by_workers

if TYPE_CHECKING:
    from pyspark import SparkContext  # which a client of Connect alone does not have
    from rich.console import Console

REPORTS_PER_SECOND = 4

# The width in characters of the line below a notebook's cell. At the end, blanks overwrite it.
LINE_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Tasks:
    """How many tasks the running stages have, or how many rows their workers have read."""

    # The number of tasks that have finished.
    finished: int = 0
    # The number of all tasks; 0 if it is not known.
    total: int = 0
    # The number of rows that the workers have read, if the tasks are not known.
    rows_read: int = 0

    def __str__(self) -> str:
        if self.total:
            return f"{100 * self.finished // self.total:3} % of {self.total:,} tasks"
        if self.rows_read:
            return f"{show_count(self.rows_read, 'row')} read"
        return "no task yet"


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
    >>> falls = matchrec.match_recognize(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> with matchrec.progress(spark):
    ...     rows = falls.collect()
    >>> len(rows)
    1
    """
    console = find_console()
    if console is None:
        yield
        return
    start_time = monotonic()  # in seconds
    block_has_ended = Event()
    with watch_tasks(spark) as read_tasks, open_line(console) as write_line:

        def report_tasks() -> None:
            """Write the progress at regular intervals until the block ends."""
            while not block_has_ended.wait(1 / REPORTS_PER_SECOND):
                write_line(f"{read_tasks()}, {monotonic() - start_time:.0f} s")

        reporter = Thread(target=report_tasks, daemon=True)
        reporter.start()
        try:
            yield
        finally:
            block_has_ended.set()
            reporter.join()


def find_console() -> Console | None:
    """Return the terminal or the notebook of the user; None if stderr is neither."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal or console.is_jupyter else None


@contextmanager
def open_line(console: Console) -> Iterator[Callable[[str], object]]:
    """Yield a function that overwrites one line of the console. The line disappears at the end.

    In a terminal, the line follows a spinner. In a notebook, it is below the cell.
    """
    if not console.is_jupyter:
        with console.status(f"{Tasks()}, 0 s") as status:
            yield status.update
        return

    def write_line(text: str) -> None:
        """Overwrite the line with a text."""
        sys.stdout.write(f"\r{text:<{LINE_WIDTH}}\r")
        sys.stdout.flush()

    try:
        yield write_line
    finally:
        write_line("")


@contextmanager
def watch_tasks(spark: SparkSession) -> Iterator[Callable[[], Tasks]]:
    """Yield a function that returns the tasks of the running stages.

    Over Connect before PySpark 4.0 and on Sail, it returns the rows that workers in this program
    have read since the block began.
    """
    context = find_context(spark)
    if context is not None:
        yield make_task_reader(context)
        return
    reported_tasks = ReportedTasks()
    session = cast("Any", spark)
    if not hasattr(session, "registerProgressHandler"):
        yield reported_tasks.read
        return
    session.registerProgressHandler(reported_tasks)
    try:
        yield reported_tasks.read
    finally:
        session.removeProgressHandler(reported_tasks)


def make_task_reader(context: SparkContext) -> Callable[[], Tasks]:
    """Return a function that reads the tasks of Spark in this program.

    Stops Spark's own progress bar, for the life of the session, because it would write into the
    same line.
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
        # A stage that ends between the two calls has no information.
        running_stages = [stage for stage in stages if stage is not None]
        return Tasks(
            finished=sum(stage.numCompletedTasks for stage in running_stages),
            total=sum(stage.numTasks for stage in running_stages),
        )

    return read_tasks


class ReportedTasks:
    """A progress handler of Connect, which stores the tasks of the server's last report."""

    def __init__(self) -> None:
        self._last_tasks = Tasks()
        self._rows_read_before = rows_read_by_workers.number

    def __call__(self, *, stages: Any, done: bool, **_: object) -> None:
        """Store a report.

        PySpark calls this method with the names of these arguments, and with others.

        Args:
            stages: the stages of one query so far.
            done: whether the query has ended.
        """
        running_stages = [] if done else list(stages or ())
        self._last_tasks = Tasks(
            finished=sum(stage.num_completed_tasks for stage in running_stages),
            total=sum(stage.num_tasks for stage in running_stages),
        )

    def read(self) -> Tasks:
        """Return the tasks of the last report.

        If it had no tasks, return the rows that workers in this program have read since this object
        was made.
        """
        if self._last_tasks.total:
            return self._last_tasks
        return Tasks(rows_read=rows_read_by_workers.number - self._rows_read_before)
