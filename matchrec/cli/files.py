"""Files that a query reads as tables, and the file that its rows are written to."""

from __future__ import annotations

import bz2
import csv
import errno
import gzip
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from matchrec.cli.failures import busy, explain_spark_error, is_spark_error, tell
from matchrec.cli.rows import check_names, comes_as_arrow, kept, write_rows
from matchrec.errors import command as errors
from matchrec.errors.kinds import nearest, shortened
from matchrec.plan.text import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.spark.csv_files import CsvFile

FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
}
WRITTEN = {".csv": "csv", ".tsv": "tsv", ".json": "jsonl", ".jsonl": "jsonl", ".ndjson": "jsonl"}
COMPRESSIONS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open}
DELIMITERS = (",", ";", "\t", "|")
UTF_16_STARTS = (BOM_UTF16_LE, BOM_UTF16_BE)
BLOCK = 1 << 20  # bytes of a file that are read at once
SNIFFED = 10_000  # bytes of a file that tell what is in it
FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # that last as long as the program
PART_FOLDER = ".matchrec-"  # begins the name of a folder with a file that is not complete yet
WILDCARD = re.compile(r"[*?[]")
OF_GLOBS = re.compile(r"[\[\]{}*?\\,]")


@dataclass(frozen=True, slots=True)
class EmptyTable:
    """A table without rows, for `matchrec check`: `t: id INT, ts TIMESTAMP`."""

    name: str
    columns: str  # as in CREATE TABLE

    def register(self, spark: SparkSession, *, only_schema: bool = True) -> None:  # noqa: ARG002
        """Make it a temporary view. Raises MatchRecognizeError if Spark cannot read the columns."""
        try:
            frame = spark.createDataFrame([], self.columns)
        except Exception as error:
            if not is_spark_error(error):
                raise
            reason = explain_spark_error(error)
            raise errors.invalid_schema(name=self.name, reason=reason) from error
        create_view(frame, self.name)


def parse_schema(argument: str) -> EmptyTable:
    """Return the table of an argument such as `t: id INT, ts TIMESTAMP`."""
    name, colon, columns = argument.partition(":")
    if not (colon and columns.strip() and name.strip().isidentifier()):
        raise errors.malformed_schema(argument=argument)
    return EmptyTable(name.strip(), columns.strip())


