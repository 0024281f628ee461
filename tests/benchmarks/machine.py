"""Describe the machine that a benchmark runs on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("pyspark", "numpy", "numba", "pyarrow", "pandas")


def find_processor_name() -> str:
    """Return the name of the processor."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def read_load_averages() -> str:
    """Return the load averages of the last 1, 5 and 15 minutes as text."""
    return ", ".join(f"{average:.1f}" for average in os.getloadavg())


def find_java_version() -> str:
    """Return the version of the Java that Spark finds."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin" if home else None)
    assert program is not None, "no Java"
    result = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)
    version_match = re.search(r'version "([^"]+)"', result.stderr)
    assert version_match is not None, result.stderr
    return version_match[1]


def describe_versions() -> str:
    """Return the processor, the number of cores, and the versions of Python, Java and packages."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    python = platform.python_version()
    machine = f"{find_processor_name()}, {os.cpu_count()} cores"
    return f"{machine}; Python {python}, Java {find_java_version()}, {packages}"


def describe_machine(loads: Iterable[str]) -> str:
    """Return a sentence about the machine, and its load averages at several times."""
    return f"{describe_versions()}. Load averages over 1, 5 and 15 minutes: {'; '.join(loads)}."
