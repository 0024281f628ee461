"""Random Patterns by `match_pattern`, from calls to rows, against enumeration by definition.

`test_patterns.py` compares the engines; here the whole path runs, with Spark or Sail before and
after the match. Each Pattern is matched in several streams. In the second size each stream exists
hundreds of times, each with a key of its own. A long run, in which each example is a Pattern:

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
from matchrec.errors import MatchRecognizeRunError
from tests.cases.pattern_notation import NAMES, SCHEMA, Question, build_pattern, list_right_lines
from tests.generators.patterns import draw_question, draw_stream
from tests.properties.test_patterns import agrees
from tests.quick.scale import batches, copies_of
from tests.references.patterns import TooMuchError
from tests.tasks.many_keys import KEY, make_copies, take_one_copy
from tests.tasks.patterns import lines, make_after_match

pytestmark = pytest.mark.filterwarnings("ignore::matchrec.warnings.MatchRecognizeWarning")

A_BATCH = 4
STREAMS = 6


@dataclass(frozen=True)
class PatternQuery:
    """A random Pattern, and its right results in each stream."""

    question: Question
    expected: Mapping[str, list[list[str]]]
    """For each stream, the results that are right: a line for each match, or for an error."""
    output: matchrec.api.signatures.PatternOutput

    @cached_property
    def pattern(self) -> matchrec.Pattern:
        """The Pattern with its skip strategy."""
        pattern = build_pattern(self.question.calls, matchrec.Pattern)
        return pattern.after_match(make_after_match(self.question.strategy))

    @property
    def missed_stages(self) -> set[str]:
        """The stages that `throw_on_miss` may name."""
        results = (lines for results in self.expected.values() for lines in results)
        return {
            result[0].split()[1]
            for result in results
            if result[:1] and result[0].startswith("throws ")
        }

    def result(self, events: DataFrame, keys: list[str]) -> DataFrame:
        """Return the result of `match_pattern`, without the key inside of a stage's events."""
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
    """Return a Pattern that is not too much for the reference in any of the streams."""
    while True:
        question = draw_question(random)
        try:
            expected = {
                str(number): list_right_lines(replace(question, words=tuple(words)))
                for number, words in enumerate(streams)
            }
        except TooMuchError:
            continue
        output = "matches" if question.timeouts else random.choice(("matches", "events"))
        return PatternQuery(question, expected, output)


def lines_of_streams(query: PatternQuery, rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return a line for each match, in each stream."""
    found = {}
    for stream in query.expected:
        dicts = [row.asDict() for row in rows if row.p == stream]
        if query.output == "events":
            dicts = list(group_events(query.question, dicts))
        found[stream] = lines(dicts)
    return found


def group_events(
    question: Question, rows: Sequence[dict[str, object]]
) -> Iterator[dict[str, object]]:
    """Yield the matches of `output="events"` as `output="matches"` has them."""
    stages = re.findall(
        r'(?<!not_)(?:begin|next|followed_by|followed_by_any)\("?([a-f]\d+)', question.calls
    )
    for number in sorted({row["match_number"] for row in rows}):
        events = [row for row in rows if row["match_number"] == number]
        events.sort(key=lambda row: (row["t"], row["n"]))
        of_stages = {stage: [e for e in events if e["stage"] == stage] for stage in stages}
        yield {"match_number": number, **of_stages}


@pytest.mark.parametrize("seed", batches(60, A_BATCH))
def test_matches_are_those_of_the_definitions(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    streams = [draw_stream(random) for _ in range(STREAMS)]
    words = tuple(f"{word}/{number}" for number, one in enumerate(streams) for word in one)
    events = [
        tuple(event[name] for name in NAMES)
        for stream in Question("", "", False, words).streams.values()
        for event in stream
    ]
    random.shuffle(events)
    table = spark.createDataFrame(events, SCHEMA).localCheckpoint()
    copies = copies_of(len(events))
    several = make_copies(table, copies)
    for _ in range(A_BATCH):
        query = random_query(random, streams)
        once, often = query.result(table, ["p"]), query.result(several, ["p", KEY]).drop(KEY)
        check_result(query, streams, "one copy", once.collect)
        check_result(query, streams, f"{copies} copies", partial(take_one_copy, often, copies))


def check_result(
    query: PatternQuery,
    streams: Sequence[Sequence[str]],
    size: str,
    collect: Callable[[], list[Row]],
) -> None:
    """Run a query, and compare its error or the matches of each stream with the right ones."""
    if query.missed_stages:
        with pytest.raises(Exception, match="the skip to stage") as caught:
            collect()
        error = MatchRecognizeRunError.from_exception(caught.value)
        assert error is not None
        assert error.message.split("`")[1] in query.missed_stages, query.question
        return
    for stream, found in lines_of_streams(query, collect()).items():
        right = query.expected[stream]
        of_stream = replace(query.question, words=tuple(streams[int(stream)]))
        agree = any(agrees(query.question, one, found) for one in right)
        assert agree, f"{size}:\n{of_stream}\n{found}\nnot {right}"
