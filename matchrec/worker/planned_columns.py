"""Check that the columns of a task are as the query was planned for: their types, and NOT NULL.

Over Spark Connect, and so on Sail, a DataFrame keeps the text of its query. The server analyses the
text again for every action. If a view was replaced meanwhile, the columns may have other types than
the conditions were compiled for:

    result = matchrec.sql(spark, "SELECT * FROM t MATCH_RECOGNIZE (...)")    t.v is INT
    other.createOrReplaceTempView("t")                                       t.v is DOUBLE
    result.collect()                                                         an error names t.v

Without the check, the bytes of a DOUBLE would be read as those of an INT. Only types of values
count here: Arrow has several layouts of one type, such as `string` and `large_string`.

In the same way, a column that was NOT NULL may now have NULLs. They are an error only if the schema
of the result excludes NULLs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from matchrec.errors.run.failures import column_has_null, column_type_changed
from matchrec.worker.arrays import Batches
from matchrec.worker.arrow_types import NEWER_TYPES_IN_SPARK
from matchrec.worker.column_roles import PlannedColumn


def check_batches(
    batches: Batches, planned_columns: Sequence[PlannedColumn], never_null: Collection[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a task, each after it was checked.

    Args:
        batches: the rows of a task, as the engine sends them.
        planned_columns: the columns as they were when the query was built.
        never_null: names of columns that are NOT NULL in the schema of the result if they were
            NOT NULL in the input.

    Raises:
        MatchRecognizeRunError: a column has values of another type than planned, or a NULL that the
            schema of the result excludes.
    """
    null_checks = list_null_checks(planned_columns, never_null)
    checked_schema: pa.Schema | None = None
    for batch in batches:
        schema = batch.schema  # a new object for each batch, but mostly an equal schema
        if checked_schema is None or not schema.equals(checked_schema):
            check_schema(schema, planned_columns)
            checked_schema = schema
        for check in null_checks:
            if has_forbidden_null(batch.column(check.field.name), check.field):
                raise column_has_null(column=check.column.text)
        yield batch


class NullCheck(NamedTuple):
    """A check that a column has no NULL that the schema of the result excludes."""

    column: PlannedColumn
    field: pa.Field  # says whether values of the column, and parts of the values, can be NULL


def list_null_checks(
    planned_columns: Sequence[PlannedColumn], never_null: Collection[str]
) -> list[NullCheck]:
    """Return the checks of the columns in which some NULL is forbidden.

    In a column that is not among `never_null`, a value is allowed to be NULL. But a part of a
    value, such as a field of a struct, must not be NULL if it was planned as NOT NULL.

    Args:
        planned_columns: see `check_batches`.
        never_null: see `check_batches`.
    """
    checks: list[NullCheck] = []
    for column in planned_columns:
        field = column.field
        if field.name not in never_null:
            field = field.with_nullable(True)
        if forbids_null(field):
            checks.append(NullCheck(column, field))
    return checks


def check_schema(schema: pa.Schema, planned_columns: Sequence[PlannedColumn]) -> None:
    """Check that the values of all columns have the types that were planned.

    Raises:
        MatchRecognizeRunError: a column has another type.
    """
    for column in planned_columns:
        arrived = schema.field(column.field.name).type
        if not is_same_type(column.field.type, arrived, in_utc=column.in_utc):
            raise column_type_changed(
                column=column.text, planned=column.type_name, arrived=name_type(arrived)
            )


