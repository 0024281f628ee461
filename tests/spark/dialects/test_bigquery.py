"""The examples of BigQuery's documentation, with the rows that it prints.

Sources: "MATCH_RECOGNIZE clause", query syntax of GoogleSQL; "MATCH_RECOGNIZE Intro", a notebook of
GoogleCloudPlatform/bigquery-utils; the compliance tests of GoogleSQL, match_recognize.test.
"""

# ruff: noqa: E501 -- tables as they are printed
from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.printed import answer, table

SALES = """
WITH Sales AS (
  SELECT 'Daisy' AS customer, DATE '2024-01-03' AS sale_date, 'Electronics' AS product_category, 500 AS amount UNION ALL
  SELECT 'Daisy', DATE '2024-01-04', 'Software', 30 UNION ALL
  SELECT 'Ian', DATE '2024-02-01', 'Books', 20 UNION ALL
  SELECT 'Ian', DATE '2024-02-08', 'Clothing', 30 UNION ALL
  SELECT 'Ian', DATE '2024-02-10', 'Clothing', 90 UNION ALL
  SELECT 'Daisy', DATE '2024-03-15', 'Software', 40 UNION ALL
  SELECT 'Ian', DATE '2024-03-15', 'Electronics', 300 UNION ALL
  SELECT 'Ian', DATE '2024-03-15', 'Electronics', 400 UNION ALL
  SELECT 'Ian', DATE '2024-03-21', 'Software', 30 UNION ALL
  SELECT 'Ian', DATE '2024-04-07', 'Books', 50 UNION ALL
  SELECT 'Daisy', DATE '2024-06-28', 'Electronics', 400 UNION ALL
  SELECT 'Daisy', DATE '2024-06-29', 'Clothing', 100 UNION ALL
  SELECT 'Daisy', DATE '2024-06-30', 'Software', 30 UNION ALL
  SELECT 'Ian', DATE '2024-07-07', 'Clothing', 110
)
"""
LOW_MID_HIGH = """
SELECT *
FROM
  Sales
MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY sale_date
  MEASURES
    MATCH_NUMBER() AS match_number,
    ARRAY_AGG(STRUCT(MATCH_ROW_NUMBER() AS row,
                     CLASSIFIER() AS symbol,
                     sale_date,
                     product_category)) AS sales
  PATTERN (low+ mid+ high+)
  DEFINE
    low AS amount < 50,
    mid AS amount >= 50 AND amount <= 100,
    high AS amount > 100
)
ORDER BY customer, match_number
"""
LOW_OR_HIGH = """
SELECT * FROM (
  SELECT 1 as x
  UNION ALL
  SELECT 2
  UNION ALL
  SELECT 3
)
MATCH_RECOGNIZE(
  ORDER BY x
  MEASURES
    ARRAY_AGG(high.x) AS high_agg,
    ARRAY_AGG(low.x) AS low_agg
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (low | high)
  DEFINE
    low AS x <= 2,
    high AS x >= 2
);
"""
ELECTRONICS = """
SELECT *
FROM
  Sales
MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY sale_date
  MEASURES
    {measures}
  PATTERN (electronics+ any_category*? software+)
  DEFINE
    electronics AS product_category = 'Electronics',
    software AS product_category = 'Software',
    any_category AS TRUE
)
ORDER BY customer, 2;
"""

