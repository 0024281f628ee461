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

from typing import NamedTuple, cast

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructType

from matchrec.plan.text import quote_name
from matchrec.spark.types import change_inner_types
from matchrec.spark.value_parts import FindTemplate, convert_parts, has_converted_part

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


def find_encoding(type_: DataType) -> str | None:
    """Return the template that encodes values of a type; None if they have no substitute."""
    substitute = find_substitute(type_)
    return None if substitute is None else substitute.encoded


def find_decoding(type_: DataType) -> str | None:
    """Return the template that decodes values of a type; None if they have no substitute.

    Args:
        type_: the type before the values were encoded.
    """
    substitute = find_substitute(type_)
    return None if substitute is None else substitute.decoded


def find_sent_type(type_: DataType) -> DataType:
    """Return the type in which values of a type are sent.

    >>> from pyspark.sql.types import ArrayType, LongType, NullType
    >>> find_sent_type(ArrayType(NullType(), False)), find_sent_type(ArrayType(LongType(), False))
    (ArrayType(NullType(), True), ArrayType(LongType(), False))
    """
    substitute = find_substitute(type_)
    if substitute is not None:
        return substitute.type
    return change_inner_types(type_, find_sent_type)


def build_sent_schema(schema: StructType) -> StructType:
    """Return the schema of rows as they are sent."""
    return cast("StructType", change_inner_types(schema, find_sent_type))


def encode_columns(frame: DataFrame) -> DataFrame:
    """Convert the columns of a DataFrame to types that can be sent."""
    return convert_columns(frame, frame.schema, find_encoding)


def decode_columns(frame: DataFrame, schema: StructType) -> DataFrame:
    """Convert the columns of a DataFrame back to their own types.

    Args:
        frame: columns as `encode_columns` makes them.
        schema: the schema that the columns had before they were encoded.
    """
    return convert_columns(frame, schema, find_decoding)


def convert_columns(frame: DataFrame, schema: StructType, find_template: FindTemplate) -> DataFrame:
    """Encode or decode those columns of a DataFrame that have substitutes.

    Args:
        frame: the DataFrame.
        schema: the schema of the columns before they are encoded.
        find_template: `find_encoding` or `find_decoding`.
    """
    if not has_converted_part(schema, find_template):
        return frame
    items = []
    for field in schema.fields:
        name = quote_name(field.name)
        items.append(f"{convert_parts(name, field.dataType, find_template)} AS {name}")
    return frame.selectExpr(*items)


def write_microseconds(value: str) -> str:
    """Return SQL of the microseconds of a day-time interval, as a BIGINT."""
    full = f"CAST({value} AS INTERVAL DAY TO SECOND)"
    seconds = (
        f"EXTRACT({unit} FROM {full}) {conversion}" for unit, conversion in CONVERSIONS_TO_SECONDS
    )
    return f"CAST(({' + '.join(seconds)}) * 1000000 AS BIGINT)"
