"""MATCH_RECOGNIZE over a stream gives the rows of a batch query over the same events.

`properties/test_streams.py` tests random clauses without Spark.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import matchrec
from matchrec import AfterMatch, Pattern
from matchrec.api import totals as api_totals
from tests.quick.scale import examples, some_of
from tests.spark.test_streaming import Event, Feed, draw_pieces, list_events, run_long_stream
from tests.tasks.stream_pieces import FakeGroupState, StreamedQuery, read_times

RISES = """
    SELECT upper(k) AS key, r.* FROM {events} MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts, x DESC
        MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c, FIRST(A.x) AS first_x, sum(B.x) AS total,
            PREV(x) AS before, FINAL LAST(ts) AS last
        ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B* C?) WITHIN INTERVAL 20 SECONDS
        DEFINE A AS v = 'a', B AS x > PREV(x), C AS x < avg(B.x)
    ) AS r WHERE v <> 'z'
"""
LONGEST = """
    SELECT m.first + 1 AS later, m.* FROM {events} MATCH_RECOGNIZE (
        ORDER BY ts, x MEASURES FIRST(x) AS first, count(*) AS n, LAST(v) AS v
        AFTER MATCH SKIP TO LAST B
        PATTERN (A B{1,3}) DEFINE A AS v = 'a', B AS v IN ('a', 'b') AND x >= PREV(x)
    ) AS m WHERE n < 4
"""
PAIRS = """
    SELECT * FROM {events} MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY ts MEASURES A.x AS a, B.x AS b
        PATTERN (A B) SKIP TILL ANY MATCH ALL MATCHES WITHIN INTERVAL 9 SECONDS
        DEFINE A AS v = 'a', B AS v = 'b' AND x > A.x
    )
