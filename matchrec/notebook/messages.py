"""Show errors and notices below a cell: matchrec's errors as short messages without a traceback."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.spark.interrupts import Interrupted

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


# Codes that change the colour of a terminal's text.
BOLD_RED = "\033[1;31m"
GREEN = "\033[32m"
PLAIN = "\033[0m"


class ShownMessage(Exception):  # noqa: N818 -- never raised
    """A message that IPython gets instead of an error, so that it shows no traceback."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines of the message, as IPython asks for them.

        The first line and lines of carets are coloured.
        """
        headline, *lines = str(self).split("\n")
        for index, line in enumerate(lines):
            if set(line.strip()) == {"^"}:
                lines[index] = f"{GREEN}{line}{PLAIN}"
        return [f"{BOLD_RED}{headline}{PLAIN}", *lines]


def print_notice(notice: str) -> None:
    """Print a notice below the cell."""
    sys.stderr.write(f"{notice}\n")


def show_failure(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Show an error that a cell has raised: matchrec's without a traceback, others as usual.

    An error of Spark may contain an error of matchrec from a worker, which is shown instead.

    Args:
        shell: the shell, as for all handlers of `set_custom_exc`.
        kind: the class of the error.
        error: the error.
        traceback: its traceback.
        tb_offset: how many frames of the traceback IPython leaves out.
    """
    our_error: BaseException | None = MatchRecognizeRunError.from_exception(error)
    if our_error is None and isinstance(error, MatchRecognizeError | Interrupted):
        our_error = error
    if our_error is None:
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return
    shell.showtraceback((type(our_error), ShownMessage(str(our_error)), traceback))
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback  # for %tb
