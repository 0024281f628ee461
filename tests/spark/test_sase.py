"""The queries of the SASE+ paper have the matches that the paper describes.

All expected matches were found by hand. Those of Query 3 are in the worked example of the
specification; comments at the streams explain those of Queries 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import types as spark_types

import matchrec
from matchrec.spark.backends import find_backend
from tests.properties.test_queries import INTERPRETED, settings

pytestmark = pytest.mark.one_of(4)

ALGORITHMS = ("backtracking", "breadth_first")
TRANSPORTS = ("arrow", "pandas")
DAY = datetime(2026, 3, 2)


def parse_time(time: str) -> datetime:
    """Return the instant of a time such as `8:30` or `8:30:59`. Hours can exceed 24."""
    hours, minutes, seconds = (*map(int, time.split(":")), 0)[:3]
    return DAY + timedelta(hours=hours, minutes=minutes, seconds=seconds)


@pytest.fixture(autouse=True)
def interpreted(spark: SparkSession) -> Iterator[None]:
    """Run Spark's queries without compiling them, which is faster if they are small."""
    with settings(spark, **INTERPRETED):
        yield


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_matches_whose_events_are_not_returned(
    spark: SparkSession, algorithm: str, transport: str
) -> None:
    text = "PATTERN SEQ(ANY a) RETURN 1 AS one"
    counters = None if algorithm == "backtracking" else matchrec.Counters()
    options = matchrec.Options(algorithm=algorithm, transport=transport, counters=counters)
    matches = matchrec.match_sase(spark.range(3), text, order_by="id", options=options)
    assert matches.collect() == [Row(one=1)] * 3


# Query 1: shoplifting

READINGS = [
    # from the shelf at 8:00, through the exit at 9:00; a register after that does not matter
    ("8:00", "Shelf", 1), ("9:00", "Exit", 1), ("9:30", "Register", 1),
    # paid for between shelf and exit
    ("8:01", "Shelf", 2), ("8:30", "Register", 2), ("9:10", "Exit", 2),
    # through the exit exactly 12 hours later: outside the window
    ("8:05", "Shelf", 3), ("20:05", "Exit", 3),
    # one second less; only registers of other tags are between them
    ("8:06", "Shelf", 4), ("20:05:59", "Exit", 4),
    # a register before the shelf does not matter
    ("7:00", "Register", 5), ("8:07", "Shelf", 5), ("9:20", "Exit", 5),
    # unknown tags are not equal
    ("8:08", "Shelf", None), ("9:21", "Exit", None),
]  # fmt: skip
SHOPLIFTING = """
    PATTERN SEQ(Shelf a, ~(Register b), Exit c)
    WHERE   skip_till_next_match(a, b, c) {{ {} }}
    WITHIN  12 hours
    RETURN  a.tag_id, a.ts AS taken, c.ts AS left"""
STOLEN = [
    Row(tag_id=1, taken=parse_time("8:00"), left=parse_time("9:00")),
    Row(tag_id=4, taken=parse_time("8:06"), left=parse_time("20:05:59")),
    Row(tag_id=5, taken=parse_time("8:07"), left=parse_time("9:20")),
]


@pytest.fixture(scope="module")
def readings(spark: SparkSession) -> DataFrame:
    """Return the readings of tags."""
    rows = [(parse_time(time), kind, tag) for time, kind, tag in READINGS]
    return spark.createDataFrame(rows, "ts timestamp, event_type string, tag_id int")


@pytest.mark.parametrize("correlated", ["a.tag_id = b.tag_id AND a.tag_id = c.tag_id", "[tag_id]"])
def test_shoplifting_is_found(readings: DataFrame, correlated: str) -> None:
    query = SHOPLIFTING.format(correlated)
    matches = matchrec.match_sase(readings, query, order_by="ts")
    assert sorted(matches.collect()) == STOLEN


# Query 2: contamination

DELIVERIES = [
    ("0:00", "Alert", "X", "contaminated", None, None),
    ("0:01", "Alert", "Q", "late", None, None),
    ("0:10", "Shipment", None, None, "X", "Y"),
    ("0:20", "Shipment", None, None, "Y", "Z"),
    ("0:30", "Shipment", None, None, "X", "Z"),
    ("0:40", "Shipment", None, None, "Z", "W"),
    ("0:50", "Shipment", None, None, "Q", "R"),
    ("2:59", "Shipment", None, None, "Y", "V"),
    ("3:00", "Shipment", None, None, "W", "U"),
]
CONTAMINATION = """
    PATTERN SEQ(Alert a, Shipment+ b[ ])
    WHERE   skip_till_any_match(a, b[ ]) { a.type = 'contaminated'
            AND b[1].from = a.site AND b[i].from = b[i-1].to }
    WITHIN  3 hours"""


