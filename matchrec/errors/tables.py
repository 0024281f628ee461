"""Errors in the tables that the command line reads, and in their files.

`schemas` has the errors in the columns of `--schema`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from matchrec.errors.kinds import MatchRecognizeError
from matchrec.errors.wording import join_alternatives, join_names, shorten


def duplicate_table(*, name: str) -> MatchRecognizeError:
    """Return the error for two tables, of --table or --schema, with the same name."""
    return MatchRecognizeError(
        f"two tables are named `{name}`",
        hint=(
            "give one of them another name; for several files of one table, write a folder or a "
            f"pattern, such as --table {name}='{name}-*.csv'"
        ),
        code="duplicate-table",
    )


def malformed_table(*, argument: str, example: str) -> MatchRecognizeError:
    """Return the error for --table without a name or a path.

    Args:
        argument: the argument.
        example: NAME=PATH with the part that the argument has.
    """
    return MatchRecognizeError(
        f"`{argument}` is not NAME=PATH", hint=f"write --table {example}", code="malformed-table"
    )


def file_for_table(*, path: str) -> MatchRecognizeError:
    """Return the error for a path instead of a table's name, as in --labels labels.csv."""
    return MatchRecognizeError(
        f"`{path}` is a file, but the name of a table is needed",
        hint=f"write --table labels={path} --labels labels",
        code="file-for-table",
    )


def no_such_file(
    *, what: str, path: str, hint: str, note: str = "", owner: str = ""
) -> MatchRecognizeError:
    """Return the error for a file that does not exist.

    Args:
        what: "the file" or "the query file".
        path: the path.
        hint: what to write instead.
        note: a sentence about the files that exist; may be empty.
        owner: whose file it is, such as " of table `t`"; may be empty.
    """
    return MatchRecognizeError(
        f"{what} `{path}`{owner} does not exist", notes=(note,), hint=hint, code="no-such-file"
    )


def no_matching_file(
    *, name: str, pattern: str, folder: str, file_names: Sequence[str] | None
) -> MatchRecognizeError:
    """Return the error for a pattern of files of a table that no file matches.

    Args:
        name: the table.
        pattern: the pattern, such as `parts/*.csv`.
        folder: the folder below which files would match.
        file_names: the files of known formats in the folder; None if it does not exist.
    """
    if file_names is None:
        note = f"the folder `{folder}` does not exist"
        hint = "write a folder that exists"
    elif not file_names:
        note = f"the folder `{folder}` has no parquet, csv, tsv or json files"
        hint = "write another folder"
    else:
        note = f"the folder `{folder}` has: {_list_first(file_names)}"
        example = Path(folder) / f"*{Path(file_names[0]).suffix}"
        hint = f"write a pattern that matches these, such as --table {name}='{example}'"
    return MatchRecognizeError(
        f"no file matches `{pattern}` of table `{name}`",
        notes=(note,),
        hint=hint,
        code="no-matching-file",
    )


def not_a_file(*, path: str) -> MatchRecognizeError:
    """Return the error for a path that is neither a file nor a folder nor a pipe: a socket, say."""
    return MatchRecognizeError(
        f"`{path}` is neither a file nor a pipe",
        hint="write the name of a file, or - for standard input",
        code="not-a-file",
    )


def repeated_pipe(*, path: str, name: str) -> MatchRecognizeError:
    """Return the error for a pipe that a table and the query, or two tables, would read.

    Args:
        path: the pipe.
        name: the table that would read it second.
    """
    what = "standard input" if path == "-" else f"`{path}`"
    return MatchRecognizeError(
        f"{what} is read twice, and can be read only once",
        hint=f"write the query or the rows of `{name}` to a file, and name the file",
        code="repeated-pipe",
    )


def unknown_format(
    *, path: str, endings: Sequence[str], is_written: bool = False
) -> MatchRecognizeError:
    """Return the error for a file whose ending shows no format.

    Args:
        path: the file.
        endings: the endings that show a format.
        is_written: whether the file is for the result, so that the user can choose its name.
    """
    hint = "name a file that ends with one of these"
    if is_written:
        hint = f"write {path.removesuffix(Path(path).suffix)}{endings[0]}"
    return MatchRecognizeError(
        f"unknown format of `{path}`",
        notes=(f"known endings: {join_names(endings)}",),
        hint=hint,
        code="unknown-format",
    )


def several_formats(
    *, pattern: str, files: Mapping[str, Sequence[str]], patterns: Sequence[str]
) -> MatchRecognizeError:
    """Return the error for files of one table that have several formats.

    Args:
        pattern: the folder, or the pattern of files.
        files: for the name of each format, or "unknown": the files that have the format.
        patterns: patterns that each match the files of one ending; may be empty.
    """
    hint = "make one table for each format"
    if patterns:
        quoted = join_alternatives([shlex.quote(file_pattern) for file_pattern in patterns])
        hint = f"write {quoted} for the files of one format"
    return MatchRecognizeError(
        f"the files of `{pattern}` have several formats: {join_names(files)}",
        notes=tuple(
            f"{format_name}: {_list_first(format_files)}"
            for format_name, format_files in files.items()
        ),
        hint=hint,
        code="several-formats",
    )


