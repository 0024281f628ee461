"""Trino's documented queries as they are, with the rows that it prints.

Tests: TestRowPatternMatching of Trino. Rows that are not printed anywhere are by hand.
"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.pasted import Pasted, answer

VALUES = "(VALUES (1, 90), (2, 80), (3, 70), (4, 80)) t(id, value)"
FALLING = "DEFINE B AS B.value < PREV (B.value), C AS C.value > PREV (C.value)"
ORDERS = """
    WITH orders(customer_id, order_date, price) AS (VALUES
        ('cust_1', DATE '2020-05-11', 100),
        ('cust_1', DATE '2020-05-12', 200),
        ('cust_2', DATE '2020-05-13', 8),
        ('cust_1', DATE '2020-05-14', 100),
        ('cust_2', DATE '2020-05-15', 4),
        ('cust_1', DATE '2020-05-16', 50),
        ('cust_1', DATE '2020-05-17', 100),
        ('cust_2', DATE '2020-05-18', 6))
"""


def over(table: str, clause: str) -> str:
    """A query of all columns."""
    return f"SELECT m.* FROM {table} MATCH_RECOGNIZE (ORDER BY id {clause}) AS m"


def one_row(measure: str, define: str = "A AS true") -> str:
    """A query of `testSubqueries`: one value for each row."""
    return f"""
        SELECT m.val
        FROM (VALUES (1, 100), (2, 200), (3, 300), (4, 400)) t(id, value)
          MATCH_RECOGNIZE (
            ORDER BY id MEASURES {measure} AS val
            ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
            PATTERN (A+) DEFINE {define}) AS m
    """


def labelled(pattern: str, define: str) -> str:
    """A query of `testRowPattern` and `testPatternQuantifiers`."""
    return f"""
        SELECT m.id AS row_id, m.match, m.val, m.label
        FROM (VALUES (1, 90), (2, 80), (3, 70), (4, 70)) t(id, value)
          MATCH_RECOGNIZE (
            ORDER BY id
            MEASURES match_number() AS match, RUNNING LAST(value) AS val, classifier() AS label
            ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW
            PATTERN ({pattern}) DEFINE {define}) AS m
    """


def measured(measure: str) -> str:
    """A query of `testNavigationFunctions`."""
    table = "(VALUES (1, 10), (2, 20), (3, 30)) t(id, value)"
    return f"""
        SELECT m.id, m.measure FROM {table} MATCH_RECOGNIZE (
            ORDER BY id MEASURES {measure} AS measure
            ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true) AS m
    """


EMPTY = ["1 1 - -", "2 2 - -", "3 3 - -", "4 4 - -"]
NOT_RISING = "B AS B.value <= PREV (B.value)"
PASTED = [
    Pasted(
        "Blog, Row pattern recognition with MATCH_RECOGNIZE, and Broadcast 23",
        f"""
        {ORDERS}
        SELECT customer_id, start_price, bottom_price, final_price, start_date, final_date
        FROM orders
        MATCH_RECOGNIZE (
          PARTITION BY customer_id
          ORDER BY order_date
          MEASURES
            START.price AS start_price,
            LAST(DOWN.price) AS bottom_price,
            LAST(UP.price) AS final_price,
            START.order_date AS start_date,
            LAST(UP.order_date) AS final_date
          ONE ROW PER MATCH
          AFTER MATCH SKIP PAST LAST ROW
          PATTERN (START DOWN+ UP+)
          DEFINE
            DOWN AS price < PREV(price),
            UP AS price > PREV(price)
        )
        """,
        ["cust_1 200 50 100 2020-05-12 2020-05-17", "cust_2 8 4 6 2020-05-13 2020-05-18"],
    ),
    Pasted(
        "Reference of MATCH_RECOGNIZE",
        f"""
        {ORDERS}
        SELECT * FROM orders MATCH_RECOGNIZE(
             PARTITION BY customer_id
             ORDER BY order_date
             MEASURES
                      A.price AS starting_price,
                      LAST(B.price) AS bottom_price,
                      LAST(U.price) AS top_price
             ONE ROW PER MATCH
             AFTER MATCH SKIP PAST LAST ROW
             PATTERN (A B+ C+ D+)
             SUBSET U = (C, D)
             DEFINE
                      B AS price < PREV(price),
                      C AS price > PREV(price) AND price <= A.price,
                      D AS price >= PREV(price)
             )
        """,
        [],
    ),
    Pasted(
        "Tests, simple query",
        over(
            "(VALUES (1, 90), (2, 80), (3, 70), (4, 80), (5, 90), (6, 50), (7, 40), (8, 60)) "
            "t(id, value)",
            "MEASURES MATCH_NUMBER() AS match, RUNNING LAST(value) AS val, CLASSIFIER() AS label "
            "ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C+) "
            f"{FALLING.replace('DEFINE', 'DEFINE /* A defaults to True, matches any row */')}",
        ),
        [
            *("1 1 90 A 90", "2 1 80 B 80", "3 1 70 B 70", "4 1 80 C 80"),
            *("5 1 90 C 90", "6 2 50 A 50", "7 2 40 B 40", "8 2 60 C 60"),
        ],
    ),
    Pasted("Tests, empty pattern", labelled("() | A", "A AS true"), EMPTY),
    Pasted("Tests, start of the partition", labelled("^A", "A AS true"), ["1 1 90 A"]),
    Pasted("Tests, start of the partition after a row", labelled("A^", "A AS true"), []),
    Pasted("Tests, end of the partition", labelled("A$", "A AS true"), ["4 1 70 A"]),
    Pasted(
        "Tests, concatenation",
        labelled("A B C", "B AS B.value < PREV (B.value), C AS C.value = PREV (C.value)"),
        ["2 1 80 A", "3 1 70 B", "4 1 70 C"],
    ),
    Pasted(
        "Tests, alternation",
        labelled("B | C | A", "B AS B.value < PREV (B.value), C AS C.value <= PREV (C.value)"),
        ["1 1 90 A", "2 2 80 B", "3 3 70 B", "4 4 70 C"],
    ),
    Pasted(
        "Tests, permutation",
        labelled("PERMUTE(B, C)", "B AS B.value < PREV (B.value), C AS C.value < PREV (C.value)"),
        ["2 1 80 B", "3 1 70 C"],
    ),
    Pasted(
        "Tests, reluctant quantifier",
        labelled("B+?", NOT_RISING),
        ["2 1 80 B", "3 2 70 B", "4 3 70 B"],
    ),
    Pasted(
        "Tests, quantifier with no bounds",
        labelled("B{,}", NOT_RISING),
        ["1 1 - -", "2 2 80 B", "3 2 70 B", "4 2 70 B"],
    ),
    Pasted(
        "Tests, quantifier with an upper bound",
        labelled("B{,2}", NOT_RISING),
        ["1 1 - -", "2 2 80 B", "3 2 70 B", "4 3 70 B"],
    ),
    Pasted("Tests, quantified empty pattern", labelled("()* | B", NOT_RISING), EMPTY),
    Pasted(
        "Tests, quantified anchor",
        labelled("^+ | B", "B AS B.value < PREV (B.value)"),
        ["1 1 - -", "2 2 80 B", "3 3 70 B"],
    ),
    Pasted(
        "Tests, classifiers of union variables",
        over(
            VALUES,
            "MEASURES match_number() AS match, classifier(U) AS lower_or_higher, "
            "classifier(W) AS label ALL ROWS PER MATCH PATTERN ((L | H) A) "
            "SUBSET U = (L, H), W = (A, L, H) "
            "DEFINE A AS A.value = 80, L AS L.value < 80, H AS H.value > 80",
        ),
        ["1 1 H H 90", "2 1 H A 80", "3 2 L L 70", "4 2 L A 80"],
    ),
    Pasted("Tests, navigation", measured("FINAL LAST(value, 2)"), ["1 10", "2 10", "3 10"]),
    Pasted("Tests, first with offset", measured("FIRST(value, 2)"), ["1 30", "2 30", "3 30"]),
    Pasted("Tests, before it", measured("PREV(FIRST(value, 2))"), ["1 20", "2 20", "3 20"]),
    Pasted("PREV of no NULL", measured("PREV(coalesce(value, 7))"), ["1 7", "2 10", "3 20"]),
    Pasted("Tests, nested", measured("NEXT(FIRST(value), 2)"), ["1 30", "2 30", "3 30"]),
    Pasted("Tests, nested far", measured("PREV(LAST(value, 10), 2)"), ["1 -", "2 -", "3 -"]),
    Pasted(
        "Tests, classifier after the current row",
        over(
            VALUES,
            "MEASURES CLASSIFIER() AS label, NEXT(CLASSIFIER()) AS next_label "
            f"ALL ROWS PER MATCH PATTERN (A B+ C+) {FALLING}",
        ),
        ["1 A B 90", "2 B B 80", "3 B C 70", "4 C - 80"],
    ),
    Pasted(
        "Tests, labels in quotes",
        over(
            VALUES,
            'MEASURES CLASSIFIER() AS label ALL ROWS PER MATCH PATTERN (a "b"+ C+) DEFINE '
            '"b" AS "b".value < PREV("b".value), C AS C.value > PREV(C.value)',
        ),
        ["1 A 90", "2 b 80", "3 b 70", "4 C 80"],
    ),
    Pasted(
        "Tests, scalar functions",
        over(
            "(VALUES (1, 90), (2, 80), (3, 60)) t(id, value)",
            "MEASURES CAST(lower(LAST(CLASSIFIER())) || '_label' AS varchar(7)) AS label "
            "ALL ROWS PER MATCH PATTERN (A B+) DEFINE B AS B.value + 10 < abs(PREV (B.value))",
        ),
        ["2 a_label 80", "3 b_label 60"],
    ),
    Pasted(
        "Tests, back reference",
        """
        SELECT value, classy, defining_condition
        FROM (VALUES 1, 2, 3, 4, 5) t(value)
        MATCH_RECOGNIZE (
          ORDER BY value
          MEASURES CLASSIFIER() AS classy,
            PREV(CLASSIFIER(U), 1) = 'A' AND LAST(CLASSIFIER(), 3) = 'B'
              AND FIRST(CLASSIFIER(U)) = 'B' AS defining_condition
          ALL ROWS PER MATCH
          PATTERN ((A | B)* X $)
          SUBSET U = (A, B)
          DEFINE X AS PREV(CLASSIFIER(U), 1) = 'A' AND LAST(CLASSIFIER(), 3) = 'B'
            AND FIRST(CLASSIFIER(U)) = 'B'
        )
        """,
        ["1 B -", "2 B False", "3 A False", "4 A True", "5 X True"],
    ),
    Pasted(
        "Tests, values at labels",
        """
        SELECT value, classy, defining_condition
        FROM (VALUES 1, 2, 3, 4, 5, 6) t(value)
        MATCH_RECOGNIZE (
          ORDER BY value
          MEASURES CLASSIFIER() AS classy, PREV(LAST(A.value), 3) + FIRST(A.value)
            + PREV(LAST(B.value), 2) AS defining_condition
          ALL ROWS PER MATCH
          PATTERN ((A | B)* X)
          DEFINE X AS value = PREV(LAST(A.value), 3) + FIRST(A.value) + PREV(LAST(B.value), 2)
        )
        """,
        ["1 B -", "2 A -", "3 A -", "4 A -", "5 B 6", "6 X 6"],
    ),
    Pasted("Tests, subqueries", one_row("(SELECT 'x')", "A AS (SELECT true)"), ["x"] * 4),
    Pasted(
        "Tests, subquery in navigation",
        one_row("FINAL LAST(A.value + (SELECT 1000))", "A AS FIRST(A.value < 0 OR (SELECT true))"),
        ["1400"] * 4,
    ),
    Pasted(
        "Tests, IN with a subquery",
        one_row("FIRST(id % 2 IN (SELECT 0))", "A AS FIRST(value * 0 IN (SELECT 0))"),
        ["False", "True", "False", "True"],
    ),
    Pasted(
        "Tests, IN without a subquery",
        one_row("FIRST(A.value) IN (300, LAST(A.value))"),
        ["False", "False", "True", "True"],
    ),
    Pasted(
        "Tests, three clauses",
        """
        SELECT first.classy, second.classy, third.classy
        FROM (VALUES (1), (2), (3)) t(id)
               MATCH_RECOGNIZE (ORDER BY id MEASURES CLASSIFIER() AS classy
                 ALL ROWS PER MATCH PATTERN (A) DEFINE A AS true) AS first,
             (VALUES (10), (20) ) t(id)
               MATCH_RECOGNIZE (ORDER BY id MEASURES CLASSIFIER() AS classy
                 ALL ROWS PER MATCH PATTERN (B) DEFINE B AS true) AS second,
             (VALUES 100) t(id)
               MATCH_RECOGNIZE (ORDER BY id MEASURES CLASSIFIER() AS classy
                 ALL ROWS PER MATCH PATTERN (C) DEFINE C AS true) AS third
        """,
        ["A B C"] * 6,
    ),
    Pasted(
        "Tests, no input",
        """
        SELECT m.part as partition, m.id AS row_id
        FROM (SELECT * FROM (VALUES (1, 'p1', 90)) WHERE false) t(id, part, value)
        MATCH_RECOGNIZE (PARTITION BY part ORDER BY id ALL ROWS PER MATCH
          PATTERN (B+) DEFINE B AS B.value < PREV (B.value)) AS m
        """,
        [],
    ),
    Pasted(
        "Reference, aggregates: rows counted and collected",
        over(
            VALUES,
            "MEASURES count() AS a, count(B.*) AS b, FINAL count(U.*) AS c, "
            "array_agg(B.value) AS d, array_agg(CASE WHEN value > 70 THEN value END) AS e, "
            "sum(B.value) / count(B.value) AS f, max_by(CLASSIFIER(), value) AS g "
            f"ALL ROWS PER MATCH PATTERN (A B+ C+) SUBSET U = (A, C) {FALLING}",
        ),
        [
            "1 1 0 2 - [90] - A 90",
            "2 2 1 2 [80] [90, 80] 80 A 80",
            "3 3 2 2 [80, 70] [90, 80, None] 75 A 70",
            "4 4 2 2 [80, 70] [90, 80, None, 80] 75 A 80",
        ],
    ),
    Pasted(
        "Whole seconds between two rows in DEFINE",
        """
        SELECT m.n FROM (VALUES (1, TIMESTAMP '2020-01-05 10:00:00'),
                                (2, TIMESTAMP '2020-01-05 10:00:02.5'),
                                (3, TIMESTAMP '2020-01-05 10:00:04')) t(id, ts)
        MATCH_RECOGNIZE (ORDER BY id MEASURES count() AS n
          PATTERN (A B*) DEFINE B AS date_diff('second', A.ts, B.ts) <= 2) AS m
        """,
        ["1", "2"],
    ),
    Pasted(
        "Functions and operators: times, texts, arrays and quotients",
        """
        SELECT m.*, m.span / 7 AS weeks
        FROM (VALUES (1, TIMESTAMP '2020-01-05 10:00:00', 'abcd'),
                     (2, TIMESTAMP '2020-01-06 12:30:00', 'x')) t(id, ts, s)
        MATCH_RECOGNIZE (ORDER BY id
          MEASURES date_diff('hour', FIRST(ts), LAST(ts)) AS span,
            date_add('hour', 2, FIRST(ts)) = TIMESTAMP '2020-01-05 12:00:00' AS later,
            day_of_week(FIRST(ts)) AS sunday, CAST(FIRST(s) AS varchar(2)) AS short,
            any_match(array_agg(s), e -> e = 'x') AS x, LAST(id) * 7 / 2 AS q, LAST(id) / 4e0 AS r
          PATTERN (A+) DEFINE A AS ts < date_add('day', 2, FIRST(ts))) AS m
        """,
        ["26 True 7 ab True 7 0.5 3"],
    ),
]


@pytest.mark.parametrize("pasted", PASTED, ids=lambda one: one.source)
@pytest.mark.filterwarnings("ignore::matchrec.EmptyMatchesWarning")
@pytest.mark.filterwarnings("ignore::matchrec.ReluctantEndWarning")
def test_a_query_gives_the_printed_rows(spark: SparkSession, pasted: Pasted) -> None:
    assert sorted(answer(spark, pasted.query, "trino")) == sorted(pasted.rows)


def test_order_in_an_aggregate_is_refused(spark: SparkSession) -> None:
    query = over(
        VALUES, "MEASURES array_agg(value ORDER BY id DESC) AS x PATTERN (A) DEFINE A AS true"
    )
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="with ORDER BY or LIMIT"):
        matchrec.sql(spark, query, dialect="trino")


def test_a_quotient_of_unknown_columns_is_named(spark: SparkSession) -> None:
    query = over(VALUES, "MEASURES LAST(value) AS v PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="the quotient of two integers is an integer in Trino"):
        matchrec.sql(spark, f"SELECT v / n FROM ({query}), (SELECT 2 AS n)", dialect="trino")


def test_an_average_of_decimals_is_named(spark: SparkSession) -> None:
    query = over(VALUES, "MEASURES avg(value {}) AS x PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="AVG of decimals has their number of digits in Trino"):
        matchrec.sql(spark, query.format("* 1.5"), dialect="trino")
    assert answer(spark, query.format("* 1"), "trino") == ["80"]


def test_a_key_that_is_written_twice_is_named(spark: SparkSession) -> None:
    query = over(VALUES, "ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true")
    with pytest.warns(UserWarning, match="comes out twice in Trino, once in Spark SQL"):
        matchrec.sql(spark, query.replace("ORDER BY id", "ORDER BY id, ID"), dialect="trino")
