"""Rows as text for stdout: a table for people, or CSV, JSON or Markdown for other programs.

The engine makes text of every value: a table and Markdown have it as Spark casts it, CSV as
`to_csv` writes it. In CSV a NULL is empty and an empty text is `""`; arrays, maps and structs are
JSON there, and bytes are in base 64. This module builds JSON in SQL, because Spark's `to_json` cuts
times to milliseconds, and Sail's omits fields that are NULL and takes local times for UTC.
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
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TextIO

from matchrec.errors import command as errors
from matchrec.errors.sql.expression import NUMBERS
from matchrec.plan.text import quoted, string_literal
from matchrec.source import printable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType
    from rich.console import JustifyMethod

NESTED = ("array", "map", "struct", "variant")  # beginnings of types that are JSON in CSV
SHOWN_ROWS = 20
WIDE = 1_000_000  # where no terminal says how wide it is, no line is broken
OF_CSV = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
SPECIAL = re.compile(r"[\\|`*<\[~&]|(?<!\w)_|_(?!\w)")  # what Markdown would not take as text

Types = Sequence[tuple[str, str]]
Values = Sequence[Any]
Watch = AbstractContextManager[None]  # shows that Spark is at work


@dataclass(frozen=True, slots=True)
class Format:
    """How rows are printed.

    encode: returns the columns of texts for a schema and the session's time zone. lines: makes
    lines of these texts.
    """

    encode: Callable[[StructType, str], Sequence[Column]]
    lines: Callable[[Types, Iterable[Values]], Iterator[str]]


def write_rows(
    frame: DataFrame, form: str, limit: int | None, watch: Watch, out: TextIO
) -> tuple[int, bool]:
    """Writes the first `limit` rows, or all; returns how many, and whether there are more."""
    chosen, numbers = FORMATS[form], count()
    texts = chosen.encode(frame.schema, session_zone(frame))
    with computed(frame, texts, limit, watch) as rows:
        numbered_rows = zip(islice(rows, limit), numbers, strict=False)  # asks for a row first
        for line in chosen.lines(frame.dtypes, (row for row, _ in numbered_rows)):
            out.write(f"{line}\n")
        out.flush()
        return next(numbers), next(rows, None) is not None


def session_zone(frame: DataFrame) -> str:
    """Return the time zone of the session of a DataFrame."""
    return str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))


@contextmanager
def computed(
    frame: DataFrame, texts: Sequence[Column], limit: int | None, watch: Watch
) -> Iterator[Iterator[Values]]:
    """Texts of all rows, computed in parallel; one after `limit` says that there are more."""
    numbered = frame.toDF(*(f"c{at}" for at in range(len(frame.columns))))  # names may be alike
    if comes_as_arrow(frame):
        with watch:
            batches = in_order(numbered, texts, limit).toArrow().to_batches()
        columns = ([column.to_pylist() for column in batch.columns[1:]] for batch in batches)
        yield (row for batch in columns for row in zip(*batch, strict=True))
    elif limit is not None:
        with watch:
            rows = numbered.select(*texts).take(limit + 1)
        yield iter(rows)
    else:
        with kept(numbered.select(*texts), watch) as (cached, _):
            yield iter(cached.toLocalIterator())


def in_order(numbered: DataFrame, texts: Sequence[Column], limit: int | None) -> DataFrame:
    """Texts of the rows, or of one more than `limit`, in their order, after the number of each.

    Sail divides sorted rows among its tasks to compute texts, and gives them in any order. The
    window takes them one by one before that.
    """
    from pyspark.sql.functions import expr

    rows = numbered if limit is None else numbered.limit(limit + 1)
    placed = rows.select("*", expr("row_number() OVER (ORDER BY 1) AS at"))
    return placed.select("at", *texts).orderBy("at")


def comes_as_arrow(frame: DataFrame) -> bool:
    """Whether all rows come at once, as a table of Arrow: from Sail, which keeps nothing that is
    cached, and would compute it for every job.
    """
    from matchrec.spark.backends import backend_of

    return not backend_of(frame.sparkSession).keeps_cached_rows


@contextmanager
def kept(frame: DataFrame, watch: Watch) -> Iterator[tuple[DataFrame, int]]:
    """The rows, computed in parallel and kept by Spark, and how many: a driver may not have the
    room, and what fetches them in order would compute one partition after the other.
    """
    cached = frame.cache()
    try:
        with watch:
            rows = cached.count()
        yield cached, rows
    finally:
        cached.unpersist()


def check_names(names: Sequence[str], whole: str) -> None:
    """Raises MatchRecognizeError for two columns of one name, which `whole` cannot have."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise errors.repeated_column(name=name, whole=whole)


def first_texts(frame: DataFrame, limit: int) -> list[Values]:
    """The first rows, and one more where there are more, each value as Spark casts it to a text."""
    with computed(frame, as_texts(frame.schema, session_zone(frame)), limit, nullcontext()) as rows:
        return list(rows)


def table_text(frame: DataFrame, limit: int) -> tuple[str, bool]:
    """The first rows as an aligned table, and whether there are more."""
    rows = first_texts(frame, limit)
    return "\n".join(table_lines(frame.dtypes, rows[:limit])), len(rows) > limit


