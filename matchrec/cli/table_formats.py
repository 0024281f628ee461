"""The common format of a table's files, and the error if the files have several formats."""

from __future__ import annotations

import glob
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from matchrec.cli.files import (
    FILE_FORMATS,
    FileFormat,
    detect_format,
    find_files,
    find_matching_paths,
    look_up_format,
    strip_compression,
)
from matchrec.errors import MatchRecognizeError
from matchrec.errors import tables as errors

# The files of a table by their formats. Files of unknown format are under the key None.
FilesByFormat: TypeAlias = Mapping[FileFormat | None, Sequence[Path]]

# Formats by their names in messages, in the order in which a message lists them.
FORMATS_BY_NAME = {
    **{file_format.value: file_format for file_format in FileFormat},
    "unknown": None,
}


def find_common_format(table_name: str, argument: str, paths: Sequence[Path]) -> FileFormat:
    """Return the format that all files of a table have.

    Args:
        table_name: the name of the table, for errors.
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files, that the argument names.

    Raises:
        MatchRecognizeError: the format of all files is unknown, the files have several formats, or
            there are no files.
    """
    files_by_format: dict[FileFormat | None, list[Path]] = {}
    for path in paths:
        # The user may have named a folder by the format of its files, which have no endings:
        # `prices.csv/part-0`.
        folder_format = look_up_format(path) if path.is_dir() else None
        for file in find_files(path):
            file_format = detect_format(file) or folder_format
            files_by_format.setdefault(file_format, []).append(file)
    if not files_by_format:
        reason = "it has no files"
        raise errors.unreadable_table(name=table_name, path=argument, reason=reason)
    if len(files_by_format) > 1:
        raise make_several_formats_error(argument, paths, files_by_format)
    ((common_format, files),) = files_by_format.items()
    if common_format is None:
        raise errors.unknown_format(path=str(files[0]), endings=list(FILE_FORMATS))
    return common_format


def make_several_formats_error(
    argument: str, paths: Sequence[Path], files_by_format: FilesByFormat
) -> MatchRecognizeError:
    """Return the error for a table whose files have several formats.

    The error lists the files of each format, and patterns for the files of a single format.

    Args:
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files, that the argument names.
        files_by_format: all files of the table.
    """
    file_names: dict[str, list[str]] = {}
    for format_name, file_format in FORMATS_BY_NAME.items():
        files = files_by_format.get(file_format, ())
        if files:
            file_names[format_name] = [str(file) for file in files]
    patterns = suggest_patterns(argument, paths, files_by_format)
    return errors.several_formats(pattern=argument, files=file_names, patterns=patterns)


def suggest_patterns(
    argument: str, paths: Sequence[Path], files_by_format: FilesByFormat
) -> list[str]:
    """Return patterns such as `parts/*.csv`, each for all files of one format and one ending.

    A pattern that would match other files, too, is left out. Examples are files that the table does
    not have because they are in folders such as `_temporary`.

    Args:
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files, that the argument names.
        files_by_format: all files of the table.
    """
    files_by_known_format = {
        file_format: files
        for file_format, files in files_by_format.items()
        if file_format is not None
    }
    all_files = [file for files in files_by_known_format.values() for file in files]
    pattern_without_ending = find_pattern_without_ending(argument, paths, all_files)
    if pattern_without_ending is None:
        return []
    patterns = []
    for files in files_by_known_format.values():
        for ending, files_with_ending in group_by_ending(files).items():
            pattern = f"{pattern_without_ending}{ending}"
            if find_matching_paths(pattern) == tuple(sorted(files_with_ending)):
                patterns.append(pattern)
    return sorted(patterns)


def find_pattern_without_ending(
    argument: str, paths: Sequence[Path], files: Sequence[Path]
) -> str | None:
    """Return a pattern that, followed by an ending, matches files of a table.

    The user named a folder, or a pattern that ends with `*`. Returns None for other patterns, which
    do not show where an ending could be added.

    Args:
        argument: the path or the pattern, as the user wrote it.
        paths: the files, or folders of files, that the argument names.
        files: the files of known formats.
    """
    folder = Path(argument)
    if list(paths) == [folder]:
        is_flat = all(file.parent == folder for file in files)
        escaped_folder = glob.escape(str(folder))
        return f"{escaped_folder}/*" if is_flat else f"{escaped_folder}/**/*"
    if argument.endswith("*") and not any(path.is_dir() for path in paths):
        return argument
    return None


def group_by_ending(files: Sequence[Path]) -> dict[str, list[Path]]:
    """Return files by the endings of their names. A file without an ending is left out.

    The ending of a compressed file includes the suffix of the compression: `.csv.gz`.
    """
    files_by_ending = defaultdict(list)
    for file in files:
        ending = file.name.removeprefix(strip_compression(file).stem)
        if ending:
            files_by_ending[ending].append(file)
    return files_by_ending
