"""Build Spark SQL expressions that convert a column to JSON text, as `to_json` does.

The engine evaluates the expressions, so that its tasks do the work in parallel. `to_json` itself is
used only for these types:

- strings, which it escapes,
- bytes, which it encodes as Base64,
- variants, whose type is known only for each value.

For other types it is not used: Spark's `to_json` cuts times to milliseconds, and Sail's omits
fields that are NULL and takes local times for UTC.

For example, a field `n` of type INT in the column `c0`, and a field `days` of type ARRAY<DATE> in
the column `c1`:

    concat(
        '{',
        '"n":',
        coalesce(CAST(c0 AS STRING), 'null'),
        ',"days":',
        IF(c1 IS NULL, 'null', concat('[', array_join(transform(c1, e0 -> ...), ','), ']')),
        '}')

Its value is a text such as:

    {"n":3,"days":["2026-01-31","2026-02-01"]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matchrec.plan.text import quote_name, quote_string

if TYPE_CHECKING:
    from pyspark.sql.types import ArrayType, DataType, MapType, StructType

# Key types whose scalar JSON is already a quoted string. Keys of other types are cast to STRING
# first.
STRING_LIKE_KEY_TYPES = ("string", "timestamp", "timestamp_ntz", "date")


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field of a JSON object, with the SQL that computes its value."""

    name: str
    value_sql: str
    # The type of the value in Spark.
    data_type: DataType


