"""The examples of Snowflake's documentation, with the rows that it prints.

reference: "MATCH_RECOGNIZE", SQL reference. guide: "Identifying Sequences of Rows That Match a
Pattern", user guide.
"""

# ruff: noqa: E501 -- tables as they are printed
from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.printed import answer, folded, table

REFERENCE = {
    "one summary row for each V shape": (
        """
        SELECT * FROM stock_price_history
          MATCH_RECOGNIZE(
            PARTITION BY company
            ORDER BY price_date
            MEASURES
              MATCH_NUMBER() AS match_number,
              FIRST(price_date) AS start_date,
              LAST(price_date) AS end_date,
              COUNT(*) AS rows_in_sequence,
              COUNT(row_with_price_decrease.*) AS num_decreases,
              COUNT(row_with_price_increase.*) AS num_increases
            ONE ROW PER MATCH
            AFTER MATCH SKIP TO LAST row_with_price_increase
            PATTERN(row_before_decrease row_with_price_decrease+ row_with_price_increase+)
            DEFINE
              row_with_price_decrease AS price < LAG(price),
              row_with_price_increase AS price > LAG(price)
          )
        ORDER BY company, match_number;
        """,
        """
        COMPANY | MATCH_NUMBER | START_DATE | END_DATE   | ROWS_IN_SEQUENCE | NUM_DECREASES | NUM_INCREASES
        ABCD    |            1 | 2020-10-01 | 2020-10-04 |                4 |             1 |             2
        ABCD    |            2 | 2020-10-04 | 2020-10-08 |                5 |             1 |             3
        XYZ     |            1 | 2020-10-01 | 2020-10-05 |                5 |             1 |             3
        XYZ     |            2 | 2020-10-05 | 2020-10-08 |                4 |             2 |             1
        XYZ     |            3 | 2020-10-08 | 2020-10-10 |                3 |             1 |             1
        """,
    ),
    "all rows for all matches for one company": (
        """
        select price_date, match_number, msq, price, cl from
          (select * from stock_price_history where company='ABCD') match_recognize(
            order by price_date
            measures
                match_number() as "MATCH_NUMBER",
                match_sequence_number() as msq,
                classifier() as cl
            all rows per match
            pattern(ANY_ROW UP+)
            define
                ANY_ROW AS TRUE,
                UP as price > lag(price)
        )
        order by match_number, msq;
        """,
        """
        PRICE_DATE | MATCH_NUMBER | MSQ | PRICE | CL
        2020-10-02 |            1 |   1 |    36 | ANY_ROW
        2020-10-03 |            1 |   2 |    39 | UP
        2020-10-04 |            1 |   3 |    42 | UP
        2020-10-05 |            2 |   1 |    30 | ANY_ROW
        2020-10-06 |            2 |   2 |    47 | UP
        2020-10-07 |            2 |   3 |    71 | UP
        2020-10-08 |            2 |   4 |    80 | UP
        """,
    ),
    "omit empty matches": (
        """
        select * from stock_price_history match_recognize(
            partition by company
            order by price_date
            measures
                match_number() as "MATCH_NUMBER"
            all rows per match omit empty matches
            pattern(OVERAVG*)
            define
                OVERAVG as price > avg(price) over (rows between unbounded
                                          preceding and unbounded following)
        )
        order by company, price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE | MATCH_NUMBER
        ABCD    | 2020-10-07 |    71 |            7
        ABCD    | 2020-10-08 |    80 |            7
        ABCD    | 2020-10-09 |    75 |            7
        ABCD    | 2020-10-10 |    63 |            7
        XYZ     | 2020-10-01 |    89 |            1
        XYZ     | 2020-10-04 |    63 |            4
        XYZ     | 2020-10-05 |    65 |            4
        XYZ     | 2020-10-06 |    56 |            4
        XYZ     | 2020-10-08 |    54 |            6
        """,
    ),
    "the WITH UNMATCHED ROWS option": (
        """
        select * from stock_price_history match_recognize(
            partition by company
            order by price_date
            measures
                match_number() as "MATCH_NUMBER",
                classifier() as cl
            all rows per match with unmatched rows
            pattern(OVERAVG+)
            define
                OVERAVG as price > avg(price) over (rows between unbounded
                                         preceding and unbounded following)
        )
        order by company, price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE | MATCH_NUMBER | CL
        ABCD    | 2020-10-01 |    50 |         NULL | NULL
        ABCD    | 2020-10-02 |    36 |         NULL | NULL
        ABCD    | 2020-10-03 |    39 |         NULL | NULL
        ABCD    | 2020-10-04 |    42 |         NULL | NULL
        ABCD    | 2020-10-05 |    30 |         NULL | NULL
        ABCD    | 2020-10-06 |    47 |         NULL | NULL
        ABCD    | 2020-10-07 |    71 |            1 | OVERAVG
        ABCD    | 2020-10-08 |    80 |            1 | OVERAVG
        ABCD    | 2020-10-09 |    75 |            1 | OVERAVG
        ABCD    | 2020-10-10 |    63 |            1 | OVERAVG
        XYZ     | 2020-10-01 |    89 |            1 | OVERAVG
        XYZ     | 2020-10-02 |    24 |         NULL | NULL
        XYZ     | 2020-10-03 |    37 |         NULL | NULL
        XYZ     | 2020-10-04 |    63 |            2 | OVERAVG
        XYZ     | 2020-10-05 |    65 |            2 | OVERAVG
        XYZ     | 2020-10-06 |    56 |            2 | OVERAVG
        XYZ     | 2020-10-07 |    50 |         NULL | NULL
        XYZ     | 2020-10-08 |    54 |            3 | OVERAVG
        XYZ     | 2020-10-09 |    30 |         NULL | NULL
        XYZ     | 2020-10-10 |    32 |         NULL | NULL
        """,
    ),
    "symbol predicates in the MEASURES clause": (
        """
        SELECT company, price_date, price, "FINAL FIRST(LT45.price)", "FINAL LAST(LT45.price)"
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       FINAL FIRST(LT45.price) AS "FINAL FIRST(LT45.price)",
                       FINAL LAST(LT45.price)  AS "FINAL LAST(LT45.price)"
                   ALL ROWS PER MATCH
                   AFTER MATCH SKIP PAST LAST ROW
                   PATTERN (LT45 LT45)
                   DEFINE
                       LT45 AS price < 45.00
                   )
            WHERE company = 'ABCD'
            ORDER BY price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE | FINAL FIRST(LT45.price) | FINAL LAST(LT45.price)
        ABCD    | 2020-10-02 |    36 |                      36 |                     39
        ABCD    | 2020-10-03 |    39 |                      36 |                     39
        ABCD    | 2020-10-04 |    42 |                      42 |                     30
        ABCD    | 2020-10-05 |    30 |                      42 |                     30
        """,
    ),
}

