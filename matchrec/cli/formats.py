"""The formats in which rows are printed: table, Markdown, CSV, TSV, and JSON in two forms.

JSON is an array of objects, or an object in each line.

A format works in two steps, so that the engine computes texts in parallel and Python only prints
them:

1. `build_text_columns` returns columns of texts: one for each column of a table, or a single one
   with the whole line of CSV or JSON.
2. `format_lines` puts the texts of the rows into lines.

A table and Markdown show values as the engine casts them to texts, and bytes as `X'00FF'`. In CSV,
NULL is empty and an empty text is `""`; arrays, maps and structs are JSON, and bytes are in base
64. In a row with a single column, NULL is `""`, too, because readers skip empty lines.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

from matchrec.cli.hex_sql import write_with_hex
from matchrec.cli.json_sql import JsonField, JsonSqlWriter
from matchrec.errors import written_files as errors
from matchrec.errors.sql.type_kinds import NUMBER_TYPES
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType
    from rich.console import JustifyMethod

# The types whose values are JSON in CSV. The name of a type begins with one of these words.
JSON_TYPES = ("array", "map", "struct", "variant")
# The width of a table that is not printed to a terminal, in characters, so that no line is broken.
UNLIMITED_WIDTH = 1_000_000
# Options of the engine for CSV. By default, it escapes quotes with backslashes and trims texts.
CSV_VALUE_OPTIONS = {
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
# The characters with a meaning in Markdown.
MARKDOWN_SPECIAL = re.compile(r"[\\|`*<\[~&]|(?<!\w)_|_(?!\w)")

# The names and types of columns, as in `DataFrame.dtypes`.
ColumnTypes: TypeAlias = Sequence[tuple[str, str]]
# The values of the text columns in one row; None for NULL.
RowTexts: TypeAlias = Sequence[str | None]


class OutputFormat(ABC):
    """A format in which rows are printed. `rows.write_rows` calls its two methods."""

    @abstractmethod
    def build_text_columns(self, schema: StructType, zone: str) -> Sequence[Column]:
        """Return columns whose values are the texts that `format_lines` needs.

        Args:
            schema: the schema of the rows, with the original names. The returned columns read the
                columns as `c0`, `c1`, ..., because several can have the same name.
            zone: the session's time zone, for instants.

        Raises:
            MatchRecognizeError: the format cannot hold the columns.
        """

    @abstractmethod
    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
        """Yield the lines of the output, without newlines at their ends.

        Args:
            types: the names and types of the columns that are printed.
            rows: the values of the text columns in each row.
        """


class TableFormat(OutputFormat):
    """An aligned table for people, not wider than the terminal."""

    def build_text_columns(self, schema: StructType, zone: str) -> Sequence[Column]:  # noqa: ARG002
        """Return each column as a text."""
        return cast_to_texts(schema)

    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
        """Yield the lines of the table. Numbers are right-aligned. All rows are read first."""
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name, type_name in types:
            alignment: JustifyMethod = "right" if is_number_type(type_name) else "left"
            table.add_column(
                Text(replace_control_characters(name)), justify=alignment, overflow="fold"
            )
        for row in rows:
            table.add_row(*(Text(format_cell(value)) for value in row))
        console = Console()
        if not console.is_terminal:
            console = Console(width=UNLIMITED_WIDTH)
        with console.capture() as captured:
            console.print(table)
        for line in captured.get().splitlines():
            yield line.rstrip()


class MarkdownFormat(OutputFormat):
    """A table of Markdown."""

    def build_text_columns(self, schema: StructType, zone: str) -> Sequence[Column]:  # noqa: ARG002
        """Return each column as a text."""
        return cast_to_texts(schema)

    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
        """Yield the lines of the table. Numbers are right-aligned."""
        yield format_markdown_row(replace_control_characters(name) for name, _ in types)
        alignment_marks = ("---:" if is_number_type(type_name) else "---" for _, type_name in types)
        yield f"| {' | '.join(alignment_marks)} |"
        for row in rows:
            yield format_markdown_row(format_cell(value) for value in row)


@dataclass(frozen=True, slots=True)
class CsvFormat(OutputFormat):
    """CSV or TSV with a header."""

    # One character between the fields.
    delimiter: str

    def build_text_columns(self, schema: StructType, zone: str) -> Sequence[Column]:
        """Return a single column: the row as a line of CSV."""
        from pyspark.sql.functions import lit, struct, to_csv, when

        values = [
            build_csv_value(f"c{index}", field.dataType, zone) for index, field in enumerate(schema)
        ]
        line = to_csv(struct(*values), {**CSV_VALUE_OPTIONS, "sep": self.delimiter})
        if len(values) == 1:
            # Compiled code of Spark fails with a NullPointerException in `to_csv` of a single NULL.
            line = when(values[0].isNull(), lit("")).otherwise(line)
        return [line]

    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
        """Yield the header, then a line for each row."""
        header = StringIO()
        writer = csv.writer(header, delimiter=self.delimiter, lineterminator="")
        writer.writerow([name for name, _ in types])
        yield header.getvalue()
        for line in iterate_lines(rows):
            # Only the line of a single NULL is empty, and readers skip empty lines.
            yield line or '""'


class JsonLinesFormat(OutputFormat):
    """A JSON object in each line."""

    def build_text_columns(self, schema: StructType, zone: str) -> Sequence[Column]:
        """Return a single column: the row as a JSON object.

        Raises:
            MatchRecognizeError: two columns have the same name, so that a reader would lose one.
        """
        from pyspark.sql.functions import expr

        check_distinct_names(schema.names, "a JSON object")
        fields = (
            JsonField(field.name, f"c{index}", field.dataType) for index, field in enumerate(schema)
        )
        return [expr(JsonSqlWriter(zone).write_object(fields))]

    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:  # noqa: ARG002
        """Yield the objects, one in each line."""
        yield from iterate_lines(rows)


class JsonArrayFormat(JsonLinesFormat):
    """A JSON array, with one object in each line."""

    def format_lines(self, types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
        """Yield the lines of the array.

        >>> list(JsonArrayFormat().format_lines([("n", "int")], [['{"n":1}'], ['{"n":2}']]))
        ['[', '  {"n":1},', '  {"n":2}', ']']
        """
        # A line is yielded once the next one is known, because the last one has no comma.
        previous_line = None
        for line in super().format_lines(types, rows):
            yield "[" if previous_line is None else f"  {previous_line},"
            previous_line = line
        if previous_line is None:
            yield "[]"
            return
        yield f"  {previous_line}"
        yield "]"


# The formats by their names in `--format`.
OUTPUT_FORMATS: dict[str, OutputFormat] = {
    "table": TableFormat(),
    "csv": CsvFormat(","),
    "tsv": CsvFormat("\t"),
    "json": JsonArrayFormat(),
    "jsonl": JsonLinesFormat(),
    "markdown": MarkdownFormat(),
}


def iterate_lines(rows: Iterable[RowTexts]) -> Iterator[str]:
    """Yield the lines that the engine has computed, one for each row.

    Spark's `to_csv` returns NULL for a row whose only value is the literal NULL. Such a line is
    yielded as "".
    """
    for (line,) in rows:
        yield line or ""


def cast_to_texts(schema: StructType) -> Sequence[Column]:
    """Return each of the columns c0, c1, ... cast to a text by the engine.

    Bytes are a literal of SQL, such as `X'00FF'`.
    """
    from pyspark.sql.functions import expr

    return [
        expr(write_with_hex(f"c{index}", field.dataType)).cast("string")
        for index, field in enumerate(schema)
    ]


def build_csv_value(column: str, data_type: DataType, zone: str) -> Column:
    """Return a value as a text for CSV; NULL for NULL.

    Args:
        column: the name of the column.
        data_type: its type.
        zone: the session's time zone.
    """
    from pyspark.sql.functions import base64, col, expr

    type_name = data_type.simpleString()
    if type_name.startswith(JSON_TYPES):
        json_sql = JsonSqlWriter(zone).write_value(column, data_type)
        # The JSON of NULL would be the word `null`, but CSV has an empty value for it.
        return expr(f"IF({column} IS NULL, NULL, {json_sql})")
    return base64(col(column)) if type_name == "binary" else col(column).cast("string")


def check_distinct_names(names: Sequence[str], container: str) -> None:
    """Check that all columns have different names.

    Args:
        names: the names.
        container: what the columns are written to, for the error, such as "a JSON object".

    Raises:
        MatchRecognizeError: two columns have the same name.
    """
    names_before: set[str] = set()
    for name in names:
        if name in names_before:
            raise errors.repeated_column(name=name, file_format=container)
        names_before.add(name)


def is_number_type(type_name: str) -> bool:
    """Return whether a type is numeric, by its name, such as `decimal(10,2)`."""
    return type_name.partition("(")[0] in NUMBER_TYPES


def format_cell(value: str | None) -> str:
    """Return a value for a table, without control characters."""
    return "NULL" if value is None else replace_control_characters(value)


def format_markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table, in which characters with a meaning in Markdown are escaped.

    >>> format_markdown_row(["a|b", "top_date", "*"])
    '| a\\\\|b | top_date | \\\\* |'
    """
    texts = (MARKDOWN_SPECIAL.sub(r"\\\g<0>", cell) for cell in cells)
    return f"| {' | '.join('<br>'.join(text.splitlines()) for text in texts)} |"
