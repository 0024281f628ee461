"""The workloads of the benchmark `spark` on few rows: contenders give the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from unittest import mock
from urllib.request import Request

import pytest
from pyspark.sql import SparkSession

import matchrec
from tests.benchmarks import capacity, crossing, trino
from tests.benchmarks.agreement import Reference
from tests.benchmarks.breakdown import cut_query_at_steps
from tests.benchmarks.compare import (
    OURS,
    build_identity,
    check_contenders,
    list_handwritten_queries,
)
from tests.benchmarks.drawn_tables import draw_tables
from tests.benchmarks.duckdb_queries import draw_numbers, list_duckdb_workloads
from tests.benchmarks.kinds import list_kinds
from tests.benchmarks.markdown import format_table, replace_section
from tests.benchmarks.measure import measure_queries, run_query, run_to_arrow
from tests.benchmarks.options import Options
from tests.benchmarks.other_engines import CLAUSE_IN_DUCKDB, DUCKDB
from tests.benchmarks.tables import TABLES
from tests.benchmarks.workloads import list_workloads

pytestmark = pytest.mark.slow  # they test benchmarks, not what users run

SCALE = 0.005
WORKLOADS = {workload.name: workload for workload in list_workloads()}


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
    assert check_contenders(spark, WORKLOADS[name]).digest.rows > 0


SEED, ROWS = 1, 60_000
KINDS = {kind.name: kind for kind in list_kinds(draw_tables(SEED, ROWS))}


@pytest.mark.bench
@pytest.mark.parametrize("name", KINDS)
def test_window_sql_gives_the_same_rows_of_each_kind(spark: SparkSession, name: str) -> None:
    kind = KINDS[name]
    table = draw_tables(SEED, ROWS).tables[kind.table]
    table.create_frame(spark).createOrReplaceTempView(kind.table)
    reference = Reference.read(matchrec.sql(spark, kind.query))
    assert reference.digest.rows > 0
    for contender, query in list_handwritten_queries(spark, kind).items():
        reference.check(contender, query())
    spark.catalog.dropTempView(kind.table)


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    def texts(seed: int) -> list[str]:
        return [kind.query for kind in list_kinds(draw_tables(seed, ROWS))]

    assert texts(1) == texts(1)
    assert len({tuple(texts(seed)) for seed in range(5)}) == 5


class AnsweredTrino(trino.Trino):
    """A server that keeps the statements and answers in two pages that there are four rows."""

    statements: ClassVar[list[str]] = []

    def request_page(self, request: Request) -> dict[str, Any]:
        """Return the page with the number of rows, or the link to it."""
        stats = {"cpuTimeMillis": 1500}
        if isinstance(request.data, bytes):
            self.statements.append(request.data.decode())
            return {"nextUri": "http://trino/next", "stats": stats}
        return {"data": [[4]], "stats": stats}


def test_a_table_goes_to_trino_in_statements_that_it_takes(spark: SparkSession) -> None:
    server, statements = AnsweredTrino("http://trino/"), AnsweredTrino.statements
    rows = spark.sql("SELECT 'it''s' AS k, timestamp_seconds(id) AS t, id / 2 AS x FROM range(5)")
    rows = rows.coalesce(1)  # in order
    with (
        mock.patch.object(trino, "MAX_STATEMENT", 150),
        mock.patch.object(trino, "READ_PARTITIONS", 1),
    ):
        server.load(rows, "ticks")
    made = "TABLE ticks (k varchar, t timestamp(6), x double)"
    assert (
        statements[0]
        == statements[3].replace("TABLE", "TABLE IF NOT EXISTS")
        == (f"CREATE {made.replace('TABLE', 'TABLE IF NOT EXISTS')}")
    )
    first, second, third = statements[4:]
    assert first == (
        "INSERT INTO ticks SELECT CAST(k AS varchar), CAST(t AS timestamp(6)), CAST(x AS double) "
        """FROM UNNEST(CAST(json_parse('[{"k":"it''s","t":"1970-01-01 00:00:00.000000","x":0.0},"""
        """{"k":"it''s","t":"1970-01-01 00:00:01.000000","x":0.5}]') """
        "AS ARRAY(ROW(k varchar, t varchar, x double))))"
    )
    assert (second.count('"k"'), third.count('"k"')) == (2, 1)
    times, count = server.measure("SELECT", ["k", "x"], 2)
    assert statements[-1] == "SELECT count(*), checksum(k), checksum(x) FROM (SELECT)"
    assert (times.median_cpu, count) == (1.5, 4)


@pytest.mark.usefixtures("tables")
def test_other_rows_are_noticed(spark: SparkSession) -> None:
    reference = Reference.read(spark.sql("SELECT id FROM range(5)"))
    reference.check("the same, in another order and type", spark.sql("SELECT 4 - id FROM range(5)"))
    other = spark.sql("SELECT greatest(id, 1) FROM range(5)")
    with pytest.raises(AssertionError, match=r"missing are \[Row\(id=0\)\]"):
        reference.check("one other row", other)


@pytest.mark.usefixtures("tables")
def test_identity_gives_every_row(spark: SparkSession) -> None:
    workload = WORKLOADS["funnel"]
    Reference.read(spark.table("visits")).check("identity", build_identity(spark, workload))


@pytest.mark.usefixtures("tables")
def test_the_v_shape_runs_up_to_each_step(spark: SparkSession) -> None:
    for query in cut_query_at_steps(spark).values():
        run_query(query)


def test_the_contenders_on_sail_run(spark: SparkSession) -> None:
    kind = KINDS["V-shape"]
    draw_tables(SEED, ROWS).tables[kind.table].create_frame(spark).createOrReplaceTempView(
        kind.table
    )
    times = measure_queries(crossing.list_contenders(spark, kind), rounds=1, run=run_to_arrow)
    assert list(times) == [crossing.CROSSING, OURS]
    spark.catalog.dropTempView(kind.table)


def test_window_sql_is_written_for_duckdb() -> None:
    kind = crossing.add_duckdb_queries(KINDS["LOW+ HIGH, ALL ROWS"])
    text = kind.elsewhere[DUCKDB.name].text
    assert text.count("IGNORE NULLS) OVER") == 2
    kind = crossing.add_duckdb_queries(KINDS["V-shape, ALL ROWS"])
    assert list(kind.elsewhere) == [CLAUSE_IN_DUCKDB.name]
    assert kind.elsewhere[CLAUSE_IN_DUCKDB.name].text == kind.query


def test_duckdb_is_asked_whether_it_has_the_clause() -> None:
    interpreters = {DUCKDB.name: "python", CLAUSE_IN_DUCKDB.name: "python"}
    options = Options(interpreters=interpreters)
    for answer, has_clause, sentence in (
        ({"version": "2.0.1", "refused": "Parser Error"}, False, "does not have MATCH_RECOGNIZE"),
        ({"version": "2.1.0"}, True, "has MATCH_RECOGNIZE"),
    ):
        with mock.patch.object(crossing, "ask_for_clause", lambda _, answer=answer: answer):
            assert crossing.has_clause(options) is has_clause
            *_, line = crossing.report_duckdb_clause(options)
        assert line.startswith(f"DuckDB {answer['version']} {sentence}")
    assert not crossing.has_clause(Options())


# scan: of 2,000 rows, each fifth begins a pair. partitions: the same, in 20 partitions. quantifier:
# of 500 rows, 29 run-outs of 17 and a rest of 7: A-runs 1 to 30, each pair is a match of 29 rows,
# and the last one of 12 + 5 + 7. navigation: counted by `count_rises`.
@pytest.mark.parametrize(
    ("name", "count"), [("scan", 400), ("partitions", 400), ("quantifier", 14 * 29 + 24)]
)
def test_queries_of_duckdb_count_what_window_sql_counts(
    spark: SparkSession, name: str, count: int
) -> None:
    workload = {one.name: one for one in list_duckdb_workloads()}[name]
    drawn = draw_numbers(2_000)
    drawn.tables[workload.table].create_frame(spark).createOrReplaceTempView(workload.table)
    reference = Reference.read(matchrec.sql(spark, workload.query))
    assert reference.frame.first() == (count,)
    for contender, query in list_handwritten_queries(spark, workload).items():
        reference.check(contender, query())
    spark.catalog.dropTempView(workload.table)


def test_the_query_of_duckdb_that_reads_the_match_counts_rises(spark: SparkSession) -> None:
    workload = {one.name: one for one in list_duckdb_workloads()}["navigation"]
    frame = draw_numbers(2_000).tables[workload.table].create_frame(spark)
    frame.createOrReplaceTempView(workload.table)
    values = [number * 2654435761 % 1000 for number in range(200)]
    assert matchrec.sql(spark, workload.query).first() == (count_rises(values),)
    spark.catalog.dropTempView(workload.table)


def count_rises(values: list[int]) -> int:
    """Return how often a value has greater ones after it, each of which is used once."""
    count = index = 0
    while index < len(values):
        end = index + 1
        while end < len(values) and values[end] > values[index]:
            end += 1
        count += end > index + 1
        index = end
    return count


def test_a_table_reads_well_and_is_put_between_its_marks() -> None:
    lines = list(format_table(["way", "s"], [["window SQL", "1.25"], ["matchrec", "0.75"]]))
    assert lines == [
        "| way        |    s |",
        "|------------|-----:|",
        "| window SQL | 1.25 |",
        "| matchrec   | 0.75 |",
    ]
    text = "above\n<!-- a -->\nold\n<!-- end a -->\nbelow\n"
    assert replace_section(text, "a", ["new"]) == text.replace("old", "new")
    with pytest.raises(AssertionError, match="no section b"):
        replace_section(text, "b", ["new"])


def test_capacity_is_measured_for_all_of_its_kinds() -> None:
    workloads = capacity.choose_workloads(draw_tables(0, 1000), "")
    assert [workload.name for workload in workloads] == list(capacity.KINDS)
