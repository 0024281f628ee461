"""The evaluation of the SASE+ paper repeated: `python -m tests.benchmarks.sase`.

    --quick           streams of 20 windows, fewer rounds
    --charts FOLDER   draws the throughput charts there
    --memory          only shows that live state does not grow with the stream

Matching only, in one process, arrays in memory; processor time, the best of several rounds. Prints
Markdown: our figures, then the paper's, whose machine was a Pentium 4 of 2.8 GHz and whose program
was in Java. `basic` is the breadth-first engine without merging, `merging` with it; both share the
buffer.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import AllMatchesWork, RunsSearch
from matchrec.search.task import Capacity
from tests.benchmarks.machine import find_processor_name, read_load_averages
from tests.benchmarks.markdown import format_table
from tests.benchmarks.sase_workload import (
    STRATEGIES,
    WINDOWS,
    Cell,
    IntArray,
    Result,
    measured,
    search,
)

SIZES = (500, 1000, 1500, 2000)
TEMPLATES = [(predicate, strategy) for predicate in ("p1", "p2", "p3") for strategy in STRATEGIES]
EXPENSIVE = [("p1", "s3"), ("p2", "s3"), ("p3", "s3")]
Charted = dict[str, dict[str, Any]]  # by experiment and query, events a second


@dataclass(frozen=True)
class Bench:
    """How much is measured. windows: the length of the stream of a symbol."""

    rounds: int
    windows: int

    def of(self, cells: Iterable[Cell]) -> dict[Cell, Result]:
        """The results of cells, over streams of this length."""
        return measured([replace(cell, windows=self.windows) for cell in cells], self.rounds)

    def beside(
        self, engines: tuple[str, ...], cells: Iterable[Cell]
    ) -> list[tuple[Cell, tuple[Result, ...]]]:
        """Each cell run by several engines."""
        found = []
        for cell in cells:
            each = [replace(cell, engine=engine, windows=self.windows) for engine in engines]
            results = measured(each, self.rounds)
            found.append((cell, tuple(results[one] for one in each)))
        return found


def whole(number: float) -> str:
    """A figure without fractions; of a large one three digits."""
    if number >= 1000:
        number = float(f"{number:.3g}")
    return f"{number:,.0f}"


def predicates(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 1."""
    paper = {
        ("p1", "s2"): ("250", "2"),
        ("p1", "s3"): ("250", "2"),
        ("p2", "s2"): ("4.5", "0.01"),
        ("p2", "s3"): ("140", "2"),
    }
    yield "### 1. Predicate and strategy: basic, all results, W = 500\n"
    rows = []
    for key in TEMPLATES:
        written, counted = Cell(*key), Cell(*key, output="count")
        results = bench.of([written, counted])
        whole_run, matching = results.values()
        length, runs = paper.get(key, ("near p1", ""))
        rows.append(
            (
                " ".join(key),
                whole(whole_run.rate),
                whole(whole_run.matches),
                f"{whole_run.length:.1f}",
                length,
                f"{whole_run.runs:.2f}",
                runs,
                f"{matching.seconds / whole_run.seconds:.0%}",
                "60-100 %",
            )
        )
        charted["1"][" ".join(key)] = whole_run.rate
    head = ("query", "events/s", "matches", "match length", "paper", "runs a step", "paper")
    yield from format_table((*head, "matching", "paper"), rows)


