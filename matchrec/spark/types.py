"""Convert Spark's types to the types of plans, change their inner types, and write them as SQL.

These modules are about types and values, too:

- `read_types`: the types of the columns that the workers return;
- `substitutes`: the types in which values are sent to the workers;
- `value_texts`: the texts of values;
- `order_numbers`: the values of ORDER BY as whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructField, StructType

from matchrec.conditions import types
from matchrec.conditions.types import VOID, Family, ValueType, build_nested_type, find_type
from matchrec.plan.text import quote_name

# The families of the plan's types, by Spark's types that contain other types.
NESTED_FAMILIES: dict[type[DataType], Family] = {
    spark_types.ArrayType: Family.ARRAY,
    spark_types.MapType: Family.MAP,
    StructType: Family.STRUCT,
}

# The families of the plan's types, by Spark's types of intervals.
INTERVAL_FAMILIES: dict[type[DataType], Family] = {
    spark_types.DayTimeIntervalType: Family.INTERVAL,
    spark_types.YearMonthIntervalType: Family.MONTHS,
}


def to_value_type(type_: DataType) -> ValueType:
    """Return the type by which plans describe values of a Spark type.

    A collated string has the family OTHER, because only Spark knows its order. So does an array, a
    map or a struct that contains such a type.
    """
    name = type_.simpleString()
    if is_nested(type_):
        field_names = tuple(type_.names) if isinstance(type_, StructType) else ()
        inner_types = tuple(to_value_type(inner_type) for inner_type in list_inner_types(type_))
        if any(inner.family is Family.OTHER and inner != VOID for inner in inner_types):
            return ValueType(Family.OTHER, name)
        return build_nested_type(NESTED_FAMILIES[type(type_)], field_names, inner_types)
    if isinstance(type_, spark_types.DecimalType):
        return ValueType(Family.DECIMAL, name, 64, type_.precision, type_.scale)
    if name.startswith("time("):  # since Spark 4.1
        return ValueType(Family.TIME, name)
    known_type = find_type(name.upper())
    if known_type is not None:
        return known_type
    return ValueType(INTERVAL_FAMILIES.get(type(type_), Family.OTHER), name)


def has_distance(type_: DataType) -> bool:
    """Return whether values of a type can be subtracted: numbers, times and intervals."""
    return to_value_type(type_).family in types.NUMBERS | types.TIMES | types.INTERVAL_TYPES.keys()


def can_workers_sort(type_: DataType) -> bool:
    """Return whether the workers can sort and compare values of a type exactly as Spark does.

    They cannot do so for collated strings, nested values, variants and calendar intervals.
    """
    return to_value_type(type_).family not in types.COMPARED_BY_ENGINE


def is_nested(type_: DataType) -> bool:
    """Return whether a type is an array, a map or a struct."""
    return type(type_) in NESTED_FAMILIES


def list_inner_types(type_: DataType) -> list[DataType]:
    """Return the types that a nested type directly contains; empty for another type."""
    match type_:
        case spark_types.ArrayType():
            return [type_.elementType]
        case spark_types.MapType():
            return [type_.keyType, type_.valueType]
        case StructType():
            return [field.dataType for field in type_.fields]
    return []


def iterate_types(type_: DataType) -> Iterator[DataType]:
    """Yield a type and the types in it, at any depth.

    >>> from pyspark.sql.types import ArrayType, LongType
    >>> [part.simpleString() for part in iterate_types(ArrayType(ArrayType(LongType())))]
    ['array<array<bigint>>', 'array<bigint>', 'bigint']
    """
    yield type_
    for inner_type in list_inner_types(type_):
        yield from iterate_types(inner_type)


def change_inner_types(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    """Return an array, map or struct type with its direct inner types changed.

    Returns another type unchanged.

    >>> from pyspark.sql.types import ArrayType, LongType, StringType
    >>> change_inner_types(ArrayType(LongType()), lambda inner_type: StringType())
    ArrayType(StringType(), True)
    """
    match type_:
        case spark_types.ArrayType():
            return spark_types.ArrayType(change(type_.elementType), type_.containsNull)
        case spark_types.MapType():
            key_type = change(type_.keyType)
            value_type = change(type_.valueType)
            return spark_types.MapType(key_type, value_type, type_.valueContainsNull)
        case StructType():
            return StructType(
                [
                    StructField(field.name, change(field.dataType), field.nullable, field.metadata)
                    for field in type_
                ]
            )
    return type_


def allow_inner_nulls(fields: Iterable[StructField]) -> list[StructField]:
    """Return fields whose arrays, maps and structs can contain NULL. The fields keep `nullable`.

    >>> from pyspark.sql.types import ArrayType, LongType
    >>> longs = ArrayType(LongType(), containsNull=False)
    >>> allow_inner_nulls([StructField("a", longs, nullable=False)])
    [StructField('a', ArrayType(LongType(), True), False)]
    """
    return [
        StructField(field.name, allow_nulls(field.dataType), field.nullable, field.metadata)
        for field in fields
    ]


def allow_nulls(type_: DataType) -> DataType:
    """Return a type whose arrays, maps and structs, at any depth, can contain NULL."""
    match change_inner_types(type_, allow_nulls):
        case spark_types.ArrayType(elementType=element_type):
            return spark_types.ArrayType(element_type)
        case spark_types.MapType(keyType=key_type, valueType=value_type):
            return spark_types.MapType(key_type, value_type)
        case StructType(fields=fields):
            return StructType(
                [StructField(field.name, field.dataType, True, field.metadata) for field in fields]
            )
        case other_type:
            return other_type


def write_type(type_: DataType) -> str:
    """Return a type as SQL, with quotes around the names of fields.

    `simpleString` does not quote the names, so Spark cannot always read its result.

    >>> from pyspark.sql.types import ArrayType, LongType
    >>> write_type(ArrayType(StructType().add("at night", LongType())))
    'array<struct<`at night`: bigint>>'
    """
    match type_:
        case spark_types.ArrayType():
            return f"array<{write_type(type_.elementType)}>"
        case spark_types.MapType():
            return f"map<{write_type(type_.keyType)}, {write_type(type_.valueType)}>"
        case StructType():
            fields = (
                f"{quote_name(field.name)}: {write_type(field.dataType)}" for field in type_.fields
            )
            return f"struct<{', '.join(fields)}>"
    return type_.simpleString()


def find_sum_type(type_: DataType) -> DataType:
    """Return the type of Spark's `sum` over numbers of a type."""
    if isinstance(type_, spark_types.DecimalType):
        precision = types.find_sum_precision(type_.precision)
        return spark_types.DecimalType(precision, type_.scale)
    if isinstance(type_, spark_types.IntegralType):
        return spark_types.LongType()
    return spark_types.DoubleType()