GUIDE = {
    "below 45, then a decrease and an increase": (
        """
        SELECT company, price_date, price
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   ALL ROWS PER MATCH
                   PATTERN (LESS_THAN_45 DECREASED_10_PERCENT INCREASED_05_PERCENT)
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       DECREASED_10_PERCENT AS LAG(price) * 0.90 >= price,
                       INCREASED_05_PERCENT AS LAG(price) * 1.05 <= price
                   )
            ORDER BY company, price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE
        ABCD    | 2020-10-04 |    42
        ABCD    | 2020-10-05 |    30
        ABCD    | 2020-10-06 |    47
        """,
    ),
    "relative to the beginning of a partition": (
        """
        SELECT *
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #"
                   ALL ROWS PER MATCH
                   PATTERN (^ GT60)
                   DEFINE
                       GT60 AS price > 60.00
                   )
            ORDER BY "Match #", "Match Sequence #";
        """,
        """
        COMPANY | PRICE_DATE | PRICE | Match # | Match Sequence #
        XYZ     | 2020-10-01 |    89 |       1 |                1
        """,
    ),
    "relative to the end of a partition": (
        """
        SELECT *
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #"
                   ALL ROWS PER MATCH
                   PATTERN (GT50 $)
                   DEFINE
                       GT50 AS price > 50.00
                   )
            ORDER BY "Match #", "Match Sequence #";
        """,
        """
        COMPANY | PRICE_DATE | PRICE | Match # | Match Sequence #
        ABCD    | 2020-10-10 |    63 |       1 |                1
        """,
    ),
    "all rows for each match": (
        """
        SELECT *
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #",
                       COUNT(*) AS "Num Rows In Match"
                   ALL ROWS PER MATCH
                   PATTERN (LESS_THAN_45 UP UP)
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       UP AS price > LAG(price)
                   )
            WHERE company = 'ABCD'
            ORDER BY "Match #", "Match Sequence #";
        """,
        """
        COMPANY | PRICE_DATE | PRICE | Match # | Match Sequence # | Num Rows In Match
        ABCD    | 2020-10-02 |    36 |       1 |                1 |                 1
        ABCD    | 2020-10-03 |    39 |       1 |                2 |                 2
        ABCD    | 2020-10-04 |    42 |       1 |                3 |                 3
        ABCD    | 2020-10-05 |    30 |       2 |                1 |                 1
        ABCD    | 2020-10-06 |    47 |       2 |                2 |                 2
        ABCD    | 2020-10-07 |    71 |       2 |                3 |                 3
        """,
    ),
    "one row for each match": (
        """
        SELECT *
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #",
                       COUNT(*) AS "Num Rows In Match"
                   ONE ROW PER MATCH
                   PATTERN (LESS_THAN_45 UP UP)
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       UP AS price > LAG(price)
                   )
            WHERE company = 'ABCD'
            ORDER BY "Match #", "Match Sequence #";
        """,
        """
        COMPANY | Match # | Match Sequence # | Num Rows In Match
        ABCD    |       1 |                3 |                 3
        ABCD    |       2 |                3 |                 3
        """,
    ),
    "excluding rows from the output": (
        """
        SELECT company, price_date, price
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   ALL ROWS PER MATCH
                   PATTERN (LESS_THAN_45 {- DECREASED_10_PERCENT -} INCREASED_05_PERCENT)
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       DECREASED_10_PERCENT AS LAG(price) * 0.90 >= price,
                       INCREASED_05_PERCENT AS LAG(price) * 1.05 <= price
                   )
            ORDER BY price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE
        ABCD    | 2020-10-04 |    42
        ABCD    | 2020-10-06 |    47
        """,
    ),
    "rising, then falling": (
        """
        SELECT company, price_date, price
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   ALL ROWS PER MATCH
                   PATTERN ( LESS_THAN_45 UP UP* DOWN DOWN* )
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       UP   AS price > LAG(price),
                       DOWN AS price < LAG(price)
                   )
            WHERE company = 'XYZ'
            ORDER BY price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE
        XYZ     | 2020-10-02 |    24
        XYZ     | 2020-10-03 |    37
        XYZ     | 2020-10-04 |    63
        XYZ     | 2020-10-05 |    65
        XYZ     | 2020-10-06 |    56
        XYZ     | 2020-10-07 |    50
        """,
    ),
    # The page prints only the first of two rows: the one of DOWN is excluded by nothing.
    "only where it begins to rise, and to fall": (
        """
        SELECT company, price_date, price
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   ALL ROWS PER MATCH
                   PATTERN ( {- LESS_THAN_45 -}  UP  {- UP* -}  DOWN  {- DOWN* -} )
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       UP   AS price > LAG(price),
                       DOWN AS price < LAG(price)
                   )
            WHERE company = 'XYZ'
            ORDER BY price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE
        XYZ     | 2020-10-03 |    37
        XYZ     | 2020-10-06 |    56
        """,
    ),
    "information about the match": (
        """
        SELECT company, price_date, price,
               "Match #", "Match Sequence #", "Symbol Matched"
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #",
                       CLASSIFIER AS "Symbol Matched"
                   ALL ROWS PER MATCH
                   PATTERN (LESS_THAN_45 DECREASED_10_PERCENT INCREASED_05_PERCENT)
                   DEFINE
                       LESS_THAN_45 AS price < 45.00,
                       DECREASED_10_PERCENT AS LAG(price) * 0.90 >= price,
                       INCREASED_05_PERCENT AS LAG(price) * 1.05 <= price
                   )
            ORDER BY company, "Match #", "Match Sequence #";
        """,
        """
        COMPANY | PRICE_DATE | PRICE | Match # | Match Sequence # | Symbol Matched
        ABCD    | 2020-10-04 |    42 |       1 |                1 | LESS_THAN_45
        ABCD    | 2020-10-05 |    30 |       1 |                2 | DECREASED_10_PERCENT
        ABCD    | 2020-10-06 |    47 |       1 |                3 | INCREASED_05_PERCENT
        """,
    ),
    "after the last row of a match": (
        """
        SELECT *
            FROM stock_price_history
               MATCH_RECOGNIZE (
                   PARTITION BY company
                   ORDER BY price_date
                   MEASURES
                       MATCH_NUMBER() AS "Match #",
                       MATCH_SEQUENCE_NUMBER() AS "Match Sequence #"
                   ALL ROWS PER MATCH
                   PATTERN (MINIMUM_37 UP UP)
                   DEFINE
                       MINIMUM_37 AS price >= 37.00,
                       UP AS price > LAG(price)
                   )
            ORDER BY company, "Match #", "Match Sequence #";
        """,
        """
        COMPANY | PRICE_DATE | PRICE | Match # | Match Sequence #
        ABCD    | 2020-10-06 |    47 |       1 |                1
        ABCD    | 2020-10-07 |    71 |       1 |                2
        ABCD    | 2020-10-08 |    80 |       1 |                3
        XYZ     | 2020-10-03 |    37 |       1 |                1
        XYZ     | 2020-10-04 |    63 |       1 |                2
        XYZ     | 2020-10-05 |    65 |       1 |                3
        """,
    ),
    "spikes": (
        """
        select * from stock_price_history match_recognize(
                partition by company
                order by price_date
                measures
                    match_number() as "MATCH_NUMBER",
                    first(price_date) as "START",
                    last(price_date) as "END",
                    count(up.price) as ups,
                    count(*) as "PRICE_COUNT",
                    last(classifier()) = 'DOWN' up_spike
                after match skip to next row
                pattern(ANY_ROW PERMUTE(UP{2}, DOWN+))
                define
                    ANY_ROW AS TRUE,
                    UP as price > lag(price),
                    DOWN as price < lag(price)
            )
            order by company, match_number;
        """,
        """
        COMPANY | MATCH_NUMBER | START      | END        | UPS | PRICE_COUNT | UP_SPIKE
        ABCD    |            1 | 2020-10-01 | 2020-10-04 |   2 |           4 | False
        ABCD    |            2 | 2020-10-02 | 2020-10-05 |   2 |           4 | True
        ABCD    |            3 | 2020-10-04 | 2020-10-07 |   2 |           4 | False
        ABCD    |            4 | 2020-10-06 | 2020-10-10 |   2 |           5 | True
        XYZ     |            1 | 2020-10-01 | 2020-10-04 |   2 |           4 | False
        XYZ     |            2 | 2020-10-03 | 2020-10-07 |   2 |           5 | True
        """,
    ),
    "W shapes that overlap": (
        """
        select * from stock_price_history match_recognize(
            partition by company
            order by price_date
            measures
                match_number() as "MATCH_NUMBER",
                first(price_date) as "START",
                last(price_date) as "END",
                count(*) as "PRICE_COUNT"
            after match skip to next row
            pattern(ANY_ROW DOWN+ UP+ DOWN+ UP+)
            define
                ANY_ROW AS TRUE,
                UP as price > lag(price),
                DOWN as price < lag(price)
        )
        order by company, match_number;
        """,
        """
        COMPANY | MATCH_NUMBER | START      | END        | PRICE_COUNT
        ABCD    |            1 | 2020-10-01 | 2020-10-08 |           8
        XYZ     |            1 | 2020-10-01 | 2020-10-08 |           8
        XYZ     |            2 | 2020-10-05 | 2020-10-10 |           6
        XYZ     |            3 | 2020-10-06 | 2020-10-10 |           5
        """,
    ),
    "the rising rows of a W": (
        """
        select * from stock_price_history match_recognize(
                partition by company
                order by price_date
                measures
                    match_number() as "MATCH_NUMBER",
                    classifier as cl,
                    count(*) as "PRICE_COUNT"
                all rows per match
                pattern(ANY_ROW {- DOWN+ -} UP+ {- DOWN+ -} UP+)
                define
                    ANY_ROW AS TRUE,
                    UP as price > lag(price),
                    DOWN as price < lag(price)
            )
            order by company, price_date;
        """,
        """
        COMPANY | PRICE_DATE | PRICE | MATCH_NUMBER | CL      | PRICE_COUNT
        ABCD    | 2020-10-01 |    50 |            1 | ANY_ROW |           1
        ABCD    | 2020-10-03 |    39 |            1 | UP      |           3
        ABCD    | 2020-10-04 |    42 |            1 | UP      |           4
        ABCD    | 2020-10-06 |    47 |            1 | UP      |           6
        ABCD    | 2020-10-07 |    71 |            1 | UP      |           7
        ABCD    | 2020-10-08 |    80 |            1 | UP      |           8
        XYZ     | 2020-10-01 |    89 |            1 | ANY_ROW |           1
        XYZ     | 2020-10-03 |    37 |            1 | UP      |           3
        XYZ     | 2020-10-04 |    63 |            1 | UP      |           4
        XYZ     | 2020-10-05 |    65 |            1 | UP      |           5
        XYZ     | 2020-10-08 |    54 |            1 | UP      |           8
        """,
    ),
}


