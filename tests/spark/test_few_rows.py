"""On Sail, a query over few rows has one task, if the plan of its input limits their number."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import ref

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.shortcuts import ALL, current_shortcuts, use_shortcuts
from matchrec.spark.backends import find_backend
from matchrec.spark.sail.sizes import estimate_input_rows

FEW = current_shortcuts().max_rows_of_single_task
CLAUSE = """PARTITION BY k ORDER BY n MEASURES count(*) AS size PATTERN (A+)
    DEFINE A AS n >= FIRST(A.n)"""


@pytest.fixture(autouse=True)
def _only_on_sail(request: pytest.FixtureRequest) -> None:
    """Skip the test unless it runs on Sail."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark chooses the number of tasks")


def make_table(rows: int) -> pa.Table:
    """Return a table of rows with three keys."""
    return pa.table({"k": [n % 3 for n in range(rows)], "n": list(range(rows))})


def count_tasks(rows: DataFrame) -> int | None:
    """Return how many tasks a query over these rows has."""
    backend = find_backend(rows.sparkSession)
    backend.find_fields(rows, None)  # as in the planning of a query
    return backend.count_tasks(rows)


# Functions that change the rows, and whether the number of rows is still known to be small.
CHANGES: dict[str, tuple[Callable[[DataFrame], DataFrame], bool]] = {
    "as they are": (lambda rows: rows, True),
    "columns": (lambda rows: rows.selectExpr("k", "n + 1 AS n"), True),
    "filtered": (lambda rows: rows.where("n > 5"), True),
    "twice": (lambda rows: rows.unionAll(rows), False),
    "joined": (lambda rows: rows.crossJoin(rows.select("n").toDF("m")), False),
    "exploded": (lambda rows: rows.selectExpr("k", "explode(sequence(1, 9)) AS n"), False),
    "other rows": (lambda rows: rows.sparkSession.range(5).selectExpr("id AS k", "id AS n"), False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_few_rows_in_memory_are_one_task(spark: SparkSession, change: str) -> None:
    change_rows, are_few = CHANGES[change]
    rows = change_rows(spark.createDataFrame(make_table(FEW)))
    assert count_tasks(rows) == (1 if are_few else 3)  # for two cores


@pytest.mark.parametrize("change", ["as they are", "filtered", "joined"])
def test_few_rows_in_files_are_one_task(spark: SparkSession, tmp_path: Path, change: str) -> None:
    parquet.write_table(make_table(FEW - 100), tmp_path / "rows.parquet")
    change_rows, are_few = CHANGES[change]
    assert count_tasks(change_rows(spark.read.parquet(str(tmp_path)))) == (1 if are_few else 3)


def test_a_union_of_few_and_many_rows_has_several_tasks(
    spark: SparkSession, tmp_path: Path
) -> None:
    parquet.write_table(make_table(10), tmp_path / "rows.parquet")
    rows = spark.read.parquet(str(tmp_path)).union(spark.createDataFrame(make_table(2 * FEW)))
    assert count_tasks(rows) == 3


def test_more_rows_or_files_run_in_several_tasks(spark: SparkSession, tmp_path: Path) -> None:
    assert count_tasks(spark.createDataFrame(make_table(FEW + 1))) == 3
    parquet.write_table(make_table(2 * FEW), tmp_path / "rows.parquet")
    assert count_tasks(spark.read.parquet(str(tmp_path))) == 3
    with use_shortcuts(replace(ALL, max_rows_of_single_task=0)):
        assert count_tasks(spark.createDataFrame(make_table(1))) == 3


def test_a_dataframe_that_was_not_planned_has_all_tasks(spark: SparkSession) -> None:
    assert find_backend(spark).count_tasks(spark.createDataFrame(make_table(1))) == 3


def test_a_frame_is_not_kept(spark: SparkSession) -> None:
    """PySpark's `inputFiles` would keep the DataFrame in memory."""
    rows: Any = spark.range(3)
    plan = ref(rows._plan)
    assert estimate_input_rows(rows) is None
    del rows
    gc.collect()
    assert plan() is None


def test_a_view_that_grows(spark: SparkSession) -> None:
    """A DataFrame that was planned for few rows reads many rows in one task."""
    spark.createDataFrame(make_table(30)).createOrReplaceTempView("growing")
    query = f"SELECT * FROM growing MATCH_RECOGNIZE ({CLAUSE})"
    planned_before = matchrec.sql(spark, query)
    assert sorted(map(tuple, planned_before.collect())) == [(0, 10), (1, 10), (2, 10)]
    spark.createDataFrame(make_table(90_000)).createOrReplaceTempView("growing")
    for result in (planned_before, matchrec.sql(spark, query)):
        assert sorted(map(tuple, result.collect())) == [(k, 30_000) for k in range(3)]
    spark.catalog.dropTempView("growing")
