"""The workloads of the benchmark `spark` on few rows: contenders give the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.benchmarks.agreement import Reference
from tests.benchmarks.breakdown import steps
from tests.benchmarks.compare import checked, identity
from tests.benchmarks.markdown import table, with_section
from tests.benchmarks.measure import run
from tests.benchmarks.ratio_chart import COLOURS
from tests.benchmarks.tables import TABLES
from tests.benchmarks.workloads import workloads

pytestmark = pytest.mark.slow  # of benchmarks, not of what users run

SCALE = 0.005
WORKLOADS = {workload.name: workload for workload in workloads()}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[None]:
    for name, one in TABLES.items():
        one.frame(spark, SCALE).createOrReplaceTempView(name)
    yield
    for name in TABLES:
        spark.catalog.dropTempView(name)


@pytest.mark.usefixtures("tables")
@pytest.mark.bench
@pytest.mark.parametrize("name", WORKLOADS)
def test_contenders_give_the_same_rows(spark: SparkSession, name: str) -> None:
    assert checked(spark, WORKLOADS[name]).digest.rows > 0


@pytest.mark.usefixtures("tables")
def test_other_rows_are_noticed(spark: SparkSession) -> None:
    reference = Reference.of(spark.sql("SELECT id FROM range(5)"))
    reference.check("the same, in another order and type", spark.sql("SELECT 4 - id FROM range(5)"))
    other = spark.sql("SELECT greatest(id, 1) FROM range(5)")
    with pytest.raises(AssertionError, match=r"missing are \[Row\(id=0\)\]"):
        reference.check("one other row", other)


@pytest.mark.usefixtures("tables")
def test_identity_gives_every_row(spark: SparkSession) -> None:
    workload = WORKLOADS["funnel"]
    Reference.of(spark.table("visits")).check("identity", identity(spark, workload))


@pytest.mark.usefixtures("tables")
def test_the_v_shape_runs_up_to_each_step(spark: SparkSession) -> None:
    for query in steps(spark).values():
        run(query)


def test_a_table_reads_well_and_is_put_between_its_marks() -> None:
    lines = list(table(["way", "s"], [["window SQL", "1.25"], ["matchrec", "0.75"]]))
    assert lines == [
        "| way        |    s |",
        "|------------|-----:|",
        "| window SQL | 1.25 |",
        "| matchrec   | 0.75 |",
    ]
    text = "above\n<!-- a -->\nold\n<!-- end a -->\nbelow\n"
    assert with_section(text, "a", ["new"]) == text.replace("old", "new")
    with pytest.raises(AssertionError, match="no section b"):
        with_section(text, "b", ["new"])


def test_every_contender_has_a_colour() -> None:
    others = {name for workload in WORKLOADS.values() for name in workload.elsewhere}
    assert others <= set(COLOURS)
