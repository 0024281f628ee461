"""Check that the rows of a task have the types that the query was planned for.

Over Spark Connect, and so on Sail, a DataFrame keeps the text of its query. The server analyses it
again for every action. If a view was replaced meanwhile, the columns may have other types than
those with which the conditions were compiled:

    result = matchrec.sql(spark, "SELECT * FROM t MATCH_RECOGNIZE (...)")    t.v is INT
    other.createOrReplaceTempView("t")                                       t.v is DOUBLE
    result.collect()                                                         an error names t.v

Without the check, the bytes of a DOUBLE would be read as those of an INT. Only types of values
count here: Arrow has several layouts of one type, such as `string` and `large_string`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa

from matchrec.errors.run.failures import column_has_null, column_type_changed
from matchrec.worker.arrays import Batches
from matchrec.worker.arrow_types import NEWER_TYPES_IN_SPARK
from matchrec.worker.wire import PlannedColumn


def check_batches(
    batches: Batches, planned: Sequence[PlannedColumn], never_null: Collection[str]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a task. Raises MatchRecognizeRunError if a column is not as planned.

    Args:
        batches: the rows of a task, as the engine sends them.
        planned: the columns as they were when the query was built.
        never_null: names of columns that are NOT NULL in the schema of the result if they were
            NOT NULL in the input.
    """
    promised: list[tuple[PlannedColumn, pa.Field]] = []
    for column in planned:
        is_promised = column.field.name in never_null
        field = column.field if is_promised else column.field.with_nullable(True)
        if forbids_null(field):
            promised.append((column, field))
    checked: pa.Schema | None = None
    for batch in batches:
        schema = batch.schema  # another object for each batch, but mostly the same schema
        if checked is None or not schema.equals(checked):
            check_schema(schema, planned)
            checked = schema
        for column, field in promised:
            if breaks_promise(batch.column(field.name), field):
                raise column_has_null(column=column.text)
        yield batch


def check_schema(schema: pa.Schema, planned: Sequence[PlannedColumn]) -> None:
    """Raise MatchRecognizeRunError if a column has values of another type than planned."""
    for column in planned:
        arrived = schema.field(column.field.name).type
        if not is_same_type(column.field.type, arrived, in_utc=column.in_utc):
            raise column_type_changed(
                column=column.text, planned=column.type_name, arrived=name_type(arrived)
            )


def is_same_type(planned: pa.DataType, arrived: pa.DataType, *, in_utc: bool = False) -> bool:
    """Return whether two Arrow types have the same values, in whatever layout.

    The name of a zone does not change how an instant is stored. `in_utc` says that the session is
    in UTC, where an instant and a local time are the same number. There Sail can send a TIMESTAMP
    for a TIMESTAMP_NTZ: its optimizer takes two constants of these types for one if they print
    alike.

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
    """Return whether a column, or a part of its values, was planned as never NULL."""
    return not field.nullable or any(forbids_null(part) for part in list_nested_fields(field.type))


def list_nested_fields(data_type: pa.DataType) -> list[pa.Field]:
    """Return the fields of a struct, the element of an array, or the key and value of a map.

    The key of a map is left out: no engine has a NULL there.
    """
    if pa.types.is_struct(data_type):
        return list(data_type)
    if is_list(data_type):
        return [data_type.value_field]
    if pa.types.is_map(data_type):
        return [data_type.item_field]
    return []


def breaks_promise(values: pa.Array, field: pa.Field) -> bool:
    """Return whether there is a NULL where the field allows none, also inside of values."""
    if not field.nullable and values.null_count:
        return True
    parts = [part for part in list_nested_fields(field.type) if forbids_null(part)]
    if not parts:
        return False
    # Arrow may store anything under a NULL struct or list, so the NULLs are dropped first.
    present = values.drop_null() if values.null_count else values
    if pa.types.is_struct(present.type):
        return any(breaks_promise(present.field(part.name), part) for part in parts)
    inner = present.items if pa.types.is_map(present.type) else present.flatten()
    return breaks_promise(inner, parts[0])
