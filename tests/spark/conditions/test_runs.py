"""Conditions over several rows of a run hold on the same rows as in Spark's window functions.

A long run: MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/spark/conditions/test_runs.py
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.errors import MatchRecognizeError
from matchrec.output.measure_sql import ReadInSql
from tests.generators.run_conditions import Conditions, Twins
from tests.generators.run_forms import COLUMNS, TAME, WINDOWS
from tests.properties.test_queries import ALGORITHMS, INTERPRETED, settings
from tests.quick.scale import SEED, examples
from tests.spark.conditions.rows import create_rows
from tests.tasks.query_batches import Prepared, QueryBatch, Run

CONDITIONS = examples(64)
ANSI_CONDITIONS = examples(8)  # Spark computes each of them twice
BATCH = 80
CLAUSE = """SELECT * FROM runs MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY t MEASURES LAST(t) AS last AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A{{2}} C) DEFINE C AS {})"""
# The error for a result that needs more than 64 bits, even if its decimal type can hold it.
TOO_LARGE = "too large for its type"


def find_rows_in_spark(spark: SparkSession, conditions: list[Twins]) -> list[set[int]]:
    """Return for each condition the last rows of the matches, as Spark finds them."""
    items = ", ".join(
        f"({condition.sparks}) AS c{index}" for index, condition in enumerate(conditions)
    )
    rows = spark.sql(f"SELECT t, row_number() OVER o AS n, {items} FROM runs {WINDOWS}").collect()
    return [
        {row.t for row in rows if row.n > 2 and row[f"c{index}"]}
        for index in range(len(conditions))
    ]


def find_rows_in_matchrec(compiled_query: CompiledQuery, prepared: Prepared) -> set[int] | str:
    """Return the last rows of the matches, as matchrec finds them, or the text of its error."""
    try:
        batches = Run(compiled_query, prepared, None, 1 << 20).batches()
    except MatchRecognizeError as error:
        return str(error)
    (column,) = (
        piece.index for piece in compiled_query.outputs[1].pieces if isinstance(piece, ReadInSql)
    )
    return {time for batch in batches for time in batch.column(column).to_pylist()}


def find_differences(spark: SparkSession, conditions: list[Twins], *, ansi: bool) -> Iterator[str]:
    """Yield each condition for which an algorithm and Spark find different rows."""
    texts = [CLAUSE.format(condition.ours) for condition in conditions]
    queries = QueryBatch(spark, "runs", texts, names=("k", "t", *COLUMNS))
    linked = {
        algorithm: queries.link(algorithm, ansi=ansi)
        for algorithm in ALGORITHMS
        if queries.split_queries
    }
    accepted = [
        condition
        for condition, text in zip(conditions, texts, strict=True)
        if text not in queries.refused
    ]
    assert len(accepted) > 0.7 * len(conditions) or ansi, list(queries.refused.items())
    if not accepted:
        return
    prepared = queries.prepared(linked[ALGORITHMS[0]].values())
    for condition, expected in zip(accepted, find_rows_in_spark(spark, accepted), strict=True):
        for algorithm in ALGORITHMS:
            compiled_query = linked[algorithm][CLAUSE.format(condition.ours)]
            rows = find_rows_in_matchrec(compiled_query, prepared)
            if rows != expected and not (isinstance(rows, str) and TOO_LARGE in rows):
                yield f"{algorithm}: {condition.ours}\n{condition.sparks}\n{expected}\n{rows}"


@pytest.mark.parametrize("batch", range(-(-CONDITIONS // BATCH)))
def test_conditions_hold_on_the_same_rows_as_in_spark(spark: SparkSession, batch: int) -> None:
    random = Random(SEED + batch)
    source = Conditions(random)
    conditions = [source.draw_condition() for _ in range(min(CONDITIONS, BATCH))]
    with settings(spark, ansi__enabled="false", **INTERPRETED):
        create_rows(spark, random, "runs", COLUMNS)
        differences = list(find_differences(spark, conditions, ansi=False))
    assert not differences, "\n\n".join(differences)


@pytest.mark.parametrize("batch", range(-(-ANSI_CONDITIONS // BATCH)))
def test_conditions_that_do_not_fail_in_ansi_mode(spark: SparkSession, batch: int) -> None:
    """Compare one condition at a time, and only if Spark can compute it for all rows.

    Spark evaluates a condition on every row. If that fails, matchrec may fail as well.
    """
    random = Random(SEED + batch)
    source = Conditions(random)
    differences: list[str] = []
    with settings(spark, ansi__enabled="true", **INTERPRETED):
        create_rows(spark, random, "runs", TAME)
        for _ in range(min(ANSI_CONDITIONS, BATCH)):
            condition = source.draw_condition(1)
            with suppress(PySparkException):
                find_rows_in_spark(spark, [condition])
                differences += find_differences(spark, [condition], ansi=True)
    assert not differences, "\n\n".join(differences)
