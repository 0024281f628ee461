"""Write rows to stdout: a table for people, or CSV, JSON or Markdown for other programs.

1. `Format.write_columns` returns SQL that makes texts of a row. The engine computes them in
   parallel: one text for each value of a table, or one for a whole line of CSV or JSON.
2. `Format.format_lines` puts the texts into lines.

A table and Markdown show values as Spark casts them to texts. In CSV, NULL is empty and an empty
text is `""`; arrays, maps and structs are JSON, and bytes are in base 64. `JsonSql` builds JSON,
because Spark's `to_json` cuts times to milliseconds, and Sail's omits fields that are NULL and
takes local times for UTC.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, TextIO

from matchrec.errors import command as errors
from matchrec.errors.sql.type_mismatches import NUMBER_TYPES
from matchrec.plan.text import quote_name, quote_string
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType
    from rich.console import JustifyMethod

# The types whose values are JSON in CSV. The name of a type begins with one of these words.
JSON_TYPES = ("array", "map", "struct", "variant")
# How many rows a table shows unless the user sets a limit.
SHOWN_ROWS = 20
# The width of a table that is not printed to a terminal, in characters, so that no line is broken.
UNLIMITED_WIDTH = 1_000_000
CSV_OPTIONS = {
    "escape": '"',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
# Finds the characters with a meaning in Markdown.
MARKDOWN_SPECIAL = re.compile(r"[\\|`*<\[~&]|(?<!\w)_|_(?!\w)")

# The names and types of columns, as in `DataFrame.dtypes`.
ColumnTypes = Sequence[tuple[str, str]]
# The texts of one row; None for NULL.
RowTexts = Sequence[Any]
# Shows the progress of Spark's jobs in a `with` statement.
ProgressDisplay = AbstractContextManager[None]


@dataclass(frozen=True, slots=True)
class Format:
    """How rows are printed."""

    # Returns columns of texts over the columns `c0`, `c1` …, which have a schema; instants are in a
    # time zone.
    write_columns: Callable[[StructType, str], Sequence[Column]]
    # Makes lines of these texts.
    format_lines: Callable[[ColumnTypes, Iterable[RowTexts]], Iterator[str]]


def write_rows(
    frame: DataFrame, form: str, limit: int | None, progress: ProgressDisplay, out: TextIO
) -> tuple[int, bool]:
    """Write the rows of a DataFrame to a stream.

    Args:
        frame: the DataFrame.
        form: a name in `OUTPUT_FORMATS`.
        limit: how many rows are written; None for all.
        progress: shows the progress of Spark's jobs.
        out: the stream.

    Returns:
        How many rows were written, and whether there are more.
    """
    output_format = OUTPUT_FORMATS[form]
    texts = output_format.write_columns(frame.schema, find_session_zone(frame))
    written = 0

    def count_rows(rows: Iterator[RowTexts]) -> Iterator[RowTexts]:
        """Yield at most `limit` rows, and count them."""
        nonlocal written
        for row in islice(rows, limit):
            written += 1
            yield row

    with compute_texts(frame, texts, limit, progress) as rows:
        for line in output_format.format_lines(frame.dtypes, count_rows(rows)):
            out.write(f"{line}\n")
        out.flush()
        has_more = next(rows, None) is not None
    return written, has_more


def find_session_zone(frame: DataFrame) -> str:
    """Return the time zone of the session of a DataFrame."""
    return str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))


@contextmanager
def compute_texts(
    frame: DataFrame, texts: Sequence[Column], limit: int | None, progress: ProgressDisplay
) -> Iterator[Iterator[RowTexts]]:
    """Yield an iterator over the texts of the rows, which the engine computes in parallel.

    With a limit, it yields one row more if the DataFrame has more rows than the limit.

    Args:
        frame: the DataFrame.
        texts: the texts of a row, over the columns `c0`, `c1` …
        limit: how many rows are needed; None for all.
        progress: shows the progress of Spark's jobs.
    """
    # Columns get new names, because several may have the same.
    numbered = frame.toDF(*(f"c{index}" for index in range(len(frame.columns))))
    if arrives_as_arrow(frame):
        with progress:
            batches = select_in_order(numbered, texts, limit).toArrow().to_batches()
        columns = ([column.to_pylist() for column in batch.columns[1:]] for batch in batches)
        yield (row for batch in columns for row in zip(*batch, strict=True))
    elif limit is not None:
        with progress:
            rows = numbered.select(*texts).take(limit + 1)
        yield iter(rows)
    else:
        with cache_rows(numbered.select(*texts), progress) as (cached, _):
            yield iter(cached.toLocalIterator())


def select_in_order(numbered: DataFrame, texts: Sequence[Column], limit: int | None) -> DataFrame:
    """Return the number of each row and its texts, in the order of the rows.

    Sail divides sorted rows among its tasks to compute texts, and returns them in any order. So a
    window function, which reads the rows one by one, numbers them first.
    """
    from pyspark.sql.functions import expr

    rows = numbered if limit is None else numbered.limit(limit + 1)
    rows_with_number = rows.select("*", expr("row_number() OVER (ORDER BY 1) AS row_number"))
    return rows_with_number.select("row_number", *texts).orderBy("row_number")


def arrives_as_arrow(frame: DataFrame) -> bool:
    """Return whether all rows are fetched at once, as an Arrow table.

    Sail does not keep cached rows, so it would compute them again for every job.
    """
    from matchrec.spark.backends import find_backend

    return not find_backend(frame.sparkSession).keeps_cached_rows


@contextmanager
def cache_rows(frame: DataFrame, progress: ProgressDisplay) -> Iterator[tuple[DataFrame, int]]:
    """Compute the rows of a DataFrame in parallel and cache them. Yield them and their number.

    Without the cache, fetching the rows in order would compute one partition after the other, and
    fetching them all at once would need memory for all of them on the driver.
    """
    cached = frame.cache()
    try:
        with progress:
            rows = cached.count()
        yield cached, rows
    finally:
        cached.unpersist()


def check_distinct_names(names: Sequence[str], container: str) -> None:
    """Check that all columns have different names.

    Args:
        names: the names.
        container: what the columns are written to, for the error.

    Raises:
        MatchRecognizeError: two columns have the same name.
    """
    for index, name in enumerate(names):
        if name in names[:index]:
            raise errors.repeated_column(name=name, file_format=container)


def fetch_first_texts(frame: DataFrame, limit: int) -> list[RowTexts]:
    """Return the first rows, and one more if there are more. Values are as Spark casts them."""
    texts = cast_to_texts(frame.schema, find_session_zone(frame))
    with compute_texts(frame, texts, limit, nullcontext()) as rows:
        return list(rows)


def format_first_rows(frame: DataFrame, limit: int) -> tuple[str, bool]:
    """Return the first rows as an aligned table, and whether there are more."""
    rows = fetch_first_texts(frame, limit)
    return "\n".join(format_table(frame.dtypes, rows[:limit])), len(rows) > limit


def cast_to_texts(schema: StructType, _zone: str) -> Sequence[Column]:
    """Return each column as the engine casts it to a text; column n is called `cn`."""
    from pyspark.sql.functions import col

    return [col(f"c{index}").cast("string") for index in range(len(schema))]


def write_csv_line(schema: StructType, zone: str, delimiter: str = ",") -> Sequence[Column]:
    """Return each row as a line of CSV."""
    from pyspark.sql.functions import struct, to_csv

    texts = (
        write_csv_value(f"c{index}", field.dataType, zone) for index, field in enumerate(schema)
    )
    return [to_csv(struct(*texts), {**CSV_OPTIONS, "sep": delimiter})]


def write_csv_value(value: str, kind: DataType, zone: str) -> Column:
    """Return a value as a text for CSV; NULL for NULL.

    Args:
        value: the name of the column.
        kind: its type.
        zone: the session's time zone.
    """
    from pyspark.sql.functions import base64, col, expr

    name = kind.simpleString()
    if name.startswith(JSON_TYPES):
        return expr(f"IF({value} IS NULL, NULL, {JsonSql(zone).write_value(value, kind)})")
    return base64(col(value)) if name == "binary" else col(value).cast("string")


def write_json_object(schema: StructType, zone: str) -> Sequence[Column]:
    """Return each row as a JSON object.

    Raises:
        MatchRecognizeError: two columns have the same name, so that a reader would lose one.
    """
    from pyspark.sql.functions import expr

    check_distinct_names(schema.names, "a JSON object")
    fields = ((field.name, f"c{index}", field.dataType) for index, field in enumerate(schema))
    return [expr(JsonSql(zone).write_object(fields))]


@dataclass(frozen=True, slots=True)
class JsonSql:
    """Writes the SQL of JSON texts of values."""

    zone: str  # the session's time zone
    depth: int = 0  # the number of lambda functions around the value

    def write_object(self, fields: Iterable[tuple[str, str, DataType]]) -> str:
        """Return the SQL of an object.

        Args:
            fields: the name of each field, its value in SQL, and its type.
        """
        parts = [quote_string("{")]
        for index, (name, value, kind) in enumerate(fields):
            comma = "," if index else ""
            parts.append(quote_string(f"{comma}{json.dumps(name, ensure_ascii=False)}:"))
            parts.append(self.write_value(value, kind))
        return f"concat({', '.join([*parts, quote_string('}')])})"

    def write_value(self, value: str, kind: DataType) -> str:
        """Return the SQL of a value, in which NULL is `null`.

        Args:
            value: the value, in SQL.
            kind: its type.
        """
        from pyspark.sql.types import ArrayType, MapType, StructType

        item = f"e{self.depth}"  # lambda functions in each other need different names
        inside = replace(self, depth=self.depth + 1)
        if isinstance(kind, StructType):
            text = self.write_object(
                (field.name, f"{value}.{quote_name(field.name)}", field.dataType) for field in kind
            )
        elif isinstance(kind, ArrayType):
            items = f"transform({value}, {item} -> {inside.write_value(item, kind.elementType)})"
            text = f"concat('[', array_join({items}, ','), ']')"
        elif isinstance(kind, MapType):
            key = self.write_key(f"{item}.key", kind.keyType)
            pair = f"concat({key}, ':', {inside.write_value(f'{item}.value', kind.valueType)})"
            pairs = f"transform(map_entries({value}), {item} -> {pair})"
            text = f"concat('{{', array_join({pairs}, ','), '}}')"
        else:
            return f"coalesce({self.write_scalar(value, kind)}, 'null')"
        return f"IF({value} IS NULL, 'null', {text})"

    def write_key(self, key: str, kind: DataType) -> str:
        """Return the SQL of a map's key, which is always a text in JSON."""
        from pyspark.sql.types import StringType

        if kind.simpleString() in ("string", "timestamp", "timestamp_ntz", "date"):
            return self.write_scalar(key, kind)
        return self.write_scalar(f"CAST({key} AS STRING)", StringType())

    def write_scalar(self, value: str, kind: DataType) -> str:
        """Return the SQL of a value that is not an array, a map or a struct; NULL for NULL."""
        from pyspark.sql.types import (
            BooleanType,
            DateType,
            DayTimeIntervalType,
            DecimalType,
            DoubleType,
            FloatType,
            IntegralType,
            NullType,
            TimestampNTZType,
            TimestampType,
            YearMonthIntervalType,
        )

        text = f"CAST({value} AS STRING)"
        match kind:
            case IntegralType() | DecimalType() | BooleanType():
                return text
            case DoubleType() | FloatType():
                return (
                    f"CASE WHEN isnan({value}) THEN '\"NaN\"'"
                    f" WHEN {value} = double('Infinity') THEN '\"Infinity\"'"
                    f" WHEN {value} = double('-Infinity') THEN '\"-Infinity\"' ELSE {text} END"
                )
            case TimestampType():
                return self.write_instant(value)
            case TimestampNTZType():
                return f"""concat('"', translate({text}, ' ', 'T'), '"')"""
            case DateType() | DayTimeIntervalType() | YearMonthIntervalType():
                return f"""concat('"', {text}, '"')"""
            case NullType():
                return "CAST(NULL AS STRING)"
        # Texts, bytes and variants. `to_json` takes only structs, so the JSON of a struct with the
        # value is computed, `{"v":...}`, and the struct is cut off.
        struct = f"to_json(named_struct('v', {value}))"
        prefix, suffix = '{"v":', "}"
        length = f"length({struct}) - {len(prefix) + len(suffix)}"
        text = f"substring({struct}, {len(prefix) + 1}, {length})"
        return f"IF({value} IS NULL, NULL, {text})"

    def write_instant(self, value: str) -> str:
        """Return the SQL of a time such as "2026-01-31T10:00:00.25-05:00"."""
        from matchrec.spark.time_zones import find_offset

        # On Sail a time may have another zone. The cast converts it to the session's.
        instant = f"CAST({value} AS TIMESTAMP)"
        local = f"translate(CAST({instant} AS STRING), ' ', 'T')"
        offset = find_offset(self.zone)
        if offset is None:
            offset_sql = f"date_format({instant}, 'XXX')"
        else:  # Sail has no date_format for such a zone
            offset_sql = quote_string("Z" if offset == "+00:00" else offset)
        return f"""concat('"', {local}, {offset_sql}, '"')"""


