"""Run the `pattern` and `refused` records of `cases/patterns/*.test`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.cases.case_file import CASES, PatternRecord, RefusedRecord, list_case_files
from tests.cases.pattern_notation import (
    Question,
    build_pattern,
    list_right_lines,
    read_question,
    read_skip,
)
from tests.properties.test_queries import INTERPRETED, settings
from tests.tasks.patterns import ALGORITHMS, PatternBatch, answer_question, make_after_match

pytestmark = pytest.mark.one_of(4)

FOLDER = CASES / "patterns"
COLUMNS = ("conditions", "windows", "timeouts", "until", "order")  # files that Spark also computes

Matcher = Callable[[Question], list[list[str]]]
"""Return the results that are right for a question: one from an algorithm, all by definition."""


def match_with(algorithm: str, question: Question) -> list[list[str]]:
    """Return the result of an algorithm."""
    return [answer_question(question, (algorithm,))[algorithm]]


MATCHERS: dict[str, Matcher] = {
    **{algorithm: partial(match_with, algorithm) for algorithm in ALGORITHMS},
    "definition": list_right_lines,
}


def records(kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the location and the record of each `patterns` or `refused` record."""
    for file in list_case_files(FOLDER):
        for record in getattr(file, kind):
            yield f"{file.path.stem}:{record.head.line}", record


def patterns() -> Iterator[Any]:
    """Yield each `pattern` record with each matcher."""
    for location, record in records("patterns"):
        for name, matcher in MATCHERS.items():
            yield pytest.param(record, matcher, id=f"{location}-{name}")


@pytest.mark.parametrize(("record", "matcher"), [*patterns()])
def test_a_record_has_its_expected_matches(record: PatternRecord, matcher: Matcher) -> None:
    results = matcher(read_question(record))
    assert any(agrees(record, lines) for lines in results), results


def agrees(record: PatternRecord, lines: list[str]) -> bool:
    """Return whether lines are the expected ones. Without a skip strategy their order is open."""
    expected = list(record.expected)
    if record.skip:
        return lines == expected
    return sorted(lines) == sorted(expected)


@pytest.mark.night
def test_matches_with_columns_that_spark_computes(spark: SparkSession) -> None:
    chosen = [
        record for location, record in records("patterns") if location.split(":")[0] in COLUMNS
    ]
    with settings(spark, **INTERPRETED):
        batch = PatternBatch(spark, [read_question(record) for record in chosen])
        for algorithm, all_lines in batch.answers().items():
            for record, lines in zip(chosen, all_lines, strict=True):
                assert agrees(record, lines), (algorithm, read_question(record), lines)


@pytest.mark.parametrize(
    "record", [pytest.param(record, id=location) for location, record in records("refused")]
)
def test_a_refused_pattern_raises_its_error(spark: SparkSession, record: RefusedRecord) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        match_record(spark, record)
    assert type(caught.value).__name__ == record.error
    text = str(caught.value).lower()
    assert not [word for word in record.words if word.lower() not in text], text


def match_record(spark: SparkSession, record: RefusedRecord) -> None:
    """Build the pattern of a record and search an empty DataFrame for it."""
    pattern = build_pattern(record.calls, matchrec.Pattern)
    pattern = pattern.after_match(make_after_match(read_skip(record.skip or "no skip")))
    events = spark.createDataFrame([], "t int, is_a boolean, is_b boolean, x int")
    matchrec.match_pattern(events, pattern, order_by="t")
