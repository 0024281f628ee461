"""The tables of a query on the command line: files, folders, patterns of these, or columns alone.

A table of `--table` may be a file, a folder, or a pattern such as `parts/*.csv`. A table of
`--schema` has columns and no rows.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.cli.engine_errors import explain_engine_error, is_engine_error
from matchrec.cli.files import (
    COMPRESSIONS,
    FILE_FORMATS,
    FileFormat,
    find_delimiter,
    find_files,
    find_format,
    find_line_not_in_utf8,
    read_start,
    strip_compression,
    suggest_nearest_file,
)
from matchrec.cli.messages import print_notice, show_busy
from matchrec.errors import command as errors
from matchrec.plan.text import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.spark.csv_files import CsvFile

UTF_16_STARTS = (BOM_UTF16_LE, BOM_UTF16_BE)
TEMPORARY_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []  # kept here until the program ends
WILDCARD = re.compile(r"[*?[]")
SPECIAL_IN_GLOBS = re.compile(r"[\[\]{}*?\\,]")


@dataclass(frozen=True, slots=True)
class EmptyTable:
    """A table without rows, for `matchrec check`: `t: id INT, ts TIMESTAMP`."""

    name: str
    columns: str  # as in CREATE TABLE

    def register(self, spark: SparkSession, *, only_schema: bool = True) -> None:  # noqa: ARG002
        """Make the table a temporary view.

        Raises:
            MatchRecognizeError: Spark cannot read the columns.
        """
        try:
            frame = spark.createDataFrame([], self.columns)
        except Exception as error:
            if not is_engine_error(error):
                raise
            reason = explain_engine_error(error)
            raise errors.invalid_schema(name=self.name, reason=reason) from error
        create_view(frame, self.name)


def parse_schema(argument: str) -> EmptyTable:
    """Return the table of an argument such as `t: id INT, ts TIMESTAMP`."""
    name, colon, columns = argument.partition(":")
    if not (colon and columns.strip() and name.strip().isidentifier()):
        raise errors.malformed_schema(argument=argument, example=suggest_schema(name, columns))
    return EmptyTable(name.strip(), columns.strip())


def suggest_schema(name: str, columns: str) -> str:
    """Return an example of a schema, with the parts of a malformed one that are right.

    >>> suggest_schema("stocks", ""), suggest_schema("id INT, x DOUBLE", "")
    ('stocks: id INT, ts TIMESTAMP', 'NAME: id INT, x DOUBLE')
    >>> suggest_schema("stocks id INT, x DOUBLE", "")
    'stocks: id INT, x DOUBLE'
    """
    first_column = name.partition(",")[0].split()
    if not columns and len(first_column) == 3 and first_column[0].isidentifier():
        # A name, then a column and its type: only the colon is missing.
        return f"{first_column[0]}: {name.strip().removeprefix(first_column[0]).strip()}"
    if name.strip().isidentifier():
        return f"{name.strip()}: id INT, ts TIMESTAMP"
    return f"NAME: {columns.strip() or name.strip() or 'id INT, ts TIMESTAMP'}"


@dataclass(frozen=True, slots=True)
class Table:
    """A name that the query uses, and the files with its rows."""

    name: str
    files: tuple[Path, ...]  # or folders
    file_format: FileFormat
    # The folder under which folders named `column=value` are columns of the table. None if Spark
    # finds it by itself, as under a single folder.
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
                frame = self.read_csv(spark, only_schema)
            else:
                frame = self.read(spark)
            columns = frame.columns
        except Exception as error:
            if not is_engine_error(error):
                raise
            path = ", ".join(str(file) for file in self.files)
            reason = explain_engine_error(error)
            raise errors.unreadable_table(name=self.name, path=path, reason=reason) from error
        if not columns:
            raise errors.empty_table(name=self.name, path=str(self.files[0]))
        create_view(frame.limit(0) if only_schema else frame, self.name)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the rows of Parquet or JSON files. The engine reads these itself."""
        from matchrec.spark.backends import find_backend

        is_json = self.file_format is FileFormat.JSON
        if is_json and read_start(self.find_first_file()).lstrip().startswith(b"["):
            return self.copy_arrays_to_lines().read(spark)
        reader = spark.read.format(self.file_format.value)
        if self.root is not None:
            reader = reader.option("basePath", str(self.root.absolute()))
        frame = reader.load([escape_wildcards(file) for file in self.files])
        if self.file_format is FileFormat.PARQUET and find_backend(spark).engine == "Sail":
            from matchrec.spark.sail.files import find_casts

            casts = find_casts(self.find_first_file())
            if casts:
                frame = frame.withColumns(casts)
        return frame

    def read_csv(self, spark: SparkSession, only_schema: bool) -> DataFrame:
        """Return the rows of CSV files.

        The files are copied to Parquet files first, so that both engines have the same types and
        values. The copies last as long as the program.
        """
        from matchrec.spark.csv_files import infer_table, use_session_zone

        zone = str(spark.conf.get("spark.sql.session.timeZone"))
        with show_busy(f"Reading {self.files[0]}"):
            table = infer_table(self.name, list(self.find_csv_files()), zone)
            if table is None:
                raise errors.empty_table(name=self.name, path=str(self.files[0]))
            copies = table.write_parquet(make_temporary_folder(), only_schema=only_schema)
        for column in table.find_shortened_columns():
            print_notice(f"times of `{column}` of table `{self.name}` are cut to microseconds")
        # Without this setting, Spark rejects times before 1900, because old versions wrote them in
        # another calendar.
        reader = spark.read.option("datetimeRebaseMode", "CORRECTED")
        return use_session_zone(reader.parquet(*map(str, copies)))

    def find_csv_files(self) -> Iterator[CsvFile]:
        """Yield each file of the table, with the columns in the names of its folders."""
        from matchrec.spark.csv_files import CsvFile, read_folder_columns

        for path in self.files:
            base = self.root or path
            for file in find_files(path):
                folders = read_folder_columns(file.relative_to(base)) if file != base else {}
                delimiter = self.delimiter or find_delimiter(file)
                yield CsvFile(file, delimiter, self.header, folders)

    def find_all_files(self) -> Iterator[Path]:
        """Yield all files of the table, in order."""
        for path in self.files:
            yield from find_files(path)

    def check_encoding(self) -> None:
        """Check that all files are in UTF-8, as engines read them. Reads them from end to end.

        Raises:
            MatchRecognizeError: a file is not.
        """
        for file in self.find_all_files():
            line = find_line_not_in_utf8(file)
            if line is not None:
                encoding = "utf-16" if read_start(file).startswith(UTF_16_STARTS) else "latin1"
                plain = strip_compression(file)
                raise errors.not_in_utf8(
                    name=self.name,
                    path=str(file),
                    line=line,
                    encoding=encoding,
                    plain=shlex.quote(str(plain)),
                    suffix=plain.suffix.lower().lstrip(".") or self.file_format.value,
                )

    def copy_arrays_to_lines(self) -> Table:
        """Return a copy of a table of JSON arrays, with an object in each line.

        Both engines read this form. The copy lasts as long as the program.

        Raises:
            MatchRecognizeError: a file is not an array of objects, or there are no objects.
        """
        root = self.root or self.files[0].parent
        new_root = make_temporary_folder()

        def find_copy(path: Path) -> Path:
            """Return the path of the copy of a file or folder."""
            return new_root / strip_compression(path).relative_to(root)

        for file in self.find_all_files():
            copy = find_copy(file)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("w", encoding="utf-8") as lines:
                for json_object in self.read_objects(file):
                    lines.write(f"{json.dumps(json_object)}\n")
        if not any(copy.stat().st_size for copy in find_files(new_root)):
            raise errors.empty_table(name=self.name, path=str(self.files[0]))
        copies = tuple(find_copy(path) for path in self.files)
        return replace(self, files=copies, root=self.root and new_root)

    def read_objects(self, file: Path) -> list[dict[str, Any]]:
        """Return the objects in a JSON file.

        Raises:
            MatchRecognizeError: the file is not an array of objects.
        """
        with COMPRESSIONS.get(file.suffix.lower(), open)(file, "rt", encoding="utf-8") as text:
            try:
                content = json.load(text)
            except ValueError as error:
                raise errors.malformed_json(name=self.name, path=str(file), reason=error) from error
        if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
            reason = "it is an array of something else"
            raise errors.malformed_json(name=self.name, path=str(file), reason=reason)
        return content

    def find_first_file(self) -> Path:
        """Return the first file of the table, or its folder if that is empty."""
        return next(find_files(self.files[0]), self.files[0])


