"""CAST of each type to each other type has the values that Spark computes."""

from __future__ import annotations

import struct
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from matchrec.conditions.functions.casts import find_cast_type
from matchrec.conditions.functions.function import FunctionUse, Value
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    ValueType,
    build_decimal_type,
)
from tests.spark.functions import arguments
from tests.spark.functions.spark_checks import ArgumentTable, FunctionCall

pytestmark = pytest.mark.larger  # a full run has more rows

TARGETS = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(38,10)",
    "DECIMAL(3,0)", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY",
)  # fmt: skip
BIGINTS = (None, 0, 1, -1, 127, 128, -129, 32_768, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63))
WIDE_DECIMALS = (
    None, "0E-5", "1.00000", "127.99999", "-128.99999", "2147483647.50000", "0.00001",
    "9223372036854775807.00000", "9223372036854775808.00000", "-99999999999999999999.99999",
)  # fmt: skip


def round_to_float(value: float | None) -> float | None:
    """Return the nearest number of type FLOAT (32 bits), or None if there is none."""
    if value is None or abs(value) > 3e38:
        return None
    return struct.unpack("<f", struct.pack("<f", value))[0]


VALUES: tuple[tuple[ValueType, list[tuple[Value]]], ...] = (
    (TINYINT, [(number,) for number in (None, 0, 1, -128, 127)]),
    (SMALLINT, [(number,) for number in (None, 0, 1, -32_768, 128)]),
    (INT, list(arguments.make_single_rows(arguments.INTS, arguments.draw_small_number, 20))),
    (BIGINT, list(arguments.make_single_rows(BIGINTS, arguments.draw_instant, 100))),
    (FLOAT, [(round_to_float(number),) for number in arguments.FLOATS]),
    (DOUBLE, list(arguments.make_single_rows(arguments.FLOATS, arguments.draw_float))),
    (build_decimal_type(10, 2), [(decimal,) for decimal in arguments.DECIMALS]),
    (
        build_decimal_type(25, 5),
        [(None if text is None else Decimal(text),) for text in WIDE_DECIMALS],
    ),
    (
        STRING,
        list(
            arguments.make_single_rows(
                (*arguments.TEXTS, *arguments.NUMERALS), arguments.draw_numeral
            )
        ),
    ),
    (BOOLEAN, [(None,), (True,), (False,)]),
    (DATE, list(arguments.make_single_rows(arguments.DAYS, arguments.draw_day))),
    (TIMESTAMP, list(arguments.make_single_rows(arguments.INSTANTS, arguments.draw_instant))),
    (TIMESTAMP_NTZ, list(arguments.make_single_rows(arguments.INSTANTS, arguments.draw_instant))),
)


@pytest.mark.parametrize(
    ("type_", "rows"), VALUES, ids=lambda parameter: getattr(parameter, "name", "")
)
def test_casts_give_the_values_of_spark(
    spark: SparkSession, type_: ValueType, rows: list[tuple[Value]]
) -> None:
    calls = [
        FunctionCall(name, f"{name}({{0}} AS {target})", (0,), (target,))
        for target in TARGETS
        for name in ("CAST", "TRY_CAST")
        if find_cast_type(FunctionUse((type_,), (target,))) is not None
    ]
    zone = "America/New_York" if "time" in type_.name or "date" in type_.name else "UTC"
    ArgumentTable((type_,), rows).check(spark, calls, zone)
