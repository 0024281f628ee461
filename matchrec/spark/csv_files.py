"""Write CSV files as Parquet files, so that every engine reads the same types and the same values.

Spark and Sail split lines into fields by different rules, and choose different types. So Arrow
reads the text instead, in two passes that keep one block of rows in memory:

1. `infer_table` finds the first type that fits all values of each column: see `csv_types`.
2. `CsvTable.write_parquet` converts the values and writes them to Parquet files.

An empty field is NULL. A quoted empty field is an empty text in a STRING column, and NULL in a
column of another type. Spaces around a value are a part of a text, and are ignored in every other
type.
"""

from __future__ import annotations

import bz2
import csv as python_csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import csv, parquet

from matchrec.errors import tables as errors
from matchrec.errors.kinds import format_labelled
from matchrec.errors.wording import show_count
from matchrec.plan.text import quote_name
from matchrec.spark.csv_types import ArrowArray, CsvColumn, build_type_chains, find_arrow_zone

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The number of bytes that Arrow splits into rows at once. A longer row is an error.
BLOCK_SIZE = 32 << 20
# The value in the name of a folder if the column is NULL: `column=__HIVE_DEFAULT_PARTITION__`.
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
# Arrow's message about a row that does not have as many fields as the first row.
RAGGED = re.compile(r"Expected (?P<wanted>\d+) columns, got (?P<count>\d+): (?P<row>.*)", re.DOTALL)
# The functions that open compressed files, by the ends of their names.
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file and its format."""

    path: Path
    delimiter: str
    has_header: bool
    # The columns that the folders around the file define by their names, such as `year=2024`, with
    # their value in all rows of the file; None for NULL.
    folder_columns: dict[str, str | None] = field(default_factory=dict)

    def read_first_row(self) -> tuple[int, list[str]]:
        """Return the number of empty lines before the first row, and the fields of this row.

        The list is empty if the file has no row.
        """
        open_file = OPENERS.get(self.path.suffix.lower(), open)
        with open_file(self.path, "rt", encoding="utf-8-sig", newline="") as lines:
            for index, row in enumerate(python_csv.reader(lines, delimiter=self.delimiter)):
                if row:
                    return index, row
        return 0, []

    def find_ragged_line(self, wanted: int) -> int | None:
        """Return the number of the first line, from 1, whose row has another number of fields.

        Returns None if no row has another number, or if a row cannot be read.

        Args:
            wanted: the number of fields of the first row.
        """
        open_file = OPENERS.get(self.path.suffix.lower(), open)
        with (
            suppress(OSError, ValueError, python_csv.Error),
            open_file(self.path, "rt", encoding="utf-8-sig", newline="") as lines,
        ):
            rows = python_csv.reader(lines, delimiter=self.delimiter)
            first_line = 1
            for row in rows:
                if row and len(row) != wanted:
                    return first_line
                first_line = rows.line_num + 1
        return None

    def read_column_names(self) -> list[str]:
        """Return the names of the columns. All of them are different.

        As in Spark, a column without a name is named by its index, such as `_c0`, and the index is
        appended to a name that several columns have: `a, b, A` becomes `a0, b, A2`. If another
        column has the new name, `_` is appended, too.
        """
        _, header = self.read_first_row()
        if not self.has_header:
            return [f"_c{index}" for index in range(len(header))]
        lower_names = [name.lower() for name in header]
        taken_names = set(lower_names)
        names = []
        for index, name in enumerate(header):
            if name and lower_names.count(name.lower()) == 1:
                names.append(name)
                continue
            new_name = f"{name}{index}" if name else f"_c{index}"
            while new_name.lower() in taken_names:
                new_name += "_"
            taken_names.add(new_name.lower())
            names.append(new_name)
        return names

    def find_renamed_columns(self) -> dict[str, list[str]]:
        """Return the new names of columns that share a name, by the first spelling of this name.

        For the header `a, b, A` the result is `{"a": ["a0", "A2"]}`.
        """
        if not self.has_header:
            return {}
        _, names = self.read_first_row()
        first_spellings: dict[str, str] = {}
        new_names: dict[str, list[str]] = {}
        for name, new_name in zip(names, self.read_column_names(), strict=True):
            if name and name != new_name:
                spelling = first_spellings.setdefault(name.lower(), name)
                new_names.setdefault(spelling, []).append(new_name)
        return new_names

    def read_batches(self) -> Iterator[Any]:
        """Yield the rows as record batches of texts. The columns are in the order of the file."""
        empty_lines, first_row = self.read_first_row()
        names = [str(index) for index in range(len(first_row))]
        read_options = csv.ReadOptions(
            block_size=BLOCK_SIZE,
            column_names=names,
            skip_rows_after_names=empty_lines + 1 if self.has_header else 0,
        )
        parse_options = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)
        convert_options = csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        with (
            pa.input_stream(str(self.path), compression="detect") as stream,
            csv.open_csv(stream, read_options, parse_options, convert_options) as batches,
        ):
            yield from batches


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The files of one table, which have the same columns."""

    name: str
    files: tuple[CsvFile, ...]
    # The columns of the files by their names, followed by the columns of their folders.
    columns: dict[str, CsvColumn]

    @property
    def schema(self) -> Any:
        """Return the Arrow schema of the Parquet files."""
        return pa.schema([(name, column.arrow_type) for name, column in self.columns.items()])

    def find_shortened_columns(self) -> list[str]:
        """Return the names of columns with times finer than microseconds, whose digits are cut."""
        return [name for name, column in self.columns.items() if column.loses_digits]

    def write_parquet(self, folder: Path, *, only_schema: bool = False) -> list[Path]:
        """Write the rows of each file to a Parquet file, and return these files.

        Args:
            folder: the folder of the Parquet files.
            only_schema: whether to write a single file without rows instead, for the types.
        """
        schema = self.schema
        if only_schema:
            target = folder / "schema.parquet"
            parquet.write_table(schema.empty_table(), target)
            return [target]
        targets = []
        for index, file in enumerate(self.files):
            target = folder / f"{index:06}.parquet"
            with parquet.ParquetWriter(target, schema) as writer:
                for texts in read_texts(self.name, file, list(self.columns)):
                    columns = [
                        column.convert(column_texts)
                        for column, column_texts in zip(self.columns.values(), texts, strict=True)
                    ]
                    writer.write_batch(pa.record_batch(columns, schema=schema))
            targets.append(target)
        return targets


