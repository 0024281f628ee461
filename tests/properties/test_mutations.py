"""Texts with a few changed words get a plan or one of our errors, within seconds.

With a session, the query around the clause may also get an error of Spark's parser or analysis. A
long run:

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
from matchrec.conditions.typing.run_columns import TRUE_COLUMN
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.spark.session_errors import QUERY_ERRORS
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.lower_windows import lower_window
from matchrec.syntax.query_pieces import write_outer_query
from matchrec.syntax.tokens import QuoteDialect
from tests.cases.test_queries import register_tables
from tests.generators import mutations
from tests.generators.mutations import Call
from tests.quick.scale import SEED, examples
from tests.tasks.linking import link, split_plan

EXAMPLES = examples(250)
SPARK_EXAMPLES = EXAMPLES // 8
TIME_LIMIT = 10  # seconds for one text
COLUMNS = InputColumns(("id", "ts", "price", "sym", "x", "v", "t", "is_a", "event_type"), "t")
DIALECTS = tuple(QuoteDialect)


@contextmanager
def limit_time() -> Iterator[None]:
    """Raise an error if the block takes longer than `TIME_LIMIT`."""

    def interrupt(*_: object) -> None:
        """Raise an error in the block."""
        raise TimeoutError(f"over {TIME_LIMIT} s")

    earlier_handler = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(TIME_LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier_handler)


def find_refusal(
    action: Callable[[], object], example: object
) -> matchrec.MatchRecognizeError | None:
    """Run an action, and return our error if it raises one.

    An error of Spark about the query is allowed, too. Any other error fails the test, which then
    shows the example.
    """
    try:
        with warnings.catch_warnings(), limit_time():
            warnings.simplefilter("ignore", UserWarning)
            action()
    except matchrec.MatchRecognizeError as error:
        return error
    except QUERY_ERRORS:
        return None
    except Exception as error:
        raise AssertionError(example) from error
    return None


def link_plan(plan: MatchPlan) -> None:
    """Compile a plan without Spark. All columns are bigint."""
    split = split_plan(plan, COLUMNS, lambda _: "key")
    types = dict.fromkeys(split.columns, BIGINT)
    link(split, types | {TRUE_COLUMN: BOOLEAN}, "auto", ansi=True)


def compile_query(text: str, dialect: QuoteDialect) -> None:
    """Compile every clause and window of a query."""
    query = parse_sql(text, ["f"], dialect)
    write_outer_query(query)
    for site in query.sites:
        calls, clause = site.calls, site.clause
        link_plan(lower_clause(clause) if calls is None else lower_window(clause, calls))


def compile_sase_query(text: str) -> None:
    """Compile a SASE+ query."""
    link_plan(compile_sase(text, StreamOptions(("ts",))))


@pytest.mark.parametrize("seed", range(4))
def test_a_query_compiles_or_its_error_points_into_the_text(seed: int) -> None:
    dialect = DIALECTS[seed % 2]
    for _, text in mutations.mutate_queries(EXAMPLES, SEED + seed):
        error = find_refusal(partial(compile_query, text, dialect), text)
        if error is not None:
            assert str(error).splitlines()[0].strip(), text
            assert all(0 <= span.start <= span.end <= len(text) + 1 for span in error.spans), text


@pytest.mark.parametrize("seed", range(2))
def test_a_sase_query_compiles_or_is_refused(seed: int) -> None:
    for text in mutations.mutate_sase_queries(EXAMPLES, SEED + seed):
        error = find_refusal(partial(compile_sase_query, text), text)
        assert error is None or str(error).splitlines()[0].strip(), text


def compile_pattern(calls: list[Call]) -> None:
    """Compile the pattern that the calls build."""
    query = PatternQuery(mutations.build_pattern(calls), ("t",), (), ("x",))
    link_plan(lower_pattern(query)[0])


@pytest.mark.parametrize("seed", range(2))
def test_a_pattern_compiles_or_is_refused(seed: int) -> None:
    for calls in mutations.mutate_patterns(EXAMPLES, SEED + seed):
        error = find_refusal(partial(compile_pattern, calls), calls)
        assert error is None or str(error).splitlines()[0].strip(), calls


def test_spark_analyses_a_query_or_it_is_refused(spark: SparkSession) -> None:
    frame = spark.range(3)
    for file, text in mutations.mutate_queries(SPARK_EXAMPLES, SEED + 100):
        register_tables(spark, file)
        # Spark formats any text that has frames.
        frames = {"f": frame} if "{f}" in text else {}
        find_refusal(partial(matchrec.sql, spark, text, {"p": 1}, **frames), text)


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    """Return an empty DataFrame with the columns that the SASE+ queries and patterns read."""
    types = "id int, t int, ts int, price int, symbol string, x int, event_type string"
    tests = ", ".join(f"is_{letter} boolean" for letter in "abcdef")
    return spark.createDataFrame([], f"{types}, {tests}")


def test_spark_analyses_a_sase_query_or_it_is_refused(events: DataFrame) -> None:
    for text in mutations.mutate_sase_queries(SPARK_EXAMPLES // 4, SEED + 100):
        find_refusal(partial(matchrec.match_sase, events, text, order_by="ts"), text)


def test_spark_analyses_a_pattern_or_it_is_refused(events: DataFrame) -> None:
    def match_calls(calls: list[Call]) -> Any:
        """Return the matches of the pattern that the calls build."""
        return matchrec.match_pattern(events, mutations.build_pattern(calls), order_by="t")

    for calls in mutations.mutate_patterns(SPARK_EXAMPLES // 4, SEED + 100):
        find_refusal(partial(match_calls, calls), calls)
