"""The command `warm`: compile the search before the first query, for an image of a container.

It runs small queries of every kind, which compile everything that such queries need.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

import matchrec
from matchrec.cli.arguments import handle_failures
from matchrec.cli.session import open_local_session
from matchrec.shortcuts import Shortcuts, use_shortcuts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.arguments import Algorithm

ROWS = """
    SELECT CAST(i % 2 AS STRING) AS k, i AS t, timestamp_seconds(i) AS ts, CAST(i AS DOUBLE) AS d,
        CAST(i % 5 AS DOUBLE) AS x, i % 5 AS n, CAST(i % 5 AS DECIMAL(20, 2)) AS m
    FROM (SELECT id AS i FROM range(40))
"""
CLAUSE = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY {order} MEASURES {measures} {rows}
        PATTERN (A B+ C?) {selected} {within}
        DEFINE B AS x > 1 {on_run}, C AS x > 2)
"""
PARTS = {"order": "t", "rows": "", "selected": "", "within": "", "on_run": ""}
EXACT = "sum(n) AS sum_n, sum(m) AS sum_m, max(x) AS max_x, min(n) AS min_n, LAST(B.n) AS last_n"
PARTS["measures"] = f"sum(x) AS sum_x, {EXACT}"
ON_RUN = "AND x - FIRST(x) >= 0"
NEXT_ROW = "ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW"
SKIPPING = "SKIP TILL NEXT MATCH"
ALL = f"{SKIPPING} ALL MATCHES"
BACKTRACKING: Algorithm = "backtracking"
BREADTH_FIRST: Algorithm = "breadth_first"
SEARCH_KINDS: tuple[tuple[Algorithm, dict[str, str]], ...] = (
    (BACKTRACKING, {}),
    (BACKTRACKING, {"on_run": ON_RUN}),
    (BACKTRACKING, {"on_run": ON_RUN, "selected": SKIPPING}),
    (BACKTRACKING, {"rows": NEXT_ROW, "measures": EXACT}),
    (BACKTRACKING, {"order": "ts", "within": "WITHIN INTERVAL 5 SECONDS"}),
    (BACKTRACKING, {"order": "d", "within": "WITHIN 5"}),
    (BACKTRACKING, {"selected": ALL}),
    (BACKTRACKING, {"selected": "LONGEST MATCH"}),
    (BACKTRACKING, {"rows": "ONE ROW PER MATCH SHOW UNFINISHED MATCHES"}),
    (BREADTH_FIRST, {}),
    (BREADTH_FIRST, {"on_run": ON_RUN}),
    (BREADTH_FIRST, {"on_run": ON_RUN, "selected": SKIPPING}),
    (BREADTH_FIRST, {"on_run": ON_RUN, "selected": ALL}),
    (BREADTH_FIRST, {"selected": ALL}),
    (BREADTH_FIRST, {"selected": SKIPPING}),
)
GRAPH = "PATTERN SEQ(* a, * b) WHERE skip_till_any_match(a, b) { a.x < b.x } WITHIN 5 EVENTS"
MANY_ROWS = """
    SELECT * FROM warm_many_rows MATCH_RECOGNIZE (
        ORDER BY id MEASURES MATCH_NUMBER() AS number
        PATTERN (A+ B)
        DEFINE A AS id >= 0, B AS id < 0)
"""
LARGE_BOUNDS = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A{2,12} B)
        DEFINE A AS x >= 0, B AS x > 1)
"""
TIES = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A B | A A) ALL MATCHES
        DEFINE A AS x > 1, B AS x > 1)
"""
NEGATION = """
    PATTERN SEQ(* a, ~(* b), * c)
    WHERE skip_till_next_match(a, b, c) { a.x > 1 AND b.x > a.x } WITHIN 5 EVENTS
"""


@click.command()
@handle_failures
def warm() -> None:
    """Compile all search code ahead of the first query.

    A container image needs no compiler afterwards. The command prints the folders that hold the
    compiled code.

    \b
    Example:
      matchrec warm
    """
    began = time.monotonic()
    # Otherwise small queries are searched without compiled code.
    always_compile = Shortcuts(max_python_steps=0)
    with open_local_session() as spark, matchrec.progress(spark), use_shortcuts(always_compile):
        for query in build_queries(spark):
            query.collect()
        ask_questions(spark)
    from matchrec.jit.cached_function import find_cache_folders

    print(f"all code is compiled after {time.monotonic() - began:.0f} s, in these folders:")
    for folder in find_cache_folders():
        print(f"    {folder}")


def ask_questions(spark: SparkSession) -> None:
    """Ask why a query found what it did, and how far its starting rows came."""
    on_data = CLAUSE.format(**PARTS)
    on_run = CLAUSE.format(**PARTS | {"on_run": ON_RUN})
    matchrec.query(spark, on_run).why(partition={"k": "0"}, limit=1)
    for query in (on_data, on_run):
        matchrec.query(spark, query).coverage()
    matchrec.query(spark, CLAUSE.format(**PARTS | {"selected": SKIPPING})).coverage()


def build_queries(spark: SparkSession) -> Iterator[DataFrame]:
    """Yield the results of queries that use every kind of search. No job has run yet."""
    rows = spark.sql(ROWS).coalesce(1)
    rows.createOrReplaceTempView("warm_rows")
    for algorithm, parts in SEARCH_KINDS:
        options = matchrec.Options(algorithm=algorithm)
        yield matchrec.sql(spark, CLAUSE.format(**PARTS | parts), options=options)
    # In descending order, so that they are sorted, by the compiled sort if NumPy is slow.
    many_rows = spark.range(20_000).selectExpr("19999 - id AS id").coalesce(1)
    many_rows.createOrReplaceTempView("warm_many_rows")
    breadth_first = matchrec.Options(algorithm=BREADTH_FIRST)
    # Many of its runs share rows, and the search drops nodes of the shared buffer.
    yield matchrec.sql(spark, MANY_ROWS, options=breadth_first)
    yield matchrec.sql(spark, LARGE_BOUNDS)
    # Its matches are found out of order.
    yield matchrec.sql(spark, TIES, options=breadth_first)
    for on_run in ("", ON_RUN):
        counted = CLAUSE.format(**PARTS | {"selected": ALL, "on_run": on_run})
        yield matchrec.query(spark, counted).aggregate({"n": "count(*)", "x": "sum(sum_x)"})
    yield matchrec.match_sase(rows, GRAPH, order_by="t", output="graph")
    for options in (matchrec.Options(algorithm=BACKTRACKING), breadth_first):
        yield matchrec.match_sase(rows, NEGATION, order_by="t", options=options)
    pattern = matchrec.Pattern.begin("a").where("x > 1").followed_by("b").where("x > 2")
    skip = matchrec.AfterMatch.SKIP_PAST_LAST_EVENT
    yield matchrec.match_pattern(rows, pattern.within("5 seconds").after_match(skip), order_by="ts")