def is_same_type(planned: pa.DataType, arrived: pa.DataType, *, in_utc: bool = False) -> bool:
    """Return whether two Arrow types have the same values, perhaps in different layouts.

    The name of a time zone does not count, because it does not change how an instant is stored.

    Args:
        planned: the type when the query was built.
        arrived: the type of the values that have arrived, which may have a dictionary.
        in_utc: whether the session is in UTC, where an instant and a local time are the same
            number. There Sail can send a TIMESTAMP for a TIMESTAMP_NTZ: its optimizer takes two
            constants of these types for the same constant if they print alike.

    >>> is_same_type(pa.list_(pa.string()), pa.large_list(pa.large_string()))
    True
    >>> is_same_type(pa.timestamp("us", "UTC"), pa.timestamp("us"))
    False
    >>> is_same_type(pa.timestamp("us", "UTC"), pa.timestamp("us"), in_utc=True)
    True
    """
    if pa.types.is_dictionary(arrived):
        return is_same_type(planned, arrived.value_type, in_utc=in_utc)
    planned, arrived = find_plain_layout(planned), find_plain_layout(arrived)
    if is_list(planned) and is_list(arrived):
        return is_same_type(planned.value_type, arrived.value_type, in_utc=in_utc)
    if pa.types.is_map(planned) and pa.types.is_map(arrived):
        same_keys = is_same_type(planned.key_type, arrived.key_type, in_utc=in_utc)
        return same_keys and is_same_type(planned.item_type, arrived.item_type, in_utc=in_utc)
    if pa.types.is_struct(planned) and pa.types.is_struct(arrived):
        if [field.name for field in planned] != [field.name for field in arrived]:
            return False
        pairs = zip(planned, arrived, strict=True)
        return all(is_same_type(old.type, new.type, in_utc=in_utc) for old, new in pairs)
    if pa.types.is_timestamp(planned) and pa.types.is_timestamp(arrived):
        return planned.unit == arrived.unit and (
            in_utc or (planned.tz is None) == (arrived.tz is None)
        )
    return bool(planned == arrived)


def find_plain_layout(data_type: pa.DataType) -> pa.DataType:
    """Return the usual type of the same values: `string` for `large_string` and `string_view`."""
    if pa.types.is_large_string(data_type):
        return pa.string()
    if pa.types.is_large_binary(data_type):
        return pa.binary()
    return NEWER_TYPES_IN_SPARK.get(str(data_type), data_type)


def is_list(data_type: pa.DataType) -> bool:
    """Return whether a type is an array in SQL."""
    is_large = pa.types.is_large_list(data_type)
    return bool(pa.types.is_list(data_type) or is_large or pa.types.is_fixed_size_list(data_type))


def name_type(data_type: pa.DataType) -> str:
    """Return the SQL name of an Arrow type, or the name in Arrow if SQL has none.

    >>> name_type(pa.list_(pa.int32()))
    'array<int>'
    """
    from pyspark.errors import PySparkException  # loaded only if a query fails
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        return from_arrow_type(data_type).simpleString()
    except PySparkException:
        return str(data_type)


def forbids_null(field: pa.Field) -> bool:
    """Return whether the values of a column, or parts of them, must not be NULL."""
    return not field.nullable or any(map(forbids_null, list_nested_fields(field.type)))


def list_nested_fields(data_type: pa.DataType) -> list[pa.Field]:
    """Return the fields of a struct, the element of an array, or the value of a map.

    The key of a map is left out: no engine has a NULL there.
    """
    if pa.types.is_struct(data_type):
        return list(data_type)
    if is_list(data_type):
        return [data_type.value_field]
    if pa.types.is_map(data_type):
        return [data_type.item_field]
    return []


def has_forbidden_null(values: pa.Array, field: pa.Field) -> bool:
    """Return whether a value, or a part of a value, is NULL although the field excludes NULL.

    Args:
        values: the values of a column, or parts of its values.
        field: says which values and parts of values must not be NULL.
    """
    if not field.nullable and values.null_count:
        return True
    inner_fields = [inner for inner in list_nested_fields(field.type) if forbids_null(inner)]
    if not inner_fields:
        return False
    # Arrow may store anything under a NULL struct or list, so the NULLs are dropped first.
    present = values.drop_null() if values.null_count else values
    if pa.types.is_struct(present.type):
        return any(has_forbidden_null(present.field(inner.name), inner) for inner in inner_fields)
    # A map has one nested field, its values; an array has one, its elements.
    inner_values = present.items if pa.types.is_map(present.type) else present.flatten()
    return has_forbidden_null(inner_values, inner_fields[0])