# The largest number of files of a format that a note names.
_MAX_FILES = 3


def _list_first(files: Sequence[str]) -> str:
    """Return the first `_MAX_FILES` files, and the number of other files.

    >>> _list_first(["a.csv", "b.csv", "c.csv", "d.csv"])
    'a.csv, b.csv, c.csv and 1 more'
    """
    first_files = join_names(files[:_MAX_FILES])
    others = len(files) - _MAX_FILES
    return f"{first_files} and {others:,} more" if others > 0 else first_files


def empty_table(*, name: str, path: str) -> MatchRecognizeError:
    """Return the error for a file of a table without any rows or names."""
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is empty",
        hint=(
            "write a line of column names into a csv file, or a row and pass --no-header; write "
            "an object into a json file"
        ),
        code="empty-table",
    )


def unreadable_table(*, name: str, path: str, reason: str) -> MatchRecognizeError:
    """Return the error for a table whose files cannot be read, or that has no files.

    Args:
        name: the table.
        path: the file, the folder or the pattern of files.
        reason: why it cannot be read, as a sentence.
    """
    hint = "check the path, and that the file is complete and has the ending of its format"
    if "\n  help: " in reason:  # the reason already says what to write
        hint = ""
    return MatchRecognizeError(
        f"`{shorten(path)}` of table `{name}` cannot be read: {reason}",
        hint=hint,
        code="unreadable-table",
    )


def different_columns(
    *, name: str, first: str, of_first: Sequence[str], other: str, of_other: Sequence[str]
) -> MatchRecognizeError:
    """Return the error for two files of a table with different columns.

    Args:
        name: the table.
        first: a file.
        of_first: the columns of the first file.
        other: another file.
        of_other: the columns of the other file.
    """
    return MatchRecognizeError(
        f"the files of table `{name}` have different columns",
        notes=(f"`{first}` has: {join_names(of_first)}", f"`{other}` has: {join_names(of_other)}"),
        hint="make one table for the files with each set of columns",
        code="different-columns",
    )


def time_zone_not_for_csv(*, zone: str) -> MatchRecognizeError:
    """Return the error for a session's time zone in which times of csv files cannot be read."""
    return MatchRecognizeError(
        f"time zone `{zone}` is not supported for csv files",
        hint=(
            "pass --conf spark.sql.session.timeZone= with a region such as Europe/Paris, or an "
            "offset such as +03:00"
        ),
        code="time-zone-not-for-csv",
    )


def not_in_utf8(  # noqa: PLR0913 -- each is a part of the sentence
    *, name: str, path: str, line: int, encoding: str, plain: str, suffix: str
) -> MatchRecognizeError:
    """Return the error for a csv file in another encoding than UTF-8.

    Args:
        name: the table.
        path: the file.
        line: the number, from 1, of the first line that is not in UTF-8.
        encoding: the encoding that the file probably has.
        plain: the path without the ending of a compression, quoted for a shell.
        suffix: the ending of the file.
    """
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is not in UTF-8: see line {line:,}",
        hint=(
            f"convert it, if it is in {encoding}: iconv -f {encoding} -t utf-8 {plain} > "
            f"utf8.{suffix}, and name the new file"
        ),
        code="not-in-utf8",
    )


def malformed_json(*, name: str, path: str, reason: object) -> MatchRecognizeError:
    """Return the error for a json file that is not an array of objects."""
    return MatchRecognizeError(
        f"the file `{path}` of table `{name}` is not an array of objects: {reason}",
        hint="write an object on each line, or all of them in one array",
        code="malformed-json",
    )


def malformed_json_line(*, name: str, path: str, line: int, reason: str) -> MatchRecognizeError:
    """Return the error for a line of a json file that is not an object.

    Args:
        name: the name of the table.
        path: the file.
        line: the number of the line, from 1.
        reason: what is wrong with the line.
    """
    return MatchRecognizeError(
        f"line {line:,} of the file `{path}` of table `{name}` is not a JSON object: {reason}",
        hint="correct or remove the line; a json file has an object on each line, or one array",
        code="malformed-json-line",
    )


def malformed_delimiter(*, argument: str) -> MatchRecognizeError:
    """Return the error for --delimiter with more than one character."""
    return MatchRecognizeError(
        f"the delimiter `{argument}` is not a single character",
        hint="write one character, or tab",
        code="malformed-delimiter",
    )
