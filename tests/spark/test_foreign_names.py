"""What is advised to users of other engines: Spark lacks the name, and what to write runs."""

from __future__ import annotations

import re

import pyspark
import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.errors.sql.foreign_names import read_hints

ROW = """SELECT 6 AS x, 2 AS y, '1000' AS s, DATE'2024-01-31' AS d, array(1, 2) AS a,
  TIMESTAMP'2024-01-31 12:00:00' AS t, TIMESTAMP'2024-01-31 12:00:00' AS t1,
  TIMESTAMP'2024-01-31 13:00:00' AS t2"""


def list_examples(cure: str) -> list[str]:
    """Return the expressions of a cure, without what is said about them."""
    parts = re.sub(r"^write |, with .*| for a number", "", cure).split(", or ")
    assert all(re.match(r"[\w'(]", part) for part in parts), cure
    return parts


WRITTEN = sorted(
    {example for cure, _ in read_hints().values() for example in list_examples(cure)}
    - {"explode(a)"}
)
OTHER_ARGUMENTS = {name[:-1] for name in read_hints() if name.endswith("(")}


def measure(spark: SparkSession, expressions: list[str]) -> None:
    """Run a query that measures the expressions; its rows are dropped."""
    measures = ", ".join(f"{one} AS m{i}" for i, one in enumerate(expressions))
    query = f"""SELECT * FROM ({ROW}) MATCH_RECOGNIZE (
      ORDER BY t MEASURES {measures} ALL ROWS PER MATCH PATTERN (A) DEFINE A AS x > 0)"""
    matchrec.sql(spark, query).write.format("noop").mode("overwrite").save()


@pytest.mark.slow
def test_every_cure_runs(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")  # '1000' is no time
    try:
        measure(spark, WRITTEN)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.parametrize("function", ["lookup", "cnt", "condA"])
def test_a_name_like_no_other_has_no_cure(spark: SparkSession, function: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        measure(spark, [f"{function}(x)"])
    assert caught.value.hint == (
        f"if {function} is your own function, register it with spark.udf.register"
    )


OF_SPARK_4 = {"DAYNAME", "LISTAGG", "MONTHNAME", "NULLIFZERO", "STRING_AGG", "ZEROIFNULL"}


def test_spark_has_none_of_the_names(spark: SparkSession) -> None:
    known = {str(row[0]).upper() for row in spark.sql("SHOW FUNCTIONS").collect()}
    since = set(OF_SPARK_4) if pyspark.__version__ >= "4" else set()
    assert known & set(read_hints()) == since
    assert known | {"DATEADD"} >= OTHER_ARGUMENTS
