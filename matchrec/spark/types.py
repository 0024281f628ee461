"""Spark's types: as the plan has them, as values are sent to the workers, as rows are ordered.

1. A Spark type as a `ValueType` of the plan: `to_value_type`.
2. The schema of what the workers return: `build_read_schema`.
3. Types that Arrow cannot carry, and what is sent instead: `encode_columns` and `decode_columns`.
4. Values of ORDER BY as whole numbers: `OrderNumbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple, cast

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StructField, StructType
from typing_extensions import assert_never

from matchrec.compile.executable import Executable
from matchrec.conditions import types
from matchrec.conditions.types import VOID, Family, ValueType, build_nested_type, find_type
from matchrec.errors import match_totals as errors
from matchrec.output.reads import (
    ColumnType,
    ListType,
    NamedType,
    Nullability,
    ReadAt,
    ReadKind,
    ReadRow,
    ReadType,
    RowsType,
    SumType,
    TotalType,
)
from matchrec.plan.text import quote_name, quote_string
from matchrec.plan.totals import TotalAggregate
from matchrec.worker import wire

# Spark's types that hold other values, and the families of the plan's types.
NESTED: dict[type[spark.DataType], Family] = {
    spark.ArrayType: Family.ARRAY,
    spark.MapType: Family.MAP,
    spark.StructType: Family.STRUCT,
}

# Spark's types of intervals, and the families of the plan's types.
INTERVALS: dict[type[spark.DataType], Family] = {
    spark.DayTimeIntervalType: Family.INTERVAL,
    spark.YearMonthIntervalType: Family.MONTHS,
}


def to_value_type(type_: spark.DataType) -> ValueType:
    """Return the plan's type of a Spark type.

    A collated string is OTHER, because its order is Spark's own. So is an array, a map or a struct
    that holds a value of such a type.
    """
    name = type_.simpleString()
    if is_nested(type_):
        names = tuple(type_.names) if isinstance(type_, StructType) else ()
        parts = tuple(to_value_type(inner_type) for inner_type in list_inner_types(type_))
        if any(part.family is Family.OTHER and part != VOID for part in parts):
            return ValueType(Family.OTHER, name)
        return build_nested_type(NESTED[type(type_)], names, parts)
    if isinstance(type_, spark.DecimalType):
        return ValueType(Family.DECIMAL, name, 64, type_.precision, type_.scale)
    if name.startswith("time("):  # since Spark 4.1
        return ValueType(Family.TIME, name)
    return find_type(name.upper()) or ValueType(INTERVALS.get(type(type_), Family.OTHER), name)


def has_distance(type_: spark.DataType) -> bool:
    """Return whether two values have a distance: numbers, times of a calendar and intervals."""
    return to_value_type(type_).family in types.NUMBERS | types.TIMES | types.INTERVAL_TYPES.keys()


def sorts_exactly(type_: spark.DataType) -> bool:
    """Return whether our own sort has Spark's order and equality of values.

    It holds for PARTITION BY as for ORDER BY. Collated texts, nested values, maps, variants and
    calendar intervals are left to Spark's own sort.
    """
    return to_value_type(type_).family not in types.COMPARED_BY_SPARK


def is_nested(type_: spark.DataType) -> bool:
    """Return whether values of a type hold other values, as arrays do."""
    return type(type_) in NESTED


def list_inner_types(type_: spark.DataType) -> list[spark.DataType]:
    """Return the types of what values of a type hold directly; none if they hold nothing."""
    match type_:
        case spark.ArrayType():
            return [type_.elementType]
        case spark.MapType():
            return [type_.keyType, type_.valueType]
        case spark.StructType():
            return [field.dataType for field in type_.fields]
    return []


def iterate_types(type_: spark.DataType) -> Iterator[spark.DataType]:
    """Yield a type and the types in it, at any depth.

    >>> [part.simpleString() for part in iterate_types(ArrayType(ArrayType(LongType())))]
    ['array<array<bigint>>', 'array<bigint>', 'bigint']
    """
    yield type_
    for inner_type in list_inner_types(type_):
        yield from iterate_types(inner_type)


def change_inner_types(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    """Return an array, map or struct type with its inner types changed; another type as it is."""
    match type_:
        case ArrayType():
            return ArrayType(change(type_.elementType), type_.containsNull)
        case spark.MapType():
            key, value = change(type_.keyType), change(type_.valueType)
            return spark.MapType(key, value, type_.valueContainsNull)
        case StructType():
            return StructType(
                [
                    StructField(field.name, change(field.dataType), field.nullable, field.metadata)
                    for field in type_
                ]
            )
    return type_


def allow_inner_nulls(columns: Iterable[StructField]) -> list[StructField]:
    """Return the fields, with NULL allowed inside of arrays, maps and structs.

    >>> longs = ArrayType(LongType(), containsNull=False)
    >>> allow_inner_nulls([StructField("a", longs, nullable=False)])
    [StructField('a', ArrayType(LongType(), True), False)]
    """
    return [
        StructField(column.name, allow_nulls(column.dataType), column.nullable, column.metadata)
        for column in columns
    ]


def allow_nulls(type_: DataType) -> DataType:
    """Return a type with NULL allowed inside of arrays, maps and structs."""
    match change_inner_types(type_, allow_nulls):
        case ArrayType(elementType=element):
            return ArrayType(element)
        case spark.MapType(keyType=key, valueType=value):
            return spark.MapType(key, value)
        case StructType(fields=fields):
            return StructType(
                [StructField(field.name, field.dataType, True, field.metadata) for field in fields]
            )
        case other_type:
            return other_type


def write_type(type_: DataType) -> str:
    """Return a type as SQL, with the names of fields in quotes.

    `simpleString` does not quote them, so Spark may be unable to read it.

    >>> write_type(ArrayType(StructType().add("at night", LongType())))
    'array<struct<`at night`: bigint>>'
    """
    match type_:
        case spark.ArrayType():
            return f"array<{write_type(type_.elementType)}>"
        case spark.MapType():
            return f"map<{write_type(type_.keyType)}, {write_type(type_.valueType)}>"
        case StructType():
            fields = (
                f"{quote_name(field.name)}: {write_type(field.dataType)}" for field in type_.fields
            )
            return f"struct<{', '.join(fields)}>"
    return type_.simpleString()


def find_sum_type(type_: spark.DataType) -> spark.DataType:
    """Return the type of Spark's `sum` over numbers of a type."""
    if isinstance(type_, spark.DecimalType):
        precision = types.find_sum_precision(type_.precision)
        return spark.DecimalType(precision, type_.scale)
    if isinstance(type_, spark.IntegralType):
        return spark.LongType()
    return spark.DoubleType()


