"""Replace values whose types Arrow cannot carry between Spark and Python.

    type                          sent as               because
    year-month interval           its months            Arrow has no such type
    calendar interval             its text              Arrow has no such type
    day-time interval             its microseconds      before Spark 4, Spark cannot write many
                                                        durations to Arrow
    map with keys of type VOID    TRUE, or NULL         PyArrow has no VOID that is not NULL
    array of VOID without NULL    an array that can     PyArrow has no VOID that is not NULL
                                  contain NULL

Values of the last two types are always empty: `map()` and `array()`. Arrow has every other type of
Spark. If an array, a map or a struct contains such a value, only this part is replaced.
`encode_columns` replaces values before rows are sent, and `decode_columns` restores them.
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

# Whether Spark can write day-time intervals as durations of Arrow. Before version 4, its writer
# does not grow the buffer for them.
HAS_DURATIONS = int(pyspark.__version__.split(".")[0]) >= 4

# Each field of an interval, and the SQL after the field that converts it to seconds. The remainders
# are taken because the HOUR of some engines includes the hours of the days, and so on. The days are
# multiplied by a BIGINT, because the seconds of 69 years do not fit into an INT.
CONVERSIONS_TO_SECONDS = (
    ("DAY", "* 86400L"),
    ("HOUR", "% 24 * 3600"),
    ("MINUTE", "% 60 * 60"),
    ("SECOND", "% 60"),
)


class Substitute(NamedTuple):
    """The type and the SQL of the value that is sent instead of a value."""

    type: DataType  # the type of the sent value
    encoded: str  # a template of SQL of the sent value: `{0}` stands for the original value
    decoded: str  # a template of SQL of the original value: `{0}` stands for the sent value


def find_substitute(type_: DataType) -> Substitute | None:
    """Return the substitute of values of a type; None if they are sent unchanged.

    The parts of arrays, maps and structs have their own substitutes.
    """
    match type_:
        case spark_types.YearMonthIntervalType():
            value = "CAST({0} AS INTERVAL YEAR TO MONTH)"  # it has both fields
            months = f"CAST(EXTRACT(YEAR FROM {value}) * 12 + EXTRACT(MONTH FROM {value}) AS INT)"
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
        # A calendar interval. PySpark has a class for its type only since version 4.
        case _ if type_.typeName() == "interval":
            text = "CAST({0} AS STRING)"
            interval = "CAST({0} AS INTERVAL)"
            return Substitute(spark_types.StringType(), encoded=text, decoded=interval)
    return None


def find_encoding(type_: DataType) -> str | None:
    """Return the template that encodes values of a type; None if they have no substitute."""
    substitute = find_substitute(type_)
    return None if substitute is None else substitute.encoded


def find_decoding(type_: DataType) -> str | None:
    """Return the template that decodes values of a type; None if they have no substitute.

    Args:
        type_: the type of the values before they were encoded.
    """
    substitute = find_substitute(type_)
    return None if substitute is None else substitute.decoded


def find_sent_type(type_: DataType) -> DataType:
    """Return the type in which values of a type are sent, including their parts.

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
    """Return a DataFrame with columns that can be sent, instead of those that cannot."""
    return convert_columns(frame, frame.schema, find_encoding)


def decode_columns(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return a DataFrame with its columns converted back to their original types.

    Args:
        frame: a DataFrame whose columns are encoded as by `encode_columns`.
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
    interval = f"CAST({value} AS INTERVAL DAY TO SECOND)"  # it has all four fields
    seconds = [
        f"EXTRACT({field} FROM {interval}) {conversion}"
        for field, conversion in CONVERSIONS_TO_SECONDS
    ]
    return f"CAST(({' + '.join(seconds)}) * 1000000 AS BIGINT)"
