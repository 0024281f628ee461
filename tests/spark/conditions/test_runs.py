"""Conditions over several rows of a run hold where Spark's window functions say that they do.

A long run: MATCHREC_EXAMPLES=2000 MATCHREC_SEED=1000 pytest tests/spark/conditions/test_runs.py
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

from matchrec.compile.executable import Executable
from matchrec.errors import MatchRecognizeError
from tests.generators.run_conditions import COLUMNS, WINDOWS, Both, Conditions
from tests.properties.test_queries import ENGINES, INTERPRETED, settings
from tests.quick.scale import SEED, examples
from tests.tasks.query_batches import Prepared, QueryBatch, Run

CONDITIONS = examples(160)
BATCH = 80
CLAUSE = """SELECT * FROM runs MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY t MEASURES LAST(t) AS last AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A{{2}} C) DEFINE C AS {})"""
BEYOND = "too large for its type"  # what leaves 64 bits is an error, also of decimals that fit


def create_rows(spark: SparkSession, random: Random, count: int) -> None:
    """A view of random rows, in partitions of a few."""
    rows = [
        (
            str(random.randrange(count // 8)),
            str(t),
            *(random.choice([None, *map(str, values)]) for _, values in COLUMNS.values()),
        )
        for t in range(count)
    ]
    texts = spark.createDataFrame(rows, ", ".join(f"{n} STRING" for n in ("k", "t", *COLUMNS)))
    casts = [f"CAST({name} AS {type_}) AS {name}" for name, (type_, _) in COLUMNS.items()]
    texts.selectExpr("k", "CAST(t AS INT) AS t", *casts).createOrReplaceTempView("runs")


def rows_of_spark(spark: SparkSession, conditions: list[Both]) -> list[set[int]]:
    """By condition, the last rows of the matches, as Spark says."""
    items = ", ".join(f"({one.sparks}) AS c{n}" for n, one in enumerate(conditions))
    rows = spark.sql(f"SELECT t, row_number() OVER o AS n, {items} FROM runs {WINDOWS}").collect()
    return [{row.t for row in rows if row.n > 2 and row[f"c{n}"]} for n in range(len(conditions))]


def rows_of_matchrec(executable: Executable, prepared: Prepared) -> set[int] | str:
    """The same as an engine says, or its error."""
    try:
        batches = Run(executable, prepared, None, 1 << 20).batches()
    except MatchRecognizeError as error:
        return str(error)
    (place,) = (one for one in executable.outputs[1].pieces if isinstance(one, int))
    return {t for batch in batches for t in batch.column(place).to_pylist()}


def differences(spark: SparkSession, conditions: list[Both]) -> Iterator[str]:
    """What matchrec finds otherwise than Spark, by each engine."""
    queries = QueryBatch(
        spark, "runs", [CLAUSE.format(one.ours) for one in conditions], names=("k", "t", *COLUMNS)
    )
    linked = {engine: queries.link(engine, ansi=False) for engine in ENGINES}
    prepared = queries.prepared(linked[ENGINES[0]].values())
    taken = [one for one in conditions if CLAUSE.format(one.ours) not in queries.refused]
    assert len(taken) > 0.7 * len(conditions), list(queries.refused.items())
    for one, expected in zip(taken, rows_of_spark(spark, taken), strict=True):
        for engine in ENGINES:
            found = rows_of_matchrec(linked[engine][CLAUSE.format(one.ours)], prepared)
            if found != expected and not (isinstance(found, str) and BEYOND in found):
                yield f"{engine}: {one.ours}\n{one.sparks}\n{expected}\n{found}"


@pytest.mark.parametrize("batch", range(-(-CONDITIONS // BATCH)))
def test_conditions_hold_where_spark_says_so(spark: SparkSession, batch: int) -> None:
    random = Random(SEED + batch)
    drawn = Conditions(random)
    conditions = [drawn.condition() for _ in range(min(CONDITIONS, BATCH))]
    with settings(spark, ansi__enabled="false", **INTERPRETED):
        create_rows(spark, random, 120)
        found = list(differences(spark, conditions))
    assert not found, "\n\n".join(found)
