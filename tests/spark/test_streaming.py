"""Streams give the rows of a batch query over the same events.

Some tests run real streaming queries; others pass random pieces of the events to the function that
a worker calls for each micro-batch.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import AfterMatch, Pattern, memory
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.search import incremental
from matchrec.search.incremental import SearchState
from matchrec.spark.streaming import stream_worker
from matchrec.spark.streaming.event_selection_states import EventSelectionStates
from matchrec.spark.streaming.key_states import read_all_key_states
from matchrec.spark.streaming.stream_worker import StreamWorker, compute_digest
from tests.tasks.stream_pieces import FakeGroupState, StreamedQuery, read_times

pytestmark = pytest.mark.one_of(4)

SCHEMA = "k string, ts timestamp, v string, x int"
Event = tuple[str, int, str, int]  # the columns of SCHEMA, the time in seconds
RISE = (
    Pattern.begin("a")
    .where("v = 'a'")
    .followed_by("b")
    .where("v = 'b' AND x > last(a.x)")
    .within("20 seconds")
)
AND_NO_MORE = RISE.not_followed_by("c").where("v = 'c'").within("30 seconds")
Query = Callable[[DataFrame], DataFrame]


class Feed:
    """A folder with a file for each micro-batch, and the rows that a query over it has written."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.source = folder / "in"
        self.result = folder / "out"
        self.checkpoint = str(folder / "checkpoint")
        self.source.mkdir()

    def put(self, *batches: Sequence[Event]) -> None:
        """Write a file for each batch of events."""
        for events in batches:
            number = len(list(self.source.iterdir()))
            file = self.source / f"{number:03}.json"
            file.write_text("\n".join(map(self.line, events)))
            os.utime(file, (1e9 + number, 1e9 + number))  # the order in which Spark reads them

    def line(self, event: Event) -> str:
        """Return an event as a line of JSON."""
        key, second, v, x = event
        time = f"2026-01-01T00:{second // 60:02}:{second % 60:02}Z"
        return json.dumps({"k": key, "ts": time, "v": v, "x": x})

    def run(self, query: Query) -> int:
        """Run a query over all files from its checkpoint on. Return the number of late rows."""
        stream = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        events = stream.json(str(self.source)).withWatermark("ts", "5 seconds")
        stream_query = (
            query(events)
            .writeStream.format("parquet")
            .option("checkpointLocation", self.checkpoint)
            .trigger(availableNow=True)
            .start(str(self.result))
        )
        stream_query.awaitTermination()
        operators = [
            operator
            for progress in stream_query.recentProgress
            for operator in progress["stateOperators"]
        ]
        return sum(operator["numRowsDroppedByWatermark"] for operator in operators)

    def rows(self) -> list[str]:
        """Return all rows that the queries have written."""
        return sorted(map(repr, self.spark.read.parquet(str(self.result)).collect()))

    def at_once(self, query: Query, without: Sequence[Event] = ()) -> list[str]:
        """Return the rows of a batch query over all events except late ones."""
        events = self.spark.read.schema(SCHEMA).json(str(self.source))
        for _, second, v, _ in without:
            is_late = (
                f"v = '{v}' AND ts = timestamp'2026-01-01 00:00:00' + INTERVAL {second} SECOND"
            )
            events = events.where(f"NOT ({is_late})")
        return sorted(map(repr, query(events).collect()))


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    """Return an empty feed."""
    return Feed(spark, tmp_path)


@pytest.mark.slow
def test_a_query_goes_on_from_its_checkpoint(feed: Feed) -> None:
    """Events are out of order, one is late, and a run and a window are open at the stop."""

    def query(events: DataFrame) -> DataFrame:
        return matchrec.match_pattern(events, RISE, order_by="ts", partition_by="k", timeouts=True)

    feed.put(
        [("p", 1, "a", 1), ("q", 2, "a", 5), ("p", 5, "b", 2)],
        [("p", 12, "b", 9), ("p", 9, "a", 4), ("q", 10, "b", 6)],
    )
    assert feed.run(query) == 0
    early = feed.rows()
    late = ("p", 3, "late", 7)
    feed.put(
        [("p", 14, "b", 8), ("q", 31, "a", 0)],
        [late, ("q", 40, "b", 3)],
        [("p", 200, "z", 0), ("q", 200, "z", 0)],
        [("p", 400, "z", 0)],
    )
    assert feed.run(query) == 1
    assert set(early) < set(feed.rows())
    assert feed.rows() == feed.at_once(query, [late])


