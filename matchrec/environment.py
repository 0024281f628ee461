"""Checks of the machine before Spark meets it: Java, and the interpreter of the Python workers.

Spark's own messages for these are a Java stack or a failed job; here they are one sentence with the
cure. Knows nothing of queries.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.errors import environment as errors
from matchrec.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKER_MODULES = ("matchrec", "numba", "numpy", "pandas", "pyarrow")

_REPORT = """
import sys
from importlib.util import find_spec
sys.path = [folder for folder in sys.path if folder]  # a worker does not look in this folder
print("%d.%d" % sys.version_info[:2])
print(" ".join(name for name in sys.argv[1:] if find_spec(name) is None))
"""


def check_java() -> None:
    """Raises unless Spark will find a Java that is new enough. Cost: one start of `java`, 0.1 s."""
    needed = least_java(version("pyspark"))
    java_home = os.environ.get("JAVA_HOME")
    java = find_java(java_home)
    found = java_version(java) if java else None
    if java is None or found is None:
        raise errors.no_java(needed, java_home)
    if found < needed:
        raise errors.java_too_old(found, needed, java)


def least_java(pyspark_version: str) -> int:
    """The oldest Java that a version of PySpark runs on.

    >>> least_java("3.5.1"), least_java("4.1.0")
    (8, 17)
    """
    return 8 if pyspark_version.startswith("3.") else 17


def find_java(java_home: str | None) -> str | None:
    """The program that Spark's launcher would start: JAVA_HOME's where it is set, else PATH's."""
    if java_home is None:
        return shutil.which("java")
    return shutil.which("java", path=str(Path(java_home) / "bin"))


def java_version(java: str) -> int | None:
    """Major version of a Java, or None where the program is none (macOS has a stub)."""
    try:
        result = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return parse_java_version(result.stderr + result.stdout) if result.returncode == 0 else None


def parse_java_version(text: str) -> int | None:
    """Major version in the output of `java -version`.

    >>> parse_java_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> parse_java_version('java version "1.8.0_392"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def use_own_interpreter() -> None:
    """Makes the workers of a session that starts later run on this program's interpreter."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def check_workers(spark: SparkSession) -> None:
    """Raises if the workers of a local session would run on an interpreter that cannot do the work.

    On a cluster, or over Connect, the workers are on other machines: nothing is checked there.
    """
    if is_local(spark):
        check_worker_interpreter(os.environ.get("PYSPARK_PYTHON") or "python3")


def is_local(spark: SparkSession) -> bool:
    """Whether the session's workers run on this machine."""
    if is_connect(spark):
        return False
    return (spark.conf.get("spark.master", "") or "").startswith("local")


@lru_cache
def check_worker_interpreter(worker: str) -> None:
    """Raises if `worker` is of another version or lacks a module.

    Cost: nothing for the driver's own interpreter, else one start of Python, once.
    A virtual environment's interpreter is a link to the system's, so paths are compared as they are
    written: where the links end says nothing about what is installed.
    """
    path = shutil.which(worker)
    if path is not None and Path(path).absolute() == Path(sys.executable):
        return
    report = report_of(path) if path is not None else None
    if path is None or report is None:
        raise errors.worker_not_found(worker, sys.executable)
    found, missing = report
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    if found != own:
        raise errors.worker_version(path, found, own)
    if missing:
        raise errors.worker_lacks(path, missing, sys.executable)


def report_of(python: str) -> tuple[str, tuple[str, ...]] | None:
    """Version of an interpreter and those of our modules that it lacks; None if it does not run."""
    command = [python, "-c", _REPORT, *WORKER_MODULES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        return None
    found, missing = result.stdout.split("\n")[:2]
    return found, tuple(missing.split())