def build_read_schema(executable: Executable, inputs: Sequence[StructField]) -> StructType:
    """Return the schema of what the workers return.

    Args:
        executable: the compiled query.
        inputs: the fields of the columns that are sent to the workers.
    """
    reads_kind = any(isinstance(read, ReadKind) for read in executable.reads)
    shows_partial = executable.task.partial is not None or reads_kind
    shows_unmatched = executable.rows_per_match.shows_unmatched
    nullability = Nullability(
        columns=tuple(field.nullable for field in inputs),
        has_rows_without_match=shows_unmatched or shows_partial,
    )
    fields = []
    for name, read in zip(wire.name_output(executable), executable.reads, strict=True):
        read_type = type_of_read(read.type, inputs)
        padding = find_padding(inputs[read.column]) if isinstance(read, ReadRow | ReadAt) else None
        fields.append(StructField(name, read_type, read.may_be_null(nullability), padding))
    return StructType(fields)


# The key in the metadata of a STRING column that is CHAR(n) or VARCHAR(n) in its table.
CHAR = "__CHAR_VARCHAR_TYPE_STRING"


def find_padding(field: StructField) -> dict[str, str] | None:
    """Return the metadata of a CHAR(n) or VARCHAR(n) column; None for other columns.

    By this metadata, Spark pads what it compares with the column.
    """
    return {CHAR: field.metadata[CHAR]} if CHAR in field.metadata else None


