"""Measure what the gateway costs: a small call, a large result, and thousands of planned queries.

    python -m tests.benchmarks.gateway [--queries 10000] [--gigabytes 1] [--rounds 3]

Sail's server, the gateway and the client have a process each. The client asks Sail directly and
through the gateway, alternately; the figures are the medians of all rounds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.machine import describe_versions, read_load_averages
from tests.benchmarks.measure import count_seconds
from tests.benchmarks.processes import PAGE_BYTES
from tests.spark.gateway.connecting import connect

# The number of small calls whose mean time is one figure.
CALLS = 1_000
# The number of sessions among which the planned queries are divided.
SESSIONS = 64
# How often the threads and the memory are printed while queries are planned.
REPORTS = 10
# The columns of the large result, which are BIGINT.
COLUMNS = 8
BYTES_PER_ROW = 8 * COLUMNS
START_SAIL = """
import sys
import matchrec
print(matchrec.serve(matchrec.session("sail"), port=0).engine, flush=True)
sys.stdin.read()
"""
START_GATEWAY = """
import sys
import matchrec
print(matchrec.serve(engine=sys.argv[1], port=0).address, flush=True)
sys.stdin.read()
"""
FALLS = """SELECT * FROM ticks MATCH_RECOGNIZE (
    ORDER BY day MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price))"""


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    process_id: int
    # The address at which it listens.
    address: str

    def count_threads(self) -> int:
        """Return the number of threads of the process."""
        return len(list(Path(f"/proc/{self.process_id}/task").iterdir()))

    def measure_resident_megabytes(self) -> float:
        """Return the memory of the process that is resident, in millions of bytes."""
        pages = int(Path(f"/proc/{self.process_id}/statm").read_text(encoding="ascii").split()[1])
        return pages * PAGE_BYTES / 1e6


@contextmanager
def start_server(code: str, *arguments: str) -> Iterator[Server]:
    """Start a process that prints where it listens, and end it afterwards."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield Server(process.pid, process.stdout.readline().strip())
        process.kill()


def create_client(address: str) -> Any:
    """Return a client with a session of its own, which has the view `ticks`."""
    client: Any = connect(address)
    client.sql(
        "CREATE TEMP VIEW ticks AS "
        "SELECT * FROM VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)"
    )
    return client


def read_setting_often(client: Any) -> None:
    """Make `CALLS` small calls: read a setting of the session."""
    for _ in range(CALLS):
        client.conf.get("spark.sql.session.timeZone")


def fetch_rows(client: Any, rows: int) -> None:
    """Fetch a result of that many rows as an Arrow table."""
    numbers = client.range(rows)
    numbers.select(
        *((numbers.id + column).alias(f"c{column}") for column in range(COLUMNS))
    ).toArrow()


def measure_calls(sail: Server, gateway: Server, rounds: int, gigabytes: float) -> None:
    """Call Sail directly and through the gateway, alternately, and print the medians."""
    clients = [create_client(address) for address in (sail.address, gateway.address)]
    rows = int(gigabytes * 1e9 / BYTES_PER_ROW)
    calls: list[tuple[float, ...]] = []
    results: list[tuple[float, ...]] = []
    for _ in range(rounds):
        calls.append(tuple(count_seconds(partial(read_setting_often, c)) for c in clients))
        results.append(tuple(count_seconds(partial(fetch_rows, c, rows)) for c in clients))
    direct, through = (median(column) / CALLS * 1e3 for column in zip(*calls, strict=True))
    print(f"a small call: {direct:.2f} ms directly, {through:.2f} ms through the gateway")
    direct, through = (median(column) for column in zip(*results, strict=True))
    size = f"{rows:,} rows of {COLUMNS} BIGINTs"
    print(f"{size}: {direct:.2f} s directly, {through:.2f} s through the gateway")


def measure_queries(sail: Server, gateway: Server, queries: int) -> None:
    """Plan many queries in `SESSIONS` sessions, one after the other.

    Now and then, print the threads and the memory of both servers, which should not grow.
    """
    queries_per_session = max(1, queries // SESSIONS)
    for number in range(queries):
        if number % queries_per_session == 0:
            client = create_client(gateway.address)
        client.sql(FALLS)
        if number % max(1, queries // REPORTS) == 0:
            print_resources(sail, gateway, number)
        if (number + 1) % queries_per_session == 0:
            client.stop()
    print_resources(sail, gateway, queries)


def print_resources(sail: Server, gateway: Server, queries: int) -> None:
    """Print the threads and the memory of both servers."""
    texts = (
        f"{name} {server.count_threads()} threads, {server.measure_resident_megabytes():,.0f} MB"
        for name, server in (("gateway", gateway), ("Sail", sail))
    )
    print(f"after {queries:,} queries: {'; '.join(texts)}", flush=True)


def main() -> None:
    """Start Sail and the gateway, and print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{describe_versions()}. Load averages over 1, 5 and 15 minutes: {read_load_averages()}.")
    with start_server(START_SAIL) as sail, start_server(START_GATEWAY, sail.address) as gateway:
        measure_calls(sail, gateway, arguments.rounds, arguments.gigabytes)
        measure_queries(sail, gateway, arguments.queries)


if __name__ == "__main__":
    main()
