"""The source of the query of a command: where the text comes from, and its language."""

from __future__ import annotations

import importlib
import pkgutil
import re
import runpy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

import click

import matchrec
from matchrec.cli.files import (
    describe_folder,
    find_files,
    has_known_format,
    strip_compression,
    suggest_file,
)
from matchrec.cli.pipes import STANDARD_INPUT, is_pipe, read_pipe
from matchrec.cli.statements import drop_comments
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.errors import tables as table_errors
from matchrec.errors.sql import query as query_errors
from matchrec.errors.wording import shorten
from matchrec.source import ReadText, record_read_text

# The beginnings of the names of files that run or import the user's file.
LOADING_FILES = (__file__, "<frozen ", runpy.__file__, pkgutil.__file__, importlib.__file__)

# The endings of files with the text of a query.
QUERY_FILE_ENDINGS = (".sql", ".sase")

# The end of the location of a Pattern in a file: `rises.py` or `rises.py:slow`.
PATTERN_FILE = re.compile(r"\.py(:\w+)?$")


class QueryLanguage(Enum):
    """A language of queries. The values are the words of `--language`."""

    SQL = "sql"
    SASE = "sase"
    PATTERN = "pattern"  # a `matchrec.Pattern`, an object in a Python file or module

    @property
    def display_name(self) -> str:
        """Return the language, or what a query in it is called, for messages."""
        return {"sql": "SQL", "sase": "SASE+", "pattern": "a Pattern"}[self.value]


# An example of a text in each language that has texts, for errors.
EXAMPLES = {
    QueryLanguage.SQL: "SELECT * FROM t MATCH_RECOGNIZE (...)",
    QueryLanguage.SASE: "PATTERN SEQ(Shelf a, Exit b)",
}


@dataclass(frozen=True, slots=True)
class QuerySource:
    """The source of a query: a file, standard input, a Pattern in a module, or the option -c."""

    # A path, `-` for standard input, or the location of a Pattern: `rises.py`, `rises.py:slow` or
    # `shop.rises:slow`. `-c` if the text comes from this option.
    path: str
    # The text of the option -c; None without it.
    text: str | None = None
    # Whether the command names a folder, and not the file itself.
    is_in_folder: bool = field(default=False, compare=False)

    @property
    def language(self) -> QueryLanguage:
        """Return the language of the query, by the name of its file.

        >>> [QuerySource(path).language.value for path in ("q.sql", "-", "q.sase", "q.py:rises")]
        ['sql', 'sql', 'sase', 'pattern']
        """
        if self.path.endswith(".sase"):
            return QueryLanguage.SASE
        if PATTERN_FILE.search(self.path):
            return QueryLanguage.PATTERN
        return QueryLanguage.SQL

    def check_exists(self, language: QueryLanguage) -> None:
        """Check that the query has a text, or that the file or module of the Pattern exists.

        Reads no text.

        Args:
            language: the language that the user named, or else `self.language`.

        Raises:
            click.UsageError: there is no such file or module.
        """
        with report_unusable_path(self.path):
            if language is QueryLanguage.PATTERN:
                check_pattern_location(self.path)
            elif self.text is None:
                check_query_file(self.path)

    def read(self, language: QueryLanguage, noun: str = "query") -> str:
        """Return the text of the query, or the location of the Pattern.

        Errors about the text name its file.

        Args:
            language: the language that the user named, or else `self.language`.
            noun: what the text is: "query", or "clause" for a clause alone.

        Raises:
            click.UsageError: there is no such file, it is empty, or it is not a text.
        """
        with report_unusable_path(self.path):
            if language is QueryLanguage.PATTERN:
                check_pattern_location(self.path)
                return self.path
            text = read_query_text(self.path) if self.text is None else self.text
        if is_blank(text, language):
            if noun == "clause":
                raise click.UsageError(str(errors.empty_clause()))
            blank_error = query_errors.blank_query(
                text, source=self.describe_source(), example=EXAMPLES[language]
            )
            raise click.UsageError(str(blank_error))
        self.record(text, text)
        return text

    def describe_source(self) -> str:
        """Return the origin of the text for a message; "" for the option -c."""
        if self.text is not None:
            return ""
        return "standard input" if self.path in STANDARD_INPUT else f"`{self.path}`"

    def record(self, text: str, written_text: str) -> None:
        """Let errors in a text name its file, if it has one, and show the text as written there.

        Args:
            text: the query, or one of its statements, as it runs.
            written_text: the same query or statement as its author wrote it: see `ReadText`.
        """
        path = None if self.text is not None or self.path == "-" else self.path
        record_read_text(text, ReadText(path, written_text))


@contextmanager
def report_unusable_path(path: str) -> Iterator[None]:
    """Report an error about the path of a query as a wrong argument of the command.

    Args:
        path: the path, as the user wrote it.

    Raises:
        click.UsageError: the `with` block raised an error, of matchrec or of the system.
    """
    try:
        yield
    except MatchRecognizeError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        unreadable = errors.unreadable_query(path=error.filename or path, reason=reason)
        raise click.UsageError(str(unreadable)) from error


def is_blank(text: str, language: QueryLanguage) -> bool:
    """Return whether a text has no statement. In SQL, it can have comments and semicolons."""
    if language is QueryLanguage.SQL:
        text = drop_comments(text).replace(";", "")
    return not text.strip()


