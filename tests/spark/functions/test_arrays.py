"""Functions of arrays, against Spark."""

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
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

pytestmark = pytest.mark.larger  # its rows are

NAN = float("nan")
ELEMENTS: dict[str, tuple[ValueType, tuple[Value, ...]]] = {
    "string": (STRING, ("a", "b", "", "é", "😀", "B", None)),
    "bigint": (BIGINT, (0, 1, -1, 7, 2**40, None)),
    "double": (DOUBLE, (0.0, -0.0, 1.5, NAN, float("-inf"), None)),
    "boolean": (BOOLEAN, (True, False, None)),
}
OF_ONE = "size cardinality array_size"
OF_TWO = "array_intersect arrays_overlap"


@pytest.mark.parametrize("kind", ELEMENTS)
def test_arrays(spark: SparkSession, kind: str) -> None:
    type_, values = ELEMENTS[kind]

    def several(drawn: random.Random) -> Value:
        return tuple(drawn.choices(values, k=drawn.randint(0, 5)))

    def one(drawn: random.Random) -> Value:
        return drawn.choice(values)

    lists = (None, (), (None,), values, values[:1] * 2, values[::-1])
    corners = (lists, lists[:4], values, (None, 0, 1, -1, 3, -9))
    rows = some.make_rows(corners, (several, several, one, some.draw_small_number), 300)
    cases = [call(name, 0) for name in OF_ONE.split()]
    cases += [call(name, 0, 1) for name in OF_TWO.split()]
    cases += [call("array_contains", 0, 2), Case("[]", "{0}[{3}]", (0, 3))]
    types = (build_array_type(type_), build_array_type(type_), type_, INT)
    Table(types, rows).check(spark, cases)


def test_arrays_of_arrays(spark: SparkSession) -> None:
    inner = (None, (), (1,), (1, None), (None,), (2, 1))

    def several(drawn: random.Random) -> Value:
        return tuple(drawn.choices(inner, k=drawn.randint(0, 4)))

    def one(drawn: random.Random) -> Value:
        return drawn.choice(inner)

    rows = some.make_rows(
        ((None, (), inner), (None, (), inner), inner), (several, several, one), 100
    )
    cases = [call(name, 0, 1) for name in OF_TWO.split()]
    cases += [call("size", 0), call("array_contains", 0, 2)]
    cases += [Case(sign, f"{{0}} {sign} {{1}}", (0, 1)) for sign in ("=", "<", ">=", "<=>")]
    Table(
        (
            build_array_type(build_array_type(INT)),
            build_array_type(build_array_type(INT)),
            build_array_type(INT),
        ),
        rows,
    ).check(spark, cases)