@dataclass(frozen=True, slots=True)
class Table:
    """A name that the query uses and the files with its rows, of one format.

    root: the folder under which folders named `column=value` are columns of the table; None where
    Spark is to see that by itself. delimiter: of CSV; None where each file tells its own.
    """

    name: str
    files: tuple[Path, ...]
    format: str
    root: Path | None = None
    delimiter: str | None = None
    header: bool = True

    def register(self, spark: SparkSession, *, only_schema: bool = False) -> None:
        """Make the files a temporary view with the table's name.

        Args:
            spark: the session that gets the view.
            only_schema: make the view without rows, if only its columns matter.

        Raises:
            MatchRecognizeError: the files cannot be read, or have no column.
        """
        if self.format in ("csv", "json"):
            self.check_encoding()
        try:
            frame = self.read_csv(spark, only_schema) if self.format == "csv" else self.read(spark)
            columns = frame.columns
        except Exception as error:
            if not is_spark_error(error):
                raise
            path, reason = ", ".join(map(str, self.files)), explain_spark_error(error)
            raise errors.unreadable_table(name=self.name, path=path, reason=reason) from error
        if not columns:
            raise errors.empty_table(name=self.name, path=str(self.files[0]))
        create_view(frame.limit(0) if only_schema else frame, self.name)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the rows of Parquet or JSON files. The engine reads these itself."""
        from matchrec.spark.backends import backend_of

        if self.format == "json" and start_of(self.first_file()).lstrip().startswith(b"["):
            return self.by_lines().read(spark)
        reader = spark.read.format(self.format)
        if self.root is not None:
            reader = reader.option("basePath", str(self.root.absolute()))
        frame = reader.load([literal(file) for file in self.files])
        if self.format == "parquet" and backend_of(spark).engine == "Sail":
            from matchrec.spark.sail.files import casts_of_pandas

            if casts := casts_of_pandas(self.first_file()):
                frame = frame.withColumns(casts)
        return frame

    def read_csv(self, spark: SparkSession, only_schema: bool) -> DataFrame:
        """Return the rows of CSV files.

        The files are copied to Parquet files first, so that both engines have the same types and
        values. The copies last as long as the program.
        """
        from matchrec.spark.csv_files import infer_table, use_session_zone

        zone = str(spark.conf.get("spark.sql.session.timeZone"))
        with busy(f"Reading {self.files[0]}"):
            table = infer_table(self.name, list(self.find_csv_files()), zone)
            if table is None:
                raise errors.empty_table(name=self.name, path=str(self.files[0]))
            copies = table.write_parquet(make_temporary_folder(), only_schema=only_schema)
        for column in table.find_shortened_columns():
            tell(f"times of `{column}` of table `{self.name}` are cut to microseconds")
        # Spark asks for this setting for times before 1900, which other calendars wrote otherwise
        reader = spark.read.option("datetimeRebaseMode", "CORRECTED")
        return use_session_zone(reader.parquet(*map(str, copies)))

    def find_csv_files(self) -> Iterator[CsvFile]:
        """Return each file of the table, with the columns that folders around it are named by."""
        from matchrec.spark.csv_files import CsvFile, read_folder_columns

        for path in self.files:
            base = self.root or path
            for file in files_in(path):
                folders = read_folder_columns(file.relative_to(base)) if file != base else {}
                delimiter = self.delimiter or delimiter_of(file)
                yield CsvFile(file, delimiter, self.header, folders)

    def check_encoding(self) -> None:
        """Reads all of its files, as engines read them. Raises MatchRecognizeError for no UTF-8."""
        for file in (one for path in self.files for one in files_in(path)):
            if (line := first_line_of_no_utf8(file)) is not None:
                encoding = "utf-16" if start_of(file).startswith(UTF_16_STARTS) else "latin1"
                plain = bare(file)
                raise errors.not_in_utf8(
                    name=self.name,
                    path=str(file),
                    line=line,
                    encoding=encoding,
                    plain=shlex.quote(str(plain)),
                    suffix=plain.suffix.lower().lstrip(".") or self.format,
                )

    def by_lines(self) -> Table:
        """The table, where its JSON is in arrays, with an object a line, as all engines read it."""
        base, copy = self.root or self.files[0].parent, make_temporary_folder()

        def copied(path: Path) -> Path:
            return copy / bare(path).relative_to(base)

        for file in (one for path in self.files for one in files_in(path)):
            target = copied(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("w", encoding="utf-8") as lines:
                lines.writelines(f"{json.dumps(one)}\n" for one in self.objects_in(file))
        if not any(file.stat().st_size for file in files_in(copy)):
            raise errors.empty_table(name=self.name, path=str(self.files[0]))
        return replace(self, files=tuple(map(copied, self.files)), root=self.root and copy)

    def objects_in(self, file: Path) -> list[dict[str, Any]]:
        """The objects of a JSON file. Raises MatchRecognizeError where it is no array of those."""
        with COMPRESSIONS.get(file.suffix.lower(), open)(file, "rt", encoding="utf-8") as text:
            try:
                found = json.load(text)
            except ValueError as error:
                raise errors.no_json(name=self.name, path=str(file), reason=error) from error
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            reason = "it is an array of something else"
            raise errors.no_json(name=self.name, path=str(file), reason=reason)
        return found

    def first_file(self) -> Path:
        return next(files_in(self.files[0]), self.files[0])


def make_temporary_folder() -> Path:
    """Make a folder that is removed when the program ends, and return its path."""
    folder = tempfile.TemporaryDirectory(prefix="matchrec-")
    FOLDERS.append(folder)
    return Path(folder.name)


def create_view(frame: DataFrame, name: str) -> None:
    """Make a DataFrame a temporary view. name: an identifier of Python."""
    is_plain = name.isascii()  # Spark parses the name, and needs quotes around other letters
    frame.createOrReplaceTempView(name if is_plain else quoted(name))


def nearest_file(path: str) -> str | None:
    """What to write for a file that is not there: one beside it that has nearly its name."""
    folder = Path(path).parent
    names = (one.name for one in folder.iterdir()) if folder.is_dir() else ()
    near = nearest(Path(path).name, names)
    return near and f"write {folder / near}"


def read_query(path: str) -> str:
    """The query's text, from a file or, for `-`, from standard input."""
    if bare(Path(path)).suffix.lower() in FORMATS:
        stem = bare(Path(path)).stem
        raise errors.rows_for_query(path=path, name=stem if stem.isidentifier() else "events")
    if path != "-" and not Path(path).is_file():
        if len(path.split()) > 1:
            raise errors.no_such_query(path=shortened(path))
        raise errors.no_such_file(what="the query", path=path, cure=nearest_file(path))
    content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.not_a_text_file(path=path) from error


