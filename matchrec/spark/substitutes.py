"""Replace values whose types Arrow cannot carry between Spark and Python.

    type                     sent as                 because
    year-month interval      its months              Arrow has no such type
    calendar interval        its text                Arrow has no such type
    day-time interval        its microseconds        Spark's writer of Arrow durations does not grow
                                                     its buffers before Spark 4
    map() of VOID            whether it is NULL      PyArrow has no VOID that is not NULL
    array() of VOID          an array of NULLs       PyArrow has no VOID that is not NULL

Arrow has every other type of Spark. If an array, a map or a struct holds such a value, only this
part is replaced. `encode_columns` replaces values before rows are sent, and `decode_columns`
restores them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructType

from matchrec.plan.text import quote_name, quote_string
from matchrec.spark.types import change_inner_types

# Whether Spark can write day-time intervals as durations of Arrow.
HAS_DURATIONS = int(pyspark.__version__.split(".")[0]) >= 4

# For each field of an interval, the SQL that converts it to seconds. Hours are taken modulo 24,
# because the HOUR of some engines includes the hours of the days. The days are multiplied by a
# BIGINT, because the seconds of 68 years are more than an INT can hold.
CONVERSIONS_TO_SECONDS = (
    ("DAY", "* 86400L"),
    ("HOUR", "% 24 * 3600"),
    ("MINUTE", "% 60 * 60"),
    ("SECOND", "% 60"),
)


class Substitute(NamedTuple):
    """The value that is sent instead of a value whose type Arrow cannot carry.

    `encoded` and `decoded` are templates of SQL, in which `{0}` stands for the SQL of a value.
    """

    type: DataType  # the type in which the value is sent
    encoded: str  # the sent value in terms of the original one
    decoded: str  # the original value in terms of the sent value


# Chooses one of the two templates of a substitute.
ChooseTemplate = Callable[[Substitute], str]


def find_substitute(type_: DataType) -> Substitute | None:
    """Return the substitute of values of a type; None if the values themselves are sent.

    The parts of arrays, maps and structs are not considered.
    """
    match type_:
        case spark_types.YearMonthIntervalType():
            full = "CAST({0} AS INTERVAL YEAR TO MONTH)"
            months = f"CAST(EXTRACT(YEAR FROM {full}) * 12 + EXTRACT(MONTH FROM {full}) AS INT)"
            interval = f"CAST(make_ym_interval(0, {{0}}) AS {type_.simpleString()})"
            return Substitute(spark_types.IntegerType(), encoded=months, decoded=interval)
        case spark_types.DayTimeIntervalType() if not HAS_DURATIONS:
            seconds = "CAST(CAST({0} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
            interval = f"CAST(make_dt_interval(0, 0, 0, {seconds}) AS {type_.simpleString()})"
            return Substitute(
                spark_types.LongType(), encoded=write_microseconds("{0}"), decoded=interval
            )
        case spark_types.MapType() if isinstance(type_.keyType, spark_types.NullType):
            marker = "IF({0} IS NULL, NULL, true)"
            empty_map = "IF({0} IS NULL, NULL, map())"
            return Substitute(spark_types.BooleanType(), encoded=marker, decoded=empty_map)
        case spark_types.ArrayType(elementType=spark_types.NullType()) if not type_.containsNull:
            nullable_type = spark_types.ArrayType(type_.elementType)
            empty_array = "IF({0} IS NULL, NULL, array())"
            return Substitute(nullable_type, encoded="{0}", decoded=empty_array)
        case _ if type_.typeName() == "interval":  # PySpark has a class for it since version 4
            text, interval = "CAST({0} AS STRING)", "CAST({0} AS INTERVAL)"
            return Substitute(spark_types.StringType(), encoded=text, decoded=interval)
    return None


# Returns the substitute of values of a type; None if they have none. It ignores parts of the type.
FindSubstitute = Callable[[DataType], Substitute | None]


def find_sent_type(type_: DataType, find: FindSubstitute = find_substitute) -> DataType:
    """Return the type in which values of a type are sent.

    Args:
        type_: the type.
        find: finds the substitutes of the value and of its parts.

    >>> from pyspark.sql.types import ArrayType, LongType, NullType
    >>> find_sent_type(ArrayType(NullType(), False)), find_sent_type(ArrayType(LongType(), False))
    (ArrayType(NullType(), True), ArrayType(LongType(), False))
    """
    substitute = find(type_)
    if substitute is not None:
        return substitute.type
    return change_inner_types(type_, lambda part: find_sent_type(part, find))


def build_sent_schema(schema: StructType) -> StructType:
    """Return the schema of rows as they are sent."""
    return cast("StructType", change_inner_types(schema, find_sent_type))


def encode_columns(frame: DataFrame) -> DataFrame:
    """Convert the columns of a DataFrame to types that can be sent."""
    return convert_columns(frame, frame.schema, lambda substitute: substitute.encoded)


def decode_columns(frame: DataFrame, schema: StructType) -> DataFrame:
    """Convert the columns of a DataFrame back to their own types.

    Args:
        frame: columns as `encode_columns` makes them.
        schema: the schema that the columns had before they were encoded.
    """
    return convert_columns(frame, schema, lambda substitute: substitute.decoded)


def convert_columns(frame: DataFrame, schema: StructType, choose: ChooseTemplate) -> DataFrame:
    """Encode or decode those columns of a DataFrame that have substitutes.

    Args:
        frame: the DataFrame.
        schema: the schema of the columns before they are encoded.
        choose: chooses the template that converts a value.
    """
    if all(find_sent_type(field.dataType) == field.dataType for field in schema.fields):
        return frame
    items = []
    for field in schema.fields:
        name = quote_name(field.name)
        items.append(f"{convert_parts(name, field.dataType, choose)} AS {name}")
    return frame.selectExpr(*items)


def convert_parts(
    value: str,
    type_: DataType,
    choose: ChooseTemplate,
    find: FindSubstitute = find_substitute,
    depth: int = 0,
) -> str:
    """Return SQL of a value in which each part that has a substitute is converted.

    Args:
        value: SQL of the value.
        type_: the type of the value before it is encoded.
        choose: chooses the template that converts a part.
        find: finds the substitutes of the value and of its parts.
        depth: the number of arrays around the value. The variables of lambdas get it as a number,
            so that they have different names.
    """
    if find_sent_type(type_, find) == type_:
        return value
    substitute = find(type_)
    if substitute is not None:
        return choose(substitute).format(value)
    match type_:
        case spark_types.ArrayType():
            element = convert_parts(f"e{depth}", type_.elementType, choose, find, depth + 1)
            return f"transform({value}, e{depth} -> {element})"
        case spark_types.MapType():  # as two arrays, because Sail has no transform_values
            keys_type = spark_types.ArrayType(type_.keyType)
            values_type = spark_types.ArrayType(type_.valueType)
            keys = convert_parts(f"map_keys({value})", keys_type, choose, find, depth)
            values = convert_parts(f"map_values({value})", values_type, choose, find, depth)
            return f"map_from_arrays({keys}, {values})"
    assert isinstance(type_, StructType)
    fields = []
    for field in type_.fields:
        field_value = f"{value}.{quote_name(field.name)}"
        converted = convert_parts(field_value, field.dataType, choose, find, depth)
        fields.append(f"{quote_string(field.name)}, {converted}")
    return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def write_text(value: str, type_: DataType) -> str:
    """Return SQL of a text that differs for different values. Bytes are shown in hexadecimal.

    >>> from pyspark.sql.types import ArrayType, BinaryType
    >>> write_text("x", ArrayType(BinaryType()))
    "CAST(transform(x, e0 -> concat('X', chr(39), hex(e0), chr(39))) AS STRING)"
    """
    shown = convert_parts(
        value, type_, lambda substitute: substitute.encoded, find_bytes_substitute
    )
    return f"CAST({shown} AS STRING)"


def find_bytes_substitute(type_: DataType) -> Substitute | None:
    """Return the substitute of bytes in a text, for instance `X'0AFF'`; None for other types.

    Geometries and geographies are shown by their bytes, because Spark cannot cast them to text.
    """
    is_spatial = type_.typeName() in ("geometry", "geography")
    if not is_spatial and not isinstance(type_, spark_types.BinaryType):
        return None
    value_bytes = "ST_AsBinary({0})" if is_spatial else "{0}"
    text = f"concat('X', chr(39), hex({value_bytes}), chr(39))"
    return Substitute(spark_types.StringType(), encoded=text, decoded="")


def write_microseconds(value: str) -> str:
    """Return SQL of the microseconds of a day-time interval, as a BIGINT."""
    full = f"CAST({value} AS INTERVAL DAY TO SECOND)"
    seconds = (
        f"EXTRACT({unit} FROM {full}) {conversion}" for unit, conversion in CONVERSIONS_TO_SECONDS
    )
    return f"CAST(({' + '.join(seconds)}) * 1000000 AS BIGINT)"
