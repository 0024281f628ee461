"""What goes to stderr: notices, errors with their carets in colour, and what is going on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

CARETS = re.compile(r"^ *\^[ ^]*$", re.MULTILINE)
PROGRAM = "matchrec: "


def tell(sentence: str) -> None:
    """A notice: something that the user may want to know, and no result."""
    from rich.text import Text

    show(Text(sentence))


def tell_failure(sentence: str) -> None:
    """Why there is no result; carets and the program's name in colour where there are colours."""
    from rich.text import Text

    text = Text.assemble((PROGRAM, "bold red"), sentence)
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
def warnings_told() -> Iterator[None]:
    """Warnings inside are notices, without the line of our source that gave them."""

    def told(message: Warning | str, *_: Any, **__: Any) -> None:
        tell(f"{PROGRAM}{message}")

    with warnings.catch_warnings():
        warnings.showwarning = told
        yield
