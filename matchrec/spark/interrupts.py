"""Let Ctrl-C cancel the jobs of a query.

While an action runs, PySpark waits for an answer from Java. An exception in this wait would leave a
broken connection, pages of tracebacks, and jobs that continue to run. So the signal handler only
starts a thread, which cancels the jobs by a tag that no other job has. Java then answers that the
jobs were cancelled, and the wait ends.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread, current_thread, main_thread
from typing import Any, cast
from uuid import uuid4

from pyspark.sql import SparkSession

from matchrec.spark.session import find_context
from matchrec.spark.session_errors import SESSION_ENDED

# Seconds between two attempts to cancel: a job can start after others were cancelled.
SECONDS_BETWEEN_CANCELS = 0.3


class Interrupted(KeyboardInterrupt):
    """The user has pressed Ctrl-C, and the jobs of the query are cancelled."""

    def __str__(self) -> str:
        return "interrupted; the jobs of the query are cancelled"


@contextmanager
def cancel_on_interrupt(spark: SparkSession) -> Iterator[None]:
    """Let Ctrl-C cancel the jobs that are started in the `with` block.

    Does nothing outside the main thread, because Python handles signals only there.

    Raises:
        Interrupted: the jobs were cancelled, and have ended.
        KeyboardInterrupt: the user has pressed Ctrl-C a second time. Jobs can still be running.
    """
    if current_thread() is not main_thread():
        yield
        return
    job_tags = find_job_tags(spark)
    canceller = JobCanceller(job_tags, tag=f"matchrec-{uuid4().hex[:12]}")
    previous_handler = signal.signal(signal.SIGINT, canceller.handle_interrupt)
    job_tags.add(canceller.tag)
    try:
        yield
    except Exception as error:
        if canceller.is_interrupted.is_set():
            raise Interrupted from error
        raise
    finally:
        canceller.block_has_ended.set()
        signal.signal(signal.SIGINT, previous_handler)
        with suppress(*SESSION_ENDED):
            job_tags.remove(canceller.tag)
    if canceller.is_interrupted.is_set():
        raise Interrupted


@dataclass(frozen=True, slots=True)
class JobTags:
    """The functions with which a session tags its jobs. Each takes a tag."""

    # Tag the jobs that this thread starts from now on.
    add: Callable[[str], object]
    # Stop tagging the jobs that this thread starts.
    remove: Callable[[str], object]
    # Cancel all jobs that have the tag.
    cancel: Callable[[str], object]


def find_job_tags(spark: SparkSession) -> JobTags:
    """Return the functions with which a session tags its jobs."""
    context = find_context(spark)
    if context is None:
        session = cast("Any", spark)
        return JobTags(add=session.addTag, remove=session.removeTag, cancel=session.interruptTag)
    return JobTags(
        add=context.addJobTag, remove=context.removeJobTag, cancel=context.cancelJobsWithTag
    )


@dataclass(frozen=True)
class JobCanceller:
    """A canceller of the jobs that a `with` block starts, at the first interrupt."""

    job_tags: JobTags
    # The tag of the jobs.
    tag: str
    # Set at the first interrupt.
    is_interrupted: Event = field(default_factory=Event)
    # Set by the owner at the end of the block.
    block_has_ended: Event = field(default_factory=Event)

    def handle_interrupt(self, *_: object) -> None:
        """Cancel the jobs in a thread; raise KeyboardInterrupt at the second interrupt.

        Python calls this signal handler with the number of the signal and the current frame.
        """
        if self.is_interrupted.is_set():
            raise KeyboardInterrupt
        self.is_interrupted.set()
        Thread(target=self.cancel_jobs, daemon=True).start()

    def cancel_jobs(self) -> None:
        """Cancel the jobs repeatedly until the block ends, because an action can start new jobs."""
        while not self.block_has_ended.is_set():
            try:
                self.job_tags.cancel(self.tag)
            except SESSION_ENDED:  # Java also got the signal, and has stopped
                return
            self.block_has_ended.wait(SECONDS_BETWEEN_CANCELS)