def test_a_sase_text_matches_a_stream_without_partitions(feed: Feed) -> None:
    text = """
        PATTERN SEQ(a x, b+ y[], c z)
        WHERE skip_till_next_match(x, y[], z) { [k] AND y[i].x > x.x AND z.k = x.k }
        WITHIN 60 seconds RETURN x.ts AS first, y.LEN AS length, sum(y[].x) AS total, z.ts AS last
    """

    def query(events: DataFrame) -> DataFrame:
        return matchrec.match_sase(
            events, text, order_by=["ts", "x"], type_column="v", output="non_overlapping"
        )

    feed.put(
        [("p", 1, "a", 1), ("q", 2, "a", 2), ("p", 3, "b", 2), ("q", 3, "b", 3)],
        [("q", 9, "c", 0), ("p", 8, "b", 4), ("p", 11, "c", 0), ("p", 11, "a", 0)],
        [("p", 300, "z", 0)],
    )
    feed.run(query)
    assert len(feed.rows()) == 2
    assert feed.rows() == feed.at_once(query)


def test_matches_whose_events_are_not_returned(feed: Feed) -> None:
    def query(events: DataFrame) -> DataFrame:
        text = "PATTERN SEQ(a x, b y) WITHIN 9 seconds RETURN 'hit' AS tag"
        return matchrec.match_sase(events, text, order_by="ts", type_column="v")

    feed.put([("p", 1, "a", 1), ("q", 2, "b", 2)], [("p", 3, "a", 2), ("q", 4, "b", 3)])
    feed.put([("p", 300, "z", 0)])
    feed.run(query)
    assert feed.rows() == feed.at_once(query) == ["Row(tag='hit')"] * 2


def test_times_between_events_are_local_times(feed: Feed) -> None:
    """A difference of two times is computed from their local times, as TIMESTAMP_NTZ."""

    def query(events: DataFrame) -> DataFrame:
        rows = events.withColumn("local", events.ts.cast("timestamp_ntz"))
        clause = """PARTITION BY k ORDER BY ts MEASURES A.x AS first, LAST(local) AS ended
            PATTERN (A B+) WITHIN INTERVAL 1 MINUTE
            DEFINE B AS ts - PREV(ts) <= INTERVAL '3' SECOND"""
        return matchrec.match_recognize(rows, clause)

    feed.put(
        [("p", 1, "a", 1), ("q", 1, "a", 2), ("p", 4, "b", 3)],
        [("q", 5, "b", 4), ("p", 9, "b", 5), ("q", 8, "b", 6)],
        [("p", 300, "z", 0)],
    )
    feed.run(query)
    # The pauses of p take 3 and 5 seconds, those of q 4 and 3 seconds.
    expected = [
        "Row(k='p', first=1, ended=datetime.datetime(2026, 1, 1, 0, 0, 4))",
        "Row(k='q', first=4, ended=datetime.datetime(2026, 1, 1, 0, 0, 8))",
    ]
    assert feed.rows() == feed.at_once(query) == expected


@pytest.mark.parametrize("skip", [AfterMatch.NO_SKIP, AfterMatch.SKIP_PAST_LAST_EVENT])
def test_random_pieces_give_the_rows_of_a_batch_query(
    spark: SparkSession, skip: AfterMatch
) -> None:
    pattern = (
        Pattern.begin("a")
        .where("v = 'a'")
        .followed_by("b")
        .where("v <> 'c' AND x >= avg(b.x)")
        .one_or_more()
        .not_followed_by("c")
        .where("v = 'c'")
        .within("5 seconds")
        .after_match(skip)
    )
    generator = random.Random(1)
    rows = [
        (key, second, generator.choice("aabbbc"), generator.randrange(4))
        for key in range(20)
        for second in sorted(generator.choices(range(100, 115), k=9))
    ]

    def query(events: DataFrame) -> DataFrame:
        orders = ["ts", "x", "v"]
        return matchrec.match_pattern(
            events, pattern, order_by=orders, partition_by="k", timeouts=True
        )

    streamed = StreamedQuery(query, list_events(spark, rows), "ts")
    for frame in streamed.draw_buckets(generator):
        expected = sorted(map(repr, streamed.search_at_once(frame)))
        for _ in range(3):
            rows_of_pieces = streamed.search_in_pieces(
                frame, draw_pieces(read_times(frame), generator), FakeGroupState()
            )
            assert sorted(map(repr, rows_of_pieces)) == expected