def find_char_length(field: StructField) -> int | None:
    """Return the n of a CHAR(n) column; None for other columns."""
    type_name, _, length = str(field.metadata.get(CHAR, "")).rstrip(")").partition("(")
    return int(length) if type_name == "char" else None


# The Spark types of reads whose type does not depend on the input.
NAMED_TYPES: dict[NamedType, DataType] = {
    NamedType.TEXT: spark.StringType(),
    NamedType.NUMBER: LongType(),
    NamedType.TRUTH: spark.BooleanType(),
    NamedType.DOUBLE: DoubleType(),
    NamedType.INTEGERS: ArrayType(spark.IntegerType(), containsNull=False),
}


def type_of_read(type_: ReadType, inputs: Sequence[StructField]) -> DataType:
    """Return the Spark type of a value that is read.

    Args:
        type_: its type in terms of the input's columns.
        inputs: the fields of these columns.
    """
    match type_:
        case ColumnType(column):
            return inputs[column].dataType
        case SumType(column):
            return find_sum_type(inputs[column].dataType)
        case ListType(column):
            return ArrayType(inputs[column].dataType, containsNull=False)
        case RowsType(columns, names):
            value_types = [inputs[column].dataType for column in columns]
            field_types = [*value_types, spark.StringType(), LongType()]
            row_type = make_struct_type(dict(zip(names, field_types, strict=True)))
            return ArrayType(row_type, containsNull=False)
        case NamedType():
            return NAMED_TYPES[type_]
        case TotalType(aggregate, measure):
            return find_total_type(
                aggregate, None if measure is None else type_of_read(measure, inputs)
            )
        case _:
            assert_never(type_)


def find_total_type(aggregate: TotalAggregate, measure: DataType | None) -> DataType:
    """Return the type of an aggregate over all matches.

    It is the type of Spark's own aggregate over the matches, or the type of the CAST around it.

    Args:
        aggregate: the aggregate.
        measure: the type of the measure that it aggregates; None if it counts matches.

    Raises:
        MatchRecognizePlanError: the CAST is to a decimal that would round the aggregate.
    """
    if measure is not None and aggregate.function in ("min", "max"):
        return measure
    if aggregate.is_double:
        return DoubleType()
    spark_type = (
        LongType() if measure is None or aggregate.function == "count" else find_sum_type(measure)
    )
    if aggregate.cast is None:
        return spark_type
    exact_type = spark.DecimalType(38, find_scale(spark_type))
    exact_cast = None if spark_type == DoubleType() else f"DECIMAL(38, {exact_type.scale})"
    if aggregate.cast != exact_cast:
        raise errors.inexact_cast(aggregate=aggregate, exact=replace(aggregate, cast=exact_cast))
    return exact_type


def find_scale(type_: DataType) -> int:
    """Return the number of digits after the point of a decimal; 0 for other types."""
    return type_.scale if isinstance(type_, spark.DecimalType) else 0


def make_struct_type(fields: Mapping[str, DataType]) -> StructType:
    """Return a struct type, or the schema of rows, whose fields may all be NULL."""
    return StructType([StructField(name, type_) for name, type_ in fields.items()])


# Types that Arrow cannot carry between Spark and Python, and what is sent instead.
#
# A year-month interval is sent as its months, a calendar interval as its text. Before Spark 4, a
# day-time interval is sent as its microseconds: Spark's Arrow writer of durations does not grow its
# buffers there. If an array, a map or a struct holds one of these, only the part is replaced.
# PyArrow has no VOID that is not NULL, which is the type of the elements of `array()` and `map()`:
# such an array is sent as one that may hold NULL, and such a map as whether there is one.
# Arrow has every other type that Spark has.

DURATIONS_CROSS = int(pyspark.__version__.split(".")[0]) >= 4

# What turns each field of an interval into seconds. Hours are taken modulo 24, because the HOUR of
# some engines includes the hours of the days.
SECONDS = (("DAY", "* 86400"), ("HOUR", "% 24 * 3600"), ("MINUTE", "% 60 * 60"), ("SECOND", "% 60"))


class Substitute(NamedTuple):
    """What is sent instead of a value whose type Arrow cannot carry.

    The two templates have `{0}` for a value as SQL.
    """

    type: spark.DataType  # the type in which the value is sent
    encoded: str  # SQL of what is sent, in terms of the value
    decoded: str  # SQL of the value, in terms of what is sent


