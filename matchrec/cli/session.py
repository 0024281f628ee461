"""Open the session of a command, and stop the session when the command ends.

The engine runs inside this program and prints no messages, unless the user names a server. Spark's
workers run on the same Python interpreter.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matchrec.cli.failures import WRONG_OPTION_CODES, ExitCode, fail
from matchrec.cli.messages import PROGRAM, print_notice, print_notice_at_terminal, show_busy
from matchrec.errors import MatchRecognizeError
from matchrec.errors import machine as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The name of the file with what Java writes to stderr, in the folder of the session.
LOG_NAME = "spark.log"

# Settings of Spark that the user can override.
DEFAULT_SETTINGS = {
    "spark.app.name": "matchrec",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}

# The names and values of settings of Spark, in the order in which the user wrote them.
SettingPairs = Sequence[tuple[str, str]]


@contextmanager
def open_local_session(
    settings: SettingPairs = (), engine: str | None = None
) -> Iterator[SparkSession]:
    """Yield a session, and stop it at the end.

    Everything that Java writes to stderr goes to a file: its warnings at the start mean nothing to
    users, and every error reaches Python as an exception as well.

    Args:
        settings: settings of Spark.
        engine: as for `matchrec.session`.

    Raises:
        click.exceptions.Exit: the session could not be started. The reason has been printed.
    """
    from matchrec.spark.interrupts import cancel_on_interrupt
    from matchrec.spark.start.running_session import describe_engine

    with tempfile.TemporaryDirectory(prefix="matchrec-") as name:
        try:
            spark = open_session(Path(name), dict(settings), engine)
        except MatchRecognizeError as error:
            fail(str(error), choose_start_exit_code(error, engine))
        print_notice_at_terminal(f"running on {describe_engine(spark)}")
        try:
            with cancel_on_interrupt(spark):
                yield spark
        finally:
            spark.stop()


def choose_start_exit_code(error: MatchRecognizeError, engine: str | None) -> ExitCode:
    """Return the exit code for a session that was not started.

    Args:
        error: the reason.
        engine: the engine of `--engine`; None without this option.
    """
    is_engine_missing = error.code == "engine-not-installed" and engine is not None
    if is_engine_missing or error.code in WRONG_OPTION_CODES:
        return ExitCode.USAGE
    return ExitCode.FAILED


def open_session(folder: Path, settings: dict[str, str], engine: str | None) -> SparkSession:
    """Start a session.

    Args:
        folder: the folder for Spark's files and its log.
        settings: settings of Spark.
        engine: as for `matchrec.session`.

    Raises:
        MatchRecognizeError: the engine is not installed or did not start. The error has the reason.
    """
    from matchrec.spark.analysis_log import find_analysis_logger
    from matchrec.spark.session_errors import SESSION_ERRORS
    from matchrec.spark.start.engine_choice import check_installed, choose_engine
    from matchrec.spark.start.engine_names import SAIL, SPARK
    from matchrec.spark.start.sessions import start_session

    find_analysis_logger().disabled = True  # PySpark 4 prints errors as JSON
    try:
        chosen_engine = choose_engine(engine, settings)
        check_installed(chosen_engine, engine, settings)
        if chosen_engine == SPARK:
            return start_spark(folder, settings)
        if chosen_engine == SAIL and engine is None:
            return start_sail_or_spark(folder, settings)
        return start_session(engine, settings)
    except SESSION_ERRORS as error:
        raise errors.spark_did_not_start(reason=find_reason(folder, error)) from error


def start_sail_or_spark(folder: Path, settings: dict[str, str]) -> SparkSession:
    """Start Sail, or else Spark if Sail does not work with the installed PySpark.

    Raises:
        MatchRecognizeError: Sail does not work, and Spark is not installed; or a setting is wrong.
    """
    from matchrec.spark.start.engine_choice import is_spark_installed
    from matchrec.spark.start.engine_names import SAIL
    from matchrec.spark.start.sessions import start_session

    try:
        return start_session(SAIL, settings)
    except MatchRecognizeError as error:
        if error.code != "incompatible-pyspark" or not is_spark_installed():
            raise
    return start_spark(folder, settings)


def start_spark(folder: Path, settings: dict[str, str]) -> SparkSession:
    """Start Spark in this program. What Java writes to stderr goes to the log in the folder."""
    from matchrec.spark.start.engine_names import SPARK
    from matchrec.spark.start.sessions import STARTING_SPARK, start_session

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    defaults = {**DEFAULT_SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    if not sys.stderr.isatty():  # `show_busy` shows nothing then
        print_notice(f"{PROGRAM}{STARTING_SPARK}")
    with redirect_java_stderr(folder / LOG_NAME) as terminal, show_busy("Starting Spark", terminal):
        return start_session(SPARK, defaults | settings, announces=False)


def find_reason(folder: Path, error: Exception) -> str:
    """Return why the engine did not start: the last line that Java wrote, or else the error."""
    log = folder / LOG_NAME
    log_text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    log_lines = [line.strip() for line in log_text.split("\n") if line.strip()]
    return log_lines[-1] if log_lines else str(error)


@contextmanager
def redirect_java_stderr(log: Path) -> Iterator[TextIO]:
    """Redirect the stderr of programs that are started in the `with` block to a file.

    Yields:
        The stderr of the terminal, for messages of our own.
    """
    sys.stderr.flush()
    terminal_descriptor = os.dup(2)
    with os.fdopen(terminal_descriptor, "w", encoding=sys.stderr.encoding) as terminal:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        try:
            yield terminal
        finally:
            terminal.flush()
            os.dup2(terminal.fileno(), 2)
