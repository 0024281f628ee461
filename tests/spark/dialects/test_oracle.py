"""Oracle's documented queries as they are, and the rows that its pages print.

Guide: Data Warehousing Guide, SQL for Pattern Matching. Rows that it does not print are by hand.
"""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.spark.dialects.pasted import Pasted, Table, answer, create

ACME = [12, 17, 19, 21, 25, 12, 15, 20, 24, 25, 19, 15, 25, 25, 14, 12, 14, 24, 23, 22]
VU = [12, 17, 19, 21, 25, 12, 15, 20, 24, 25, 19, 15, 25, 25, 14, 12, 12, 24, 23, 22]
WAVE = [
    *(1000, 775, 900, 775, 900, 775, 900, 775, 800, 550),
    *(900, 800, 1100, 800, 550, 800, 875, 950, 600, 300),
]
MULTI = [
    *(36.25, 36.47, 36.36, 36.25, 36.36, 36.70, 36.50, 36.66, 36.98, 37.08, 37.43, 37.68, 37.66),
    *(37.32, 37.16, 36.98, 37.19, 37.45, 37.79, 37.49, 37.30, 37.08, 37.34, 37.54, 37.69, 37.60),
    *(37.93, 38.17),
]
EVENTS = {
    "Mary": [1, 11, 23, 34, 44, 53, 63],
    "Richard": [3, 13, 23, 33, 43, 54, 63],
    "Sam": [2, 12, 22, 32, 43, 47, 48, 59, 60, 68],
}
TICKER = "symbol string, tstamp date, price double"
TABLES = [
    Table("ticker", TICKER, [f"ACME|2011-04-{i:02}|{x}" for i, x in enumerate(ACME, 1)]),
    Table("tickervu", TICKER, [f"ACME|2011-04-{i:02}|{x}" for i, x in enumerate(VU, 1)]),
    Table("ticker3wave", TICKER, [f"ACME|2011-04-{i:02}|{x}" for i, x in enumerate(WAVE, 1)]),
    Table("tickerwavemulti", TICKER, [f"ACME|2010-05-{i:02}|{x}" for i, x in enumerate(MULTI, 1)]),
    Table(
        "stockt04",
        "symbol string, tstamp timestamp, price int, volume int",
        [
            f"ACME|2010-01-01 {time}|35|{volume}"
            for time, volume in (
                *(("12:00:00", 35000), ("12:05:00", 15000), ("12:10:00", 5000)),
                *(("12:11:00", 42000), ("12:16:00", 7000), ("12:19:00", 5000)),
                *(("12:20:00", 5000), ("12:33:00", 55000), ("12:36:00", 15000)),
                *(("12:48:00", 15000), ("12:59:00", 15000), ("01:09:00", 55000)),
                *(("01:19:00", 55000), ("01:29:00", 15000)),
            )
        ],
    ),
    Table(
        "events",
        "time_stamp int, user_id string",
        [f"{time}|{user}" for user, times in EVENTS.items() for time in times],
    ),
    Table(
        "my_cdr",
        "caller int, callee int, start_time int, end_time int",
        [
            *("1|7|1354|1575", "1|7|1603|1829", "1|7|1857|2301", "1|7|2320|2819"),
            *("1|7|2840|2964", "1|7|64342|64457", "1|7|85753|85790", "1|7|85808|85985"),
            *("1|7|86011|86412", "1|7|86437|86546"),
        ],
    ),
    Table(
        "event_log",
        "time date, userid string, amount int, event string, transfer_to string",
        [
            *("2012-01-01|john|1000000|deposit|-", "2012-01-05|john|1200000|deposit|-"),
            *("2012-01-06|john|1000|transfer|bob", "2012-01-15|john|1500|transfer|bob"),
            *("2012-01-20|john|1500|transfer|allen", "2012-01-23|john|1000|transfer|tim"),
            *("2012-01-26|john|1000000|transfer|tim", "2012-01-27|john|500000|deposit|-"),
        ],
    ),
    Table(
        "logins",  # as event_log, with the time of day that Oracle's DATE has
        "id int, ok int, at timestamp, ntz timestamp_ntz, name string",
        [
            "1|0|2020-03-01 10:00:00|2020-03-01 10:00:00|a",
            "2|0|2020-03-01 10:20:00|2020-03-01 10:20:00|-",
            "3|0|2020-03-01 16:00:00|2020-03-01 16:00:00|b",
            "4|1|2020-03-03 10:00:00|2020-03-03 10:00:00|c",
        ],
    ),
    Table("pages", "page int", map(str, (1, 2, 3, 5, 6, 7, 10, 11, 12, 42))),
    Table(
        "ranges",
        "id int, start_date date, end_date date",
        [
            *("1|2021-01-01|2021-01-05", "2|2021-01-03|2021-01-08", "3|2021-01-08|2021-01-10"),
            *("4|2021-02-01|2021-02-03", "5|2021-02-10|2021-02-11"),
        ],
    ),
    Table(
        "runs",
        "run_date date, time_in_s int, distance_in_km double",
        [
            *("2018-04-01|310|1", "2018-04-02|1600|5", "2018-04-03|3580|11", "2018-04-06|1550|5"),
            *("2018-04-07|300|1", "2018-04-10|280|1", "2018-04-13|1530|5", "2018-04-14|295|1"),
            *("2018-04-15|292|1",),
        ],
    ),
    Table("sites", "id int, cnt int", [f"{i}|{n}" for i, n in enumerate((40, 20, 10, 50, 30), 1)]),
]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """The tables of all examples."""
    create(spark, TABLES)


