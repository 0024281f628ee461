"""Flink SQL's documented queries as they are, and the rows that its pages print.

Page: Pattern Recognition. Tests: MatchRecognizeITCase of Flink. What is not printed is by hand.
"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.pasted import Pasted, Table, answer, create

TICKER = "symbol string, tax int, price double, rowtime timestamp"


def ticker(name: str, *rows: tuple[int, int], start: str = "2011-04-01 10:00:00") -> Table:
    """A table of prices and taxes, a row each second from `start` on."""
    day, first = start[:-2], int(start[-2:])
    lines = [f"ACME|{tax}|{x}|{day}{first + i:02}" for i, (x, tax) in enumerate(rows)]
    return Table(name, TICKER, lines)


TABLES = [
    ticker(
        *("Ticker", (12, 1), (17, 2), (19, 1), (21, 3), (25, 2), (18, 1)),
        *((15, 1), (14, 2), (24, 2), (25, 2), (19, 1)),
    ),
    ticker(
        *("Averages", (12, 1), (17, 2), (13, 1), (16, 3), (25, 2), (2, 1), (4, 1)),
        *((10, 2), (15, 2), (25, 2), (25, 1), (30, 1)),
    ),
    ticker("Greedy", (10, 1), (11, 2), (12, 1), (13, 2), (14, 1), (16, 2)),
    ticker("Output", (10, 1), (12, 2), (13, 1), (11, 2)),
    ticker("Skipping", (7, 1), (9, 2), (10, 1), (5, 2), (10, 2), (7, 2), (14, 2)),
    ticker("Sums", (10, 1), (15, 1), (20, 1), (31, 1), (35, 1)),
    Table(
        "Hours",
        TICKER,
        [
            f"ACME|1|{price}|2011-04-01 {10 + i // 3}:{i % 3 * 2}0:00"
            for i, price in enumerate((20, 17, 18, 11, 14, 9, 15, 14, 24, 1, 19))
        ],
    ),
    Table(
        "MyTable",
        "id int, name string, nullField string, proctime timestamp",
        [
            f"{i}|{name}|-|2020-01-01 00:00:0{i}"
            for i, name in enumerate(("a", "z", "b", "c", "d", "a", "b", "c", "h"), 1)
        ],
    ),
    Table(
        "Ordered",
        "rowtime int, secondaryOrder int, ternaryOrder int, name string, id int",
        [
            *("2|12|1|a|1", "1|11|2|b|2", "3|10|3|c|3", "4|8|4|a|4", "4|9|5|b|5", "5|7|6|c|6"),
            *("6|6|8|a|7", "6|6|7|b|8", "8|4|9|c|9", "9|3|10|a|10", "10|2|11|b|11", "11|1|12|c|12"),
        ],
    ),
    Table(
        "Offsets",
        "symbol string, tstamp bigint, price int, tax int, proctime int",
        [
            f"ACME|{i}|{price}|{i}|{i}"
            for i, price in enumerate((19, 17, 13, 20, 20, 26, 20, 25), 1)
        ],
    ),
    Table(
        "Stars",
        "id int, symbol string, price int, proctime int",
        [f"{i}|ACME|{x}|{i}" for i, x in enumerate((20, 19, 18, 17, 16, 15, 14, 20), 1)],
    ),
    Table(
        "Nulls",
        "id int, name string, price int, proctime int",
        [
            *("1|a|10|1", "2|z|10|2", "3|b|-|3", "4|c|-|4", "5|d|3|5", "6|c|3|6", "7|c|3|7"),
            *("8|c|3|8", "9|c|2|9"),
        ],
    ),
]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """The tables of all examples."""
    create(spark, TABLES)


def greedy(quantifier: str) -> str:
    """The page's query about greedy and reluctant quantifiers."""
    return f"""
        SELECT * FROM Greedy
            MATCH_RECOGNIZE(
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES C.price AS lastPrice
                ONE ROW PER MATCH
                AFTER MATCH SKIP PAST LAST ROW
                PATTERN (A B{quantifier} C)
                DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12
            )
    """


def skipping(after_match: str) -> str:
    """The page's query about AFTER MATCH."""
    return f"""
        SELECT * FROM Skipping
            MATCH_RECOGNIZE(
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    SUM(A.price) AS sumPrice,
                    EXTRACT(SECOND FROM FIRST(rowtime)) AS startTime,
                    EXTRACT(SECOND FROM LAST(rowtime)) AS endTime
                ONE ROW PER MATCH
                {after_match}
                PATTERN (A+ C)
                DEFINE A AS SUM(A.price) < 30
            )
    """


def mapped(table: str, define: str, pattern: str = "A B+") -> str:
    """A query that shows how many rows a pattern of the page's tables maps."""
    return f"""
        SELECT * FROM {table} MATCH_RECOGNIZE (
            ORDER BY rowtime MEASURES COUNT(*) AS n, LAST(price) AS p
            AFTER MATCH SKIP PAST LAST ROW PATTERN ({pattern}) DEFINE {define})
    """


