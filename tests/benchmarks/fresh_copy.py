"""Copies of the package in which no kernel is compiled yet, to measure how long that takes.

An empty NUMBA_CACHE_DIR is not enough, because compiled kernels in the folders of the sources are
copied to it.
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
# The files of compiled kernels in the folders of the sources, which are not copied.
COMPILED = ("*.nbi", "*.nbc", "*.sha256", "*.lock")


@dataclass(frozen=True)
class FreshCopy:
    """A copy of the package, and the kernels that its processes have compiled."""

    # The folder with both.
    folder: Path

    @property
    def compiled(self) -> Path:
        """Return the folder of the kernels that the processes of this copy have compiled."""
        return self.folder / "compiled"

    def forget_compiled(self) -> None:
        """Remove the compiled kernels, so that the next process compiles them again."""
        shutil.rmtree(self.compiled, ignore_errors=True)

    def run_code(self, code: str) -> str:
        """Run Python code in a new process, and return what it prints, without the last line break.

        Raises:
            subprocess.CalledProcessError: the code fails.
        """
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
def make_fresh_copy() -> Iterator[FreshCopy]:
    """Yield a copy, which is removed at the end.

    The byte code of its modules is compiled, as in an installation.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = folder / "matchrec"
        shutil.copytree(ROOT / "matchrec", package, ignore=shutil.ignore_patterns(*COMPILED))
        compile_dir(package, quiet=1)
        yield FreshCopy(folder)