def test_all_chains_of_a_contamination_are_found(spark: SparkSession) -> None:
    """Each chain of shipments from X matches: X-Y-Z-W and its beginnings, X-Y-V, X-Z and X-Z-W.

    The alert about Q is not a contamination, and W-U is 3 hours after the alert.
    """
    rows = [(parse_time(time), *others) for time, *others in DELIVERIES]
    schema = "ts timestamp, event_type string, site string, type string, `from` string, `to` string"
    frame = spark.createDataFrame(rows, schema)
    matches = matchrec.match_sase(frame, CONTAMINATION, order_by="ts")
    assert matches.columns == ["a", "b"]
    chains = matches.selectExpr("concat_ws('-', a.site, b.to) AS chain")
    assert sorted(row.chain for row in chains.collect()) == [
        "X-Y", "X-Y-V", "X-Y-Z", "X-Y-Z-W", "X-Z", "X-Z-W",
    ]  # fmt: skip


# Query 3: stock trend, on the reference stream of section 6

PRICES = (100, 120, 120, 121, 120, 125, 120, 120)
VOLUMES = (1010, 990, 1005, 999, 999, 750, 950, 700)
TREND = """
    PATTERN SEQ(Stock+ a[ ], Stock b)
    WHERE   skip_till_next_match(a[ ], b) { [symbol] AND a[1].volume > 1000
            AND a[i].price > avg(a[..i-1].price) AND b.volume < 80%*a[a.LEN].volume }
    WITHIN  1 hour"""
RETURNED = " RETURN a[1].e AS first, a[a.LEN].e AS last, a.LEN AS events, b.e, avg(a[].price) AS m"
# R1 = e1 e2 e3 e4 e5, e6;  R2 = e3 e4, e6;  R3 = e1 ... e7, e8. No match ends with e5 or e7.
R1 = Row(first=1, last=5, events=5, e=6, m=581 / 5)
R2 = Row(first=3, last=4, events=2, e=6, m=241 / 2)
R3 = Row(first=1, last=7, events=7, e=8, m=826 / 7)


@pytest.fixture(scope="module")
def stocks(spark: SparkSession) -> DataFrame:
    """Return the reference stream of prices."""
    rows = [
        (parse_time(f"9:0{number}"), number, "Stock", "IBM", price, volume)
        for number, (price, volume) in enumerate(zip(PRICES, VOLUMES, strict=True), start=1)
    ]
    schema = "ts timestamp, e int, event_type string, symbol string, price int, volume int"
    return spark.createDataFrame(rows, schema)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_all_stock_trends_are_found(stocks: DataFrame, transport: str) -> None:
    def find_trends(frame: DataFrame) -> list[Row]:
        """Return the matches of Query 3."""
        return matchrec.match_sase(
            frame, TREND + RETURNED, order_by="ts", options=matchrec.Options(transport=transport)
        ).collect()

    assert sorted(find_trends(stocks)) == sorted([R1, R2, R3])
    assert sorted(find_trends(stocks.where("e <= 6"))) == sorted([R1, R2])
    assert find_trends(stocks.where("e <= 5")) == []


def test_matches_are_in_the_order_in_which_they_complete(stocks: DataFrame) -> None:
    rows = matchrec.match_sase(stocks, TREND + RETURNED, order_by="ts").collect()
    assert rows == [R1, R2, R3]


def test_stock_trends_do_not_overlap_on_request(stocks: DataFrame) -> None:
    """R1 and R2 end together, and R1 starts first. After e6, no volume is above 1000."""
    matches = matchrec.match_sase(stocks, TREND + RETURNED, order_by="ts", output="non_overlapping")
    assert matches.collect() == [R1]


# Compressed form

# Table 9.4: state, event, version, and the entry that the pointer leads to
POINTERS = [
    ("a[1]", 1, "1", None, None),
    ("a[1]", 3, "2", None, None),
    ("a[i]", 2, "1.0", "a[1]", 1),
    ("a[i]", 3, "1.0", "a[i]", 2),
    ("a[i]", 4, "1.0", "a[i]", 3),
    ("a[i]", 4, "2.0", "a[1]", 3),
    ("a[i]", 5, "1.0", "a[i]", 4),
    ("a[i]", 6, "1.1", "a[i]", 5),
    ("a[i]", 7, "1.1", "a[i]", 6),
    ("b", 6, "1.0.0", "a[i]", 5),
    ("b", 6, "2.0.0", "a[i]", 4),
    ("b", 8, "1.1.0", "a[i]", 7),
]


