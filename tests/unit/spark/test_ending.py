"""Tests of how a program ends while the engine still runs tasks in its threads."""

from __future__ import annotations

import _thread
import time
from collections.abc import Iterator
from threading import Event

import pytest

from matchrec.errors import MatchRecognizeRunError
from matchrec.spark.sail import ending
from matchrec.worker import error_reports


def test_the_end_waits_for_a_task_and_lets_it_read_no_further_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The task runs in a thread that `threading` does not know, like the threads of an engine."""
    program_ends = Event()
    monkeypatch.setattr(error_reports, "program_ends", program_ends)
    monkeypatch.setattr(ending, "program_ends", program_ends)
    has_started = Event()
    events: list[str] = []

    def read_batches() -> Iterator[list[int]]:
        """Yield a batch after the program has begun to end."""
        has_started.set()
        program_ends.wait()
        time.sleep(0.1)
        yield [1]

    def run_task() -> None:
        """Read rows, and note whether that fails."""
        try:
            next(error_reports.read_input(read_batches()))
            events.append("the task read rows")
        except MatchRecognizeRunError:
            events.append("the task failed")

    _thread.start_new_thread(run_task, ())
    has_started.wait()
    ending.wait_for_tasks()
    events.append("the program ended")
    assert events == ["the task failed", "the program ended"]
