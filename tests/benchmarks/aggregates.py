"""Measure how the time of aggregates grows with the length of a match.

    python -m tests.benchmarks.spark --parts aggregates [--only WORD]

All rows of the input are one match. Three kinds of queries read an aggregate of it on Sail:

overlapping   MEASURES, SKIP TO NEXT ROW: each of n rows begins a match, with n² / 2 rows together
running       MEASURES, ALL ROWS PER MATCH: each of n rows reads the aggregate of the rows up to it
condition     DEFINE: each of n rows is tested with the aggregate of the rows up to it

The match becomes twice as long until a query takes more than ENOUGH seconds. So a query that is
fast at the largest size takes linear time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import matchrec
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options

SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
# CPU seconds of a query after which no longer match is tried.
ENOUGH = 1.5

# SQL of the values of a column, by its type.
TYPES = {
    "INT": "CAST(id % 1000 AS INT)",
    "BIGINT": "(id % 1000) * 100000000000 + id",
    "DOUBLE, whole": "CAST(id % 1000 AS DOUBLE)",
    "DOUBLE, cents": "(id % 1000) / 100e0",
    "FLOAT": "CAST((id % 1000) / 100e0 AS FLOAT)",
    "DECIMAL(10, 2)": "CAST((id % 1000) / 100 AS DECIMAL(10, 2))",
    "DECIMAL(30, 4)": "CAST((id % 1000) / 100 AS DECIMAL(30, 4))",
}
OF_ALL_TYPES = ("sum(x)", "avg(x)")
OF_ONE_TYPE = (
    "count(*)",
    "count(x)",
    "min(x)",
    "max(x)",
    "FIRST(x)",
    "LAST(x)",
    "LAST(x, 1)",
    "bool_and(x < 1000)",
    "count_if(x > 500)",
    "first_value(x)",
    "last_value(x)",
    "max_by(id, x)",
    "count(DISTINCT x)",
    "stddev(x)",
    "var_pop(x)",
    "median(x)",
    "collect_list(x)",
    "array_agg(x)",
    "listagg(x)",
)
QUERIES = {
    "overlapping": """SELECT max(m) FROM long_match MATCH_RECOGNIZE (
        ORDER BY id MEASURES {aggregate} AS m ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A+) DEFINE A AS id >= 0)""",
    "running": """SELECT max(m) FROM long_match MATCH_RECOGNIZE (
        ORDER BY id MEASURES RUNNING {aggregate} AS m ALL ROWS PER MATCH
        PATTERN (A+) DEFINE A AS id >= 0)""",
    "condition": """SELECT count(*) FROM long_match MATCH_RECOGNIZE (
        ORDER BY id MEASURES count(*) AS m ONE ROW PER MATCH
        PATTERN (A+) DEFINE A AS {aggregate} IS NOT NULL OR id < 5)""",
}


def report(options: Options) -> Iterator[str]:
    """Yield the table: CPU seconds of each query for the longest match that was tried."""
    spark = matchrec.session("sail")
    cells = []
    for type_name, aggregate in list_cases():
        name = f"{aggregate} of {type_name}"
        if options.only in name:
            cells.append([name])
            for query in QUERIES.values():
                text = query.format(aggregate=aggregate)
                cells[-1].append(measure_growth(spark, TYPES[type_name], text))
            print(" | ".join(cells[-1]), file=sys.stderr, flush=True)
    yield from format_table(["aggregate", *QUERIES], cells)


def list_cases() -> Iterator[tuple[str, str]]:
    """Yield types and aggregates of them."""
    for type_name in TYPES:
        for aggregate in OF_ALL_TYPES:
            yield type_name, aggregate
    for aggregate in OF_ONE_TYPE:
        yield "INT", aggregate


def measure_growth(spark: Any, values: str, query: str) -> str:
    """Return the CPU seconds of a query for the longest match that is tried, with its length.

    Args:
        spark: the session.
        values: SQL of the column `x`.
        query: the query over `long_match`.
    """
    seconds = 0.0
    for size in SIZES:
        rows = spark.sql(f"SELECT id, {values} AS x FROM range({size})").coalesce(1)
        rows.createOrReplaceTempView("long_match")
        try:
            if size == SIZES[0]:
                run(spark, query)  # compiles
            seconds = min(run(spark, query) for _ in range(2))
        except matchrec.MatchRecognizeError as error:  # the table says why there is no figure
            return type(error).__name__
        if seconds > ENOUGH:
            break
    return f"{seconds:.2f} s, {size:,}"


def run(spark: Any, query: str) -> float:
    """Return the CPU seconds of a query."""
    began = time.process_time()
    matchrec.sql(spark, query).collect()
    return time.process_time() - began