def table(argument: str) -> Table:
    """The table of a NAME=PATH argument, where PATH is a file, a folder, or a pattern of those."""
    name, equals, path = argument.partition("=")
    if not (equals and path and name.isidentifier()):
        raise errors.malformed_table(argument=argument)
    return table_of_path(name, path)


def table_of_path(name: str, path: str) -> Table:
    """Return the table of a file, a folder, or a pattern such as `parts/*.csv`.

    Raises:
        MatchRecognizeError: there is no such file, or its format is unknown.
    """
    if Path(path).exists():
        return Table(name, (Path(path),), format_of_table(name, Path(path)))
    root, pattern = split_pattern(path)
    if not (found := tuple(sorted(root.glob(pattern))) if pattern else ()):
        what = f"the file of table `{name}`,"
        raise errors.no_such_file(what=what, path=path, cure=nearest_file(path))
    if len(formats := {format_of_table(name, one) for one in found}) > 1:
        raise errors.several_formats(pattern=path, formats=sorted(formats))
    return Table(name, found, formats.pop(), root)


def format_of_table(name: str, path: Path) -> str:
    """The format that the name of a file or of the files in a folder tells, or else its content."""
    if path.is_dir() and path.suffix.lower() not in FORMATS:
        if (inside := next(files_in(path), None)) is None:
            reason = "it is a folder without files"
            raise errors.unreadable_table(name=name, path=str(path), reason=reason)
        return format_of_table(name, inside)
    return "parquet" if start_of(path).startswith(b"PAR1") else format_of(path)


def format_of(path: Path) -> str:
    """The format that a file's name tells.

    >>> format_of(Path("prices.csv.gz"))
    'csv'
    """
    if (suffix := bare(path).suffix.lower()) not in FORMATS:
        raise errors.unknown_format(path=str(path), known=list(FORMATS))
    return FORMATS[suffix]


def labels_table(argument: str) -> str:
    """The name of a table of labels. Raises MatchRecognizeError for that of a file."""
    if bare(Path(argument)).suffix.lower() in FORMATS:
        raise errors.file_for_table(path=argument)
    return argument


