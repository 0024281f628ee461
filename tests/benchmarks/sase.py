"""Repeat the evaluation of the SASE+ paper.

    python -m tests.benchmarks.sase [--quick] [--charts FOLDER] [--memory] [--only NAME,NAME]

    --quick           streams of 20 windows, fewer rounds
    --charts FOLDER   draw the throughput charts there
    --memory          only show that live state does not grow with the stream
    --only NAMES      only these experiments: keys of EXPERIMENTS, with commas

It measures the CPU time of matching alone, in one process over arrays in memory. Figures are from
the fastest of several rounds. It prints Markdown: our figures beside the paper's. The machine of
the paper was a Pentium 4 of 2.8 GHz, and its program was in Java.

A query is named as in the paper: `p1` to `p3` are its predicates and `s2` and `s3` its event
selection strategies, see `sase_workload`. `basic` is the breadth-first algorithm without merging of
runs, and `merging` is the same algorithm with it. Both build matches from one shared buffer.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import AllMatchesWork
from matchrec.search.runs_search import RunsSearch
from matchrec.search.task import Capacity
from tests.benchmarks.machine import find_processor_name, read_load_averages
from tests.benchmarks.markdown import format_table
from tests.benchmarks.sase_workload import (
    STRATEGIES,
    WINDOWS,
    Cell,
    IntArray,
    Result,
    measure_cells,
    prepare_search,
)

# The sizes of the window, in events.
WINDOW_SIZES = (500, 1000, 1500, 2000)
# The predicate and the strategy of each query.
QUERIES = [(predicate, strategy) for predicate in ("p1", "p2", "p3") for strategy in STRATEGIES]
# The queries that have many runs at a time.
EXPENSIVE_QUERIES = [("p1", "s3"), ("p2", "s3"), ("p3", "s3")]
# The head of the tables that compare `basic` with `merging`.
MERGING_HEAD = (
    "query",
    "basic",
    "merging",
    "merging / basic",
    "paper",
    "runs a step, basic",
    "merging",
)

# Events per second, by the number of the experiment and the name of the query: one rate, or a rate
# for each algorithm or each size of the window, as `sase_charts` reads them.
Rates = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    # How often each search runs.
    rounds: int
    # The length of the stream of a symbol, in windows.
    windows: int

    def measure(self, cells: Iterable[Cell]) -> dict[Cell, Result]:
        """Return the results of cells over streams of this length."""
        return measure_cells([replace(cell, windows=self.windows) for cell in cells], self.rounds)

    def measure_algorithms(
        self, algorithms: tuple[str, ...], cells: Iterable[Cell]
    ) -> list[tuple[Cell, tuple[Result, ...]]]:
        """Return each cell with its results on several algorithms."""
        results_by_cell = []
        for cell in cells:
            cells_of_algorithms = [
                replace(cell, algorithm=algorithm, windows=self.windows) for algorithm in algorithms
            ]
            results = measure_cells(cells_of_algorithms, self.rounds)
            results_by_cell.append((cell, tuple(results.values())))
        return results_by_cell


def format_number(number: float) -> str:
    """Return a number as text without decimals; a large one has three significant digits."""
    if number >= 1000:
        number = float(f"{number:.3g}")
    return f"{number:,.0f}"


def report_predicates(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 1: predicates and strategies, with and without output."""
    paper = {
        ("p1", "s2"): ("250", "2"),
        ("p1", "s3"): ("250", "2"),
        ("p2", "s2"): ("4.5", "0.01"),
        ("p2", "s3"): ("140", "2"),
    }
    yield "### 1. Predicate and strategy: basic, all results, W = 500\n"
    rows = []
    for query in QUERIES:
        with_output, without_output = Cell(*query), Cell(*query, output="count")
        results = extent.measure([with_output, without_output])
        full_result, count_result = results.values()
        length, runs = paper.get(query, ("near p1", ""))
        rows.append(
            (
                " ".join(query),
                format_number(full_result.rate),
                format_number(full_result.matches),
                f"{full_result.length:.1f}",
                length,
                f"{full_result.runs:.2f}",
                runs,
                f"{count_result.seconds / full_result.seconds:.0%}",
                "60-100 %",
            )
        )
        rates_by_experiment["1"][" ".join(query)] = full_result.rate
    head = ("query", "events/s", "matches", "match length", "paper", "runs a step", "paper")
    yield from format_table((*head, "matching", "paper"), rows)


