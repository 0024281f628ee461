"""PySpark's daemon of Python workers, adapted to tests, whose workers have few and short tasks.

- The daemon loads what workers need before it forks them. Otherwise each new worker would take more
  than a second for it, and there are many: a worker whose task failed is not used again.
- Modules come from the installation, where Python has kept them compiled, and not from the archive
  that Spark puts first.
- Garbage is not collected after each task, as PySpark does. With pandas and numba in memory that
  takes a tenth of a second, while most tasks take a hundredth.
"""

from __future__ import annotations

import gc
import socket
import sys
from importlib.util import find_spec


def leave_out_archives() -> None:
    """Make Python import modules from folders only."""
    sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]
    sys.path_importer_cache.clear()


def load() -> None:
    """Load what a task needs, and let numba initialize itself."""
    import numba
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pyspark.worker  # noqa: F401
    from both_algorithms import compare_algorithms

    import matchrec.spark.clause_result
    import matchrec.worker.match  # noqa: F401

    compare_algorithms()
    numba.njit(lambda: None)()
    gc.freeze()


def run() -> None:
    """Start workers when Spark requests them, until it closes the input."""
    from pyspark import daemon

    run_task = daemon.worker

    def worker(sock: socket.socket, authenticated: bool) -> int:
        """Run a task, and exclude what is left afterwards, mostly modules, from collection."""
        code = run_task(sock, authenticated)
        gc.freeze()
        return code

    daemon.worker = worker
    daemon.manager()


if __name__ == "__main__":
    if find_spec("numba"):  # otherwise this interpreter does not have what a task needs
        leave_out_archives()
        load()
    run()
