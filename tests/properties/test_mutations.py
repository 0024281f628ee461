"""Texts with a few words changed end in a plan or in an error of ours, and soon.

Against Spark they may also end in an error of Spark's parser or analysis, of the query around the
clause. A long run:

    MATCHREC_EXAMPLES=20000 MATCHREC_SEED=1000 pytest tests/properties/test_mutations.py
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.conditions.types import BIGINT, BOOLEAN
from matchrec.conditions.typing.typer import TRUE_COLUMN
from matchrec.patterns.sase import Streams, compile_sase
from matchrec.patterns.stages.lower import PatternQuery, lower_pattern
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.spark.session import QUERY_ERRORS
from matchrec.syntax.locate import parse_sql, write_outer_query
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.lower_windows import lower_window
from matchrec.syntax.tokens import Dialect
from tests.cases.case_file import CaseFile
from tests.cases.test_queries import register_tables
from tests.generators import mutations
from tests.generators.mutations import Call
from tests.quick.scale import SEED, examples
from tests.tasks.linking import draft_query, link

EXAMPLES = examples(250)
WITH_SPARK = EXAMPLES // 8
LONGEST = 10  # seconds for one text
COLUMNS = InputColumns(("id", "ts", "price", "sym", "x", "v", "t", "is_a", "event_type"), "t")
DIALECTS = tuple(Dialect)


@contextmanager
def soon() -> Iterator[None]:
    """Ends with an error what takes too long."""

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"over {LONGEST} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refusal(action: Callable[[], object], given: object) -> matchrec.MatchRecognizeError | None:
    """The error of ours that an action ends in; any other but Spark's is a failure."""
    try:
        with warnings.catch_warnings(), soon():
            warnings.simplefilter("ignore", UserWarning)
            action()
    except matchrec.MatchRecognizeError as error:
        return error
    except QUERY_ERRORS:
        return None
    except Exception as error:
        raise AssertionError(given) from error
    return None


def linked(plan: MatchPlan) -> None:
    """Takes a plan as far as it goes without Spark; all columns are bigint."""
    drafted = draft_query(plan, COLUMNS, lambda _: "key")
    types = dict.fromkeys(drafted.columns(), BIGINT)
    link(drafted, types | {TRUE_COLUMN: BOOLEAN}, "auto", ansi=True)


def read_query(text: str, dialect: Dialect) -> None:
    query = parse_sql(text, ["f"], dialect)
    write_outer_query(query)
    for site in query.sites:
        calls, clause = site.calls, site.clause
        linked(lower_clause(clause) if calls is None else lower_window(clause, calls))


@pytest.mark.parametrize("seed", range(4))
def test_a_query_is_read_or_refused_at_its_place(seed: int) -> None:
    dialect = DIALECTS[seed % 2]
    for _, text in mutations.queries(EXAMPLES, SEED + seed):
        error = refusal(partial(read_query, text, dialect), text)
        if error is not None:
            assert str(error).splitlines()[0].strip(), text
            assert all(0 <= one.start <= one.end <= len(text) + 1 for one in error.spans), text


@pytest.mark.parametrize("seed", range(2))
def test_a_sase_query_is_read_or_refused(seed: int) -> None:
    for text in mutations.sase_queries(EXAMPLES, SEED + seed):
        error = refusal(lambda text=text: linked(compile_sase(text, Streams(("ts",)))), text)  # type: ignore[misc]
        assert error is None or str(error).splitlines()[0].strip(), text


def read_pattern(calls: list[Call]) -> None:
    linked(lower_pattern(PatternQuery(mutations.built(calls), ("t",), (), ("x",)))[0])


@pytest.mark.parametrize("seed", range(2))
def test_a_pattern_is_built_or_refused(seed: int) -> None:
    for calls in mutations.patterns(EXAMPLES, SEED + seed):
        error = refusal(partial(read_pattern, calls), calls)
        assert error is None or str(error).splitlines()[0].strip(), calls


def test_spark_analyses_a_query_or_it_is_refused(spark: SparkSession) -> None:
    frame = spark.range(3)
    for file, text in mutations.queries(WITH_SPARK, SEED + 100):
        analysed_query(spark, frame, file, text)


def analysed_query(spark: SparkSession, frame: DataFrame, file: CaseFile, text: str) -> None:
    register_tables(spark, file)
    frames = {"f": frame} if "{f}" in text else {}  # Spark formats any text that has frames
    refusal(partial(matchrec.sql, spark, text, {"p": 1}, **frames), text)


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    types = "id int, t int, ts int, price int, symbol string, x int, event_type string"
    tests = ", ".join(f"is_{letter} boolean" for letter in "abcdef")
    return spark.createDataFrame([], f"{types}, {tests}")


def test_spark_analyses_a_sase_query_or_it_is_refused(events: DataFrame) -> None:
    for text in mutations.sase_queries(WITH_SPARK // 4, SEED + 100):
        refusal(partial(matchrec.match_sase, events, text, order_by="ts"), text)


def test_spark_analyses_a_pattern_or_it_is_refused(events: DataFrame) -> None:
    def detected(calls: list[Call]) -> Any:
        return matchrec.match_pattern(events, mutations.built(calls), order_by="t")

    for calls in mutations.patterns(WITH_SPARK // 4, SEED + 100):
        refusal(partial(detected, calls), calls)
