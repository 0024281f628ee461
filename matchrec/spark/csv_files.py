"""Copy CSV files to Parquet files, so that every engine reads the same types and the same values.

Spark and Sail split lines into fields by different rules, and choose different types. So Arrow
reads the files instead, in two passes that have one block of rows in memory at a time:

1. `infer_table` finds the first type that fits all values of each column: see `csv_types`.
2. `CsvTable.write_parquet` converts the values and writes them to Parquet files.

An empty field is NULL. A quoted empty field is an empty string in a STRING column, and NULL in a
column of another type. Spaces around a value belong to a string, and are ignored in other types.
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
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import csv, parquet

from matchrec.errors import tables as errors
from matchrec.errors.kinds import format_labelled
from matchrec.errors.wording import show_count
from matchrec.plan.text import quote_name
from matchrec.spark.csv_strings import StringReason, find_string_reason
from matchrec.spark.csv_types import ArrowArray, CsvColumn, build_type_chains, find_arrow_zone, trim

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The number of bytes that Arrow splits into rows at once. A longer row is an error.
BLOCK_MEBIBYTES = 32
BLOCK_SIZE = BLOCK_MEBIBYTES << 20
# The value in the name of a folder if the column is NULL: `column=__HIVE_DEFAULT_PARTITION__`.
HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"
# Arrow's message about a row that does not have as many fields as the first row.
RAGGED_ROW = re.compile(
    r"Expected (?P<expected>\d+) columns, got (?P<actual>\d+): (?P<row>.*)", re.DOTALL
)
# A part of Arrow's message about a row that is longer than a block: "straddling" or "straddles".
TOO_LONG_ROW = "straddl"
# The functions that open compressed files, by the suffixes of names.
OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open}
# The errors of reading a file that is damaged, not CSV, or not compressed as its name says.
READ_ERRORS = (pa.ArrowInvalid, OSError, EOFError, zlib.error, python_csv.Error)


class FirstRow(NamedTuple):
    """The first row of a CSV file: the header, or the first values."""

    # The number of empty lines before the row.
    empty_line_count: int
    # The fields of the row. There are none if the file has no row.
    fields: list[str]


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file and its format."""

    path: Path
    delimiter: str
    # Whether the first row has the names of the columns.
    has_header: bool
    # The columns that the names of the folders around the file define, such as `year=2024`. Each
    # has the same value in all rows of the file; None is NULL.
    folder_columns: dict[str, str | None] = field(default_factory=dict)

    def open_text(self) -> IO[str]:
        """Open the file for reading as UTF-8. A byte order mark is left out."""
        open_file = OPENERS.get(self.path.suffix.lower(), open)
        text: IO[str] = open_file(self.path, "rt", encoding="utf-8-sig", newline="")
        return text

    def read_first_row(self) -> FirstRow:
        """Read the first row, which is the first line that is not empty."""
        with self.open_text() as lines:
            rows = python_csv.reader(lines, delimiter=self.delimiter)
            for index, row in enumerate(rows):
                if row:
                    return FirstRow(empty_line_count=index, fields=row)
        return FirstRow(empty_line_count=0, fields=[])

    def find_ragged_line(self, field_count: int) -> int | None:
        """Return the number, from 1, of the line with the first row that has another field count.

        Returns None if there is no such row, or if a row before it cannot be read.

        Args:
            field_count: the number of fields that each row should have.
        """
        with suppress(*READ_ERRORS, ValueError), self.open_text() as lines:
            rows = python_csv.reader(lines, delimiter=self.delimiter)
            line_number = 1
            for row in rows:
                if row and len(row) != field_count:
                    return line_number
                line_number = rows.line_num + 1
        return None

    def read_column_names(self) -> list[str]:
        """Return the names of the columns. All of them are different.

        As in Spark, a column without a name is named by its index, such as `_c0`, and the index is
        appended to a name that several columns have: `a, b, A` becomes `a0, b, A2`. If another
        column has the new name, `_` is appended, too.
        """
        header = self.read_first_row().fields
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
        """Return the new names of columns that have the same name, by its first spelling.

        For the header `a, b, A` the result is `{"a": ["a0", "A2"]}`.
        """
        if not self.has_header:
            return {}
        header = self.read_first_row().fields
        first_spellings: dict[str, str] = {}  # by the name in lower case
        new_names: dict[str, list[str]] = {}
        for name, new_name in zip(header, self.read_column_names(), strict=True):
            if name and name != new_name:
                spelling = first_spellings.setdefault(name.lower(), name)
                new_names.setdefault(spelling, []).append(new_name)
        return new_names

    def read_batches(self) -> Iterator[Any]:
        """Yield the rows as record batches of strings. The columns are in the order of the file."""
        first_row = self.read_first_row()
        # Numbers, because Arrow needs different names, and only the order of the columns counts.
        names = [str(index) for index in range(len(first_row.fields))]
        # Arrow leaves out empty lines, but it counts those before the header as rows to skip.
        skipped_rows = first_row.empty_line_count + 1 if self.has_header else 0
        read_options = csv.ReadOptions(
            block_size=BLOCK_SIZE, column_names=names, skip_rows_after_names=skipped_rows
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
    """A table of CSV files, with the types of its columns."""

    # The name of the table, for messages.
    name: str
    # The files that have a row. All of them have the same columns, perhaps in another order.
    files: tuple[CsvFile, ...]
    # The columns of the files by their names, followed by the columns of their folders.
    columns: dict[str, CsvColumn]
    # For each STRING column whose values mostly look like numbers or times, why it is a STRING.
    string_reasons: dict[str, StringReason]

    @property
    def schema(self) -> Any:
        """Return the Arrow schema of the Parquet files."""
        return pa.schema([(name, column.arrow_type) for name, column in self.columns.items()])

    def find_shortened_columns(self) -> list[str]:
        """Return the names of columns with times finer than microseconds, whose digits are cut."""
        return [name for name, column in self.columns.items() if column.loses_digits]

    def write_schema(self, folder: Path) -> Path:
        """Write a Parquet file with the columns and no rows to a folder, and return its path."""
        path = folder / "schema.parquet"
        parquet.write_table(self.schema.empty_table(), path)
        return path

    def write_parquet(self, folder: Path) -> list[Path]:
        """Write the rows of each file to a Parquet file in a folder, and return the new paths.

        Raises:
            MatchRecognizeError: a file cannot be read.
        """
        schema = self.schema
        paths = []
        for index, file in enumerate(self.files):
            path = folder / f"{index:06}.parquet"
            with parquet.ParquetWriter(path, schema) as writer:
                for texts in read_texts(self.name, file, list(self.columns)):
                    arrays = [
                        column.convert(column_texts)
                        for column, column_texts in zip(self.columns.values(), texts, strict=True)
                    ]
                    writer.write_batch(pa.record_batch(arrays, schema=schema))
            paths.append(path)
        return paths


def infer_table(name: str, files: Sequence[CsvFile], zone: str) -> CsvTable | None:
    """Read all files of a table to find the types of its columns.

    Args:
        name: the name of the table, for messages.
        files: the files. The order of columns can differ between them.
        zone: the session's time zone, for times without an offset.

    Returns:
        The table; None if no file has a row.

    Raises:
        MatchRecognizeError: the files have different columns, or one of them is not CSV.
    """
    nonempty_files = find_nonempty_files(name, files)
    if not nonempty_files:
        return None
    column_names = nonempty_files[0].read_column_names()
    for file in nonempty_files:
        column_names += [column for column in file.folder_columns if column not in column_names]
    chains = build_type_chains(find_arrow_zone(zone))
    columns = {column_name: CsvColumn(list(chains)) for column_name in column_names}
    string_reasons: dict[str, StringReason] = {}
    for file in nonempty_files:
        for texts in read_texts(name, file, column_names):
            for column_name, column_texts in zip(column_names, texts, strict=True):
                reason = add_texts(columns[column_name], column_texts)
                if reason is not None:
                    string_reasons[column_name] = reason
    return CsvTable(name, nonempty_files, columns, string_reasons)


def add_texts(column: CsvColumn, texts: ArrowArray) -> StringReason | None:
    """Let a column read the texts of more rows.

    Returns:
        Why these texts make the column a STRING, if it was not a STRING before and its values
        mostly look like numbers or times; otherwise None.
    """
    was_string = not column.chains
    column.add(texts)
    becomes_string = not column.chains and not was_string
    if not becomes_string:
        return None
    trimmed, has_value = trim(texts)
    return find_string_reason(trimmed.filter(has_value))


def find_nonempty_files(table_name: str, files: Sequence[CsvFile]) -> tuple[CsvFile, ...]:
    """Return the files that have a row, and check that their columns have the same names.

    Raises:
        MatchRecognizeError: the files have different columns, or one of them cannot be read.
    """
    nonempty_files: list[CsvFile] = []
    first_names: list[str] = []  # the names in the first file that has a row
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
    return tuple(nonempty_files)


def read_folder_columns(path: Path) -> dict[str, str | None]:
    """Return the columns that the folders in a path define, with their values.

    Spark names such folders `column=value`.

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
    """Yield the rows of a file in batches. A batch has an array of strings for each column.

    Args:
        table_name: the name of the table, for messages.
        file: the file. The order of its columns can differ from the order of `names`.
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
    """Turn an error of reading a file, raised in the `with` block, into one that names the file.

    Raises:
        MatchRecognizeError: the file cannot be read.
    """
    try:
        yield
    except READ_ERRORS as error:
        reason = describe_read_error(str(error), file)
        raise errors.unreadable_table(
            name=table_name, path=str(file.path), reason=reason
        ) from error


def describe_read_error(error_text: str, file: CsvFile) -> str:
    """Return the reason why a file cannot be read, in plain words if the error is a known one.

    Args:
        error_text: the message of Arrow or Python. "CSV parse error: Expected 3 columns, got 2: a"
            becomes "line 5 has 2 fields, and the header has 3" and a line of help.
        file: the file.
    """
    if TOO_LONG_ROW in error_text:
        return f"a row is longer than {BLOCK_MEBIBYTES} MiB; perhaps a quote is not closed"
    ragged_row = RAGGED_ROW.search(error_text)
    if ragged_row is None:
        return error_text
    expected_count = int(ragged_row["expected"])
    actual_fields = show_count(int(ragged_row["actual"]), "field")
    first_row = "the header" if file.has_header else "the first row"
    line_number = file.find_ragged_line(expected_count)
    if line_number is None:
        subject = f"a row ({ragged_row['row'].strip()})"
    else:
        subject = f"line {line_number}"
    hint = (
        f"write {show_count(expected_count, 'field')}; put a field that has the delimiter in quotes"
    )
    labelled_hint = format_labelled("help", hint)
    return f"{subject} has {actual_fields}, and {first_row} has {expected_count}\n{labelled_hint}"
