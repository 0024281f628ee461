"""Random queries of SASE+ and random Patterns as SQL, which finds the rows that they do."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from tests.cases.pattern_notation import NAMES, SCHEMA, built, read_event
from tests.generators import sase
from tests.generators.patterns import random_question, random_stream
from tests.quick.scale import SEED, examples

STREAMS = 30
Rows = Counter[tuple[Any, ...]]

pytestmark = pytest.mark.filterwarnings(
    "ignore::matchrec.warnings.MatchRecognizeWarning"
)  # random queries


def as_sql(query: Any, **arguments: Any) -> str | None:
    """The text, or None where SQL cannot say it; there is no other error."""
    try:
        return matchrec.transpile(query, events="random_rows", **arguments).text
    except matchrec.MatchRecognizeUnsupportedError:
        return None


def rows(frame: DataFrame, columns: list[str]) -> Rows:
    return Counter(map(tuple, frame.select(*columns).collect()))


@pytest.mark.slow
def test_sase(spark: SparkSession) -> None:
    random = Random(SEED)
    streams = [sase.random_stream(random, number) for number in range(STREAMS)]
    events = spark.createDataFrame(
        [tuple(one[name] for name in sase.NAMES) for stream in streams for one in stream],
        sase.SCHEMA,
    )
    events.createOrReplaceTempView("random_rows")
    found, left = 0, examples(40)
    while left:
        text = str(sase.random_query(random))
        told = {"order_by": ["t", "n"], "partition_by": "s"}
        sql = as_sql(text, read="sase", **told)
        if sql is not None:
            left -= 1
            expected = matchrec.match_sase(events, text, **told)
            returned = sql.count(" AS ", 0, sql.index("PATTERN"))
            columns = ["s", *expected.columns[-returned:]] if returned else ["s"]
            ours = rows(matchrec.sql(spark, sql), columns)
            assert ours == rows(expected, columns), text
            found += ours.total()
    assert found


@pytest.mark.slow
def test_patterns(spark: SparkSession) -> None:
    random = Random(SEED)
    words = [(n, random_stream(random)) for n in range(STREAMS)]
    events = [
        {**read_event(word, number), "p": str(stream)}
        for stream, written in words
        for number, word in enumerate(written, 1)
    ]
    frame = spark.createDataFrame([tuple(one[name] for name in NAMES) for one in events], SCHEMA)
    frame.createOrReplaceTempView("random_rows")
    found, left = 0, examples(40)
    while left:
        pattern = built(random_question(random).calls, matchrec.Pattern)
        told = {"order_by": "n", "partition_by": "p"}
        sql = as_sql(pattern, **told)
        if sql is not None:
            left -= 1
            columns = ["p", "start_time", "end_time"]
            ours = rows(matchrec.sql(spark, sql), columns)
            assert ours == rows(matchrec.match_pattern(frame, pattern, **told), columns), repr(
                pattern
            )
            found += ours.total()
    assert found


def test_what_is_written_means_what_was_read() -> None:
    """Each conversion compares the plans, and finds no difference but where SQL has no words."""
    said = {"sase": 0, "pattern": 0}
    for number in range(SEED, SEED + max(examples(200), 50)):
        text = str(sase.random_query(Random(number)))
        pattern = built(random_question(Random(number)).calls, matchrec.Pattern)
        said["sase"] += as_sql(text, read="sase", order_by="t") is not None
        said["pattern"] += as_sql(pattern, order_by="t") is not None
    assert all(said.values()), said