def find_query_files(path: str) -> list[str]:
    """Return the files of queries in a folder and its subfolders, in order.

    Any other path is returned itself.

    Raises:
        click.UsageError: a folder has no queries, or it cannot be read.
    """
    folder = Path(path)
    with report_unusable_path(path):
        if not folder.is_dir():
            return [path]
        files = [str(file) for file in find_files(folder) if file.suffix in QUERY_FILE_ENDINGS]
    if not files:
        raise click.UsageError(str(errors.folder_without_queries(path=path)))
    return files


def check_query_file(path: str) -> None:
    """Check that a query has a file, a pipe or, for `-`, standard input. Reads nothing.

    Raises:
        MatchRecognizeError: there is no such file, or it is a folder or a file of rows.
    """
    if has_known_format(Path(path)):
        stem = strip_compression(Path(path)).stem
        raise errors.rows_for_query(path=path, name=stem if stem.isidentifier() else "events")
    if Path(path).is_dir():
        raise errors.folder_for_query(path=path)
    if not is_pipe(path) and not Path(path).is_file():
        if Path(path).exists():
            raise table_errors.not_a_file(path=path)
        if len(path.split()) > 1:  # the text of a query, without -c
            raise errors.no_such_query(path=shorten(path))
        raise table_errors.no_such_file(
            what="the query file",
            path=path,
            hint=suggest_file(path, QUERY_FILE_ENDINGS),
            note=describe_folder(path, QUERY_FILE_ENDINGS, "queries"),
        )


def read_query_text(path: str) -> str:
    """Return the text of a query, from a file, a pipe or, for `-`, from standard input.

    Raises:
        MatchRecognizeError: there is no such file, or it is a folder or not a text.
    """
    check_query_file(path)
    content = read_pipe(path) if is_pipe(path) else Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.not_a_text_file(path=path) from error


def split_pattern_location(location: str) -> tuple[str, str]:
    """Return the file or module of a Pattern, and the name of the Pattern in it.

    >>> locations = ("rises.py", "rises.py:slow", "shop.rises:slow")
    >>> [split_pattern_location(location) for location in locations]
    [('rises.py', 'pattern'), ('rises.py', 'slow'), ('shop.rises', 'slow')]
    """
    if location.endswith(".py"):
        return location, "pattern"
    module, _, name = location.rpartition(":")
    return module, name


def check_pattern_location(location: str) -> None:
    """Check the form of the location of a Pattern, and that its file exists, without running it.

    For a module in a package, only the outermost package is looked for, because Python runs it to
    find the module.

    Raises:
        MatchRecognizeError: the location lacks a name, or there is no such file or module.
    """
    module, name = split_pattern_location(location)
    if not module or not name.isidentifier():
        module_name = (module or name).removesuffix(".py")
        raise errors.malformed_pattern(where=location, module=module_name)
    if module.endswith(".py") and not Path(module).is_file():
        hint = suggest_file(module, (".py",))
        note = describe_folder(module, (".py",), "Python files")
        raise table_errors.no_such_file(what="the query file", path=module, hint=hint, note=note)
    if not module.endswith(".py") and not can_find_package(module.partition(".")[0]):
        raise errors.no_such_module(module=module, reason=f"Python finds no module {module}")


def can_find_package(name: str) -> bool:
    """Return whether Python finds a module or package without dots in its name, and run nothing.

    Modules of the current folder are found, too.
    """
    if name in sys.modules:
        return True
    local_module = PathFinder.find_spec(name, [str(Path.cwd())])
    return local_module is not None or find_spec(name) is not None


def load_pattern(location: str) -> matchrec.Pattern:
    """Run the file or import the module of a Pattern, and return the Pattern.

    A file can import the modules beside it. A module can import modules of the current folder.

    Raises:
        MatchRecognizeError: the module does not exist, raises an exception, or lacks the Pattern.
    """
    module, name = split_pattern_location(location)
    is_file = module.endswith(".py")
    folder = Path(module).absolute().parent if is_file else Path.cwd()
    sys.path.insert(0, str(folder))
    try:
        variables = runpy.run_path(module) if is_file else vars(pkgutil.resolve_name(module))
    except ModuleNotFoundError as error:
        raise errors.no_such_module(module=module, reason=str(error)) from error
    except MatchRecognizeError:
        raise
    except Exception as error:
        raise errors.python_file_failed(
            path=module, error=error, traceback=format_users_traceback(error)
        ) from error
    finally:
        sys.path.pop(0)
    pattern = variables.get(name)
    if not isinstance(pattern, matchrec.Pattern):
        pattern_names = [
            variable for variable, value in variables.items() if isinstance(value, matchrec.Pattern)
        ]
        raise errors.no_such_pattern(name=name, module=module, patterns=pattern_names)
    return pattern


def format_users_traceback(error: Exception) -> str:
    """Return the traceback of an exception without the frames that load the user's file."""
    frames = list(traceback.extract_tb(error.__traceback__))
    while frames and frames[0].filename.startswith(LOADING_FILES):
        frames.pop(0)
    lines = traceback.format_list(frames) or traceback.format_exception_only(error)
    return "".join(lines).rstrip()
