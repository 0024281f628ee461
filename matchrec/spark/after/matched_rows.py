"""Return the rows of arrays of matched rows: `explode_rows`.

    sym   falls                                          sym   day   price   classifier
    X     [{X, 2, 80, FALL}, {X, 3, 70, FALL}]     →     X     2     80      FALL
                                                         X     3     70      FALL

Matched rows and their match share columns, such as those of PARTITION BY. The result has such a
column once, and checks that each row has the value of its match.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, StructField, StructType

from matchrec.errors import calls
from matchrec.output.measure_sql import MATCH_ROW
from matchrec.plan.expression import CLASSIFIER_FIELD
from matchrec.plan.resolve import InputColumns
from matchrec.plan.text import quote_name, quote_string
from matchrec.spark.backends import make_runner
from matchrec.spark.select_items import SelectItem


def explode_rows(result: DataFrame, column: str | None) -> DataFrame:
    """Return the rows of all matches of a result.

    Args:
        result: a result with a column that has the array of rows of each match.
        column: the name of this column; None for the only column that `MATCHED_ROWS()` has made.

    Raises:
        MatchRecognizePlanError: the result has no such column or several, or a column of the
            matches has another type in the rows.
    """
    settings = make_runner(result.sparkSession).settings
    is_case_sensitive = settings["spark.sql.caseSensitive"] == "true"
    result_columns = InputColumns(tuple(result.columns), None, is_case_sensitive)
    rows_column, row_type = find_rows_column(result.schema, result_columns, column)
    match_fields = [field for field in result.schema.fields if field.name != rows_column]
    match_columns = [quote_name(field.name) for field in match_fields]
    exploded = result.selectExpr(
        *match_columns, f"explode({quote_name(rows_column)}) AS {MATCH_ROW}"
    )
    items = list_exploded_columns(match_fields, row_type, result_columns.are_same)
    return exploded.selectExpr(*[str(item) for item in items])


def list_exploded_columns(
    match_fields: list[StructField], row_type: StructType, are_same_name: Callable[[str, str], bool]
) -> list[SelectItem]:
    """Return the columns of a match, followed by the columns that only its rows have.

    Args:
        match_fields: the columns of a match.
        row_type: the type of a row.
        are_same_name: returns whether two names are the same for Spark.

    Raises:
        MatchRecognizePlanError: a column of the match has another type in the rows.
    """
    items = []
    remaining_fields = list(row_type.fields)  # the columns of rows that have no item yet
    for match_field in match_fields:
        name = quote_name(match_field.name)
        row_field = next(
            (field for field in remaining_fields if are_same_name(field.name, match_field.name)),
            None,
        )
        if row_field is None:
            items.append(SelectItem(name, name))
        else:
            items.append(SelectItem(write_shared_column(match_field, row_field), name))
            remaining_fields.remove(row_field)
    items_of_rows = [
        SelectItem(write_row_column(row_field), quote_name(row_field.name))
        for row_field in remaining_fields
    ]
    return items + items_of_rows


def write_row_column(field: StructField) -> str:
    """Return SQL of a column of a row."""
    return f"{MATCH_ROW}.{quote_name(field.name)}"


def write_shared_column(match_field: StructField, row_field: StructField) -> str:
    """Return SQL of a column that a match and its rows share.

    When it runs, the SQL raises an error if the value of a row differs from the value of its match.

    Raises:
        MatchRecognizePlanError: the types of the column differ.
    """
    if match_field.dataType != row_field.dataType:
        raise calls.column_types_differ(
            name=match_field.name,
            of_match=match_field.dataType.simpleString(),
            of_row=row_field.dataType.simpleString(),
        )
    value = write_row_column(row_field)
    error = quote_string(calls.write_other_value_message(match_field.name))
    return f"IF({quote_name(match_field.name)} <=> {value}, {value}, raise_error({error}))"


def find_rows_column(
    schema: StructType, result_columns: InputColumns, column: str | None
) -> tuple[str, StructType]:
    """Return the name of the column with the rows of each match, and the type of a row.

    Args:
        schema: the schema of a result.
        result_columns: the same columns, for comparisons of names.
        column: see `explode_rows`.

    Raises:
        MatchRecognizePlanError: the result has no such column or several.
    """
    row_types = {}  # by the indices of the columns, because columns can have the same name
    for index, field in enumerate(schema):
        if isinstance(field.dataType, ArrayType):
            element_type = field.dataType.elementType
            if isinstance(element_type, StructType):
                row_types[index] = element_type
    candidates = []
    for index, row_type in row_types.items():
        name = schema[index].name
        if column is None:
            is_candidate = row_type.names[-1:] == [CLASSIFIER_FIELD]  # as `MATCHED_ROWS()` has
        else:
            is_candidate = result_columns.are_same(name, column)
        if is_candidate:
            candidates.append((name, row_type))
    if not candidates:
        raise calls.no_matched_rows(
            column, result_columns.names, [schema[index].name for index in row_types]
        )
    if len(candidates) > 1:
        raise calls.several_matched_rows(columns=[name for name, _ in candidates])
    return candidates[0]