V_SHAPE = """
SELECT *
FROM Ticker MATCH_RECOGNIZE (
     PARTITION BY symbol
     ORDER BY tstamp
     MEASURES  STRT.tstamp AS start_tstamp,
               LAST(DOWN.tstamp) AS bottom_tstamp,
               LAST(UP.tstamp) AS end_tstamp
     ONE ROW PER MATCH
     AFTER MATCH SKIP TO LAST UP
     PATTERN (STRT DOWN+ UP+)
     DEFINE
        DOWN AS DOWN.price < PREV(DOWN.price),
        UP AS UP.price > PREV(UP.price)
     ) MR
ORDER BY MR.symbol, MR.start_tstamp
"""
PASTED = [
    Pasted(
        "Guide, Example 20-1: simple V-shape, one row",
        V_SHAPE,
        [
            "ACME 2011-04-05 2011-04-06 2011-04-10",
            "ACME 2011-04-10 2011-04-12 2011-04-13",
            "ACME 2011-04-14 2011-04-16 2011-04-18",
        ],
    ),
    Pasted(
        "Guide, Example 20-2: V-shape with all rows",
        """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES
                 MATCH_NUMBER() AS match_num,
                 CLASSIFIER() AS var_match,
                 FINAL COUNT(UP.tstamp) AS up_days,
                 FINAL COUNT(tstamp) AS total_days,
                 RUNNING COUNT(tstamp) AS cnt_days,
                 price - STRT.price AS price_dif
             ALL ROWS PER MATCH
             AFTER MATCH SKIP TO LAST UP
             PATTERN (STRT DOWN+ UP+)
             DEFINE
                DOWN AS DOWN.price < PREV(DOWN.price),
                UP AS UP.price > PREV(UP.price)
             ) MR
        ORDER BY MR.symbol, MR.match_num, MR.tstamp
        """,
        [
            f"ACME 2011-04-{line}"
            for line in (
                *("05 1 STRT 4 6 1 0 25", "06 1 DOWN 4 6 2 -13 12", "07 1 UP 4 6 3 -10 15"),
                *("08 1 UP 4 6 4 -5 20", "09 1 UP 4 6 5 -1 24", "10 1 UP 4 6 6 0 25"),
                *("10 2 STRT 1 4 1 0 25", "11 2 DOWN 1 4 2 -6 19", "12 2 DOWN 1 4 3 -10 15"),
                *("13 2 UP 1 4 4 0 25", "14 3 STRT 2 5 1 0 25", "15 3 DOWN 2 5 2 -11 14"),
                *("16 3 DOWN 2 5 3 -13 12", "17 3 UP 2 5 4 -11 14", "18 3 UP 2 5 5 -1 24"),
            )
        ],
    ),
    Pasted(
        "Guide, Example 20-3: W-shape",
        """
        SELECT MR.match_num, MR.var_match, MR.start_tstamp, MR.end_tstamp, MR.price
        FROM Ticker MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES MATCH_NUMBER() AS match_num, CLASSIFIER() AS var_match,
                 STRT.tstamp AS start_tstamp, FINAL LAST(UP.tstamp) AS end_tstamp
             ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST UP
             PATTERN (STRT DOWN+ UP+ DOWN+ UP+)
             DEFINE DOWN AS DOWN.price < PREV(DOWN.price), UP AS UP.price > PREV(UP.price)
             ) MR ORDER BY MR.symbol, MR.match_num, MR.tstamp
        """,
        [
            f"1 {name} 2011-04-05 2011-04-13 {price}"
            for name, price in zip(
                ["STRT", "DOWN", *["UP"] * 4, "DOWN", "DOWN", "UP"], ACME[4:13], strict=True
            )
        ],
    ),
    Pasted(
        "Guide, Defining Union Row Pattern Variables: SUBSET",
        """
        SELECT * FROM Ticker MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES FIRST(STRT.tstamp) AS strt_time,
                 LAST(DOWN.tstamp) AS bottom, AVG(STDN.Price) AS stdn_avgprice
             ONE ROW PER MATCH AFTER MATCH SKIP TO LAST UP
             PATTERN (STRT DOWN+ UP+)
             SUBSET STDN= (STRT, DOWN)
             DEFINE UP AS UP.Price > PREV(UP.Price), DOWN AS DOWN.Price < PREV(DOWN.Price))
        """,
        [
            "ACME 2011-04-05 2011-04-06 18.5",
            "ACME 2011-04-10 2011-04-12 19.66666667",
            "ACME 2011-04-14 2011-04-16 17",
        ],
    ),
    Pasted(
        "Guide, RUNNING versus FINAL semantics",
        """
        SELECT M.Tstamp, M.Price, M.RunningAvg, M.FinalAvg
        FROM Ticker MATCH_RECOGNIZE (
             PARTITION BY Symbol ORDER BY Tstamp
             MEASURES RUNNING AVG (A.Price) AS RunningAvg, FINAL AVG (A.Price) AS FinalAvg
             ALL ROWS PER MATCH
             PATTERN (A+)
             DEFINE A AS A.Price >= AVG (A.Price)) M
        WHERE M.Tstamp < DATE '2011-04-11'
        """,
        [
            f"2011-04-{line}"
            for line in (
                *("01 12 12 18.8", "02 17 14.5 18.8", "03 19 16 18.8", "04 21 17.25 18.8"),
                *("05 25 18.8 18.8", "06 12 12 19.2", "07 15 13.5 19.2", "08 20 15.66666667 19.2"),
                *("09 24 17.75 19.2", "10 25 19.2 19.2"),
            )
        ],
    ),
    Pasted(
        "Guide, Excluding Portions of the Pattern from the Output",
        """
        SELECT M.Symbol, M.Tstamp, M.Matchno, M.Classfr, M.Price, M.Avgp
        FROM Ticker MATCH_RECOGNIZE (
             PARTITION BY Symbol ORDER BY tstamp
             MEASURES FINAL AVG(S.Price) AS Avgp, CLASSIFIER() AS Classfr,
                 MATCH_NUMBER() AS Matchno
             ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST B
             PATTERN ( {- A -} B+ {- C+ -} )
             SUBSET S = (A,B)
             DEFINE A AS A.Price >= 10, B AS B.Price > PREV(B.Price),
                 C AS C.Price <= PREV(C.Price)) M
        ORDER BY symbol, tstamp
        """,
        [
            f"ACME 2011-04-{line}"
            for line in (
                *("02 1 B 17 18.8", "03 1 B 19 18.8", "04 1 B 21 18.8", "05 1 B 25 18.8"),
                *("07 2 B 15 19.2", "08 2 B 20 19.2", "09 2 B 24 19.2", "10 2 B 25 19.2"),
                *("13 3 B 25 20", "17 4 B 14 16.66666667", "18 4 B 24 16.66666667"),
            )
        ],
    ),
    Pasted(
        "Guide, Example 20-10: price dip of a specified magnitude",
        """
        SELECT * FROM Ticker3Wave MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES B.tstamp AS timestamp, A.price AS Aprice, B.price AS Bprice,
                 ((B.price - A.price)*100) / A.price AS PctDrop
             ONE ROW PER MATCH AFTER MATCH SKIP TO B
             PATTERN (A B)
             DEFINE B AS (B.price - A.price) / A.price < -0.24)
        """,
        [
            "ACME 2011-04-10 800 550 -31.25",
            "ACME 2011-04-14 1100 800 -27.27272727",
            "ACME 2011-04-15 800 550 -31.25",
            "ACME 2011-04-19 950 600 -36.84210526",
            "ACME 2011-04-20 600 300 -50",
        ],
    ),
    Pasted(
        "Guide, Example 20-11: price dip when it has recovered",
        """
        SELECT * FROM Ticker3Wave MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES A.tstamp as start_timestamp, A.price as start_price,
                 B.price as drop_price, COUNT(C.*)+1 as cnt_days,
                 D.tstamp as end_timestamp, D.price as end_price
             ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
             PATTERN (A B C* D)
             DEFINE B as (B.price - A.price)/A.price < -0.08,
                 C as C.price < A.price, D as D.price >= A.price)
        """,
        ["ACME 2011-04-01 1000 775 11 2011-04-13 1100", "ACME 2011-04-14 800 550 1 2011-04-16 800"],
    ),
    Pasted(
        "Guide, Example 20-12: both V-shape and U-shape",
        """
        SELECT * FROM TickerVU MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES STRT.tstamp AS start_tstamp, DOWN.tstamp AS bottom_tstamp,
                 UP.tstamp AS end_tstamp
             ONE ROW PER MATCH AFTER MATCH SKIP TO LAST UP
             PATTERN (STRT DOWN+ FLAT* UP+)
             DEFINE DOWN AS DOWN.price < PREV(DOWN.price), FLAT AS FLAT.price = PREV(FLAT.price),
                 UP AS UP.price > PREV(UP.price)) MR
        ORDER BY MR.symbol, MR.start_tstamp
        """,
        [
            "ACME 2011-04-05 2011-04-06 2011-04-10",
            "ACME 2011-04-10 2011-04-12 2011-04-13",
            "ACME 2011-04-14 2011-04-16 2011-04-18",
        ],
    ),
    Pasted(
        "Guide, Example 20-13: Elliott wave, multiple instances of inverted V",
        """
        SELECT MR_ELLIOTT.tstamp, cnt, p, q, z, cls, mno
        FROM Ticker3Wave MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES COUNT(*) as CNT, COUNT(P.*) AS P, COUNT(Q.*) AS Q, COUNT(Z.*) AS Z,
                 CLASSIFIER() AS CLS, MATCH_NUMBER() AS MNO
             ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST Z
             PATTERN (P Q+ R+ S+ T+ U+ V+ W+ X+ Y+ Z+)
             DEFINE Q AS Q.price > PREV(Q.price), R AS R.price < PREV(R.price),
                 S AS S.price > PREV(S.price), T AS T.price < PREV(T.price),
                 U AS U.price > PREV(U.price), V AS V.price < PREV(V.price),
                 W AS W.price > PREV(W.price), X AS X.price < PREV(X.price),
                 Y AS Y.price > PREV(Y.price), Z AS Z.price < PREV(Z.price)) MR_ELLIOTT
        ORDER BY symbol, tstamp
        """,
        [
            f"2011-04-{day:02} {day - 1} 1 {int(day > 2)} {int(day > 11)} {name} 1"
            for day, name in enumerate("PQRSTUVWXYZ", 2)
        ],
    ),
    Pasted(
        "Guide, Example 20-14: Elliott waves with a range of rows",
        """
        SELECT MIN(tstamp), MAX(tstamp), MAX(V), MAX(W), MAX(X), MAX(Y), MAX(Z), MAX(MNO)
        FROM tickerwavemulti MATCH_RECOGNIZE (
             PARTITION by symbol ORDER by tstamp
             MEASURES V.tstamp AS START_T, Z.tstamp AS END_T, COUNT(V.price) AS V,
                 COUNT(W.price) AS W, COUNT(X.price) AS X, COUNT(Y.price) AS Y,
                 COUNT(Z.price) AS Z, MATCH_NUMBER() AS MNO
             ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST Z
             PATTERN (V W{3,4} X{3,4} Y{3,4} Z{3,4})
             DEFINE W AS W.price > PREV(W.price), X AS X.price < PREV(X.price),
                 Y AS Y.price > PREV(Y.price), Z AS Z.price < PREV(Z.price)) MR_EW
        """,
        ["2010-05-08 2010-05-22 1 4 4 3 3 1"],
    ),
    Pasted(
        "Guide, Example 20-15: overlapping W-shapes",
        """
        SELECT mno, MIN(start_t), MAX(end_t), COUNT(*)
        FROM Ticker3Wave MATCH_RECOGNIZE (
             PARTITION BY symbol ORDER BY tstamp
             MEASURES MATCH_NUMBER() AS MNO, P.tstamp AS START_T, T.tstamp AS END_T,
                 MAX(P.price) AS TOP_L, MIN(Q.price) AS BOTTOM1, MAX(R.price) AS TOP_M,
                 MIN(S.price) AS BOTTOM2, MAX(T.price) AS TOP_R
             ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST R
             PATTERN ( P Q+ R+ S+ T+ )
             DEFINE Q AS Q.price < PREV(Q.price), R AS R.price > PREV(R.price),
                 S AS S.price < PREV(S.price), T AS T.price > PREV(T.price)) MR_W
        GROUP BY mno ORDER BY mno
        """,
        [
            *("1 2011-04-01 2011-04-05 5", "2 2011-04-03 2011-04-07 5"),
            *("3 2011-04-05 2011-04-09 5", "4 2011-04-07 2011-04-11 5"),
            *("5 2011-04-09 2011-04-13 5", "6 2011-04-11 2011-04-18 8"),
        ],
    ),
    *(
        Pasted(
            "Guide, Example 20-16: stocks traded in large volumes within an hour",
            f"""
            SELECT tstamp, volume, sum_of_large_volumes FROM Stockt04 MATCH_RECOGNIZE (
                 PARTITION BY symbol ORDER BY tstamp
                 MEASURES SUM(A.volume) AS sum_of_large_volumes
                 ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW
                 PATTERN ( A {{- B* -}} A {{- B* -}} A )
                 DEFINE
                    A AS ((A.volume > 30000) AND ((A.tstamp - FIRST (A.tstamp)) < {hour} )),
                    B AS ((B.volume <= 30000) AND ((B.tstamp - FIRST (A.tstamp)) < {hour} )))
            """,
            [
                *("2010-01-01T12:00:00 35000 35000", "2010-01-01T12:11:00 42000 77000"),
                *("2010-01-01T12:33:00 55000 132000",),
            ],
        )
        for hour in ("'0 01:00:00.00'", "INTERVAL '0 01:00:00.00' DAY TO SECOND", "1/24")
    ),
    Pasted(
        "Guide, Example 20-17: sessionization",
        """
        SELECT time_stamp, user_id, session_id FROM Events MATCH_RECOGNIZE
             (PARTITION BY User_ID ORDER BY Time_Stamp
              MEASURES match_number() AS session_id
              ALL ROWS PER MATCH
              PATTERN (b s*)
              DEFINE s AS (s.Time_Stamp - prev(Time_Stamp) <= 10)
             )
        WHERE user_id = 'Mary' ORDER BY user_id, time_stamp
        """,
        ["1 Mary 1", "11 Mary 1", "23 Mary 2", "34 Mary 3", "44 Mary 3", "53 Mary 3", "63 Mary 3"],
    ),
    Pasted(
        "Guide, Example 20-18: sessionization with aggregation",
        """
        SELECT session_id, user_id, start_time, no_of_events, duration FROM Events MATCH_RECOGNIZE
             (PARTITION BY user_id ORDER BY time_stamp
              MEASURES match_number() session_id, count(*) AS no_of_events,
                  first(time_stamp) start_time, last(time_stamp) - first(time_stamp) duration
              PATTERN (b s*)
              DEFINE s AS (s.time_stamp - prev(time_stamp) <= 10)
             )
        ORDER BY user_id, session_id
        """,
        [
            *("1 Mary 1 2 10", "2 Mary 23 1 0", "3 Mary 34 4 29", "1 Richard 3 5 40"),
            *("2 Richard 54 2 9", "1 Sam 2 4 30", "2 Sam 43 3 5", "3 Sam 59 3 9"),
        ],
    ),
    Pasted(
        "Guide, Example 20-19: dropped calls",
        """
        SELECT Caller, Callee, Start_Time, Effective_Call_Duration,
               (End_Time - Start_Time) - Effective_Call_Duration AS Total_Interruption_Duration,
               No_Of_Restarts, Session_ID
        FROM my_cdr MATCH_RECOGNIZE
             ( PARTITION BY Caller, Callee ORDER BY Start_Time
               MEASURES A.Start_Time AS Start_Time, End_Time AS End_Time,
                   SUM(End_Time - Start_Time) AS Effective_Call_Duration,
                   COUNT(B.*) AS No_Of_Restarts, MATCH_NUMBER() AS Session_ID
               PATTERN (A B*)
               DEFINE B AS B.Start_Time - PREV(B.end_Time) < 60
             )
        """,
        ["1 7 1354 1514 96 4 1", "1 7 64342 115 0 0 2", "1 7 85753 724 69 3 3"],
    ),
    Pasted(
        "Guide, Example 20-20: suspicious money transfers",
        """
        SELECT userid, first_t, last_t, amount
        FROM (SELECT * FROM event_log WHERE event = 'transfer')
        MATCH_RECOGNIZE
           (PARTITION BY userid ORDER BY time
            MEASURES FIRST(x.time) first_t, y.time last_t, y.amount amount
            PATTERN ( x{3,} y )
            DEFINE x AS (event='transfer' AND amount < 2000),
                   y AS (event='transfer' AND amount >= 1000000 AND
                         LAST(x.time) - FIRST(x.time) < 30 AND
                         y.time - LAST(x.time) < 10))
        """,
        ["john 2012-01-06 2012-01-26 1000000"],
    ),
    Pasted(
        "Guide, Example 20-21: transfers to different users",
        """
        SELECT time, userid, amount, transfer_to
        FROM (SELECT * FROM event_log WHERE event = 'transfer')
        MATCH_RECOGNIZE
           (PARTITION BY userid ORDER BY time
            MEASURES z.time first_t, y.time last_t, y.amount amount_of_y
            ALL ROWS PER MATCH
            PATTERN ( z x{2,} y )
            DEFINE z AS (event='transfer' AND amount < 2000),
                   x AS (event='transfer' AND amount <= 2000 AND
                         PREV(x.transfer_to) <> x.transfer_to),
                   y AS (event='transfer' AND amount >= 1000000 AND
                         LAST(x.time) - z.time < 30 AND y.time - LAST(x.time) < 10 AND
                         SUM(x.amount) + z.amount < 20000))
        """,
        [
            "2012-01-15 john 1500 bob",
            "2012-01-20 john 1500 allen",
            "2012-01-23 john 1000 tim",
            "2012-01-26 john 1000000 tim",
        ],
    ),
    Pasted(
        "Stew Ashton's blog: consecutive values",
        """
        select * from pages
        match_recognize(
          order by page
          measures a.page as firstpage, last(page) as lastpage, count(*) cnt
          one row per match
          after match skip past last row
          pattern (a b*)
          define b as page = prev(page)+1
        )
        """,
        ["1 3 3", "5 7 3", "10 12 3", "42 42 1"],
    ),
    Pasted(
        "Stew Ashton's blog: merging ranges of dates, here with their length",
        """
        select * from ranges
        match_recognize(
          order by start_date, end_date
          measures first(start_date) start_date, max(end_date) end_date,
            max(end_date) - first(start_date) days#
          pattern( a* b )
          define a as max(end_date) >= next(start_date)
        )
        """,
        ["2021-01-01 2021-01-10 9", "2021-02-01 2021-02-03 2", "2021-02-10 2021-02-11 1"],
    ),
    Pasted(
        "Stew Ashton's blog: bin fitting",
        """
        select s first_site, e last_site, sum_cnt from sites
        match_recognize(
          order by id
          measures first(id) s, last(id) e, sum(cnt) sum_cnt
          pattern( a+ )
          define a as sum(cnt) <= 70
        )
        """,
        ["1 3 70", "4 4 50", "5 5 30"],
    ),
    Pasted(
        "Oracle's blog on patterns in running: consecutive days",
        """
        select * from runs
        match_recognize (
          order by run_date
          measures first ( run_date ) as start_date, count (*) as days
          pattern ( strt consecutive* )
          define consecutive as run_date = prev ( run_date ) + 1
        )
        """,
        [
            *("2018-04-01 3", "2018-04-06 2", "2018-04-10 1", "2018-04-13 3"),
        ],
    ),
    Pasted(
        "Oracle's blog on patterns in running: at least three runs in a week",
        """
        select * from runs
        match_recognize (
          order by run_date
          measures first ( run_date ) as strt, count(*) as c, trunc ( last ( run_date ) ) as d
          pattern ( a week7{2,} )
          define week7 as run_date < first ( a.run_date ) + 7
        )
        """,
        ["2018-04-01 5 2018-04-07", "2018-04-10 4 2018-04-15"],
    ),
    Pasted(
        "Oracle's blog on patterns in running: faster, twice in a row",
        """
        select * from runs
        match_recognize (
          order by run_date
          measures to_char(first(run_date), 'DD-MON-YY') as d, nvl(last(faster.time_in_s), 0) as t,
            decode(count(*), 3, 'three', 'more') as n, 'from ' || null || slower.time_in_s as s
          pattern ( slower faster{2} )
          define faster as time_in_s / distance_in_km < prev ( time_in_s / distance_in_km )
        )
        """,
        ["03-APR-18 300 three from 3580", "13-APR-18 292 three from 1530"],
    ),
]


