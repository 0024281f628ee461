"""Spark types as the plan knows them, those of what measures read, and as values cross; those by
which rows are ordered, as whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, cast

import pyspark
from pyspark.sql import DataFrame
from pyspark.sql import types as spark
from pyspark.sql.types import ArrayType, DataType, DoubleType, LongType, StructField, StructType
from typing_extensions import assert_never

from matchrec.compile.executable import Executable
from matchrec.conditions import types
from matchrec.conditions.types import VOID, Family, ValueType, nested, type_named
from matchrec.errors import calls as errors
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
from matchrec.plan.text import quoted, string_literal
from matchrec.plan.totals import AskedTotal
from matchrec.worker import wire

NESTED: dict[type[spark.DataType], Family] = {
    spark.ArrayType: Family.ARRAY,
    spark.MapType: Family.MAP,
    spark.StructType: Family.STRUCT,
}

INTERVALS: dict[type[spark.DataType], Family] = {
    spark.DayTimeIntervalType: Family.INTERVAL,
    spark.YearMonthIntervalType: Family.MONTHS,
}


def value_type(type_: spark.DataType) -> ValueType:
    """The plan's type of a Spark type. A collated string is OTHER, as its order is Spark's own;
    so is what has such parts.
    """
    name = type_.simpleString()
    if type(type_) in NESTED:
        names = tuple(type_.names) if isinstance(type_, StructType) else ()
        parts = tuple(map(value_type, inner_types(type_)))
        is_other = any(part.family is Family.OTHER and part != VOID for part in parts)
        whole = ValueType(Family.OTHER, name)
        return whole if is_other else nested(NESTED[type(type_)], names, parts)
    if isinstance(type_, spark.DecimalType):
        return ValueType(Family.DECIMAL, name, 64, type_.precision, type_.scale)
    if name.startswith("time("):  # since Spark 4.1
        return ValueType(Family.TIME, name)
    return type_named(name.upper()) or ValueType(INTERVALS.get(type(type_), Family.OTHER), name)


def has_distance(type_: spark.DataType) -> bool:
    """Whether two values have a distance: numbers, times of a calendar and intervals."""
    return value_type(type_).family in types.NUMBERS | types.TIMES | types.SPANS.keys()


def sorts_exactly(type_: spark.DataType) -> bool:
    """Whether order and equality of values are Spark's; others stay with Spark's own sort."""
    return value_type(type_).family not in types.SPARKS_OWN


def is_nested(type_: spark.DataType) -> bool:
    return type(type_) in NESTED


def inner_types(type_: spark.DataType) -> list[spark.DataType]:
    match type_:
        case spark.ArrayType():
            return [type_.elementType]
        case spark.MapType():
            return [type_.keyType, type_.valueType]
        case spark.StructType():
            return [field.dataType for field in type_.fields]
    return []


def parts_of(type_: spark.DataType) -> Iterator[spark.DataType]:
    yield type_
    for one in inner_types(type_):
        yield from parts_of(one)


def with_parts(type_: DataType, changed: Callable[[DataType], DataType]) -> DataType:
    """The type of what holds values of the changed types; others as they are."""
    match type_:
        case ArrayType():
            return ArrayType(changed(type_.elementType), type_.containsNull)
        case spark.MapType():
            key, value = changed(type_.keyType), changed(type_.valueType)
            return spark.MapType(key, value, type_.valueContainsNull)
        case StructType():
            own = (StructField(f.name, changed(f.dataType), f.nullable, f.metadata) for f in type_)
            return StructType([*own])
    return type_


def with_nulls(columns: Iterable[StructField]) -> list[StructField]:
    """The fields, with NULL allowed inside of arrays, maps and structs.

    >>> with_nulls([StructField("a", ArrayType(LongType(), containsNull=False), nullable=False)])
    [StructField('a', ArrayType(LongType(), True), False)]
    """

    def widened(type_: DataType) -> DataType:
        match with_parts(type_, widened):
            case ArrayType(elementType=element):
                return ArrayType(element)
            case spark.MapType(keyType=key, valueType=value):
                return spark.MapType(key, value)
            case StructType(fields=parts):
                fields = [StructField(p.name, p.dataType, True, p.metadata) for p in parts]
                return StructType(fields)
            case other:
                return other

    return [StructField(f.name, widened(f.dataType), f.nullable, f.metadata) for f in columns]


def sql_type(type_: DataType) -> str:
    """A type as SQL, in which names of fields may be any.

    >>> sql_type(ArrayType(StructType().add("at night", LongType())))
    'array<struct<`at night`: bigint>>'
    """
    match type_:
        case spark.ArrayType():
            return f"array<{sql_type(type_.elementType)}>"
        case spark.MapType():
            return f"map<{sql_type(type_.keyType)}, {sql_type(type_.valueType)}>"
        case StructType():
            fields = (f"{quoted(one.name)}: {sql_type(one.dataType)}" for one in type_.fields)
            return f"struct<{', '.join(fields)}>"
    return type_.simpleString()


def sum_type(type_: spark.DataType) -> spark.DataType:
    if isinstance(type_, spark.DecimalType):
        return spark.DecimalType(min(38, type_.precision + 10), type_.scale)
    if isinstance(type_, spark.IntegralType):
        return spark.LongType()
    return spark.DoubleType()


def schema_of_reads(executable: Executable, inputs: Sequence[StructField]) -> StructType:
    """Return the schema of what the workers return.

    Args:
        executable: the compiled query.
        inputs: the fields of the columns that are sent to the workers.
    """
    partial = executable.task.partial is not None or ReadKind() in executable.reads
    nullability = Nullability(
        columns=tuple(field.nullable for field in inputs),
        has_rows_without_match=executable.rows_per_match.shows_unmatched or partial,
    )
    fields = []
    for name, read in zip(wire.names_of(executable), executable.reads, strict=True):
        padding = padding_of(inputs[read.column]) if isinstance(read, ReadRow | ReadAt) else None
        nullable = read.may_be_null(nullability)
        fields.append(StructField(name, type_of_read(read.type, inputs), nullable, padding))
    return StructType(fields)


CHAR = "__CHAR_VARCHAR_TYPE_STRING"  # in the metadata of a text that is CHAR(n) in its table


def padding_of(field: StructField) -> dict[str, str] | None:
    """The metadata by which Spark pads what it compares with a CHAR(n); None of other columns."""
    return {CHAR: field.metadata[CHAR]} if CHAR in field.metadata else None


def length_of(field: StructField) -> int | None:
    """The n of a column of CHAR(n); None of other columns."""
    kind, _, length = str(field.metadata.get(CHAR, "")).rstrip(")").partition("(")
    return int(length) if kind == "char" else None


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
            return sum_type(inputs[column].dataType)
        case ListType(column):
            return ArrayType(inputs[column].dataType, containsNull=False)
        case RowsType(columns, names):
            values = [inputs[column].dataType for column in columns]
            fields = zip(names, [*values, spark.StringType(), LongType()], strict=True)
            return ArrayType(struct_of(dict(fields)), containsNull=False)
        case NamedType():
            return NAMED_TYPES[type_]
        case TotalType(asked, of):
            return total_type(asked, None if of is None else type_of_read(of, inputs))
        case _:
            assert_never(type_)


def total_type(asked: AskedTotal, measure: DataType | None) -> DataType:
    """The type of an aggregate over all matches: that of Spark's own over these, or of its CAST.
    measure: the type of what it is over, None of a count of matches. Raises MatchRecognizePlanError
    for a CAST to a decimal that would round it.
    """
    if measure is not None and asked.function in ("min", "max"):
        return measure
    if asked.is_double:
        return DoubleType()
    own = LongType() if measure is None or asked.function == "count" else sum_type(measure)
    if asked.cast is None:
        return own
    widest = spark.DecimalType(38, scale_of(own))
    wanted = None if own == DoubleType() else f"DECIMAL(38, {widest.scale})"
    if asked.cast != wanted:
        raise errors.rounding_cast(asked=asked, exact=replace(asked, cast=wanted))
    return widest


def scale_of(type_: DataType) -> int:
    return type_.scale if isinstance(type_, spark.DecimalType) else 0


def struct_of(fields: Mapping[str, DataType]) -> StructType:
    """A struct, or rows, of fields that may all be NULL."""
    return StructType([StructField(name, kind) for name, kind in fields.items()])


# Types that Arrow cannot carry between Spark and Python, and what crosses in their place.
#
# A year-month interval crosses as its months, a calendar interval as its text. Before Spark 4, a
# day-time interval crosses as its microseconds: the Arrow writer of durations does not grow there.
# Where an array, a map or a struct holds one, its parts cross so. PyArrow has no VOID that is not
# NULL, which `array()` and `map()` hold: such an array crosses as one that may hold NULL, and such
# a map as whether there is one.

DURATIONS_CROSS = int(pyspark.__version__.split(".")[0]) >= 4

# What makes seconds of each unit; some sessions count the hours of the days in HOUR again.
SECONDS = (("DAY", "* 86400"), ("HOUR", "% 24 * 3600"), ("MINUTE", "% 60 * 60"), ("SECOND", "% 60"))


class Disguise(NamedTuple):
    """What crosses in place of a value: its type, and each as SQL of the other."""

    kind: spark.DataType
    encoded: str
    decoded: str


Way = Callable[[Disguise], str]  # of two, into a disguise or out of it


def disguise_of(type_: spark.DataType) -> Disguise | None:
    """How a value crosses that is not what it is, its parts left aside."""
    match type_:
        case spark.YearMonthIntervalType():
            full = "CAST({0} AS INTERVAL YEAR TO MONTH)"
            months = f"CAST(EXTRACT(YEAR FROM {full}) * 12 + EXTRACT(MONTH FROM {full}) AS INT)"
            interval = f"CAST(make_ym_interval(0, {{0}}) AS {type_.simpleString()})"
            return Disguise(spark.IntegerType(), months, interval)
        case spark.DayTimeIntervalType() if not DURATIONS_CROSS:
            seconds = "CAST(CAST({0} AS DECIMAL(20, 0)) / 1000000 AS DECIMAL(18, 6))"
            interval = f"CAST(make_dt_interval(0, 0, 0, {seconds}) AS {type_.simpleString()})"
            return Disguise(spark.LongType(), microseconds("{0}"), interval)
        case spark.MapType() if isinstance(type_.keyType, spark.NullType):
            empty = "IF({0} IS NULL, NULL, map())"
            return Disguise(spark.BooleanType(), "IF({0} IS NULL, NULL, true)", empty)
        case spark.ArrayType(elementType=spark.NullType()) if not type_.containsNull:
            empty = "IF({0} IS NULL, NULL, array())"
            return Disguise(spark.ArrayType(type_.elementType), "{0}", empty)
        case _ if type_.typeName() == "interval":  # which PySpark names from version 4 on
            return Disguise(spark.StringType(), "CAST({0} AS STRING)", "CAST({0} AS INTERVAL)")
    return None


Find = Callable[[spark.DataType], Disguise | None]


def crosses_as(type_: spark.DataType, find: Find = disguise_of) -> spark.DataType:
    """The type in which values of a type cross. find: the disguise of a part, if it has one.

    >>> from pyspark.sql.types import NullType
    >>> crosses_as(ArrayType(NullType(), False)), crosses_as(ArrayType(LongType(), False))
    (ArrayType(NullType(), True), ArrayType(LongType(), False))
    """
    disguise = find(type_)
    return with_parts(type_, partial(crosses_as, find=find)) if disguise is None else disguise.kind


def crossing_schema(wanted: spark.StructType) -> spark.StructType:
    return cast("StructType", with_parts(wanted, crosses_as))


def in_one_form(sql: str, type_: DataType) -> str:
    """A value as SQL in which what is equal has the same bits: one NaN and one zero.

    Spark takes care of that itself where it groups and compares; other sessions may not.

    >>> in_one_form("k", LongType()), in_one_form("k", DoubleType())
    ('k', 'CAST(nanvl(k, abs(sqrt(-1D))) + 0D AS double)')
    """
    if not isinstance(type_, spark.FloatType | DoubleType):
        return sql
    return f"CAST(nanvl({sql}, abs(sqrt(-1D))) + 0D AS {type_.simpleString()})"


def columns_in_one_form(fields: Sequence[StructField]) -> list[str]:
    return [f"{in_one_form(quoted(f.name), f.dataType)} AS {quoted(f.name)}" for f in fields]


def encode_columns(frame: DataFrame) -> DataFrame:
    return convert_columns(frame, frame.schema, attrgetter("encoded"))


def decode_columns(frame: DataFrame, wanted: spark.StructType) -> DataFrame:
    return convert_columns(frame, wanted, attrgetter("decoded"))


def convert_columns(frame: DataFrame, own: spark.StructType, way: Way) -> DataFrame:
    """Convert what does not cross as it is. own: the types of the columns."""
    if all(crosses_as(field.dataType) == field.dataType for field in own.fields):
        return frame
    named = ((quoted(field.name), field.dataType) for field in own.fields)
    items = (f"{convert_parts(name, type_, way)} AS {name}" for name, type_ in named)
    return frame.selectExpr(*items)


def convert_parts(
    value: str, type_: spark.DataType, way: Way, find: Find = disguise_of, depth: int = 0
) -> str:
    """Convert what does not cross, SQL to SQL. depth: of arrays and maps around it, for names."""
    if crosses_as(type_, find) == type_:
        return value
    if disguise := find(type_):
        return way(disguise).format(value)
    match type_:
        case spark.ArrayType():
            element = convert_parts(f"e{depth}", type_.elementType, way, find, depth + 1)
            return f"transform({value}, e{depth} -> {element})"
        case spark.MapType():  # Sail has no transform_values
            key, held = ArrayType(type_.keyType), ArrayType(type_.valueType)
            keys = convert_parts(f"map_keys({value})", key, way, find, depth)
            values = convert_parts(f"map_values({value})", held, way, find, depth)
            return f"map_from_arrays({keys}, {values})"
    assert isinstance(type_, spark.StructType)
    fields = (
        f"{string_literal(field.name)}, "
        + convert_parts(f"{value}.{quoted(field.name)}", field.dataType, way, find, depth)
        for field in type_.fields
    )
    return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"


def as_text(value: str, type_: DataType) -> str:
    """A value as SQL of a text that tells it from all others; bytes are not read as letters.

    >>> from pyspark.sql.types import BinaryType
    >>> as_text("x", ArrayType(BinaryType()))
    "CAST(transform(x, e0 -> concat('X', chr(39), hex(e0), chr(39))) AS STRING)"
    """
    shown = convert_parts(value, type_, attrgetter("encoded"), bytes_as_text)
    return f"CAST({shown} AS STRING)"


def bytes_as_text(type_: DataType) -> Disguise | None:
    """How bytes and places are shown, which have none but these."""
    is_place = type_.typeName() in ("geometry", "geography")
    if not is_place and not isinstance(type_, spark.BinaryType):
        return None
    known = "ST_AsBinary({0})" if is_place else "{0}"
    return Disguise(spark.StringType(), f"concat('X', chr(39), hex({known}), chr(39))", "")


def microseconds(value: str) -> str:
    """A day-time interval as SQL of a number."""
    full = f"CAST({value} AS INTERVAL DAY TO SECOND)"
    units = (f"EXTRACT({unit} FROM {full}) {seconds}" for unit, seconds in SECONDS)
    return f"CAST(({' + '.join(units)}) * 1000000 AS BIGINT)"


# Values that rows are ordered by, such as the times from which rules hold, as whole numbers.
#
# They are the numbers as which the workers hold the order: microseconds of an instant, days of a
# date, and whole numbers as they are.

EPOCH = datetime(1970, 1, 1)
SINCE_EPOCH = microseconds(f"{{0}} - TIMESTAMP_NTZ'{EPOCH}'")


class Counting(NamedTuple):
    """How the values of a type are numbers. wanted: what a value is in Python, which is a `known`
    and no `other`. number: of a value, as SQL; value: of a number.
    """

    wanted: str
    known: type
    other: type | tuple[()]
    number: str
    value: str


TypeClass = type[spark.DataType]

COUNTINGS: Mapping[TypeClass, Counting] = {
    spark.TimestampType: Counting(
        "a datetime", datetime, (), "unix_micros({0})", "timestamp_micros({number}L)"
    ),
    spark.TimestampNTZType: Counting(
        "a datetime without a time zone", datetime, (), SINCE_EPOCH, "TIMESTAMP_NTZ'{shown}'"
    ),
    spark.DateType: Counting(
        "a date", date, datetime, "CAST(unix_date({0}) AS BIGINT)", "date_from_unix_date({number})"
    ),
    spark.IntegralType: Counting(
        "a whole number", int, bool, "CAST({0} AS BIGINT)", "CAST({number}L AS {type})"
    ),
}


@dataclass(frozen=True)
class OrderTimes:
    """Values of the type of an order, which is an instant, a wall clock, a date or a number."""

    type: spark.DataType

    @property
    def kind(self) -> TypeClass | None:
        """What the type is one of; None where its values are no whole numbers."""
        return next((kind for kind in COUNTINGS if isinstance(self.type, kind)), None)

    @property
    def counting(self) -> Counting:
        assert self.kind is not None
        return COUNTINGS[self.kind]

    def is_alike(self, other: spark.DataType) -> bool:
        return isinstance(other, spark.NullType) or OrderTimes(other).kind is self.kind

    def number(self, value: Any) -> int | None:
        """A value of Python's as a number; None for what is no such value."""
        counting = self.counting
        fits = isinstance(value, counting.known) and not isinstance(value, counting.other)
        if isinstance(self.type, spark.TimestampNTZType):
            fits = fits and value.tzinfo is None
        return int(self.type.toInternal(value)) if fits else None

    def holds(self, number: int) -> bool:
        """Whether the type has the number; instants and dates have all that are asked of them."""
        limit = 1 << (value_type(self.type).bits - 1)
        return -limit <= number < limit

    def number_of_column(self, name: str) -> str:
        return self.counting.number.format(name)

    def literal(self, number: int | None) -> str:
        name = self.type.simpleString()
        if number is None:
            return f"CAST(NULL AS {name})"
        return self.counting.value.format(number=number, shown=self.shown(number), type=name)

    def shown(self, number: int) -> str:
        """A number as people read it, an instant in UTC."""
        if self.kind is spark.IntegralType:
            return str(number)
        if self.kind is spark.DateType:
            return str(EPOCH.date() + timedelta(days=number))
        utc = " UTC" if self.kind is spark.TimestampType else ""
        return f"{EPOCH + timedelta(microseconds=number)}{utc}"
