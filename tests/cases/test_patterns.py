"""Runs the `pattern` and `refused` records of `cases/patterns/*.test`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.cases.case_file import CASES, PatternRecord, RefusedRecord, case_files
from tests.cases.pattern_notation import Question, built, by_definition, question_of, read_skip
from tests.properties.test_queries import INTERPRETED, settings
from tests.tasks.patterns import ALGORITHMS, PatternBatch, after_match, answers

pytestmark = pytest.mark.one_of(4)

FOLDER = CASES / "patterns"
COLUMNS = ("conditions", "windows", "timeouts", "until", "order")  # files with columns of their own
Matcher = Callable[[Question], list[list[str]]]

MATCHERS: dict[str, Matcher] = {
    **{algorithm: lambda q, e=algorithm: [answers(q, (e,))[e]] for algorithm in ALGORITHMS},  # type: ignore[misc]
    "definition": by_definition,
}


def records(kind: str) -> Iterator[tuple[str, Any]]:
    for file in case_files(FOLDER):
        for record in getattr(file, kind):
            yield f"{file.path.stem}:{record.head.line}", record


def patterns() -> Iterator[Any]:
    for place, record in records("patterns"):
        for name, matcher in MATCHERS.items():
            yield pytest.param(record, matcher, id=f"{place}-{name}")


@pytest.mark.parametrize(("record", "matcher"), [*patterns()])
def test_matches(record: PatternRecord, matcher: Matcher) -> None:
    found = matcher(question_of(record))
    assert any(agrees(record, lines) for lines in found), found


def agrees(record: PatternRecord, lines: list[str]) -> bool:
    """Whether these are the expected lines; without a skip strategy in any order."""
    wanted = list(record.expected)
    if record.skip:
        return lines == wanted
    return sorted(lines) == sorted(wanted)


@pytest.mark.night
def test_matches_with_columns_that_spark_computes(spark: SparkSession) -> None:
    found = [record for place, record in records("patterns") if place.split(":")[0] in COLUMNS]
    with settings(spark, **INTERPRETED):
        batch = PatternBatch(spark, [question_of(record) for record in found])
        for algorithm, all_lines in batch.answers().items():
            for record, lines in zip(found, all_lines, strict=True):
                assert agrees(record, lines), (algorithm, question_of(record), lines)


@pytest.mark.parametrize(
    "record", [pytest.param(record, id=place) for place, record in records("refused")]
)
def test_refused(spark: SparkSession, record: RefusedRecord) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        detected(spark, record)
    assert type(caught.value).__name__ == record.error
    text = str(caught.value).lower()
    assert not [word for word in record.words if word.lower() not in text], text


def detected(spark: SparkSession, record: RefusedRecord) -> None:
    pattern = built(record.calls, matchrec.Pattern)
    pattern = pattern.after_match(after_match(read_skip(record.skip or "no skip")))
    events = spark.createDataFrame([], "t int, is_a boolean, is_b boolean, x int")
    matchrec.match_pattern(events, pattern, order_by="t")
