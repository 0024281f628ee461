"""Functions of dates, times and intervals have Spark's values, with and without summer time."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.conditions.types import DATE, INTERVAL, TIMESTAMP, TIMESTAMP_NTZ, Family, ValueType
from tests.quick.scale import some_of
from tests.spark.functions import arguments
from tests.spark.functions.spark_checks import ArgumentTable, FunctionCall, call

ZONES = some_of(("America/New_York", "Australia/Lord_Howe", "+05:30"))
MONTHS = ValueType(Family.MONTHS, "interval year to month")
UNITS = (
    "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER",
    "YEAR",
)  # fmt: skip
TIMES = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ}
EDGE_VALUES = {
    "date": arguments.DAYS,
    "timestamp": arguments.INSTANTS,
    "timestamp_ntz": arguments.INSTANTS,
}
DRAWS = {
    "date": arguments.draw_day,
    "timestamp": arguments.draw_instant,
    "timestamp_ntz": arguments.draw_instant,
}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_distances_of_times_are_as_in_spark(spark: SparkSession, kind: str, zone: str) -> None:
    rows = arguments.make_rows((EDGE_VALUES[kind],) * 2, (DRAWS[kind],) * 2)
    calls = [
        FunctionCall("TIMESTAMPDIFF", f"timestampdiff({unit}, {{0}}, {{1}})", (0, 1), (unit,))
        for unit in UNITS
    ]
    calls += [call("datediff", 0, 1)]
    ArgumentTable((TIMES[kind],) * 2, rows).check(spark, calls, zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_times_plus_and_minus_intervals_are_as_in_spark(
    spark: SparkSession, kind: str, zone: str
) -> None:
    near = [instant for instant in EDGE_VALUES[kind] if instant is None or abs(instant) < 10**17]
    rows = arguments.make_rows((near, arguments.INTERVALS), (DRAWS[kind], arguments.draw_span))
    calls = [FunctionCall(f"TIME {sign}", f"{{0}} {sign} {{1}}", (0, 1)) for sign in "+-"]
    ArgumentTable((TIMES[kind], INTERVAL), rows).check(spark, calls, zone)


def test_settings_decide_the_type_and_the_zone_of_timestamps(spark: SparkSession) -> None:
    # TIMESTAMP means local time, and the zone has a short name: noon of the 10th is 22:00 in UTC
    settings = {"spark.sql.timestampType": "TIMESTAMP_NTZ", "spark.sql.session.timeZone": "HST"}
    before = {name: spark.conf.get(name) for name in settings}
    query = """
    SELECT k FROM VALUES (1, DATE '2024-01-09', TIMESTAMP_LTZ '2024-01-10 22:00:00Z'),
        (2, DATE '2024-01-10', TIMESTAMP_LTZ '2024-01-09 22:00:00Z') AS t(d, day, at)
    MATCH_RECOGNIZE (ORDER BY d MEASURES A.d AS k PATTERN (A B) DEFINE B AS
        CAST(greatest(A.day, day) AS TIMESTAMP) = TIMESTAMP '2024-01-10 00:00:00'
        AND CAST(greatest(A.at, at) AS TIMESTAMP_NTZ) = TIMESTAMP_NTZ '2024-01-10 12:00:00')"""
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        assert [row.k for row in matchrec.sql(spark, query).collect()] == [1]
    finally:
        for name, value in before.items():
            spark.conf.set(name, str(value))
