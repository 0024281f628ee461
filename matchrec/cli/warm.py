"""The command `warm`: compile the search before the first query, for an image of a container.

The command runs small queries, at least one for each kernel, so that all kernels are compiled and
cached on disk.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

import matchrec
from matchrec.cli.command_decorators import handle_failures
from matchrec.cli.session import open_local_session
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.jit.compile_lock import IS_WARMING_VARIABLE
from matchrec.shortcuts import Shortcuts, use_shortcuts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.arguments import Algorithm

# The rows of most queries: two partitions of 20 rows, with columns of the types that kernels know.
ROWS = """
    SELECT CAST(i % 2 AS STRING) AS k, i AS t, timestamp_seconds(i) AS ts, CAST(i AS DOUBLE) AS d,
        CAST(i % 5 AS DOUBLE) AS x, i % 5 AS n, CAST(i % 5 AS DECIMAL(20, 2)) AS m
    FROM (SELECT id AS i FROM range(40))
"""

# Measures without floating-point numbers, whose sums can be taken in any order.
EXACT_MEASURES = (
    "sum(n) AS sum_n, sum(m) AS sum_m, max(x) AS max_x, min(n) AS min_n, LAST(B.n) AS last_n"
)


@dataclass(frozen=True)
class WarmQuery:
    """A query over `ROWS`. Its fields choose the kernels that search for its matches."""

    # The column of ORDER BY.
    order: str = "t"
    # The items of MEASURES.
    measures: str = f"sum(x) AS sum_x, {EXACT_MEASURES}"
    # ROWS PER MATCH and AFTER MATCH SKIP.
    rows: str = ""
    # The event selection: which rows a match can skip, and which matches are found.
    selected: str = ""
    # WITHIN with its length.
    within: str = ""
    # AND, and a condition on the rows of the match so far.
    on_run: str = ""

    def write(self) -> str:
        """Return the SQL of the query."""
        return f"""
            SELECT * FROM warm_rows MATCH_RECOGNIZE (
                PARTITION BY k ORDER BY {self.order} MEASURES {self.measures} {self.rows}
                PATTERN (A B+ C?) {self.selected} {self.within}
                DEFINE B AS x > 1 {self.on_run}, C AS x > 2)
        """


# Values of the fields `on_run` and `selected`.
ON_RUN = "AND x - FIRST(x) >= 0"
SKIPPING = "SKIP TILL NEXT MATCH"
ALL_MATCHES = f"{SKIPPING} ALL MATCHES"

# The queries that each algorithm searches, one for each of its kernels.
QUERIES_BY_ALGORITHM: dict[Algorithm, tuple[WarmQuery, ...]] = {
    "backtracking": (
        WarmQuery(),
        WarmQuery(on_run=ON_RUN),
        WarmQuery(on_run=ON_RUN, selected=SKIPPING),
        WarmQuery(rows="ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW", measures=EXACT_MEASURES),
        WarmQuery(order="ts", within="WITHIN INTERVAL 5 SECONDS"),
        WarmQuery(order="d", within="WITHIN 5"),
        WarmQuery(selected=ALL_MATCHES),
        WarmQuery(selected="LONGEST MATCH"),
        WarmQuery(rows="ONE ROW PER MATCH SHOW UNFINISHED MATCHES"),
    ),
    "breadth_first": (
        WarmQuery(),
        WarmQuery(on_run=ON_RUN),
        WarmQuery(on_run=ON_RUN, selected=SKIPPING),
        WarmQuery(on_run=ON_RUN, selected=ALL_MATCHES),
        WarmQuery(selected=ALL_MATCHES),
        WarmQuery(selected=SKIPPING),
    ),
}

# A SASE+ query whose result is the graph of its matches.
GRAPH = "PATTERN SEQ(* a, * b) WHERE skip_till_any_match(a, b) { a.x < b.x } WITHIN 5 EVENTS"

# The rows are in descending order of `t`, so the worker must sort them: by the compiled sort if
# NumPy is slow. The times have a common divisor, which a kernel finds. The two keys are far apart,
# so another kernel numbers them.
MANY_ROWS_COLUMNS = ("(id % 2) * 4611686018427387904 AS k", "60 * (19999 - id) AS t")

# A query in which many runs share rows, so that the search drops nodes of the shared buffer. Each
# partition has a match, because partitions that cannot have one are dropped before the sort.
MANY_ROWS = """
    SELECT * FROM warm_many_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A+ B)
        DEFINE A AS t >= 0, B AS t >= 60 * 19998)
