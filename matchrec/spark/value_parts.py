"""Write SQL that converts the parts of a value: elements of arrays and maps, fields of structs.

`substitutes` converts the parts that Arrow cannot carry, and `value_texts` the parts whose text
would be ambiguous.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructType

from matchrec.plan.text import quote_string
from matchrec.spark.types import iterate_types

# A function that returns a template of the SQL that converts values of a type. In the template,
# `{0}` stands for the SQL of the value. The function returns None if values of the type stay
# unchanged, or if only their parts are converted.
FindTemplate = Callable[[DataType], str | None]


def has_converted_part(type_: DataType, find_template: FindTemplate) -> bool:
    """Return whether values of a type, or parts of them at any depth, have a template."""
    return any(find_template(part_type) is not None for part_type in iterate_types(type_))


def convert_parts(value: str, type_: DataType, find_template: FindTemplate, depth: int = 0) -> str:
    """Return SQL of a value in which each part that has a template is converted.

    Args:
        value: SQL of the value.
        type_: the type for which `find_template` is called. When values are decoded, this is the
            type of the result, not of the value.
        find_template: finds the template of the value, and of its parts.
        depth: the number of arrays and maps around the value. It numbers the variables of lambdas,
            so that nested lambdas have different ones: `e0`, `e1`.

    >>> from pyspark.sql.types import ArrayType, BinaryType
    >>> convert_parts("x", ArrayType(BinaryType()), {BinaryType(): "hex({0})"}.get)
    'transform(x, e0 -> hex(e0))'
    """
    template = find_template(type_)
    if template is not None:
        return template.format(value)
    if not has_converted_part(type_, find_template):
        return value
    match type_:
        case spark_types.ArrayType():
            element = convert_parts(f"e{depth}", type_.elementType, find_template, depth + 1)
            return f"transform({value}, e{depth} -> {element})"
        case spark_types.MapType():  # as two arrays, because Sail has no transform_values
            keys_type = spark_types.ArrayType(type_.keyType)
            values_type = spark_types.ArrayType(type_.valueType)
            keys = convert_parts(f"map_keys({value})", keys_type, find_template, depth)
            values = convert_parts(f"map_values({value})", values_type, find_template, depth)
            return f"map_from_arrays({keys}, {values})"
    assert isinstance(type_, StructType)
    fields = []
    for field in type_.fields:
        # `t`.`f` would be the column f of a DataFrame with the alias t, if there is one.
        field_value = f"({value})[{quote_string(field.name)}]"
        converted = convert_parts(field_value, field.dataType, find_template, depth)
        fields.append(f"{quote_string(field.name)}, {converted}")
    return f"IF({value} IS NULL, NULL, named_struct({', '.join(fields)}))"
