"""Aggregates that only Spark knows: a group by over the rows of each match.

Every output row carries the rows of its match as an array; Spark explodes the array, and grouped
again by the output row's number. A basic aggregate costs nothing of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import types

from matchrec.compile.executable import Executable
from matchrec.output.pieces import (
    AggregatePlace,
    Pieces,
    RowAggregate,
    RowField,
    RowPiece,
    RowTerm,
    RowVariable,
)
from matchrec.output.reads import ReadMatchedRows
from matchrec.plan.text.sql_text import string_literal
from matchrec.plan.text.template import View, template
from matchrec.spark import wire
from matchrec.spark.session import Runner
from matchrec.spark.wire import SelectItem, select_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OUTPUT_ROW = "__id"  # known here only
VARIABLE = f"{wire.MATCHED_ROW}.{wire.VARIABLE}"
POSITION = f"{wire.MATCHED_ROW}.{wire.POSITION}"


def aggregate_matches(runner: Runner, matched: DataFrame, executable: Executable) -> DataFrame:
    """Compute the aggregates of each match; the array of its rows goes, the other reads stay."""
    reads = executable.reads
    rows = next(i for i, read in enumerate(reads) if isinstance(read, ReadMatchedRows))
    kept = [wire.read(i) for i in range(len(reads)) if i != rows]
    number = SelectItem("monotonically_increasing_id()", OUTPUT_ROW)
    row = SelectItem(f"explode_outer({wire.read(rows)})", wire.MATCHED_ROW)
    numbered = matched.selectExpr("*", str(number))
    exploded = numbered.selectExpr(OUTPUT_ROW, *kept, str(row))
    keys = [OUTPUT_ROW, *(name for name in kept if stays_not_null(matched.schema[name]))]
    items = [SelectItem(name, name) for name in keys[1:]]
    items += [SelectItem(f"first({name})", name) for name in kept if name not in keys]
    items += [
        SelectItem(aggregate_sql(one), wire.aggregate(index))
        for index, one in enumerate(executable.aggregates)
    ]
    query = template(
        "SELECT ",
        runner.written(select_list(items)),
        " FROM ",
        View("matchrec_exploded"),
        f" GROUP BY {', '.join(keys)}",
    )
    return runner.having(matchrec_exploded=exploded).sql(runner.in_scope(query))


def stays_not_null(field: types.StructField) -> bool:
    """Whether to group by a column as well, which keeps it free of NULL in the schema.

    Not where grouping changes values (-0.0 becomes 0.0) or Spark refuses it (maps, variants).
    """
    unchanged = (
        types.IntegralType,
        types.BooleanType,
        types.StringType,
        types.BinaryType,
        types.DecimalType,
        types.DateType,
        types.TimestampType,
        types.TimestampNTZType,
    )
    return not field.nullable and isinstance(field.dataType, unchanged)


def aggregate_sql(aggregate: RowAggregate) -> str:
    """An aggregate over the exploded rows, as SQL."""
    call = aggregate.call
    distinct = "DISTINCT " if call.distinct else ""
    arguments = ", ".join(map(term_sql, aggregate.arguments)) or "*"
    items = [f"{term_sql(term)} {words}" for term, words in aggregate.ordering]
    ordering = f" WITHIN GROUP (ORDER BY {', '.join(items)})" if items else ""
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    rows = f" FILTER (WHERE {rows_sql(aggregate)})"
    return f"{call.function}({distinct}{arguments}){ordering}{rows}{nulls}"


def rows_sql(aggregate: RowAggregate) -> str:
    """Which of the match's rows an aggregate is over, as SQL."""
    tests = [f"{VARIABLE} IN ({', '.join(map(string_literal, aggregate.variables))})"]
    if aggregate.last is not None:
        tests.append(f"{POSITION} <= {wire.read(aggregate.last)}")
    if aggregate.condition is not None:
        tests.append(f"({term_sql(aggregate.condition)})")
    return " AND ".join(tests)


def term_sql(term: RowTerm) -> str:
    """What an aggregate evaluates on a row, as SQL."""
    return "".join(term_piece_sql(piece) for piece in term)


def term_piece_sql(piece: RowPiece) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, int):
        return wire.read(piece)
    if isinstance(piece, RowField):
        return f"{wire.MATCHED_ROW}.{wire.field(piece.index)}"
    return VARIABLE if isinstance(piece, RowVariable) else f"({POSITION} + 1)"


def measure_sql(pieces: Pieces) -> str:
    """A measure over the columns that hold its reads and its aggregates, as SQL."""
    return "".join(piece_sql(piece) for piece in pieces)


def piece_sql(piece: str | int | AggregatePlace) -> str:
    if isinstance(piece, str):
        return piece
    return wire.read(piece) if isinstance(piece, int) else wire.aggregate(piece.index)
