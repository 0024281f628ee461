"""Estimate how many rows an input has, without running it.

The estimate is only good enough to choose a number of tasks: it counts all rows of the files that
an input reads, even rows that a filter drops. It does not read files on other machines.

Sail's plan of an input shows what the input reads: see `remember_plan`. If the plan can read files
and does not name all of them, a request to the server returns their names. The number of rows
follows from the sizes of the files, and from the number of rows per byte in a few of them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyarrow import ArrowException, parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

PARQUET = ".parquet"

# The most Parquet files whose footers are read. The others are assumed to be like these.
MAX_SAMPLED_FILES = 3

# About how many bytes a row takes in a file of text, such as CSV.
BYTES_PER_LINE = 64

# In a plan of Sail: an operator, and its statistics if it has some, such as `Rows=Exact(3)`.
OPERATOR = re.compile(
    r"^ *(?P<name>\w+Exec)\b(?:.*statistics=\[Rows=(?P<exactness>\w+)(?:\((?P<rows>\d+)\))?)?",
    re.MULTILINE,
)

# In a plan of Sail: the text that marks an operator that reads files, and an operator that reads
# rows in memory. Other operators have neither.
FILES_MARKER = "file_groups="
MEMORY_MARKER = "partition_sizes="

# In an operator that reads files: the names of files in groups, such as
# `file_groups={2 groups: [[a.parquet:0..9], [b.parquet:0..9, c.parquet:9..20]]}`; the characters
# between two names; and the range of bytes that are read of a file.
FILE_GROUPS = re.compile(r"file_groups=\{\d+ groups?: \[\[(?P<files>.*?)\]\]\}")
FILE_SEPARATOR = re.compile(r"\]?, \[?")
BYTE_RANGE = re.compile(r":\d+\.\.\d+$")

# Operators whose output has at most as many rows as all of their inputs together.
OPERATORS_ADDING_NO_ROWS = {
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "DataSourceExec",
    "FilterExec",
    "ProjectionExec",
    "RepartitionExec",
    "UnionExec",
}

# The attribute of a DataFrame that holds the text of its plan.
PLAN_ATTRIBUTE = "_matchrec_plan"


def remember_plan(input_frame: DataFrame, plan: str) -> None:
    """Store the text of Sail's plan of an input in the input's DataFrame."""
    vars(input_frame)[PLAN_ATTRIBUTE] = plan


def recall_plan(input_frame: DataFrame) -> str:
    """Return the text that `remember_plan` has stored; "" if it has not stored any."""
    plan: str = vars(input_frame).get(PLAN_ATTRIBUTE, "")
    return plan


def has_few_rows(input_frame: DataFrame, file_row_count: int | None, max_rows: int) -> bool:
    """Return whether an input seems to have at most some number of rows.

    The plan of the input has the number of rows in memory; `estimate_input_rows` estimates the rows
    of files. Returns False if the plan does not bound the number of rows: a join can return more
    rows than it reads.

    Args:
        input_frame: the input.
        file_row_count: what `estimate_input_rows` returns for the input.
        max_rows: the number of rows.
    """
    plan = recall_plan(input_frame)
    if not bounds_row_count(plan):
        return False
    if FILES_MARKER in plan:
        # Rows in memory, which a UNION can add, are not part of `file_row_count`.
        reads_only_files = MEMORY_MARKER not in plan
        return reads_only_files and file_row_count is not None and file_row_count <= max_rows
    row_count = count_rows_in_memory(plan)
    return row_count is not None and row_count <= max_rows


def bounds_row_count(plan: str) -> bool:
    """Return whether the result of a plan has at most as many rows as the plan reads.

    >>> bounds_row_count("FilterExec: x@0 > 1\\n  DataSourceExec: partitions=1, ...\\n")
    True
    >>> bounds_row_count("HashJoinExec: mode=Partitioned")
    False
    """
    operators = {operator["name"] for operator in OPERATOR.finditer(plan)}
    return "DataSourceExec" in operators and operators <= OPERATORS_ADDING_NO_ROWS


def count_rows_in_memory(plan: str) -> int | None:
    """Return how many rows a plan with statistics reads from memory; None if that is not known.

    >>> count_rows_in_memory("DataSourceExec: partition_sizes=[1], statistics=[Rows=Exact(3), ...")
    3
    """
    sources = [
        operator for operator in OPERATOR.finditer(plan) if operator["name"] == "DataSourceExec"
    ]
    if not sources or any(source["exactness"] != "Exact" for source in sources):
        return None
    return sum(int(source["rows"]) for source in sources)


def estimate_input_rows(input_frame: DataFrame) -> int | None:
    """Estimate how many rows the files of an input have.

    A request to the server returns the names of the files, unless the plan of the input names all
    files or reads only rows in memory. The server names each file once, even if the input reads it
    twice.

    Returns:
        The number; None if the input reads no files, or files on other machines, or if a file
        cannot be read.
    """
    plan = recall_plan(input_frame)
    if FILES_MARKER not in plan and bounds_row_count(plan):
        return None
    try:
        paths = find_planned_files(plan) or list_local_files(request_file_addresses(input_frame))
        if not paths:
            return None
        sizes = [path.stat().st_size for path in paths]
        return round(sum(sizes) * estimate_rows_per_byte(paths))
    except (PySparkException, ArrowException, OSError):
        return None


def find_planned_files(plan: str) -> list[Path]:
    """Return the files that a plan reads, as often as it reads them: a UNION can read one twice.

    Returns no files if some are not known, or not on this machine. Sail's plan names only the first
    files of each group, and only the first groups. It does not say on which machine a file is.

    >>> plan = "DataSourceExec: file_groups={2 groups: [[%s:0..9], [%s:9..20]]}, file_type=parquet"
    >>> find_planned_files(plan % (__file__, __file__)) == [Path(__file__)]
    True
    >>> find_planned_files("DataSourceExec: file_groups={9 groups: [[a.parquet], ...]}")
    []
    """
    scans = list(FILE_GROUPS.finditer(plan))
    if len(scans) < plan.count(FILES_MARKER):
        return []  # groups are left out
    paths: list[Path] = []
    for scan in scans:
        names = FILE_SEPARATOR.split(scan["files"])
        paths_in_scan = [Path("/", unquote(BYTE_RANGE.sub("", name))) for name in names]
        paths += dict.fromkeys(paths_in_scan)  # several tasks can read parts of one file
    # Sail writes `...` for files that it leaves out, and there is no file of this name.
    return paths if all(path.is_file() for path in paths) else []


def request_file_addresses(input_frame: DataFrame) -> list[str]:
    """Return the addresses of the files that a DataFrame reads now, which the server knows.

    PySpark's own method has a cache, which would keep the DataFrame and its rows for ever. So this
    function calls the method without the cache.
    """
    method: Any = type(input_frame).inputFiles
    method_without_cache = getattr(method, "__wrapped__", method)
    addresses: list[str] = method_without_cache(input_frame)
    return addresses


def list_local_files(addresses: list[str]) -> list[Path]:
    """Return the paths of the files that are on this machine."""
    urls = [urlsplit(address) for address in addresses]
    return [Path(unquote(url.path)) for url in urls if url.scheme == "file"]


def estimate_rows_per_byte(paths: list[Path]) -> float:
    """Estimate how many rows a byte of some files holds, usually much less than 1.

    Args:
        paths: the files, at least one. Only the footers of a few Parquet files among them are read.

    Raises:
        ArrowException, OSError: a file cannot be read.
    """
    step = math.ceil(len(paths) / MAX_SAMPLED_FILES)
    sample = [path for path in paths[::step] if path.suffix == PARQUET]
    if not sample:
        return 1 / BYTES_PER_LINE
    row_count = sum(int(parquet.read_metadata(path).num_rows) for path in sample)
    return row_count / sum(path.stat().st_size for path in sample)