def windows(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 2."""
    yield "### 2. W varied: basic, all results, events/s\n"
    yield "ns: nanoseconds for each event written out, at W = 2000. Paper: hardly any effect of W"
    yield "on p2 s2; p1 s3 and p3 s3 drop quadratically; the cost is linear in the events written"
    yield "out.\n"
    rows = []
    for key in TEMPLATES:
        cells = [Cell(*key, window=size) for size in SIZES]
        results = [*bench.of(cells).values()]
        rates = [one.rate for one in results]
        last = results[-1]
        rows.append(
            (
                " ".join(key),
                *map(whole, rates),
                f"{rates[0] / rates[-1]:.1f}",
                whole(last.mapped),
                f"{last.seconds / last.mapped * 1e9:.1f}" if last.mapped > 1e6 else "",
            )
        )
        charted["2"][" ".join(key)] = rates
    head = ("query", *(f"W = {size}" for size in SIZES), "500 : 2000", "events written", "ns")
    yield from format_table(head, rows)


def backtracking(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 3."""
    yield "### 3. Basic and backtracking, all results\n"
    yield "At W = 2000 the streams have 10 windows, because backtracking holds all matches to"
    yield "sort them. Reads: how many runs read an event, plus one for the run that it may begin.\n"
    rows = []
    engines = ("basic", "backtracking")
    for size in (SIZES[0], SIZES[-1]):
        short = bench if size == SIZES[0] else replace(bench, windows=min(10, bench.windows))
        cells = [Cell(*key, window=size) for key in TEMPLATES]
        for cell, (first, second) in short.beside(engines, cells):
            assert (first.matches, first.mapped) == (second.matches, second.mapped)
            name = f"{cell.predicate} {cell.strategy}"
            paper = "near 1" if name == "p2 s2" else "200-300"
            ratio = first.rate / second.rate
            rows.append(
                (
                    f"{name}, W = {size}",
                    whole(first.rate),
                    whole(second.rate),
                    f"{ratio:.1f}",
                    paper,
                    f"{first.reads:.2f}",
                    f"{second.reads:.2f}",
                )
            )
            if size == SIZES[0]:
                charted["3"][name] = (first.rate, second.rate)
    head = ("query", "basic, events/s", "backtracking", "ratio", "paper", "reads, basic")
    yield from format_table((*head, "backtracking"), rows)


def non_overlapping(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 4."""
    yield "### 4. Non-overlapping results, W = 500, events/s\n"
    yield "p3*: with a component `stock c`, c.price > a[1].price AND c.price < a[a.LEN].price.\n"
    rows = []
    engines = ("basic", "merging", "backtracking")
    keys = [*TEMPLATES, ("p3*", "s2"), ("p3*", "s3")]
    cells = [Cell(*key, output="non_overlapping") for key in keys]
    for cell, results in bench.beside(engines, cells):
        assert len({(one.matches, one.mapped) for one in results}) == 1
        name = f"{cell.predicate} {cell.strategy}"
        first, merged, second = (one.rate for one in results)
        paper = {"p3* s3": "10", "p3* s2": ""}.get(name, "near 1")
        rows.append(
            (
                name,
                *map(whole, (first, merged, second)),
                f"{merged / first:.2f}",
                f"{first / second:.1f}",
                paper,
                whole(results[0].matches),
            )
        )
        charted["4"][name] = (first, merged, second)
    head = ("query", *engines, "merging : basic", "basic : backtracking", "paper", "matches")
    yield from format_table(head, rows)


def merging(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 5."""
    paper = {("p1", "s3"): "1.5", ("p2", "s3"): "1.4", ("p3", "s3"): "1.5"}
    yield "### 5. Merging, all results, W = 500, events/s\n"
    rows = []
    cells = [Cell(*key) for key in TEMPLATES]
    for cell, (first, merged) in bench.beside(("basic", "merging"), cells):
        assert (first.matches, first.mapped) == (merged.matches, merged.mapped)
        name = f"{cell.predicate} {cell.strategy}"
        rows.append(
            (
                name,
                whole(first.rate),
                whole(merged.rate),
                f"{merged.rate / first.rate:.2f}",
                paper.get((cell.predicate, cell.strategy), "at least 1"),
                f"{first.runs:.2f}",
                f"{merged.runs:.2f}",
            )
        )
        charted["5"][name] = (first.rate, merged.rate)
    head = ("query", "basic", "merging", "ratio", "paper", "runs a step, basic", "merging")
    yield from format_table(head, rows)


def merging_by_window(bench: Bench, charted: Charted) -> Iterator[str]:
    """Experiment 6."""
    yield "### 6. Merging, W varied, sequence construction off, events/s\n"
    rows = []
    for key in EXPENSIVE:
        cells = [Cell(*key, output="count", window=size) for size in SIZES]
        rates = []
        for cell, (first, merged) in bench.beside(("basic", "merging"), cells):
            rates.append((first.rate, merged.rate))
            rows.append(
                (
                    f"{' '.join(key)}, W = {cell.window}",
                    whole(first.rate),
                    whole(merged.rate),
                    f"{merged.rate / first.rate:.2f}",
                    "1.4-2.1",
                    f"{first.runs:.2f}",
                    f"{merged.runs:.2f}",
                )
            )
        charted["6"][" ".join(key)] = rates
    head = ("query", "basic", "merging", "ratio", "paper", "runs a step, basic", "merging")
    yield from format_table(head, rows)


def other_streams(bench: Bench, _: Charted) -> Iterator[str]:
    """What the paper says of p = 0.55, and prices that stay in their range."""
    yield "### Other streams: all results, W = 500, events/s\n"
    yield "For p = 0.55 the paper says: p1 is unchanged, p2 and p3 are faster; basic gains less"
    yield "over backtracking, and merging gains more over basic. `In 1..1000` means that a price of"
    yield "1000 that rises becomes 1.\n"
    rows = []
    engines = ("basic", "merging", "backtracking")
    for name, rises, wrapped in (
        ("p = 0.7", 0.7, False),
        ("p = 0.55", 0.55, False),
        ("p = 0.7, in 1..1000", 0.7, True),
    ):
        cells = [Cell(*key, rises=rises, wrapped=wrapped) for key in TEMPLATES]
        for cell, results in bench.beside(engines, cells):
            first, merged, second = (one.rate for one in results)
            rows.append(
                (
                    f"{name}: {cell.predicate} {cell.strategy}",
                    *map(whole, (first, merged, second)),
                    f"{merged / first:.2f}",
                    f"{first / second:.1f}",
                    whole(results[0].matches),
                    f"{results[0].length:.1f}",
                )
            )
    head = ("stream and query", *engines, "merging : basic", "basic : backtracking")
    yield from format_table((*head, "matches", "match length"), rows)


def memory(_: Bench, __: Charted) -> Iterator[str]:
    """Live state over 10 and over 100 windows."""
    yield "### Memory: all results, W = 500, over 10 and over 100 windows of events a symbol\n"
    yield "Room: how many nodes and runs fit into the buffer at the end. It starts at 16 nodes and"
    yield "1 run, and doubles when live nodes or runs fill it. Nodes created: without pruning, all"
    yield "of them would be live. Peak: the most memory of the process so far, including its code,"
    yield "events and output.\n"
    rows = []
    for key in EXPENSIVE:
        for engine in ("basic", "merging"):
            for length in (10, 100):
                cell = Cell(*key, engine, windows=length)
                work, counters = state_at_the_end(cell)
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                rows.append(
                    (
                        f"{' '.join(key)}, {engine}, {length}",
                        whole(len(cell.events)),
                        f"{len(work.nodes):,}",
                        f"{work.runs.shape[1]:,}",
                        f"{counters[layout.MOST_LIVE]:,}",
                        f"{counters[layout.NODES_CREATED]:,}",
                        f"{peak:.0f} MB",
                    )
                )
    head = ("query, windows", "events", "room, nodes", "room, runs", "most runs", "nodes created")
    yield from format_table((*head, "peak"), rows)


def state_at_the_end(cell: Cell) -> tuple[AllMatchesWork, IntArray]:
    """What a breadth-first search that begins with no room has worked in, and its counters."""
    one = search(cell)
    counters = np.zeros(layout.COUNTERS, np.int64)
    run = RunsSearch(one.task, one.prepare(), Capacity(initial_rows=1), counters)
    for _ in run.find_matches():
        pass
    return run.work, counters


EXPERIMENTS = (
    memory,  # before what takes more
    predicates,
    windows,
    backtracking,
    non_overlapping,
    merging,
    merging_by_window,
    other_streams,
)


def machine() -> str:
    """The machine and its load."""
    python = platform.python_version()
    machine = f"{find_processor_name()}, {os.cpu_count()} cores"
    return f"{machine}, Python {python}, load {read_load_averages()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--charts", type=Path)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--only", help="the names of functions here, with commas")
    arguments = parser.parse_args()
    bench = Bench(2, 20) if arguments.quick else Bench(5, WINDOWS)
    names = {one.__name__: one for one in EXPERIMENTS}
    wanted = ["memory"] if arguments.memory else (arguments.only or ",".join(names)).split(",")
    charted: Charted = defaultdict(dict)
    print(f"Streams of {bench.windows} windows a symbol, the best of {bench.rounds} rounds.")
    print(f"{machine()} at the start.")
    for name in wanted:
        print()
        for line in names[name](bench, charted):
            print(line, flush=True)
    print(f"\n{machine()} at the end.")
    if arguments.charts:
        from tests.benchmarks.sase_charts import draw

        draw(charted, SIZES, arguments.charts / "sase_throughput.svg")


if __name__ == "__main__":
    main()
