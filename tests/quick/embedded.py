"""Commands of the command line in the session of the tests, which start no Spark of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from pyspark.sql import SparkSession

from matchrec.cli import commands, warm


@contextmanager
def commands_in(spark: SparkSession) -> Iterator[None]:
    """Has commands run in a session."""

    @contextmanager
    def session() -> Iterator[SparkSession]:
        yield spark

    with (
        patch.object(commands, "local_session", session),
        patch.object(warm, "local_session", session),
    ):
        yield