def as_texts(schema: StructType, _zone: str) -> Sequence[Column]:
    """Return each column as the engine casts it to a text; column n is called `cn`."""
    from pyspark.sql.functions import col

    return [col(f"c{index}").cast("string") for index in range(len(schema))]


def as_csv(schema: StructType, zone: str, between: str = ",") -> Sequence[Column]:
    """Return each row as a line of CSV. between: the delimiter."""
    from pyspark.sql.functions import struct, to_csv

    texts = (csv_text(f"c{index}", field.dataType, zone) for index, field in enumerate(schema))
    return [to_csv(struct(*texts), {**OF_CSV, "sep": between})]


def csv_text(value: str, kind: DataType, zone: str) -> Column:
    """Return a value as a text; NULL for NULL."""
    from pyspark.sql.functions import base64, col, expr

    name = kind.simpleString()
    if name.startswith(NESTED):
        return expr(f"IF({value} IS NULL, NULL, {JsonSql(zone).write_value(value, kind)})")
    return base64(col(value)) if name == "binary" else col(value).cast("string")


def as_json(schema: StructType, zone: str) -> Sequence[Column]:
    """Return each row as a JSON object.

    Raises MatchRecognizeError if two columns have the same name: a reader would lose one of them.
    """
    from pyspark.sql.functions import expr

    check_names(schema.names, "a JSON object")
    fields = ((field.name, f"c{index}", field.dataType) for index, field in enumerate(schema))
    return [expr(JsonSql(zone).write_object(fields))]


@dataclass(frozen=True, slots=True)
class JsonSql:
    """Writes the SQL of JSON texts of values."""

    zone: str  # the session's time zone
    depth: int = 0  # the number of lambda functions around the value

    def write_object(self, fields: Iterable[tuple[str, str, DataType]]) -> str:
        """Return the SQL of an object. fields: the name of each, its value in SQL, and its type."""
        parts = [string_literal("{")]
        for index, (name, value, kind) in enumerate(fields):
            comma = "," if index else ""
            parts.append(string_literal(f"{comma}{json.dumps(name, ensure_ascii=False)}:"))
            parts.append(self.write_value(value, kind))
        return f"concat({', '.join([*parts, string_literal('}')])})"

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
                (field.name, f"{value}.{quoted(field.name)}", field.dataType) for field in kind
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
        # texts, bytes and variants: to_json takes only structs, so the braces around it are cut off
        field = f"to_json(named_struct('v', {value}))"
        start, around = len('{"v":') + 1, len('{"v":}')
        return f"IF({value} IS NULL, NULL, substring({field}, {start}, length({field}) - {around}))"

    def write_instant(self, value: str) -> str:
        """Return the SQL of a time such as "2026-01-31T10:00:00.25-05:00"."""
        from matchrec.spark.time_zones import find_offset

        # on Sail a time may have another zone; a cast converts it to the session's
        instant = f"CAST({value} AS TIMESTAMP)"
        local = f"translate(CAST({instant} AS STRING), ' ', 'T')"
        offset = find_offset(self.zone)
        if offset is None:
            offset_sql = f"date_format({instant}, 'XXX')"
        else:  # Sail has no date_format there
            offset_sql = string_literal("Z" if offset == "+00:00" else offset)
        return f"""concat('"', {local}, {offset_sql}, '"')"""


def table_lines(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    """An aligned table, numbers to the right; in a terminal not wider than that."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, kind in types:
        side: JustifyMethod = "right" if kind.split("(")[0] in NUMBERS else "left"
        table.add_column(Text(printable(name)), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(value)) for value in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines())


def csv_lines(types: Types, rows: Iterable[Values], between: str = ",") -> Iterator[str]:
    header = StringIO()
    csv.writer(header, delimiter=between, lineterminator="").writerow([name for name, _ in types])
    yield header.getvalue()
    yield from (str(row[0]) for row in rows)


def json_lines(_: Types, rows: Iterable[Values]) -> Iterator[str]:
    yield from (str(row[0]) for row in rows)


def json_array(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    """One array of objects, each of which stands on its own line."""
    before = "["
    for line in json_lines(types, rows):
        yield before + line
        before = ","
    yield "]" if before == "," else "[]"


def markdown_lines(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    yield markdown_row(printable(name) for name, _ in types)
    marks = ("---:" if kind.split("(")[0] in NUMBERS else "---" for _, kind in types)
    yield f"| {' | '.join(marks)} |"
    yield from (markdown_row(map(shown, row)) for row in rows)


def shown(value: str | None) -> str:
    return "NULL" if value is None else printable(value)


def markdown_row(cells: Iterable[str]) -> str:
    """A row of such a table; every character means itself.

    >>> markdown_row(["a|b", "top_date", "*"])
    '| a\\\\|b | top_date | \\\\* |'
    """
    texts = (SPECIAL.sub(r"\\\g<0>", cell) for cell in cells)
    return f"| {' | '.join('<br>'.join(text.splitlines()) for text in texts)} |"


FORMATS = {
    "table": Format(as_texts, table_lines),
    "csv": Format(as_csv, csv_lines),
    "tsv": Format(partial(as_csv, between="\t"), partial(csv_lines, between="\t")),
    "json": Format(as_json, json_array),
    "jsonl": Format(as_json, json_lines),
    "markdown": Format(as_texts, markdown_lines),
}
