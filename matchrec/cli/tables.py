"""The tables of a query on the command line, which become temporary views of the session.

A `Table` has files, and an `EmptyTable` only columns. The engine reads Parquet and JSON itself. CSV
is copied to Parquet, and JSON arrays to JSON lines, so that both engines see the same rows.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tempfile
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from matchrec.cli.engine_errors import explain_engine_error, is_engine_error
from matchrec.cli.files import (
    COMPRESSIONS,
    DECOMPRESSION_ERRORS,
    FileFormat,
    find_delimiter,
    find_files,
    find_line_not_in_utf8,
    read_start,
    strip_compression,
)
from matchrec.cli.messages import print_notice, show_busy
from matchrec.cli.schemas import make_empty_frame
from matchrec.errors import MatchRecognizeError
from matchrec.errors import tables as errors
from matchrec.errors.wording import join_names
from matchrec.plan.text import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.spark.csv_files import CsvFile, CsvTable

UTF_16_STARTS = (BOM_UTF16_LE, BOM_UTF16_BE)

# The temporary folders of the program. A folder is removed when its object is freed, so the list
# keeps the objects until the program ends.
TEMPORARY_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []

# The characters that Spark takes for wildcards in a path.
SPECIAL_IN_GLOBS = re.compile(r"[\[\]{}*?\\,]")


@dataclass(frozen=True, slots=True)
class EmptyTable:
    """A table without rows, for `matchrec check`: `t: id INT, ts TIMESTAMP`."""

    name: str
    # The names and types of the columns, as in CREATE TABLE.
    columns: str

    def register(self, spark: SparkSession, *, only_schema: bool = True) -> None:  # noqa: ARG002
        """Make the table a temporary view, which never has rows.

        Args:
            spark: the session that gets the view.
            only_schema: has no effect; other tables have this argument.

        Raises:
            click.UsageError: the columns have a mistake.
        """
        try:
            frame = make_empty_frame(spark, self.name, self.columns)
        except MatchRecognizeError as error:
            raise click.UsageError(str(error)) from error
        create_view(frame, self.name)


@dataclass(frozen=True, slots=True)
class Table:
    """A name that the query uses, and the files with its rows."""

    name: str
    # The files, or folders of files.
    paths: tuple[Path, ...]
    file_format: FileFormat
    # The folder under which folders named `column=value` are columns of the table. None if the user
    # named a single file or folder.
    root: Path | None = None
    # The delimiter of CSV files; None to detect it in each file.
    delimiter: str | None = None
    # Whether the first line of a CSV file names the columns.
    header: bool = True

    def register(self, spark: SparkSession, *, only_schema: bool = False) -> None:
        """Make the files a temporary view with the table's name.

        Args:
            spark: the session that gets the view.
            only_schema: make the view without rows, if only its columns matter.

        Raises:
            MatchRecognizeError: the files cannot be read, or have no column.
        """
        if self.file_format is not FileFormat.PARQUET:
            self.check_encoding()
        try:
            if self.file_format is FileFormat.CSV:
                frame = self.read_csv(spark, only_schema=only_schema)
            else:
                frame = self.read_parquet_or_json(spark)
            columns = frame.columns
        except Exception as error:
            if not is_engine_error(error):
                raise
            if self.file_format is FileFormat.JSON:
                self.check_json_lines()
            path = ", ".join(str(path) for path in self.paths)
            reason = explain_engine_error(error)
            raise errors.unreadable_table(name=self.name, path=path, reason=reason) from error
        if not columns:
            raise errors.empty_table(name=self.name, path=str(self.paths[0]))
        create_view(frame.limit(0) if only_schema else frame, self.name)

    def read_parquet_or_json(self, spark: SparkSession) -> DataFrame:
        """Return the rows of Parquet or JSON files, which the engine reads itself."""
        from matchrec.spark.backends import find_backend

        reader = spark.read.format(self.file_format.value)
        if self.file_format is FileFormat.JSON:
            if any(needs_copy(file) for file in self.find_all_files()):
                return self.copy_to_lines().read_parquet_or_json(spark)
            # By default, a malformed line becomes a row of NULLs on Spark.
            reader = reader.option("mode", "FAILFAST")
        if self.root is not None:
            reader = reader.option("basePath", str(self.root.absolute()))
        frame = reader.load([escape_wildcards(path) for path in self.paths])
        if self.file_format is FileFormat.PARQUET:
            return find_backend(spark).cast_unreadable_columns(frame, self.find_first_file())
        return frame

    def read_csv(self, spark: SparkSession, *, only_schema: bool) -> DataFrame:
        """Return the rows of CSV files.

        The files are copied to Parquet files first, so that both engines have the same types and
        values. The copies last as long as the program.

        Args:
            spark: the session.
            only_schema: copy the columns and no rows.
        """
        from matchrec.spark.csv_files import infer_table, use_session_zone

        zone = str(spark.conf.get("spark.sql.session.timeZone"))
        with show_busy(f"Reading {self.paths[0]}"):
            inferred_table = infer_table(self.name, list(self.find_csv_files()), zone)
            if inferred_table is None:
                raise errors.empty_table(name=self.name, path=str(self.paths[0]))
            folder = make_temporary_folder()
            copies = (
                [inferred_table.write_schema(folder)]
                if only_schema
                else inferred_table.write_parquet(folder)
            )
        for notice in describe_changes(self.name, inferred_table):
            print_notice(notice)
        # Without this setting, Spark rejects times before 1900, because old versions wrote them in
        # another calendar.
        reader = spark.read.option("datetimeRebaseMode", "CORRECTED")
        return use_session_zone(reader.parquet(*map(str, copies)))

    def find_csv_files(self) -> Iterator[CsvFile]:
        """Yield each file of the table, with the columns in the names of its folders."""
        from matchrec.spark.csv_files import CsvFile, read_folder_columns

        for path in self.paths:
            root = self.root or path
            for file in find_files(path):
                is_in_folder = file != root
                columns = read_folder_columns(file.relative_to(root)) if is_in_folder else {}
                delimiter = self.delimiter or find_delimiter(file)
                yield CsvFile(
                    path=file, delimiter=delimiter, has_header=self.header, folder_columns=columns
                )

    def find_all_files(self) -> Iterator[Path]:
        """Yield all files of the table, in order."""
        for path in self.paths:
            yield from find_files(path)

    def check_encoding(self) -> None:
        """Check that all files are in UTF-8, as engines read them. All bytes are read.

        Raises:
            MatchRecognizeError: a file is not in UTF-8.
        """
        for file in self.find_all_files():
            line = find_line_not_in_utf8(file)
            if line is None:
                continue
            likely_encoding = "utf-16" if read_start(file).startswith(UTF_16_STARTS) else "latin1"
            uncompressed = strip_compression(file)
            raise errors.not_in_utf8(
                name=self.name,
                path=str(file),
                line=line,
                encoding=likely_encoding,
                plain=shlex.quote(str(uncompressed)),
                suffix=uncompressed.suffix.lower().lstrip(".") or self.file_format.value,
            )

    def check_json_lines(self) -> None:
        """Check that each line of the JSON files is an object or blank.

        Raises:
            MatchRecognizeError: a line is neither, or a file cannot be decompressed.
        """
        for file in self.find_all_files():
            with self.open_text(file) as lines:
                for number, line in enumerate(lines, 1):
                    problem = find_problem_of_json_line(line)
                    if problem is not None:
                        raise errors.malformed_json_line(
                            name=self.name, path=str(file), line=number, reason=problem
                        )

    def copy_to_lines(self) -> Table:
        """Copy JSON files to files with one object per line, and return the table of the copies.

        Both engines read such files, which have no byte order marks. The copies last as long as the
        program.

        Raises:
            MatchRecognizeError: an array has a value that is not an object, the files have no
                objects, or a file cannot be decompressed.
        """
        root = self.root or self.paths[0].parent
        new_root = make_temporary_folder()
        for file in self.find_all_files():
            copy = locate_copy(file, root, new_root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("w", encoding="utf-8") as lines:
                if is_json_array(file):
                    for json_object in self.read_objects(file):
                        lines.write(f"{json.dumps(json_object)}\n")
                else:
                    with self.open_text(file) as original_lines:
                        shutil.copyfileobj(original_lines, lines)
        if not any(copy.stat().st_size for copy in find_files(new_root)):
            raise errors.empty_table(name=self.name, path=str(self.paths[0]))
        copies = tuple(locate_copy(path, root, new_root) for path in self.paths)
        return replace(self, paths=copies, root=None if self.root is None else new_root)

    def read_objects(self, file: Path) -> list[dict[str, Any]]:
        """Return the objects in a JSON file that is an array.

        Raises:
            MatchRecognizeError: the file is not an array of objects, or cannot be decompressed.
        """
        with self.open_text(file) as text:
            try:
                content = json.load(text)
            except ValueError as error:
                raise errors.malformed_json(name=self.name, path=str(file), reason=error) from error
        if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
            reason = "it is an array of something else"
            raise errors.malformed_json(name=self.name, path=str(file), reason=reason)
        return content

    @contextmanager
    def open_text(self, file: Path) -> Iterator[IO[str]]:
        """Open a file in UTF-8, perhaps compressed, for reading. A byte order mark is left out.

        Raises:
            MatchRecognizeError: the file cannot be read or decompressed, also in the `with` block.
        """
        opener = COMPRESSIONS.get(file.suffix.lower(), open)
        try:
            with opener(file, "rt", encoding="utf-8-sig") as text:
                yield text
        except DECOMPRESSION_ERRORS as error:
            raise errors.unreadable_table(
                name=self.name, path=str(file), reason=str(error)
            ) from error

    def find_first_file(self) -> Path:
        """Return the first file of the table; its first folder if the folder has no files."""
        return next(find_files(self.paths[0]), self.paths[0])


def describe_changes(table_name: str, inferred_table: CsvTable) -> Iterator[str]:
    """Yield notices about columns of CSV files that the user may not find as expected.

    Args:
        table_name: the name of the table.
        inferred_table: the table, with the names and types that its columns get.
    """
    for name, new_names in inferred_table.files[0].find_renamed_columns().items():
        yield f"the columns `{name}` of table `{table_name}` are named {join_names(new_names)}"
    for column in inferred_table.find_shortened_columns():
        yield f"times of `{column}` of table `{table_name}` are cut to microseconds"
    for column, reason in inferred_table.string_reasons.items():
        result = f"the column `{column}` of table `{table_name}` is a STRING"
        yield f"{result}, {reason.describe(column)}"


def locate_copy(path: Path, root: Path, new_root: Path) -> Path:
    """Return the path of the uncompressed copy of a JSON file, or of the folder with its copies.

    The copy of a file has the whole name of the file in its name, so that `a.json` and `a.json.gz`
    of one folder get different copies.

    Args:
        path: the file or folder.
        root: a folder above it.
        new_root: the folder with the copies of all that is in `root`.
    """
    relative_path = path.relative_to(root)
    if path.is_dir():
        return new_root / relative_path
    return new_root / relative_path.with_name(f"{path.name}.json")


def needs_copy(file: Path) -> bool:
    """Return whether a JSON file must be copied, because not every engine reads it as it is.

    No engine reads an array of many lines, and Sail does not read a byte order mark.
    """
    return read_start(file).startswith(BOM_UTF8) or is_json_array(file)


def is_json_array(file: Path) -> bool:
    """Return whether the content of a JSON file is an array, by its first bytes."""
    return read_start(file).removeprefix(BOM_UTF8).lstrip().startswith(b"[")


def find_problem_of_json_line(line: str) -> str | None:
    """Return why a line is not a JSON object; None for an object and for a blank line.

    >>> find_problem_of_json_line('{"n": 1}'), find_problem_of_json_line("[1]")
    (None, 'it is something else')
    """
    if not line.strip():
        return None
    try:
        value = json.loads(line.rstrip())
    except json.JSONDecodeError as error:
        return f"{error.msg} at column {error.colno}"
    return None if isinstance(value, dict) else "it is something else"


def make_temporary_folder() -> Path:
    """Make a folder that is removed when the program ends, and return its path."""
    folder = tempfile.TemporaryDirectory(prefix="matchrec-")
    TEMPORARY_FOLDERS.append(folder)
    return Path(folder.name)


def create_view(frame: DataFrame, name: str) -> None:
    """Make a DataFrame a temporary view.

    Args:
        frame: the rows of the view.
        name: the name of the view, an identifier of Python.
    """
    # Spark parses the name, and needs quotes around letters that are not in ASCII.
    frame.createOrReplaceTempView(name if name.isascii() else quote_name(name))


def escape_wildcards(path: Path) -> str:
    """Return a path as Spark reads it, with backslashes before characters that are wildcards."""
    return SPECIAL_IN_GLOBS.sub(r"\\\g<0>", str(path.absolute()))
