"""Write the results of a command to files.

1. `parse_output_file`, or `parse_rows_file` for rows, checks an argument before the query runs: the
   ending of the name, and that the file can be written.
2. `write_rows_file` or `write_text` writes the file after the query has run.

A file is written into a hidden folder next to it, and gets its name when it is complete. So an old
file is never replaced by half a new one, and a query can read the file that it replaces.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.cli.files import (
    COMPRESSIONS,
    FILE_FORMATS,
    FileFormat,
    find_format,
    has_known_format,
    strip_compression,
)
from matchrec.cli.formats import OUTPUT_FORMATS, check_distinct_names
from matchrec.cli.rows import NO_PROGRESS, cache_rows, write_rows
from matchrec.errors import written_files as errors
from matchrec.errors.tables import unknown_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# The names in `OUTPUT_FORMATS` by the endings of files. Parquet files have no text format.
TEXT_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

# The beginning of the name of the hidden folder with an incomplete file.
HIDDEN_FOLDER_PREFIX = ".matchrec-"

# Arguments that mean stdout in other programs.
STDOUT_PATHS = ("-", "/dev/stdout")

# Errors of the system that show that a path itself cannot be used: links that lead in a circle, a
# name that is too long, a folder that the user is not allowed to look into.
UNUSABLE_PATH_ERRORS = (errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES)


def parse_output_file(argument: str, endings: Sequence[str] = ()) -> Path:
    """Return the path of an argument, if a file can be written there.

    Args:
        argument: the path of the file. The file need not exist, but its folder must exist.
        endings: the endings that the name can have, such as `.svg`; empty for any ending.

    Raises:
        MatchRecognizeError: the name has another ending, or the file cannot be written.
    """
    path = Path(argument)
    if endings and path.suffix.lower() not in endings:
        raise unknown_format(path=argument, endings=endings, is_written=True)
    check_writable(path)
    return path


def parse_rows_file(argument: str) -> Path:
    """Return the path of an argument, if a file with rows can be written there.

    Raises:
        MatchRecognizeError: the name does not show a format of rows, or the file cannot be written.
    """
    if argument in STDOUT_PATHS:
        raise errors.output_to_stdout(path=argument)
    path = Path(argument)
    if not has_known_format(path):
        raise unknown_format(path=argument, endings=list(FILE_FORMATS), is_written=True)
    if find_format(path) is FileFormat.PARQUET and path.suffix.lower() in COMPRESSIONS:
        raise errors.compressed_parquet(path=argument)
    check_writable(path)
    return path


def check_writable(path: Path) -> None:
    """Check that a file can be written. An existing file is not changed.

    Raises:
        MatchRecognizeError: the path is a folder or a device, the file is read-only, or its folder
            does not exist or takes no new files.
    """
    file = follow_links(path)
    if file.is_dir():
        raise errors.output_not_a_file(path=str(path), what="a folder")
    if file.exists() and not file.is_file():
        raise errors.output_not_a_file(path=str(path), what="not a regular file")
    for parent in file.parents:
        if parent.is_file():
            raise errors.output_folder_is_a_file(path=str(path), folder=str(parent))
    if not file.parent.is_dir():
        raise errors.no_such_folder(path=str(path))
    if file.exists() and not os.access(file, os.W_OK):
        raise errors.output_not_writable(path=str(path), reason=os.strerror(errno.EACCES))
    try:
        # As `replace_when_complete` does; permissions alone do not show a read-only disk.
        with make_hidden_folder(file):
            pass
    except OSError as error:
        reason = describe_os_error(error)
        raise errors.output_folder_not_writable(path=str(path), reason=reason) from error


def follow_links(path: Path) -> Path:
    """Return the file to which a path leads through symbolic links. The file need not exist.

    Writing replaces this file and keeps the links.

    Raises:
        MatchRecognizeError: the path cannot be used, see `UNUSABLE_PATH_ERRORS`.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in UNUSABLE_PATH_ERRORS:
            reason = describe_os_error(error)
            raise errors.output_not_writable(path=str(path), reason=reason) from error
    return path.resolve()


def describe_os_error(error: OSError) -> str:
    """Return what the system says about an error, without the path."""
    return os.strerror(error.errno) if error.errno else str(error)


def make_hidden_folder(file: Path) -> tempfile.TemporaryDirectory[str]:
    """Make a hidden folder next to a file, and so on the same disk, for its incomplete content."""
    return tempfile.TemporaryDirectory(prefix=HIDDEN_FOLDER_PREFIX, dir=file.parent)