"""


def build_query(text: str) -> Callable[[DataFrame], DataFrame]:
    """Return a function from events to the result of a query."""
    return lambda events: matchrec.sql(events.sparkSession, text, events=events)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    """Return an empty feed."""
    return Feed(spark, tmp_path)


@pytest.mark.slow
def test_a_clause_goes_on_from_its_checkpoint(feed: Feed) -> None:
    """Events are out of order, one is late, and a match and a window are open at the stop."""
    query = build_query(RISES)
    feed.put(
        [("p", 1, "a", 1), ("q", 2, "a", 5), ("p", 5, "b", 2)],
        [("p", 12, "b", 9), ("p", 9, "a", 4), ("q", 10, "b", 6)],
    )
    assert feed.run(query) == 0
    early = feed.rows()
    late = ("p", 3, "late", 7)
    feed.put([("p", 14, "b", 8), ("q", 40, "a", 0), late], [("p", 200, "z", 0), ("q", 200, "z", 0)])
    feed.put([("p", 400, "z", 0)])
    assert feed.run(query) == 1
    assert set(early) < set(feed.rows())
    assert feed.rows() == feed.at_once(query, [late])


KEYS = """
    CASE x WHEN 0 THEN 0D WHEN 1 THEN -0D WHEN 2 THEN double('NaN') WHEN 3 THEN float('NaN') END,
    IF(x < 2, NULL, named_struct('v', IF(x < 4, 0D, NULL), 'b', CAST(IF(x < 4, 'p', k) AS BINARY))),
    IF(x < 6, 1.50, 1.5), IF(x < 6, NULL, date'2026-01-01')"""


@pytest.mark.slow
@pytest.mark.parametrize("partition", [f"PARTITION BY {KEYS}, k, k", ""])
def test_keys_are_equal_as_over_a_table(feed: Feed, partition: str) -> None:
    """Keys are NULL, NaN, zeros and structs; some are repeated, or there are none."""
    query = build_query(
        f"""SELECT a, b FROM {{events}} MATCH_RECOGNIZE ({partition} ORDER BY ts, x, k
            MEASURES A.ts AS a, B.x AS b AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)
            DEFINE B AS x >= 0)"""
    )
    feed.put(
        [(k, 10 + 7 * n % 5, "a", n % 7) for n, k in enumerate("pqpqrrpqrpqrr")],
        [(k, 16 + 5 * n % 7, "a", n % 7) for n, k in enumerate("rqpqprpqrpqrp")],
        [("z", 200, "a", 9)],
    )
    assert feed.run(query) == 0
    last = "b=9"  # the watermark does not pass the last event
    assert feed.rows() == [row for row in feed.at_once(query) if last not in row]


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["", "SKIP TILL NEXT MATCH ALL MATCHES"])
def test_windows_of_rows_end_with_rows(feed: Feed, selection: str) -> None:
    """A measure reads an earlier one, and two variables have the same condition."""
    query = build_query(
        f"""SELECT * FROM {{events}} MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
            MEASURES A.x AS a, B.x AS b, b - a AS more PATTERN (A B) {selection} WITHIN 2 ROWS
            DEFINE A, B AS v = 'a')"""
    )
    feed.put(
        [("p", 10, "a", 1), ("p", 12, "b", 2), ("p", 14, "a", 3), ("q", 15, "a", 4)],
        [("p", 16, "a", 5), ("q", 17, "b", 6), ("q", 18, "a", 7), ("p", 19, "a", 8)],
        [("p", 200, "z", 0), ("q", 200, "z", 0)],
        [("p", 400, "z", 0)],
    )
    assert feed.run(query) == 0
    assert feed.rows() == feed.at_once(query)
    assert "Row(k='p', a=3, b=5, more=2)" in feed.rows()


@pytest.mark.slow
def test_matched_rows_of_a_stream_are_expanded(feed: Feed) -> None:
    """The same streaming query expands them to rows."""

    def query(events: DataFrame) -> DataFrame:
        """Return the rows of all matches."""
        clause = """PARTITION BY k ORDER BY ts, x
            MEASURES MATCHED_ROWS() AS found, LAST(ts) AS ended
            PATTERN (A {- B -} C+) DEFINE A AS v = 'a', B AS v = 'b', C AS v = 'c' AND x > A.x"""
        return matchrec.explode_matches(matchrec.match_recognize(events, clause))

    feed.put(
        [("p", 1, "a", 1), ("q", 2, "a", 5), ("p", 3, "b", 2), ("p", 9, "c", 4)],
        [("q", 5, "b", 1), ("p", 7, "c", 3), ("q", 8, "c", 6), ("q", 9, "c", 5)],
        [("p", 200, "z", 0), ("q", 200, "z", 0)],
        [("p", 400, "z", 0)],
    )
    with pytest.warns(matchrec.warnings.UnboundedStateWarning):
        feed.run(query)
    rows = feed.spark.read.parquet(str(feed.result))
    events = rows.select("k", sql.second("ended"), "classifier", "x").collect()
    assert sorted(map(tuple, events)) == [
        ("p", 9, "A", 1),
        ("p", 9, "C", 3),
        ("p", 9, "C", 4),
        ("q", 8, "A", 5),
        ("q", 8, "C", 6),
    ]
    assert feed.rows() == feed.at_once(query)


def make_failing_sink(result: Path, attempt: str) -> Callable[[DataFrame, int], None]:
    """Return a sink that can fail before or after it writes. Over Connect, the server runs it."""

    def write(rows: DataFrame, batch: int) -> None:
        """Write a batch, or fail."""
        random = Random(f"{attempt} {batch}")
        fails = random.random() < 0.4
        if fails and random.random() < 0.5:
            rows.count()
            raise RuntimeError("it is to fail")
        rows.write.mode("overwrite").parquet(f"{result}/batch={batch}")
        if fails:
            raise RuntimeError("it is to fail")

    return write


def run_with_failures(feed: Feed, query: Callable[[DataFrame], DataFrame], seed: int) -> None:
    """Run a query with a sink that fails, and start it again until it has finished."""
    stream = feed.spark.readStream.schema("k string, ts timestamp, v string, x int")
    events = stream.option("maxFilesPerTrigger", 1).json(str(feed.source))
    frame = query(events.withWatermark("ts", "5 seconds"))
    for attempt in range(60):
        write = make_failing_sink(feed.result, f"{seed} {attempt}")
        writer = frame.writeStream.foreachBatch(write).trigger(availableNow=True)
        streaming_query = writer.option("checkpointLocation", feed.checkpoint).start()
        try:
            streaming_query.awaitTermination()
        except StreamingQueryException as error:
            if "it is to fail" not in str(error):
                raise
            continue
        return
    raise AssertionError("the query has not finished after 60 attempts")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(1)))
def test_failures_neither_lose_nor_repeat_rows(feed: Feed, seed: int) -> None:
    random = Random(seed)
    query = build_query((RISES, PAIRS, LONGEST)[seed % 3])
    second = 100
    for _ in range(4):
        events: list[Event] = []
        for _ in range(random.randint(1, 6)):
            second += random.choice((0, 1, 1, 3))
            early = second - random.choice((0, 0, 2, 4))
            events.append((random.choice("pq"), early, random.choice("aabbc"), random.randrange(9)))
        feed.put(events)
        second += 2
    feed.put([("p", 900, "z", 0), ("q", 900, "z", 0)], [("p", 1800, "z", 0)])
    run_with_failures(feed, query, seed)
    written = feed.spark.read.parquet(str(feed.result)).drop("batch")
    assert sorted(map(repr, written.collect())) == feed.at_once(query)


@pytest.mark.once
@pytest.mark.parametrize(
    "conditions",
    [
        "B AS count(DISTINCT B.x) < 4 AND coalesce(stddev(B.x), 0) < 2, C AS listagg(B.v, '') > v",
        "B AS max(B.v) > v OR levenshtein(v, LAST(A.v)) = 1, C AS sum(B.x) > NEXT(x)",
        "B AS MATCH_NUMBER() < 3 AND x > 0, C AS sum(DISTINCT x) > 9",
    ],
)
def test_aggregates_and_functions_of_a_run_in_pieces(spark: SparkSession, conditions: str) -> None:
    """Each key has a last event, so that no run waits for NEXT."""
    generator = Random(3)
    rows = [
        (key, second, generator.choice("abcd"), generator.randrange(5))
        for key in range(8)
        for second in [*sorted(generator.choices(range(100, 125), k=12)), 900]
    ]
    clause = f"""PARTITION BY k ORDER BY ts, x, v MEASURES FIRST(ts) AS first, count(*) AS n,
        collect_list(B.x) AS xs, MATCH_NUMBER() AS m AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B+ C) WITHIN INTERVAL 9 SECONDS DEFINE A AS v <> 'd', {conditions}"""
    events = list_events(spark, rows)
    streamed = StreamedQuery(lambda frame: matchrec.match_recognize(frame, clause), events, "ts")
    matches = 0
    for frame in streamed.draw_buckets(generator):
        expected = sorted(map(repr, streamed.search_at_once(frame)))
        rows_of_pieces = streamed.search_in_pieces(
            frame, draw_pieces(read_times(frame), generator), FakeGroupState()
        )
        assert sorted(map(repr, rows_of_pieces)) == expected
        matches += len(expected)
    assert matches


FIRST_PAIRS = """PARTITION BY k ORDER BY ts, x, v MEASURES FIRST(ts) AS first, LAST(ts) AS last
    PATTERN (A B) {} FIRST 3 MATCHES WITHIN INTERVAL 9 SECONDS
    DEFINE A AS v = 'a', B AS v = 'b'"""
ANY_PAIR = """PATTERN SEQ(ANY p, ANY q) FIRST 3 MATCHES
    WHERE skip_till_any_match { p.v = 'a' AND q.v = 'b' }
    WITHIN 9 seconds RETURN p.ts AS first, q.ts AS last"""
STAGES = (
    Pattern.begin("p")
    .where("v = 'a'")
    .followed_by_any("q")
    .where("v = 'b'")
    .within("9 seconds")
    .first_matches(3)
)
QUERIES_OF_FIRST_MATCHES: dict[str, Callable[[DataFrame], DataFrame]] = {
    selection: lambda frame, selection=selection: matchrec.match_recognize(  # type: ignore[misc]
        frame, FIRST_PAIRS.format(selection)
    )
    for selection in (
        "",
        "SKIP TILL ANY MATCH ALL MATCHES",
        "SKIP TILL NEXT MATCH NON-OVERLAPPING MATCHES",
    )
} | {
    name: lambda frame, query=query: matchrec.query(  # type: ignore[misc]
        frame, query, order_by=["ts", "x", "v"], partition_by="k"
    ).to_df()
    for name, query in {
        "SASE+": ANY_PAIR,
        "a Pattern": STAGES,
        "a Pattern that skips": STAGES.after_match(AfterMatch.SKIP_TO_NEXT),
    }.items()
}


@pytest.mark.parametrize("name", some_of([*QUERIES_OF_FIRST_MATCHES]))
def test_the_first_matches_of_a_key_in_pieces(spark: SparkSession, name: str) -> None:
    """Matches still count when no run of their key is left."""
    generator = Random(4)
    rows = [
        (key, second, generator.choice("ab"), generator.randrange(5))
        for key in range(8)
        for second in [*sorted(generator.choices(range(100, 125), k=12)), *range(900, 905), 1900]
    ]
    events = list_events(spark, rows)
    streamed = StreamedQuery(QUERIES_OF_FIRST_MATCHES[name], events, "ts")
    matches = 0
    for frame in streamed.draw_buckets(generator):
        expected = sorted(map(repr, streamed.search_at_once(frame)))
        group = FakeGroupState()
        rows_of_pieces = streamed.search_in_pieces(
            frame, draw_pieces(read_times(frame), generator), group
        )
        assert sorted(map(repr, rows_of_pieces)) == expected
        assert group.exists, "the state of a key with a match is kept"
        matches += len(expected)
    assert matches == 24


ALL_MATCHES = """PARTITION BY k ORDER BY ts, x
    MEASURES count(*) AS n, sum(A.x) AS s, FIRST(A.x) AS f
    PATTERN (A+ B) SKIP TILL ANY MATCH ALL MATCHES WITHIN INTERVAL 60 SECONDS
    DEFINE A AS v <> 'c', B AS v <> 'a' AND x > A.x"""
TOTALS = {"matches": "count(*)", "rows": "sum(n)", "most": "max(s)", "first": "min(f)"}


def aggregate_matches(events: DataFrame) -> DataFrame:
    """Return aggregates over all matches that end with an event."""
    return matchrec.query(events, ALL_MATCHES).aggregate(TOTALS, per="end")


# Slow because it compiles; tests/unit/spark/test_streaming_keys.py has the same rows.
@pytest.mark.slow
def test_totals_do_not_mix_the_rows_of_keys(spark: SparkSession) -> None:
    """A minimum or maximum is the value of a row, whose index depends on the rows of other keys."""
    generator = Random(4)
    rows = [
        (key, second, generator.choice("abc"), generator.randrange(50))
        for key in range(8)
        for second in [*sorted(generator.choices(range(100, 180), k=14)), 1900]
    ]
    with patch.object(api_totals, "is_streaming", return_value=True):
        streamed = StreamedQuery(aggregate_matches, list_events(spark, rows), "ts")
    for frame in streamed.draw_buckets(generator):
        expected = sorted(map(repr, streamed.search_at_once(frame)))
        rows_of_pieces = streamed.search_in_pieces(
            frame, draw_pieces(read_times(frame), generator), FakeGroupState()
        )
        assert sorted(map(repr, rows_of_pieces)) == expected != []


@pytest.mark.once
def test_the_state_does_not_grow_with_the_stream(spark: SparkSession) -> None:
    clause = """PARTITION BY k ORDER BY ts MEASURES count(*) AS n PATTERN (A B* C)
        WITHIN INTERVAL 20 SECONDS DEFINE A AS v = 'a', B AS v = 'b', C AS v = 'c'"""
    _, group, most = run_long_stream(
        spark, lambda frame: matchrec.match_recognize(frame, clause), "abbb"
    )
    assert most < 10_000
    assert not group.exists, "the state of a partition without open runs is dropped"


@pytest.mark.once
def test_the_state_is_explained_and_can_warn(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    clause = (
        "ORDER BY timestamp MEASURES count(*) AS n PATTERN ({}) {} DEFINE UP AS value > PREV(value)"
    )

    def explain_state(pattern: str, within: str = "") -> str:
        """Return what `explain` says about the state of a stream."""
        text = f"SELECT * FROM {{rate}} MATCH_RECOGNIZE ({clause.format(pattern, within)})"
        return str(matchrec.query(spark, text, rate=rate).explain()).partition("\nstream\n")[2]

    assert "at most 4 rows" in explain_state("UP{4}")
    assert "the search has not finished with, and 1 row before them" in explain_state("UP+")
    assert "ends when the watermark passes its end" in explain_state(
        "UP+", "WITHIN INTERVAL 1 MINUTE"
    )
    with pytest.warns(matchrec.warnings.UnboundedStateWarning, match="line 1, column 52"):
        matchrec.match_recognize(rate, clause.format("UP+", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error", matchrec.warnings.UnboundedStateWarning)
        assert matchrec.match_recognize(rate, clause.format("UP{4}", "")).isStreaming


@pytest.mark.once
@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM {0} AS one JOIN {0} AS two ON one.n = two.n",
        "SELECT n FROM {0} UNION ALL SELECT n FROM {0}",
        """SELECT * FROM (SELECT * FROM {0}) MATCH_RECOGNIZE (
            ORDER BY n MEASURES A.n AS m PATTERN (A) DEFINE A AS n > 2)""",
    ],
)
def test_a_second_clause_over_a_stream_is_rejected(spark: SparkSession, query: str) -> None:
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    clause = """{rate} MATCH_RECOGNIZE (
        ORDER BY timestamp MEASURES LAST(value) AS n PATTERN (A B) DEFINE B AS value > 1)"""
    with pytest.raises(matchrec.MatchRecognizeUnsupportedError, match="a second MATCH_RECOGNIZE"):
        matchrec.sql(spark, query.format(clause), rate=rate)
    table = spark.range(9).selectExpr("timestamp_seconds(id) AS timestamp", "id AS value")
    assert matchrec.sql(spark, query.format(clause), rate=table).count()


def test_an_enabled_session_streams(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    stream.createOrReplaceTempView("rate_of_stream")
    matchrec.enable(spark)
    try:
        result = spark.sql("""
            SELECT word, n + 1 AS more FROM rate_of_stream MATCH_RECOGNIZE (
                ORDER BY timestamp MEASURES LAST(value) AS n PATTERN (A B) DEFINE B AS value > 1)
            JOIN VALUES (3, 'three') AS words(number, word) ON n = number WHERE n < 9""")
    finally:
        matchrec.disable(spark)
        spark.catalog.dropTempView("rate_of_stream")
    assert result.isStreaming
    assert result.dtypes == [("word", "string"), ("more", "bigint")]