# Chooses one of the two templates of a substitute.
ChooseTemplate = Callable[[Substitute], str]


def find_substitute(type_: spark.DataType) -> Substitute | None:
    """Return what is sent instead of a value of a type; None if the value itself is sent.

    The parts of an array, a map or a struct are not looked at.
    """
    match type_:
        case spark.YearMonthIntervalType():
            full = "CAST({0} AS INTERVAL YEAR TO MONTH)"
            months = f"CAST(EXTRACT(YEAR FROM {full}) * 12 + EXTRACT(MONTH FROM {full}) AS INT)"
            interval = f"CAST(make_ym_interval(0, {{0}}) AS {type_.simpleString()})"
            return Substitute(spark.IntegerType(), encoded=months, decoded=interval)
        case spark.DayTimeIntervalType() if not DURATIONS_CROSS:
            seconds = "CAST(CAST({0} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
            interval = f"CAST(make_dt_interval(0, 0, 0, {seconds}) AS {type_.simpleString()})"
            return Substitute(spark.LongType(), encoded=write_microseconds("{0}"), decoded=interval)
        case spark.MapType() if isinstance(type_.keyType, spark.NullType):
            is_there = "IF({0} IS NULL, NULL, true)"
            empty_map = "IF({0} IS NULL, NULL, map())"
            return Substitute(spark.BooleanType(), encoded=is_there, decoded=empty_map)
        case spark.ArrayType(elementType=spark.NullType()) if not type_.containsNull:
            nullable_type = spark.ArrayType(type_.elementType)
            empty_array = "IF({0} IS NULL, NULL, array())"
            return Substitute(nullable_type, encoded="{0}", decoded=empty_array)
        case _ if type_.typeName() == "interval":  # PySpark has a class for it since version 4
            text, interval = "CAST({0} AS STRING)", "CAST({0} AS INTERVAL)"
            return Substitute(spark.StringType(), encoded=text, decoded=interval)
    return None


# Returns the substitute of a value of a type, without its parts; None if it needs none.
FindSubstitute = Callable[[spark.DataType], Substitute | None]


def find_sent_type(type_: spark.DataType, find: FindSubstitute = find_substitute) -> spark.DataType:
    """Return the type in which values of a type are sent.

    Args:
        type_: the type.
        find: finds the substitutes of the value and of its parts.

    >>> from pyspark.sql.types import NullType
    >>> find_sent_type(ArrayType(NullType(), False)), find_sent_type(ArrayType(LongType(), False))
    (ArrayType(NullType(), True), ArrayType(LongType(), False))
    """
    substitute = find(type_)
    if substitute is not None:
        return substitute.type
    return change_inner_types(type_, lambda part: find_sent_type(part, find))


def build_sent_schema(schema: spark.StructType) -> spark.StructType:
    """Return the schema in which columns of a schema are sent."""
    return cast("StructType", change_inner_types(schema, find_sent_type))


def normalize_value(sql: str, type_: DataType) -> str:
    """Return SQL of a value in which equal values have the same bits: one NaN and one zero.

    Spark itself takes care of that when it groups and compares; other engines may not.

    >>> normalize_value("k", LongType()), normalize_value("k", DoubleType())
    ('k', 'CAST(nanvl(k, abs(sqrt(-1D))) + 0D AS double)')
    """
    if not isinstance(type_, spark.FloatType | DoubleType):
        return sql
    return f"CAST(nanvl({sql}, abs(sqrt(-1D))) + 0D AS {type_.simpleString()})"


def normalize_columns(fields: Sequence[StructField]) -> list[str]:
    """Return a select list of columns under their own names, each as `normalize_value`."""
    items = []
    for field in fields:
        name = quote_name(field.name)
        items.append(f"{normalize_value(name, field.dataType)} AS {name}")
    return items


def encode_columns(frame: DataFrame) -> DataFrame:
    """Convert the columns of a DataFrame to types that can be sent."""
    return convert_columns(frame, frame.schema, lambda substitute: substitute.encoded)