def test_the_graph_of_stock_trends_is_the_shared_buffer(stocks: DataFrame) -> None:
    graph = matchrec.match_sase(stocks, TREND, order_by="ts", output="graph")
    rows = graph.selectExpr(
        "state", "event.e", "array_join(version, '.')", "previous_state", "previous_row", "row"
    ).collect()
    assert sorted(tuple(row)[:5] for row in rows) == sorted(
        POINTERS, key=lambda pointer: pointer[:3]
    )
    assert all(
        row.row == row.e for row in rows
    )  # there is one partition, so rows have the numbers of events
    ends = graph.where("completes").selectExpr("state", "row").collect()
    assert sorted(map(tuple, ends)) == [("b", 6), ("b", 6), ("b", 8)]


def test_the_backtracking_engine_has_no_shared_buffer(stocks: DataFrame) -> None:
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="shared buffer"):
        matchrec.match_sase(
            stocks,
            TREND,
            order_by="ts",
            output="graph",
            options=matchrec.Options(algorithm="backtracking"),
        )


def test_the_graph_expands_to_all_matches(stocks: DataFrame) -> None:
    graph = matchrec.match_sase(stocks, TREND, order_by="ts", output="graph")
    verbose = matchrec.match_sase(stocks, TREND, order_by="ts").select("a", "b").collect()
    unwound = matchrec.explode_graph(graph).select("a", "b").collect()
    assert sorted(unwound) == sorted(verbose)
    assert sorted([event.e for event in row.a + row.b] for row in unwound) == [
        [1, 2, 3, 4, 5, 6],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [3, 4, 6],
    ]


def test_a_part_of_the_graph_can_be_expanded(stocks: DataFrame) -> None:
    """The matches that end before e8 remain: R1 and R2."""
    graph = matchrec.match_sase(stocks, TREND, order_by="ts", output="graph").where("event.e < 8")
    assert sorted(len(row.a) for row in matchrec.explode_graph(graph).collect()) == [2, 5]


def test_explode_graph_refuses_other_dataframes(stocks: DataFrame) -> None:
    with pytest.raises(matchrec.MatchRecognizePlanError, match="not a match graph"):
        matchrec.explode_graph(stocks)


# Composition

SALES = [
    ("8:00", "Shelf", 1, "north"), ("8:10", "Exit", 1, "north"),
    ("8:20", "Shelf", 2, "south"), ("8:30", "Register", 2, "south"), ("8:40", "Exit", 2, "south"),
    ("9:00", "Shelf", 3, "north"), ("9:05", "Patrol", None, "north"), ("9:30", "Exit", 3, "north"),
    ("9:40", "Shelf", 4, "south"), ("9:50", "Exit", 4, "south"),
    ("10:00", "Patrol", None, "south"), ("10:30", "Closing", None, "north"),
]  # fmt: skip


def test_matches_are_the_events_of_another_query(spark: SparkSession) -> None:
    """Thefts are 1 (north, 8:10), 3 (north, 9:30) and 4 (south, 9:50), at the times of their exits.

    In the north there are two thefts. The patrol at 9:05 is between them, because the second theft
    has the time of its exit.
    """
    rows = [(parse_time(time), *others) for time, *others in SALES]
    schema = "ts timestamp, event_type string, tag int, shop string"
    events = spark.createDataFrame(rows, schema)
    thefts = matchrec.match_sase(
        events,
        """PATTERN SEQ(Shelf a, ~(Register b), Exit c) WHERE skip_till_next_match { [tag] }
           WITHIN 12 hours RETURN c.ts, 'Theft' AS event_type, a.tag, a.shop""",
        order_by="ts",
    )
    assert thefts.columns == events.columns
    series = """PATTERN SEQ(Theft+ t[]{}, Closing c) WHERE skip_till_next_match {{ [shop] }}
        RETURN t[1].tag AS first, t[t.LEN].tag AS last, t.LEN AS thefts, c.ts"""
    events_and_thefts = events.unionByName(thefts)
    matches = matchrec.match_sase(events_and_thefts, series.format(""), order_by="ts")
    assert sorted(matches.collect()) == [
        Row(first=1, last=3, thefts=2, ts=parse_time("10:30")),
        Row(first=3, last=3, thefts=1, ts=parse_time("10:30")),
    ]
    pairs = """PATTERN SEQ(Theft a, {} Theft b) WHERE skip_till_next_match {{ [shop] }}
        RETURN a.tag AS one, b.tag AS other"""
    assert matchrec.match_sase(events_and_thefts, pairs.format(""), order_by="ts").collect() == [
        Row(one=1, other=3)
    ]
    with_patrol = pairs.format("~(Patrol p),")
    assert matchrec.match_sase(events_and_thefts, with_patrol, order_by="ts").collect() == []


