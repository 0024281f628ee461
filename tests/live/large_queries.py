"""Compare queries of every kind over many rows with plain SQL, on Spark or on Sail.

    python -m tests.live.large_queries --on spark --rows 10000000
    python -m tests.live.large_queries --on sail --rows 10000000

A row that is missing, doubled or wrong is found by adding up both results: each row of matchrec
counts +1 and each row of the plain query -1. `killed_workers` runs the same queries while their
processes are killed. Not collected by pytest: ten million rows take minutes for each query.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import abs as abs_of
from pyspark.sql.functions import col, lit, when
from pyspark.sql.functions import sum as sum_of

import matchrec
from matchrec import Options, Pattern
from matchrec.shortcuts import ALL, Shortcuts, use_shortcuts

# Events whose values follow from their numbers by hashing: key, time, kind and a number.
EVENTS = """
    SELECT id % {keys} AS k, id * 3 + pmod(hash(id, 1), 3) AS t,
        substr('aabbccd', pmod(hash(id, 2), 7) + 1, 1) AS kind, pmod(hash(id, 3), 1000) AS x
    FROM range(0, {rows}, 1, 6)
"""
# Shortcuts with which tasks spill, and with which partitions are cut into ranges.
SPILLING = replace(ALL, max_sort_bytes=1 << 18)
CUT = replace(ALL, min_rows_of_range=1000)


@dataclass(frozen=True)
class LargeQuery:
    """A query of matchrec and the same in plain SQL over the view `events`."""

    # Returns the result for the events and the options.
    query: Callable[[DataFrame, Options], DataFrame]
    # The same query in plain SQL.
    expected: str
    options: Options = Options()
    shortcuts: Shortcuts = ALL
    # SQL for the numbers of events and matches that the counters must have; "" if the query has no
    # counters.
    counts: str = ""


def make_clause_query(text: str) -> Callable[[DataFrame, Options], DataFrame]:
    """Return a query that is one clause."""
    return lambda events, options: matchrec.match_recognize(events, text, options=options)


def group_islands(events: DataFrame, options: Options) -> DataFrame:
    """Aggregate the matches, so that the tasks of the clause write a shuffle."""
    matches = matchrec.match_recognize(events, ISLANDS, options=options)
    return matches.groupBy("n").count()


def match_pairs_in_time(events: DataFrame, options: Options) -> DataFrame:
    """Find the matches of a Pattern and the runs that time out."""
    pattern = Pattern.begin("a").where("kind = 'a'").next("b").where("kind = 'b'").within(60)
    matches = matchrec.match_pattern(
        events, pattern, order_by="t", partition_by="k", timeouts=True, options=options
    )
    return matches.select("k", "start_time", "timed_out_at")


NEXT = """PARTITION BY k ORDER BY t MEASURES A.t AS t, A.x AS x, B.x AS y
    PATTERN (A B) DEFINE A AS kind = 'a', B AS kind = 'b'"""
NEXT_EXPECTED = """SELECT k, t, x, y FROM (SELECT *, lead(kind) OVER w AS later, lead(x) OVER w AS y
    FROM events WINDOW w AS (PARTITION BY k ORDER BY t)) WHERE kind = 'a' AND later = 'b'"""
ISLANDS = """PARTITION BY k ORDER BY t MEASURES FIRST(t) AS t, count(*) AS n, sum(x) AS total
    PATTERN (A+) DEFINE A AS kind < 'c'"""
ISLANDS_EXPECTED = """SELECT k, min(t) AS t, count(*) AS n, sum(x) AS total FROM (SELECT *,
    count_if(kind >= 'c') OVER (PARTITION BY k ORDER BY t) AS island FROM events)
    WHERE kind < 'c' GROUP BY k, island"""
ON_THE_RUN = """PARTITION BY k ORDER BY t MEASURES FIRST(A.t) AS t, LAST(A.t) AS u, B.t AS v
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A A B) DEFINE A AS kind = 'a', B AS x > max(A.x)"""
ON_THE_RUN_EXPECTED = """SELECT k, t, u, v FROM (SELECT *,
    lead(kind) OVER w AS kind2, lead(t) OVER w AS u, lead(t, 2) OVER w AS v,
    lead(x) OVER w AS x2, lead(x, 2) OVER w AS x3
    FROM events WINDOW w AS (PARTITION BY k ORDER BY t))
    WHERE kind = 'a' AND kind2 = 'a' AND x3 > greatest(x, x2)"""
EVERY_ROW = """PARTITION BY k ORDER BY t MEASURES CLASSIFIER() AS c, count(*) AS n
    ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A+) DEFINE A AS kind < 'c'"""
EVERY_ROW_EXPECTED = """SELECT k, t, IF(kind < 'c', 'A', NULL) AS c,
    IF(kind < 'c', row_number() OVER (PARTITION BY k, island, kind < 'c' ORDER BY t), NULL) AS n,
    kind, x FROM (SELECT *, count_if(kind >= 'c') OVER (PARTITION BY k ORDER BY t) AS island
    FROM events)"""
PAIRS = """PARTITION BY k ORDER BY t MEASURES A.t AS t, B.t AS u
    PATTERN (A B) SKIP TILL ANY MATCH ALL MATCHES WITHIN {window}
    DEFINE A AS kind = 'a', B AS kind = 'b' AND x > A.x"""
PAIRS_EXPECTED = """SELECT a.k, a.t, b.t AS u FROM events AS a JOIN events AS b
    ON a.k = b.k AND b.t > a.t AND b.t < a.t + {window} AND b.x > a.x
    WHERE a.kind = 'a' AND b.kind = 'b'"""
ONE_PARTITION = """ORDER BY t MEASURES A.t AS t, B.x - A.x AS rise AFTER MATCH SKIP TO NEXT ROW
    PATTERN (A B) WITHIN 4 DEFINE A AS kind = 'a', B AS kind = 'b'"""
ONE_PARTITION_EXPECTED = """SELECT t, y - x AS rise FROM (SELECT *, lead(kind) OVER w AS later,
    lead(x) OVER w AS y, lead(t) OVER w AS u FROM events WINDOW w AS (ORDER BY t))
    WHERE kind = 'a' AND later = 'b' AND u < t + 4"""
DETECTED_EXPECTED = """SELECT k, t AS start_time, IF(u < t + 60, NULL, t + 60) AS timed_out_at
    FROM (SELECT *, lead(kind) OVER w AS later, coalesce(lead(t) OVER w, t + 60) AS u
        FROM events WINDOW w AS (PARTITION BY k ORDER BY t))
    WHERE kind = 'a' AND (later = 'b' OR u >= t + 60)"""

QUERIES = {
    "next row": LargeQuery(
        make_clause_query(NEXT),
        NEXT_EXPECTED,
        counts=f"SELECT (SELECT count(*) FROM events), count(*) FROM ({NEXT_EXPECTED})",
    ),
    "islands by pandas": LargeQuery(
        make_clause_query(ISLANDS), ISLANDS_EXPECTED, Options(transport="pandas", sort="engine")
    ),
    "islands, spilled": LargeQuery(
        make_clause_query(ISLANDS), ISLANDS_EXPECTED, shortcuts=SPILLING
    ),
    "every row, spilled": LargeQuery(
        make_clause_query(EVERY_ROW), EVERY_ROW_EXPECTED, shortcuts=SPILLING
    ),
    "grouped": LargeQuery(
        group_islands,
        f"SELECT n, count(*) FROM ({ISLANDS_EXPECTED}) GROUP BY n",
        counts=f"SELECT (SELECT count(*) FROM events), count(*) FROM ({ISLANDS_EXPECTED})",
    ),
    "on the run": LargeQuery(make_clause_query(ON_THE_RUN), ON_THE_RUN_EXPECTED),
    "pairs": LargeQuery(
        make_clause_query(PAIRS.format(window=15000)), PAIRS_EXPECTED.format(window=15000)
    ),
    "ranges": LargeQuery(
        make_clause_query(ONE_PARTITION),
        ONE_PARTITION_EXPECTED,
        Options(sort="ranges"),
        shortcuts=CUT,
    ),
    "a Pattern with timeouts": LargeQuery(match_pairs_in_time, DETECTED_EXPECTED),
}


def create_events(spark: SparkSession, rows: int, keys: int) -> None:
    """Create the view `events`: all values follow from the row's number by hashing."""
    spark.sql(EVENTS.format(rows=rows, keys=keys)).createOrReplaceTempView("events")


