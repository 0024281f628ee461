"""Checks of the machine, with programs that pretend to be Java or Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from matchrec.spark import environment

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def write_program(folder: Path, name: str, script: str) -> str:
    """Write an executable shell script, and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    """Forget the interpreters that other tests have checked."""
    environment.find_interpreter_problem.cache_clear()


def test_own_interpreter_is_accepted_without_starting_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "subprocess", None)
    assert environment.find_interpreter_problem(sys.executable) is None


def test_a_missing_interpreter_is_rejected() -> None:
    assert environment.find_interpreter_problem("/no/such/python3") == "does not exist"


def test_an_interpreter_that_does_not_run_is_rejected(tmp_path: Path) -> None:
    assert (
        environment.find_interpreter_problem(write_program(tmp_path, "python3", "exit 1"))
        == "does not run"
    )


def test_an_interpreter_of_another_version_is_rejected(tmp_path: Path) -> None:
    worker = write_program(tmp_path, "python3", f'exec {sys.executable} "$1" "$2" 2.7')
    assert (
        environment.find_interpreter_problem(worker)
        == f"is Python {OWN}, and this program runs on 2.7"
    )


def test_an_interpreter_without_packages_is_rejected(tmp_path: Path) -> None:
    worker = write_program(tmp_path, "python3", f'exec {sys.executable} -S "$@"')
    problem = str(environment.find_interpreter_problem(worker))
    assert problem.startswith("lacks ")
    assert problem.endswith("numba, numpy, pandas, pyarrow")


def test_another_interpreter_with_all_packages_is_accepted(tmp_path: Path) -> None:
    worker = write_program(tmp_path, "python3", f'exec {sys.executable} "$@"')
    assert environment.find_interpreter_problem(worker) is None


def test_the_session_of_the_tests_is_accepted(spark: SparkSession) -> None:
    environment.check_session(spark)
