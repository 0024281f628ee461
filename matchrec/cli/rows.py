"""Rows as text for stdout: a table for people, or CSV, JSON or Markdown for other programs.

Spark makes text of every value: a table and Markdown have it as Spark casts it, JSON and CSV as
`to_json` and `to_csv` write it. In CSV a NULL is empty and an empty text is `""`; what is no single
value is JSON there, and bytes are in base 64.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from matchrec.errors import command as errors
from matchrec.errors.sql.expression import NUMBERS
from matchrec.source import printable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from rich.console import JustifyMethod

NESTED = ("array", "map", "struct", "variant")
SHOWN_ROWS = 20
WIDE = 1_000_000  # where no terminal says how wide it is, no line is broken
OF_CSV = {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
OF_JSON = {"ignoreNullFields": "false"}
SPECIAL = re.compile(r"[\\|`*<\[~&]|(?<!\w)_|_(?!\w)")  # what Markdown would not take as text

Types = Sequence[tuple[str, str]]
Values = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Format:
    """How rows are printed. encode: as texts, by Spark. lines: of those, with names and types."""

    encode: Callable[[DataFrame], DataFrame]
    lines: Callable[[Types, Iterable[Values]], Iterator[str]]


def print_rows(
    frame: DataFrame, form: str, limit: int | None, watch: AbstractContextManager[None]
) -> bool:
    """Prints the rows, or the first `limit` of them; returns whether there are more.

    watch: shows that Spark is at work, until the first line is printed.
    """
    chosen = FORMATS[form]
    with computed(chosen.encode(frame), limit, watch) as rows:
        for line in chosen.lines(frame.dtypes, islice(rows, limit)):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        return next(iter(rows), None) is not None


@contextmanager
def computed(
    frame: DataFrame, limit: int | None, watch: AbstractContextManager[None]
) -> Iterator[Iterator[Values]]:
    """The rows once they are computed, in parallel; one after the `limit` says there are more.

    Spark keeps them meanwhile, as a driver may not have the room; to fetch them without that would
    compute one partition after the other.
    """
    if limit is not None:
        with watch:
            rows = frame.take(limit + 1)
        yield iter(rows)
        return
    kept = frame.cache()
    try:
        with watch:
            kept.count()
        yield iter(kept.toLocalIterator())
    finally:
        kept.unpersist()


def table_text(frame: DataFrame, limit: int) -> tuple[str, bool]:
    """The first rows as an aligned table, and whether there are more."""
    rows = as_texts(frame).take(limit + 1)
    return "\n".join(table_lines(frame.dtypes, rows[:limit])), len(rows) > limit


def as_texts(frame: DataFrame) -> DataFrame:
    """Every value as Spark casts it to a text."""
    columns = numbered(frame)
    return columns.select(*(columns[name].cast("string") for name in columns.columns))


def numbered(frame: DataFrame) -> DataFrame:
    """The columns with other names: a query may give two columns one name."""
    return frame.toDF(*(f"c{at}" for at in range(len(frame.columns))))


def as_csv(frame: DataFrame) -> DataFrame:
    """Each row as a line of CSV."""
    from pyspark.sql.functions import struct, to_csv

    columns = numbered(frame)
    texts = (csv_text(columns[name], kind) for name, kind in columns.dtypes)
    return columns.select(to_csv(struct(*texts), OF_CSV))


def csv_text(column: Column, kind: str) -> Column:
    """A value as a text that CSV can hold."""
    from pyspark.sql.functions import base64, to_json

    if kind.startswith(NESTED):
        return to_json(column, OF_JSON)
    return base64(column) if kind == "binary" else column.cast("string")


def as_json(frame: DataFrame) -> DataFrame:
    """Each row as a JSON object. Raises MatchRecognizeError where it would lose a column."""
    from pyspark.sql.functions import concat, concat_ws, lit

    for at, name in enumerate(frame.columns):
        if name in frame.columns[:at]:
            raise errors.repeated_column(name=name)
    columns = numbered(frame)
    fields = [
        concat(lit(f"{json.dumps(name, ensure_ascii=False)}:"), json_value(columns[column], kind))
        for name, (column, kind) in zip(frame.columns, columns.dtypes, strict=True)
    ]
    return columns.select(concat(lit("{"), concat_ws(",", *fields), lit("}")))


def json_value(column: Column, kind: str) -> Column:
    """A value as JSON. Sail's `to_json` leaves NULL out, and has a time without a zone in UTC."""
    from pyspark.sql.functions import length, lit, struct, to_json, translate, when

    if kind == "timestamp_ntz":
        column = translate(column.cast("string"), " ", "T")
    field = to_json(struct(column.alias("v")), OF_JSON)
    value = field.substr(lit(len('{"v":') + 1), length(field) - len('{"v":}'))
    return when(column.isNull(), "null").otherwise(value)


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


def csv_lines(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    """A line of names, then a line for each row."""
    header = StringIO()
    csv.writer(header, lineterminator="").writerow([name for name, _ in types])
    yield header.getvalue()
    yield from (str(row[0]) for row in rows)


def json_lines(_: Types, rows: Iterable[Values]) -> Iterator[str]:
    """One object for each row, each on its own line."""
    yield from (str(row[0]) for row in rows)


def json_array(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    """One array of objects, each of which stands on its own line."""
    before = "["
    for line in json_lines(types, rows):
        yield before + line
        before = ","
    yield "]" if before == "," else "[]"


def markdown_lines(types: Types, rows: Iterable[Values]) -> Iterator[str]:
    """A table of Markdown."""
    yield markdown_row(printable(name) for name, _ in types)
    marks = ("---:" if kind.split("(")[0] in NUMBERS else "---" for _, kind in types)
    yield f"| {' | '.join(marks)} |"
    yield from (markdown_row(map(shown, row)) for row in rows)


def shown(value: str | None) -> str:
    """A value as people read it."""
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
    "json": Format(as_json, json_array),
    "jsonl": Format(as_json, json_lines),
    "markdown": Format(as_texts, markdown_lines),
}
