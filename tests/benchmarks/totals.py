"""All matches counted and summed without building them: `python -m tests.benchmarks.totals`.

    --quick    fewer events
    --whole    time whole queries on Sail instead of the search alone

The input is stock trends as in the evaluation of GRETA. Each query computes `count(*)` and a sum
over all rows of all matches. Times are CPU times, the least of three runs. Memory is that of the
arrays in which a search works at its end. Matches are built only if there are at most five million.

Falling prices of a company in a window are query Q1 of GRETA, with SKIP TILL ANY MATCH and
without its sliding windows, so a match counts once. Prices that rise from row to row, without a
gap, are similar to Q1 of COGRA.

Sources: Poppe, Lei, Rundensteiner, Maier, "GRETA: Graph-based Real-time Event Trend Aggregation",
PVLDB 11(1), 2017, "Performance evaluation"; "Event Trend Aggregation under Rich Event Matching
Semantics" (COGRA), 2019.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pandas as pd

import matchrec
from matchrec.compile.absences import end_runs_at_absent_rows
from matchrec.compile.totals import require_one_run_per_match
from matchrec.plan.clauses import Grouping, MatchOutput
from matchrec.search.kernel_input import prepare_input
from matchrec.search.kernels.totals import TotalsSearch
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.runs_search import RunsSearch
from matchrec.search.task import Capacity, Task, TaskTotals, Total, TotalFunction
from tests.benchmarks.machine import find_processor_name, read_load_averages
from tests.benchmarks.markdown import format_table
from tests.benchmarks.processes import count_cpu_seconds
from tests.benchmarks.sase_workload import link_query, make_partitions, make_stream

FALLING = """
PATTERN SEQ(stock+ a[])
WHERE skip_till_any_match { [symbol] AND a[i].price < a[i-1].price }
WITHIN {window} events
"""
THEN = """
PATTERN SEQ(stock+ a[], stock b)
WHERE skip_till_any_match { [symbol] AND a[i].volume > 900 AND b.volume < 10 }
WITHIN {window} events
"""
SEQUENCE = """
PATTERN SEQ(stock a, stock b, stock c)
WHERE skip_till_any_match { [symbol] AND a.volume > 900 AND b.volume < 100 AND c.volume > 950 }
WITHIN {window} events
"""
RISING = """
PATTERN SEQ(stock+ a[])
WHERE partition_contiguity { [symbol] AND a[i].price > a[i-1].price }
WITHIN {window} events
"""
UNLESS = """
PATTERN SEQ(stock+ a[], ~(stock n), stock b)
WHERE skip_till_any_match {
    [symbol] AND a[i].volume > 900 AND n.volume = 500 AND b.volume < 10 }
