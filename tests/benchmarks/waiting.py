"""How long this process waits for Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from pyspark.sql import SparkSession


@contextmanager
def waiting_for(spark: SparkSession) -> Iterator[list[float]]:
    """A list that gets the seconds of each call of Spark."""
    client = type(spark._jvm._gateway_client)
    original, waited = client.send_command, []

    def send_command(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return original(*arguments, **options)
        finally:
            waited.append(time.perf_counter() - began)

    with patch.object(client, "send_command", send_command):
        yield waited