PASTED = [
    Pasted(
        "Page, introduction",
        """
        SELECT T.aid, T.bid, T.cid
        FROM MyTable
            MATCH_RECOGNIZE (
              PARTITION BY nullField
              ORDER BY proctime
              MEASURES A.id AS aid, B.id AS bid, C.id AS cid
              PATTERN (A B C)
              DEFINE A AS name = 'a', B AS name = 'b', C AS name = 'c'
            ) AS T
        """,
        ["6 7 8"],
    ),
    Pasted(
        "Page, Examples: constantly decreasing price",
        """
        SELECT *
        FROM Ticker
            MATCH_RECOGNIZE (
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    START_ROW.rowtime AS start_tstamp,
                    LAST(PRICE_DOWN.rowtime) AS bottom_tstamp,
                    LAST(PRICE_UP.rowtime) AS end_tstamp
                ONE ROW PER MATCH
                AFTER MATCH SKIP TO LAST PRICE_UP
                PATTERN (START_ROW PRICE_DOWN+ PRICE_UP)
                DEFINE
                    PRICE_DOWN AS
                        (LAST(PRICE_DOWN.price, 1) IS NULL
                            AND PRICE_DOWN.price < START_ROW.price) OR
                            PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1),
                    PRICE_UP AS
                        PRICE_UP.price > LAST(PRICE_DOWN.price, 1)
            ) MR;
        """,
        ["ACME 2011-04-01T10:00:04 2011-04-01T10:00:07 2011-04-01T10:00:08"],
    ),
    Pasted(
        "Page, Aggregations",
        """
        SELECT *
        FROM Averages
            MATCH_RECOGNIZE (
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    FIRST(A.rowtime) AS start_tstamp,
                    LAST(A.rowtime) AS end_tstamp,
                    AVG(A.price) AS avgPrice
                ONE ROW PER MATCH
                AFTER MATCH SKIP PAST LAST ROW
                PATTERN (A+ B)
                DEFINE
                    A AS AVG(A.price) < 15
            ) MR;
        """,
        [
            "ACME 2011-04-01T10:00:00 2011-04-01T10:00:03 14.5",
            "ACME 2011-04-01T10:00:05 2011-04-01T10:00:10 13.5",
        ],
    ),
    Pasted("Page, Greedy", greedy("*"), ["ACME 16"]),
    Pasted("Page, Reluctant", greedy("*?"), ["ACME 13", "ACME 16"]),
    Pasted(
        "Page, Time constraint",
        """
        SELECT *
        FROM Hours
            MATCH_RECOGNIZE(
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    C.rowtime AS dropTime,
                    A.price - C.price AS dropDiff
                ONE ROW PER MATCH
                AFTER MATCH SKIP PAST LAST ROW
                PATTERN (A B* C) WITHIN INTERVAL '1' HOUR
                DEFINE
                    B AS B.price > A.price - 10,
                    C AS C.price < A.price - 10
            )
        """,
        ["ACME 2011-04-01T13:00:00 14"],
    ),
    Pasted(
        "Page, Output mode",
        """
        SELECT *
        FROM Output
            MATCH_RECOGNIZE(
                PARTITION BY symbol
                ORDER BY rowtime
                MEASURES
                    FIRST(A.price) AS startPrice,
                    LAST(A.price) AS topPrice,
                    B.price AS lastPrice
                ONE ROW PER MATCH
                AFTER MATCH SKIP PAST LAST ROW
                PATTERN (A+ B)
                DEFINE
                    A AS LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1),
                    B AS B.price < LAST(A.price)
            )
        """,
        ["ACME 10 13 11"],
    ),
    Pasted(
        "Page, Output mode, as Flink runs it: SKIP TO NEXT ROW",
        """
        SELECT * FROM Output MATCH_RECOGNIZE(
            PARTITION BY symbol ORDER BY rowtime
            MEASURES FIRST(A.price) AS startPrice, LAST(A.price) AS topPrice, B.price AS lastPrice
            ONE ROW PER MATCH PATTERN (A+ B)
            DEFINE A AS LAST(A.price, 1) IS NULL OR A.price > LAST(A.price, 1),
                B AS B.price < LAST(A.price))
        """,
        ["ACME 10 13 11", "ACME 12 13 11", "ACME 13 13 11"],
    ),
    Pasted(
        "Page, Pattern variable referencing",
        mapped(
            "Sums",
            "A AS A.price >= 10, B AS B.price > A.price AND SUM(price) < 100 AND SUM(B.price) < 80",
        ),
        ["4 31"],
    ),
    Pasted(
        "Page, Logical offsets",
        mapped(
            "Sums",
            "A AS A.price >= 10, "
            "B AS (LAST(B.price, 1) IS NULL OR B.price > LAST(B.price, 1)) AND"
            " (LAST(B.price, 2) IS NULL OR B.price > 2 * LAST(B.price, 2))",
        ),
        ["4 31"],
    ),
    Pasted(
        "Page, Logical offsets of any variable",
        mapped("Sums", "B AS B.price < 20, C AS LAST(price, 1) < C.price", "A B? C"),
        ["3 20", "2 35"],
    ),
    Pasted(
        "Page, SKIP PAST LAST ROW",
        skipping("AFTER MATCH SKIP PAST LAST ROW"),
        ["ACME 26 0.000000 3.000000", "ACME 17 4.000000 6.000000"],
    ),
    *(
        Pasted(
            f"Page, SKIP TO NEXT ROW {'written' if skip else 'left out'}",
            skipping(skip),
            [
                *("ACME 26 0.000000 3.000000", "ACME 24 1.000000 4.000000"),
                *("ACME 25 2.000000 5.000000", "ACME 22 3.000000 6.000000"),
                *("ACME 17 4.000000 6.000000",),
            ],
        )
        for skip in ("AFTER MATCH SKIP TO NEXT ROW", "")
    ),
    Pasted(
        "Page, SKIP TO LAST A",
        skipping("AFTER MATCH SKIP TO LAST A"),
        [
            *("ACME 26 0.000000 3.000000", "ACME 25 2.000000 5.000000"),
            *("ACME 17 4.000000 6.000000",),
        ],
    ),
    Pasted(
        "Functions of times: TIMESTAMPDIFF in DEFINE",
        """
        SELECT n FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime MEASURES COUNT(*) AS n
            AFTER MATCH SKIP PAST LAST ROW
            PATTERN (A B* C) DEFINE B AS TIMESTAMPDIFF(SECOND, A.rowtime, B.rowtime) < 4)
        """,
        ["5", "5"],
    ),
    Pasted(
        "Tests, names in back quotes",
        """
        SELECT T.aid, T.bid, T.cid
        FROM MyTable
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES
            `A"`.id AS aid,
            l.id AS bid,
            C.id AS cid
          PATTERN (`A"` l C)
          DEFINE
            `A"` AS name = 'a',
            l AS name = 'b',
            C AS name = 'c'
        ) AS T
        """,
        ["6 7 8"],
    ),
    Pasted(
        "Tests, NULL",
        """
        SELECT T.aid, T.bNull, T.cid, T.aNull
        FROM MyTable
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES
            A.id AS aid,
            A.nullField AS aNull,
            LAST(B.nullField) AS bNull,
            C.id AS cid
          PATTERN (A B C)
          DEFINE
            A AS name = 'a' AND nullField IS NULL,
            B AS name = 'b' AND LAST(A.nullField) IS NULL,
            C AS name = 'c'
        ) AS T
        """,
        ["6 - 8 -"],
    ),
    Pasted(
        "Tests, order by several keys",
        """
        SELECT T.aid, T.bid, T.cid
        FROM Ordered
        MATCH_RECOGNIZE (
          ORDER BY rowtime, secondaryOrder DESC, ternaryOrder ASC
          MEASURES A.id AS aid, B.id AS bid, C.id AS cid
          PATTERN (A B C)
          DEFINE A AS name = 'a', B AS name = 'b', C AS name = 'c'
        ) AS T
        """,
        ["10 11 12"],
    ),
    Pasted(
        "Tests, logical offsets",
        """
        SELECT *
        FROM Offsets
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES
            FIRST(DOWN.tstamp) AS start_tstamp,
            LAST(DOWN.tstamp) AS bottom_tstamp,
            UP.tstamp AS end_tstamp,
            FIRST(DOWN.price + DOWN.tax + 1) AS bottom_total,
            UP.price + UP.tax AS end_total
          ONE ROW PER MATCH
          AFTER MATCH SKIP PAST LAST ROW
          PATTERN (DOWN{2,} UP)
          DEFINE
            DOWN AS price < LAST(DOWN.price, 1) OR LAST(DOWN.price, 1) IS NULL,
            UP AS price < FIRST(DOWN.price)
        ) AS T
        """,
        ["6 7 8 33 33"],
    ),
    Pasted(
        "Tests, logical offsets of any variable",
        """
        SELECT *
        FROM Stars
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES FIRST(id, 0) as id0, FIRST(id, 7) as id7, LAST(id, 0) as id8, LAST(id, 7) as id15
          ONE ROW PER MATCH
          AFTER MATCH SKIP PAST LAST ROW
          PATTERN (`DOWN"`{2,} UP)
          DEFINE
            `DOWN"` AS price < LAST(price, 1) OR LAST(price, 1) IS NULL,
            UP AS price = FIRST(price) AND price > FIRST(price, 3) AND price = LAST(price, 7)
        ) AS T
        """,
        ["1 8 8 1"],
    ),
    Pasted(
        "Tests, logical offsets out of range",
        """
        SELECT *
        FROM Offsets
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES
            FIRST(DOWN.price) as first,
            LAST(DOWN.price) as last,
            FIRST(DOWN.price, 5) as nullPrice
          ONE ROW PER MATCH
          AFTER MATCH SKIP PAST LAST ROW
          PATTERN (DOWN{2,} UP)
          DEFINE
            DOWN AS price < LAST(DOWN.price, 1) OR LAST(DOWN.price, 1) IS NULL,
            UP AS price > LAST(DOWN.price)
        ) AS T WHERE T.first = 19
        """,
        ["19 13 -"],
    ),
    Pasted(
        "Tests, aggregates with NULL",
        """
        SELECT *
        FROM Nulls
        MATCH_RECOGNIZE (
          ORDER BY proctime
          MEASURES
            SUM(A.price) as sumA,
            COUNT(A.id) as countAId,
            COUNT(A.price) as countAPrice,
            COUNT(*) as countAll,
            COUNT(price) as countAllPrice,
            LAST(id) as endId
          AFTER MATCH SKIP PAST LAST ROW
          PATTERN (A+ C)
          DEFINE
            A AS SUM(A.price) < 30,
            C AS C.name = 'c'
        ) AS T
        """,
        ["29 7 5 8 6 8"],
    ),
    *(
        Pasted(
            f"Page, Time attributes: MATCH_ROWTIME({column})",
            f"""
            SELECT MINUTE(t) * 60 + SECOND(t), n FROM Ticker MATCH_RECOGNIZE (
                PARTITION BY symbol ORDER BY rowtime
                MEASURES MATCH_ROWTIME({column}) AS t, COUNT(*) / 2 AS n
                AFTER MATCH SKIP PAST LAST ROW
                PATTERN (A B+) DEFINE B AS B.price < A.price AND
                    B.rowtime <= A.rowtime + INTERVAL '3' SECOND)
            """,
            ["7 2", "10 1"],
        )
        for column in ("", "rowtime")
    ),
]


