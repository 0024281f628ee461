"""Find files by patterns, and their formats, compressions, encodings and delimiters."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import IO, Any

from matchrec.errors import tables as errors
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import show_list


class FileFormat(Enum):
    """The format of a file with rows."""

    PARQUET = "parquet"
    CSV = "csv"  # also with tabs or other delimiters
    JSON = "json"  # an object in each line, or an array of objects


# The format of a file by the suffix of its name.
FILE_FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), FileFormat.PARQUET),
    **dict.fromkeys((".csv", ".tsv"), FileFormat.CSV),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), FileFormat.JSON),
}
# The first bytes of a Parquet file.
PARQUET_START = b"PAR1"

# The functions that open compressed files, by the suffixes of names.
COMPRESSIONS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open}
# The errors of reading a file that is damaged, or not compressed as its name says.
DECOMPRESSION_ERRORS = (OSError, EOFError, zlib.error)
# The delimiters of CSV files that are detected.
DELIMITERS = (",", ";", "\t", "|")
WILDCARD = re.compile(r"[*?[]")  # in patterns of paths
MAX_NAMES = 8  # names of files that a note lists
BLOCK_SIZE = 1 << 20  # bytes of a file that are read at once
SAMPLE_SIZE = 10_000  # bytes of a file that are read to find out its format or delimiter


def suggest_nearest_file(path: str) -> str | None:
    """Return advice for a missing file: to write the most similar name in its folder.

    Returns None if the folder does not exist, or has no similar name.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        return None
    name = Path(path).name
    # The same name can be in the folder, if the path ends with a slash. It would not help.
    other_names = [file.name for file in folder.iterdir() if file.name != name]
    similar_name = find_nearest(name, other_names)
    return None if similar_name is None else f"write {folder / similar_name}"


def suggest_file(path: str, endings: Collection[str]) -> str:
    """Return advice for a missing file: the file that was probably meant, or how to name it.

    Args:
        path: the missing file.
        endings: the endings of the names of such files, also before the ending of a compression.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        return "write a folder that exists"
    nearest_hint = suggest_nearest_file(path)
    if nearest_hint is not None:
        return nearest_hint
    names = list_file_names(folder, endings)
    if len(names) == 1:
        return f"write {folder / names[0]}"
    return f"write the path from the current folder to {Path(path).name}"


def describe_folder(path: str, endings: Collection[str], noun: str) -> str:
    """Return a note about the folder of a missing file: its files with some endings.

    Returns "" if the folder has a file with a similar name, which the hint has.

    Args:
        path: the missing file.
        endings: the endings of names that count, also before the ending of a compression.
        noun: what such files are, in the plural.
    """
    folder = Path(path).parent
    if not folder.is_dir():
        return f"the folder `{folder}` does not exist"
    if suggest_nearest_file(path) is not None:
        return ""
    names = list_file_names(folder, endings)
    if len(names) > MAX_NAMES:
        names = [*names[:MAX_NAMES], "..."]
    subject = "this folder" if str(folder) == "." else f"the folder `{folder}`"
    return show_list(f"{subject} has", names, noun)


def list_file_names(folder: Path, endings: Collection[str]) -> list[str]:
    """Return the sorted names of the files in a folder with some endings: see `describe_folder`."""
    return sorted(
        file.name for file in folder.iterdir() if strip_compression(file).suffix.lower() in endings
    )


def find_table_file(name: str, folders: Iterable[Path]) -> str | None:
    """Return the file in some folders that is named like a table; None if there is none.

    Args:
        name: the table.
        folders: the folders, the best first.
    """
    for folder in folders:
        if not folder.is_dir():
            continue
        for file in sorted(folder.iterdir()):
            stem = strip_compression(file).stem
            if stem.lower() == name.lower() and has_known_format(file) and file.is_file():
                return str(file)
    return None


def find_format(path: Path) -> FileFormat:
    """Return the format of a file by its name.

    Raises:
        MatchRecognizeError: the format is unknown.

    >>> find_format(Path("prices.csv.gz"))
    <FileFormat.CSV: 'csv'>
    """
    file_format = look_up_format(path)
    if file_format is None:
        raise errors.unknown_format(path=str(path), endings=list(FILE_FORMATS))
    return file_format


def look_up_format(path: Path) -> FileFormat | None:
    """Return the format that the name of a file or folder shows; None if it shows none."""
    return FILE_FORMATS.get(strip_compression(path).suffix.lower())


def detect_format(file: Path) -> FileFormat | None:
    """Return the format of a file; None if it is unknown.

    A Parquet file is recognized by its content, all others by their names.
    """
    if read_start(file).startswith(PARQUET_START):
        return FileFormat.PARQUET
    return look_up_format(file)


def has_known_format(path: Path) -> bool:
    """Return whether the name of a file shows a format that can be read."""
    return look_up_format(path) is not None


def strip_compression(path: Path) -> Path:
    """Return the path without the suffix of a compression."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def find_files(path: Path) -> Iterator[Path]:
    """Yield the files with rows in a folder and its subfolders, in order; or the file itself.

    As in Spark, files and folders do not count if their names begin with `_` or `.`.
    """
    if not path.is_dir():
        yield path
        return
    for child in sorted(path.iterdir()):
        if not child.name.startswith(("_", ".")):
            yield from find_files(child)