@contextmanager
def replace_when_complete(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file to write, and rename the file to `path` at the end.

    The last step is a rename on the same disk. If writing fails or the program is interrupted,
    the file at `path` stays as it was.

    Raises:
        MatchRecognizeRunError: the system cannot write the file, as when the disk is full.
    """
    file = follow_links(path)
    try:
        with make_hidden_folder(file) as folder:
            # The temporary file has the endings of `path`, not of the file to which a link leads,
            # because they choose the format. The rest of the name could make it too long.
            incomplete_file = Path(folder) / f"rows{''.join(find_format_endings(path))}"
            yield incomplete_file
            if file.exists():
                shutil.copymode(file, incomplete_file)
            incomplete_file.replace(file)
    # Rows are computed while they are written, so the engine's connection has failed, not the disk.
    except ConnectionError:
        raise
    except OSError as error:
        raise errors.output_not_written(path=str(path), reason=describe_os_error(error)) from error


def find_format_endings(path: Path) -> list[str]:
    """Return the endings of a name that choose the format of the file.

    >>> find_format_endings(Path("prices.2024.csv.gz")), find_format_endings(Path("a.b.parquet"))
    (['.csv', '.gz'], ['.parquet'])
    """
    is_compressed = path.suffix.lower() in COMPRESSIONS
    return path.suffixes[-2:] if is_compressed else path.suffixes[-1:]


def write_text(path: Path, text: str) -> None:
    """Write a text to a file. The file appears when the text is complete.

    Raises:
        MatchRecognizeRunError: the system cannot write the file.
    """
    with replace_when_complete(path) as incomplete_file:
        incomplete_file.write_text(text, encoding="utf-8")


def name_rows_format(path: Path) -> str:
    """Return the format of the rows in a file as `--format` names it, or "parquet".

    >>> name_rows_format(Path("rows.csv.gz")), name_rows_format(Path("rows.json"))
    ('csv', 'jsonl')
    """
    if find_format(path) is FileFormat.PARQUET:
        return FileFormat.PARQUET.value
    return TEXT_FORMATS[strip_compression(path).suffix.lower()]


def write_rows_file(frame: DataFrame, path: Path) -> int:
    """Write all rows to one file, in order, and return their number.

    The file appears when it is complete. The ending of its name chooses the format.

    Raises:
        MatchRecognizeError: the format cannot have two columns of the same name.
        MatchRecognizeRunError: the system cannot write the file.
    """
    with replace_when_complete(path) as incomplete_file:
        if find_format(path) is FileFormat.PARQUET:
            return write_parquet_file(frame, incomplete_file)
        output_format = OUTPUT_FORMATS[name_rows_format(path)]
        open_file = COMPRESSIONS.get(path.suffix.lower(), open)
        with open_file(incomplete_file, "wt", encoding="utf-8") as stream:
            return write_rows(frame, output_format, stream).count


def write_parquet_file(frame: DataFrame, path: Path) -> int:
    """Write all rows to a Parquet file that does not exist yet, and return their number.

    Only Spark in this program writes the file itself. The rows of other engines, which can have
    another disk, are fetched as an Arrow table.

    Raises:
        MatchRecognizeError: two columns have the same name; or the rows are fetched, and Arrow does
            not have the type of a column, or PySpark is too old.
    """
    # Imported here, because PySpark takes time to load and a command can end without it.
    from matchrec.spark.arrow_tables import has_arrow_type, write_parquet
    from matchrec.spark.backends import find_backend

    check_distinct_names(frame.columns, "a Parquet file")
    if find_backend(frame.sparkSession).has_shared_files:
        return write_parquet_by_spark(frame, path)
    if not hasattr(frame, "toArrow"):  # PySpark 3.5
        raise errors.parquet_not_fetched()
    for field in frame.schema:
        if not has_arrow_type(field):
            type_name = field.dataType.simpleString()
            raise errors.type_not_for_parquet(name=field.name, type_name=type_name)
    return write_parquet(frame, path)


def write_parquet_by_spark(frame: DataFrame, path: Path) -> int:
    """Let Spark write all rows to a Parquet file on this disk, and return their number.

    Raises:
        OSError: Spark has written to another disk, so the file does not exist on this one.
    """
    # Spark writes a folder of files. With one partition, this is one file.
    spark_folder = path.with_name("spark_files")
    with cache_rows(frame, NO_PROGRESS) as cached_rows:
        # Not `as_uri`, because Spark would take %20 for a part of the name.
        cached_rows.frame.coalesce(1).write.parquet(f"file://{spark_folder.absolute()}")
        spark_file = next(spark_folder.glob("*.parquet"), None)
        if spark_file is None:
            raise FileNotFoundError(f"Spark has written no file to {spark_folder}")
        spark_file.rename(path)
        return cached_rows.count
