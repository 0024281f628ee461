"""Aggregates that only Spark knows: a group by over the rows of each match.

Every output row carries the rows of its match as an array; they are exploded beside it, and grouped
again by the output row's number. A basic aggregate costs nothing of this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark.sql import types

from matchrec.compile.executable import Executable
from matchrec.output.reads import ReadMatchedRows
from matchrec.plan.text.template import View, template
from matchrec.spark import wire
from matchrec.spark.session import Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def grouped(runner: Runner, matched: DataFrame, executable: Executable) -> DataFrame:
    """The reads of `matched` without the array of rows, and the aggregates __g0, __g1, ..."""
    reads = executable.reads
    rows = next(i for i, read in enumerate(reads) if isinstance(read, ReadMatchedRows))
    kept = [wire.read(i) for i in range(len(reads)) if i != rows]
    numbered = matched.selectExpr("*", "monotonically_increasing_id() AS __id")
    exploded = numbered.selectExpr(
        "__id", *kept, f"explode_outer({wire.read(rows)}) AS {wire.MATCHED_ROW}"
    )
    aggregates = [
        f"{named_reads(pieces)} AS {wire.aggregate(i)}"
        for i, pieces in enumerate(executable.grouped)
    ]
    keys = ["__id", *(name for name in kept if stays_not_null(matched.schema[name]))]
    others = [f"first({name}) AS {name}" for name in kept if name not in keys]
    query = template(
        "SELECT ",
        runner.written(", ".join([*keys[1:], *others, *aggregates])),
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


def named_reads(pieces: Iterable[str | int]) -> str:
    """SQL text with each read as the column that holds it."""
    return "".join(wire.read(piece) if isinstance(piece, int) else piece for piece in pieces)