def format_table(types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
    """Yield the lines of a table with numbers to the right, not wider than the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, kind in types:
        side: JustifyMethod = "right" if kind.split("(")[0] in NUMBER_TYPES else "left"
        table.add_column(Text(replace_control_characters(name)), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(Text(show_cell_text(value)) for value in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=UNLIMITED_WIDTH)
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines())


def format_csv(types: ColumnTypes, rows: Iterable[RowTexts], delimiter: str = ",") -> Iterator[str]:
    """Yield the header of a CSV file, then its rows. The only text of a row is its line."""
    header = StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="").writerow([name for name, _ in types])
    yield header.getvalue()
    for (line,) in rows:
        yield str(line)


def format_json_lines(_: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
    """Yield the rows. Each row is a single text, which is a JSON object."""
    for (line,) in rows:
        yield str(line)


def format_json_array(types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
    """Yield the lines of a JSON array with one object in each line."""
    last_line = None
    for line in format_json_lines(types, rows):
        yield "[" if last_line is None else f"  {last_line},"
        last_line = line
    if last_line is None:
        yield "[]"
        return
    yield f"  {last_line}"
    yield "]"


def format_markdown(types: ColumnTypes, rows: Iterable[RowTexts]) -> Iterator[str]:
    """Yield the lines of a Markdown table with numbers to the right."""
    yield format_markdown_row(replace_control_characters(name) for name, _ in types)
    marks = ("---:" if kind.split("(")[0] in NUMBER_TYPES else "---" for _, kind in types)
    yield f"| {' | '.join(marks)} |"
    yield from (format_markdown_row(map(show_cell_text, row)) for row in rows)


def show_cell_text(value: str | None) -> str:
    """Return a value for a table, without control characters."""
    return "NULL" if value is None else replace_control_characters(value)


def format_markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table, in which characters with a meaning in Markdown are escaped.

    >>> format_markdown_row(["a|b", "top_date", "*"])
    '| a\\\\|b | top_date | \\\\* |'
    """
    texts = (MARKDOWN_SPECIAL.sub(r"\\\g<0>", cell) for cell in cells)
    return f"| {' | '.join('<br>'.join(text.splitlines()) for text in texts)} |"


OUTPUT_FORMATS = {
    "table": Format(cast_to_texts, format_table),
    "csv": Format(write_csv_line, format_csv),
    "tsv": Format(partial(write_csv_line, delimiter="\t"), partial(format_csv, delimiter="\t")),
    "json": Format(write_json_object, format_json_array),
    "jsonl": Format(write_json_object, format_json_lines),
    "markdown": Format(cast_to_texts, format_markdown),
}
