"""Report errors and warnings on stderr, and end the program with an exit code.

docs/how-to/command_line.md lists the codes. An error that is neither ours nor an engine's keeps its
traceback.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.errors import command as errors
from matchrec.errors.kinds import format_labelled
from matchrec.errors.run.failures import engine_failed, value_not_computed
from matchrec.errors.sql.foreign_names import find_table_hint
from matchrec.loading import NO_SPARK, OF_SPARK
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

TOO_LARGE = "OversizedAllocationException"  # from Arrow, if a column of a batch exceeds 2 GB
SMALLER_BATCHES = "pass --conf spark.sql.execution.arrow.maxBytesPerBatch=64m for smaller batches"
CLICK_EXCEPTIONS = (click.ClickException, click.exceptions.Exit)
_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)
_WORKER_STACK = re.compile(r"Traceback \(most recent call last\):\n.*\n(?=\S)", re.S)


class ExitCode(IntEnum):
    """The exit codes of the program, apart from 0."""

    REFUSED = 1
    USAGE = 2
    FAILED = 3
    INTERRUPTED = 130


def fail(sentence: str, code: ExitCode) -> NoReturn:
    """Print why there is no result, and end the program."""
    print_failure(sentence)
    raise click.exceptions.Exit(code)


@contextmanager
def report_failures() -> Iterator[None]:
    """End the program with a sentence and an exit code if an error is raised inside."""
    try:
        yield
        sys.stdout.flush()
    except CLICK_EXCEPTIONS:
        raise
    except BrokenPipeError:  # the reader stopped early, as `| head` does
        discard_output()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        discard_output()
        fail(str(errors.result_not_written(reason=os.strerror(error.errno))), ExitCode.FAILED)
    except KeyboardInterrupt as interrupt:
        fail(str(interrupt) or "interrupted", ExitCode.INTERRUPTED)
    except MatchRecognizeError as error:
        fail(f"{build_message_prefix(error)}{error}", choose_exit_code(error))
    except ModuleNotFoundError as error:
        if error.name not in OF_SPARK:
            raise
        fail(NO_SPARK, ExitCode.FAILED)
    except Exception as error:
        if not is_spark_error(error):
            raise
        fail(f"{build_message_prefix(error)}{reword_engine_error(error)}", choose_exit_code(error))


STATEMENT_LABEL = "_matchrec_statement"


@contextmanager
def label_errors(label: str) -> Iterator[None]:
    """Put the label of a statement before the messages of errors that are raised inside."""
    try:
        yield
    except Exception as error:
        if label:
            vars(error).setdefault(STATEMENT_LABEL, label)
        raise


def build_message_prefix(error: Exception) -> str:
    """Return the label of the statement that has failed, such as `statement 2 of 3: `."""
    label = vars(error).get(STATEMENT_LABEL)
    return f"{label}: " if label else ""


def discard_output() -> None:
    """Discard what is still to be written to stdout.

    Otherwise Python would write it when it ends, and raise the same error again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_spark_error(error: Exception) -> bool:
    """Return whether an engine raised the error.

    This imports PySpark, which takes time: call it only for an error of a program that uses it.
    """
    from matchrec.spark.session import SESSION_ERRORS

    return isinstance(error, SESSION_ERRORS)


@contextmanager
def print_tracebacks() -> Iterator[None]:
    """Print the traceback of an error that is raised inside, for --traceback."""
    try:
        yield
    except CLICK_EXCEPTIONS:
        raise
    except Exception:
        traceback.print_exc()
        raise


def choose_exit_code(error: Exception) -> ExitCode:
    """Return the exit code: the query was rejected before it ran, or it failed while it ran."""
    if isinstance(error, MatchRecognizeError):
        return ExitCode.FAILED if isinstance(error, MatchRecognizeRunError) else ExitCode.REFUSED
    from matchrec.spark.session import TEXT_ERRORS

    return ExitCode.REFUSED if isinstance(error, TEXT_ERRORS) else ExitCode.FAILED


