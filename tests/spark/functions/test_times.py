"""Functions of days, times and intervals, against Spark, in time zones with and without summer."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.conditions.types import DATE, INTERVAL, TIMESTAMP, TIMESTAMP_NTZ, Family, ValueType
from tests.quick.scale import some_of
from tests.spark.functions import arguments as some
from tests.spark.functions.asked import Case, Table, call

ZONES = some_of(("America/New_York", "Australia/Lord_Howe", "+05:30"))
MONTHS = ValueType(Family.MONTHS, "interval year to month")
UNITS = (
    "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER",
    "YEAR",
)  # fmt: skip
TIMES = {"date": DATE, "timestamp": TIMESTAMP, "timestamp_ntz": TIMESTAMP_NTZ}
CORNERS = {"date": some.DAYS, "timestamp": some.INSTANTS, "timestamp_ntz": some.INSTANTS}
DRAWS = {"date": some.draw_day, "timestamp": some.draw_instant, "timestamp_ntz": some.draw_instant}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", TIMES)
def test_distances(spark: SparkSession, kind: str, zone: str) -> None:
    rows = some.make_rows((CORNERS[kind],) * 2, (DRAWS[kind],) * 2)
    cases = [
        Case("TIMESTAMPDIFF", f"timestampdiff({unit}, {{0}}, {{1}})", (0, 1), (unit,))
        for unit in UNITS
    ]
    cases += [call("datediff", 0, 1)]
    Table((TIMES[kind],) * 2, rows).check(spark, cases, zone)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_shifts(spark: SparkSession, kind: str, zone: str) -> None:
    near = [one for one in CORNERS[kind] if one is None or abs(one) < 10**17]
    rows = some.make_rows((near, some.INTERVAL_TYPES), (DRAWS[kind], some.draw_span))
    cases = [Case(f"TIME {one}", f"{{0}} {one} {{1}}", (0, 1)) for one in "+-"]
    Table((TIMES[kind], INTERVAL), rows).check(spark, cases, zone)


def test_settings_that_say_what_is_meant(spark: SparkSession) -> None:
    # a TIMESTAMP of local time, and a zone by its short name: noon of the tenth is 22:00 in UTC
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
