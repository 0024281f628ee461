"""Show the error that a worker raised: its headline, place, note and help, and nothing else.

An engine passes the error of a Python worker to the driver as text, between a traceback of the
worker and its own words. The last line of this text has the fields of the error, for
`MatchRecognizeRunError.from_exception`. Users need none of that, so the calls that bring such an
error to the program raise it with the text of the error alone. `second_look` does this for clients
of Connect, and `watch_java` for Spark in this process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from pyspark.errors import PySparkException

from matchrec.errors.kinds import OUR_ERROR, MatchRecognizeRunError
from matchrec.errors.run.location import read_fields
from matchrec.spark.errors.users_terms import reword


def show_worker_error(error: PySparkException) -> PySparkException | None:
    """Return an engine's error, of its class, with the text of the worker's error alone.

    Returns:
        The error, with ours in its attribute `OUR_ERROR`; None if no worker of ours raised it.
    """
    if read_fields(str(error)) is None:
        return None
    run_error = MatchRecognizeRunError.from_exception(error)
    return None if run_error is None else replace_text(error, run_error)


def replace_text(error: PySparkException, run_error: MatchRecognizeRunError) -> PySparkException:
    """Return an engine's error, of its class, with the text of an error of ours."""
    shown: PySparkException = reword(error, str(run_error))
    setattr(shown, OUR_ERROR, run_error)
    return shown


# The attribute of a function that `watch_java` has made.
_SHOWS_WORKER_ERRORS = "_matchrec_shows_worker_errors"


def watch_java() -> None:
    """Let errors of Java that workers raised have the text that users need, from now on.

    PySpark calls `convert_exception` for each error of Java that it turns into a Python error.
    """
    from pyspark.errors.exceptions import captured

    convert_exception: Callable[[Any], PySparkException] = captured.convert_exception
    if hasattr(convert_exception, _SHOWS_WORKER_ERRORS):
        return

    @wraps(convert_exception)
    def convert_and_show(java_error: Any) -> PySparkException:
        """Return the error of PySpark for one of Java, with the text of the worker's error."""
        error = convert_exception(java_error)
        return show_worker_error(error) or error

    setattr(convert_and_show, _SHOWS_WORKER_ERRORS, True)
    cast("Any", captured).convert_exception = convert_and_show
