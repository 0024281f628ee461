"""A copy of the package in which nothing is compiled yet, for processes that measure just that.

An empty NUMBA_CACHE_DIR is not enough: what lies beside the sources is copied to it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMPILED = ("*.nbi", "*.nbc", "*.sha256", "*.lock")


@dataclass(frozen=True)
class FreshCopy:
    """folder: that has the package and what its processes compile."""

    folder: Path

    @property
    def compiled(self) -> Path:
        """The folder with what the processes of this copy have compiled."""
        return self.folder / "compiled"

    def forget_compiled(self) -> None:
        """Remove what has been compiled, so that the next process compiles it again."""
        shutil.rmtree(self.compiled, ignore_errors=True)

    def printed(self, code: str) -> str:
        """What code prints in a new process."""
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.compiled),
            "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
            "PYSPARK_PYTHON": sys.executable,
        }
        result = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return result.stdout.strip()


@contextmanager
def fresh_copy() -> Iterator[FreshCopy]:
    """A copy, with the modules' byte code as an installation has it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = folder / "matchrec"
        shutil.copytree(ROOT / "matchrec", package, ignore=shutil.ignore_patterns(*COMPILED))
        compile_dir(package, quiet=1)
        yield FreshCopy(folder)
