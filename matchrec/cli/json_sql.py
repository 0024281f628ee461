"""Write the SQL whose value is the JSON text of another value.

The engine computes JSON itself, so that its tasks do it in parallel. `to_json` is used only for
texts, bytes and variants, because Spark's cuts times to milliseconds, and Sail's omits fields that
are NULL and takes local times for UTC.

A field `n` of type INT and a field `days` of type ARRAY<DATE>, in the columns `c0` and `c1`:

    concat(
        '{',
        '"n":',
        coalesce(CAST(c0 AS STRING), 'null'),
        ',"days":',
        IF(c1 IS NULL, 'null', concat('[', array_join(transform(c1, e0 -> ...), ','), ']')),
        '}')

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

# The types of map keys that JSON shows as `write_scalar` does. Other keys are cast to texts.
KEY_TYPES = ("string", "timestamp", "timestamp_ntz", "date")


@dataclass(frozen=True, slots=True)
class JsonField:
    """A field of a JSON object."""

    name: str
    # The SQL of its value.
    value: str
    data_type: DataType


@dataclass(frozen=True, slots=True)
class JsonSqlWriter:
    """Writes the SQL of JSON texts. All arguments and results that are `str` are SQL."""

    # The time zone of the session, which is the zone of the instants in the JSON.
    zone: str
    # The number of lambda functions around the value. Nested ones need parameters with different
    # names: `e0`, `e1` …
    depth: int = 0

    def write_object(self, fields: Iterable[JsonField]) -> str:
        """Return the JSON of an object that is not NULL."""
        parts = [quote_string("{")]
        for index, field in enumerate(fields):
            comma = "," if index else ""
            name = json.dumps(field.name, ensure_ascii=False)
            parts.append(quote_string(f"{comma}{name}:"))
            parts.append(self.write_value(field.value, field.data_type))
        parts.append(quote_string("}"))
        return f"concat({', '.join(parts)})"

    def write_value(self, value: str, data_type: DataType) -> str:
        """Return the JSON of a value of any type. The JSON of NULL is the text `null`."""
        from pyspark.sql.types import ArrayType, MapType, StructType

        match data_type:
            case StructType():
                text = self.write_struct(value, data_type)
            case ArrayType():
                text = self.write_array(value, data_type)
            case MapType():
                text = self.write_map(value, data_type)
            case _:
                return f"coalesce({self.write_scalar(value, data_type)}, 'null')"
        return f"IF({value} IS NULL, 'null', {text})"

    def write_struct(self, value: str, data_type: StructType) -> str:
        """Return the JSON of a struct that is not NULL, as an object."""
        return self.write_object(
            JsonField(field.name, f"{value}.{quote_name(field.name)}", field.dataType)
            for field in data_type
        )

    def write_array(self, value: str, data_type: ArrayType) -> str:
        """Return the JSON of an array that is not NULL."""
        element = f"e{self.depth}"
        element_text = self.enter_lambda().write_value(element, data_type.elementType)
        elements = f"transform({value}, {element} -> {element_text})"
        return f"concat('[', array_join({elements}, ','), ']')"

    def write_map(self, value: str, data_type: MapType) -> str:
        """Return the JSON of a map that is not NULL, as an object."""
        entry = f"e{self.depth}"
        key = self.write_key(f"{entry}.key", data_type.keyType)
        entry_value = self.enter_lambda().write_value(f"{entry}.value", data_type.valueType)
        pair = f"concat({key}, ':', {entry_value})"
        pairs = f"transform(map_entries({value}), {entry} -> {pair})"
        return f"concat('{{', array_join({pairs}, ','), '}}')"

    def enter_lambda(self) -> JsonSqlWriter:
        """Return the writer for values inside of a lambda function."""
        return replace(self, depth=self.depth + 1)

    def write_key(self, key: str, data_type: DataType) -> str:
        """Return the JSON of a map's key, which is always a text in JSON."""
        from pyspark.sql.types import StringType

        if data_type.simpleString() in KEY_TYPES:
            return self.write_scalar(key, data_type)
        return self.write_scalar(f"CAST({key} AS STRING)", StringType())

    def write_scalar(self, value: str, data_type: DataType) -> str:
        """Return the JSON of a value that is not an array, a map or a struct; NULL for NULL."""
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

        text = f"CAST({value} AS STRING)"
        match data_type:
            case IntegralType() | DecimalType() | BooleanType():
                return text
            case DoubleType() | FloatType():
                return (
                    f"CASE WHEN isnan({value}) THEN '\"NaN\"'"
                    f" WHEN {value} = double('Infinity') THEN '\"Infinity\"'"
                    f" WHEN {value} = double('-Infinity') THEN '\"-Infinity\"' ELSE {text} END"
                )
            case TimestampType():
                return self.write_instant(value)
            case TimestampNTZType():
                return f"""concat('"', translate({text}, ' ', 'T'), '"')"""
            case DateType() | DayTimeIntervalType() | YearMonthIntervalType():
                return f"""concat('"', {text}, '"')"""
            case NullType():
                return "CAST(NULL AS STRING)"
            case _:  # texts, bytes and variants
                return self.write_with_to_json(value)

    def write_with_to_json(self, value: str) -> str:
        """Return what `to_json` writes for a value; NULL for NULL.

        `to_json` takes only structs, so the JSON of a struct with the value is computed,
        `{"v":...}`, and the struct is cut off.
        """
        struct = f"to_json(named_struct('v', {value}))"
        prefix, suffix = '{"v":', "}"
        length = f"length({struct}) - {len(prefix) + len(suffix)}"
        text = f"substring({struct}, {len(prefix) + 1}, {length})"
        return f"IF({value} IS NULL, NULL, {text})"

    def write_instant(self, value: str) -> str:
        """Return the JSON of an instant, such as `"2026-01-31T10:00:00.25-05:00"`."""
        from matchrec.spark.time_zones import find_offset

        # On Sail a time may have another zone. The cast converts it to the session's.
        instant = f"CAST({value} AS TIMESTAMP)"
        local = f"translate(CAST({instant} AS STRING), ' ', 'T')"
        offset = find_offset(self.zone)
        if offset is None:
            offset_sql = f"date_format({instant}, 'XXX')"
        else:  # Sail has no date_format for such a zone
            offset_sql = quote_string("Z" if offset == "+00:00" else offset)
        return f"""concat('"', {local}, {offset_sql}, '"')"""