@pytest.mark.slow
def test_windows_between_neighbours_end_by_the_clock(spark: SparkSession) -> None:
    pattern = (
        Pattern.begin("a")
        .where("v = 'a'")
        .followed_by("b")
        .where("v = 'b'")
        .one_or_more(gap="3 seconds")
        .followed_by("c")
        .where("v = 'c'")
        .within("2 seconds", "previous_to_current")
    )
    generator = random.Random(2)
    rows = [
        (key, second, generator.choice("aabbbc"), 0)
        for key in range(10)
        for second in sorted(generator.choices(range(100, 120), k=9))
    ]
    for query in (
        lambda events: match_pattern(events, pattern, partition_by="k", timeouts=True),
        lambda events: match_pattern(
            events, pattern.within("9 seconds"), partition_by="k", timeouts=True
        ),
    ):
        streamed = StreamedQuery(query, list_events(spark, rows), "ts")
        timed_out = 0
        for frame in streamed.draw_buckets(generator):
            expected = sorted(map(repr, streamed.search_at_once(frame)))
            for _ in range(3):
                group = FakeGroupState()
                rows_of_pieces = streamed.search_in_pieces(
                    frame, draw_pieces(read_times(frame), generator), group
                )
                assert sorted(map(repr, rows_of_pieces)) == expected
                timed_out += sum("None" in row for row in expected)
        assert timed_out


def test_a_run_after_its_window_between_neighbours_is_dropped(spark: SparkSession) -> None:
    soon = Pattern.begin("a").where("v = 'a'").followed_by("b").where("v = 'b'")
    soon = soon.within("2 seconds", "previous_to_current")
    streamed = StreamedQuery(
        lambda events: match_pattern(events, soon, timeouts=True),
        list_events(spark, [("p", 1, "a", 1)]),
        "ts",
    )
    group = FakeGroupState()
    assert not list(streamed.call_worker(streamed.events_by_key[0], group))
    group.watermark = 1000
    assert not list(streamed.call_worker(streamed.events_by_key[0][:0], group))
    assert group.timer == 2999
    group.watermark = 3000
    (timed_out,) = streamed.call_worker(streamed.events_by_key[0][:0], group)
    assert timed_out
    assert group.timer is None
    assert not group.exists


def test_a_row_is_output_when_the_watermark_reaches_it(spark: SparkSession) -> None:
    """The watermark stays at the time of the row, so Spark must call again without new rows."""
    any_a = Pattern.begin("a").where("v = 'a'")
    streamed = StreamedQuery(
        lambda events: match_pattern(events, any_a), list_events(spark, [("p", 3, "a", 1)]), "ts"
    )
    group = FakeGroupState()
    group.watermark = 2999
    assert not list(streamed.call_worker(streamed.events_by_key[0], group))
    group.watermark = 3000
    assert group.timer is not None
    assert group.timer < group.watermark, "Spark calls again"
    assert len(list(streamed.call_worker(streamed.events_by_key[0][:0], group))) == 1


def draw_pieces(seconds: list[int], generator: random.Random) -> list[tuple[int, int]]:
    """Return random pieces: a number of events, and a watermark that makes no later event late."""
    pieces = []
    arrived = 0
    while arrived < len(seconds):
        size = generator.choice((0, 1, 1, 2, 3))
        arrived += size
        latest = min(seconds[arrived:], default=seconds[-1] + 2000) - 1
        pieces.append((size, latest - generator.choice((0, 1000, 3000))))
    return pieces


