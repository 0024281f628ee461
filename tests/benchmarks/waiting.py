"""Measure how long this process waits for Spark's JVM."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from pyspark.sql import SparkSession


@contextmanager
def record_waits(spark: SparkSession) -> Iterator[list[float]]:
    """Yield a list to which the seconds of each call of the JVM are added."""
    assert spark._jvm is not None
    client = type(spark._jvm._gateway_client)
    original = client.send_command
    waits: list[float] = []

    def send_command(*arguments: Any, **options: Any) -> Any:
        """Send a command as py4j does, and note how long the answer takes."""
        start = time.perf_counter()
        try:
            return original(*arguments, **options)
        finally:
            waits.append(time.perf_counter() - start)

    with patch.object(client, "send_command", send_command):
        yield waits
