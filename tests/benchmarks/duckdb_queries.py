"""The four queries for which DuckDB's authors published times, over tables made like theirs.

A table has a row number `i` and a small number `v` that repeats. Each query counts the rows of the
clause.

Source: duckdb/duckdb, pull request 25255 and benchmark/micro/match_recognize (MIT licence).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmarks.drawn_tables import DrawnTable, DrawnTables
from tests.benchmarks.workloads import Workload

AIM = 1.0

# For each table, the number of rows of the largest table divided by its own.
SIZE_DIVISORS = {"pairs": 1, "partitions": 1, "runs": 4, "mixed": 10}
# SQL for the columns `v` and, in the table of partitions, `p`.
VALUES = {
    "pairs": ("id % 5",),
    "partitions": ("id % 5", "id DIV 100"),
    "runs": ("id % 17",),
    "mixed": ("id * 2654435761L % 1000",),
}

# A match is A+ B+ A+: a run of rows below 12, the rows between, and the next run. Runs are numbered
# from 1, so each odd run begins a match, and the even run after it ends the match.
RUNS = """
WITH steps AS (
  SELECT i, v < 12 AS is_a, lag(v < 12) OVER (ORDER BY i) AS was_a FROM runs),
numbered AS (
  SELECT is_a, sum(CASE WHEN is_a AND NOT coalesce(was_a, FALSE) THEN 1 ELSE 0 END)
    OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS run FROM steps)
SELECT count(*) AS n FROM numbered
WHERE is_a AND run % 2 = 0 OR run % 2 = 1 AND run < (SELECT max(run) FROM numbered)"""


@dataclass(frozen=True)
class DuckdbQuery:
    """A query of DuckDB's authors."""

    name: str
    table: str
    rest: str  # the clause after MEASURES
    by_window: str | None = None
    key: str = ""

    def workload(self) -> Workload:
        """Return the query as a workload."""
        keys = f"PARTITION BY {self.key} " if self.key else ""
        query = f"""SELECT count(*) AS n FROM {self.table} MATCH_RECOGNIZE (
  {keys}ORDER BY i MEASURES i AS start_i {self.rest})"""
        key_columns = (self.key,) if self.key else ()
        return Workload(
            self.name,
            self.table,
            query,
            AIM,
            key_columns,
            ("i",),
            self.by_window,
            reads=(*key_columns, "i", "v"),
        )


PAIR = "ONE ROW PER MATCH PATTERN (A B) DEFINE A AS v = 0, B AS v = 1"


def write_pairs(table: str, keys: str) -> str:
    """Return window SQL that counts the rows with 0 before a row with 1."""
    return f"""SELECT count(*) AS n
FROM (SELECT v, lead(v) OVER ({keys}ORDER BY i) AS next_v FROM {table})
WHERE v = 0 AND next_v = 1"""


QUERIES = (
    DuckdbQuery("scan", "pairs", PAIR, write_pairs("pairs", "")),
    DuckdbQuery(
        "partitions", "partitions", PAIR, write_pairs("partitions", "PARTITION BY p "), "p"
    ),
    DuckdbQuery(
        "quantifier",
        "runs",
        "ALL ROWS PER MATCH PATTERN (A+ B+ A+) DEFINE A AS v < 12, B AS v >= 12",
        RUNS,
    ),
    DuckdbQuery(
        "navigation",
        "mixed",
        "ONE ROW PER MATCH PATTERN (A B+) DEFINE A AS TRUE, B AS v > LAST(A.v)",
    ),
)


def draw_numbers(rows: int) -> DrawnTables:
    """Return the tables of the queries.

    Args:
        rows: the number of rows of the largest table, at scale 1.
    """
    tables = {}
    for name, texts in VALUES.items():
        items = ["CAST(id AS INT) AS i"]
        for text, column in zip(texts, "vp", strict=False):
            items.append(f"CAST({text} AS INT) AS {column}")
        tables[name] = DrawnTable(tuple(items), rows // SIZE_DIVISORS[name], 1, scales_keys=False)
    return DrawnTables(tables, {})


def list_duckdb_workloads() -> Iterator[Workload]:
    """Yield the queries as workloads."""
    for query in QUERIES:
        yield query.workload()