def test_the_state_does_not_grow_with_the_stream(spark: SparkSession) -> None:
    def query(events: DataFrame) -> DataFrame:
        return matchrec.match_pattern(events, AND_NO_MORE, order_by="ts", partition_by="k")

    streamed, group, most = run_long_stream(spark, query, "ab")
    assert most < 100_000
    (state,) = list_states(streamed.worker, group)
    assert state.is_idle
    assert not len(state.row_numbers)


def list_states(worker: StreamWorker, group: FakeGroupState) -> list[SearchState]:
    """Return the state of the search with event selection for each key of a bucket."""
    (key_states,) = read_all_key_states(group.bucket_state.arrays, worker.searches).values()
    assert isinstance(key_states.search_states, EventSelectionStates)
    return key_states.search_states.split()


def run_long_stream(
    spark: SparkSession, query: Query, values: str
) -> tuple[StreamedQuery, FakeGroupState, int]:
    """Run a query over 600 events of one key, until all windows have ended.

    Its state must not be larger in the second half of the stream than in the first.

    Args:
        values: the values of `v`, which the events have in turn.

    Returns:
        The query, the group of the key, and the most bytes of its state.
    """
    rows = [("p", 100 + i, values[i % len(values)], i) for i in range(600)]
    streamed = StreamedQuery(query, list_events(spark, rows), "ts")
    (frame,) = streamed.events_by_key
    group = FakeGroupState()
    sizes = []
    for begin in range(0, 600, 10):
        list(streamed.call_worker(frame[begin : begin + 10], group))
        group.watermark = (begin + 100) * 1000
        sizes.append(group.bytes)
    assert max(sizes[30:]) <= max(sizes[:30])
    group.watermark += 100_000
    list(streamed.call_worker(frame[:0], group))
    assert group.timer is None
    return streamed, group, max(sizes)


def list_events(spark: SparkSession, rows: Sequence[Any]) -> DataFrame:
    """Return events, whose times are seconds, as a DataFrame."""
    frame = spark.createDataFrame(rows, "k string, s int, v string, x int")
    return frame.selectExpr("k", "timestamp_seconds(s) AS ts", "v", "x")


def test_the_state_of_another_query_is_refused(spark: SparkSession) -> None:
    def query(events: DataFrame) -> DataFrame:
        return matchrec.match_pattern(events, RISE, order_by="ts")

    streamed = StreamedQuery(query, list_events(spark, [("p", 1, "a", 1)]), "ts")
    group = FakeGroupState()
    list(streamed.call_worker(streamed.events_by_key[0], group))
    assert group.value is not None
    group.value = (group.value[0].replace(b'"a digest"', b'"another "'),)
    with pytest.raises(MatchRecognizeError, match="state of another query"):
        list(streamed.call_worker(streamed.events_by_key[0], group))


@pytest.mark.parametrize(
    ("condition", "where", "is_compatible"),
    [("x > :n", "", False), ("x > 1", "WHERE f > :n", True)],
)
def test_rows_that_are_kept_have_the_values_of_their_parameters(
    spark: SparkSession, condition: str, where: str, *, is_compatible: bool
) -> None:
    """A query with other values can use a checkpoint only if no kept row depends on them.

    A row whose x is 5 waits as a B if B is `x > 3`, but not if B is `x > 100`.
    """
    rows = list_events(spark, [("p", 1, "a", 1), ("p", 2, "b", 5)])
    text = f"""SELECT f FROM {{rows}} MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(x) AS f
        PATTERN (A B C) DEFINE B AS {condition}, C AS v = 'c') {where}"""

    def digest_query(n: int) -> str:
        """Return the digest of the query with a value."""

        def query(events: DataFrame) -> DataFrame:
            return matchrec.sql(spark, text, {"n": n}, rows=events)

        return compute_digest(StreamedQuery(query, rows, "ts").worker.event_layout)

    assert digest_query(3) == digest_query(3)
    assert (digest_query(3) == digest_query(100)) is is_compatible


