"""The Spark session of the command line: embedded, quiet, on this program's interpreter."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matchrec.cli.failures import ExitCode, busy, fail
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


Settings = Sequence[tuple[str, str]]


@contextmanager
def local_session(settings: Settings = ()) -> Iterator[SparkSession]:
    """A session with `local[*]`, stopped at the end; the user's settings come after ours.

    What Java writes to stderr goes to a file as long as it lives: start-up warnings mean nothing to
    the user, and every error reaches Python as an exception as well. The program ends where there
    is no session to be had.
    """
    from matchrec.spark.actions import cancelled_by_interrupt
    from matchrec.spark.environment import check_java, use_own_interpreter

    with tempfile.TemporaryDirectory(prefix="matchrec-") as name:
        folder = Path(name)
        try:
            check_java()
            silence_query_log()
            use_own_interpreter()
            with java_stderr_to(folder / "spark.log") as terminal, busy("Starting Spark", terminal):
                spark = start(folder, settings)
        except MatchRecognizeError as error:
            fail(str(error), ExitCode.FAILED)
        try:
            with cancelled_by_interrupt(spark):
                yield spark
        finally:
            spark.stop()


def start(folder: Path, settings: Settings) -> SparkSession:
    """The session, with what it leaves behind in `folder`."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from matchrec.spark.session import OF_JAVA
    from matchrec.spark.tuning import tune

    builder = SparkSession.builder.master("local[*]").appName("matchrec")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for name, value in (*SETTINGS.items(), *settings):
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
        tune(spark)
        return spark
    except (PySparkException, *OF_JAVA) as error:
        reason = last_line(folder / "spark.log") or str(error)
        raise errors.spark_did_not_start(reason) from error


def silence_query_log() -> None:
    """Stops PySpark 4 from printing every error as JSON before it raises it.

    The logger must be made by PySpark: a plain one of that name cannot take its arguments.
    """
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        return
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


def last_line(log: Path) -> str:
    """What a program wrote last."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


@contextmanager
def java_stderr_to(log: Path) -> Iterator[TextIO]:
    """Programs started inside inherit `log` as their stderr; gives the terminal's stderr."""
    sys.stderr.flush()
    kept = os.dup(2)
    with os.fdopen(kept, "w", encoding=sys.stderr.encoding) as terminal:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        try:
            yield terminal
        finally:
            terminal.flush()
            os.dup2(terminal.fileno(), 2)
