"""The choice of the engine behind a gateway."""

from __future__ import annotations

import os
import sys

import pytest
from pyspark.sql import SparkSession

pytest.importorskip("grpc_status.rpc_status")

import matchrec
from matchrec.gateway import engines

PYTHONS = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


@pytest.mark.parametrize("engine", ["sail", "spark", "sc://there:15002"])
def test_a_session_and_an_engine_are_refused(spark: SparkSession, engine: str) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError) as raised:
        matchrec.serve(spark, engine=engine, port=0)
    assert raised.value.message == f'`engine="{engine}"` is not allowed together with a session'
    assert raised.value.hint == f'write matchrec.serve(spark), or matchrec.serve(engine="{engine}")'


class StartedError(Exception):
    """Raised instead of starting a session."""


def test_workers_of_a_new_spark_run_the_python_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are started by Java, which would take the first `python3` in PATH."""
    pythons_at_start = []

    def start_session(*_: object) -> None:
        """Note the variables that Java gets."""
        pythons_at_start.extend(os.environ[name] for name in PYTHONS)
        raise StartedError

    for name in PYTHONS:
        monkeypatch.setenv(name, "python3")
    monkeypatch.setattr(engines.SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(engines, "start_session", start_session)
    with pytest.raises(StartedError):
        matchrec.serve(engine="spark", port=0)
    assert pythons_at_start == [sys.executable, sys.executable]
