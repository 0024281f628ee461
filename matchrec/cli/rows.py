"""Rows as text for stdout: a table for people, or CSV, JSON or Markdown for other programs.

Spark makes text of every value: a table and Markdown have it as Spark casts it, JSON and CSV as
`to_json` and `to_csv` write it. In CSV a NULL is empty and an empty text is `""`; what is no single
value is JSON there, and bytes are in base 64.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TextIO

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
Watch = AbstractContextManager[None]  # shows that Spark is at work


@dataclass(frozen=True, slots=True)
class Format:
    """How rows are printed. encode: as texts that Spark makes of columns; lines: of those texts."""

    encode: Callable[[Types], Sequence[Column]]
    lines: Callable[[Types, Iterable[Values]], Iterator[str]]


def write_rows(
    frame: DataFrame, form: str, limit: int | None, watch: Watch, out: TextIO
) -> tuple[int, bool]:
    """Writes the first `limit` rows, or all; returns how many, and whether there are more."""
    chosen, numbers = FORMATS[form], count()
    with computed(frame, chosen.encode(frame.dtypes), limit, watch) as rows:
        numbered_rows = zip(islice(rows, limit), numbers, strict=False)  # asks for a row first
        for line in chosen.lines(frame.dtypes, (row for row, _ in numbered_rows)):
            out.write(f"{line}\n")
        out.flush()
        return next(numbers), next(rows, None) is not None


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
    with computed(frame, as_texts(frame.dtypes), limit, nullcontext()) as rows:
        return list(rows)


def table_text(frame: DataFrame, limit: int) -> tuple[str, bool]:
    """The first rows as an aligned table, and whether there are more."""
    rows = first_texts(frame, limit)
    return "\n".join(table_lines(frame.dtypes, rows[:limit])), len(rows) > limit


def numbered_columns(types: Types) -> Iterator[tuple[str, Column, str]]:
    """The name of each column, the column by its number, and its type."""
    from pyspark.sql.functions import col

    for at, (name, kind) in enumerate(types):
        yield name, col(f"c{at}"), kind


def as_texts(types: Types) -> Sequence[Column]:
    return [column.cast("string") for _, column, _ in numbered_columns(types)]


def as_csv(types: Types, between: str = ",") -> Sequence[Column]:
    """Each row as a line of CSV. between: what stands between its fields."""
    from pyspark.sql.functions import struct, to_csv

    texts = (csv_text(column, kind) for _, column, kind in numbered_columns(types))
    return [to_csv(struct(*texts), {**OF_CSV, "sep": between})]


def csv_text(column: Column, kind: str) -> Column:
    from pyspark.sql.functions import base64, to_json

    if kind.startswith(NESTED):
        return to_json(column, OF_JSON)
    return base64(column) if kind == "binary" else column.cast("string")


def as_json(types: Types) -> Sequence[Column]:
    """Each row as a JSON object. Raises MatchRecognizeError where it would lose a column."""
    from pyspark.sql.functions import concat, concat_ws, lit

    check_names([name for name, _ in types], "a JSON object")
    fields = [
        concat(lit(f"{json.dumps(name, ensure_ascii=False)}:"), json_value(column, kind))
        for name, column, kind in numbered_columns(types)
    ]
    return [concat(lit("{"), concat_ws(",", *fields), lit("}"))]


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