# Event types

TYPED = [(1, "in store", "A", 1), (2, "out", "B", 2), (3, None, "A", 3), (4, "it's", "B", 4)]


@pytest.mark.parametrize(
    ("pattern", "column", "expected"),
    [
        ("'in store' a, out b", "kind", [(1, 2)]),
        ("`in store` a, `out` b", "kind", [(1, 2)]),
        ('`in store` a, "it\'s" b', "kind", [(1, 4)]),
        ("A a, B b", "other", [(1, 2), (3, 4)]),
        ("out a, ANY b", "kind", [(2, 3)]),
        ("* a, out b", "kind", [(1, 2)]),
        ("a a, b b", "lower(other)", [(1, 2), (3, 4)]),
        ("Out a, B b", "kind", []),
    ],
)
def test_a_component_matches_events_of_its_type(
    spark: SparkSession, pattern: str, column: str, expected: list[tuple[int, int]]
) -> None:
    frame = spark.createDataFrame(TYPED, "ts int, kind string, other string, n int")
    query = f"PATTERN SEQ({pattern}) RETURN a.n AS one, b.n AS other"
    matches = matchrec.match_sase(frame, query, order_by="ts", type_column=column)
    assert sorted(map(tuple, matches.collect())) == expected


# Windows

WINDOWS = [
    # type of the order column, WITHIN, the first event, the last inside, the first outside
    ("int", "3", 1, 3, 4),
    ("bigint", "3", 1, 3, 4),
    ("double", "1.5", 0.0, 1.25, 1.5),
    ("decimal(10,2)", "1.5", Decimal("0.00"), Decimal("1.49"), Decimal("1.50")),
    ("timestamp", "1 hour 30 minutes",
     parse_time("8:00"), parse_time("9:29:59"), parse_time("9:30")),
    ("timestamp", "INTERVAL '1' MONTH", datetime(2026, 1, 31), datetime(2026, 2, 27),
     datetime(2026, 2, 28)),
    ("timestamp_ntz", "INTERVAL '0 12' DAY TO HOUR",
     parse_time("8:00"), parse_time("19:59"), parse_time("20:00")),
    ("date", "2 days", date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)),
    ("date", "36 hours", date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "window", "first", "inside", "outside"), WINDOWS)
def test_events_after_the_window_are_not_matched(
    spark: SparkSession, kind: str, window: str, first: object, inside: object, outside: object
) -> None:
    rows = [(first, "A", 1), (inside, "B", 2), (outside, "B", 3)]
    frame = spark.createDataFrame(rows, f"ts {kind}, event_type string, n int")
    query = f"""PATTERN SEQ(A a, B b) WHERE skip_till_any_match {{}}
        WITHIN {window} RETURN a.n AS one, b.n AS other"""
    assert matchrec.match_sase(frame, query, order_by="ts").collect() == [Row(one=1, other=2)]


def test_an_event_without_a_time_is_in_no_window(spark: SparkSession) -> None:
    """The distance to such an event is unknown, even to itself. Other matches are not affected."""
    rows = [(None, "A", 1), (None, "B", 2), (1, "B", 3), (2, "A", 4), (3, "B", 5)]
    frame = spark.createDataFrame(rows, "ts int, event_type string, n int")

    def find_numbers(query: str) -> list[tuple[int, ...]]:
        """Return the numbers of the events of each match."""
        matches = matchrec.match_sase(frame, query, order_by=["ts", "n"])
        return sorted(map(tuple, matches.collect()))

    pairs = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match {} {} RETURN a.n, b.n AS m"
    assert find_numbers(pairs.replace("{} {}", "{} WITHIN 10")) == [(4, 5)]
    assert find_numbers(pairs.replace("{} {}", "{}")) == [(1, 2), (1, 3), (1, 5), (4, 5)]
    assert find_numbers("PATTERN SEQ(A a) WITHIN 10 RETURN a.n") == [(4,)]
    assert find_numbers("PATTERN SEQ(~(A a), B b) WITHIN 10 RETURN b.n") == [(3,)]