"""

# A query with a quantifier with large bounds.
LARGE_BOUNDS = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A{2,12} B)
        DEFINE A AS x >= 0, B AS x > 1)
"""

# A query whose matches are found out of order.
TIES = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A B | A A) ALL MATCHES
        DEFINE A AS x > 1, B AS x > 1)
"""

# A SASE+ query with a negated component.
NEGATION = """
    PATTERN SEQ(* a, ~(* b), * c)
    WHERE skip_till_next_match(a, b, c) { a.x > 1 AND b.x > a.x } WITHIN 5 EVENTS
"""


@click.command()
@handle_failures
def warm() -> None:
    """Compile all search code ahead of the first query.

    Run it when you build a container image: queries in the container then start without compiling.
    The command prints the folders that hold the compiled code.

    \b
    Example:
      matchrec warm
    """
    began = time.monotonic()
    # The workers get their environment variables when the session starts.
    with hide_advice(), open_local_session() as spark, matchrec.progress(spark):
        compile_all(spark)
    from matchrec.jit.cached_function import find_cache_folders

    print(f"all code is compiled after {time.monotonic() - began:.0f} s, in these folders:")
    for folder in find_cache_folders():
        print(f"    {folder}")


@contextmanager
def hide_advice() -> Iterator[None]:
    """Hide warnings about the queries of this module, and the advice to run `matchrec warm`.

    Users have not written these queries, and cannot mend them.
    """
    os.environ[IS_WARMING_VARIABLE] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MatchRecognizeWarning)
            yield
    finally:
        del os.environ[IS_WARMING_VARIABLE]


def compile_all(spark: SparkSession) -> None:
    """Run queries and questions that together use all kernels."""
    # By default, Python would search these few rows itself, without compiled code.
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        for query in build_queries(spark):
            query.collect()
        ask_questions(spark)


def ask_questions(spark: SparkSession) -> None:
    """Run `why` and `coverage`, so that the code that they need is compiled, too."""
    on_data = WarmQuery().write()
    on_run = WarmQuery(on_run=ON_RUN).write()
    matchrec.query(spark, on_run).why(partition={"k": "0"}, limit=1)
    for query in (on_data, on_run, WarmQuery(selected=SKIPPING).write()):
        matchrec.query(spark, query).coverage()


def build_queries(spark: SparkSession) -> Iterator[DataFrame]:
    """Yield the results of queries that use every kind of search. No job has run yet."""
    rows = spark.sql(ROWS).coalesce(1)
    rows.createOrReplaceTempView("warm_rows")
    backtracking = matchrec.Options(algorithm="backtracking")
    breadth_first = matchrec.Options(algorithm="breadth_first")

    for algorithm, queries in QUERIES_BY_ALGORITHM.items():
        options = matchrec.Options(algorithm=algorithm)
        for query in queries:
            yield matchrec.sql(spark, query.write(), options=options)
    yield build_query_of_many_rows(spark)
    yield matchrec.sql(spark, LARGE_BOUNDS)
    yield matchrec.sql(spark, TIES, options=breadth_first)
    for on_run in ("", ON_RUN):
        counted = WarmQuery(selected=ALL_MATCHES, on_run=on_run).write()
        yield matchrec.query(spark, counted).aggregate({"n": "count(*)", "x": "sum(sum_x)"})
    yield matchrec.match_sase(rows, GRAPH, order_by="t", output="graph")
    for options in (backtracking, breadth_first):
        yield matchrec.match_sase(rows, NEGATION, order_by="t", options=options)
    pattern = matchrec.Pattern.begin("a").where("x > 1").followed_by("b").where("x > 2")
    skip = matchrec.AfterMatch.SKIP_PAST_LAST_EVENT
    yield matchrec.match_pattern(rows, pattern.within("5 seconds").after_match(skip), order_by="ts")


def build_query_of_many_rows(spark: SparkSession) -> DataFrame:
    """Return the result of `MANY_ROWS`. No job has run yet."""
    many_rows = spark.range(20_000).selectExpr(*MANY_ROWS_COLUMNS).coalesce(1)
    many_rows.createOrReplaceTempView("warm_many_rows")
    return matchrec.sql(spark, MANY_ROWS, options=matchrec.Options(algorithm="breadth_first"))
