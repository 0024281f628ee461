"""PySpark's daemon of Python workers, for tests: many workers, each with few and short tasks.

Workers are forked from the daemon, which has loaded here what each of them would load: a worker
whose task fails is not used again, and a new one takes over a second for it. Modules come from the
installation, where Python has kept them compiled, not from the archive that Spark puts first.

PySpark collects garbage after each task. With pandas and numba in memory that takes a tenth of a
second, and most tasks of the tests a hundredth.
"""

from __future__ import annotations

import gc
import socket
import sys
from importlib.util import find_spec


def leave_out_archives() -> None:
    """Has modules come from folders only."""
    sys.path[:] = [place for place in sys.path if not place.endswith(".zip")]
    sys.path_importer_cache.clear()


def load() -> None:
    """Loads what a task needs, and has numba make itself ready."""
    import numba
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pyspark.worker  # noqa: F401
    from both_engines import compare_engines

    import matchrec.spark.execute
    import matchrec.worker.match  # noqa: F401

    compare_engines()
    numba.njit(lambda: None)()
    gc.freeze()


def run() -> None:
    """Starts workers when Spark asks for them, until it closes the input."""
    from pyspark import daemon

    run_task = daemon.worker

    def worker(sock: socket.socket, authenticated: bool) -> int:
        """Runs a task; what is left afterwards, nearly all modules, is never looked at again."""
        code = run_task(sock, authenticated)
        gc.freeze()
        return code

    daemon.worker = worker
    daemon.manager()


if __name__ == "__main__":
    if find_spec("numba"):  # else it is an interpreter without what a task needs
        leave_out_archives()
        load()
    run()