def count_differences(actual: DataFrame, expected: DataFrame) -> tuple[int, int]:
    """Return the number of rows of the result, and of rows that only one of both results has."""
    columns = actual.columns
    signed = actual.withColumn("sign", lit(1)).unionAll(
        expected.toDF(*columns).withColumn("sign", lit(-1))
    )
    rows = signed.groupBy(*columns).agg(
        sum_of(when(col("sign") > 0, 1).otherwise(0)).alias("rows"), sum_of("sign").alias("balance")
    )
    (total,) = rows.agg(
        sum_of("rows").alias("rows"), sum_of(abs_of("balance")).alias("wrong")
    ).collect()
    return total.rows or 0, total.wrong or 0


def check(spark: SparkSession, name: str, query: LargeQuery, on: str) -> str:
    """Run a query, print what it took, and return what is wrong with its result, if anything."""
    has_counters = bool(query.counts) and on != "sail"  # Sail has no counters
    counters = matchrec.Counters() if has_counters else None
    options = replace(query.options, counters=counters)
    begin = time.monotonic()
    with use_shortcuts(query.shortcuts):
        result = query.query(spark.table("events"), options)
        rows, wrong = count_differences(result, spark.sql(query.expected))
    print(f"{name}: {rows:,} rows in {time.monotonic() - begin:.0f} s", flush=True)
    if wrong:
        return f"{name}: {wrong:,} rows differ"
    if counters is not None:
        values = counters.values()
        numbers = (values["rows"], values["matches"])
        (right,) = spark.sql(query.counts).collect()
        if numbers != tuple(right):
            return f"{name}: the counters have {numbers}, not {tuple(right)}"
    return ""


def main() -> int:
    """Run the checks that the command line asks for, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", choices=("spark", "sail"), default="spark")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--only", default="", help="queries with this in their name")
    arguments = parser.parse_args()
    spark = matchrec.session(arguments.on, cores=2)
    create_events(spark, arguments.rows, arguments.keys)
    wrong = [
        check(spark, name, query, arguments.on)
        for name, query in QUERIES.items()
        if arguments.only in name
    ]
    print(*filter(None, wrong), sep="\n")
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
