"""A gateway in front of the server of the tests' session, and clients of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.gateway.serve import Gateway
from tests.spark.gateway.connecting import TICKS, NewClient, connect


@pytest.fixture(scope="module")
def gateway(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[Gateway]:
    """Return a gateway in front of the server of the tests' session."""
    if request.config.getoption("--on") == "spark":
        pytest.skip("a classic session of Spark has no server")
    # With this variable, PySpark would stop the server of `remote("local")` with the first client.
    local = os.environ.pop("SPARK_LOCAL_REMOTE", None)
    with matchrec.serve(spark, port=0) as gateway:
        yield gateway
    if local is not None:
        os.environ["SPARK_LOCAL_REMOTE"] = local


@pytest.fixture
def new_client(gateway: Gateway) -> Iterator[NewClient]:
    """Return a function that makes clients with their own sessions. They end with the test."""
    clients: list[Any] = []

    def make() -> SparkSession:
        """Return a new client with the view `ticks`."""
        client = connect(gateway.address)
        clients.append(client)
        client.sql(f"CREATE TEMP VIEW ticks AS SELECT * FROM {TICKS}")
        return client

    yield make
    for client in clients:
        client.stop()


@pytest.fixture
def client(new_client: NewClient) -> SparkSession:
    """Return a client of the gateway."""
    return new_client()
