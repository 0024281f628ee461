"""Checks of the machine, against programs that pretend to be Java or Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from matchrec.errors import MatchRecognizeError
from matchrec.spark import environment

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def program(folder: Path, name: str, script: str) -> str:
    """An executable shell script; returns its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    environment.obstacle_of.cache_clear()


def test_own_interpreter_is_accepted_without_starting_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "report_of", None)
    assert environment.able_interpreter(sys.executable) == sys.executable


def test_worker_that_is_not_there() -> None:
    text = str(environment.obstacle_of("/no/such/python3"))
    assert "`/no/such/python3`, which is not there or does not run" in text
    assert f"set the environment variable PYSPARK_PYTHON to {sys.executable}" in text


def test_worker_that_does_not_run(tmp_path: Path) -> None:
    worker = program(tmp_path, "python3", "exit 1")
    assert "is not there or does not run" in str(environment.obstacle_of(worker))


def test_worker_of_another_version(tmp_path: Path) -> None:
    worker = program(tmp_path, "python3", "echo 2.7; echo")
    expected = f"`{worker}`, which is Python 2.7, while this program runs on Python {OWN}"
    assert expected in str(environment.obstacle_of(worker))


def test_worker_without_what_the_match_needs(tmp_path: Path) -> None:
    worker = program(tmp_path, "python3", f'exec {sys.executable} -S "$@"')
    assert "numba, numpy, pandas, pyarrow" in str(environment.obstacle_of(worker))


def test_a_worker_that_can_do_the_work_is_kept(tmp_path: Path) -> None:
    worker = program(tmp_path, "python3", f'exec {sys.executable} "$@"')
    assert environment.able_interpreter(worker) == worker


def test_another_worker_gives_way_to_the_own_interpreter() -> None:
    assert environment.able_interpreter("/no/such/python3") == sys.executable


def test_what_nobody_has_asked_for_is_the_own_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(environment, "report_of", None)
    assert environment.able_interpreter("python3") == sys.executable


def test_a_program_without_an_interpreter_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(MatchRecognizeError, match="which is not there"):
        environment.able_interpreter("/no/such/python3")


def test_session_of_the_tests_has_the_right_workers(spark: SparkSession) -> None:
    environment.check_session(spark)
