"""The hour and the day of an instant are those in the time zone of the session, not of a file."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec import Pattern
from matchrec.warnings import DaysInHoursWarning
from tests.properties.test_queries import settings

HOURS = 48
FIRST = datetime(2026, 10, 31, tzinfo=timezone.utc)  # a day before clocks go back in New York
IN_NEW_YORK = [(hour + 20) % 24 for hour in range(30)] + [(hour + 1) % 24 for hour in range(18)]


@pytest.fixture(params=["UTC", "Asia/Tokyo"])
def events(spark: SparkSession, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Create a view of one event per hour, from a file with a time zone.

    The session is in New York.
    """
    times = [FIRST + timedelta(hours=hour) for hour in range(HOURS)]
    zoned = pa.timestamp("us", request.param)
    table = {
        "id": pa.array(range(HOURS)),
        "ts": pa.array(times, zoned),
        "parts": pa.array([{"all days": [time]} for time in times],
                          pa.struct({"all days": pa.list_(zoned)})),
    }  # fmt: skip
    pq.write_table(pa.table(table), tmp_path / "events.parquet")
    with settings(spark, session__timeZone="America/New_York"):
        spark.read.parquet(str(tmp_path / "events.parquet")).createOrReplaceTempView("hours")
        yield "hours"
        spark.catalog.dropTempView("hours")


def test_the_hour_is_the_session_s(spark: SparkSession, events: str) -> None:
    """It is so in conditions and measures, for an instant and for instants inside a struct."""
    matches = matchrec.sql(
        spark,
        f"""SELECT * FROM {events} AS e MATCH_RECOGNIZE (
            ORDER BY ts MEASURES A.id AS id, hour(A.ts) AS h, hour(A.parts.`all days`[0]) AS p
            PATTERN (A) DEFINE A AS hour(e.ts) = 1 OR hour(parts.`all days`[0]) = 22)""",
    ).collect()
    hours = enumerate(IN_NEW_YORK)
    assert sorted(map(tuple, matches)) == [(row, h, h) for row, h in hours if h in (1, 22)]


def test_differences_follow_the_clock(spark: SparkSession, events: str) -> None:
    """Clocks go back at 6:00 UTC, on row 30: by the clock, a day later is 23 hours later."""
    matches = matchrec.sql(
        spark,
        f"""SELECT * FROM {events} MATCH_RECOGNIZE (
            ORDER BY ts MEASURES A.id AS id AFTER MATCH SKIP TO NEXT ROW
            PATTERN (A X{{23}} B) DEFINE B AS B.ts - A.ts < INTERVAL '24' HOUR)""",
    ).collect()
    assert sorted(match.id for match in matches) == [*range(30 - 24, HOURS - 24)]


def test_the_day_is_the_session_s(spark: SparkSession, events: str) -> None:
    """The day is a partition key. The input is a WITH query that a condition reads, too."""
    matches = matchrec.sql(
        spark,
        f"""WITH few AS (SELECT * FROM {events}) SELECT day, n, CAST(noon AS STRING) AS noon
            FROM few
            MATCH_RECOGNIZE (PARTITION BY CAST(few.ts AS DATE) AS day ORDER BY few.id
            MEASURES count(*) AS n,
                LAST(date_trunc('day', A.ts)) + INTERVAL 12 HOURS AS noon
            PATTERN (A+)
            DEFINE A AS id >= (SELECT min(id) FROM few))""",
    ).collect()
    assert sorted(map(tuple, matches)) == [
        (date(2026, 10, 30), 4, "2026-10-30 12:00:00"),
        (date(2026, 10, 31), 24, "2026-10-31 12:00:00"),
        (date(2026, 11, 1), 20, "2026-11-01 11:00:00"),
    ]


def test_hours_in_rules_are_those_of_a_query(spark: SparkSession, events: str) -> None:
    """Hours are the same as in a query."""
    rows = spark.table(events)
    clause = "MEASURES A.id AS n PATTERN (A) DEFINE A AS hour(ts) = 1"
    expected = [row for row, hour in enumerate(IN_NEW_YORK) if hour == 1]
    matches = matchrec.match_recognize(rows, f"ORDER BY ts {clause}").collect()
    assert sorted(row["n"] for row in matches) == expected
    rules = matchrec.match_rules(rows, {"at one": clause}, order_by="ts")
    assert rules.matches.count() == len(expected)


