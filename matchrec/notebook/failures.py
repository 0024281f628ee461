"""Errors in a notebook: the message with its caret, and no traceback.

`%tb` gives the traceback. Errors that are not of matchrec are shown as before.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

BOLD_RED, GREEN, PLAIN = "\033[1;31m", "\033[32m", "\033[0m"


class Shown(Exception):  # noqa: N818 -- never raised: what a notebook shows in place of an error
    """A message as IPython shows it, for an error that it is given instead of."""

    def _render_traceback_(self) -> list[str]:
        return list(coloured(str(self)))


def coloured(message: str) -> Iterator[str]:
    """The lines of a message: the first one and carets in colours."""
    first, *others = message.split("\n")
    yield f"{BOLD_RED}{first}{PLAIN}"
    for line in others:
        yield f"{GREEN}{line}{PLAIN}" if set(line.strip()) == {"^"} else line


@contextmanager
def warnings_told() -> Iterator[None]:
    """Warnings inside are sentences, without the line of IPython that they are given at."""

    def told(message: Warning | str, *_: object, **__: object) -> None:
        sys.stderr.write(f"matchrec: {message}\n")

    with warnings.catch_warnings():
        warnings.showwarning = told
        yield


def show_failures(shell: InteractiveShell) -> None:
    """From now on the shell shows our errors, and those that Spark brings from workers, shortly."""
    shell.set_custom_exc((MatchRecognizeError, PySparkException, Py4JError), show_failure)


def show_failure(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Shows an error that a cell has raised. tb_offset: IPython's, for a traceback."""
    ours = message_of(error)
    if ours is None:
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return
    shell.showtraceback((type(ours), Shown(str(ours)), traceback))
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback  # for %tb


def message_of(error: BaseException) -> MatchRecognizeError | None:
    """The error of ours that an error is or brings from a worker, if any."""
    if isinstance(error, MatchRecognizeError):
        return error
    return MatchRecognizeRunError.from_exception(error)
