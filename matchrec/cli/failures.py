"""What has failed, as a sentence on stderr and an exit code; docs/command_line.md lists the codes.

What nobody has foreseen is our mistake and stays a traceback.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import click

from matchrec.cli.notices import tell_failure
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError

OF_CLICK = (click.ClickException, click.exceptions.Exit)
_PLAN_OR_STACK = re.compile(r";?\n(?:\s*\n)?(?:['+]|JVM stacktrace|\s*at |[A-Z]\w+ \[).*", re.S)
_WORKER_STACK = re.compile(r"Traceback \(most recent call last\):\n.*\n(?=\S)", re.S)


class Exit(IntEnum):
    """The exit codes of the program, apart from 0."""

    REFUSED = 1
    USAGE = 2
    FAILED = 3
    INTERRUPTED = 130


def fail(sentence: str, code: Exit) -> NoReturn:
    """Ends the program, with a sentence on stderr."""
    tell_failure(sentence)
    raise click.exceptions.Exit(code)


@contextmanager
def failures_told() -> Iterator[None]:
    """What fails inside ends the program with a sentence and its exit code."""
    try:
        yield
    except OF_CLICK:
        raise
    except BrokenPipeError:  # as `| head` leaves it: the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt as interrupt:
        raise click.exceptions.Exit(Exit.INTERRUPTED) from interrupt
    except MatchRecognizeError as error:
        fail(str(error), code_of(error))
    except Exception as error:
        if not is_of_spark(error):
            raise
        ours = MatchRecognizeRunError.from_exception(error)
        fail(str(ours) if ours else sentence_of_spark(str(error)), code_of(error))


def is_of_spark(error: Exception) -> bool:
    """Whether Spark has raised it. To start without PySpark, nothing asks before there is one."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JJavaError)


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


def code_of(error: Exception) -> Exit:
    """Whether the query was refused before it ran, or failed while it did."""
    from pyspark.errors import AnalysisException

    if isinstance(error, MatchRecognizeRunError):
        return Exit.FAILED
    refused = isinstance(error, MatchRecognizeError | AnalysisException)
    return Exit.REFUSED if refused else Exit.FAILED


def sentence_of_spark(text: str) -> str:
    """Spark's message without the plan and the stack under it; of Python's, what was raised.

    >>> sentence_of_spark("[X] no table `t`; line 1 pos 14;\\n'Project [*]\\n+- 'Relation")
    '[X] no table `t`; line 1 pos 14'
    """
    return _PLAN_OR_STACK.sub("", _WORKER_STACK.sub("", text)).strip()
