"""Let a failed action raise an error in the user's terms: our headline, location, note and help.

    [PYTHON_EXCEPTION] ... Traceback ...        →    the condition of `A` divides by zero
    (a page of traceback, our error, its fields)       note: in the partition with sym = 'X', ...

An engine passes the error of a Python worker to the driver as text, between a traceback of the
worker and a sentence of the engine. The last line of this text has the fields of the error, which
`MatchRecognizeRunError.from_exception` reads. The functions of PySpark that raise the engine's
error are replaced:

- `watch_java`, for Spark in this process, replaces PySpark's conversion of Java's errors.
- `watch_client`, for Spark Connect and Sail, replaces the calls of the client that run a plan. If
  Sail cannot compute an expression, `second_look` finds this expression.

The error that is raised has the class of the engine's error and `MatchRecognizeRunError` as base
classes, the attributes of our error, and our error itself in its attribute `OUR_ERROR`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.errors.kinds import OUR_ERROR, MatchRecognizeRunError, make_computation_error
from matchrec.errors.run.location import read_fields
from matchrec.errors.run.origins import find_failure
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.second_look import find_failed_expression, is_second_look
from matchrec.spark.errors.users_terms import reword
from matchrec.spark.ties import warn_of_ties


def show_worker_error(error: PySparkException) -> PySparkException | None:
    """Return an engine's error, of its class, with the text of the worker's error alone.

    Returns:
        The error, with our error in its attribute `OUR_ERROR`; None if no worker of matchrec has
        raised it.
    """
    if read_fields(str(error)) is None:
        return None
    run_error = MatchRecognizeRunError.from_exception(error)
    return None if run_error is None else replace_text(error, run_error)


def show_computation_error(error: PySparkException) -> PySparkException | None:
    """Return an engine's error, of its class, that says which expression it could not compute.

    Returns:
        The error, with our error in its attribute `OUR_ERROR`; None if the engine's text shows no
        SQL that was made from an expression of the user.
    """
    failure = find_failure(str(error))
    return None if failure is None else replace_text(error, make_computation_error(failure))


def replace_text(error: PySparkException, run_error: MatchRecognizeRunError) -> PySparkException:
    """Return an engine's error, of its class and ours, with the attributes of an error of ours."""
    shown = reword(error, run_error.message, MatchRecognizeRunError)
    vars(shown).update(vars(run_error))
    setattr(shown, OUR_ERROR, run_error)
    return cast("PySparkException", shown)


# Spark in this process.

# The attribute that marks a function that `watch_java` has made.
SHOWS_WORKER_ERRORS = "_matchrec_shows_worker_errors"


def watch_java() -> None:
    """Let errors of Java that workers raised have the text that users need, from now on.

    PySpark calls `convert_exception` for each error of Java that it turns into a Python error.
    """
    from pyspark.errors.exceptions import captured

    convert_exception: Callable[[Any], PySparkException] = captured.convert_exception
    if hasattr(convert_exception, SHOWS_WORKER_ERRORS):
        return

    @wraps(convert_exception)
    def convert_and_show(java_error: Any) -> PySparkException:
        """Return PySpark's error for an error of Java, with our text if there is one."""
        with silence_analysis():  # PySpark logs an error with Java's stack trace when it is made
            error = convert_exception(java_error)
        shown = show_worker_error(error) or show_computation_error(error)
        if shown is not None:
            return shown
        log = getattr(error, "_log_exception", None)  # PySpark before 4 does not log errors
        if log is not None:
            log()
        return error

    setattr(convert_and_show, SHOWS_WORKER_ERRORS, True)
    cast("Any", captured).convert_exception = convert_and_show


# Spark Connect and Sail.

# The attribute of a client whose calls are watched.
WATCHED = "_matchrec_watched"

# The methods of a client of Connect that run a plan, or a command with a plan in it. The last two
# yield their answers one by one.
CALLS = (
    "to_table",
    "to_pandas",
    "execute_command",
    "to_table_as_iterator",
    "execute_command_as_iterator",
)


def watch_client(spark: SparkSession) -> None:
    """Replace the `CALLS` of a session's client by functions that explain their failures.

    Does nothing if they are replaced already.
    """
    client: Any = cast("Any", spark).client
    if vars(client).setdefault(WATCHED, False):
        return
    for name in CALLS:
        if hasattr(client, name):  # PySpark 3.5 lacks the last one
            setattr(client, name, watch_call(getattr(client, name)))
    setattr(client, WATCHED, True)


def watch_call(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return one of the `CALLS` that also explains a failure, and warns of ties once it has run."""

    @wraps(call)
    def run(plan: Any, *args: Any, **arguments: Any) -> Any:
        """Call the client's method, explain its failures, and warn of ties."""
        with explain_failures(plan):
            answer = call(plan, *args, **arguments)
        if isinstance(answer, Iterator):
            return watch_answers(answer, plan)
        warn_of_ties()
        return answer

    return run


def watch_answers(answers: Iterator[Any], plan: Any) -> Iterator[Any]:
    """Yield the answers of a watched call, explain its failures, and warn of ties at the end."""
    with explain_failures(plan):
        yield from answers
    warn_of_ties()


@contextmanager
def explain_failures(plan: Any) -> Iterator[None]:
    """Replace an error in the `with` block by an error in the user's terms.

    The new error names the expression that could not be computed, or is the error of a worker.

    Args:
        plan: the plan that runs in the block, as a protobuf message of Spark Connect.
    """
    try:
        yield
    except PySparkException as error:
        if is_second_look():  # a second look reads the engine's own text
            raise
        run_error = find_failed_expression(error, plan)
        if run_error is None:
            explained = show_worker_error(error) or show_computation_error(error)
        else:
            explained = replace_text(error, run_error)
        if explained is None:
            raise
        raise explained from None