@contextmanager
def raise_run_errors() -> Iterator[None]:
    """Raise engine errors from inside, where a query runs, as MatchRecognizeRunError.

    Their own class does not tell: some engines use one class for queries that they reject and for
    queries that fail.
    """
    try:
        yield
    except Exception as error:
        if not is_spark_error(error):
            raise
        raise make_run_error(error) from error


def reword_engine_error(error: Exception) -> Exception:
    """Return an error of the engine as the command line prints it.

    A query without a clause goes to the engine as it is, and so does its error.
    """
    from matchrec.spark.errors.users_terms import put_in_plain_words
    from matchrec.spark.session import TEXT_ERRORS

    return (
        put_in_plain_words(error, tuple)
        if isinstance(error, TEXT_ERRORS)
        else make_run_error(error)
    )


def make_run_error(error: Exception) -> MatchRecognizeRunError:
    """Return the error that a worker of ours raised, or else one made from the engine's message."""
    ours = MatchRecognizeRunError.from_exception(error)
    if ours is not None:
        return ours
    from matchrec.spark.sail.words import read_value_failure

    failure = read_value_failure(str(error))
    if failure is None:
        return engine_failed(sentence=explain_spark_error(error))
    reason, hint = failure
    return value_not_computed(reason=reason, hint=hint)


def explain_spark_error(error: Exception) -> str:
    """Return the engine's message, with help if we know any.

    There is help for a missing table (how to name its file) and for a batch that is too large.
    """
    message = shorten_spark_message(str(error))
    from matchrec.spark.errors.users_terms import read_parameters

    hint = find_table_hint(read_parameters(error, str(error)).get("relationName", ""))
    if TOO_LARGE in message:
        hint = SMALLER_BATCHES
    return (
        message
        if hint is None or hint in message
        else f"{message}\n{format_labelled('help', hint)}"
    )


def shorten_spark_message(text: str) -> str:
    """Return Spark's message without the plan and the stack trace after it.

    Of the traceback of a Python worker, only the error that was raised is left.

    >>> shorten_spark_message("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    from matchrec.spark.sail.words import simplify_refusal

    return simplify_refusal(_PLAN_OR_STACK.sub("", _WORKER_STACK.sub("", text)).strip())


CARETS = re.compile(r"^ *\^[ ^]*$", re.MULTILINE)
PROGRAM = "matchrec: "


def print_notice(sentence: str) -> None:
    """Print a notice on stderr: something that the user may want to know, and not a result."""
    from rich.text import Text

    print_on_stderr(Text(replace_control_characters(sentence)))


def print_notice_at_terminal(sentence: str) -> None:
    """Print a notice if stderr is a terminal, and not if it is a file or another program."""
    if sys.stderr.isatty():
        print_notice(sentence)


def print_failure(sentence: str) -> None:
    """Print why there is no result, with carets and the program's name in colour if possible."""
    from rich.text import Text

    text = Text.assemble((PROGRAM, "bold red"), replace_control_characters(sentence))
    text.highlight_regex(CARETS, "bold red")
    print_on_stderr(text)


def print_on_stderr(text: Text) -> None:
    """Print a text on stderr as it is: lines are not broken, and markup is not interpreted."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def show_busy(what: str, stream: TextIO | None = None) -> Status:
    """Return a context manager that shows in a terminal that work without a known end goes on.

    Args:
        what: the work, such as `Drawing`.
        stream: where to show it; stderr if there is none.
    """
    from rich.console import Console

    return Console(file=stream, stderr=stream is None).status(f"{what} ...")


@contextmanager
def report_warnings(
    print_text: Callable[[str], object] = print_notice,
) -> Iterator[list[Warning | str]]:
    """Print warnings as notices, without a line of our source, and yield the list of them."""
    shown: list[Warning | str] = []

    def show_notice(message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning as a notice of the program, and record it."""
        shown.append(message)
        print_text(f"{PROGRAM}{message}")

    with warnings.catch_warnings():
        warnings.showwarning = show_notice
        yield shown
