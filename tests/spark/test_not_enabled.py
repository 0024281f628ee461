"""Without `enable`, the engine rejects the clause with the error that the FAQ quotes."""

from __future__ import annotations

import re
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession

import matchrec
from matchrec.spark.start.running_session import describe_engine

FAQ = Path(__file__).parents[2] / "docs" / "how-to" / "faq.md"
ROW = re.compile(
    r"^\| (?P<engine>Sail|Spark(?: before 4\.3| since 4\.3)?) \| `(?P<begin>SELECT .*)`"
    r" \| `(?P<error>.*)` \|$",
    re.M,
)
REST_OF_QUERY = {
    "PARTITION BY": " a PATTERN (A) DEFINE A AS x > PREV(x))",
    "ORDER BY": " a PATTERN (A) DEFINE A AS x > PREV(x))",
    "PATTERN (": "A) DEFINE A AS x > PREV(x))",
    "MATCH_RECOGNIZE (": "ORDER BY a PATTERN (A) DEFINE A AS x > PREV(x))",
}


def test_the_faq_has_the_error_of_the_engine(spark: SparkSession) -> None:
    """Users who search for the message find the FAQ. Spark 3 prints no SQLSTATE."""
    matchrec.disable(spark)
    is_new = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 3)
    engines = {"Spark", "Spark since 4.3" if is_new else "Spark before 4.3"}
    if describe_engine(spark).startswith("Sail"):
        engines = {"Sail"}
    rows = [row for row in ROW.finditer(FAQ.read_text("utf-8")) if row["engine"] in engines]
    assert rows
    for row in rows:
        continuation = next(
            text for end, text in REST_OF_QUERY.items() if row["begin"].endswith(end)
        )
        with pytest.raises((AnalysisException, IllegalArgumentException)) as raised:
            spark.sql(row["begin"] + continuation).collect()
        message = row["error"].removesuffix("...").partition(". SQLSTATE")[0]
        assert str(raised.value).strip().startswith(message)
