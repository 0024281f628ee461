"""Turns matches that are values into their rows: one row each, with what else is known of a match.

Rows and matches share columns, such as those of PARTITION BY. One that both have comes out once,
and each row is checked to have the value of its match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from matchrec.errors.calls import column_of_other_type, no_rows, other_value, several_rows
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text.sql_text import quoted, string_literal
from matchrec.spark import wire
from matchrec.spark.session import Runner
from matchrec.spark.wire import SelectItem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def explode_rows(result: DataFrame, column: str | None) -> DataFrame:
    """The rows of all matches of a result. column: that has them, None for MATCHED_ROWS()."""
    is_sensitive = Runner(result.sparkSession).setting("spark.sql.caseSensitive") == "true"
    names = InputColumns(tuple(result.columns), None, is_sensitive)
    rows = column_of_rows(result.schema, names, column)
    of_matches = [one for one in result.schema.fields if one.name != rows.name]
    exploded = result.selectExpr(
        *(quoted(one.name) for one in of_matches),
        f"explode({quoted(rows.name)}) AS {wire.MATCHED_ROW}",
    )
    fields = struct_in(rows.dataType)
    assert fields is not None
    return exploded.selectExpr(*map(str, items(of_matches, fields, names.same)))


def items(
    of_matches: list[StructField], row: StructType, same: Callable[[str, str], bool]
) -> Iterator[SelectItem]:
    """The columns of a match, then what only its rows have."""
    left = list(row.fields)
    for one in of_matches:
        found = next((field for field in left if same(field.name, one.name)), None)
        if found is None:
            yield SelectItem(quoted(one.name), quoted(one.name))
        else:
            left.remove(found)
            yield SelectItem(of_both(one, found), quoted(one.name))
    for field in left:
        yield SelectItem(of_row(field), quoted(field.name))


def of_row(field: StructField) -> str:
    """A column of a row, as SQL."""
    return f"{wire.MATCHED_ROW}.{quoted(field.name)}"


def of_both(of_match: StructField, of_row_: StructField) -> str:
    """A column that match and row have, as SQL that fails where they differ."""
    if of_match.dataType != of_row_.dataType:
        types = of_match.dataType.simpleString(), of_row_.dataType.simpleString()
        raise column_of_other_type(of_match.name, *types)
    value, error = of_row(of_row_), string_literal(other_value(of_match.name))
    return f"IF({quoted(of_match.name)} <=> {value}, {value}, raise_error({error}))"


def column_of_rows(schema: StructType, names: InputColumns, column: str | None) -> StructField:
    """The column that has the rows of each match."""
    structs = [one for one in schema.fields if struct_in(one.dataType) is not None]
    if column is not None:
        found = [one for one in structs if names.same(one.name, column)]
    else:
        found = [one for one in structs if has_classifier(one.dataType)]
    if not found:
        raise no_rows(column, names.names, [one.name for one in structs])
    if len(found) > 1:
        raise several_rows([one.name for one in found])
    return found[0]


def struct_in(type_: DataType) -> StructType | None:
    """The type of the rows, if values of a type are arrays of rows."""
    found = type_.elementType if isinstance(type_, ArrayType) else None
    return found if isinstance(found, StructType) else None


def has_classifier(type_: DataType) -> bool:
    """Whether the rows are those of MATCHED_ROWS()."""
    found = struct_in(type_)
    return found is not None and found.names[-1:] == [CLASSIFIER_FIELD]
