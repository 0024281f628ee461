"""Errors about the files to which the command line writes results."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeError, MatchRecognizeRunError


def compressed_parquet(*, path: str) -> MatchRecognizeError:
    """Return the error for --output rows.parquet.gz."""
    return MatchRecognizeError(
        f"`{path}` would be compressed twice: Parquet compresses by itself",
        hint="leave .gz or .bz2 out",
        code="compressed-parquet",
    )


def output_to_stdout(*, path: str) -> MatchRecognizeError:
    """Return the error for --output with a path that means stdout, such as `-`."""
    return MatchRecognizeError(
        f"`--output {path}` is not a file",
        hint="leave --output out: rows go to stdout, with --format csv as CSV",
        code="output-to-stdout",
    )


def output_not_a_file(*, path: str, what: str) -> MatchRecognizeError:
    """Return the error for --output with a path that is not a file."""
    return MatchRecognizeError(f"`{path}` is {what}", hint="name a file", code="output-not-a-file")


def output_folder_is_a_file(*, path: str, folder: str) -> MatchRecognizeError:
    """Return the error for --output with a path in a file, as in rows.csv/part.csv."""
    return MatchRecognizeError(
        f"`{path}` cannot be written: `{folder}` is a file, and not a folder",
        code="output-folder-is-a-file",
    )


def output_folder_not_writable(*, path: str, reason: str) -> MatchRecognizeError:
    """Return the error for --output in a folder in which no file can be made."""
    return MatchRecognizeError(
        f"`{path}` cannot be written: its folder cannot be written to: {reason}",
        notes=("the rows go to another file in this folder, which is renamed when it is complete",),
        hint="name a file in another folder",
        code="output-folder-not-writable",
    )


def output_not_writable(*, path: str, reason: str) -> MatchRecognizeError:
    """Return the error for --output with a path that cannot be written, before the query runs."""
    return MatchRecognizeError(
        f"`{path}` cannot be written: {reason}",
        hint="name another file, or check the permissions of this one",
        code="output-not-writable",
    )


def output_not_written(*, path: str, reason: str) -> MatchRecognizeRunError:
    """Return the error for --output with a file that could not be written after the query ran."""
    return MatchRecognizeRunError(
        f"`{path}` cannot be written: {reason}", code="output-not-written"
    )


def no_such_folder(*, path: str) -> MatchRecognizeError:
    """Return the error for a path in a folder that does not exist."""
    return MatchRecognizeError(
        f"the folder of `{path}` does not exist", hint="create it first", code="no-such-folder"
    )


def file_exists(*, path: str) -> MatchRecognizeError:
    """Return the error for --output with a file that exists, without --overwrite."""
    return MatchRecognizeError(
        f"`{path}` already exists", hint="add --overwrite, or name another file", code="file-exists"
    )


def format_not_for_file(*, option_value: str, path: str, file_format: str) -> MatchRecognizeError:
    """Return the error for --format with --output and a file of another format.

    Args:
        option_value: the value of --format.
        path: the file.
        file_format: the format in which rows are written to it.
    """
    return MatchRecognizeError(
        f"--format {option_value} is not allowed with --output {path}",
        notes=(f"the name of the file chooses its format, which is {file_format}",),
        hint=f"leave --format out, or leave --output out to print the rows as {option_value}",
        code="format-not-for-file",
    )


def not_one_query(*, count: int | str) -> MatchRecognizeError:
    """Return the error for --output with a text that has no query or several."""
    return MatchRecognizeError(
        f"--output writes the rows of one query, but the text has {count}",
        hint="make the other queries views with CREATE TEMPORARY VIEW, or leave them out",
        code="not-one-query",
    )


def result_not_written(*, reason: str) -> MatchRecognizeError:
    """Return the error for a result that cannot be written, such as onto a full disk."""
    return MatchRecognizeError(f"the result cannot be written: {reason}", code="result-not-written")


def repeated_column(*, name: str, file_format: str) -> MatchRecognizeError:
    """Return the error for two columns of one name in a format that forbids them."""
    return MatchRecognizeError(
        f"the result has two columns named `{name}`, but {file_format} allows each name only once",
        hint="rename one of them with AS, or write csv",
        code="repeated-column",
    )


def type_not_for_parquet(*, name: str, type_name: str) -> MatchRecognizeError:
    """Return the error for a column of a Parquet file whose type Arrow does not have."""
    return MatchRecognizeError(
        f"column `{name}` has type {type_name.upper()}, which cannot be written to a Parquet file",
        hint=f"write CAST({name} AS ...) with another type, or write a csv or json file",
        code="type-not-for-parquet",
    )


def parquet_not_fetched() -> MatchRecognizeError:
    """Return the error for a Parquet file of rows that PySpark 3.5 cannot fetch from a server."""
    return MatchRecognizeError(
        "a Parquet file is not supported over Spark Connect or on a cluster with PySpark 3.5",
        hint="install PySpark 4, or write a csv or json file",
        code="parquet-not-fetched",
    )
