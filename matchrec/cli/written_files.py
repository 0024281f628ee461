"""Write the results of a command to files.

Each file appears when it is complete, so that an old one is never replaced by half a new one.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
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
from matchrec.cli.rows import arrives_as_arrow, cache_rows, write_rows
from matchrec.errors import written_files as errors
from matchrec.errors.command import unknown_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# The names in `OUTPUT_FORMATS` by the suffixes of files, except Parquet.
WRITTEN_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "jsonl",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

# The beginning of the name of a folder with an incomplete file.
PART_FOLDER_PREFIX = ".matchrec-"


def check_writable(path: str, suffixes: Sequence[str] = ()) -> Path:
    """Return the path of a file that can be written.

    Args:
        path: the file, which may exist. Its folder must exist.
        suffixes: the suffixes that its name may have; any if there are none.
    """
    if suffixes and Path(path).suffix.lower() not in suffixes:
        raise unknown_format(path=path, endings=suffixes, is_written=True)
    check_target(Path(path))
    return Path(path)


def check_writable_table(path: str) -> Path:
    """Return the path of a file for rows. Its name ends with the format."""
    if path in ("-", "/dev/stdout"):
        raise errors.output_to_stdout(path=path)
    if not has_known_format(Path(path)):
        raise unknown_format(path=path, endings=list(FILE_FORMATS), is_written=True)
    if find_format(Path(path)) is FileFormat.PARQUET and Path(path).suffix.lower() in COMPRESSIONS:
        raise errors.compressed_parquet(path=path)
    return check_writable(path)


def check_target(path: Path) -> None:
    """Check before a query runs that its result can be written to a file.

    Raises:
        MatchRecognizeError: the path is a folder or a device, or its folder takes no new files.
    """
    target = find_target(path)
    folder = target.parent
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "not a regular file"
        raise errors.output_not_a_file(path=str(path), what=what)
    for parent in (folder, *folder.parents):
        if parent.is_file():
            raise errors.output_folder_is_a_file(path=str(path), folder=str(parent))
    if not folder.is_dir():
        raise errors.no_such_folder(path=str(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise errors.output_not_writable(path=str(path), reason=os.strerror(errno.EACCES))
    try:
        tempfile.TemporaryDirectory(prefix=PART_FOLDER_PREFIX, dir=folder).cleanup()
    except OSError as error:
        raise errors.output_folder_not_writable(
            path=str(path), reason=describe_os_error(error)
        ) from error


def find_target(path: Path) -> Path:
    """Return the file that a path leads to. A symbolic link stays, and its file is written.

    Raises:
        MatchRecognizeError: the links lead in a circle, the name is too long, or the user may not
            look into the folder.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES):
            raise errors.output_not_writable(
                path=str(path), reason=describe_os_error(error)
            ) from error
    return path.resolve()


def describe_os_error(error: OSError) -> str:
    """Return what the system says about an error, without the path."""
    return os.strerror(error.errno) if error.errno else str(error)


@contextmanager
def replace_when_complete(path: Path) -> Iterator[Path]:
    """Give the path of a file to write, and rename it to `path` at the end.

    The file is in a hidden folder beside `path`. Both are on the same disk, so the last step is one
    rename. If writing fails or the program is interrupted, `path` stays as it was.

    Raises:
        MatchRecognizeRunError: the system cannot write the file, as when the disk is full.
    """
    target = find_target(path)
    try:
        with tempfile.TemporaryDirectory(prefix=PART_FOLDER_PREFIX, dir=target.parent) as folder:
            # The suffixes of the name that the user wrote: they choose the format.
            part = Path(folder) / f"rows{''.join(path.suffixes[-2:])}"
            yield part
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
    except ConnectionError:  # of the engine, which computes rows while they are written
        raise
    except OSError as error:
        raise errors.output_not_written(path=str(path), reason=describe_os_error(error)) from error


def write_text(path: Path, text: str) -> None:
    """Write a text file. The file appears when it is complete."""
    with replace_when_complete(path) as part:
        part.write_text(text, encoding="utf-8")


def find_written_format(path: Path) -> str:
    """Return the format of the rows in a file: a name in `OUTPUT_FORMATS`, or parquet.

    >>> find_written_format(Path("rows.csv.gz")), find_written_format(Path("rows.json"))
    ('csv', 'jsonl')
    """
    if find_format(path) is FileFormat.PARQUET:
        return FileFormat.PARQUET.value
    return WRITTEN_FORMATS[strip_compression(path).suffix.lower()]


def write_file(frame: DataFrame, path: Path) -> int:
    """Write all rows to one file, in order, and return how many there are.

    The file appears when it is complete.
    """
    with replace_when_complete(path) as part:
        format_name = find_written_format(path)
        if format_name == FileFormat.PARQUET.value:
            return write_parquet(frame, part)
        output_format = OUTPUT_FORMATS[format_name]
        with COMPRESSIONS.get(path.suffix.lower(), open)(part, "wt", encoding="utf-8") as out:
            written = write_rows(frame, output_format, None, nullcontext(), out)
        return written.count


def write_parquet(frame: DataFrame, path: Path) -> int:
    """Write all rows to a Parquet file that does not exist yet, and return how many there are."""
    from matchrec.spark.arrow_tables import write_parquet

    check_distinct_names(frame.columns, "a Parquet file")
    if arrives_as_arrow(frame):
        return write_parquet(frame, path)
    parts = path.with_name("parts")
    with cache_rows(frame, nullcontext()) as (cached, rows):
        # Not `as_uri`, because Spark would take %20 for a part of the name.
        cached.coalesce(1).write.parquet(f"file://{parts.absolute()}")
        next(parts.glob("*.parquet")).rename(path)
        return rows
