"""Errors in the arguments of the command line."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import MatchRecognizeError, listed


def malformed_table(argument: str) -> MatchRecognizeError:
    """A --table argument that is not NAME=PATH."""
    return MatchRecognizeError(
        f"--table `{argument}` is not NAME=PATH",
        hint="write for example --table stocks=data/stocks.csv",
    )


def repeated_table(name: str) -> MatchRecognizeError:
    """Two --table arguments of one name."""
    return MatchRecognizeError(
        f"--table names `{name}` twice", hint="give each table a name of its own"
    )


def no_such_file(path: str, what: str) -> MatchRecognizeError:
    """A file that is to be read and is not there."""
    return MatchRecognizeError(f"{what} `{path}` does not exist")


def not_a_text_file(path: str) -> MatchRecognizeError:
    """A query file that cannot be read as text."""
    return MatchRecognizeError(f"the query `{path}` is not a text file in UTF-8")


def unknown_format(path: str, known: Iterable[str]) -> MatchRecognizeError:
    """A file whose name does not tell its format."""
    return MatchRecognizeError(
        f"the name of `{path}` does not tell its format", notes=(f"known: {listed(known)}",)
    )


def no_such_folder(path: str) -> MatchRecognizeError:
    """A file that is to be written into a folder that is not there."""
    return MatchRecognizeError(f"the folder of `{path}` does not exist", hint="make it first")


def malformed_setting(argument: str) -> MatchRecognizeError:
    """A --conf or --param argument that is not NAME=VALUE."""
    return MatchRecognizeError(f"`{argument}` is not NAME=VALUE")


def repeated_column(name: str) -> MatchRecognizeError:
    """Two columns of one name in a JSON object."""
    return MatchRecognizeError(
        f"two columns of the result are called `{name}`, and a JSON object has each name once",
        hint="write AS with another name, or --format csv",
    )


def unknown_skip(text: str, known: Iterable[str]) -> MatchRecognizeError:
    """A skip strategy that is none."""
    return MatchRecognizeError(
        f"`{text}` is no skip strategy of a Pattern", notes=(f"known: {listed(known)}",)
    )


def malformed_pattern(where: str) -> MatchRecognizeError:
    """A Pattern that is not named by its file or module."""
    return MatchRecognizeError(
        f"`{where}` does not say where the Pattern is",
        hint="write FILE.py:NAME, FILE.py for the name `pattern`, or MODULE:NAME",
    )


def no_such_module(module: str, reason: str) -> MatchRecognizeError:
    """The module of a Pattern, or one that it imports, cannot be found."""
    return MatchRecognizeError(f"`{module}` cannot be imported", notes=(reason,))


def no_such_pattern(place: str, name: str, known: Iterable[str]) -> MatchRecognizeError:
    """A name that is no Pattern in its file or module."""
    return MatchRecognizeError(
        f"`{name}` is no Pattern in `{place}`", notes=(f"Patterns there: {listed(known)}",)
    )
