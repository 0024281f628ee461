"""A rule set over a stream returns the rows that it returns for all events at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

import matchrec
from matchrec import Pattern, RuleMatches
from matchrec.worker import internal_names
from tests.properties.test_queries import INTERPRETED, settings
from tests.quick.scale import batches
from tests.spark.test_streaming import SCHEMA, Feed, draw_pieces, list_events
from tests.tasks.stream_pieces import FakeGroupState, StreamedRules, read_times

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

STREAMS: dict[str, Any] = {"order_by": ["ts", "x", "v", "k"], "partition_by": "k"}
SOON = Pattern.begin("a").where("v = 'a'").followed_by("b").where("v = 'b'")
RULES: dict[str, str | Pattern] = {
    "rises": """MEASURES MATCH_NUMBER() AS m, FIRST(A.x) AS first, sum(B.x) AS total
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) WITHIN INTERVAL 9 SECONDS
        DEFINE A AS v = 'a', B AS x > PREV(x)""",
    "rows": """MEASURES CLASSIFIER() AS c, PREV(x) AS before ALL ROWS PER MATCH WITH UNMATCHED ROWS
        PATTERN (A B? C) WITHIN INTERVAL 20 SECONDS
        DEFINE A AS v = 'a', B AS x < avg(A.x) + 1, C AS v <> 'z'""",
    "hidden": """MEASURES count(*) AS n ALL ROWS PER MATCH OMIT EMPTY MATCHES
        PATTERN (A {- B -} C | ()) WITHIN INTERVAL 9 SECONDS DEFINE A AS v = 'a', C AS v = 'b'""",
    "next": """MEASURES LAST(v) AS v AFTER MATCH SKIP TO LAST B
        PATTERN (A B{1,3}) DEFINE A AS v = 'a', B AS v IN ('a', 'b') AND x >= NEXT(x)""",
    "none": "PATTERN (A*) WITHIN INTERVAL 3 SECONDS DEFINE A AS x = 1",
    "pairs": """PATTERN SEQ(a p, b+ q[], c r) WHERE skip_till_any_match { q[i].x >= p.x }
        WITHIN 9 seconds RETURN p.x AS x, sum(q[].x) AS total, r.ts AS last""",
    "before": """PATTERN SEQ(~(c n), a p, b q) WHERE skip_till_any_match { q.x > n.x }
        WITHIN 3 events RETURN p.x AS x, q.ts AS last""",
    "after": """PATTERN SEQ(a p, b q, ~(c n)) WHERE skip_till_any_match { q.x > p.x AND n.x > 1 }
        WITHIN 7 seconds RETURN p.x AS x, q.ts AS last""",
    "same": """PATTERN SEQ(ANY p, ANY q) WHERE skip_till_next_match { [k] AND p.x > q.x }
        WITHIN 5 events RETURN q.x AS x""",
    "soon": SOON.within("6 seconds"),
    "alone": SOON.not_followed_by("c").where("v = 'c'").within("4 seconds"),
    "strict": Pattern.begin("b").where("v = 'b'").next("c").where("v = 'c' AND x > last(b.x)"),
}


def convert_value(value: object) -> object:
    """Return a value from Arrow or Spark in a form that is the same for both."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, dict):
        return {name: convert_value(field) for name, field in value.items()}
    return [convert_value(element) for element in value] if isinstance(value, list) else value


def count_rows(rows: list[dict[str, Any]]) -> Counter[str]:
    """Return how often each row occurs."""
    return Counter(repr(convert_value(row)) for row in rows)


def build_query_of_rules(rules: Any, **options: Any) -> Callable[[DataFrame], RuleMatches]:
    """Return a function from events to the result of a rule set."""
    return lambda events: matchrec.match_rules(
        events, rules, **{**STREAMS, "type_column": "v", **options}
    )


