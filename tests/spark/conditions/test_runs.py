"""Conditions over several rows of a run hold where Spark's window functions say that they do.

A long run: MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/spark/conditions/test_runs.py
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.compile.executable import Executable
from matchrec.errors import MatchRecognizeError
from tests.generators.run_conditions import Both, Conditions
from tests.generators.run_forms import COLUMNS, TAME, WINDOWS
from tests.properties.test_queries import ALGORITHMS, INTERPRETED, settings
from tests.quick.scale import SEED, examples
from tests.spark.conditions.rows import create_rows
from tests.tasks.query_batches import Prepared, QueryBatch, Run

CONDITIONS = examples(64)
UNDER_ANSI = examples(8)  # each asks Spark twice
BATCH = 80
CLAUSE = """SELECT * FROM runs MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY t MEASURES LAST(t) AS last AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A{{2}} C) DEFINE C AS {})"""
BEYOND = "too large for its type"  # what leaves 64 bits is an error, also of decimals that fit


def rows_of_spark(spark: SparkSession, conditions: list[Both]) -> list[set[int]]:
    """By condition, the last rows of the matches, as Spark says."""
    items = ", ".join(f"({one.sparks}) AS c{n}" for n, one in enumerate(conditions))
    rows = spark.sql(f"SELECT t, row_number() OVER o AS n, {items} FROM runs {WINDOWS}").collect()
    return [{row.t for row in rows if row.n > 2 and row[f"c{n}"]} for n in range(len(conditions))]


def rows_of_matchrec(executable: Executable, prepared: Prepared) -> set[int] | str:
    """The last rows of the matches, as an engine says, or its error."""
    try:
        batches = Run(executable, prepared, None, 1 << 20).batches()
    except MatchRecognizeError as error:
        return str(error)
    (place,) = (one for one in executable.outputs[1].pieces if isinstance(one, int))
    return {t for batch in batches for t in batch.column(place).to_pylist()}


def differences(spark: SparkSession, conditions: list[Both], *, ansi: bool) -> Iterator[str]:
    """What matchrec finds otherwise than Spark, by each engine."""
    queries = QueryBatch(
        spark, "runs", [CLAUSE.format(one.ours) for one in conditions], names=("k", "t", *COLUMNS)
    )
    linked = {
        algorithm: queries.link(algorithm, ansi=ansi) for algorithm in ALGORITHMS if queries.drafts
    }
    taken = [one for one in conditions if CLAUSE.format(one.ours) not in queries.refused]
    assert len(taken) > 0.7 * len(conditions) or ansi, list(queries.refused.items())
    if not taken:
        return
    prepared = queries.prepared(linked[ALGORITHMS[0]].values())
    for one, expected in zip(taken, rows_of_spark(spark, taken), strict=True):
        for algorithm in ALGORITHMS:
            found = rows_of_matchrec(linked[algorithm][CLAUSE.format(one.ours)], prepared)
            if found != expected and not (isinstance(found, str) and BEYOND in found):
                yield f"{algorithm}: {one.ours}\n{one.sparks}\n{expected}\n{found}"


@pytest.mark.parametrize("batch", range(-(-CONDITIONS // BATCH)))
def test_conditions_hold_where_spark_says_so(spark: SparkSession, batch: int) -> None:
    random = Random(SEED + batch)
    drawn = Conditions(random)
    conditions = [drawn.condition() for _ in range(min(CONDITIONS, BATCH))]
    with settings(spark, ansi__enabled="false", **INTERPRETED):
        create_rows(spark, random, "runs", COLUMNS)
        found = list(differences(spark, conditions, ansi=False))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("batch", range(-(-UNDER_ANSI // BATCH)))
def test_under_ansi_what_does_not_fail_holds_too(spark: SparkSession, batch: int) -> None:
    """Each condition by itself, as Spark asks it of all rows; where that fails, ours may."""
    random = Random(SEED + batch)
    drawn = Conditions(random)
    found = []
    with settings(spark, ansi__enabled="true", **INTERPRETED):
        create_rows(spark, random, "runs", TAME)
        for _ in range(min(UNDER_ANSI, BATCH)):
            condition = drawn.condition(1)
            with suppress(PySparkException):
                rows_of_spark(spark, [condition])
                found += differences(spark, [condition], ansi=True)
    assert not found, "\n\n".join(found)