def make_temporary_folder() -> Path:
    """Make a folder that is removed when the program ends, and return its path."""
    folder = tempfile.TemporaryDirectory(prefix="matchrec-")
    TEMPORARY_FOLDERS.append(folder)
    return Path(folder.name)


def create_view(frame: DataFrame, name: str) -> None:
    """Make a DataFrame a temporary view.

    Args:
        frame: the DataFrame.
        name: the name of the view, an identifier of Python.
    """
    # Spark parses the name, and needs quotes around letters that are not in ASCII.
    frame.createOrReplaceTempView(name if name.isascii() else quote_name(name))


def parse_table(argument: str) -> Table:
    """Return the table of an argument NAME=PATH: a file, a folder, or a pattern for these.

    Raises:
        MatchRecognizeError: the argument has another form, there is no such file, or its format is
            unknown.
    """
    name, equals, path = argument.partition("=")
    if not (equals and path and name.isidentifier()):
        raise errors.malformed_table(argument=argument, example=suggest_table(name, path))
    return make_table(name, path)


def suggest_table(name: str, path: str) -> str:
    """Return NAME=PATH with the parts of a malformed argument that are right.

    >>> [suggest_table(*parts) for parts in [("a/b.csv", ""), ("t", ""), ("2-x", "x.csv")]]
    ['b=a/b.csv', 't=FILE', 'x=x.csv']
    """
    if path or not name.isidentifier():
        path = path or name
        stem = re.sub(r"\W", "_", Path(path).stem)
        name = stem if stem.isidentifier() else "NAME"
    return f"{name}={path or 'FILE'}"