def draw_events(generator: random.Random, keys: list[str | None]) -> list[tuple[Any, ...]]:
    """Return random events. The last two of each key end the runs that wait for more rows."""
    return [
        (key, second, generator.choice("aabbbc") if second < 900 else "z", generator.randrange(5))
        for key in keys
        for second in [*sorted(generator.choices(range(100, 125), k=10)), 900, 901]
    ]


@pytest.mark.parametrize("seed", batches(3))
def test_random_pieces_give_the_rows_of_a_batch_query(spark: SparkSession, seed: int) -> None:
    generator = random.Random(seed)
    rows = draw_events(generator, [*"pqr", None])
    events = list_events(spark, sorted(rows, key=lambda row: row[1] + generator.choice((0, 0, 3))))
    most = 4 if seed == 0 else len(RULES)  # seed 0 is the batch of a quick run
    names = [*RULES] if seed % 5 == 4 else generator.sample([*RULES], generator.randint(2, most))
    keys = [] if seed % 4 == 3 and "same" not in names else ["k"]
    query = build_query_of_rules({name: RULES[name] for name in names}, partition_by=keys)
    with settings(spark, **INTERPRETED):
        streamed = StreamedRules(query, events, "ts")
        at_once = query(events)._built_set.rows
        assert streamed.matches._built_set.rows.dtypes == at_once.dtypes
        expected = count_rows([row.asDict(recursive=True) for row in at_once.collect()])
    rows_of_pieces = [
        row
        for frame in streamed.draw_buckets(generator)
        for row in streamed.search_in_pieces(
            frame, draw_pieces(read_times(frame), generator), FakeGroupState()
        )
    ]
    assert count_rows(rows_of_pieces) == expected


TWINS = """MEASURES A.x AS x AFTER MATCH SKIP TO LAST B
    PATTERN (A B?) WITHIN INTERVAL 9 SECONDS DEFINE A AS v = 'a', B AS v = 'b'"""
CHEAP = "MEASURES A.x AS x PATTERN (A) DEFINE A AS x < 2"


def run_in_two_pieces(streamed: StreamedRules, group: FakeGroupState) -> list[dict[str, Any]]:
    """Return the rows of the first key, whose events arrive in two pieces."""
    frame = streamed.events_by_key[0]
    return list(streamed.search_in_pieces(frame, [(3, read_times(frame)[2])], group))


@pytest.mark.once
def test_a_failing_rule_is_named_and_others_can_continue(spark: SparkSession) -> None:
    seconds = [("p", 1, "a", 0), ("p", 2, "b", 1), ("p", 3, "a", 5), ("p", 30, "a", 1)]
    events = list_events(
        spark, [*seconds, ("p", 40, "a", 9), ("p", 41, "b", 0), ("p", 900, "z", 7)]
    )
    rules: dict[str, str | Pattern] = {"twins": TWINS, "cheap": CHEAP}
    with pytest.raises(matchrec.MatchRecognizeRunError) as caught:
        run_in_two_pieces(
            StreamedRules(build_query_of_rules(rules), events, "ts"), FakeGroupState()
        )
    message = "AFTER MATCH SKIP TO `B`: the match has no row of B"
    assert caught.value.message == f"rule `twins`: {message}"
    assert caught.value.partition == {"k": "p"}
    streamed = StreamedRules(build_query_of_rules(rules, on_error="continue"), events, "ts")
    group = FakeGroupState()
    rows = run_in_two_pieces(streamed, group)
    failures = [
        row[internal_names.FAILURE_MESSAGE] for row in rows if row[internal_names.FAILURE_MESSAGE]
    ]
    assert [failure.splitlines()[0] for failure in failures] == [f"{message} [skip-to-missing-row]"]
    numbers = [
        (row[internal_names.RULE_NUMBER], row[internal_names.MATCH_NUMBER])
        for row in rows
        if not row[internal_names.FAILURE_MESSAGE]
    ]
    before = [(0, 1), (1, 1), (1, 2)]
    assert numbers == [*before, (1, 3), (1, 4)], "the failed rule finds nothing more"
    assert group.exists, "it is known which rule has failed"


