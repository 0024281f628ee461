"""What has failed, as a sentence on stderr and an exit code.

docs/how-to/command_line.md lists the codes. What nobody has foreseen stays a traceback.
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
from matchrec.errors.kinds import labelled
from matchrec.errors.run.failures import engine_failed
from matchrec.errors.sql.foreign_names import cure_of_table
from matchrec.loading import NO_SPARK, OF_SPARK
from matchrec.source import printable

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

TOO_LARGE = "OversizedAllocationException"  # Arrow's, of a column of more than 2 GB in a batch
SMALLER_BATCHES = "pass --conf spark.sql.execution.arrow.maxBytesPerBatch=64m for smaller batches"
OF_CLICK = (click.ClickException, click.exceptions.Exit)
_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)
_WORKER_STACK = re.compile(r"Traceback \(most recent call last\):\n.*\n(?=\S)", re.S)


class ExitCode(IntEnum):
    """The exit codes of the program, apart from 0."""

    REFUSED = 1
    USAGE = 2
    FAILED = 3
    INTERRUPTED = 130


def fail(sentence: str, code: ExitCode) -> NoReturn:
    tell_failure(sentence)
    raise click.exceptions.Exit(code)


@contextmanager
def failures_told() -> Iterator[None]:
    """What fails inside ends the program with a sentence and its exit code."""
    try:
        yield
        sys.stdout.flush()
    except OF_CLICK:
        raise
    except BrokenPipeError:  # as `| head` leaves it: the reader has had enough
        forget_output()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        forget_output()
        fail(str(errors.cannot_write(reason=os.strerror(error.errno))), ExitCode.FAILED)
    except KeyboardInterrupt as interrupt:
        fail(str(interrupt) or "interrupted", ExitCode.INTERRUPTED)
    except MatchRecognizeError as error:
        # A refusal by Spark is of our classes too, but its help differs on the command line.
        is_ours = "pyspark" not in sys.modules or not is_of_spark(error)
        message = error if is_ours else run_error_of(error)
        fail(f"{message_prefix(error)}{message}", code_of(error))
    except ModuleNotFoundError as error:
        if error.name not in OF_SPARK:
            raise
        fail(NO_SPARK, ExitCode.FAILED)
    except Exception as error:
        if not is_of_spark(error):
            raise
        fail(f"{message_prefix(error)}{run_error_of(error)}", code_of(error))


STATEMENT = "_matchrec_statement"


@contextmanager
def labelled_errors(label: str) -> Iterator[None]:
    """Put the label of a statement before the messages of errors that are raised inside."""
    try:
        yield
    except Exception as error:
        if label:
            vars(error).setdefault(STATEMENT, label)
        raise


def message_prefix(error: Exception) -> str:
    """Return the label of the statement that has failed, such as `statement 2 of 3: `."""
    label = vars(error).get(STATEMENT)
    return f"{label}: " if label else ""


def forget_output() -> None:
    """What is still to be written to stdout goes nowhere, so that the end of Python does not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_of_spark(error: Exception) -> bool:
    """Whether Spark has raised it. To start without PySpark, nothing asks before there is one."""
    from matchrec.spark.session import FAILURES

    return isinstance(error, FAILURES)


@contextmanager
def tracebacks_shown() -> Iterator[None]:
    """Errors inside print where they came from, for whoever looks for the mistake."""
    try:
        yield
    except OF_CLICK:
        raise
    except Exception:
        traceback.print_exc()
        raise


def code_of(error: Exception) -> ExitCode:
    """Whether the query was refused before it ran, or failed while it did."""
    if isinstance(error, MatchRecognizeError):
        return ExitCode.FAILED if isinstance(error, MatchRecognizeRunError) else ExitCode.REFUSED
    from matchrec.spark.session import OF_TEXTS

    return ExitCode.REFUSED if isinstance(error, OF_TEXTS) else ExitCode.FAILED


@contextmanager
def while_it_runs() -> Iterator[None]:
    """A query runs inside. Raises MatchRecognizeRunError for what the engine says meanwhile: some
    have one class for that and for what they refuse.
    """
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise run_error_of(error) from error


def run_error_of(error: Exception) -> MatchRecognizeRunError:
    """What has failed in a worker, in our words, or else in the engine's."""
    ours = MatchRecognizeRunError.from_exception(error)
    return ours or engine_failed(sentence=refusal_of_spark(error))


def refusal_of_spark(error: Exception) -> str:
    """What Spark says; of a missing table how to name its file, of a large batch how to cut it."""
    said = sentence_of_spark(str(error))
    from matchrec.spark.errors.users_terms import parameters_of

    cure = cure_of_table(parameters_of(error).get("relationName", ""))
    if TOO_LARGE in said:
        cure = SMALLER_BATCHES
    return said if cure is None or cure in said else f"{said}\n{labelled('help', cure)}"


def sentence_of_spark(text: str) -> str:
    """Spark's message without the plan and the stack under it; of Python's, what was raised.

    >>> sentence_of_spark("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    from matchrec.spark.sail.words import sentence_of

    return sentence_of(_PLAN_OR_STACK.sub("", _WORKER_STACK.sub("", text)).strip())


CARETS = re.compile(r"^ *\^[ ^]*$", re.MULTILINE)
PROGRAM = "matchrec: "


def tell(sentence: str) -> None:
    """A notice: something that the user may want to know, and no result."""
    from rich.text import Text

    show(Text(printable(sentence)))


def tell_at_terminal(sentence: str) -> None:
    """A notice for somebody who looks: nothing in a file, nor to another program."""
    if sys.stderr.isatty():
        tell(sentence)


def tell_failure(sentence: str) -> None:
    """Why there is no result; carets and the program's name in colour where there are colours."""
    from rich.text import Text

    text = Text.assemble((PROGRAM, "bold red"), printable(sentence))
    text.highlight_regex(CARETS, "bold red")
    show(text)


def show(text: Text) -> None:
    """The text on stderr as it is: no line is broken, nothing in it is read as markup."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def busy(what: str, stream: TextIO | None = None) -> Status:
    """Shows in a terminal that something goes on that nobody can measure, as long as it does."""
    from rich.console import Console

    return Console(file=stream, stderr=stream is None).status(f"{what} ...")


@contextmanager
def warnings_told(say: Callable[[str], object] = tell) -> Iterator[list[Warning | str]]:
    """Print warnings as notices, without a line of our source, and give the list of them."""
    shown: list[Warning | str] = []

    def show_notice(message: Warning | str, *_: Any, **__: Any) -> None:
        shown.append(message)
        say(f"{PROGRAM}{message}")

    with warnings.catch_warnings():
        warnings.showwarning = show_notice
        yield shown