REFERENCE = {
    "the alternative on the left is preferred": (
        LOW_OR_HIGH,
        """
        high_agg | low_agg
        NULL     | [1]
        NULL     | [2]
        [3]      | NULL
        """,
    ),
    "aggregates of all rows and of a symbol": (
        SALES
        + ELECTRONICS.format(
            measures="""ARRAY_AGG(STRUCT(sale_date, product_category, amount)) AS sales,
            SUM(amount) AS total_sale_amount,
            SUM(software.amount) AS software_sale_amount"""
        ),
        """
        customer | sales | total_sale_amount | software_sale_amount
        Daisy | [{2024-01-03, Electronics, 500}, {2024-01-04, Software, 30}, {2024-03-15, Software, 40}] | 570 | 70
        Daisy | [{2024-06-28, Electronics, 400}, {2024-06-29, Clothing, 100}, {2024-06-30, Software, 30}] | 530 | 30
        Ian   | [{2024-03-15, Electronics, 300}, {2024-03-15, Electronics, 400}, {2024-03-21, Software, 30}] | 730 | 30
        """,
    ),
    "FIRST and LAST": (
        SALES
        + ELECTRONICS.format(
            measures="""LAST(electronics.sale_date) AS last_electronics_sale_date,
            FIRST(software.sale_date) AS first_software_sale_date,
            DATE_DIFF(FIRST(software.sale_date), LAST(electronics.sale_date), day) AS date_gap"""
        ),
        """
        customer | last_electronics_sale_date | first_software_sale_date | date_gap
        Daisy    | 2024-01-03                 | 2024-01-04               | 1
        Daisy    | 2024-06-28                 | 2024-06-30               | 2
        Ian      | 2024-03-15                 | 2024-03-21               | 6
        """,
    ),
    "matches and their symbols": (
        SALES + LOW_MID_HIGH,
        """
        customer | match_number | sales
        Ian | 1 | [{1, low, 2024-02-01, Books}, {2, low, 2024-02-08, Clothing}, {3, mid, 2024-02-10, Clothing}, {4, high, 2024-03-15, Electronics}, {5, high, 2024-03-15, Electronics}]
        Ian | 2 | [{1, low, 2024-03-21, Software}, {2, mid, 2024-04-07, Books}, {3, high, 2024-07-07, Clothing}]
        """,
    ),
    "matches that overlap": (
        SALES + LOW_MID_HIGH.replace("  PATTERN", "  AFTER MATCH SKIP TO NEXT ROW\n  PATTERN"),
        """
        customer | match_number | sales
        Ian | 1 | [{1, low, 2024-02-01, Books}, {2, low, 2024-02-08, Clothing}, {3, mid, 2024-02-10, Clothing}, {4, high, 2024-03-15, Electronics}, {5, high, 2024-03-15, Electronics}]
        Ian | 2 | [{1, low, 2024-02-08, Clothing}, {2, mid, 2024-02-10, Clothing}, {3, high, 2024-03-15, Electronics}, {4, high, 2024-03-15, Electronics}]
        Ian | 3 | [{1, low, 2024-03-21, Software}, {2, mid, 2024-04-07, Books}, {3, high, 2024-07-07, Clothing}]
        """,
    ),
}


@pytest.mark.parametrize(("query", "rows"), REFERENCE.values(), ids=REFERENCE)
def test_the_reference(spark: SparkSession, query: str, rows: str) -> None:
    assert answer(spark, query, "bigquery") == table(rows)


# rows derived from the page's rules: Daisy's amounts are 500, 30, 40, 400, 100, 30, and Ian's 20, 30,
# 90, 300, 400, 30, 50, 110
PEAK = """
SELECT * FROM Sales MATCH_RECOGNIZE (
  PARTITION BY customer ORDER BY sale_date, amount
  MEASURES FIRST(amount) AS incline, LAST(peak.amount) AS peak, LAST(amount) AS decline
  PATTERN (incline peak decline)
  DEFINE
    incline AS amount < NEXT(amount),
    peak AS PREV(amount) < amount AND amount > NEXT(amount),
    decline AS PREV(amount, 1) > amount
) ORDER BY customer, incline
"""


def test_rows_around_the_current_one(spark: SparkSession) -> None:
    assert answer(spark, SALES + PEAK, "bigquery") == table("""
        customer | incline | peak | decline
        Daisy    | 40      | 400  | 100
        Ian      | 300     | 400  | 30
        """)


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> Iterator[None]:
    """The table of the notebook."""
    text = "USA 200,USA 300,France 50,USA 60,Mexico 70,USA 24,China 60,USA 55,China 40,USA 38,"
    text += "USA 150,France 180"
    rows = [(i, *line.split()) for i, line in enumerate(text.split(","), 1)]
    frame = spark.createDataFrame(rows, "id int, country string, price string")
    frame.selectExpr("id", "country", "int(price) AS price").createOrReplaceTempView("Orders")
    yield
    spark.catalog.dropTempView("Orders")


NOTEBOOK = """
SELECT *
FROM (
  SELECT
    IF(country = 'USA',
      'USA',
      'non-USA'
    ) AS location,
    *
  FROM Orders
) MATCH_RECOGNIZE(
  PARTITION BY location
  ORDER BY id
  MEASURES
    ARRAY_AGG(price) AS orders
  PATTERN (small* large)
  DEFINE
    small AS price < 100,
    large AS price >= 100
) ORDER BY location, ARRAY_LENGTH(orders)
"""


@pytest.mark.usefixtures("orders")
def test_the_notebook(spark: SparkSession) -> None:
    assert answer(spark, NOTEBOOK, "bigquery") == table("""
        location | orders
        USA      | [200]
        USA      | [300]
        USA      | [60, 24, 55, 38, 150]
        non-USA  | [50, 70, 60, 40, 180]
        """)


