"""Wait, when the program ends, for the tasks that Sail still runs in its threads.

A query with LIMIT can be answered while tasks still search. If Python ends meanwhile, Python before
3.14 ends each thread that runs Python code, by unwinding its stack. The threads of tasks belong to
Sail, whose code in Rust must not be unwound, so the whole program would be aborted.

Source: https://github.com/python/cpython/issues/87135.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from types import FrameType

from matchrec.worker.error_reports import program_ends

# How long to sleep between two looks at the threads.
SECONDS_BETWEEN_LOOKS = 0.01


def wait_for_tasks() -> None:
    """Wait until no thread of the engine runs a task. From now on, tasks read no further rows.

    A thread that has just returned from a task can still need Python, for example to free memory.
    So the function returns only after two looks in a row at which no thread runs a task.
    """
    program_ends.set()
    idle_looks = 0
    while idle_looks < 2:
        idle_looks = 0 if is_task_running() else idle_looks + 1
        time.sleep(SECONDS_BETWEEN_LOOKS)


def is_task_running() -> bool:
    """Return whether a thread that Python has not started runs code of this package."""
    python_threads = {
        thread.ident
        for thread in threading.enumerate()
        if not isinstance(thread, threading._DummyThread)  # of a thread that Python has not started
    }
    return any(
        is_in_package(frame)
        for thread_id, frame in sys._current_frames().items()
        if thread_id not in python_threads
    )


def is_in_package(frame: FrameType) -> bool:
    """Return whether a frame, or one of its callers, runs code of this package."""
    return any(
        str(caller.f_globals.get("__name__")).startswith("matchrec.")
        for caller, _ in traceback.walk_stack(frame)
    )
