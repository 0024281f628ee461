"""Print messages on stderr: notices, warnings, failures, and the progress of long work."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from matchrec.errors import warning_classes
from matchrec.errors.kinds import add_code
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

# The beginnings of messages, so that users know which program they are from.
PROGRAM = "matchrec: "
ERROR = f"{PROGRAM}error: "
WARNING = f"{PROGRAM}warning: "
# A line with carets below an excerpt of the query.
CARET_LINE = re.compile(r"^ *\^[ ^]*$", re.MULTILINE)


def print_notice(sentence: str) -> None:
    """Print a notice on stderr: something that the user may want to know, and not a result."""
    from rich.text import Text

    print_on_stderr(Text(replace_control_characters(sentence)))


def print_notice_at_terminal(sentence: str) -> None:
    """Print a notice if stderr is a terminal, and not if it is a file or another program."""
    if is_terminal():
        print_notice(sentence)


def is_terminal() -> bool:
    """Return whether messages are shown at a terminal, and do not go to a file or a program."""
    return sys.stderr.isatty()


def print_failure(sentence: str, prefix: str = ERROR) -> None:
    """Print why there is no result. At a terminal, the prefix and the carets are red.

    Args:
        sentence: the reason.
        prefix: the text before it.
    """
    from rich.text import Text

    text = Text.assemble((prefix, "bold red"), replace_control_characters(sentence))
    text.highlight_regex(CARET_LINE, "bold red")
    print_on_stderr(text)


def print_on_stderr(text: Text) -> None:
    """Print a text on stderr as it is: lines are not broken, and markup is not interpreted."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(text, soft_wrap=True)


def show_busy(work: str, stream: TextIO | None = None) -> Status:
    """Return a context manager that shows at a terminal that the program works.

    Args:
        work: the work, such as `Drawing`.
        stream: the stream on which it is shown; None for stderr.
    """
    from rich.console import Console

    return Console(file=stream, stderr=stream is None).status(f"{work} ...")


@contextmanager
def report_warnings(
    print_text: Callable[[str], object] = print_notice,
) -> Iterator[list[Warning | str]]:
    """Print warnings that are given in the `with` block as notices, without a line of source code.

    Args:
        print_text: prints a text.

    Yields:
        The list of the warnings that were printed so far.
    """
    shown_warnings: list[Warning | str] = []

    def show_notice(message: Warning | str, *_: Any, **__: Any) -> None:
        """Print a warning as a notice of the program, and record it."""
        shown_warnings.append(message)
        print_text(f"{WARNING}{format_warning(message)}")

    with warnings.catch_warnings():
        warnings.showwarning = show_notice
        yield shown_warnings


def format_warning(warning: Warning | str) -> str:
    """Return the text of a warning, with the class of a warning of matchrec after the headline.

    >>> warning = warning_classes.NoOrderWarning("MATCH_RECOGNIZE has no ORDER BY", hint="add it")
    >>> print(format_warning(warning))
    MATCH_RECOGNIZE has no ORDER BY [NoOrderWarning]
      help: add it
    """
    is_from_matchrec = isinstance(warning, MatchRecognizeWarning)
    return add_code(str(warning), type(warning).__name__ if is_from_matchrec else None)


@contextmanager
def ignore_warnings(names: Iterable[str]) -> Iterator[None]:
    """Do not give warnings of some classes in the `with` block.

    Args:
        names: the names of the classes in `matchrec.warnings`, such as "NoOrderWarning".
    """
    with warnings.catch_warnings():
        for name in names:
            warnings.simplefilter("ignore", getattr(warning_classes, name))
        yield