def decode_columns(frame: DataFrame, schema: spark.StructType) -> DataFrame:
    """Convert the columns of a DataFrame back to their own types.

    Args:
        frame: columns as `encode_columns` makes them.
        schema: the schema that they had before.
    """
    return convert_columns(frame, schema, lambda substitute: substitute.decoded)


def convert_columns(
    frame: DataFrame, schema: spark.StructType, choose: ChooseTemplate
) -> DataFrame:
    """Encode or decode the columns of a DataFrame that are not sent as they are.

    Args:
        frame: the DataFrame.
        schema: the schema of its columns when they are not encoded.
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
    type_: spark.DataType,
    choose: ChooseTemplate,
    find: FindSubstitute = find_substitute,
    depth: int = 0,
) -> str:
    """Return SQL of a value in which everything that has a substitute is converted.

    Args:
        value: SQL of the value.
        type_: its type when it is not encoded.
        choose: chooses the template that converts a part.
        find: finds the substitutes of the value and of its parts.
        depth: the number of arrays and maps around the value. The elements of each have a name of
            their own.
    """
    if find_sent_type(type_, find) == type_:
        return value
    substitute = find(type_)
    if substitute is not None:
        return choose(substitute).format(value)
    match type_:
        case spark.ArrayType():
            element = convert_parts(f"e{depth}", type_.elementType, choose, find, depth + 1)
            return f"transform({value}, e{depth} -> {element})"
        case spark.MapType():  # as two arrays, because Sail has no transform_values
            keys_type, values_type = ArrayType(type_.keyType), ArrayType(type_.valueType)
            keys = convert_parts(f"map_keys({value})", keys_type, choose, find, depth)
            values = convert_parts(f"map_values({value})", values_type, choose, find, depth)
            return f"map_from_arrays({keys}, {values})"
    assert isinstance(type_, spark.StructType)
    fields = []
    for field in type_.fields:
        field_value = f"{value}.{quote_name(field.name)}"
        converted = convert_parts(field_value, field.dataType, choose, find, depth)
        fields.append(f"{quote_string(field.name)}, {converted}")
    return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def write_text(value: str, type_: DataType) -> str:
    """Return SQL of a text that differs for different values; bytes are not read as letters.

    >>> from pyspark.sql.types import BinaryType
    >>> write_text("x", ArrayType(BinaryType()))
    "CAST(transform(x, e0 -> concat('X', chr(39), hex(e0), chr(39))) AS STRING)"
    """
    shown = convert_parts(
        value, type_, lambda substitute: substitute.encoded, find_bytes_substitute
    )
    return f"CAST({shown} AS STRING)"


def find_bytes_substitute(type_: DataType) -> Substitute | None:
    """Return how bytes are shown as text, for instance `X'0AFF'`; None for other types.

    Geometries and geographies are shown by their bytes, because they have no text of their own.
    """
    is_spatial = type_.typeName() in ("geometry", "geography")
    if not is_spatial and not isinstance(type_, spark.BinaryType):
        return None
    value_bytes = "ST_AsBinary({0})" if is_spatial else "{0}"
    text = f"concat('X', chr(39), hex({value_bytes}), chr(39))"
    return Substitute(spark.StringType(), encoded=text, decoded="")


def write_microseconds(value: str) -> str:
    """Return SQL of the microseconds of a day-time interval, as a BIGINT."""
    full = f"CAST({value} AS INTERVAL DAY TO SECOND)"
    seconds = (f"EXTRACT({unit} FROM {full}) {conversion}" for unit, conversion in SECONDS)
    return f"CAST(({' + '.join(seconds)}) * 1000000 AS BIGINT)"


# Values by which rows are ordered, such as the times from which rules are valid, as whole numbers.
#
# These are the numbers that the workers hold for the order: the microseconds of an instant, the
# days of a date, and whole numbers as they are.

EPOCH = datetime(1970, 1, 1)

# A template: SQL of the microseconds of a TIMESTAMP_NTZ.
SINCE_EPOCH = write_microseconds(f"{{0}} - TIMESTAMP_NTZ'{EPOCH}'")


class Counting(NamedTuple):
    """How the values of a type are whole numbers."""

    # What a Python value of the type is called in messages.
    wanted: str
    # The class of the Python values, and a subclass whose values are not of the type.
    python_class: type
    excluded_class: type | tuple[()]
    # A template: SQL of the number of a value `{0}`.
    number_sql: str
    # A template: SQL of the value of a `{number}` that is `{shown}` so, in the `{type}`.
    value_sql: str


TypeClass = type[spark.DataType]

COUNTINGS: Mapping[TypeClass, Counting] = {
    spark.TimestampType: Counting(
        wanted="a datetime",
        python_class=datetime,
        excluded_class=(),
        number_sql="unix_micros({0})",
        value_sql="timestamp_micros({number}L)",
    ),
    spark.TimestampNTZType: Counting(
        wanted="a datetime without a time zone",
        python_class=datetime,
        excluded_class=(),
        number_sql=SINCE_EPOCH,
        value_sql="TIMESTAMP_NTZ'{shown}'",
    ),
    spark.DateType: Counting(
        wanted="a date",
        python_class=date,
        excluded_class=datetime,
        number_sql="CAST(unix_date({0}) AS BIGINT)",
        value_sql="date_from_unix_date({number})",
    ),
    spark.IntegralType: Counting(
        wanted="a whole number",
        python_class=int,
        excluded_class=bool,
        number_sql="CAST({0} AS BIGINT)",
        value_sql="CAST({number}L AS {type})",
    ),
}


@dataclass(frozen=True)
class OrderNumbers:
    """The type of an ORDER BY column, which converts its values to whole numbers and back.

    >>> from pyspark.sql.types import DateType
    >>> OrderNumbers(DateType()).convert_value(date(1970, 1, 3))
    2
    >>> OrderNumbers(DateType()).write_literal(2)
    'date_from_unix_date(2)'
    """

    type: spark.DataType  # of an instant, a wall clock, a date or a whole number

    @property
    def kind(self) -> TypeClass | None:
        """Return the class of the type in `COUNTINGS`; None for a type without whole numbers."""
        return next((kind for kind in COUNTINGS if isinstance(self.type, kind)), None)

    @property
    def counting(self) -> Counting:
        """Return how the values are whole numbers, which they must be."""
        assert self.kind is not None
        return COUNTINGS[self.kind]

    def is_alike(self, other: spark.DataType) -> bool:
        """Return whether another type has values of the same kind, or only NULL."""
        return isinstance(other, spark.NullType) or OrderNumbers(other).kind is self.kind

    def convert_value(self, value: Any) -> int | None:
        """Return a Python value as a number; None if it is not a value of the type."""
        counting = self.counting
        fits = isinstance(value, counting.python_class) and not isinstance(
            value, counting.excluded_class
        )
        if isinstance(self.type, spark.TimestampNTZType):
            fits = fits and value.tzinfo is None
        return int(self.type.toInternal(value)) if fits else None

    def holds(self, number: int) -> bool:
        """Return whether a number is in the range of the type.

        Every number that a Python value has is in the range of instants and dates.
        """
        limit = 1 << (to_value_type(self.type).bits - 1)
        return -limit <= number < limit

    def write_number(self, name: str) -> str:
        """Return SQL of the number of a column."""
        return self.counting.number_sql.format(name)

    def write_literal(self, number: int | None) -> str:
        """Return SQL of the value of a number; of NULL for None."""
        name = self.type.simpleString()
        if number is None:
            return f"CAST(NULL AS {name})"
        return self.counting.value_sql.format(number=number, shown=self.show(number), type=name)

    def show(self, number: int) -> str:
        """Return the value of a number as people read it, an instant in UTC.

        >>> from pyspark.sql.types import TimestampType
        >>> OrderNumbers(TimestampType()).show(0)
        '1970-01-01 00:00:00 UTC'
        """
        if self.kind is spark.IntegralType:
            return str(number)
        if self.kind is spark.DateType:
            return str(EPOCH.date() + timedelta(days=number))
        suffix = " UTC" if self.kind is spark.TimestampType else ""
        return f"{EPOCH + timedelta(microseconds=number)}{suffix}"
