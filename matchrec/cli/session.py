"""The session of the command line; Spark's is embedded, quiet, on this program's interpreter."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matchrec.cli.failures import PROGRAM, ExitCode, busy, fail, tell, tell_at_terminal
from matchrec.errors import MatchRecognizeError
from matchrec.errors import calls as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG = "spark.log"
SETTINGS = {
    "spark.app.name": "matchrec",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}

Settings = Sequence[tuple[str, str]]


@contextmanager
def local_session(settings: Settings = (), engine: str | None = None) -> Iterator[SparkSession]:
    """A session, stopped at the end: on the engine that is asked for, else as `matchrec.session`.

    What Java writes to stderr goes to a file as long as it lives: start-up warnings mean nothing to
    the user, and every error reaches Python as an exception as well. The program ends where there
    is no session to be had.
    """
    from matchrec.spark.actions import cancelled_by_interrupt
    from matchrec.spark.sail.start import engine_of

    with tempfile.TemporaryDirectory(prefix="matchrec-") as name:
        try:
            spark = opened(Path(name), dict(settings), engine)
        except MatchRecognizeError as error:
            fail(str(error), ExitCode.FAILED)
        tell_at_terminal(f"running on {engine_of(spark)}")
        try:
            with cancelled_by_interrupt(spark):
                yield spark
        finally:
            spark.stop()


def opened(folder: Path, settings: dict[str, str], engine: str | None) -> SparkSession:
    """The session; what Spark leaves is in `folder`. Raises with the reason where there is none."""
    from matchrec.spark.sail.start import SPARK, STARTING_SPARK, engine_for, start
    from matchrec.spark.session import FAILURES, query_context_logger

    query_context_logger().disabled = True  # PySpark 4 prints errors as JSON
    log = folder / LOG
    try:
        if engine_for(engine, settings) != SPARK:
            return start(engine, settings)
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        ours = {**SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
        if not sys.stderr.isatty():  # `busy` shows nothing then
            tell(f"{PROGRAM}{STARTING_SPARK}")
        with java_stderr_to(log) as terminal, busy("Starting Spark", terminal):
            return start(SPARK, ours | settings, announces=False)
    except FAILURES as error:
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        lines = (line.strip() for line in reversed(said.split("\n")) if line.strip())
        raise errors.spark_did_not_start(reason=next(lines, str(error))) from error


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