WITHIN {window} events
"""
MAX_BUILT = 5_000_000
ROUNDS = 3


@dataclass(frozen=True)
class SearchResult:
    """What a search finds and what it costs."""

    matches: int
    seconds: float  # CPU time, the least of several runs
    size: int  # bytes of its arrays


@dataclass(frozen=True)
class Workload:
    """A query over a stream of two symbols."""

    name: str
    text: str
    window: int  # events
    events: int  # of each symbol

    @property
    def query(self) -> str:
        """Return the SASE+ query with its window."""
        return self.text.replace("{window}", str(self.window))

    def prepare(self) -> tuple[Task, Partitions]:
        """Return the task that finds all matches, and its rows."""
        linked = link_query(self.query, MatchOutput.ALL)
        events: pd.DataFrame = make_stream(self.events, 0.5, wrapped=False)
        return linked.task, make_partitions(linked, events)


def count_matches(task: Task, rows: Partitions) -> SearchResult:
    """Count the matches and their rows without building them: runs carry the totals."""
    task_with_totals = end_runs_at_absent_rows(require_one_run_per_match(task, Grouping.PARTITION))
    task_with_totals = replace(task_with_totals, totals=TaskTotals((TOTAL,), Grouping.PARTITION))
    best = float("inf")
    matches = 0
    size = 0
    for _ in range(ROUNDS):
        arrays = prepare_input(task_with_totals, rows)
        start = time.process_time()
        search = TotalsSearch(task_with_totals, arrays, Capacity())
        (chunk,) = search.find_matches()
        best = min(best, time.process_time() - start)
        assert chunk.totals is not None
        matches = sum(map(read_total, chunk.totals))
        size = count_bytes(search)
    return SearchResult(matches, best, size)


TOTAL = Total(TotalFunction.SUM, TotalFunction.COUNT, frozenset({0}), None, is_float=False)


def read_total(words: IntArray) -> int:
    """Return the number of matches of a group, which is two words of 64 bits."""
    return int(words[0]) % 2**64 + int(words[1]) * 2**64


def build_matches(task: Task, rows: Partitions) -> SearchResult:
    """Build each match and count them."""
    best = float("inf")
    matches = 0
    size = 0
    for _ in range(ROUNDS):
        search = RunsSearch(task, prepare_input(task, rows), Capacity())
        start = time.process_time()
        matches = sum(chunk.count for chunk in search.find_matches())
        best = min(best, time.process_time() - start)
        size = count_bytes(search)
    return SearchResult(matches, best, size)


def count_bytes(search: RunsSearch) -> int:
    """Return the bytes of the arrays that a search works in."""
    return sum(array.nbytes for array in search.working_arrays.values())


def list_workloads(quick: bool) -> Iterator[Workload]:
    """Yield the workloads, those of each query from the smallest to the largest."""
    scale = 10 if quick else 1
    for window in (10, 20, 40, 80, 200):
        yield Workload("falling prices", FALLING, window, 20_000 // scale)
    for events in (1_000, 10_000, 100_000, 500_000):
        yield Workload("falling prices", FALLING, 20, events // scale)
    for events in (50_000, 500_000):
        yield Workload("rising, no gap", RISING, 200, events // scale)
    for window in (50, 200, 800):
        yield Workload("a+ b", THEN, window, 50_000 // scale)
    yield Workload("a+ b", THEN, 200, 500_000 // scale)
    for window in (50, 200):
        yield Workload("a+ ~n b", UNLESS, window, 50_000 // scale)
    for events in (5_000, 50_000, 500_000):
        yield Workload("a b c", SEQUENCE, 200, events // scale)


WHOLE_WORKLOADS = (
    Workload("falling prices", FALLING, 10, 20_000),
    Workload("falling prices", FALLING, 20, 20_000),
    Workload("falling prices", FALLING, 20, 100_000),
    Workload("rising, no gap", RISING, 200, 50_000),
)


def count_least_cpu_seconds(run: Callable[[], object]) -> float:
    """Return the CPU seconds of a function, the least of several runs after a first one."""
    run()
    times = []
    for _ in range(ROUNDS):
        before = count_cpu_seconds()
        run()
        times.append(count_cpu_seconds() - before)
    return min(times)


def report_whole_queries() -> Iterator[str]:
    """Yield the table of whole queries: `aggregate`, and `match_sase` with the same aggregates."""
    spark = matchrec.session("sail")
    rows = []
    for workload in WHOLE_WORKLOADS:
        events = make_stream(workload.events, 0.5, wrapped=False)
        df = spark.createDataFrame(events.assign(at=range(len(events))))
        text = f"{workload.query} RETURN a.LEN AS rows"
        query = matchrec.query(df, text, order_by="at")
        totals = query.aggregate({"matches": "count(*)", "rows": "sum(rows)"})
        matches = matchrec.match_sase(df, text, order_by="at")
        built = matches.selectExpr("count(*) AS matches", "sum(rows) AS rows")
        assert totals.collect() == built.collect()
        rows.append(
            (
                f"{workload.name}, window {workload.window}",
                f"{len(events):,}",
                f"{totals.collect()[0].matches:,}",
                f"{count_least_cpu_seconds(totals.collect):.2f}",
                f"{count_least_cpu_seconds(built.collect):.2f}",
            )
        )
    head = ("query", "events", "matches", "aggregate, s", "build and count, s")
    yield from format_table(head, rows)


def main() -> None:
    """Count and build the matches of all workloads and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--whole", action="store_true")
    arguments = parser.parse_args()
    print(f"{find_processor_name()}, load {read_load_averages()} at the start.\n")
    if arguments.whole:
        print("\n".join(report_whole_queries()))
        return
    rows = []
    for workload in list_workloads(arguments.quick):
        task, partitions = workload.prepare()
        counted = count_matches(task, partitions)
        built = build_matches(task, partitions) if counted.matches <= MAX_BUILT else None
        if built is not None:
            assert built.matches == counted.matches
        rows.append(
            (
                f"{workload.name}, window {workload.window}",
                f"{2 * workload.events:,}",
                f"{counted.matches:,}" if counted.matches < 1e12 else f"{counted.matches:.1e}",
                f"{counted.seconds:.3f}",
                f"{counted.size / 2**20:.1f}",
                "" if built is None else f"{built.seconds:.3f}",
                "" if built is None else f"{built.size / 2**20:.1f}",
            )
        )
    head = ("query", "events", "matches", "counted, s", "MB", "built, s", "MB")
    print("\n".join(format_table(head, rows)))


if __name__ == "__main__":
    main()
