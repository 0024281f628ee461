"""The examples of Azure Stream Analytics' page "MATCH_RECOGNIZE"; rows derived by hand.

The page prints none, and names the stream `input` and the sink `output`.
"""

# ruff: noqa: E101 -- a query as its page has it
from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.printed import answer, table

TOLL_BOOTHS = """
SELECT *
INTO output FROM input TIMESTAMP BY time
	MATCH_RECOGNIZE (
		LIMIT DURATION (minute, 1)
		PARTITION BY tollBoothId
		MEASURES
			Last(Toyota.LicensePlate) AS toyotaLicensePlate,
			Last(Lexus.LicensePlate) AS lexusLicensePlate
		AFTER MATCH SKIP TO NEXT ROW
		PATTERN (Toyota+ Ford* Lexus+)
		DEFINE
			Toyota AS Toyota.make = 'Toyota',
			Ford AS Ford.make = 'Ford',
			Lexus AS Lexus.make = 'Lexus'
	) AS T
"""
TANK = """
SELECT *
INTO output FROM tank TIMESTAMP BY time
MATCH_RECOGNIZE (
	LIMIT DURATION (minute, 3)
	MEASURES
 		MAX(Dangerous.pressure) as pressure,
		Classifier() as patterns
	AFTER MATCH SKIP TO NEXT ROW
	PATTERN (Normal+ Dangerous+)
	DEFINE
		Normal AS Normal.isFilling = 1,
		Dangerous AS Max(Dangerous.pressure) > 2* Max(Normal.pressure)
) AS T
"""


@pytest.fixture(scope="module", autouse=True)
def streams(spark: SparkSession) -> Iterator[None]:
    """Cars at two booths, and the pressure in a tank, every 20 and every 60 seconds."""
    cars = ["Toyota", "Toyota", "Ford", "Lexus", "Toyota", "Ford", "Ford", "Ford", "Lexus"]
    rows = [(1, 20 * at, make, f"{make[0]}{at}") for at, make in enumerate(cars)]
    rows += [(2, 5, "Toyota", "T9"), (2, 6, "Lexus", "L9"), (2, 7, "Lexus", "L10")]
    frame = spark.createDataFrame(rows, "tollBoothId int, s int, make string, LicensePlate string")
    frame = frame.selectExpr("* EXCEPT (s)", "timestamp_seconds(s) AS time")
    frame.createOrReplaceTempView("input")
    pressures = [10, 12, 25, 30, 11]
    levels = spark.createDataFrame([(60 * at, p, 1) for at, p in enumerate(pressures)],
                                   "s int, pressure int, isFilling int")  # fmt: skip
    levels = levels.selectExpr("timestamp_seconds(s) AS time", "pressure", "isFilling")
    levels.createOrReplaceTempView("tank")
    yield
    for name in ("input", "tank"):
        spark.catalog.dropTempView(name)


def test_three_makes_at_a_toll_booth(spark: SparkSession) -> None:
    found = answer(spark, f"{TOLL_BOOTHS} ORDER BY tollBoothId, 2", "azure")
    # 0 to 60 seconds is not less than a minute; from 20 to 60 it is; the last Lexus comes too late
    assert found == table("""
        tollBoothId | toyotaLicensePlate | lexusLicensePlate
        1           | T1                 | L3
        2           | T9                 | L10
        """)


def test_the_refilling_of_a_tank(spark: SparkSession) -> None:
    # 25 > 2 * 12 from the first two rows on; from the second row on 25 > 24, then 30
    assert answer(spark, f"{TANK} ORDER BY pressure, 2", "azure") == table("""
        pressure | patterns
        25       | [Normal, Normal, Dangerous]
        30       | [Normal, Dangerous, Dangerous]
        """)


def test_any_car_between_two_makes(spark: SparkSession) -> None:
    # one car of any make after a Toyota, then a Lexus: rows 1 to 3 of the first booth; of the
    # second, rows 9 to 11, in which the Lexus between is any car
    query = TOLL_BOOTHS.replace("Toyota+ Ford* Lexus+", "Toyota . Lexus")
    query = query.replace("Ford AS Ford.make = 'Ford',", "")
    assert answer(spark, f"{query} ORDER BY tollBoothId", "azure") == table("""
        tollBoothId | toyotaLicensePlate | lexusLicensePlate
        1           | T1                 | L3
        2           | T9                 | L10
        """)


SLOW = """
SELECT * FROM input TIMESTAMP BY time OVER tollBoothId
MATCH_RECOGNIZE (
    LIMIT DURATION(hour, 1)
    PARTITION BY tollBoothId
    MEASURES First(A.time) AS since, DATEDIFF(second, First(A.time), Last(B.time)) AS seconds
    PATTERN (A B)
    DEFINE A AS make = 'Ford', B AS make = 'Lexus'
        AND DATEDIFF(minute, Last(A.time), System.Timestamp()) >= 1
) AS m
"""


def test_differences_of_times_count_boundaries(spark: SparkSession) -> None:
    # 0:40 and 1:00, 2:20 and 2:40: only the first pair has a minute that begins between them
    assert answer(spark, SLOW, "azure") == table("""
        tollBoothId | since               | seconds
        1           | 1970-01-01 00:00:40 | 20
        """)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (TOLL_BOOTHS.replace("TIMESTAMP BY time", ""), "orders events by the time at which they"),
        (TOLL_BOOTHS.replace("(minute, 1)", "(minute)"), "malformed LIMIT DURATION"),
        (TOLL_BOOTHS.replace("(minute, 1)", "(fortnight, 1)"), "malformed LIMIT DURATION"),
        (TOLL_BOOTHS.replace("(minute, 1)", "(minute, -1)"), "malformed LIMIT DURATION"),
        (TOLL_BOOTHS.replace("BY time", "BY time PARTITION BY make"), "PARTITION BY of an input"),
        (TOLL_BOOTHS.replace("BY time", "BY time OVER tollBoothId, make"), "add make to PARTITION"),
        (TANK.replace("Normal+", ".+"), r"`\.` in PATTERN has no name"),
        (SLOW.replace("OVER tollBoothId", "OVER make"), "add make to PARTITION BY"),
    ],
)
def test_what_is_refused(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="azure")
    with pytest.raises(matchrec.MatchRecognizeError, match="not written for it"):
        matchrec.convert(query, write="azure")
