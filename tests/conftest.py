"""What all tests share: one Spark session per run, and `--update`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings
from pyspark.sql import SparkSession

# The default run is the same each time; a long run draws other examples each time.
settings.register_profile("matchrec", derandomize="MATCHREC_EXAMPLES" not in os.environ)
settings.load_profile("matchrec")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite expected messages of cases")
    parser.addoption("--connect", action="store_true", help="run Spark's tests over Spark Connect")


def small_session(*, connect: bool = False) -> SparkSession:
    """A small local session; its Python workers run the interpreter of the tests."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("matchrec tests")
    if connect:
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local[2]").config("spark.ui.enabled", "false")
    session = (
        builder.config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    if not connect:
        session.sparkContext.setLogLevel("ERROR")
    return session


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The one session of all tests."""
    session = small_session(connect=bool(request.config.getoption("--connect")))
    yield session
    session.stop()
