"""What a benchmark ran on."""

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


def processor() -> str:
    """Its name."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def load() -> str:
    """The load averages."""
    return ", ".join(f"{one:.1f}" for one in os.getloadavg())


def java() -> str:
    """The version of the Java that Spark finds."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=f"{home}/bin" if home else None)
    assert program is not None, "no Java"
    result = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'version "([^"]+)"', result.stderr)
    assert found is not None, result.stderr
    return found[1]


def versions() -> str:
    """The machine and the versions of what runs."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    python = platform.python_version()
    return f"{processor()}, {os.cpu_count()} cores; Python {python}, Java {java()}, {packages}"


def described(loads: Iterable[str]) -> str:
    """The machine, and its load at several times."""
    return f"{versions()}. Load averages: {'; '.join(loads)}."