@pytest.mark.parametrize("pasted", PASTED, ids=lambda one: one.source)
def test_a_query_gives_the_printed_rows(spark: SparkSession, pasted: Pasted) -> None:
    assert sorted(answer(spark, pasted.query, "flink")) == sorted(pasted.rows)


def test_a_cast_to_varchar_cuts(spark: SparkSession) -> None:
    query = """SELECT t, CAST(t AS CHAR(1)) AS c FROM Ticker MATCH_RECOGNIZE (
        PARTITION BY symbol ORDER BY rowtime MEASURES CAST(LAST(symbol) AS VARCHAR(2)) AS t
        AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A) DEFINE A AS CAST(symbol AS VARCHAR(3)) = 'ACM')"""
    assert set(answer(spark, query, "flink")) == {"AC A"}


def test_the_average_of_integers_is_as_printed_and_noted(spark: SparkSession) -> None:
    query = """SELECT * FROM Nulls MATCH_RECOGNIZE (ORDER BY id MEASURES AVG(A.price) AS a
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A{8,9}) DEFINE A AS TRUE)"""
    with pytest.warns(UserWarning, match="AVG of integers keeps its fraction"):
        assert answer(spark, query, "flink") == [f"{34 / 7:.10g}"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            """SELECT TUMBLE_START(t, INTERVAL '3' SECOND) FROM Ticker MATCH_RECOGNIZE (
            ORDER BY rowtime MEASURES MATCH_ROWTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)
            GROUP BY TUMBLE(t, INTERVAL '3' SECOND)""",
            r"no TUMBLE_START, a window of time[^`]*write window\(ts, '10 minutes'\)",
        ),
        (
            """SELECT * FROM TUMBLE(TABLE Ticker, DESCRIPTOR(rowtime), INTERVAL '3' SECOND)
            MATCH_RECOGNIZE (ORDER BY rowtime PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no TUMBLE, a window of time[^`]*write window\(ts, '10 minutes'\)",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (ORDER BY rowtime
            MEASURES MATCH_PROCTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            r"no MATCH_PROCTIME, as rows have no time of processing: write now\(\)",
        ),
        (
            """SELECT * FROM Ticker MATCH_RECOGNIZE (
            MEASURES MATCH_ROWTIME() AS t PATTERN (A) DEFINE A AS A.price > 0)""",
            "no MATCH_ROWTIME without ORDER BY",
        ),
    ],
)
def test_what_spark_lacks_is_refused_by_name(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(matchrec.MatchRecognizeError, match=message):
        matchrec.sql(spark, query, dialect="flink")