T1 = """
WITH t1 AS (SELECT * FROM UNNEST([
    STRUCT(1 AS rowid, 1 AS x, 100 AS y, 1000 AS z),
    STRUCT(2, 1, 100, 1000),
    STRUCT(3 AS rowid, 1 AS x, 101 AS y, NULL AS z),
    STRUCT(4, 2, 100, 1002),
    STRUCT(5, 2, 102, NULL)
]))
"""


@pytest.mark.parametrize(
    ("measures", "rows"),
    [
        ("MAX(z+z) AS m", "m\n2004"),
        ("COUNT(*) + MAX(a.x) AS m, COUNT(0) AS n", "m | n\n6 | 5"),
        ("MAX(a.z - a.x) AS a, MAX(b.z - b.x) AS b", "a | b\n999 | 1000"),
        ("ARRAY_AGG(match_row_number()) AS n", "n\n[1, 2, 3, 4, 5]"),
        ("STRING_AGG(CLASSIFIER()) AS s, STRING_AGG(CLASSIFIER(), '-') AS t", "s | t\na,a,a,b,b | a-a-a-b-b"),
        ("ARRAY_AGG(b.z) AS z, ARRAY_AGG(b.z IGNORE NULLS) AS known", "z | known\n[1002, NULL] | [1002]"),
        ("ARRAY_AGG(c.z) AS z, STRING_AGG(CAST(c.z AS STRING)) AS s", "z | s\nNULL | NULL"),
        ("FIRST(z) AS f, LAST(a.rowid) AS l, FIRST(c.z) AS n", "f | l | n\n1000 | 3 | NULL"),
        ("1 AS one", "one\n1"),
    ],
)  # fmt: skip
def test_measures_of_the_compliance_tests(spark: SparkSession, measures: str, rows: str) -> None:
    clause = f"SELECT * FROM t1 MATCH_RECOGNIZE (ORDER BY rowid MEASURES {measures} "
    clause += "PATTERN (a* c* b*) DEFINE a AS x = 1, c AS FALSE, b AS x = 2)"
    assert answer(spark, T1 + clause, "bigquery") == table(rows)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("ARRAY_AGG(x ORDER BY y)", "with ORDER BY or LIMIT"),
        ("ARRAY_AGG(x LIMIT 2)", "with ORDER BY or LIMIT"),
        ("ANY_VALUE(x HAVING MAX y)", "HAVING MAX"),
        ("DATE_DIFF(MAX(x), MIN(x), WEEK)", "a difference in units of SUNDAY"),
    ],
)
def test_what_is_refused(spark: SparkSession, expression: str, message: str) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES {expression} AS m PATTERN (a) DEFINE a AS TRUE)"
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="bigquery")


def test_the_example_of_the_pipe_operator(spark: SparkSession) -> None:
    # the page's query; 2 is low, which is preferred. The pipe after it was added
    query = """(
      SELECT 1 as x
      UNION ALL
      SELECT 2
      UNION ALL
      SELECT 3
    )
    |> MATCH_RECOGNIZE(
      ORDER BY x
      MEASURES ARRAY_AGG(high.x) AS high_agg, ARRAY_AGG(low.x) AS low_agg
      AFTER MATCH SKIP TO NEXT ROW
      PATTERN (low | high)
      DEFINE low AS x <= 2, high AS x >= 2
    )
    |> ORDER BY low_agg DESC"""
    assert answer(spark, query, "bigquery") == table("""
        high_agg | low_agg
        NULL     | [2]
        NULL     | [1]
        [3]      | NULL
        """)


def test_an_error_after_a_pipe_points_at_the_query(spark: SparkSession) -> None:
    query = "FROM (SELECT 1 AS x)\n|> MATCH_RECOGNIZE (ORDER BY x MEASURES MAX(y) AS m\n"
    query += "PATTERN (a ( | a)) DEFINE a AS x > 0)"
    with pytest.raises(
        matchrec.MatchRecognizeError, match=r"unknown column `y`[^\n]*\n *line 2, column 45"
    ):
        matchrec.sql(spark, query, dialect="bigquery")


@pytest.mark.parametrize(("longest", "found"), [("TRUE", "[1, 2, 3]"), ("FALSE", "[1]")])
def test_the_longest_match(spark: SparkSession, longest: str, found: str) -> None:
    # a alone is preferred; with up to two b after it, it is the longest
    query = f"""SELECT * FROM UNNEST([STRUCT(1 AS x), STRUCT(2), STRUCT(3), STRUCT(4)])
    MATCH_RECOGNIZE (ORDER BY x MEASURES ARRAY_AGG(x) AS xs
    PATTERN (a | a b{{@low,@high}}) DEFINE a AS x = 1, b AS x > 1
    OPTIONS (use_longest_match = {longest}))"""
    assert answer(spark, query, "bigquery", low=1, high=2) == [["xs"], [found]]
