"""Write the SQL of the text that shows a value, and that names it in `partition` and `row`."""

from __future__ import annotations

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType

from matchrec.spark.value_parts import convert_parts


def write_text(value: str, type_: DataType) -> str:
    """Return SQL of the text of a value. Bytes are shown in hexadecimal.

    >>> from pyspark.sql.types import ArrayType, BinaryType
    >>> write_text("x", ArrayType(BinaryType()))
    "CAST(transform(x, e0 -> concat('X', chr(39), hex(e0), chr(39))) AS STRING)"
    """
    return f"CAST({convert_parts(value, type_, find_bytes_template)} AS STRING)"


def find_bytes_template(type_: DataType) -> str | None:
    """Return the SQL of the text of bytes, for instance `X'0AFF'`; None for other types.

    Geometries and geographies are shown by their bytes, because Spark cannot cast them to text.
    """
    if isinstance(type_, spark_types.BinaryType):
        value_bytes = "{0}"
    elif type_.typeName() in ("geometry", "geography"):
        value_bytes = "ST_AsBinary({0})"
    else:
        return None
    return f"concat('X', chr(39), hex({value_bytes}), chr(39))"
