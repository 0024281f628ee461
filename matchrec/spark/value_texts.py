"""Write SQL of the text of a value: messages show it, and users name partitions and rows by it.

    value                        its text
    "it's"                       it's
    array("it's", 'null', NULL)  ['it''s', 'null', null]
    array('a, b')                ['a, b']
    array('a', 'b')              ['a', 'b']
    named_struct('n', 1)         {1}
    X'0AFF'                      X'0AFF'

In an array, a map or a struct, strings have quotes, because otherwise different values would have
the same text. Sail writes NULL in such a value in capital letters.
"""

from __future__ import annotations

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType

from matchrec.spark.types import is_nested, normalize_value
from matchrec.spark.value_parts import convert_parts


def write_value_text(value: str, type_: DataType) -> str:
    """Return SQL of the text of a value.

    Values that can be compared have the same text only if they are equal, with one exception: the
    text of a timestamp has no time zone, so two instants have the same text in the hour that clocks
    show twice. In arrays, maps and structs, equal numbers also have the same text.

    >>> from pyspark.sql.types import ArrayType, BinaryType
    >>> write_value_text("x", ArrayType(BinaryType()))
    "CAST(transform(x, e0 -> concat('X', chr(39), hex(e0), chr(39))) AS STRING)"
    """
    find_template = find_part_template if is_nested(type_) else find_bytes_template
    return f"CAST({convert_parts(value, type_, find_template)} AS STRING)"


def find_part_template(type_: DataType) -> str | None:
    """Return the template of a part of an array, map or struct; None if CAST writes the part.

    A string gets quotes, and quotes in it are doubled. Both 0 and -0 have the text of 0, because
    they are equal.
    """
    if isinstance(type_, spark_types.StringType):
        return "concat(chr(39), replace({0}, chr(39), repeat(chr(39), 2)), chr(39))"
    if isinstance(type_, spark_types.FloatType | spark_types.DoubleType):
        return normalize_value("{0}", type_)
    return find_bytes_template(type_)


def find_bytes_template(type_: DataType) -> str | None:
    """Return the template of the text of bytes, for instance `X'0AFF'`; None for other types.

    Geometries and geographies are shown as bytes, because Spark cannot cast them to text.
    """
    if isinstance(type_, spark_types.BinaryType):
        value_bytes = "{0}"
    elif type_.typeName() in ("geometry", "geography"):
        value_bytes = "ST_AsBinary({0})"
    else:
        return None
    return f"concat('X', chr(39), hex({value_bytes}), chr(39))"
