"""`why` explains all partitions of the queries in the case files.

A full run takes every sixteenth query; this command takes all of them:

    MATCHREC_FULL=1 MATCHREC_EXAMPLES=1 pytest tests/spark/test_why_cases.py

`why` itself checks that its trace finds the matches of the search. These tests also check that each
condition is explained with its values.
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
from matchrec.spark import targets
from tests.cases.case_file import CaseFile, QueryRecord
from tests.cases.test_queries import FILES, register_tables, write_location
from tests.quick.scale import LONG_RUN, PART

STRUCT = "{"  # the first character of a struct, which cannot name a partition


def list_records() -> Iterator[Any]:
    """Yield the queries with their files."""
    cases = [(file, record) for file in FILES for record in file.queries]
    for file, record in cases if LONG_RUN is not None else cases[::PART]:
        if not record.head.note_of("gap"):
            yield pytest.param(file, record, id=write_location(file, record))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "record"), [*list_records()])
def test_traces_of_case_queries_agree_with_their_results(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    file: CaseFile,
    record: QueryRecord,
) -> None:
    mark_refused_on_sail(request, record)
    monkeypatch.setattr(targets, "MAX_SHOWN_PARTITIONS", 100)
    register_tables(spark, file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        sites = parse_query(spark, record.sql, None, {}, "spark").sites
        clauses = [number for number, site in enumerate(sites, 1) if site.calls is None]
        for clause in clauses:
            for answer in list_answers(spark, record.sql, clause):
                check_conditions(answer)


def mark_refused_on_sail(request: pytest.FixtureRequest, record: QueryRecord) -> None:
    """Expect an error on Sail if the record says that Sail differs."""
    reason = record.head.note_of("sail")
    if reason and request.config.getoption("--on") == "sail":
        errors = (matchrec.MatchRecognizeError, PySparkException)
        request.applymarker(pytest.mark.xfail(reason=reason, raises=errors, strict=False))


def list_answers(spark: SparkSession, query: str, clause: int) -> Iterator[matchrec.Why]:
    """Yield the answer of `why` for each partition of a clause."""
    try:
        yield matchrec.query(spark, query).why(clause=clause, limit=100)
    except matchrec.MatchRecognizePlanError as error:
        if error.code == "no-rows":
            return
        if "there are several" not in error.message:
            raise
        for note in (note for note in error.notes[1:] if STRUCT not in note):
            pairs = (part.split(" = ", 1) for part in note.strip().split(", "))
            values = {name: None if value == "NULL" else value for name, value in pairs}
            yield matchrec.query(spark, query).why(partition=values, clause=clause, limit=100)


def check_conditions(answer: matchrec.Why) -> None:
    """Check that each condition is explained."""
    assert answer.text
    assert answer.svg()
    for attempt in answer._story.attempts:
        for line in attempt.lines:
            assert all(": " in condition for condition in line.conditions), line
