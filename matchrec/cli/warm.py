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
ROWS_QUERY = """
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
    """A query over `ROWS_QUERY`. Its fields choose the kernels that search for its matches."""

    # The column of ORDER BY.
    order_by: str = "t"
    # The items of MEASURES.
    measures: str = f"sum(x) AS sum_x, {EXACT_MEASURES}"
    # ROWS PER MATCH, perhaps with AFTER MATCH SKIP after it; "" for the defaults of both.
    rows_per_match: str = ""
    # Which rows a match can skip, and which matches are found; "" for the default: a match skips no
    # row.
    event_selection: str = ""
    # WITHIN with its length; "" for none.
    within: str = ""
    # AND, and a condition of B on the rows of the match so far; "" for none.
    run_condition: str = ""

    def write(self) -> str:
        """Return the SQL of the query."""
        return f"""
            SELECT * FROM warm_rows MATCH_RECOGNIZE (
                PARTITION BY k ORDER BY {self.order_by}
                MEASURES {self.measures} {self.rows_per_match}
                PATTERN (A B+ C?) {self.event_selection} {self.within}
                DEFINE B AS x > 1 {self.run_condition}, C AS x > 2)
        """


# Values of the fields `run_condition` and `event_selection`.
RUN_CONDITION = "AND x - FIRST(x) >= 0"
SKIP_TILL_NEXT = "SKIP TILL NEXT MATCH"
ALL_MATCHES = f"{SKIP_TILL_NEXT} ALL MATCHES"

# The queries that each algorithm searches, one for each of its kernels.
QUERIES_BY_ALGORITHM: dict[Algorithm, tuple[WarmQuery, ...]] = {
    "backtracking": (
        WarmQuery(),
        WarmQuery(run_condition=RUN_CONDITION),
        WarmQuery(run_condition=RUN_CONDITION, event_selection=SKIP_TILL_NEXT),
        WarmQuery(
            rows_per_match="ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW", measures=EXACT_MEASURES
        ),
        WarmQuery(order_by="ts", within="WITHIN INTERVAL 5 SECONDS"),
        WarmQuery(order_by="d", within="WITHIN 5"),
        WarmQuery(event_selection=ALL_MATCHES),
        WarmQuery(event_selection="LONGEST MATCH"),
        WarmQuery(rows_per_match="ONE ROW PER MATCH SHOW UNFINISHED MATCHES"),
    ),
    "breadth_first": (
        WarmQuery(),
        WarmQuery(run_condition=RUN_CONDITION),
        WarmQuery(run_condition=RUN_CONDITION, event_selection=SKIP_TILL_NEXT),
        WarmQuery(run_condition=RUN_CONDITION, event_selection=ALL_MATCHES),
        WarmQuery(event_selection=ALL_MATCHES),
        WarmQuery(event_selection=SKIP_TILL_NEXT),
    ),
}

# A SASE+ query whose result is the graph of its matches.
GRAPH_QUERY = "PATTERN SEQ(* a, * b) WHERE skip_till_any_match(a, b) { a.x < b.x } WITHIN 5 EVENTS"

# The number of rows of `MANY_ROWS_QUERY`, with the ids 0, 1, ...
MANY_ROW_COUNT = 20_000
# The rows are in descending order of `t`, so the worker must sort them: by the compiled sort if
# NumPy is slow. The times have a common divisor, which a kernel finds. The two keys are far apart,
# so another kernel numbers them. The two texts get a dictionary.
MANY_ROWS_COLUMNS = (
    f"(id % 2) * {2**62} AS k",
    f"60 * ({MANY_ROW_COUNT - 1} - id) AS t",
    "IF(id % 2 = 0, 'even', 'odd') AS name",
)

# A query in which many runs share rows, so that the search drops nodes of the shared buffer. Each
# partition has a match, because partitions that cannot have one are dropped before the sort.
MANY_ROWS_QUERY = f"""
    SELECT * FROM warm_many_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number, B.name AS name
        PATTERN (A+ B)
        DEFINE A AS t >= 0, B AS t >= 60 * {MANY_ROW_COUNT - 2})
"""

# A query with a quantifier with large bounds.
LARGE_BOUNDS_QUERY = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A{2,12} B)
        DEFINE A AS x >= 0, B AS x > 1)
"""

# A query whose breadth-first search finds matches in another order than that of its result.
UNORDERED_MATCHES_QUERY = """
    SELECT * FROM warm_rows MATCH_RECOGNIZE (
        PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS number
        PATTERN (A B | A A) ALL MATCHES
        DEFINE A AS x > 1, B AS x > 1)
"""

# A SASE+ query with a negated component.
NEGATION_QUERY = """
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
    start_time = time.monotonic()
    # The workers get their environment variables when the session starts.
    with hide_advice(), open_local_session() as spark, matchrec.progress(spark):
        compile_all(spark)
    from matchrec.jit.cached_function import find_cache_folders

    print(f"all code is compiled after {time.monotonic() - start_time:.0f} s, in these folders:")
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
    strict_query = WarmQuery().write()
    run_query = WarmQuery(run_condition=RUN_CONDITION).write()
    skipping_query = WarmQuery(event_selection=SKIP_TILL_NEXT).write()
    matchrec.query(spark, run_query).why(partition={"k": "0"}, limit=1)
    for query in (strict_query, run_query, skipping_query):
        matchrec.query(spark, query).coverage()


def build_queries(spark: SparkSession) -> Iterator[DataFrame]:
    """Yield the results of queries that use every kind of search. No job has run yet."""
    rows = spark.sql(ROWS_QUERY).coalesce(1)
    rows.createOrReplaceTempView("warm_rows")
    backtracking = matchrec.Options(algorithm="backtracking")
    breadth_first = matchrec.Options(algorithm="breadth_first")

    for algorithm, queries in QUERIES_BY_ALGORITHM.items():
        options = matchrec.Options(algorithm=algorithm)
        for query in queries:
            yield matchrec.sql(spark, query.write(), options=options)
    yield build_query_of_many_rows(spark)
    yield matchrec.sql(spark, LARGE_BOUNDS_QUERY)
    yield matchrec.sql(spark, UNORDERED_MATCHES_QUERY, options=breadth_first)
    for run_condition in ("", RUN_CONDITION):
        aggregated_query = WarmQuery(
            event_selection=ALL_MATCHES, run_condition=run_condition
        ).write()
        yield matchrec.query(spark, aggregated_query).aggregate(
            {"n": "count(*)", "x": "sum(sum_x)"}
        )
    yield matchrec.match_sase(rows, GRAPH_QUERY, order_by="t", output="graph")
    for options in (backtracking, breadth_first):
        yield matchrec.match_sase(rows, NEGATION_QUERY, order_by="t", options=options)
    pattern = matchrec.Pattern.begin("a").where("x > 1").followed_by("b").where("x > 2")
    skip = matchrec.AfterMatch.SKIP_PAST_LAST_EVENT
    yield matchrec.match_pattern(rows, pattern.within("5 seconds").after_match(skip), order_by="ts")


def build_query_of_many_rows(spark: SparkSession) -> DataFrame:
    """Return the result of `MANY_ROWS_QUERY`. No job has run yet."""
    many_rows = spark.range(MANY_ROW_COUNT).selectExpr(*MANY_ROWS_COLUMNS).coalesce(1)
    many_rows.createOrReplaceTempView("warm_many_rows")
    return matchrec.sql(spark, MANY_ROWS_QUERY, options=matchrec.Options(algorithm="breadth_first"))