def find_scale(type_: DataType) -> int:
    """Return the number of digits after the point of a decimal; 0 for other types."""
    return type_.scale if isinstance(type_, spark_types.DecimalType) else 0


def make_struct_type(fields: Mapping[str, DataType]) -> StructType:
    """Return a struct type, or the schema of rows, with these fields. Each of them can be NULL."""
    return StructType([StructField(name, type_) for name, type_ in fields.items()])


# The key of the metadata by which Spark marks a STRING column that is CHAR(n) or VARCHAR(n) in its
# table. The value is the type, such as "char(3)".
CHAR_METADATA = "__CHAR_VARCHAR_TYPE_STRING"


def find_char_metadata(field: StructField) -> dict[str, str] | None:
    """Return the metadata that marks a CHAR(n) or VARCHAR(n) column; None for other columns.

    Because of this metadata, Spark pads the values that it compares with the column.
    """
    if CHAR_METADATA not in field.metadata:
        return None
    return {CHAR_METADATA: field.metadata[CHAR_METADATA]}


def find_char_length(field: StructField) -> int | None:
    """Return the n of a CHAR(n) column; None for other columns."""
    type_text = str(field.metadata.get(CHAR_METADATA, ""))
    name, _, length = type_text.rstrip(")").partition("(")
    return int(length) if name == "char" else None


# SQL of the NaN that normalized values have. On some processors the square root of -1 is a NaN with
# a sign bit, which `abs` clears.
NAN = "abs(sqrt(-1D))"


def normalize_value(sql: str, type_: DataType) -> str:
    """Return SQL of a value such that equal values have the same bits: one NaN and one zero.

    Spark normalizes values itself when it groups and compares them. Sail does not.

    >>> from pyspark.sql.types import DoubleType, LongType
    >>> normalize_value("k", LongType()), normalize_value("k", DoubleType())
    ('k', 'CAST(nanvl(k, abs(sqrt(-1D))) + 0D AS double)')
    """
    if not isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
        return sql
    # -0 + 0 is 0.
    return f"CAST(nanvl({sql}, {NAN}) + 0D AS {type_.simpleString()})"


def normalize_columns(fields: Sequence[StructField]) -> list[str]:
    """Return the items of a select list that normalizes each column and keeps its name."""
    items = []
    for field in fields:
        name = quote_name(field.name)
        items.append(f"{normalize_value(name, field.dataType)} AS {name}")
    return items