def bare(path: Path) -> Path:
    """The path without the suffix of a compression."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path


def files_in(path: Path) -> Iterator[Path]:
    """The files with rows under a path, in order; as in Spark, no name begins with `_` or `.`."""
    if not path.is_dir():
        yield path
        return
    for inside in sorted(path.iterdir()):
        if not inside.name.startswith(("_", ".")):
            yield from files_in(inside)


def split_pattern(path: str) -> tuple[Path, str]:
    """The folder below which a pattern of paths matches, and the rest, empty of a plain path.

    >>> split_pattern("data/year=*/*.csv")
    (PosixPath('data'), 'year=*/*.csv')
    """
    parts = Path(path).parts
    first = next((at for at, part in enumerate(parts) if WILDCARD.search(part)), len(parts))
    return Path(*parts[:first]), "/".join(parts[first:])


def literal(path: Path) -> str:
    """A path as Spark takes it, which reads patterns in it."""
    return OF_GLOBS.sub(r"\\\g<0>", str(path.absolute()))


def start_of(path: Path) -> bytes:
    """The first bytes of a file, or nothing where it cannot be read here."""
    if not path.is_file():
        return b""
    with COMPRESSIONS.get(path.suffix.lower(), open)(path, "rb") as content:
        try:
            start: bytes = content.read(SNIFFED)
        except (OSError, EOFError):  # not compressed as its name says: Spark tells
            return b""
    return start


def first_line_of_no_utf8(path: Path) -> int | None:
    decode, lines = getincrementaldecoder("utf-8")().decode, 1
    with COMPRESSIONS.get(path.suffix.lower(), open)(path, "rb") as content:
        try:
            while block := content.read(BLOCK):
                decode(block)
                lines += block.count(b"\n")
            decode(b"", True)
        except UnicodeDecodeError as error:
            return lines + error.object.count(b"\n", 0, error.start)
        except (OSError, EOFError):  # not compressed as its name says: Spark tells
            return None
    return None


def delimiter_of(path: Path) -> str:
    """What stands between the fields of a CSV file: what its name or else its first line tells."""
    if bare(path).suffix.lower() == ".tsv":
        return "\t"
    lines = start_of(path).decode("utf-8", errors="replace").splitlines()
    counts = {one: len(next(csv.reader(lines[:1], delimiter=one), [])) for one in DELIMITERS}
    # a comma where there is one outside of quotes, however many of the others there are
    return "," if counts[","] > 1 else max(DELIMITERS, key=counts.__getitem__)


def delimiter(argument: str) -> str:
    """The delimiter that an argument names: one character, or `tab`."""
    if argument in ("tab", "\\t"):  # a tab is hard to type
        return "\t"
    if len(argument) != 1:
        raise errors.malformed_delimiter(argument=argument)
    return argument


def writable(path: str, known: Sequence[str] = ()) -> Path:
    """Return the path of a file that can be written.

    Args:
        path: the file, which may exist. Its folder must exist.
        known: suffixes that its name may have; any if there are none.
    """
    if known and Path(path).suffix.lower() not in known:
        raise errors.unknown_format(path=path, known=known)
    check_target(Path(path))
    return Path(path)


def writable_table(path: str) -> Path:
    """Return the path of a file for rows. Its name ends with the format."""
    if path in ("-", "/dev/stdout"):
        raise errors.output_to_stdout(path=path)
    if format_of(Path(path)) == "parquet" and Path(path).suffix.lower() in COMPRESSIONS:
        raise errors.compressed_parquet(path=path)
    return writable(path)


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
        tempfile.TemporaryDirectory(prefix=PART_FOLDER, dir=folder).cleanup()
    except OSError as error:
        raise errors.output_folder_not_writable(path=str(path), reason=describe(error)) from error


def find_target(path: Path) -> Path:
    """Return the file that a path leads to. A symbolic link stays, and its file is written.

    Raises:
        MatchRecognizeError: the links lead in a circle.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise errors.output_not_writable(path=str(path), reason=describe(error)) from error
    return path.resolve()


def describe(error: OSError) -> str:
    """Return what the system says about an error, without the path."""
    return os.strerror(error.errno) if error.errno else str(error)


@contextmanager
def replace_when_complete(path: Path) -> Iterator[Path]:
    """Give the path of a file to write, and rename it to `path` at the end.

    The file is in a hidden folder beside `path`: on the same disk, so that the last step is one
    rename. If writing fails or the program is interrupted, `path` stays as it was.

    Raises:
        MatchRecognizeRunError: the system cannot write the file, as when the disk is full.
    """
    target = find_target(path)
    try:
        with tempfile.TemporaryDirectory(prefix=PART_FOLDER, dir=target.parent) as folder:
            part = Path(folder) / f"rows{''.join(target.suffixes[-2:])}"
            yield part
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
    except ConnectionError:  # to the engine, which computes rows meanwhile
        raise
    except OSError as error:
        raise errors.output_not_written(path=str(path), reason=describe(error)) from error


def write_text(path: Path, text: str) -> None:
    """Write a text file. The file appears when it is complete."""
    with replace_when_complete(path) as part:
        part.write_text(text, encoding="utf-8")


def write(frame: DataFrame, path: Path) -> int:
    """Write all rows to one file, in order, and return how many. It appears when it is complete."""
    with replace_when_complete(path) as part:
        if format_of(path) == "parquet":
            return write_parquet(frame, part)
        form = WRITTEN[bare(path).suffix.lower()]
        with COMPRESSIONS.get(path.suffix.lower(), open)(part, "wt", encoding="utf-8") as out:
            count, _ = write_rows(frame, form, None, nullcontext(), out)
        return count


def write_parquet(frame: DataFrame, path: Path) -> int:
    """Write all rows to a file that does not exist yet; return how many."""
    from matchrec.spark.transport import write_at_once

    check_names(frame.columns, "a Parquet file")
    if comes_as_arrow(frame):
        return write_at_once(frame, path)
    parts = path.with_name("parts")
    with kept(frame, nullcontext()) as (cached, rows):
        cached.coalesce(1).write.parquet(parts.absolute().as_uri())
        next(parts.glob("*.parquet")).rename(path)
        return rows
