"""Errors of an engine as the command line shows them: with help, without plans and stack traces.

PySpark is imported inside of functions, because its import takes time. A command that starts no
engine calls these functions only for an exception that is not matchrec's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeGuard

from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.kinds import format_labelled
from matchrec.errors.run.failures import engine_failed, value_not_computed
from matchrec.errors.sql.foreign_names import find_table_hint

if TYPE_CHECKING:
    from pyspark.errors import PySparkException

# A part of Arrow's message if a column of a batch exceeds 2 GB, and the hint for this error.
BATCH_TOO_LARGE = "OversizedAllocationException"
SMALLER_BATCHES = "pass --conf spark.sql.execution.arrow.maxBytesPerBatch=64m for smaller batches"

# The stack of an engine in Java, up to the end of the message.
JAVA_STACK = re.compile(r"\n\s*(?:JVM stacktrace:|[ \t]at [^\s()]+\().*", re.DOTALL)

# The plan that Spark adds to the error of a query, up to the end of the message. Only a plan has an
# unresolved node, which begins with a quote; a child, on a separate line; or the id of a column:
#
#     'UnresolvedRelation [t], [], false
#     Aggregate [b#9], [a#8]
#     +- Project [1 AS a#8, 2 AS b#9]
SPARK_PLAN = re.compile(
    r";\n(?:'[A-Z]\w+(?!['\w])|[!']?[A-Z]\w*(?:.*\n)+?(?:[:+]- |:  )|[A-Z]\w+ .*#\d)(?s:.*)"
)

# The traceback before the error of a Python worker: its lines are indented. If the error has a
# cause, the traceback, the error and the cause's sentence come before, for each cause.
TRACEBACK_LINES = r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+"
CAUSE_SENTENCE = (
    r"(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\n\n"
)
WORKER_TRACEBACK = re.compile(
    rf"(?:{TRACEBACK_LINES}(?:.*\n)+?\n{CAUSE_SENTENCE})*{TRACEBACK_LINES}"
)


def is_engine_error(error: Exception) -> bool:
    """Return whether an engine raised the error.

    The first call imports PySpark, so check first whether the error is matchrec's own.
    """
    from matchrec.spark.session_errors import SESSION_ERRORS

    return isinstance(error, SESSION_ERRORS)


def is_rejected_query(error: Exception) -> TypeGuard[PySparkException]:
    """Return whether an engine raised the error because it does not understand a query's text."""
    from matchrec.spark.session_errors import TEXT_ERRORS

    return isinstance(error, TEXT_ERRORS)


@contextmanager
def raise_run_errors() -> Iterator[None]:
    """Turn engine errors raised in the `with` block into a MatchRecognizeRunError.

    The block runs a query that the engine has analysed before. The class of the engine's error does
    not show that the query failed while it ran: some engines use one class for queries that they
    reject and for queries that fail.

    Raises:
        MatchRecognizeRunError: the engine raised an error.
    """
    try:
        yield
    except Exception as error:
        if not is_engine_error(error):
            raise
        raise make_run_error(error) from error


def reword_engine_error(error: Exception) -> Exception:
    """Return an error of an engine as the command line prints it.

    Such errors are about queries without a clause, which matchrec sends to the engine unchanged, or
    about failures while a query runs.
    """
    from matchrec.spark.errors.rewritten_errors import put_in_plain_words

    if is_rejected_query(error):
        return put_in_plain_words(error, list_tables=lambda: ())  # no tables, so none is suggested
    return make_run_error(error)


def make_run_error(error: Exception) -> MatchRecognizeRunError:
    """Return the error to raise for an engine's error while a query runs.

    - An error that matchrec raised in a worker is returned as it was raised there.
    - For a value that cannot be computed, such as a division by zero, the error has the reason and
      a hint in matchrec's words.
    - Any other error gets the engine's message, see `explain_engine_error`.
    """
    worker_error = MatchRecognizeRunError.from_exception(error)
    if worker_error is not None:
        return worker_error
    from matchrec.spark.sail.value_failures import find_value_failure

    failure = find_value_failure(str(error))
    if failure is None:
        return engine_failed(sentence=explain_engine_error(error))
    reason, hint = failure
    return value_not_computed(reason=reason, hint=hint)


def explain_engine_error(error: Exception) -> str:
    """Return the engine's message, with help for a missing table or a batch that is too large."""
    message = shorten_engine_message(str(error))
    hint = find_hint(error, message)
    if hint is None or hint in message:
        return message
    return f"{message}\n{format_labelled('help', hint)}"


def find_hint(error: Exception, message: str) -> str | None:
    """Return what the user can do about an engine's error; None if that is not known.

    Args:
        error: the error.
        message: the message of the error as `shorten_engine_message` returns it.
    """
    from matchrec.spark.errors.engine_messages import read_parameters
    from matchrec.spark.errors.name_conditions import TABLE_PARAMETER

    if BATCH_TOO_LARGE in message:
        return SMALLER_BATCHES
    return find_table_hint(read_parameters(error, str(error)).get(TABLE_PARAMETER, ""))


def shorten_engine_message(text: str) -> str:
    """Return an engine's message without the plan and the stack trace after it.

    For the error of a Python worker, the traceback before the error is removed as well. A sentence
    of Sail that `simplify_refusal` knows is put in plain words.

    >>> shorten_engine_message("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    >>> traceback = 'Traceback (most recent call last):\\n  File "udf.py", line 2, in parse\\n'
    >>> shorten_engine_message(f"{traceback}ValueError: the row is wrong")
    'ValueError: the row is wrong'
    """
    from matchrec.spark.sail.refusals import simplify_refusal

    without_stack = JAVA_STACK.sub("", text)
    without_plan = SPARK_PLAN.sub("", without_stack)
    return simplify_refusal(WORKER_TRACEBACK.sub("", without_plan).strip()).text
