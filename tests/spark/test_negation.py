"""NOT in a Pattern finds the same matches as the SQL that `transpile` makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec import Pattern
from tests.cases.pattern_notation import NAMES, SCHEMA, build_pattern, read_event
from tests.generators.patterns import draw_question, draw_stream
from tests.quick.scale import SEED, examples, some_of

PATTERNS = (
    "begin(a).not_next(c).next(b)",
    'begin(a).not_next("c").where("is_c AND x >= last(a.x)").next(b).times(2).consecutive()',
    "begin(d).next(a).not_next(c).not_next(d2).next(b)",
    "begin(a).not_followed_by(c).followed_by(b)",
    'begin(a).followed_by(d).not_followed_by("c").where("is_c AND x > a.x").followed_by(b)',
    "begin(a).not_followed_by(c).not_followed_by(d).followed_by_any(b)",
    "begin(a).not_followed_by(c).within(3)",
    "begin(a).followed_by(b).not_followed_by(c).within(4)",
    "begin(a).followed_by_any(b).not_followed_by(c).not_followed_by(d).within(4)",
)


def draw_patterns(count: int) -> Iterator[Pattern]:
    """Yield random patterns with a NOT that can be converted to SQL."""
    number = SEED
    while count:
        calls = draw_question(Random(number)).calls
        number += 1
        if "not_" in calls:
            pattern = build_pattern(calls, Pattern)
            try:
                matchrec.transpile(pattern, order_by="n")
            except matchrec.MatchRecognizeUnsupportedError:
                continue
            count -= 1
            yield pattern


@pytest.fixture(scope="module")
def streams(spark: SparkSession) -> DataFrame:
    """Create the view `streams` of 40 random streams, and return it."""
    random = Random(SEED)
    events = [
        {**read_event(word, number), "p": str(stream)}
        for stream in range(40)
        for number, word in enumerate(draw_stream(random), 1)
    ]
    rows = [tuple(event[name] for name in NAMES) for event in events]
    frame = spark.createDataFrame(rows, SCHEMA)
    frame.createOrReplaceTempView("streams")
    return frame


def find_times(frame: DataFrame) -> Counter[tuple[str, int, int]]:
    """Return how often each key has a match from a start to an end."""
    return Counter(map(tuple, frame.select("p", "start_time", "end_time").collect()))


def check_same_matches(streams: DataFrame, pattern: Pattern) -> None:
    """Check that a pattern and its SQL have the same matches."""
    text = matchrec.transpile(pattern, events="streams", order_by="n", partition_by="p").text
    matches_of_sql = find_times(matchrec.sql(streams.sparkSession, text))
    assert matches_of_sql == find_times(
        matchrec.match_pattern(streams, pattern, order_by="n", partition_by="p")
    ), text


@pytest.mark.parametrize("calls", some_of(PATTERNS))
def test_sql_finds_the_matches_of_a_pattern(streams: DataFrame, calls: str) -> None:
    check_same_matches(streams, build_pattern(calls, Pattern))


@pytest.mark.slow
def test_random_patterns_find_the_same(streams: DataFrame) -> None:
    for pattern in draw_patterns(examples(3)):
        check_same_matches(streams, pattern)