@pytest.mark.parametrize("pasted", PASTED, ids=lambda one: one.source)
def test_a_query_gives_the_printed_rows(spark: SparkSession, pasted: Pasted) -> None:
    assert sorted(answer(spark, pasted.query, "oracle")) == sorted(pasted.rows)


WITHIN = """
    SELECT * FROM logins MATCH_RECOGNIZE (
        ORDER BY {at} MEASURES COUNT(*) AS n, {measure} AS m
        PATTERN (a b*) DEFINE b AS {condition})
"""


@pytest.mark.parametrize("at", ["at", "ntz"])
@pytest.mark.parametrize(
    ("condition", "counts"),
    [
        ("{at} - PREV({at}) < 1", [3, 1]),
        ("{at} - PREV({at}) < 1/24", [2, 1, 1]),
        ("({at} - PREV({at})) * 24 * 60 <= 20", [2, 1, 1]),
        ("ROUND(({at} - PREV({at})) * 24) < 6", [2, 1, 1]),
        ("{at} - FIRST(a.{at}) BETWEEN 0 AND 2", [4]),
        ("{at} < PREV({at}) + 20/1440", [1, 1, 1, 1]),
        ("{at} <= PREV({at}) + INTERVAL '20' MINUTE", [2, 1, 1]),
        ("{at} <= PREV({at}) + NUMTODSINTERVAL(20, 'MINUTE')", [2, 1, 1]),
        ("{at} - PREV({at}) <= TO_DSINTERVAL('0 00:20:00')", [2, 1, 1]),
        ("{at} - PREV({at}) <= '0 00:20:00'", [2, 1, 1]),
        ("TRUNC({at}) = TRUNC(PREV({at}))", [3, 1]),
        ("TRUNC({at}, 'HH24') = TRUNC(PREV({at}), 'HH24')", [2, 1, 1]),
        ("TRUNC({at}) - TRUNC(PREV({at})) < 2", [3, 1]),
        ("{at} - id > TO_DATE('01-MAR-2020 09:59', 'DD-MON-YYYY HH24:MI') - 2", [2, 2]),
    ],
)
def test_days_between_dates_with_a_time(
    spark: SparkSession, at: str, condition: str, counts: list[int]
) -> None:
    query = WITHIN.format(at=at, measure="0", condition=condition.format(at=at))
    assert answer(spark, query, "oracle") == [f"{n} 0" for n in counts]


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("(LAST(at) - FIRST(at)) * 24", "6"),
        ("TRUNC(LAST(at) - FIRST(at), 2)", "0.25"),
        ("FIRST(at) + 1/24", "2020-03-01T11:00:00"),
        ("FIRST(at) - 1", "2020-02-29T10:00:00"),
        ("TRUNC(FIRST(at), 'MM')", "2020-03-01T00:00:00"),
        ("CAST(LAST(at) AS DATE)", "2020-03-01T16:00:00"),
        ("TIMESTAMP '2020-03-01 10:00:00'", "2020-03-01T10:00:00"),
        ("TO_CHAR(LAST(at))", "01-MAR-20"),
        ("TO_CHAR(LAST(at), 'DD-MON-YYYY HH24:MI:SS')", "01-MAR-2020 16:00:00"),
        ("FIRST(name, 1) || '+' || LAST(name)", "+b"),
        ("FIRST(name, 1) || FIRST(name, 1)", "-"),
        ("NVL2(FIRST(name, 1), 'some', 'none')", "none"),
        ("DECODE(FIRST(name, 1), NULL, 'none', 'a', 'an a')", "none"),
        ("TRUNC(LAST(id) / 2)", "1"),
        ("TO_NUMBER('12') + MOD(LAST(id), 2)", "13"),
        ("INITCAP(CLASSIFIER())", "B"),
        ("CASE WHEN LAST(name) = '' THEN 1 WHEN LAST(name) <> '' THEN 2 END", "-"),
        ("REPLACE('a-b', '-', '') || NVL('', 'x')", "abx"),
        (
            "TO_CHAR(TO_DATE('01-APR-75'), 'YYYY') || TO_CHAR(TO_DATE('01-APR-49'), 'YYYY')",
            "19752049",
        ),
        ("TO_CHAR(TO_DATE('50-01-02 10', 'RR-MM-DD HH24'), 'RR-MM-DD')", "50-01-02"),
        ("TO_CHAR(TO_DATE('01-APR-75'), 'ddMONrr DY')", "01APR75 TUE"),
        ("TO_CHAR(TO_DATE('01-APR-75'), 'dd mon')", "01 apr"),
        ("TO_CHAR(TO_DATE('01-APR-75'), 'dd Mon')", "01 Apr"),
        ("TO_DATE('50-01-02 10', 'RR-MM-DD HH24')", "1950-01-02T10:00:00"),
        ("TO_CHAR(TO_DATE('01-APR-75', 'DD-MON-YY'), 'YYYY')", "2075"),
        ("TO_DATE('02-JAN-00') - TO_DATE('31-DEC-99', 'DD-MON-RR')", "2"),
    ],
)
def test_functions_of_dates_numbers_and_texts(
    spark: SparkSession, measure: str, value: str
) -> None:
    query = WITHIN.format(at="at", measure=measure, condition="at - PREV(at) < 1")
    assert answer(spark, query, "oracle")[0] == f"3 {value}"


