"""Programs whose environment leads Spark to another interpreter than their own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "first_contact.py"
ANSWERS = ["[Row(a=1)]", "2"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a virtual environment without any package."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python3"


def run_program(bare: Path, *arguments: str, **changed: str) -> list[str]:
    """Return what the program prints where `bare` is the first python3 on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    path = os.pathsep.join([str(bare.parent), kept["PATH"]])
    result = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        env={**kept, "PATH": path, **changed},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_another_python3_on_path(bare: Path) -> None:
    """The user's own functions keep what Spark has chosen for them."""
    assert run_program(bare, "pandas") == [*ANSWERS, "python3"]


def test_pyspark_python_that_cannot_do_the_work(bare: Path) -> None:
    assert run_program(bare, "arrow", PYSPARK_PYTHON=str(bare)) == [*ANSWERS, str(bare)]


if find_spec("grpc"):  # what Spark Connect needs comes with an extra of PySpark

    def test_a_server_of_connect_in_the_program(bare: Path) -> None:
        """Its workers' interpreter is settled when it starts, so it is an error with the cure."""
        (message,) = run_program(bare, "connect")
        assert f"Spark would run its Python workers with `{bare}`, which lacks " in message
