"""Random Patterns with `match_pattern`: the result has the matches of the reference.

`test_patterns.py` compares the algorithms. These tests run the whole path, with Spark or Sail
before and after the match. Each Pattern is matched in several streams. In the second size each
stream has hundreds of copies, which differ in a key. A long run, in which each example is a
Pattern:

    MATCHREC_EXAMPLES=500 MATCHREC_SEED=1000 pytest tests/properties/test_pattern_queries.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from random import Random

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import matchrec
from matchrec.arguments import PatternOutput
from matchrec.errors import MatchRecognizeRunError
from tests.cases.pattern_notation import NAMES, SCHEMA, Question, build_pattern, list_right_lines
from tests.generators.patterns import draw_question, draw_stream
from tests.properties.test_patterns import are_correct
from tests.quick.scale import batches, copies_of
from tests.references.patterns import TooManyWaysError
from tests.tasks.many_keys import KEY, make_copies, take_one_copy
from tests.tasks.patterns import lines, make_after_match

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

QUESTIONS_PER_BATCH = 4
STREAMS = 6


@dataclass(frozen=True)
class PatternQuery:
    """A random Pattern, and its correct results in each stream."""

    question: Question
    # For each stream, the correct results: a line for each match, or for an error.
    expected: Mapping[str, list[list[str]]]
    output: PatternOutput

    @cached_property
    def pattern(self) -> matchrec.Pattern:
        """Return the Pattern with its skip strategy."""
        pattern = build_pattern(self.question.calls, matchrec.Pattern)
        return pattern.after_match(make_after_match(self.question.strategy))

    @property
    def missed_stages(self) -> set[str]:
        """Return the stages that an error of `throw_on_miss` may name."""
        results = (lines for results in self.expected.values() for lines in results)
        return {
            result[0].split()[1]
            for result in results
            if result[:1] and result[0].startswith("throws ")
        }

    def result(self, events: DataFrame, keys: list[str]) -> DataFrame:
        """Return the result of `match_pattern`, without the key in the events of a stage."""
        result = matchrec.match_pattern(
            events,
            self.pattern,
            order_by=["t", "n"],
            partition_by=keys,
            output=self.output,
            timeouts=self.question.timeouts,
        )
        items = [
            f"transform({field.name}, event -> struct(event.e AS e)) AS {field.name}"
            if field.dataType.typeName() == "array"
            else field.name
            for field in result.schema
        ]
        return result.selectExpr(*items)


def random_query(random: Random, streams: Sequence[Sequence[str]]) -> PatternQuery:
    """Draw a Pattern that the reference can match in all of the streams."""
    while True:
        question = draw_question(random)
        try:
            expected = {
                str(number): list_right_lines(replace(question, words=tuple(words)))
                for number, words in enumerate(streams)
            }
        except TooManyWaysError:
            continue
        output = "matches" if question.timeouts else random.choice(("matches", "events"))
        return PatternQuery(question, expected, output)


def write_lines_by_stream(query: PatternQuery, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return a line for each match, in each stream."""
    lines_by_stream = {}
    for stream in query.expected:
        dicts = [row.asDict() for row in rows if row.p == stream]
        if query.output == "events":
            dicts = list(group_events(query.question, dicts))
        lines_by_stream[stream] = lines(dicts)
    return lines_by_stream


def group_events(
    question: Question, rows: Sequence[dict[str, object]]
) -> Iterator[dict[str, object]]:
    """Yield the matches of `output="events"` in the form of `output="matches"`."""
    stages = re.findall(
        r'(?<!not_)(?:begin|next|followed_by|followed_by_any)\("?([a-f]\d+)', question.calls
    )
    for number in sorted({row["match_number"] for row in rows}):
        events = [row for row in rows if row["match_number"] == number]
        events.sort(key=lambda row: (row["t"], row["n"]))
        events_by_stage = {stage: [e for e in events if e["stage"] == stage] for stage in stages}
        yield {"match_number": number, **events_by_stage}


@pytest.mark.parametrize("seed", batches(60, QUESTIONS_PER_BATCH))
def test_matches_are_those_of_the_definitions(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    streams = [draw_stream(random) for _ in range(STREAMS)]
    words = tuple(
        f"{word}/{number}" for number, stream_words in enumerate(streams) for word in stream_words
    )
    events = [
        tuple(event[name] for name in NAMES)
        for stream in Question("", "", False, words).streams.values()
        for event in stream
    ]
    random.shuffle(events)
    table = spark.createDataFrame(events, SCHEMA).localCheckpoint()
    copies = copies_of(len(events))
    copied_table = make_copies(table, copies)
    for _ in range(QUESTIONS_PER_BATCH):
        query = random_query(random, streams)
        result = query.result(table, ["p"])
        copied_result = query.result(copied_table, ["p", KEY]).drop(KEY)
        check_result(query, streams, "one copy", result.collect)
        check_result(
            query, streams, f"{copies} copies", partial(take_one_copy, copied_result, copies)
        )


def check_result(
    query: PatternQuery,
    streams: Sequence[Sequence[str]],
    size: str,
    collect: Callable[[], list[Row]],
) -> None:
    """Run a query, and check its error or the matches of each stream."""
    if query.missed_stages:
        with pytest.raises(Exception, match="the skip to stage") as caught:
            collect()
        error = MatchRecognizeRunError.from_exception(caught.value)
        assert error is not None
        assert error.message.split("`")[1] in query.missed_stages, query.question
        return
    for stream, result_lines in write_lines_by_stream(query, collect()).items():
        correct_results = query.expected[stream]
        stream_question = replace(query.question, words=tuple(streams[int(stream)]))
        is_correct = any(
            are_correct(query.question, correct_lines, result_lines)
            for correct_lines in correct_results
        )
        assert is_correct, f"{size}:\n{stream_question}\n{result_lines}\nnot {correct_results}"
