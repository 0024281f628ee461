"""Files that a query reads as tables, and the file that its rows are written to."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.errors import command as errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
}
COMPRESSIONS = (".gz", ".bz2", ".zst")


@dataclass(frozen=True, slots=True)
class Table:
    """A name that the query uses and the file with its rows."""

    name: str
    path: Path
    format: str

    def register(self, spark: SparkSession) -> None:
        """Makes the file a view of that name, column types read from the file."""
        reader = spark.read.format(self.format)
        if self.format == "csv":
            reader = reader.options(header=True, inferSchema=True)
        if self.format == "json" and starts_an_array(self.path):
            reader = reader.options(multiLine=True)
        reader.load(str(self.path.absolute())).createOrReplaceTempView(f"`{self.name}`")


def read_query(path: str) -> str:
    """The query's text, from a file or, for `-`, from standard input."""
    if path == "-":
        return sys.stdin.read()
    if not Path(path).is_file():
        raise errors.no_such_file(path, "the query")
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise errors.not_a_text_file(path) from error


def different(tables: tuple[Table, ...]) -> tuple[Table, ...]:
    """The same tables. Raises MatchRecognizeError where two have one name."""
    names = [table.name.upper() for table in tables]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise errors.repeated_table(tables[at].name)
    return tables


def table(argument: str) -> Table:
    """The table of a NAME=PATH argument."""
    name, equals, path = argument.partition("=")
    if not (equals and path and name.isidentifier()):
        raise errors.malformed_table(argument)
    if not Path(path).exists():
        raise errors.no_such_file(path, f"the file of table `{name}`,")
    return Table(name, Path(path), format_of(Path(path)))


def format_of(path: Path) -> str:
    """The format that a file's name tells.

    >>> format_of(Path("prices.csv.gz"))
    'csv'
    """
    bare = path.with_suffix("") if path.suffix in COMPRESSIONS else path
    if bare.suffix.lower() not in FORMATS:
        raise errors.unknown_format(str(path), FORMATS)
    return FORMATS[bare.suffix.lower()]


def starts_an_array(path: Path) -> bool:
    """Whether a JSON file is one array, rather than an object on each line."""
    if path.is_dir() or path.suffix in COMPRESSIONS:
        return False
    with path.open("rb") as file:
        return file.read(1000).lstrip().startswith(b"[")


def writable(path: str) -> Path:
    """The path of a file in a folder that is there."""
    if not Path(path).absolute().parent.is_dir():
        raise errors.no_such_folder(path)
    return Path(path)


def writable_table(path: str) -> Path:
    """The same, of a file whose name tells its format."""
    format_of(Path(path))
    return writable(path)


def write(frame: DataFrame, path: Path) -> int:
    """Writes all rows to one file, in their order, with Spark's own writer; returns how many.

    The rows are computed in parallel and kept, then written by one task; `coalesce(1)` alone would
    make one task of the match as well.
    """
    kept = frame.cache()
    count = kept.count()
    with tempfile.TemporaryDirectory(prefix="matchrec-") as folder:
        writer = kept.coalesce(1).write.mode("overwrite").format(format_of(path))
        writer.options(header=True).save(folder)
        part = next(Path(folder).glob("part-*"))
        shutil.move(part, path)
    kept.unpersist()
    return count
