"""The hints for functions of other engines work, and Spark does not have these functions."""

from __future__ import annotations

import re

import pyspark
import pytest
from pyspark.sql import SparkSession

import matchrec
from matchrec.errors.sql.foreign_names import read_foreign_functions

ROW = """SELECT 6 AS x, 2 AS y, '1000' AS s, DATE'2024-01-31' AS d, array(1, 2) AS a,
  TIMESTAMP'2024-01-31 12:00:00' AS t, TIMESTAMP'2024-01-31 12:00:00' AS t1,
  TIMESTAMP'2024-01-31 13:00:00' AS t2"""


def list_examples(hint: str) -> list[str]:
    """Return the expressions in a hint."""
    parts = re.sub(r"^write |, with .*| for a number", "", hint).split(", or ")
    assert all(re.match(r"[\w'(]", part) for part in parts), hint
    return parts


EXAMPLES = sorted(
    {
        example
        for function in read_foreign_functions().values()
        for example in list_examples(function.hint)
    }
    - {"explode(a)"}
)
OTHER_ARGUMENTS = {name[:-1] for name in read_foreign_functions() if name.endswith("(")}


def run_measures(spark: SparkSession, expressions: list[str]) -> None:
    """Run a query with the expressions in MEASURES, and drop its rows."""
    measures = ", ".join(f"{expression} AS m{i}" for i, expression in enumerate(expressions))
    query = f"""SELECT * FROM ({ROW}) MATCH_RECOGNIZE (
      ORDER BY t MEASURES {measures} ALL ROWS PER MATCH PATTERN (A) DEFINE A AS x > 0)"""
    matchrec.sql(spark, query).write.format("noop").mode("overwrite").save()


@pytest.mark.slow
def test_all_examples_of_hints_run(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")  # one example casts '1000' to a time
    try:
        run_measures(spark, EXAMPLES)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.parametrize("function", ["lookup", "cnt", "condA"])
def test_an_unknown_name_may_be_a_function_of_the_user(spark: SparkSession, function: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        run_measures(spark, [f"{function}(x)"])
    assert caught.value.hint == (
        f"if {function} is your own function, register it with spark.udf.register"
    )


OF_SPARK_4 = {"DAYNAME", "LISTAGG", "MONTHNAME", "NULLIFZERO", "STRING_AGG", "ZEROIFNULL"}


def test_spark_has_no_function_with_a_foreign_name(spark: SparkSession) -> None:
    functions_of_spark = {str(row[0]).upper() for row in spark.sql("SHOW FUNCTIONS").collect()}
    expected = set(OF_SPARK_4) if pyspark.__version__ >= "4" else set()
    assert functions_of_spark & set(read_foreign_functions()) == expected
    assert functions_of_spark | {"DATEADD"} >= OTHER_ARGUMENTS
