"""Build Spark SQL expressions that replace bytes, also inside other values, by hexadecimal text.

Bytes become the text of a literal of SQL, such as `X'00FF'`. A cast to STRING would decode them as
UTF-8 on Spark, which loses other bytes, and Sail does not cast these.

For example, for a column `c0` of type ARRAY<BINARY>:

    transform(c0, e0 -> concat('X\\'', hex(e0), '\\''))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.plan.text import quote_name, quote_string

if TYPE_CHECKING:
    from pyspark.sql.types import ArrayType, DataType, MapType, StructType


def has_bytes(data_type: DataType) -> bool:
    """Return whether values of a type are bytes or contain bytes."""
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

    match data_type:
        case BinaryType():
            return True
        case StructType():
            return any(has_bytes(field.dataType) for field in data_type)
        case ArrayType():
            return has_bytes(data_type.elementType)
        case MapType():
            return has_bytes(data_type.keyType) or has_bytes(data_type.valueType)
        case _:
            return False


def write_with_hex(value_sql: str, data_type: DataType, depth: int = 0) -> str:
    """Return SQL for a value with hexadecimal text instead of bytes. NULL stays NULL.

    Args:
        value_sql: SQL for the value.
        data_type: its type.
        depth: the number of lambda functions around the value. Nested functions need parameters
            with different names: `e0`, `e1` …
    """
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

    match data_type:
        case BinaryType():
            return f"concat('X\\'', hex({value_sql}), '\\'')"
        case StructType() if has_bytes(data_type):
            return write_struct_with_hex(value_sql, data_type, depth)
        case ArrayType() if has_bytes(data_type):
            return write_array_with_hex(value_sql, data_type, depth)
        case MapType() if has_bytes(data_type):
            return write_map_with_hex(value_sql, data_type, depth)
        case _:
            return value_sql


def write_struct_with_hex(struct_sql: str, data_type: StructType, depth: int) -> str:
    """Return SQL for a struct with hexadecimal text, see `write_with_hex`."""
    arguments = []
    for field in data_type:
        field_sql = f"{struct_sql}.{quote_name(field.name)}"
        arguments += [quote_string(field.name), write_with_hex(field_sql, field.dataType, depth)]
    return f"IF({struct_sql} IS NULL, NULL, named_struct({', '.join(arguments)}))"


def write_array_with_hex(array_sql: str, data_type: ArrayType, depth: int) -> str:
    """Return SQL for an array with hexadecimal text, see `write_with_hex`."""
    parameter = f"e{depth}"
    element_sql = write_with_hex(parameter, data_type.elementType, depth + 1)
    return f"transform({array_sql}, {parameter} -> {element_sql})"


def write_map_with_hex(map_sql: str, data_type: MapType, depth: int) -> str:
    """Return SQL for a map with hexadecimal text, see `write_with_hex`."""
    parameter = f"e{depth}"
    key_sql = write_with_hex(f"{parameter}.key", data_type.keyType, depth + 1)
    value_sql = write_with_hex(f"{parameter}.value", data_type.valueType, depth + 1)
    entry_sql = f"named_struct('key', {key_sql}, 'value', {value_sql})"
    return f"map_from_entries(transform(map_entries({map_sql}), {parameter} -> {entry_sql}))"
