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
