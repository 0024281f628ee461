"""Estimate how many rows an input has, without running it.

The estimate is only good enough to choose a number of tasks: it counts all rows of the files that
an input reads, also those that a filter drops. Files on other machines are not looked at.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyarrow import ArrowException, parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

PARQUET = ".parquet"

# Of so many Parquet files, the footers are read. The others are taken to be like them.
SAMPLED_FILES = 3

# About how many bytes a row takes in a file of text, such as CSV.
BYTES_A_LINE = 64


def estimate_input_rows(rows: DataFrame) -> int:
    """Return about how many rows the files of an input have; 0 if there are none, or nobody knows.

    Asks the server for the names of the files.
    """
    try:
        paths = list_local_files(ask_for_files(rows))
        sizes = [path.stat().st_size for path in paths]
        return round(sum(sizes) * estimate_rows_per_byte(paths))
    except (PySparkException, ArrowException, OSError):
        return 0


def ask_for_files(rows: DataFrame) -> list[str]:
    """Return the addresses of the files that a DataFrame reads, as they are now.

    PySpark's own method keeps its answer, and with it the DataFrame and its rows, for ever.
    """
    method: Any = type(rows).inputFiles
    files: list[str] = getattr(method, "__wrapped__", method)(rows)
    return files


def list_local_files(addresses: list[str]) -> list[Path]:
    """Return the paths of the files that are on this machine."""
    urls = [urlsplit(address) for address in addresses]
    return [Path(unquote(url.path)) for url in urls if url.scheme == "file"]


def estimate_rows_per_byte(paths: list[Path]) -> float:
    """Return about how many rows a byte of some files has.

    Raises:
        ArrowException, OSError: a file cannot be read.
    """
    step = max(1, len(paths) // SAMPLED_FILES)
    sample = [path for path in paths[::step] if path.suffix == PARQUET]
    if not sample:
        return 1 / BYTES_A_LINE
    row_count = sum(int(parquet.read_metadata(path).num_rows) for path in sample)
    return row_count / max(1, sum(path.stat().st_size for path in sample))