def infer_table(name: str, files: Sequence[CsvFile], zone: str) -> CsvTable | None:
    """Read all files to find the types of their columns.

    Args:
        name: the name of the table, for messages.
        files: the files, whose columns may be in a different order in each.
        zone: the session's time zone, for times without an offset.

    Returns:
        The table; None if no file has a row.

    Raises:
        MatchRecognizeError: the files have different columns, or one of them is not CSV.
    """
    nonempty_files, names = find_nonempty_files(name, files)
    if not nonempty_files:
        return None
    all_names = list(names)
    for file in nonempty_files:
        all_names += [column for column in file.folder_columns if column not in all_names]
    chains = build_type_chains(find_arrow_zone(zone))
    columns = {column_name: CsvColumn(list(chains)) for column_name in all_names}
    for file in nonempty_files:
        for texts in read_texts(name, file, all_names):
            for column, column_texts in zip(columns.values(), texts, strict=True):
                column.add(column_texts)
    return CsvTable(name, nonempty_files, columns)


def find_nonempty_files(
    table_name: str, files: Sequence[CsvFile]
) -> tuple[tuple[CsvFile, ...], list[str]]:
    """Return the files that have a row, and the names of their columns in the first of them.

    Raises:
        MatchRecognizeError: the files have different columns, or one of them cannot be read.
    """
    nonempty_files: list[CsvFile] = []
    first_names: list[str] = []
    for file in files:
        with explain_read_errors(table_name, file):
            names = file.read_column_names()
        if not names:
            continue
        if not nonempty_files:
            first_names = names
        elif sorted(names) != sorted(first_names):
            raise errors.different_columns(
                name=table_name,
                first=str(nonempty_files[0].path),
                of_first=first_names,
                other=str(file.path),
                of_other=names,
            )
        nonempty_files.append(file)
    return tuple(nonempty_files), first_names


def read_folder_columns(path: Path) -> dict[str, str | None]:
    """Return the columns and values of the folders in a path, which Spark names `column=value`.

    >>> read_folder_columns(Path("year=2024/place=a%2Fb/rows.csv"))
    {'year': '2024', 'place': 'a/b'}
    """
    columns: dict[str, str | None] = {}
    for folder in path.parent.parts:
        name, equals, value = folder.partition("=")
        if equals:
            columns[unquote(name)] = None if value == HIVE_NULL else unquote(value)
    return columns


def use_session_zone(frame: DataFrame) -> DataFrame:
    """Return a DataFrame with its times in the session's time zone.

    Sail reads the times of a Parquet file in UTC.
    """
    from pyspark.sql.functions import col

    names = [name for name, type_name in frame.dtypes if type_name == "timestamp"]
    casts = {name: col(quote_name(name)).cast("timestamp") for name in names}
    return frame.withColumns(casts) if casts else frame


def read_texts(table_name: str, file: CsvFile, names: Sequence[str]) -> Iterator[list[ArrowArray]]:
    """Yield the rows of a file in batches. A batch is an array of texts for each column.

    Args:
        table_name: the name of the table, for messages.
        file: the file. Its columns may be in another order than the columns of the table.
        names: the names of the columns of the table.

    Raises:
        MatchRecognizeError: the file cannot be read.
    """
    indices = {name: index for index, name in enumerate(file.read_column_names())}
    with explain_read_errors(table_name, file):
        for batch in file.read_batches():
            texts = []
            for name in names:
                if name in indices:
                    texts.append(batch.column(indices[name]))
                else:
                    folder_value = file.folder_columns.get(name)
                    texts.append(pa.array([folder_value] * batch.num_rows, pa.string()))
            yield texts


@contextmanager
def explain_read_errors(table_name: str, file: CsvFile) -> Iterator[None]:
    """Raise a MatchRecognizeError that names the file if Arrow or Python cannot read it."""
    try:
        yield
    except (pa.ArrowInvalid, OSError, EOFError, zlib.error, python_csv.Error) as error:
        reason = write_reason(str(error), file)
        raise errors.unreadable_table(
            name=table_name, path=str(file.path), reason=reason
        ) from error


def write_reason(reason: str, file: CsvFile) -> str:
    """Return the reason why a file cannot be read. Common messages of Arrow become plain words.

    Args:
        reason: the message of Arrow or Python: "CSV parse error: Expected 3 columns, got 2: a".
        file: the file.
    """
    if "straddl" in reason:
        return "a row is longer than 32 MiB; perhaps a quote is not closed"
    if ragged := RAGGED.search(reason):
        wanted = int(ragged["wanted"])
        fields = show_count(int(ragged["count"]), "field")
        first_row = "the header" if file.has_header else "the first row"
        line = file.find_ragged_line(wanted)
        subject = f"a row ({ragged['row'].strip()})" if line is None else f"line {line}"
        hint = f"write {show_count(wanted, 'field')}; put a field that has the delimiter in quotes"
        return (
            f"{subject} has {fields}, and {first_row} has {wanted}\n{format_labelled('help', hint)}"
        )
    return reason
