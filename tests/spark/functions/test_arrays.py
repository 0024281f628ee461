"""Functions of arrays have the values that Spark computes."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

from matchrec.conditions.functions.function import Value
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    ValueType,
    build_array_type,
)
from tests.spark.functions import arguments
from tests.spark.functions.spark_checks import ArgumentTable, FunctionCall, call

pytestmark = pytest.mark.larger  # a full run has more rows

NAN = float("nan")
ELEMENTS: dict[str, tuple[ValueType, tuple[Value, ...]]] = {
    "string": (STRING, ("a", "b", "", "é", "😀", "B", None)),
    "bigint": (BIGINT, (0, 1, -1, 7, 2**40, None)),
    "double": (DOUBLE, (0.0, -0.0, 1.5, NAN, float("-inf"), None)),
    "boolean": (BOOLEAN, (True, False, None)),
}
FUNCTIONS_OF_ONE_ARRAY = "size cardinality array_size"
FUNCTIONS_OF_TWO_ARRAYS = "array_intersect arrays_overlap"


@pytest.mark.parametrize("kind", ELEMENTS)
def test_functions_of_arrays_give_the_values_of_spark(spark: SparkSession, kind: str) -> None:
    type_, values = ELEMENTS[kind]

    def draw_array(generator: random.Random) -> Value:
        """Draw an array."""
        return tuple(generator.choices(values, k=generator.randint(0, 5)))

    def draw_element(generator: random.Random) -> Value:
        """Draw an element of an array."""
        return generator.choice(values)

    arrays = (None, (), (None,), values, values[:1] * 2, values[::-1])
    edge_values = (arrays, arrays[:4], values, (None, 0, 1, -1, 3, -9))
    rows = arguments.make_rows(
        edge_values, (draw_array, draw_array, draw_element, arguments.draw_small_number), 300
    )
    calls = [call(name, 0) for name in FUNCTIONS_OF_ONE_ARRAY.split()]
    calls += [call(name, 0, 1) for name in FUNCTIONS_OF_TWO_ARRAYS.split()]
    calls += [call("array_contains", 0, 2), FunctionCall("[]", "{0}[{3}]", (0, 3))]
    types = (build_array_type(type_), build_array_type(type_), type_, INT)
    ArgumentTable(types, rows).check(spark, calls)


def test_functions_of_nested_arrays_have_sparks_values(spark: SparkSession) -> None:
    inner_arrays = (None, (), (1,), (1, None), (None,), (2, 1))

    def draw_array(generator: random.Random) -> Value:
        """Draw an array."""
        return tuple(generator.choices(inner_arrays, k=generator.randint(0, 4)))

    def draw_element(generator: random.Random) -> Value:
        """Draw an element of an array."""
        return generator.choice(inner_arrays)

    rows = arguments.make_rows(
        ((None, (), inner_arrays), (None, (), inner_arrays), inner_arrays),
        (draw_array, draw_array, draw_element),
        100,
    )
    calls = [call(name, 0, 1) for name in FUNCTIONS_OF_TWO_ARRAYS.split()]
    calls += [call("size", 0), call("array_contains", 0, 2)]
    calls += [FunctionCall(sign, f"{{0}} {sign} {{1}}", (0, 1)) for sign in ("=", "<", ">=", "<=>")]
    ArgumentTable(
        (
            build_array_type(build_array_type(INT)),
            build_array_type(build_array_type(INT)),
            build_array_type(INT),
        ),
        rows,
    ).check(spark, calls)
