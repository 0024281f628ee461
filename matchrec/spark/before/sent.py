"""The rows that cross to the workers, and the fields of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField

from matchrec.conditions.row_column import RowColumn
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.worker.structs import Struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.draft import Draft


@dataclass(frozen=True)
class Sent:
    """The rows that cross. fields: of the columns, also of structs, which cross in parts."""

    rows: DataFrame
    fields: tuple[StructField, ...]
    structs: tuple[Struct, ...] = ()


def send_rows(
    preparation: Preparation,
    drafted: Draft,
    prepared: DataFrame,
    columns: tuple[RowColumn, ...],
) -> Sent:
    """Rows with these columns. prepared: those with all columns of the draft.

    Spark analyses no query of which all fields are known already.
    """
    fields = dict(zip(drafted.columns(), prepared.schema.fields, strict=False))
    if not fields.keys() >= set(columns):
        prepared = preparation.dataframe(columns, drafted)
        fields = dict(zip(columns, prepared.schema.fields, strict=False))
    known = tuple(fields[column] for column in columns)
    if isinstance(preparation, Unsorted):
        structs = preparation.structs(known, columns, drafted)
        if structs:
            return Sent(preparation.in_parts(columns, drafted), known, structs)
    if tuple(fields) != columns:
        prepared = preparation.dataframe(columns, drafted)
    return Sent(prepared, known)