def make_table(name: str, path: str) -> Table:
    """Return the table of a file, a folder, or a pattern such as `parts/*.csv`.

    Raises:
        MatchRecognizeError: there is no such file, or its format is unknown.
    """
    if Path(path).exists():
        return Table(name, (Path(path),), find_table_format(name, Path(path)))
    root, pattern = split_pattern(path)
    paths = tuple(sorted(root.glob(pattern))) if pattern else ()
    if not paths:
        raise errors.no_such_file(
            what="the file", path=path, hint=suggest_nearest_file(path), owner=f" of table `{name}`"
        )
    formats = {find_table_format(name, path) for path in paths}
    if len(formats) > 1:
        format_names = sorted(file_format.value for file_format in formats)
        raise errors.several_formats(pattern=path, formats=format_names)
    return Table(name, paths, formats.pop(), root)


def find_table_format(name: str, path: Path) -> FileFormat:
    """Return the format of a file, or of the files in a folder.

    A Parquet file is recognised by its content, all others by their names.

    Args:
        name: the name of the table, for the error.
        path: the file or folder.

    Raises:
        MatchRecognizeError: the format is unknown, or the folder is empty.
    """
    if path.is_dir() and path.suffix.lower() not in FILE_FORMATS:
        first_file = next(find_files(path), None)
        if first_file is None:
            reason = "it is a folder without files"
            raise errors.unreadable_table(name=name, path=str(path), reason=reason)
        return find_table_format(name, first_file)
    is_parquet = read_start(path).startswith(b"PAR1")
    return FileFormat.PARQUET if is_parquet else find_format(path)


def parse_labels(argument: str) -> str:
    """Return the argument if it is the name of a table.

    Raises:
        MatchRecognizeError: it is the name of a file.
    """
    if strip_compression(Path(argument)).suffix.lower() in FILE_FORMATS:
        raise errors.file_for_table(path=argument)
    return argument


def split_pattern(path: str) -> tuple[Path, str]:
    """Return the folder below which a pattern of paths matches, and the pattern from there.

    The second is empty if the path has no wildcards.

    >>> split_pattern("data/year=*/*.csv")
    (PosixPath('data'), 'year=*/*.csv')
    """
    parts = Path(path).parts
    for index, part in enumerate(parts):
        if WILDCARD.search(part):
            return Path(*parts[:index]), "/".join(parts[index:])
    return Path(*parts), ""


def escape_wildcards(path: Path) -> str:
    """Return a path for Spark, which would take some of its characters for wildcards."""
    return SPECIAL_IN_GLOBS.sub(r"\\\g<0>", str(path.absolute()))
