"""CAST of every type into every other, against Spark."""

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
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table

pytestmark = pytest.mark.larger  # its rows are

TARGETS = (
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(38,10)",
    "DECIMAL(3,0)", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY",
)  # fmt: skip
WHOLE = (None, 0, 1, -1, 127, 128, -129, 32_768, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63))
WIDE = (
    None, "0E-5", "1.00000", "127.99999", "-128.99999", "2147483647.50000", "0.00001",
    "9223372036854775807.00000", "9223372036854775808.00000", "-99999999999999999999.99999",
)  # fmt: skip


def round_to_single(value: float) -> float:
    """Return the nearest number of 32 bits."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


VALUES: tuple[tuple[ValueType, list[tuple[Value]]], ...] = (
    (TINYINT, [(one,) for one in (None, 0, 1, -128, 127)]),
    (SMALLINT, [(one,) for one in (None, 0, 1, -32_768, 128)]),
    (INT, list(some.make_single_rows(some.INTS, some.draw_small_number, 20))),
    (BIGINT, list(some.make_single_rows(WHOLE, some.draw_instant, 100))),
    (FLOAT, [(None if x is None or abs(x) > 3e38 else round_to_single(x),) for x in some.FLOATS]),
    (DOUBLE, list(some.make_single_rows(some.FLOATS, some.draw_float))),
    (build_decimal_type(10, 2), [(decimal,) for decimal in some.DECIMALS]),
    (build_decimal_type(25, 5), [(None if one is None else Decimal(one),) for one in WIDE]),
    (STRING, list(some.make_single_rows((*some.TEXTS, *some.NUMERALS), some.draw_numeral))),
    (BOOLEAN, [(None,), (True,), (False,)]),
    (DATE, list(some.make_single_rows(some.DAYS, some.draw_day))),
    (TIMESTAMP, list(some.make_single_rows(some.INSTANTS, some.draw_instant))),
    (TIMESTAMP_NTZ, list(some.make_single_rows(some.INSTANTS, some.draw_instant))),
)


@pytest.mark.parametrize(("type_", "rows"), VALUES, ids=lambda one: getattr(one, "name", ""))
def test_casts(spark: SparkSession, type_: ValueType, rows: list[tuple[Value]]) -> None:
    cases = [
        Case(name, f"{name}({{0}} AS {target})", (0,), (target,))
        for target in TARGETS
        for name in ("CAST", "TRY_CAST")
        if find_cast_type(FunctionUse((type_,), (target,))) is not None
    ]
    zone = "America/New_York" if "time" in type_.name or "date" in type_.name else "UTC"
    Table((type_,), rows).check(spark, cases, zone)
