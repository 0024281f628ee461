"""Choose the Python interpreter of workers, and check a session before a query runs.

If the driver and the workers are on one machine, the workers run in the driver's own interpreter,
because the interpreter on PATH can have other versions of packages:

- PySpark Classic reads `pythonExec` of the context when it creates a function for workers. So
  `use_own_interpreter` changes this attribute only while matchrec creates its functions, and the
  functions of the user keep their interpreter.
- A server of Connect chooses the interpreter by its environment variables when it starts, so
  `check_session` can only check whether it fits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from threading import RLock

from pyspark.sql import SparkSession

from matchrec.errors import machine as errors
from matchrec.spark.session import find_context, is_stopped

# A program that exits with status 0 if its interpreter can run workers, and otherwise prints the
# reason why it cannot. Its arguments are the version of Python and the packages that workers need.
_CHECK_INTERPRETER = """
import sys
from importlib.util import find_spec
sys.path = [folder for folder in sys.path if folder]  # a worker does not look in this folder
missing = [name for name in sys.argv[2:] if find_spec(name) is None]
if "%d.%d" % sys.version_info[:2] != sys.argv[1]:
    sys.exit("is Python %d.%d, and this program runs on %s" % (*sys.version_info[:2], sys.argv[1]))
sys.exit("lacks " + ", ".join(missing) if missing else 0)
"""

# The packages that workers need.
NEEDED_PACKAGES = ("matchrec", "numba", "numpy", "pandas", "pyarrow")

# Held while the interpreter of a context is changed.
_interpreter_lock = RLock()


@contextmanager
def use_own_interpreter(spark: SparkSession) -> Iterator[None]:
    """Let functions that are created in the `with` block run on this program's interpreter.

    Does nothing on a cluster or over Connect.
    """
    context = find_context(spark)
    if context is None or not (sys.executable and (context.master or "").startswith("local")):
        yield
        return
    with _interpreter_lock:
        interpreter_before = context.pythonExec
        context.pythonExec = sys.executable
        try:
            yield
        finally:
            context.pythonExec = interpreter_before


def check_session(spark: SparkSession) -> None:
    """Check that a session runs, and that its workers can match rows.

    The interpreter of the workers is checked only if this program has started a server of Connect.
    The interpreters of other servers and of clusters are not known.

    Raises:
        MatchRecognizeError: the session is stopped, or its workers lack a package or run another
            version of Python.
    """
    if is_stopped(spark):
        raise errors.stopped_session()
    if find_context(spark) is None and "SPARK_LOCAL_REMOTE" in os.environ:
        check_server_interpreter()


def check_server_interpreter() -> None:
    """Check the interpreter of the workers, if this program has started a server of Connect.

    Raises:
        MatchRecognizeError: the interpreter cannot run the workers.
    """
    from pyspark import SparkContext

    jvm = getattr(SparkContext, "_jvm", None)
    if jvm is None:
        return
    interpreter = (
        jvm.System.getenv("PYSPARK_PYTHON")
        or jvm.System.getenv("PYSPARK_DRIVER_PYTHON")
        or "python3"
    )
    reason = find_interpreter_problem(interpreter)
    if reason is not None:
        path = shutil.which(interpreter) or interpreter
        raise errors.incompatible_worker_python(worker=path, reason=reason, driver=sys.executable)


@lru_cache
def find_interpreter_problem(interpreter: str) -> str | None:
    """Return why an interpreter cannot run the workers, such as "lacks numba"; None if it can.

    The driver's own interpreter needs no check. Any other interpreter is started once, which takes
    a fraction of a second.

    Args:
        interpreter: the path of an interpreter, or its name on PATH.

    Returns:
        A predicate of a sentence whose subject is the interpreter.
    """
    path = shutil.which(interpreter)
    if path is None:
        return "does not exist"
    # Links are not followed: the interpreter of a virtual environment is a link to the system's
    # interpreter, which has other packages.
    if Path(path).absolute() == Path(sys.executable):
        return None
    python_version = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = [path, "-c", _CHECK_INTERPRETER, python_version, *NEEDED_PACKAGES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return None
    last_line = result.stderr.strip().split("\n")[-1]
    return last_line or "does not run"
