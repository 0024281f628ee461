"""HASH and XXHASH64 of values of all types, against Spark."""

from __future__ import annotations

import random
from decimal import Decimal

from pyspark.sql import SparkSession

from matchrec.conditions.functions.type_names import FLOAT, TIMESTAMP, TINYINT
from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    array,
    decimal,
)
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Table, call

TYPES = (
    STRING, TINYINT, INT, BIGINT, DOUBLE, FLOAT, decimal(10, 2), decimal(30, 4), BOOLEAN, DATE,
    TIMESTAMP, array(STRING),
)  # fmt: skip
WIDE = (None, "0.0000", "-1.2500", "99999999999999999999999999.9999", "-0.0001", "12.8000")
SINGLE = (None, 0.0, -0.0, 1.5, -2.25, float("nan"), float("inf"), 16777216.0)


def long_text(drawn: random.Random) -> str:
    return some.text_of(drawn, longest=90)


def test_hashes(spark: SparkSession) -> None:
    drawn = random.Random(3)
    rows = [
        (
            drawn.choice([drawn.choice(some.TEXTS), long_text(drawn)]),
            drawn.choice((None, 0, 1, -128, 127)),
            drawn.choice(some.INTS),
            drawn.choice((*some.INSTANTS, 2**63 - 1, -(2**63))),
            drawn.choice(some.FLOATS),
            drawn.choice(SINGLE),
            drawn.choice(some.DECIMALS),
            None if (wide := drawn.choice(WIDE)) is None else Decimal(wide),
            drawn.choice((None, True, False)),
            drawn.choice(some.DAYS),
            drawn.choice(some.INSTANTS),
            drawn.choice((None, (), ("a", None), ("", long_text(drawn)))),
        )
        for _ in range(100)
    ]
    cases = [call(name, place) for name in ("hash", "xxhash64") for place in range(len(TYPES))]
    cases += [call(name, *range(len(TYPES))) for name in ("hash", "xxhash64")]
    Table(TYPES, rows).check(spark, cases)