@dataclass(frozen=True, slots=True)
class JsonSqlWriter:
    """Writes SQL whose value is the JSON of other SQL."""

    # The time zone of the session, which is the zone of the instants in the JSON.
    zone: str
    # The number of lambda functions around the value. Nested functions need parameters with
    # different names: `e0`, `e1` …
    depth: int = 0

    def write_object(self, fields: Iterable[JsonField]) -> str:
        """Return SQL for the JSON of an object that is not NULL."""
        parts = [quote_string("{")]
        for index, field in enumerate(fields):
            comma = "," if index else ""
            name = json.dumps(field.name, ensure_ascii=False)
            parts.append(quote_string(f"{comma}{name}:"))
            parts.append(self.write_value(field.value_sql, field.data_type))
        parts.append(quote_string("}"))
        return f"concat({', '.join(parts)})"

    def write_value(self, value_sql: str, data_type: DataType) -> str:
        """Return SQL for the JSON of a value of any type. The JSON of NULL is the text `null`."""
        from pyspark.sql.types import ArrayType, MapType, StructType

        match data_type:
            case StructType():
                json_sql = self.write_struct(value_sql, data_type)
            case ArrayType():
                json_sql = self.write_array(value_sql, data_type)
            case MapType():
                json_sql = self.write_map(value_sql, data_type)
            case _:
                return f"coalesce({self.write_scalar(value_sql, data_type)}, 'null')"
        return f"IF({value_sql} IS NULL, 'null', {json_sql})"

    def write_struct(self, struct_sql: str, data_type: StructType) -> str:
        """Return SQL for the JSON of a struct that is not NULL, as an object."""
        return self.write_object(
            JsonField(field.name, f"{struct_sql}.{quote_name(field.name)}", field.dataType)
            for field in data_type
        )

    def write_array(self, array_sql: str, data_type: ArrayType) -> str:
        """Return SQL for the JSON of an array that is not NULL."""
        parameter = f"e{self.depth}"
        element_json_sql = self.enter_lambda().write_value(parameter, data_type.elementType)
        elements_sql = f"transform({array_sql}, {parameter} -> {element_json_sql})"
        return f"concat('[', array_join({elements_sql}, ','), ']')"

    def write_map(self, map_sql: str, data_type: MapType) -> str:
        """Return SQL for the JSON of a map that is not NULL, as an object."""
        parameter = f"e{self.depth}"
        inner_writer = self.enter_lambda()
        key_json_sql = inner_writer.write_key(f"{parameter}.key", data_type.keyType)
        value_json_sql = inner_writer.write_value(f"{parameter}.value", data_type.valueType)
        pair_sql = f"concat({key_json_sql}, ':', {value_json_sql})"
        pairs_sql = f"transform(map_entries({map_sql}), {parameter} -> {pair_sql})"
        return f"concat('{{', array_join({pairs_sql}, ','), '}}')"

    def enter_lambda(self) -> JsonSqlWriter:
        """Return the writer for values inside of a lambda function."""
        return replace(self, depth=self.depth + 1)

    def write_key(self, key_sql: str, data_type: DataType) -> str:
        """Return SQL for the JSON of a map's key, which is always a string in JSON."""
        from pyspark.sql.types import StringType

        if data_type.simpleString() in STRING_LIKE_KEY_TYPES:
            return self.write_scalar(key_sql, data_type)
        return self.write_scalar(f"CAST({key_sql} AS STRING)", StringType())

    def write_scalar(self, value_sql: str, data_type: DataType) -> str:
        """Return SQL for the JSON of a value without fields or elements; NULL for NULL."""
        from pyspark.sql.types import (
            BooleanType,
            DateType,
            DayTimeIntervalType,
            DecimalType,
            DoubleType,
            FloatType,
            IntegralType,
            NullType,
            TimestampNTZType,
            TimestampType,
            YearMonthIntervalType,
        )

        string_sql = f"CAST({value_sql} AS STRING)"
        match data_type:
            case IntegralType() | DecimalType() | BooleanType():
                return string_sql
            case DoubleType() | FloatType():
                return (
                    f"CASE WHEN isnan({value_sql}) THEN '\"NaN\"'"
                    f" WHEN {value_sql} = double('Infinity') THEN '\"Infinity\"'"
                    f" WHEN {value_sql} = double('-Infinity') THEN '\"-Infinity\"'"
                    f" ELSE {string_sql} END"
                )
            case TimestampType():
                return self.write_instant(value_sql)
            case TimestampNTZType():
                return f"""concat('"', translate({string_sql}, ' ', 'T'), '"')"""
            case DateType() | DayTimeIntervalType() | YearMonthIntervalType():
                return f"""concat('"', {string_sql}, '"')"""
            case NullType():
                return "CAST(NULL AS STRING)"
            case _:  # strings, bytes and variants
                return self.write_with_to_json(value_sql)

    def write_with_to_json(self, value_sql: str) -> str:
        """Return SQL for the JSON that `to_json` writes for a value; NULL for NULL.

        `to_json` does not accept scalars. So it gets a struct with the value as its field `v`, and
        the braces and the name are cut off: `{"v":"text"}` becomes `"text"`.
        """
        object_sql = f"to_json(named_struct('v', {value_sql}))"
        prefix, suffix = '{"v":', "}"
        length_sql = f"length({object_sql}) - {len(prefix) + len(suffix)}"
        json_sql = f"substring({object_sql}, {len(prefix) + 1}, {length_sql})"
        return f"IF({value_sql} IS NULL, NULL, {json_sql})"

    def write_instant(self, value_sql: str) -> str:
        """Return SQL for the JSON of an instant, such as `"2026-01-31T10:00:00.25-05:00"`."""
        from matchrec.spark.time_zones import find_fixed_offset

        # On Sail a time can have another zone. The cast converts it to the session's.
        instant_sql = f"CAST({value_sql} AS TIMESTAMP)"
        local_sql = f"translate(CAST({instant_sql} AS STRING), ' ', 'T')"
        offset = find_fixed_offset(self.zone)
        if offset is None:
            offset_sql = f"date_format({instant_sql}, 'XXX')"
        else:  # Sail has no date_format for such a zone
            offset_sql = quote_string("Z" if offset == "+00:00" else offset)
        return f"""concat('"', {local_sql}, {offset_sql}, '"')"""