def read_warning_in_docs() -> tuple[str, str]:
    """Return the warning shown on the page about warnings, and the clause in it.

    The examples of that page run on Spark, which does not give this warning.
    """
    page = Path(__file__).parent.parent.parent / "docs" / "how-to" / "warnings.md"
    section = page.read_text(encoding="utf-8").partition("## DaysInHoursWarning")[2]
    shown = section.partition("```text\n")[2].partition("\n```")[0]
    return shown, shown.splitlines()[2].strip()


def test_days_of_24_hours_give_a_warning(
    spark: SparkSession, events: str, request: pytest.FixtureRequest
) -> None:
    """Sail warns that it adds 24 hours where Spark adds a day. There is no warning below a day."""
    clause = "ORDER BY ts MEASURES count(*) AS n PATTERN (A+) WITHIN {} DEFINE A AS id >= 4"
    days, hours = (clause.format(window) for window in ("INTERVAL 1 DAY", "INTERVAL 23 HOURS"))
    rows = spark.table(events)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DaysInHoursWarning)
        assert matchrec.match_recognize(rows, hours).collect()[0]["n"] == 23
        if request.config.getoption("--on") == "spark":
            matches = matchrec.match_recognize(rows, f"{days} AND id < 40").collect()
            assert [row["n"] for row in matches] == [24, 12]
            return
    message = "INTERVAL 1 DAY as 24 hours"
    with pytest.warns(DaysInHoursWarning, match=message):
        matchrec.match_recognize(rows, days)
    with pytest.warns(DaysInHoursWarning, match=f"rule `a day`: .*{message}"):
        matchrec.match_rules(rows, {"a day": days.removeprefix("ORDER BY ts ")}, order_by="ts")
    near = Pattern.begin("a").next("b").within("1 day", "previous_to_current")
    with pytest.warns(DaysInHoursWarning, match=message):
        matchrec.match_pattern(rows, near, order_by="ts")
    shown, clause = read_warning_in_docs()
    with pytest.warns(DaysInHoursWarning) as caught:
        matchrec.match_recognize(rows.selectExpr("ts", "id AS price"), clause)
    (warning,) = caught
    assert f"{type(warning.message).__name__}: {warning.message}" == shown
    clause_with_parameter = days.replace("4", ":least")
    with pytest.warns(DaysInHoursWarning, match=message):
        matchrec.sweep(rows, clause_with_parameter, {"least": [4]})


# The rows are five hours apart, from midnight of 1970-01-01 in UTC on. The program also prints noon
# of a summer day in the time zone of the session.
IN_A_ZONE = """
import sys, warnings
warnings.simplefilter("error", matchrec.warnings.MatchRecognizeWarning)
spark = matchrec.session(sys.argv[1])
noon = "unix_seconds(TIMESTAMP'2024-07-01 12:00:00')"
print(spark.sql(f"SELECT {noon}").collect()[0][0])
spark.sql("SELECT timestamp_seconds(18000 * id) AS ts FROM range(2)").createOrReplaceTempView("t")
found = matchrec.sql(spark, '''SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts
    MEASURES FIRST(ts) AS ts, CAST(LAST(ts) AS STRING) AS shown, hour(LAST(ts)) AS h
    PATTERN (A+) DEFINE A AS hour(ts) >= 0)''')
print(*found.collect()[0], sep="|")
print(*found.toPandas().iloc[0], sep="|")
"""

# For each value of TZ: noon in seconds since 1970, and the first and the last row in this zone.
ZONES = {
    "America/New_York": (1719849600, "1969-12-31 19:00:00", "1970-01-01 00:00:00", 0),
    ":Asia/Tokyo": (1719802800, "1970-01-01 09:00:00", "1970-01-01 14:00:00", 14),
    "UTC-3": (1719824400, "1970-01-01 03:00:00", "1970-01-01 08:00:00", 8),
}


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_of_the_environment_is_used_by_all(
    zone: str, request: pytest.FixtureRequest
) -> None:
    """A new session, PySpark and pandas all use this zone, on both engines."""
    engine = "sail" if request.config.getoption("--on") == "sail" else "spark"
    command = [sys.executable, "-c", f"import matchrec, matchrec.warnings\n{IN_A_ZONE}", engine]
    environment = {**os.environ, "TZ": zone}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    noon, *row = ZONES[zone]
    shown = "|".join(map(str, row))
    assert process.stdout.splitlines() == [str(noon), shown, shown], process.stderr