@pytest.mark.once
def test_events_are_kept_once_for_all_rules_and_no_longer(spark: SparkSession) -> None:
    rules = {name: RULES[name] for name in ("rises", "pairs", "soon")}
    rows = [("p", 100 + i, "abbc"[i % 4], i % 3) for i in range(200)]
    streamed = StreamedRules(build_query_of_rules(rules), list_events(spark, rows), "ts")
    (frame,) = streamed.events_by_key
    group = FakeGroupState()
    sizes = []
    for begin in range(0, 200, 10):
        list(streamed.call_worker(frame[begin : begin + 10], group))
        group.watermark = (begin + 105) * 1000
        kept = group.bucket_state.rows.column(internal_names.EVENT_MICROSECONDS).to_pylist()
        assert len(kept) == len(set(kept))
        sizes.append(group.bytes)
    assert max(sizes[10:]) <= max(sizes[:10]) + 64
    group.watermark = 10**9
    list(streamed.call_worker(frame[:0], group))
    assert group.bucket_state.rows.num_rows == 1, "PREV may look at the last one"
    assert group.timer is None


def read_rate(spark: SparkSession) -> DataFrame:
    """Return a stream with the columns of events."""
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    columns = ("'k' AS k", "timestamp AS ts", "'a' AS v", "CAST(value AS INT) AS x")
    return stream.selectExpr(*columns)


@pytest.mark.once
def test_the_state_is_explained_and_can_warn(spark: SparkSession) -> None:
    rules = {
        "bounded": RULES["rises"],
        "next": RULES["strict"],
        "open": "PATTERN (A B+) DEFINE B AS x > PREV(x)",
        "waits": SOON,
    }
    with pytest.warns(matchrec.warnings.UnboundedStateWarning) as warned:
        result = build_query_of_rules(rules)(read_rate(spark))
    messages = [
        str(warning.message).splitlines()
        for warning in warned
        if issubclass(warning.category, matchrec.warnings.UnboundedStateWarning)
    ]
    assert [lines[0].partition(":")[0] for lines in messages] == ["rule `open`", "rule `waits`"]
    assert messages[0][1] == "  line 1, column 10"
    explained = result.explain().text
    assert "stream, once for all rules\n  one state for each partition: " in explained
    assert explained.count("\n  stream\n    state of each partition: ") == 4
    assert "bounded by the window: a run ends when" in explained.partition("rule next")[0]
    assert "sort" not in explained.partition("rule bounded")[0]


MESSAGES: dict[str, tuple[Callable[[DataFrame], object], str]] = {
    "no watermark": (
        build_query_of_rules({"a": CHEAP}, order_by="x"),
        "ORDER BY `x` has no watermark",
    ),
    "a sort": (
        build_query_of_rules({"a": CHEAP}, options=matchrec.Options(sort="engine")),
        'sort="engine" is not supported over a stream',
    ),
    "an end": (
        build_query_of_rules({"a": CHEAP, "b": "PATTERN (A $) DEFINE A AS x > 1"}),
        "rule `b`: `$` in PATTERN is not supported over a streaming DataFrame",
    ),
    "an aggregate of Spark's": (
        build_query_of_rules({"a": CHEAP, "b": "MEASURES mode(x) AS s PATTERN (A)"}),
        "rule `b`: an aggregate that only Spark can compute is not supported over a stream",
    ),
    "rows of the partition": (
        build_query_of_rules({"b": "PATTERN (A) DEFINE A AS x > avg(x) OVER (ROWS 2 PRECEDING)"}),
        "rule `b`: an aggregate OVER rows of the partition is not supported over a stream",
    ),
    "an equivalence test": (
        build_query_of_rules(
            {"b": "PATTERN SEQ(ANY p, ANY q) WHERE skip_till_next_match { [x] } WITHIN 9 seconds"}
        ),
        "rule `b`: an equivalence test over `x` in a rule set is not supported over a stream",
    ),
    "rows of something else": (
        lambda df: build_query_of_rules({"a": CHEAP})(df).split(df),
        "the rows passed to split() have no column `__rule`",
    ),
    "a cache": (
        lambda df: build_query_of_rules({"a": CHEAP})(df).cache(),
        "cache() of a rule set is not supported over a stre",
    ),
    "an unknown column": (
        build_query_of_rules({"a": CHEAP, "b": "PATTERN (A) DEFINE A AS y > 1"}),
        "rule `b`: unknown column `y` in DEFINE",
    ),
    "a function of no sense": (
        build_query_of_rules({"a": CHEAP, "b": "PATTERN (A) DEFINE A AS sqrt(v, 1) > 1"}),
        "rule `b`: ",
    ),
}


