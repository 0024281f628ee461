"""Let a failed action raise an error in the user's terms: our headline, location, note and help.

    [PYTHON_EXCEPTION] ... Traceback ...        →    the condition of `A` divides by zero
    (a page of traceback, our error, its fields)       note: in the partition with sym = 'X', ...

An engine passes the error of a Python worker to the driver as text, between a traceback of the
worker and a sentence of the engine. The last line of this text has the fields of the error, which
`MatchRecognizeRunError.from_exception` reads. The functions of PySpark that raise the engine's
error are replaced:

- `watch_java`, for Spark in this process, replaces PySpark's conversion of Java's errors.
- `watch_client`, for Spark Connect and Sail, replaces the calls of the client that run a plan. If
  Sail cannot compute an expression, `marked_rows` leads to this expression.

The error that is raised is an instance of both the class of the engine's error and
`MatchRecognizeRunError`. It has the attributes of our error, and our error itself in the attribute
that `OUR_ERROR` names.
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
from matchrec.errors.run.sql_failures import find_failure
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.error_classes import reword
from matchrec.spark.errors.marked_rows import is_second_look, take_second_look
from matchrec.spark.ties import warn_of_ties


def rewrite_worker_error(error: PySparkException) -> PySparkException | None:
    """Return an error with only the text of the worker's error, see `combine_errors`.

    Returns None if no worker of matchrec has raised the error.
    """
    if read_fields(str(error)) is None:
        return None
    run_error = MatchRecognizeRunError.from_exception(error)
    return None if run_error is None else combine_errors(error, run_error)


def rewrite_computation_error(error: PySparkException) -> PySparkException | None:
    """Return an error that says which expression the engine could not compute.

    Returns None if the engine's text shows no SQL that was made from an expression of the user.
    Otherwise, see `combine_errors`.
    """
    failure = find_failure(str(error))
    return None if failure is None else combine_errors(error, make_computation_error(failure))


def combine_errors(error: PySparkException, run_error: MatchRecognizeRunError) -> PySparkException:
    """Return an error that is an engine's error and also our error about the same failure.

    Args:
        error: the engine's error. The result is an instance of its class.
        run_error: our error. The result has its message and its other attributes.
    """
    combined = reword(error, run_error.message, MatchRecognizeRunError)
    vars(combined).update(vars(run_error))
    setattr(combined, OUR_ERROR, run_error)
    return cast("PySparkException", combined)


# Spark in this process.

# The attribute that marks the function that `watch_java` has made.
REWRITES_ERRORS = "_matchrec_rewrites_errors"


def watch_java() -> None:
    """Let PySpark rewrite errors of Java in the user's terms, from now on.

    PySpark calls `convert_exception` for each error of Java that it turns into a Python error. This
    function is replaced once per process.
    """
    from pyspark.errors.exceptions import captured

    convert_exception: Callable[[Any], PySparkException] = captured.convert_exception
    if hasattr(convert_exception, REWRITES_ERRORS):
        return

    @wraps(convert_exception)
    def convert_and_rewrite(java_error: Any) -> PySparkException:
        """Return PySpark's error for an error of Java, rewritten if we have a better text."""
        # PySpark logs an error, with Java's stack trace, as soon as it is made.
        with silence_analysis():
            error = convert_exception(java_error)
        rewritten = rewrite_worker_error(error) or rewrite_computation_error(error)
        if rewritten is not None:
            return rewritten
        log_error = getattr(error, "_log_exception", None)  # PySpark before 4 does not log errors
        if log_error is not None:
            log_error()
        return error

    setattr(convert_and_rewrite, REWRITES_ERRORS, True)
    cast("Any", captured).convert_exception = convert_and_rewrite


# Spark Connect and Sail.

# The attribute of a client that is True if its methods are watched.
IS_WATCHED = "_matchrec_watched"

# The methods of a client of Connect that run a plan, or a command with a plan in it. The last two
# yield their answers one by one.
METHODS_THAT_RUN = (
    "to_table",
    "to_pandas",
    "execute_command",
    "to_table_as_iterator",
    "execute_command_as_iterator",
)


def watch_client(spark: SparkSession) -> None:
    """Replace the methods of a session's client that run plans: from now on, they explain failures.

    Does nothing if they are replaced already.
    """
    client: Any = cast("Any", spark).client
    if getattr(client, IS_WATCHED, False):
        return
    for name in METHODS_THAT_RUN:
        if hasattr(client, name):  # PySpark 3.5 lacks the last one
            setattr(client, name, watch_method(getattr(client, name)))
    setattr(client, IS_WATCHED, True)


def watch_method(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a method of a client, and does two things more.

    It explains a failure, and warns of ties once the plan has run.
    """

    @wraps(method)
    def run_plan(plan: Any, *args: Any, **arguments: Any) -> Any:
        """Call the client's method, explain its failures, and warn of ties."""
        with explain_failures(plan):
            answer = method(plan, *args, **arguments)
        if isinstance(answer, Iterator):
            return watch_answers(answer, plan)
        warn_of_ties()
        return answer

    return run_plan


def watch_answers(answers: Iterator[Any], plan: Any) -> Iterator[Any]:
    """Yield the answers of a watched method, explain its failures, and warn of ties at the end."""
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
        run_error = take_second_look(error, plan)
        if run_error is None:
            explained = rewrite_worker_error(error) or rewrite_computation_error(error)
        else:
            explained = combine_errors(error, run_error)
        if explained is None:
            raise
        raise explained from None
