"""Queries of Azure Stream Analytics that are rejected. Queries are read, but not written."""

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
    ("original", "replacement", "message"),
    [
        ("TIMESTAMP BY time OVER tollBoothId", "", "orders events by their time of arrival"),
        ("(minute, 1)", "(minute)", "LIMIT DURATION is malformed"),
        ("(minute, 1)", "(fortnight, 1)", "LIMIT DURATION is malformed"),
        ("(minute, 1)", "(minute, -1)", "LIMIT DURATION is malformed"),
        ("OVER tollBoothId", "PARTITION BY make", "PARTITION BY of an input"),
        ("OVER tollBoothId", "OVER make", "add make to PARTITION BY"),
        ("OVER tollBoothId", "OVER tollBoothId, make", "add make to PARTITION BY"),
        ("Last(Toyota.LicensePlate) AS toyota\n    PATTERN (Toyota+",
         "Classifier() AS cars\n    PATTERN (.+", r"`\.` in PATTERN has no name"),
    ],
)  # fmt: skip
def test_unsupported_queries_are_rejected(
    spark: SparkSession, original: str, replacement: str, message: str
) -> None:
    assert original in BOOTHS
    query = BOOTHS.replace(original, replacement)
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="azure")
    with pytest.raises(matchrec.MatchRecognizeError, match="writing queries for") as refused:
        matchrec.transpile(query, write="azure")
    assert "help: translate to another product" in str(refused.value)
    assert "line 1" not in str(refused.value)  # nothing in the text is wrong