@pytest.mark.usefixtures("stock_price_history")
@pytest.mark.parametrize(("query", "rows"), REFERENCE.values(), ids=REFERENCE)
def test_the_reference(spark: SparkSession, query: str, rows: str) -> None:
    assert folded(answer(spark, query, "snowflake")) == folded(table(rows))


@pytest.mark.usefixtures("stock_price_history")
@pytest.mark.parametrize(("query", "rows"), GUIDE.values(), ids=GUIDE)
def test_the_guide(spark: SparkSession, query: str, rows: str) -> None:
    assert folded(answer(spark, query, "snowflake")) == folded(table(rows))


EDGES = """
SELECT company, price_date,
       "First(price_date)", "Lag(price_date)", "Lead(price_date)", "Last(price_date)",
       "Match#", "MatchSeq#", "Classifier"
    FROM stock_price_history
        MATCH_RECOGNIZE (
            PARTITION BY company
            ORDER BY price_date
            MEASURES
                -- Show the "edges" of the "window frame".
                FIRST(price_date) AS "First(price_date)",
                LAG(price_date) AS "Lag(price_date)",
                LEAD(price_date) AS "Lead(price_date)",
                LAST(price_date) AS "Last(price_date)",
                MATCH_NUMBER() AS "Match#",
                MATCH_SEQUENCE_NUMBER() AS "MatchSeq#",
                CLASSIFIER AS "Classifier"
            ALL ROWS PER MATCH
            AFTER MATCH SKIP TO NEXT ROW
            PATTERN (CURRENT_ROW T2 T3)
            DEFINE
                CURRENT_ROW AS TRUE,
                T2 AS TRUE,
                T3 AS TRUE
            )
    ORDER BY company, "Match#", "MatchSeq#"
    ;
"""


