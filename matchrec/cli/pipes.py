"""Read pipes: standard input, `<(...)` of a shell, and named pipes.

A pipe can be read only once and from its beginning, and its name shows no format. `copy_pipe`
copies the content of a pipe to a temporary file, and finds the format in its first bytes.
"""

from __future__ import annotations

import re
import shutil
import sys
from codecs import BOM_UTF8
from pathlib import Path

from matchrec.cli.files import PARQUET_START, read_start

# The paths of standard input.
STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
# The path of an open file, as a shell writes it for `<(...)`.
OPEN_FILE = re.compile(r"/(?:dev|proc/self)/fd/\d+")

# The words of `--input-format`: the formats, each also the ending of a file's name.
PIPED_FORMATS = ("csv", "tsv", "json", "parquet")

# For the first bytes of a compressed file: the ending of its name.
COMPRESSION_STARTS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2"}
# The first characters of JSON: of an object, and of an array of objects.
JSON_STARTS = (b"{", b"[")


def is_pipe(path: str) -> bool:
    """Return whether a path is standard input, an open file, a pipe, or a terminal."""
    if path in STANDARD_INPUT:
        return True
    file = Path(path)
    is_open_file = OPEN_FILE.fullmatch(path) is not None and file.exists() and not file.is_dir()
    return is_open_file or file.is_fifo() or file.is_char_device()


def is_same_pipe(path: str, other_path: str) -> bool:
    """Return whether two paths are the same pipe, such as `-` and `/dev/stdin`."""
    are_standard_input = path in STANDARD_INPUT and other_path in STANDARD_INPUT
    return are_standard_input or (path == other_path and is_pipe(path))


def read_pipe(path: str) -> bytes:
    """Return the content of a pipe."""
    return sys.stdin.buffer.read() if path in STANDARD_INPUT else Path(path).read_bytes()


def copy_pipe(path: str, folder: Path, input_format: str | None) -> Path:
    """Copy the content of a pipe to a file, whose name shows its format, and return its path.

    Args:
        path: the pipe.
        folder: the folder in which the file is made.
        input_format: the format, one of `PIPED_FORMATS`; None to find it in the content.
    """
    copy = folder / "pipe"
    with copy.open("wb") as target:
        if path in STANDARD_INPUT:
            shutil.copyfileobj(sys.stdin.buffer, target)
        else:
            with Path(path).open("rb") as source:
                shutil.copyfileobj(source, target)
    compression = find_compression(read_start(copy))
    copy = copy.rename(folder / f"pipe{compression}")
    file_format = input_format or recognize_content(read_start(copy))
    return copy.rename(folder / f"pipe.{file_format}{compression}")


def find_compression(start: bytes) -> str:
    """Return the ending of the compression of a file with these first bytes; "" if it has none."""
    for first_bytes, ending in COMPRESSION_STARTS.items():
        if start.startswith(first_bytes):
            return ending
    return ""


def recognize_content(start: bytes) -> str:
    """Return the format of rows, one of `PIPED_FORMATS`, by their first bytes.

    TSV is CSV with another delimiter, which is detected later.

    >>> [recognize_content(start) for start in (b"PAR1", b' {"n": 1}', b"sym,price")]
    ['parquet', 'json', 'csv']
    """
    if start.startswith(PARQUET_START):
        return "parquet"
    if start.removeprefix(BOM_UTF8).lstrip().startswith(JSON_STARTS):
        return "json"
    return "csv"
