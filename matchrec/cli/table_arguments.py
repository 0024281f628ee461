"""The tables of `--table` and `--schema`: how arguments name them, and what a malformed one lacks.

A table may be a file, a folder, or a pattern such as `parts/*.csv`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from matchrec.cli.files import (
    FILE_FORMATS,
    FileFormat,
    find_files,
    has_known_format,
    read_start,
    strip_compression,
    suggest_nearest_file,
)
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import command as errors

WILDCARD = re.compile(r"[*?[]")

# The formats of files by their names in messages, in the order in which they are listed.
FORMAT_NAMES = {**{known.value: known for known in FileFormat}, "unknown": None}


def parse_schema(argument: str) -> EmptyTable:
    """Return the table of an argument such as `t: id INT, ts TIMESTAMP`.

    Raises:
        MatchRecognizeError: the argument has another form. The columns are not checked.
    """
    name, colon, columns = argument.partition(":")
    if not (colon and columns.strip() and name.strip().isidentifier()):
        raise errors.malformed_schema(argument=argument, example=suggest_schema(name, columns))
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


def parse_table(argument: str) -> Table:
    """Return the table of an argument NAME=PATH: a file, a folder, or a pattern for these.

    Raises:
        MatchRecognizeError: the argument has another form, there is no such file, or its format is
            unknown.
    """
    name, equals, path = argument.partition("=")
    if not (equals and path and name.isidentifier()):
        raise errors.malformed_table(argument=argument, example=suggest_table(name, path))
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

    Raises:
        MatchRecognizeError: there is no such file, its format is unknown, or the files have several
            formats.
    """
    if Path(path).exists():
        return Table(name, (Path(path),), find_common_format(name, path, (Path(path),)))
    folder, pattern = split_pattern(path)
    paths = tuple(sorted(folder.glob(pattern))) if pattern else ()
    if not paths:
        raise errors.no_such_file(
            what="the file", path=path, hint=suggest_nearest_file(path), owner=f" of table `{name}`"
        )
    return Table(name, paths, find_common_format(name, path, paths), root=folder)


def find_common_format(name: str, argument: str, paths: Sequence[Path]) -> FileFormat:
    """Return the format that all files of a table have.

    Args:
        name: the name of the table, for errors.
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files.

    Raises:
        MatchRecognizeError: a format is unknown, the files have several, or there are no files.
    """
    files_by_format: dict[FileFormat | None, list[Path]] = {}
    for path in paths:
        # Spark names a folder by the format of the files that it writes into it.
        folder_format = FILE_FORMATS.get(path.suffix.lower()) if path.is_dir() else None
        for file in find_files(path):
            file_format = recognize_format(file) or folder_format
            files_by_format.setdefault(file_format, []).append(file)
    if not files_by_format:
        reason = "it is a folder without files"
        raise errors.unreadable_table(name=name, path=argument, reason=reason)
    if len(files_by_format) > 1:
        raise errors.several_formats(
            pattern=argument,
            files={
                name: list(map(str, files_by_format[file_format]))
                for name, file_format in FORMAT_NAMES.items()
                if file_format in files_by_format
            },
            patterns=suggest_patterns(argument, paths, files_by_format),
        )
    ((common_format, files),) = files_by_format.items()
    if common_format is None:
        raise errors.unknown_format(path=str(files[0]), endings=list(FILE_FORMATS))
    return common_format


def recognize_format(file: Path) -> FileFormat | None:
    """Return the format of a file; None if it is unknown.

    A Parquet file is recognised by its content, all others by their names.
    """
    if read_start(file).startswith(b"PAR1"):
        return FileFormat.PARQUET
    return FILE_FORMATS.get(strip_compression(file).suffix.lower())


def suggest_patterns(
    argument: str,
    paths: Sequence[Path],
    files_by_format: Mapping[FileFormat | None, Sequence[Path]],
) -> list[str]:
    """Return patterns that each match the files of one ending, such as `parts/*.csv`.

    The list is empty unless the user named a folder, or a pattern that ends with `*`.

    Args:
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files.
        files_by_format: all files. Files of unknown format get no pattern.
    """
    files = [file for known, group in files_by_format.items() if known for file in group]
    endings = sorted({file.name.removeprefix(strip_compression(file).stem) for file in files})
    folder = Path(argument)
    if list(paths) == [folder]:
        is_flat = all(file.parent == folder for file in files)
        beginning = f"{folder}/*" if is_flat else f"{folder}/**/*"
    elif argument.endswith("*") and not any(path.is_dir() for path in paths):
        beginning = argument
    else:
        return []
    return [f"{beginning}{ending}" for ending in endings if ending]


def parse_labels(argument: str) -> str:
    """Return the argument if it is the name of a table.

    Raises:
        MatchRecognizeError: it is the name of a file.
    """
    if has_known_format(Path(argument)):
        raise errors.file_for_table(path=argument)
    return argument


def split_pattern(path: str) -> tuple[Path, str]:
    """Return the folder below which a pattern of paths matches, and the pattern from there.

    The second is empty if the path has no wildcards.

    >>> split_pattern("data/year=*/*.csv")
    (PosixPath('data'), 'year=*/*.csv')
    """
    parts = Path(path).parts
    for index, part in enumerate(parts):
        if WILDCARD.search(part):
            return Path(*parts[:index]), "/".join(parts[index:])
    return Path(*parts), ""
