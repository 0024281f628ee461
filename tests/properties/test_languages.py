"""Random SASE+ queries and Patterns return the same rows when they are translated to SQL."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.cases.pattern_notation import NAMES, SCHEMA, build_pattern, read_event
from tests.generators import sase
from tests.generators.patterns import draw_question, draw_stream
from tests.quick.scale import SEED, examples

STREAMS = 30
Rows = Counter[tuple[Any, ...]]

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries


def translate(query: Any, **arguments: Any) -> str | None:
    """Return the query as SQL, or None if SQL cannot express it. No other error is allowed."""
    try:
        return matchrec.transpile(query, events="random_rows", **arguments).text
    except matchrec.MatchRecognizeUnsupportedError:
        return None


def count_rows(frame: DataFrame, columns: list[str]) -> Rows:
    """Return how often each row of some columns is in a DataFrame."""
    return Counter(map(tuple, frame.select(*columns).collect()))


@pytest.mark.slow
def test_sase_queries_in_sql_return_the_same_rows(spark: SparkSession) -> None:
    random = Random(SEED)
    streams = [sase.random_stream(random, number) for number in range(STREAMS)]
    values = [tuple(event[name] for name in sase.NAMES) for stream in streams for event in stream]
    events = spark.createDataFrame(values, sase.SCHEMA)
    events.createOrReplaceTempView("random_rows")
    match_count = 0
    remaining = examples(40)
    while remaining:
        text = str(sase.random_query(random))
        keys: Any = {"order_by": ["t", "n"], "partition_by": "s"}
        sql = translate(text, read="sase", **keys)
        if sql is not None:
            remaining -= 1
            expected = matchrec.match_sase(events, text, **keys)
            measure_count = sql.count(" AS ", 0, sql.index("PATTERN"))
            columns = ["s", *expected.columns[-measure_count:]] if measure_count else ["s"]
            rows = count_rows(matchrec.sql(spark, sql), columns)
            assert rows == count_rows(expected, columns), text
            match_count += rows.total()
    assert match_count


@pytest.mark.slow
def test_patterns_in_sql_return_the_same_rows(spark: SparkSession) -> None:
    random = Random(SEED)
    streams = [(stream, draw_stream(random)) for stream in range(STREAMS)]
    events = [
        {**read_event(word, number), "p": str(stream)}
        for stream, words in streams
        for number, word in enumerate(words, 1)
    ]
    values = [tuple(event[name] for name in NAMES) for event in events]
    frame = spark.createDataFrame(values, SCHEMA)
    frame.createOrReplaceTempView("random_rows")
    match_count = 0
    remaining = examples(40)
    while remaining:
        pattern = build_pattern(draw_question(random).calls, matchrec.Pattern)
        keys = {"order_by": "n", "partition_by": "p"}
        sql = translate(pattern, **keys)
        if sql is not None:
            remaining -= 1
            columns = ["p", "start_time", "end_time"]
            rows = count_rows(matchrec.sql(spark, sql), columns)
            expected = matchrec.match_pattern(frame, pattern, **keys)
            assert rows == count_rows(expected, columns), repr(pattern)
            match_count += rows.total()
    assert match_count


def test_translations_mean_the_same() -> None:
    """Each translation compares the plans, and raises an error if they differ."""
    translated = {"sase": 0, "pattern": 0}
    for number in range(SEED, SEED + max(examples(200), 50)):
        text = str(sase.random_query(Random(number)))
        pattern = build_pattern(draw_question(Random(number)).calls, matchrec.Pattern)
        translated["sase"] += translate(text, read="sase", order_by="t") is not None
        translated["pattern"] += translate(pattern, order_by="t") is not None
    assert all(translated.values()), translated
