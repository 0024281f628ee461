"""What the gateway costs: a forwarded call, a large result, and thousands of planned queries.

    python -m tests.benchmarks.gateway [--queries 10000] [--gigabytes 1]

A client asks Sail's server directly and through the gateway, alternately, each `ROUNDS` times; the
table has the medians. Client, gateway and server are in one process, so that they share its cores.
"""

from __future__ import annotations

import argparse
import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import matchrec
from matchrec.gateway.planner import SessionKey, connect
from tests.benchmarks.machine import load, versions

ROUNDS = 5
CALLS = 1_000
FALLS = """SELECT * FROM ticks MATCH_RECOGNIZE (
    ORDER BY day MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price))"""


def seconds_of(run: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def resident_megabytes() -> float:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def new_client(address: str) -> Any:
    """A client with a session of its own, which has the view `ticks`."""
    client: Any = connect(address, SessionKey("benchmark", str(uuid4())))
    client.sql(
        "CREATE TEMP VIEW ticks AS "
        "SELECT * FROM VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)"
    )
    return client


def ask_settings(client: Any) -> None:
    """Make many small calls."""
    for _ in range(CALLS):
        client.conf.get("spark.sql.session.timeZone")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    arguments = parser.parse_args()
    print(f"{versions()}. Load averages: {load()}.")
    with matchrec.serve(matchrec.session("sail"), port=0) as gateway:
        clients = [new_client(address) for address in (gateway.engine, gateway.address)]
        rows = int(arguments.gigabytes * 1e9 / 8)
        calls: list[tuple[float, ...]] = []
        results: list[tuple[float, ...]] = []
        for _ in range(ROUNDS):
            calls.append(tuple(seconds_of(lambda c=c: ask_settings(c)) for c in clients))
            results.append(tuple(seconds_of(lambda c=c: c.range(rows).toArrow()) for c in clients))
        direct, through = (median(column) / CALLS * 1e3 for column in zip(*calls, strict=True))
        print(f"a small call: {direct:.2f} ms directly, {through:.2f} ms through the gateway")
        direct, through = (median(column) for column in zip(*results, strict=True))
        print(f"a result of {rows:,} BIGINTs: {direct:.2f} s directly, {through:.2f} s through it")
        measure_queries(gateway.address, arguments.queries)


def measure_queries(address: str, queries: int) -> None:
    """Plan many queries in 64 sessions, one after the other, and print what they leave behind."""
    for number in range(queries):
        if number % max(1, queries // 64) == 0:
            client = new_client(address)
        client.sql(FALLS)
        if number % max(1, queries // 10) == 0:
            gc.collect()
            print(
                f"after {number:,} queries: {threading.active_count()} threads,"
                f" {resident_megabytes():,.0f} MB"
            )
        if (number + 1) % max(1, queries // 64) == 0:
            client.stop()


if __name__ == "__main__":
    main()
