"""Queries of the case files, traced in all of their partitions.

Every sixteenth of them in a full run, all of them with

    MATCHREC_FULL=1 MATCHREC_EXAMPLES=1 pytest tests/spark/test_why_cases.py

That a trace finds the engine's matches `why` asserts itself. Here what it says of conditions is
looked at as well: the truth that Spark finds for conjuncts gives the engine's answer, so each of
them is known.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import matchrec
from matchrec.api.dialects import parse_query
from matchrec.spark import tracing as partition
from tests.cases.case_file import CaseFile, QueryRecord
from tests.cases.test_queries import FILES, place, register_tables
from tests.quick.scale import LONG_RUN, PART

STRUCT = "{"  # how a partition by a struct begins, which cannot be named


def list_records() -> Iterator[Any]:
    cases = [(file, record) for file in FILES for record in file.queries]
    for file, record in cases if LONG_RUN is not None else cases[::PART]:
        if not record.head.note_of("gap"):
            yield pytest.param(file, record, id=place(file, record))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "record"), [*list_records()])
def test_traces_of_queries(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    file: CaseFile,
    record: QueryRecord,
) -> None:
    mark_refused_on_sail(request, record)
    monkeypatch.setattr(partition, "MOST_KEYS", 100)
    register_tables(spark, file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        sites = parse_query(spark, record.sql, None, {}, "spark").sites
        clauses = [number for number, site in enumerate(sites, 1) if site.calls is None]
        for answer in (
            one for clause in clauses for one in list_answers(spark, record.sql, clause)
        ):
            assert_known(answer)


def mark_refused_on_sail(request: pytest.FixtureRequest, record: QueryRecord) -> None:
    """Let a query be refused on Sail if its record says that Sail differs there."""
    reason = record.head.note_of("sail")
    if reason and request.config.getoption("--on") == "sail":
        refusals = (matchrec.MatchRecognizeError, PySparkException)
        request.applymarker(pytest.mark.xfail(reason=reason, raises=refusals, strict=False))


def list_answers(spark: SparkSession, query: str, clause: int) -> Iterator[matchrec.Why]:
    """Yield what `why` says of each partition of a clause."""
    try:
        yield matchrec.query(spark, query).why(clause=clause, limit=100)
    except matchrec.MatchRecognizePlanError as error:
        if error.code == "no-rows":
            return
        if "there are several" not in error.message:
            raise
        for note in (one for one in error.notes[1:] if STRUCT not in one):
            pairs = (part.split(" = ", 1) for part in note.strip().split(", "))
            values = {name: None if value == "NULL" else value for name, value in pairs}
            yield matchrec.query(spark, query).why(partition=values, clause=clause, limit=100)


def assert_known(answer: matchrec.Why) -> None:
    assert answer.text
    assert answer.svg()
    for attempt in answer.story.attempts:
        for line in attempt.lines:
            assert all(": " in condition for condition in line.conditions), line
