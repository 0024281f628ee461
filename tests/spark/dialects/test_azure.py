"""What of Azure Stream Analytics' SQL is refused; a query is read, never written."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec

BOOTHS = """
SELECT * FROM input TIMESTAMP BY time OVER tollBoothId
MATCH_RECOGNIZE (
    LIMIT DURATION (minute, 1)
    PARTITION BY tollBoothId
    MEASURES Last(Toyota.LicensePlate) AS toyota
    PATTERN (Toyota+ Lexus+)
    DEFINE Toyota AS make = 'Toyota', Lexus AS make = 'Lexus'
) AS T
"""


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (BOOTHS.replace("TIMESTAMP BY time OVER tollBoothId", ""), "orders events by the time at"),
        (BOOTHS.replace("(minute, 1)", "(minute)"), "malformed LIMIT DURATION"),
        (BOOTHS.replace("OVER tollBoothId", "OVER make"), "add make to PARTITION BY"),
    ],
)
def test_what_is_refused(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="azure")
    with pytest.raises(matchrec.MatchRecognizeError, match="not written for it"):
        matchrec.convert(query, write="azure")
