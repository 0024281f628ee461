"""Facts about Arrow types: how their values are stored, and the types as which Spark reads them."""

from __future__ import annotations

import pyarrow as pa

# For each type that Spark lacks, the type as which it reads such values from Parquet.
TYPES_IN_SPARK = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms"), pa.time64("ns")), pa.time64("us")),
}
# The same for types that only newer versions of Arrow have. Their names are the keys, because older
# versions have no such objects.
NEWER_TYPES_IN_SPARK = {"string_view": pa.string(), "binary_view": pa.binary()}


def is_whole(data_type: pa.DataType) -> bool:
    """Return whether values of a type are stored as integers that compare as the values do."""
    return bool(pa.types.is_integer(data_type) or pa.types.is_temporal(data_type))


def is_text(data_type: pa.DataType) -> bool:
    """Return whether values of a type are bytes of any length, which compare byte by byte."""
    is_binary = pa.types.is_binary(data_type) or pa.types.is_large_binary(data_type)
    return bool(is_binary or pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def find_spark_type(data_type: pa.DataType) -> pa.DataType:
    """Return the Arrow type as which Spark reads values of a type. Numbers become wider.

    >>> find_spark_type(pa.list_(pa.uint8()))
    ListType(list<item: int16>)
    """
    if pa.types.is_struct(data_type):
        return pa.struct([field.with_type(find_spark_type(field.type)) for field in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(find_spark_type(data_type.key_type), find_spark_type(data_type.item_type))
    if pa.types.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(find_spark_type(data_type.value_type)))
    if pa.types.is_dictionary(data_type):
        return find_spark_type(data_type.value_type)
    return TYPES_IN_SPARK.get(data_type) or NEWER_TYPES_IN_SPARK.get(str(data_type), data_type)
