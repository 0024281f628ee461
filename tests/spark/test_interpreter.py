"""Queries run even if the environment makes Spark choose another Python interpreter."""

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
    """Return the interpreter of a virtual environment without packages."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python3"


def run_program(bare: Path, *arguments: str, **changed: str) -> list[str]:
    """Return the output of the program if `bare` is the first python3 on PATH."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")
    }
    path = os.pathsep.join([str(bare.parent), variables["PATH"]])
    result = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        env={**variables, "PATH": path, **changed},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_our_functions_run_on_the_programs_interpreter(bare: Path) -> None:
    """The user's own functions keep the interpreter that Spark has chosen."""
    assert run_program(bare, "pandas") == [*ANSWERS, "python3"]


def test_pyspark_python_that_cannot_do_the_work(bare: Path) -> None:
    assert run_program(bare, "arrow", PYSPARK_PYTHON=str(bare)) == [*ANSWERS, str(bare)]


if find_spec("grpc"):  # an extra of PySpark installs what Spark Connect needs

    def test_a_server_of_connect_in_the_program(bare: Path) -> None:
        """The server has already chosen an interpreter, so there is an error with a hint."""
        (message,) = run_program(bare, "connect")
        assert f"Spark would run its Python workers with `{bare}`, which lacks " in message