def report_windows(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 2: the size of the window."""
    yield "### 2. W varied: basic, all results, events/s\n"
    yield "ns: nanoseconds per event written out, at W = 2000. Paper: hardly any effect of W"
    yield "on p2 s2; p1 s3 and p3 s3 drop quadratically; the cost is linear in the events written"
    yield "out.\n"
    rows = []
    for query in QUERIES:
        cells = [Cell(*query, window=size) for size in WINDOW_SIZES]
        results = [*extent.measure(cells).values()]
        rates = [result.rate for result in results]
        last = results[-1]
        rows.append(
            (
                " ".join(query),
                *map(format_number, rates),
                f"{rates[0] / rates[-1]:.1f}",
                format_number(last.mapped),
                f"{last.seconds / last.mapped * 1e9:.1f}" if last.mapped > 1e6 else "",
            )
        )
        rates_by_experiment["2"][" ".join(query)] = rates
    head = (
        "query",
        *(f"W = {size}" for size in WINDOW_SIZES),
        "500 / 2000",
        "events written",
        "ns",
    )
    yield from format_table(head, rows)


def report_backtracking(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 3: basic and backtracking."""
    yield "### 3. Basic and backtracking, all results\n"
    yield "At W = 2000 the streams have 10 windows, because backtracking holds all matches to"
    yield "sort them. Reads: how many runs read an event, plus one for the run that it may begin.\n"
    rows = []
    algorithms = ("basic", "backtracking")
    for size in (WINDOW_SIZES[0], WINDOW_SIZES[-1]):
        short = (
            extent if size == WINDOW_SIZES[0] else replace(extent, windows=min(10, extent.windows))
        )
        cells = [Cell(*query, window=size) for query in QUERIES]
        for cell, (basic, backtracked) in short.measure_algorithms(algorithms, cells):
            assert (basic.matches, basic.mapped) == (backtracked.matches, backtracked.mapped)
            name = f"{cell.predicate} {cell.strategy}"
            paper = "near 1" if name == "p2 s2" else "200-300"
            ratio = basic.rate / backtracked.rate
            rows.append(
                (
                    f"{name}, W = {size}",
                    format_number(basic.rate),
                    format_number(backtracked.rate),
                    f"{ratio:.1f}",
                    paper,
                    f"{basic.reads:.2f}",
                    f"{backtracked.reads:.2f}",
                )
            )
            if size == WINDOW_SIZES[0]:
                rates_by_experiment["3"][name] = (basic.rate, backtracked.rate)
    head = (
        "query",
        "basic, events/s",
        "backtracking",
        "basic / backtracking",
        "paper",
        "reads, basic",
    )
    yield from format_table((*head, "backtracking"), rows)


def report_non_overlapping(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 4: non-overlapping results."""
    yield "### 4. Non-overlapping results, W = 500, events/s\n"
    yield "p3*: with a component `stock c`, c.price > a[1].price AND c.price < a[a.LEN].price.\n"
    rows = []
    algorithms = ("basic", "merging", "backtracking")
    queries = [*QUERIES, ("p3*", "s2"), ("p3*", "s3")]
    cells = [Cell(*query, output="non_overlapping") for query in queries]
    for cell, results in extent.measure_algorithms(algorithms, cells):
        assert len({(result.matches, result.mapped) for result in results}) == 1
        name = f"{cell.predicate} {cell.strategy}"
        basic_rate, merging_rate, backtracking_rate = (result.rate for result in results)
        paper = {"p3* s3": "10", "p3* s2": ""}.get(name, "near 1")
        rows.append(
            (
                name,
                *map(format_number, (basic_rate, merging_rate, backtracking_rate)),
                f"{merging_rate / basic_rate:.2f}",
                f"{basic_rate / backtracking_rate:.1f}",
                paper,
                format_number(results[0].matches),
            )
        )
        rates_by_experiment["4"][name] = (basic_rate, merging_rate, backtracking_rate)
    head = ("query", *algorithms, "merging / basic", "basic / backtracking", "paper", "matches")
    yield from format_table(head, rows)


def report_merging(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 5: merging."""
    paper = {("p1", "s3"): "1.5", ("p2", "s3"): "1.4", ("p3", "s3"): "1.5"}
    yield "### 5. Merging, all results, W = 500, events/s\n"
    rows = []
    cells = [Cell(*query) for query in QUERIES]
    for cell, (basic, merged) in extent.measure_algorithms(("basic", "merging"), cells):
        assert (basic.matches, basic.mapped) == (merged.matches, merged.mapped)
        name = f"{cell.predicate} {cell.strategy}"
        rows.append(
            (
                name,
                format_number(basic.rate),
                format_number(merged.rate),
                f"{merged.rate / basic.rate:.2f}",
                paper.get((cell.predicate, cell.strategy), "at least 1"),
                f"{basic.runs:.2f}",
                f"{merged.runs:.2f}",
            )
        )
        rates_by_experiment["5"][name] = (basic.rate, merged.rate)
    yield from format_table(MERGING_HEAD, rows)


def report_merging_by_window(extent: Extent, rates_by_experiment: Rates) -> Iterator[str]:
    """Yield the table of experiment 6: merging, by the size of the window."""
    yield "### 6. Merging, W varied, sequence construction off, events/s\n"
    rows = []
    for query in EXPENSIVE_QUERIES:
        cells = [Cell(*query, output="count", window=size) for size in WINDOW_SIZES]
        rates = []
        for cell, (basic, merged) in extent.measure_algorithms(("basic", "merging"), cells):
            rates.append((basic.rate, merged.rate))
            rows.append(
                (
                    f"{' '.join(query)}, W = {cell.window}",
                    format_number(basic.rate),
                    format_number(merged.rate),
                    f"{merged.rate / basic.rate:.2f}",
                    "1.4-2.1",
                    f"{basic.runs:.2f}",
                    f"{merged.runs:.2f}",
                )
            )
        rates_by_experiment["6"][" ".join(query)] = rates
    yield from format_table(MERGING_HEAD, rows)


def report_other_streams(extent: Extent, _: Rates) -> Iterator[str]:
    """Yield the table of other streams: p = 0.55, and prices that stay in their range."""
    yield "### Other streams: all results, W = 500, events/s\n"
    yield "For p = 0.55 the paper says: p1 is unchanged, p2 and p3 are faster; basic gains less"
    yield "over backtracking, and merging gains more over basic. `In 1..1000` means that a price of"
    yield "1000 that rises becomes 1.\n"
    rows = []
    algorithms = ("basic", "merging", "backtracking")
    for name, rises, wrapped in (
        ("p = 0.7", 0.7, False),
        ("p = 0.55", 0.55, False),
        ("p = 0.7, in 1..1000", 0.7, True),
    ):
        cells = [Cell(*query, rises=rises, wrapped=wrapped) for query in QUERIES]
        for cell, results in extent.measure_algorithms(algorithms, cells):
            basic_rate, merging_rate, backtracking_rate = (result.rate for result in results)
            rows.append(
                (
                    f"{name}: {cell.predicate} {cell.strategy}",
                    *map(format_number, (basic_rate, merging_rate, backtracking_rate)),
                    f"{merging_rate / basic_rate:.2f}",
                    f"{basic_rate / backtracking_rate:.1f}",
                    format_number(results[0].matches),
                    f"{results[0].length:.1f}",
                )
            )
    head = ("stream and query", *algorithms, "merging / basic", "basic / backtracking")
    yield from format_table((*head, "matches", "match length"), rows)


def report_memory(_: Extent, __: Rates) -> Iterator[str]:
    """Yield the table of the live state over streams of 10 and of 100 windows."""
    yield "### Memory: all results, W = 500, over 10 and over 100 windows of events a symbol\n"
    yield "Room: how many nodes and runs fit into the buffer at the end. It starts at 16 nodes and"
    yield "1 run, and doubles when live nodes or runs fill it. Nodes created: without pruning, all"
    yield "of them would be live. Peak: the most memory of the process so far, including its code,"
    yield "events and output.\n"
    rows = []
    for query in EXPENSIVE_QUERIES:
        for algorithm in ("basic", "merging"):
            for length in (10, 100):
                cell = Cell(*query, algorithm, windows=length)
                work, counters = find_final_state(cell)
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                rows.append(
                    (
                        f"{' '.join(query)}, {algorithm}, {length}",
                        format_number(len(cell.events)),
                        f"{len(work.nodes):,}",
                        f"{work.runs.shape[1]:,}",
                        f"{counters[layout.MAX_LIVE]:,}",
                        f"{counters[layout.NODES_CREATED]:,}",
                        f"{peak:.0f} MB",
                    )
                )
    head = ("query, windows", "events", "room, nodes", "room, runs", "most runs", "nodes created")
    yield from format_table((*head, "peak"), rows)


def find_final_state(cell: Cell) -> tuple[AllMatchesWork, IntArray]:
    """Run a breadth-first search that starts with the least capacity.

    Returns its buffers at the end, and its counters.
    """
    prepared = prepare_search(cell)
    counters = np.zeros(layout.COUNTER_COUNT, np.int64)
    run = RunsSearch(prepared.task, prepared.prepare(), Capacity(initial_rows=1), counters)
    for _ in run.find_matches():
        pass
    return run.work, counters


# The experiments by the names that `--only` takes, in the order in which they run.
EXPERIMENTS: dict[str, Callable[[Extent, Rates], Iterator[str]]] = {
    "memory": report_memory,  # first, because the others take more memory
    "predicates": report_predicates,
    "windows": report_windows,
    "backtracking": report_backtracking,
    "non_overlapping": report_non_overlapping,
    "merging": report_merging,
    "merging_by_window": report_merging_by_window,
    "other_streams": report_other_streams,
}


def describe_machine() -> str:
    """Return the machine and its load averages as text."""
    python = platform.python_version()
    machine = f"{find_processor_name()}, {os.cpu_count()} cores"
    return f"{machine}, Python {python}, load {read_load_averages()}"


def main() -> None:
    """Run the experiments that the command line names and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--charts", type=Path)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--only", default=",".join(EXPERIMENTS), metavar="NAME,NAME")
    arguments = parser.parse_args()
    extent = Extent(rounds=5, windows=WINDOWS)
    if arguments.quick:
        extent = Extent(rounds=2, windows=20)
    names = ["memory"] if arguments.memory else arguments.only.split(",")
    rates_by_experiment: Rates = defaultdict(dict)
    print(f"Streams of {extent.windows} windows a symbol, the best of {extent.rounds} rounds.")
    print(f"{describe_machine()} at the start.")
    for name in names:
        print()
        for line in EXPERIMENTS[name](extent, rates_by_experiment):
            print(line, flush=True)
    print(f"\n{describe_machine()} at the end.")
    if arguments.charts:
        from tests.benchmarks.sase_charts import draw

        draw(rates_by_experiment, WINDOW_SIZES, arguments.charts / "sase_throughput.svg")


if __name__ == "__main__":
    main()