def test_attributes_of_any_name_and_fields(spark: SparkSession) -> None:
    """80%*10.00 is exactly 8.00, so 8.00 is not less. The third event has another shop."""
    rows = [
        (1, "A", Row(price=Decimal("10.00"), shop="n"), 1),
        (2, "B", Row(price=Decimal("8.00"), shop="n"), 2),
        (3, "B", Row(price=Decimal("7.99"), shop="s"), 3),
        (4, "B", Row(price=Decimal("7.99"), shop="n"), 4),
    ]
    schema = (
        "ts int, event_type string, sale struct<price: decimal(10,2), shop: string>, `my n` int"
    )
    frame = spark.createDataFrame(rows, schema)
    query = """PATTERN SEQ(A select, B ts) WHERE skip_till_any_match {
        [sale.shop] AND ts.sale.price < 80%*select.sale.price }
        RETURN select.`my n`, ts.`my n` AS other, ts.ts"""
    matches = matchrec.match_sase(frame, query, order_by="ts")
    assert matches.collect() == [Row(**{"my n": 1, "other": 4, "ts": 4})]


# Partitions and the shape of the result

KEYED = [
    (1, "A", "x", 1), (2, "A", "X", 2), (3, "B", "X", 3), (4, "B", "x", None), (5, "B", "y", 5),
]  # fmt: skip
KEYED_SCHEMA = "ts int NOT NULL, event_type string, k string, v int"


def test_streams_can_be_partitioned_by_expressions(spark: SparkSession) -> None:
    """By `x`, b3 follows both events a. By `lower(k)` alone, there is one stream."""
    frame = spark.createDataFrame(KEYED, KEYED_SCHEMA)
    query = "PATTERN SEQ(A a, B b) RETURN a.ts AS one, b.ts AS other"
    matches = matchrec.match_sase(frame, query, order_by="ts", partition_by=["lower(k)"])
    assert matches.columns == ["lower(k)", "one", "other"]
    assert sorted(map(tuple, matches.collect())) == [("x", 1, 3), ("x", 2, 3)]
    matches = matchrec.match_sase(frame, query, order_by="ts", partition_by=["k", "ts > 9"])
    assert matches.columns == ["k", "(ts > 9)", "one", "other"]
    assert sorted(map(tuple, matches.collect())) == [("X", False, 2, 3), ("x", False, 1, 4)]