def test_a_bare_difference_of_timestamps_is_an_interval_and_says_so(spark: SparkSession) -> None:
    query = WITHIN.format(at="at", measure="LAST(at) - FIRST(at)", condition="at - PREV(at) < 1")
    with pytest.warns(UserWarning, match=r"write `\(a - b\) \* 1` for days"):
        assert answer(spark, query, "oracle") == ["3 6:00:00", "1 0:00:00"]
    assert answer(
        spark, query.replace("LAST(at) - FIRST(at)", "(LAST(at) - FIRST(at)) * 1"), "oracle"
    ) == ["3 0.25", "1 0"]


def test_the_query_around_a_clause_knows_the_types_of_its_columns(spark: SparkSession) -> None:
    query = """
        SELECT m.until - m.since AS days, until + 1 AS next
        FROM runs MATCH_RECOGNIZE (
            ORDER BY run_date MEASURES run_date AS until, FIRST(run_date) AS since
            PATTERN (a b+) DEFINE b AS run_date - PREV(run_date) <= 1) m
    """
    expected = ["2 2018-04-04", "1 2018-04-08", "2 2018-04-16"]
    assert answer(spark, query, "oracle") == expected


def test_a_difference_of_unknown_types_is_named(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT end_date - start_date AS days FROM ranges)
        MATCH_RECOGNIZE (ORDER BY days MEASURES COUNT(*) AS n PATTERN (a b) DEFINE b AS 1 = 1)"""
    with pytest.warns(UserWarning, match="a number of days in Oracle"):
        matchrec.sql(spark, query, dialect="oracle")


def test_a_clause_over_the_rows_of_another(spark: SparkSession) -> None:
    query = """
        SELECT * FROM (
            SELECT * FROM runs MATCH_RECOGNIZE (ORDER BY run_date
            MEASURES FIRST(run_date) AS since, run_date + 1 AS until
            PATTERN (a b*) DEFINE b AS run_date - PREV(run_date) <= 1))
        MATCH_RECOGNIZE (ORDER BY since
            MEASURES SUM(until - since) AS days, LAST(until) - FIRST(since) AS span
            PATTERN (c d*) DEFINE d AS since - PREV(until) < 3)
    """
    assert answer(spark, query, "oracle") == ["9 15"]


def test_rows_that_connect_by_makes(spark: SparkSession) -> None:
    query = """
        SELECT * FROM (SELECT level n, DATE '2020-01-01' + level d FROM dual CONNECT BY level <= 5)
        MATCH_RECOGNIZE (ORDER BY n MEASURES COUNT(*) AS n, LAST(d) AS d
        PATTERN (a+) DEFINE a AS MOD(n, 4) > 0)
    """
    assert answer(spark, query, "oracle") == ["3 2020-01-04", "1 2020-01-06"]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("TO_CHAR(run_date, 'Day')", "names of months and days, which Oracle pads"),
        ("TO_CHAR(run_date, 'MON Dy')", "names of months and days in different cases"),
        ("TRUNC(run_date, 'CC')", "no TRUNC to 'CC'"),
        ("TO_DATE('01-01-1975', 'DD-MM-RRRR')", "RRRR: write YYYY or RR"),
    ],
)
def test_what_spark_lacks_is_refused_by_name(
    spark: SparkSession, measure: str, message: str
) -> None:
    query = f"""SELECT * FROM runs MATCH_RECOGNIZE (
        ORDER BY run_date MEASURES {measure} AS m PATTERN (a) DEFINE a AS 1 = 1)"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match=message):
        matchrec.sql(spark, query, dialect="oracle")


def test_connect_by_of_a_hierarchy_is_refused(spark: SparkSession) -> None:
    query = """SELECT * FROM (SELECT a FROM t CONNECT BY PRIOR a = b)
        MATCH_RECOGNIZE (ORDER BY a PATTERN (x) DEFINE x AS a > 1)"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="WITH RECURSIVE"):
        matchrec.sql(spark, query, dialect="oracle")