@pytest.mark.usefixtures("stock_price_history")
def test_lag_and_lead_see_the_rows_of_the_match(spark: SparkSession) -> None:
    """The guide's 48 rows, three for each match: those of match 1 begin on the first day."""
    expected = table("""
        COMPANY | PRICE_DATE | First(price_date) | Lag(price_date) | Lead(price_date) | Last(price_date) | Match# | MatchSeq# | Classifier
        """)
    for company in ("ABCD", "XYZ"):
        for match in range(1, 9):
            days = [f"2020-10-{match + step:02}" for step in range(3)]
            expected += [
                [
                    company,
                    days[0],
                    days[0],
                    "NULL",
                    days[1],
                    days[0],
                    str(match),
                    "1",
                    "CURRENT_ROW",
                ],
                [company, days[1], days[0], days[0], days[2], days[1], str(match), "2", "T2"],
                [company, days[2], days[0], days[1], "NULL", days[2], str(match), "3", "T3"],
            ]
    assert folded(answer(spark, EDGES, "snowflake")) == folded(expected)


# Below: the rules of the reference, with rows derived by hand from the same table.
DERIVED = {
    "LAG and LEAD of one row for each match: LEAD is after the last row": (
        """
        SELECT * FROM stock_price_history MATCH_RECOGNIZE (
            PARTITION BY company ORDER BY price_date
            MEASURES LAG(price) AS "before", LAG(price, 5, -1) AS far, LEAD(price, 1, 0) AS "after"
            PATTERN (low up) DEFINE low AS price < 31, up AS price > LAG(price, 1, 0))
        ORDER BY company, "before"
        """,
        """
        company | before | far | after
        ABCD    | 30     | -1  | 0
        XYZ     | 24     | -1  | 0
        XYZ     | 30     | -1  | 0
        """,
    ),
    "FIRST_VALUE and LAST_VALUE in DEFINE are those of the partition": (
        """
        SELECT * FROM stock_price_history MATCH_RECOGNIZE (
            PARTITION BY company ORDER BY price_date
            MEASURES FIRST_VALUE(price) AS f, LAST_VALUE(price) AS l
            PATTERN (a b) DEFINE a AS price < FIRST_VALUE(price),
                b AS price > LAST_VALUE(price) AND price >= FIRST_VALUE(price))
        ORDER BY company
        """,
        """
        company | f  | l
        ABCD    | 47 | 71
        """,
    ),
    "a moving average": (
        """
        SELECT * FROM stock_price_history MATCH_RECOGNIZE (
            PARTITION BY company ORDER BY price_date
            MEASURES FIRST(price_date) AS since, COUNT(*) AS days
            PATTERN (low above{3,})
            DEFINE above AS price > AVG(price) OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW),
                low AS price < MIN(price) OVER (ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING))
        """,
        """
        company | since      | days
        ABCD    | 2020-10-05 | 4
        """,
    ),
    "FINAL and RUNNING": (
        """
        SELECT * FROM stock_price_history MATCH_RECOGNIZE (
            ORDER BY price_date
            MEASURES RUNNING SUM(price) AS so_far, FINAL SUM(price) AS total, FINAL LAG(price) AS p,
                COUNT(up.*) AS ups, IFF(CLASSIFIER() = 'UP', 1, 0) AS is_up
            ALL ROWS PER MATCH PATTERN (low up up)
            DEFINE low AS price = 36, up AS price > LAG(price) AND company = 'ABCD')
        """.replace("FROM stock_price_history", "FROM (SELECT * FROM stock_price_history WHERE company = 'ABCD')"),
        """
        company | price_date | price | so_far | total | p  | ups | is_up
        ABCD    | 2020-10-02 | 36    | 36     | 117   | 39 | 0   | 0
        ABCD    | 2020-10-03 | 39    | 75     | 117   | 39 | 1   | 1
        ABCD    | 2020-10-04 | 42    | 117    | 117   | 39 | 2   | 1
        """,
    ),
    "functions of Snowflake": (
        """
        SELECT company, d, weeks, m, v, n, prices FROM stock_price_history MATCH_RECOGNIZE (
            PARTITION BY company ORDER BY price_date
            MEASURES DATEDIFF('day', FIRST(price_date), LAST(price_date)) AS d,
                DATEDIFF(week, FIRST(price_date), LAST(price_date)) AS weeks,
                DATEADD(month, 1, LAST(price_date)) AS m,
                ZEROIFNULL(LAG(price, 9)) AS v, NVL(LAG(price, 9), IFNULL(NULL, 7)) AS n,
                ARRAY_AGG(price) AS prices
            PATTERN (low up{3}) DEFINE low AS price < 31, up AS price > LAG(price))
        """,
        """
        company | d | weeks | m          | v | n | prices
        ABCD    | 3 | 0     | 2020-11-08 | 0 | 7 | [30, 47, 71, 80]
        XYZ     | 3 | 1     | 2020-11-05 | 0 | 7 | [24, 37, 63, 65]
        """,
    ),
    "NULL is greater than all prices": (
        """
        SELECT * FROM (SELECT price_date, NULLIF(price, 89) AS price FROM stock_price_history
            WHERE company = 'XYZ') MATCH_RECOGNIZE (
            ORDER BY price DESC MEASURES FIRST(price_date) AS unknown, LAST(price) AS most
            PATTERN (^ a b))
        """,
        """
        unknown    | most
        2020-10-01 | 65
        """,
    ),
}  # fmt: skip