def test_return_computes_values_of_the_match(spark: SparkSession) -> None:
    """One match: a is e1, b is e3 and e4, whose v is 3 and NULL. Columns have no prefixes."""
    frame = spark.createDataFrame(KEYED, KEYED_SCHEMA)
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { a.ts = 1 AND b.LEN = 2 }
        RETURN a.v, upper(a.k) AS big, b.LEN, count(b[].v) AS n, avg(b[].v) AS m,
            sum(b[].v + 1) AS s, min(b[].v), max(b[..b.LEN].ts) AS t,
            coalesce(b[b.LEN].v, -1) AS last, b[1].ts - a.ts AS passed, 'AB' AS event_type"""
    matches = matchrec.match_sase(frame, query, order_by="ts", partition_by="lower(k)")
    assert [tuple(row) for row in matches.collect()] == [
        ("x", 1, "X", 2, 1, 3.0, 4, 3, 4, -1, 2, "AB")
    ]
    assert matches.columns == [
        "lower(k)", "v", "big", "b.LEN", "n", "m", "s", "min(b[].v)", "t", "last", "passed",
        "event_type",
    ]  # fmt: skip


def test_expressions_are_those_of_sql(spark: SparkSession) -> None:
    """Events 3 and 4 of type B have x = 7 and 12, both with bit 4 set. Only 12 is above 5 + 6."""
    rows = [(1, "A", 5), (2, "B", 8), (3, "B", 7), (4, "B", 12)]
    frame = spark.createDataFrame(rows, "ts int, event_type string, x int")
    spark.createDataFrame([(2,), (6,)], "v int").createOrReplaceTempView("limits_of_x")
    query = """PATTERN SEQ(A a, B b) WHERE skip_till_any_match {{
        b.x & 4 = 4 AND exists(array(b.x), x -> x > .5) {} }} RETURN b.ts, b.x::string AS text"""

    def find_matches(also: str) -> list[tuple[object, ...]]:
        """Return the matches with a further condition."""
        return sorted(
            map(tuple, matchrec.match_sase(frame, query.format(also), order_by="ts").collect())
        )

    assert find_matches("") == [(3, "7"), (4, "12")]
    assert find_matches("AND b.x > a.x + (SELECT max(v) FROM limits_of_x)") == [(4, "12")]


def find_event_type(frame: DataFrame) -> spark_types.StructType:
    """Return the type of an event in an array. On Sail each field is nullable, which is wrong."""
    if find_backend(frame.sparkSession).engine == "Spark":
        return frame.schema
    fields = [spark_types.StructField(field.name, field.dataType) for field in frame.schema]
    return spark_types.StructType(fields)


def test_without_return_each_variable_is_an_array_of_its_events(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEYED, KEYED_SCHEMA)
    query = "PATTERN SEQ(A a, ~(A c), B+ b[]) WHERE strict_contiguity {}"
    matches = matchrec.match_sase(frame, query, order_by="ts", partition_by="lower(k)")
    events = spark_types.ArrayType(find_event_type(frame), containsNull=False)
    assert matches.schema == spark_types.StructType(
        [
            spark_types.StructField("lower(k)", spark_types.StringType()),
            spark_types.StructField("a", events, nullable=False),
            spark_types.StructField("b", events, nullable=False),
        ]
    )
    second, third, fourth = (
        Row(**dict(zip(frame.columns, row, strict=True))) for row in KEYED[1:4]
    )
    assert sorted(matches.collect()) == [
        Row(**{"lower(k)": "x", "a": [second], "b": [third]}),
        Row(**{"lower(k)": "x", "a": [second], "b": [third, fourth]}),
    ]


def test_the_result_has_the_types_of_its_values(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEYED, KEYED_SCHEMA)
    query = """PATTERN SEQ(A a, B+ b[]) RETURN a.ts, a.v, b[1].event_type AS kind, b.LEN AS n,
        avg(b[].v) AS m, sum(b[].v) AS s, count(b[]) AS c, max(b[].k) AS k, 'AB' AS event_type"""
    matches = matchrec.match_sase(frame, query, order_by="ts")
    assert matches.schema.simpleString() == (
        "struct<ts:int,v:int,kind:string,n:bigint,m:double,s:bigint,c:bigint,k:string,"
        "event_type:string>"
    )
    required = [field.name for field in matches.schema if not field.nullable]
    assert required == ["n", "c", "event_type"]


def test_an_empty_dataframe_has_no_matches(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], KEYED_SCHEMA)
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match { [k] }"
    assert matchrec.match_sase(frame, query, order_by="ts").collect() == []
    graph = matchrec.match_sase(frame, query, order_by="ts", output="graph")
    assert graph.collect() == []
    assert matchrec.explode_graph(graph).collect() == []
    returned = matchrec.match_sase(frame, query + " RETURN a.v, b.LEN AS n", order_by="ts")
    assert returned.columns == ["v", "n"]
    assert returned.collect() == []


def test_the_graph_has_its_keys_and_the_columns_of_pointers(spark: SparkSession) -> None:
    frame = spark.createDataFrame(KEYED, KEYED_SCHEMA)
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { [event_type, k] }"
    graph = matchrec.match_sase(frame, query, order_by="ts", partition_by="v > 0", output="graph")
    assert [(name, kind) for name, kind in graph.dtypes if name != "event"] == [
        ("(v > 0)", "boolean"),
        ("event_type", "string"),
        ("k", "string"),
        ("state", "string"),
        ("row", "bigint"),
        ("version", "array<int>"),
        ("previous_state", "string"),
        ("previous_row", "bigint"),
        ("completes", "boolean"),
    ]
    assert graph.schema["event"].dataType == find_event_type(frame)


def test_fields_of_a_struct_are_named_after_attributes(spark: SparkSession) -> None:
    events = spark.createDataFrame([("A", 1, 5), ("B", 2, 7)], "event_type string, ts int, x int")
    text = "PATTERN SEQ(A a, B b) RETURN to_json(struct(a.x, b.ts + 1, b.ts)) AS j"
    assert (
        matchrec.match_sase(events, text, order_by="ts").collect()[0].j == '{"x":5,"col2":3,"ts":2}'
    )
