"""Read the arguments of `--table` and `--schema` as tables, and say what malformed arguments lack.

A table can be a file, a folder, a pattern such as `parts/*.csv`, or a pipe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matchrec.cli.files import (
    FILE_FORMATS,
    describe_folder,
    find_matching_paths,
    has_known_format,
    split_pattern,
    suggest_file,
)
from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.pipes import is_pipe
from matchrec.cli.table_formats import find_common_format
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import tables as errors
from matchrec.errors.schemas import malformed_schema


def parse_schema(argument: str) -> EmptyTable:
    """Return the table of an argument such as `t: id INT, ts TIMESTAMP`.

    The engine checks the columns later.

    Raises:
        MatchRecognizeError: the argument has another form.
    """
    name, colon, columns = argument.partition(":")
    if not (colon and columns.strip() and name.strip().isidentifier()):
        raise malformed_schema(argument=argument, example=suggest_schema(name, columns))
    return EmptyTable(name.strip(), columns.strip())


def suggest_schema(name: str, columns: str) -> str:
    """Return an example of a schema, with the parts of a malformed one that are right.

    >>> suggest_schema("stocks", ""), suggest_schema("id INT, x DOUBLE", "")
    ('stocks: id INT, ts TIMESTAMP', 'NAME: id INT, x DOUBLE')
    >>> suggest_schema("stocks id INT, x DOUBLE", "")
    'stocks: id INT, x DOUBLE'
    """
    first_column = name.partition(",")[0].split()
    if not columns and len(first_column) == 3 and first_column[0].isidentifier():
        # A name, then a column and its type: only the colon is missing.
        return f"{first_column[0]}: {name.strip().removeprefix(first_column[0]).strip()}"
    if name.strip().isidentifier():
        return f"{name.strip()}: id INT, ts TIMESTAMP"
    return f"NAME: {columns.strip() or name.strip() or 'id INT, ts TIMESTAMP'}"


def parse_table(argument: str) -> Table | PipedTable:
    """Return the table of an argument NAME=PATH: a file, a folder, a pattern for these, or a pipe.

    Raises:
        MatchRecognizeError: the argument has another form, there is no such file, or its format is
            unknown.
    """
    name, equals, path = argument.partition("=")
    if not (equals and path and name.isidentifier()):
        raise errors.malformed_table(argument=argument, example=suggest_table(name, path))
    with report_unreadable_files(name, path):
        if is_pipe(path):
            return PipedTable(name, path)
    return make_table(name, path)


def suggest_table(name: str, path: str) -> str:
    """Return NAME=PATH with the parts of a malformed argument that are right.

    >>> [suggest_table(*parts) for parts in [("a/b.csv", ""), ("t", ""), ("2-x", "x.csv")]]
    ['b=a/b.csv', 't=FILE', 'x=x.csv']
    """
    if path or not name.isidentifier():
        path = path or name
        stem = re.sub(r"\W", "_", Path(path).stem)
        name = stem if stem.isidentifier() else "NAME"
    return f"{name}={path or 'FILE'}"


def make_table(name: str, path: str) -> Table:
    """Return the table of a file, a folder, or a pattern such as `parts/*.csv`.

    The beginning of each file is read, to find its format.

    Raises:
        MatchRecognizeError: there is no such file, it cannot be read, its format is unknown, or the
            files have several formats.
    """
    with report_unreadable_files(name, path):
        return find_table_files(name, path)


@contextmanager
def report_unreadable_files(name: str, path: str) -> Iterator[None]:
    """Turn an error of the system in the `with` block into an error about a table.

    Args:
        name: the table.
        path: its path or pattern, which the error shows unless the system names another one.

    Raises:
        MatchRecognizeError: the system does not let the user read a file or a folder.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        unreadable_path = error.filename or path
        raise errors.unreadable_table(name=name, path=unreadable_path, reason=reason) from error


def find_table_files(name: str, path: str) -> Table:
    """Return the table of a file, a folder or a pattern: see `make_table`.

    Raises:
        MatchRecognizeError: there is no such file, its format is unknown, or the files have several
            formats.
        OSError: the system does not let the user read a file or a folder.
    """
    if Path(path).exists():
        return Table(name, (Path(path),), find_common_format(name, path, (Path(path),)))
    folder, pattern = split_pattern(path)
    paths = find_matching_paths(path)
    if pattern and not paths:
        file_names = None
        if folder.is_dir():
            files = sorted(folder.iterdir())
            file_names = [file.name for file in files if has_known_format(file)]
        raise errors.no_matching_file(
            name=name, pattern=path, folder=str(folder), file_names=file_names
        )
    if not paths:
        raise errors.no_such_file(
            what="the file",
            path=path,
            hint=suggest_file(path, FILE_FORMATS),
            note=describe_folder(path, FILE_FORMATS, "parquet, csv, tsv or json files"),
            owner=f" of table `{name}`",
        )
    return Table(name, paths, find_common_format(name, path, paths), root=folder)


def parse_labels(argument: str) -> str:
    """Return the argument if it is the name of a table.

    Raises:
        MatchRecognizeError: the argument is the name of a file.
    """
    if has_known_format(Path(argument)):
        raise errors.file_for_table(path=argument)
    return argument
