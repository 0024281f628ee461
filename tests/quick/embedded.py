"""Run commands of the command line in the session of the tests, so that they start no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from click.testing import CliRunner, Result
from pyspark.sql import SparkSession

from matchrec.__main__ import main
from matchrec.cli import queries
from matchrec.cli.session import SettingPairs


@contextmanager
def commands_in(spark: SparkSession) -> Iterator[None]:
    """Make commands use a session while the context is open."""

    @contextmanager
    def session(settings: SettingPairs = (), engine: str | None = None) -> Iterator[SparkSession]:
        """Yield the session with the settings of a command, and restore the settings at the end."""
        before = {name: spark.conf.get(name) for name, _ in settings}
        for name, value in settings:
            spark.conf.set(name, value)
        try:
            yield spark
        finally:
            for name, value in before.items():
                spark.conf.set(name, str(value))

    with patch.object(queries, "open_local_session", session):
        yield


def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
    """Run the program, and return its output and exit code.

    Args:
        stdin: the text or the bytes of the standard input.
    """
    runner = CliRunner(env={"COLUMNS": "80"})
    return runner.invoke(main, arguments, input=stdin, prog_name="matchrec", catch_exceptions=False)


def invoke_failing(*arguments: str, stdin: str | None = None, code: int = 2) -> str:
    """Run the program, check that it fails without a result, and return its message.

    Args:
        stdin: the text of the standard input.
        code: the expected exit code.
    """
    result = invoke(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, "")
    return result.stderr