@pytest.mark.usefixtures("stock_price_history")
@pytest.mark.filterwarnings("ignore:.*without DEFINE")
@pytest.mark.parametrize(("query", "rows"), DERIVED.values(), ids=DERIVED)
def test_the_rules(spark: SparkSession, query: str, rows: str) -> None:
    assert folded(answer(spark, query, "snowflake")) == folded(table(rows))


@pytest.mark.usefixtures("stock_price_history")
def test_window_functions_around_the_clause_stay(spark: SparkSession) -> None:
    query = """SELECT company, LAG(s) OVER (PARTITION BY company ORDER BY s) AS before
        FROM stock_price_history MATCH_RECOGNIZE (PARTITION BY company ORDER BY price_date
        MEASURES SUM(price) AS s PATTERN (low up) DEFINE low AS price < 31, up AS price > LAG(price))
        ORDER BY company, s"""
    found = answer(spark, query, "snowflake")
    assert found[1:] == [["ABCD", "NULL"], ["XYZ", "NULL"], ["XYZ", "61"]]


@pytest.mark.usefixtures("stock_price_history")
def test_frames_in_measures_are_refused(spark: SparkSession) -> None:
    query = """SELECT * FROM stock_price_history MATCH_RECOGNIZE (ORDER BY price_date
        MEASURES AVG(price) OVER (ROWS 2 PRECEDING) AS m PATTERN (a) DEFINE a AS TRUE)"""
    with pytest.raises(matchrec.MatchRecognizeError, match="OVER in MEASURES"):
        matchrec.sql(spark, query, dialect="snowflake")
