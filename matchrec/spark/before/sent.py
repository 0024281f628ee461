"""The rows that cross to the workers, and the fields of their columns."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql.types import StructField

from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.types import ValueType
from matchrec.dataclass import dataclass
from matchrec.spark.before.columns import Preparation
from matchrec.spark.before.unsorted import Unsorted
from matchrec.spark.types import value_type
from matchrec.spark.wire import Struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from matchrec.compile.draft import Draft


@dataclass(frozen=True)
class Prepared:
    """Rows as a preparation gives them for some columns, which come first."""

    rows: DataFrame
    columns: tuple[RowColumn, ...]

    @cached_property
    def fields(self) -> dict[RowColumn, StructField]:
        """The fields of the columns."""
        return dict(zip(self.columns, self.rows.schema.fields, strict=False))

    @property
    def types(self) -> dict[RowColumn, ValueType]:
        """The types of the columns."""
        return {column: value_type(field.dataType) for column, field in self.fields.items()}


@dataclass(frozen=True)
class Sent:
    """The rows that cross. fields: of the columns, also of structs, which cross in parts."""

    rows: DataFrame
    fields: tuple[StructField, ...]
    structs: tuple[Struct, ...] = ()


def send_rows(
    preparation: Preparation, drafted: Draft, prepared: Prepared, columns: tuple[RowColumn, ...]
) -> Sent:
    """Rows with these columns. prepared: those of the same draft with all that may be needed.

    Spark analyses no query of which all fields are known already.
    """
    if not prepared.fields.keys() >= set(columns):
        prepared = Prepared(preparation.dataframe(columns, drafted), columns)
    known = tuple(prepared.fields[column] for column in columns)
    if isinstance(preparation, Unsorted):
        structs = preparation.structs(known, columns, drafted)
        if structs:
            return Sent(preparation.in_parts(columns, drafted), known, structs)
    if prepared.columns != columns:
        return Sent(preparation.dataframe(columns, drafted), known)
    return Sent(prepared.rows, known)
