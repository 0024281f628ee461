"""Checks of the machine before Spark meets it: Java, the session, its Python workers.

Spark's own messages for these are a Java stack or a failed job; here they are one sentence with the
cure. Knows nothing of queries.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.errors import environment as errors
from matchrec.spark.session import is_stopped
from matchrec.spark.sessions.interpreter import check_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def check_session(spark: SparkSession) -> None:
    """Raises for a session that has been stopped, or whose workers cannot do the work.

    Where they cannot is known only of a Connect server inside of this program: those of a local
    session are seen to when a function is made, those of a cluster are on other machines.
    """
    if is_stopped(spark):
        raise errors.stopped_session()
    check_server(spark)