@pytest.mark.once
@pytest.mark.parametrize("name", MESSAGES)
def test_rules_that_cannot_stream_are_rejected(spark: SparkSession, name: str) -> None:
    call, message = MESSAGES[name]
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        call(read_rate(spark))
    assert str(caught.value).startswith(message)


@pytest.mark.slow
def test_many_rules_have_bits_of_their_own(spark: SparkSession) -> None:
    rules: dict[str, str | Pattern] = {
        f"at least {least}": f"PATTERN (A) DEFINE A AS x >= {least}" for least in range(70)
    }
    events = list_events(spark, [("p", 100 + number, "a", number) for number in range(70)])
    streamed = StreamedRules(build_query_of_rules(rules), events, "ts")
    matches_of_rules = Counter(
        row[internal_names.RULE_NUMBER] for row in run_in_two_pieces(streamed, FakeGroupState())
    )
    assert matches_of_rules == {least: 70 - least for least in range(70)}


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Feed:
    """Return an empty feed."""
    return Feed(spark, tmp_path)


EARLY = [("p", 1, "a", 1), ("q", 2, "a", 5), ("p", 5, "b", 2)]
LATE = ("p", 3, "late", 7)


@pytest.mark.slow
def test_a_rule_set_goes_on_from_its_checkpoint(feed: Feed) -> None:
    """Events are out of order, one is late, and matches and windows are open when it stops."""
    names = ("rises", "rows", "pairs", "soon", "alone")
    query = build_query_of_rules({name: RULES[name] for name in names})
    feed.put(EARLY, [("p", 12, "b", 9), ("p", 9, "a", 4), ("q", 10, "b", 6)])
    assert feed.run(lambda events: query(events).matches) == 0
    early = feed.rows()
    feed.put([("p", 14, "b", 8), ("q", 40, "a", 0), LATE], [("p", 200, "z", 0), ("q", 200, "z", 0)])
    feed.put([("p", 400, "z", 0)])
    assert feed.run(lambda events: query(events).matches) == 1
    assert set(early) < set(feed.rows())
    assert feed.rows() == feed.at_once(lambda events: query(events).matches, [LATE])


@pytest.mark.slow
def test_one_query_writes_the_results_of_all_rules(feed: Feed) -> None:
    rules = {"rises": RULES["rises"], "soon": SOON.where(sql.col("x") < 9).within("6 seconds")}
    query = build_query_of_rules(rules)
    feed.put(EARLY, [("p", 12, "b", 9), ("p", 9, "a", 4), ("q", 10, "b", 6)], [("q", 900, "z", 0)])
    feed.put([("p", 1800, "z", 0)])
    feed.run(lambda events: query(events).rows)
    events = feed.spark.read.schema(SCHEMA).json(str(feed.source))
    at_once = query(events)
    streamed = at_once.split(feed.spark.read.parquet(str(feed.result)))
    views = [(streamed.matches, at_once.matches)]
    views += [(streamed.rule(name), at_once.rule(name)) for name in rules]
    for view, expected in views:
        assert sorted(map(repr, view.collect())) == sorted(map(repr, expected.collect())) != []
