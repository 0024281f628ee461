"""The workloads of `tests.benchmarks.spark`: data, query, and what users would write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from tests.benchmarks import by_hand, other_engines


@dataclass(frozen=True)
class Workload:
    """A query over a table, and alternatives that return the same rows."""

    name: str
    # The name of the view that the query reads.
    table: str
    query: str
    # The largest cost that we want: matchrec's time divided by the identity's.
    aim: float
    # The columns of PARTITION BY; empty if all rows are one partition.
    keys: tuple[str, ...] = ("symbol",)
    # The columns of ORDER BY.
    order: tuple[str, ...] = ("ts",)
    # Window SQL with the same rows; None if there is none.
    by_window: str | None = None
    # Returns the same rows with applyInPandas; None if nobody has written it.
    by_pandas: Callable[[DataFrame], DataFrame] | None = None
    # The queries for other engines, by the names of the engines.
    elsewhere: Mapping[str, other_engines.Question] = field(default_factory=dict)
    # The columns that the query names; empty if it needs all columns.
    reads: tuple[str, ...] = ()


def write_clause(table: str, text: str) -> str:
    """Return a query with one clause."""
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {text}\n)"


TICKS = {"key": "symbol", "time": "ts", "value": "price"}
VISITS = {"table": "visits", "key": "user", "time": "ts", "event": "event"} | {
    "first": "view",
    "second": "cart",
    "third": "purchase",
    "within": "< ts + INTERVAL 1 HOUR",
}
TICKS_IN_ORDER = "PARTITION BY symbol ORDER BY ts"
SHAPE = """PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""
VSHAPE_MEASURES = """STRT.ts AS start_ts, LAST(DOWN.ts) AS bottom_ts, LAST(UP.ts) AS end_ts,
    LAST(DOWN.price) AS bottom"""
VSHAPE = write_clause("ticks", f"{TICKS_IN_ORDER}\n  MEASURES {VSHAPE_MEASURES}\n  {SHAPE}")


def list_workloads() -> Iterator[Workload]:
    """Yield all workloads, in the order of the table."""
    yield Workload(
        "V-shape, ONE ROW",
        "ticks",
        VSHAPE,
        aim=0.85,
        by_window=by_hand.VSHAPE.format(**TICKS, table="ticks"),
        by_pandas=by_hand.find_v_shapes,
        elsewhere=other_engines.VSHAPE,
    )
    yield Workload(
        "scan, few matches",
        "ticks",
        write_clause(
            "ticks",
            f"""{TICKS_IN_ORDER} MEASURES A.ts AS ts, B.ts AS b, C.ts AS c
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A B C)
  DEFINE A AS price > 195, B AS volume < 50, C AS price < 105""",
        ),
        aim=0.85,
        by_window=by_hand.SCAN,
        elsewhere=other_engines.SCAN,
    )
    yield Workload(
        "long greedy quantifier",
        "half",
        write_clause(
            "half",
            f"""{TICKS_IN_ORDER} MEASURES FIRST(A.ts) AS s, B.ts AS e
  PATTERN (A{{1,50}} B) DEFINE A AS volume < 950, B AS price > 190""",
        ),
        aim=1.0,
        elsewhere=other_engines.LONG,
    )
    yield Workload(
        "conditions on the run",
        "half",
        write_clause(
            "half",
            f"""{TICKS_IN_ORDER} MEASURES FIRST(A.ts) AS s, LAST(B.ts) AS e, avg(B.price) AS m
  PATTERN (A B+ C)
  DEFINE B AS B.price > FIRST(A.price) - 40 AND avg(B.price) > 120 AND sum(B.volume) < 9000,
    C AS C.price < min(B.price) AND C.ts - LAST(B.ts) < INTERVAL 1 HOUR""",
        ),
        aim=1.3,
    )
    yield Workload(
        "funnel",
        "visits",
        write_clause(
            "visits",
            """PARTITION BY user ORDER BY ts
  MEASURES V.ts AS view_ts, C.ts AS cart_ts, P.ts AS purchase_ts
  PATTERN (V X*? C Y*? P) WITHIN INTERVAL 1 HOUR
  DEFINE V AS event = 'view', C AS event = 'cart', P AS event = 'purchase'""",
        ),
        aim=0.75,
        keys=("user",),
        by_window=by_hand.FUNNEL.format(**VISITS),
        elsewhere=other_engines.FUNNEL,
    )
    yield Workload(
        "SKIP TO NEXT ROW, long overlaps",
        "half",
        write_clause(
            "half",
            f"""{TICKS_IN_ORDER} MEASURES FIRST(A.ts) AS s, LAST(A.ts) AS e, count(*) AS n
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS volume < 990""",
        ),
        aim=1.3,
        by_window=by_hand.OVERLAPS,
    )
    yield Workload(
        "strings, decimals, dates",
        "orders",
        write_clause(
            "orders",
            f"""{TICKS_IN_ORDER}
  MEASURES STRT.note AS note, LAST(DOWN.fee) AS fee, LAST(UP.day) AS day, LAST(UP.ts) AS end_ts
  {SHAPE}""",
        ),
        aim=1.2,
    )
