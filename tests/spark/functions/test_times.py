"""Functions of days, times and intervals, against Spark, in time zones with and without summer."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.conditions.functions.times import SPELLINGS
from matchrec.conditions.types import (
    BOOLEAN,
    DATE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Family,
    ValueType,
    decimal,
)
from tests.quick.scale import some_of
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

ZONES = some_of(("America/New_York", "Australia/Lord_Howe", "+05:30"))
MONTHS = ValueType(Family.MONTHS, "interval year to month")
UNITS = (
    "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER",
    "YEAR",
)  # fmt: skip
OF_ONE = (
    "year", "quarter", "month", "weekofyear", "day", "dayofmonth", "dayofweek", "weekday",
    "dayofyear", "hour", "minute", "second", "last_day", "unix_date",
)  # fmt: skip
FORMATS = (
    "year", "YYYY", "yy", "quarter", "month", "mon", "MM", "week", "day", "DD", "hour", "minute",
    "second", "millisecond", "microsecond", "nonsense", None,
)  # fmt: skip
TIMES = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ}
CORNERS = {"date": some.DAYS, "timestamp": some.INSTANTS, "timestamp_ntz": some.INSTANTS}
DRAWS = {"date": some.day, "timestamp": some.instant, "timestamp_ntz": some.instant}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_parts(spark: SparkSession, kind: str, zone: str) -> None:
    rows = some.rows((CORNERS[kind],), (DRAWS[kind],), 300)
    cases = [Case("EXTRACT", f"extract({field} FROM {{0}})", (0,), (field,)) for field in SPELLINGS]
    names = [one for one in OF_ONE if kind == "date" or one != "unix_date"]
    Table((TIMES[kind],), rows).check(spark, cases + [call(one, 0) for one in names], zone)


def test_parts_of_intervals(spark: SparkSession) -> None:
    rows = some.rows((some.SPANS, some.INTS), (some.span, some.small), 200)
    spans = [
        Case("EXTRACT", f"extract({field} FROM {{0}})", (0,), (field,))
        for field in ("DAY", "HOUR", "MINUTE", "SECOND")
    ]
    months = [
        Case("EXTRACT", f"extract({field} FROM {{1}})", (1,), (field,))
        for field in ("YEAR", "MONTH")
    ]
    Table((INTERVAL, MONTHS), rows).check(spark, spans + months)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_distances(spark: SparkSession, kind: str, zone: str) -> None:
    rows = some.rows((CORNERS[kind],) * 2 + ((True, False, None),), (DRAWS[kind],) * 2 + (choice,))
    cases = [
        Case("TIMESTAMPDIFF", f"timestampdiff({unit}, {{0}}, {{1}})", (0, 1), (unit,))
        for unit in UNITS
    ]
    cases += [call("datediff", 0, 1), call("months_between", 0, 1), call("months_between", 0, 1, 2)]
    Table((TIMES[kind],) * 2 + (BOOLEAN,), rows).check(spark, cases, zone)


def choice(drawn: random.Random) -> bool:
    return drawn.random() < 0.5


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_shifts(spark: SparkSession, kind: str, zone: str) -> None:
    counts = (None, 0, 1, -1, 7, 25, -400)
    near = [one for one in CORNERS[kind] if one is None or abs(one) < 10**17]
    rows = some.rows((near, counts, some.SPANS), (DRAWS[kind], some.small, some.span))
    cases = [
        Case("TIMESTAMPADD", f"timestampadd({unit}, {{1}}, {{0}})", (1, 0), (unit,))
        for unit in UNITS
    ]
    cases += [call(name, 0, 1) for name in ("date_add", "date_sub", "add_months")]
    if kind != "date":
        cases += [Case(f"TIME {one}", f"{{0}} {one} {{2}}", (0, 2)) for one in "+-"]
    cases += [Case(f"TIME {one}", f"{{0}} {one} {{3}}", (0, 3)) for one in "+-"]
    rows = [(*row, row[1]) for row in rows]
    Table((TIMES[kind], INT, INTERVAL, MONTHS), rows).check(spark, cases, zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_firsts(spark: SparkSession, kind: str, zone: str) -> None:
    rows = some.rows((CORNERS[kind], FORMATS), (DRAWS[kind], lambda one: one.choice(FORMATS)), 200)
    cases = [call("trunc", 0, 1), call("date_trunc", 1, 0)]
    Table((TIMES[kind], STRING), rows).check(spark, cases, zone)


@pytest.mark.parametrize("zone", ZONES[:2])
def test_instants_as_numbers(spark: SparkSession, zone: str) -> None:
    rows = some.rows((some.INSTANTS,), (some.instant,))
    names = ("unix_timestamp", "unix_seconds", "unix_millis", "unix_micros")
    Table((TIMESTAMP,), rows).check(spark, [call(one, 0) for one in names], zone)


def test_multiples_of_intervals(spark: SparkSession) -> None:
    rows = some.rows(
        (some.SPANS, some.INTS[:9], some.DECIMALS, some.INTS[:9]),
        (some.span, some.small, lambda one: one.choice(some.DECIMALS), some.small),
    )
    cases = [
        Case(f"TIME {operator}", f"{{{span}}} {operator} {{{number}}}", (span, number))
        for operator in "*/"
        for span in (0, 3)
        for number in (1, 2)
    ]
    Table((INTERVAL, INT, decimal(10, 2), MONTHS), rows).check(spark, cases)


def test_settings_that_say_what_is_meant(spark: SparkSession) -> None:
    # a TIMESTAMP of local time, and a zone by its short name: noon of the tenth is 22:00 in UTC
    settings = {"spark.sql.timestampType": "TIMESTAMP_NTZ", "spark.sql.session.timeZone": "HST"}
    before = {name: spark.conf.get(name) for name in settings}
    query = """
    SELECT k FROM VALUES (1, DATE '2024-01-09', TIMESTAMP_LTZ '2024-01-10 22:00:00Z'),
        (2, DATE '2024-01-10', TIMESTAMP_LTZ '2024-01-09 22:00:00Z') AS t(d, day, at)
    MATCH_RECOGNIZE (ORDER BY d MEASURES A.d AS k PATTERN (A B) DEFINE B AS
        CAST(greatest(A.day, day) AS TIMESTAMP) = TIMESTAMP '2024-01-10 00:00:00'
        AND hour(greatest(A.at, at)) = 12)"""
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        assert [row.k for row in matchrec.sql(spark, query).collect()] == [1]
    finally:
        for name, value in before.items():
            spark.conf.set(name, str(value))