def split_pattern(path: str) -> tuple[Path, str]:
    """Return the folder below which a pattern of paths matches, and the pattern below this folder.

    The pattern is empty if the path has no wildcards.

    >>> split_pattern("data/year=*/*.csv")
    (PosixPath('data'), 'year=*/*.csv')
    """
    parts = Path(path).parts
    for index, part in enumerate(parts):
        if WILDCARD.search(part):
            return Path(*parts[:index]), "/".join(parts[index:])
    return Path(*parts), ""


def find_matching_paths(pattern: str) -> tuple[Path, ...]:
    """Return the files and folders that a pattern of paths matches, sorted.

    The result is empty if the pattern has no wildcards.
    """
    folder, pattern_in_folder = split_pattern(pattern)
    return tuple(sorted(folder.glob(pattern_in_folder))) if pattern_in_folder else ()


def read_start(path: Path) -> bytes:
    """Return the first `SAMPLE_SIZE` bytes of a file, decompressed.

    Returns b"" for a folder, and for a file that cannot be decompressed.

    Raises:
        OSError: the system does not let the user open the file.
    """
    if not path.is_file():
        return b""
    with COMPRESSIONS.get(path.suffix.lower(), open)(path, "rb") as content:
        try:
            start: bytes = content.read(SAMPLE_SIZE)
        except DECOMPRESSION_ERRORS:  # reading the rows will raise an error
            return b""
    return start


def find_line_not_in_utf8(path: Path) -> int | None:
    """Return the number, from 1, of the first line that is not in UTF-8.

    Returns None if all lines are in UTF-8, or if the file cannot be decompressed. All lines up to
    this one are read.
    """
    decode = getincrementaldecoder("utf-8")().decode
    line_number = 1  # of the first character of the next block
    with COMPRESSIONS.get(path.suffix.lower(), open)(path, "rb") as content:
        try:
            while block := content.read(BLOCK_SIZE):
                decode(block)
                line_number += block.count(b"\n")
            decode(b"", final=True)  # fails if the last character is cut off
        except UnicodeDecodeError as error:
            return line_number + error.object.count(b"\n", 0, error.start)
        except DECOMPRESSION_ERRORS:  # reading the rows will raise an error
            return None
    return None


def find_delimiter(path: Path) -> str:
    """Return the delimiter of a CSV file: a tab for `.tsv`, or else what its first line shows.

    The first line is split at each of `DELIMITERS`. A comma wins if it splits the line at all; else
    the delimiter that makes the most fields. A line that none of them splits has commas.
    """
    if strip_compression(path).suffix.lower() == ".tsv":
        return "\t"
    lines = read_start(path).decode("utf-8", errors="replace").splitlines()
    field_counts = {
        delimiter: len(next(csv.reader(lines[:1], delimiter=delimiter), []))
        for delimiter in DELIMITERS
    }
    # Texts in a line with commas can contain many of the other delimiters.
    if field_counts[","] > 1:
        return ","
    return max(DELIMITERS, key=field_counts.__getitem__)


def parse_delimiter(argument: str) -> str:
    """Return the delimiter of an argument: one character, or `tab`.

    Raises:
        MatchRecognizeError: the argument is another text.
    """
    if argument in ("tab", "\\t"):  # a tab is hard to type
        return "\t"
    if len(argument) != 1:
        raise errors.malformed_delimiter(argument=argument)
    return argument
