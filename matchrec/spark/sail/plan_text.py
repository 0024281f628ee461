"""Read Sail's physical plan of a query, a text: the types of columns, or why there is no plan.

The schema of a query can have wrong types on Sail: CASE, IF and UNION have the type of their first
value. Only the plan has the types of the values. In its text, each operator ends with its schema:

    ProjectionExec: expr=[...], schema=[days:List(UInt16), n:Int32;N]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructField, StructType

from matchrec.spark.types import change_inner_types, is_nested, iterate_types

# The text that Sail returns instead of a plan if a query cannot run.
NO_PLAN = re.compile(r"^Physical plan error: (?:error in DataFusion: )?(?P<reason>.*)", re.M | re.S)

# In a plan of Sail: the text before and after the columns of an operator, and the text after the
# type of a column that can be NULL.
SCHEMA_START = ", schema=["
SCHEMA_END = "]\n"
NULLABLE_MARK = ";N"

# A decimal in a plan of Sail, with its parameters.
DECIMAL = re.compile(r"Decimal128\((\d+), (-?\d+)\)")

# Quoted text in a type: the names of fields.
QUOTED = re.compile(r"""(?s)"(?:\\.|[^"\\])*"|'[^']*'""")

# Finds the types in the text of a type without quoted text, from the outside in. An array, struct
# or map is in the first group, any other type in the second. The entries of a map are a struct in
# the text, which is skipped:
#
#     List(Struct(: Int32, : Utf8))                       List, Struct, Int32, Utf8
#     Map(: non-null Struct(: Utf8, : Int32), unsorted)   Map, Utf8, Int32
TYPE_IN_PLAN = re.compile(
    r"(?:Large|FixedSize)?(List|Struct|Map)\((?:(?<=Map\(): (?:non-null )?Struct\()?"
    r"|([A-Z]\w*(?:\([^()]*\))?)"
)

# The names in a plan of the types that contain other types.
NESTED_TYPES: dict[type[DataType], str] = {ArrayType: "List", MapType: "Map", StructType: "Struct"}

# The names in a plan of types that Spark has, too. They are Arrow's names.
TYPES_OF_SPARK = {
    "Boolean",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Float32",
    "Float64",
    "Utf8",
    "Date32",
}

# The names in a plan of types of unsigned numbers. Spark has none, but Parquet files have.
UNSIGNED_TYPES = {"UInt8", "UInt16", "UInt32", "UInt64"}


def check_is_plan(plan: str) -> None:
    """Check that a text is a plan, and not the reason why a query cannot run.

    Args:
        plan: the text that Sail has returned as the plan of the query.

    Raises:
        AnalysisException: the query cannot run.
    """
    no_plan = NO_PLAN.search(plan)
    if no_plan is not None:
        raise AnalysisException(no_plan["reason"])


def read_types(plan: str, fields: Sequence[StructField]) -> list[DataType]:
    """Return the types of the columns in a plan.

    Args:
        plan: the physical plan of a query as text, in which each operator has its schema.
        fields: the fields of the query's schema, whose types can be wrong. Names of struct fields
            come from these types, and so does a whole type that cannot be read from the plan.

    >>> fields = [StructField("days", ArrayType(DataType())), StructField("n", DataType())]
    >>> read_types("ProjectionExec: ..., schema=[days:List(UInt16), n:Int32;N]\\n", fields)
    [ArrayType(IntegerType(), True), IntegerType()]
    """
    type_texts = find_type_texts(plan, [field.name for field in fields])
    if type_texts is None:
        return [field.dataType for field in fields]
    return [
        read_type(QUOTED.sub("", text), field.dataType)
        for text, field in zip(type_texts, fields, strict=True)
    ]


def find_type_texts(plan: str, names: Sequence[str]) -> list[str] | None:
    """Return the texts of the columns' types in the first schema of a plan, the result's schema.

    Args:
        plan: as in `read_types`.
        names: the names of the columns, which the plan has without quotes.

    Returns:
        The texts; None if the plan does not have these columns.

    >>> find_type_texts("Exec, schema=[a, b:Int32, c:Utf8;N]\\n", ["a, b", "c"])
    ['Int32', 'Utf8']
    >>> find_type_texts("Exec, schema=[]\\n", [])
    []
    """
    # A name or a type can contain a comma, so each type ends where the next name begins.
    texts = []
    end = 0
    for index, name in enumerate(names):
        beginning = f"{', ' if index else SCHEMA_START}{name}:"
        next_beginning = f", {names[index + 1]}:" if index + 1 < len(names) else SCHEMA_END
        start = plan.find(beginning, end)
        end = plan.find(next_beginning, start + len(beginning))
        if start < 0 or end < 0:
            return None
        texts.append(plan[start + len(beginning) : end].removesuffix(NULLABLE_MARK))
    return texts


def read_type(text: str, schema_type: DataType) -> DataType:
    """Return a type in the schema with its innermost types replaced by those in a plan.

    The arrays, maps and structs around them, and the names of fields, stay as in the schema. If
    they are others in the plan, the result is the type in the plan if it is not nested, and the
    type in the schema otherwise. An unknown innermost type stays as in the schema, too.

    Args:
        text: the text of a type in a plan, without quoted text.
        schema_type: the type in the schema.

    >>> read_type("List(Int16)", ArrayType(DataType()))
    ArrayType(ShortType(), True)
    """
    types_in_plan = TYPE_IN_PLAN.findall(text)
    nesting_in_plan = [nested for nested, _ in types_in_plan]
    nesting_in_schema = [NESTED_TYPES.get(type(part), "") for part in iterate_types(schema_type)]
    if nesting_in_plan != nesting_in_schema:
        return read_type_name(text) or schema_type
    innermost_names = iter([innermost for _, innermost in types_in_plan if innermost])
    return replace_innermost_types(schema_type, innermost_names)


def replace_innermost_types(type_: DataType, names: Iterator[str]) -> DataType:
    """Return a type with its innermost types replaced by those with some names in a plan.

    Args:
        type_: the type.
        names: the name of each innermost type, from the outside in. They are taken from the
            iterator. An innermost type stays if its name is unknown.
    """
    if is_nested(type_):
        return change_inner_types(type_, lambda inner: replace_innermost_types(inner, names))
    return read_type_name(next(names)) or type_


def read_type_name(name: str) -> DataType | None:
    """Return the Spark type for a name in a plan; None for nested types and unknown names.

    >>> read_type_name("Int16"), read_type_name("Decimal128(10, 2)"), read_type_name("List(Int16)")
    (ShortType(), DecimalType(10,2), None)
    """
    from pyarrow import type_for_alias
    from pyspark.sql.pandas.types import from_arrow_type

    from matchrec.worker.arrow_types import find_spark_type

    decimal = DECIMAL.fullmatch(name)
    if decimal is not None:
        return DecimalType(int(decimal[1]), int(decimal[2]))
    if name not in TYPES_OF_SPARK | UNSIGNED_TYPES:
        return None
    return from_arrow_type(find_spark_type(type_for_alias(name.lower())))
