"""PySpark's daemon of Python workers, without their search for garbage among loaded modules.

PySpark collects garbage after each task. With pandas and numba in memory that takes a tenth of a
second, and most tasks of the tests a hundredth.
"""

from __future__ import annotations

import gc
import socket

from pyspark import daemon

run_task = daemon.worker


def worker(sock: socket.socket, authenticated: bool) -> int:
    """Runs a task; what is left afterwards, nearly all of it modules, is never looked at again."""
    code = run_task(sock, authenticated)
    gc.freeze()
    return code


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