EACH_WAY = Pattern.begin("a").where("v = 'a'").followed_by_any("b").where("v = 'b'").one_or_more()
EACH_WAY = EACH_WAY.allow_combinations()
SUMS = EACH_WAY.followed_by("c").where("v = 'c' AND sum(b.x) = 1")
# Patterns whose state grows with the events that wait, and a window that keeps it small.
GROWING_STATES = {
    "matches that end with an event": (EACH_WAY, "8 seconds"),
    "runs with sums of their own": (SUMS, "8 seconds"),
}


@pytest.mark.parametrize("name", GROWING_STATES)
def test_a_stream_takes_no_more_memory_than_it_may(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The i-th b ends 2 ** (i - 1) matches, one for each subset of the b before it."""
    pattern, window = GROWING_STATES[name]
    rows = [("p", 100 + i, "b" if i else "a", 2**i) for i in range(16)]

    def count_matches(pattern: Pattern) -> int:
        """Return the number of matches, or raise the error."""
        streamed = StreamedQuery(
            lambda df: match_pattern(df, pattern, partition_by="k"), list_events(spark, rows), "ts"
        )
        return len(
            list(
                streamed.search_in_pieces(
                    streamed.events_by_key[0], [(8, 107_000)], FakeGroupState()
                )
            )
        )

    capacity = replace(incremental.STREAM_CAPACITY, max_bytes=1 << 21)
    monkeypatch.setattr(incremental, "STREAM_CAPACITY", capacity)
    with pytest.raises(MatchRecognizeRunError, match="the limit is 2 MiB") as caught:
        count_matches(pattern)
    assert caught.value.partition == {"k": "p"}
    assert re.search(r"k`? = 'p', at 1970-01-01T00:01:[45]\d\.0+ in UTC", str(caught.value))
    assert "write WITHIN" in str(caught.value)
    assert "spark.executor.pyspark.memory" in str(caught.value)
    # Less than eight seconds after the first event there are seven b.
    expected = 2**7 - 1 if pattern is EACH_WAY else 0
    assert count_matches(pattern.within(window)) == expected
    monkeypatch.setattr(memory, "find_limit", lambda: 1 << 40)
    assert count_matches(pattern) == (2**15 - 1 if pattern is EACH_WAY else 0)


def test_a_state_that_is_too_large_is_an_error(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(f"p{i}", 100 + i, "a", 1) for i in range(2000)]
    streamed = StreamedQuery(
        lambda df: match_pattern(df, RISE, partition_by="k"), list_events(spark, rows), "ts"
    )
    monkeypatch.setattr(stream_worker, "MAX_STATE_BYTES", 1 << 14)
    few_rows = streamed.events[:10]
    all_rows = streamed.events
    list(streamed.call_worker(few_rows, FakeGroupState()))
    with pytest.raises(MatchRecognizeRunError, match="2,000 rows of 0 partitions wait") as caught:
        list(streamed.call_worker(all_rows, FakeGroupState()))
    assert "write WITHIN" in str(caught.value)
    monkeypatch.setattr(memory, "find_limit", lambda: 1 << 40)
    group = FakeGroupState()
    list(streamed.call_worker(all_rows, group))
    assert group.bytes > 1 << 14


def match_pattern(events: DataFrame, pattern: Pattern = RISE, **options: Any) -> DataFrame:
    """Match a pattern, sorted by `ts`."""
    return matchrec.match_pattern(events, pattern, **{"order_by": "ts", **options})


SPREAD = Pattern.begin("a").one_or_more().next("b").where("x > stddev(a.x)")
LEAST = Pattern.begin("a").next("b").where("v > min(a.v)")
AT_END = "ORDER BY ts MEASURES 1 AS n PATTERN ((A | B $)+) DEFINE A AS x > 1"
NOT_THEN = "ORDER BY ts MEASURES 1 AS n PATTERN (A NOT B) DEFINE A AS x > 1, B AS x > 2"
FRAMES = """SELECT x, n OVER w AS n FROM {df} WINDOW w AS (ORDER BY ts MEASURES count(*) AS n
    ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING PATTERN (A B+) DEFINE B AS x > PREV(x))"""
SKIPS = "ORDER BY ts MEASURES A.x AS n PATTERN (A B) SKIP TILL NEXT MATCH"
OVER = "ORDER BY ts MEASURES 1 AS n PATTERN (A) DEFINE A AS x > avg(x) OVER (ROWS 2 PRECEDING)"
GROUPED = "ORDER BY ts MEASURES stddev(x) AS n, mode(x) AS m PATTERN (A)"
ALONE = (
    "SELECT * FROM {df} MATCH_RECOGNIZE (ORDER BY ts MEASURES 1 AS n PATTERN (A) DEFINE A AS x > 1)"
)
COUNTED = matchrec.Options(counters=matchrec.Counters())
UNFINISHED = "ORDER BY ts MEASURES 1 AS n ONE ROW PER MATCH SHOW UNFINISHED MATCHES PATTERN (A A)"
match_clause = matchrec.match_recognize
SEQ = "PATTERN SEQ(a x, b y) WHERE skip_till_any_match(x, y) { x.x < y.x } WITHIN 5 seconds"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (lambda df: match_pattern(df, order_by="timestamp_seconds(x)"), "has no watermark"),
        (
            lambda df: match_pattern(df, options=matchrec.Options(algorithm="backtracking")),
            "leave it out",
        ),
        (
            lambda df: match_pattern(df, options=matchrec.Options(transport="arrow")),
            "leave transport out",
        ),
        (lambda df: match_pattern(df, options=COUNTED), "lastProgress"),
        (lambda df: match_pattern(df, LEAST), "compare with first or last"),
        (lambda df: match_pattern(df, SPREAD), "lists are not kept between two micro-batches"),
        (lambda df: match_pattern(df.selectExpr("*", "array(x) AS xs")), "leave the column out"),
        (
            lambda df: matchrec.match_sase(df, SEQ, order_by="ts", type_column="v", output="graph"),
            'write output="matches"',
        ),
        (lambda df: match_clause(df, "MEASURES 1 AS n PATTERN (A)"), "missing ORDER BY"),
        (
            lambda df: match_clause(df, "ORDER BY ts DESC MEASURES 1 AS n PATTERN (A)"),
            "further columns",
        ),
        (lambda df: match_clause(df, "ORDER BY x MEASURES 1 AS n PATTERN (A)"), "has no watermark"),
        (
            lambda df: match_clause(df, "ORDER BY ts MEASURES 1 AS n PATTERN (A $)"),
            "has no last row",
        ),
        (lambda df: match_clause(df, AT_END), "has no last row"),
        (lambda df: match_clause(df, NOT_THEN), "as in NEXT"),
        (lambda df: matchrec.sql(df.sparkSession, FRAMES, df=df), "write FROM t MATCH_RECOGNIZE"),
        (
            lambda df: match_clause(df, "ORDER BY ts MEASURES stddev(x) AS n PATTERN (A)"),
            "GROUP BY",
        ),
        (lambda df: match_clause(df, f"{SKIPS} DEFINE B AS x > 1"), "write ALL MATCHES"),
        (
            lambda df: match_clause(df, f"{SKIPS} ALL MATCHES DEFINE B AS x > PREV(x)"),
            "neighbouring rows",
        ),
        (
            lambda df: match_clause(df, f"{SKIPS} ALL MATCHES DEFINE B AS x > PREV(A.x)"),
            "are not kept",
        ),
        (lambda df: match_clause(df, UNFINISHED), "use matchrec.match_pattern with timeouts=True"),
        (lambda df: match_clause(df, OVER), "aggregate the rows of a pattern variable"),
        (lambda df: match_clause(df, GROUPED), "it needs a GROUP BY after the matches"),
        (
            lambda df: matchrec.query(df.sparkSession, ALONE, df=df).coverage(),
            "spark.read instead of spark.readStream",
        ),
    ],
)
def test_queries_that_cannot_stream_are_rejected(
    spark: SparkSession, query: Query, message: str
) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    columns = ("'k' AS k", "timestamp AS ts", "'a' AS v", "CAST(value AS INT) AS x")
    with pytest.raises(MatchRecognizeError) as caught:
        query(stream.selectExpr(*columns))
    assert message in str(caught.value)
