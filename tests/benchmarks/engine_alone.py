"""Measure the search algorithms on sorted arrays in memory.

    python -m tests.benchmarks.engine_alone

It prints CPU time (warm, the least of several runs), what ten times the rows cost, and the first
search of a new process, with kernels that are compiled and with kernels from the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from matchrec.conditions.run_condition import (
    Comparison,
    Constant,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    build_operation,
)
from matchrec.conditions.types import Kind
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.pattern import list_variable_names
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import ALGORITHMS, SearchAlgorithm
from matchrec.search.task import Condition, Task
from matchrec.shortcuts import Shortcuts, use_shortcuts
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.benchmarks.fresh_copy import fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options
from tests.tasks.compiled import compile_for_output
from tests.tasks.contiguous import search

IMPORT = "from tests.benchmarks.engine_alone import print_first_search"
FIRST_SEARCHES = {
    "data": "conditions on the data",
    "run": "conditions on the run",
    "selection": "event selection",
}
NEXT = EventSelection.SKIP_TILL_NEXT_MATCH
NEXT_ROW = AfterMatchSkip(SkipTo.NEXT_ROW)
CHANGES = np.random.default_rng(7)


@dataclass(frozen=True)
class Workload:
    """A search, and the aim for its time, if there is one."""

    name: str
    task: Task
    partitions: Partitions
    least_rate: float | None = None  # rows per second
    most_seconds: float | None = None

    @property
    def aim(self) -> str:
        """The most milliseconds that it should take as text, or "" if there is no aim."""
        if self.most_seconds is not None:
            return f"{self.most_seconds * 1000:.0f}"
        rate = self.least_rate
        return f"{self.partitions.row_count / rate * 1000:.0f}" if rate is not None else ""


def make_task(
    pattern: str,
    row_conditions: dict[str, int],
    run_conditions: dict[str, RunExpression] | None = None,
    after_match: AfterMatchSkip = NEXT_ROW,
) -> Task:
    tree = parse_row_pattern(pattern)
    names = list_variable_names(tree)
    conditions = (Condition(row_conditions.get(n), (run_conditions or {}).get(n)) for n in names)
    members = {name: frozenset([number]) for number, name in enumerate(names)}
    return Task(compile_for_output(tree, names), tuple(conditions), members, after_match)


def make_partitions(bits: npt.NDArray[np.int64], size: int, *floats: object) -> Partitions:
    rows = len(bits)
    columns = np.array(floats, np.float64).reshape(len(floats), rows)
    return Partitions(
        np.append(np.arange(0, rows, size), rows).astype(np.int64),
        bits.astype(np.uint64).reshape(rows, 1),
        columns.view(np.int64),
        np.ones(columns.shape, np.bool_),
        0,
    )


def make_prices(rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return a random walk, and bits for each row: bit 0 if it goes down, bit 1 if it goes up."""
    walk = np.cumsum(CHANGES.integers(-5, 6, rows)).astype(np.float64)
    change = np.diff(walk, prepend=walk[0])
    return walk, (change < 0) * 1 + (change > 0) * 2


PAST = AfterMatchSkip()
PRICE = ReadValue(0, Kind.FLOATING)
FIRST_OF_A = ReadValue(0, Kind.FLOATING, Navigation("A", End.FIRST))
SAME_KEY = build_operation(Comparison.EQUAL, PRICE, FIRST_OF_A)
RUN_DEPENDENT = 5e6
UNMATCHED = {  # no row satisfies the last variable
    "A* B": "AB",
    "(A+)+ B": "AB",
    "(A | A B)* C": "ABC",
    "(A?){30} A{30} B": "AB",
    "A+ B+ C": "ABC",
    "PERMUTE(A, B, C, D, E, F, G, H)": "ABCDEFGH",
    "PERMUTE(A, B, C, D, E, F, G, H) I": "ABCDEFGHI",
    "A{1,50} B": "AB",
}
GREATER, LESS = Comparison.GREATER, Comparison.LESS


def list_workloads() -> Iterator[Workload]:
    walk, moves = make_prices(2_000_000)
    v_shape = make_task("A B+ C+", {"B": 0, "C": 1}, after_match=PAST)
    yield Workload("V-shape, 1,000 partitions", v_shape, make_partitions(moves, 2_000), None, 0.15)
    yield Workload("V-shape, 200,000 partitions", v_shape, make_partitions(moves, 10))
    overlapping = make_task("A B+ C+", {"B": 0, "C": 1})
    yield Workload("V-shape, SKIP TO NEXT ROW", overlapping, make_partitions(moves, 2_000))
    rare = (CHANGES.random((2_000_000, 3)) < 0.02) @ np.array([1, 2, 4])
    scan = make_task("A B C", {"A": 0, "B": 1, "C": 2}, after_match=PAST)
    yield Workload("scan, few matches", scan, make_partitions(rare, 2_000_000))
    funnel = make_task("A D*? B D*? C", {"A": 0, "B": 1, "C": 2}, after_match=PAST)
    yield Workload("reluctant funnel", funnel, make_partitions(rare, 2_000))
    yield from list_run_dependent(walk[:500_000], moves[:500_000])


def list_run_dependent(
    walk: npt.NDArray[np.float64], moves: npt.NDArray[np.int64]
) -> Iterator[Workload]:
    partitions = make_partitions(moves, 500, walk)
    last = ReadValue(0, Kind.FLOATING, Navigation("B", End.LAST))
    before = ReadValue(0, Kind.FLOATING, Navigation("A", End.LAST, 1))
    average = RunAggregate(Reduction.AVG, "A", 0, Kind.FLOATING)
    lowest = RunAggregate(Reduction.MIN, None, 0, Kind.FLOATING)
    total = RunAggregate(Reduction.SUM, "A", 0, Kind.FLOATING)
    down, up = {"B": 0}, {"C": 1}
    yield Workload(
        "FIRST(A.x), LAST(B.x): A B+ C+",
        make_task(
            "A B+ C+",
            down | up,
            {
                "B": build_operation(LESS, PRICE, FIRST_OF_A),
                "C": build_operation(GREATER, PRICE, last),
            },
            PAST,
        ),
        partitions,
        RUN_DEPENDENT,
    )
    for name, limit in (("avg", average), ("min", lowest), ("LAST(A.x, 1)", before)):
        condition = build_operation(Comparison.GREATER_OR_EQUAL, PRICE, limit)
        task = make_task("A+ B", down, {"A": condition}, PAST)
        yield Workload(f"running {name}: A+ B", task, partitions, RUN_DEPENDENT)
    bounded = build_operation(LESS, total, Constant(1e4, Kind.FLOATING))
    summed = make_task("A+", {}, {"A": bounded}, PAST)
    yield Workload("running sum: A+", summed, partitions, RUN_DEPENDENT)


@dataclass(frozen=True)
class GrowingWorkload:
    """A search over few rows and over ten times as many, in one partition."""

    name: str
    task: Task
    make: Callable[[int], Partitions]
    rows: int = 50_000


def make_satisfying(names: str) -> Callable[[int], Partitions]:
    """Return a function that makes rows each of which satisfies all these variables, A first."""
    return lambda rows: make_partitions(np.full(rows, (1 << len(names)) - 1), rows)


def list_growing() -> Iterator[GrowingWorkload]:
    """Yield patterns that can map the same rows in very many ways, so that trying all never ends.

    For most of them, each row satisfies all variables but one, which no row satisfies. So there is
    no match.
    """
    for pattern, names in UNMATCHED.items():
        task = make_task(pattern, {name: bit for bit, name in enumerate(names)}, after_match=PAST)
        yield GrowingWorkload(f"{pattern}, no match", task, make_satisfying(names[:-1]))
    optional = make_task("(A?){30} A{30}", {"A": 0}, after_match=PAST)
    yield GrowingWorkload("(A?){30} A{30}", optional, make_satisfying("A"))
    yield GrowingWorkload(
        "(A?){30} A{30}, rows too few", optional, lambda rows: make_short_runs(rows, 29)
    )
    keys = {"A": SAME_KEY, "B": SAME_KEY}
    yield GrowingWorkload(
        "A+ B+, equal keys", make_task("A+ B+", {}, keys, PAST), make_equal_keys, 25_000
    )
    failing = make_task("A+ B+ C", {"C": 0}, keys, PAST)
    yield GrowingWorkload("A+ B+ C, equal keys, no match", failing, make_equal_keys, 50)


def make_short_runs(rows: int, length: int) -> Partitions:
    """Return rows of which `length` satisfy A, then one satisfies nothing, and so on."""
    return make_partitions((np.arange(rows) % (length + 1) < length).astype(np.int64), rows)


def make_equal_keys(rows: int) -> Partitions:
    """Return one partition whose rows all have the same value."""
    return make_partitions(np.zeros(rows, np.int64), rows, np.ones(rows))


def measure_cpu(action: Callable[[], int]) -> tuple[float, int]:
    """Return the least CPU seconds of five runs, or of three if they take long, and the result."""
    times: list[float] = []
    while len(times) < 5 and (len(times) < 3 or sum(times) < 2):
        begin = time.process_time()
        result = action()
        times.append(time.process_time() - begin)
    return min(times), result


def count_matches(algorithm: SearchAlgorithm, task: Task, partitions: Partitions) -> int:
    return sum(matches.count for matches in search(algorithm, task, partitions))


def measure_algorithms(task: Task, partitions: Partitions) -> tuple[list[float], int]:
    """Return the CPU seconds of each algorithm, and the number of matches that all of them find."""
    results = [
        measure_cpu(lambda e=e: count_matches(e, task, partitions)) for e in ALGORITHMS.values()
    ]
    (count,) = {count for _, count in results}
    return [seconds for seconds, _ in results], count


def report(_options: Options) -> Iterator[str]:
    """Yield the table of the workloads."""
    cells = []
    for workload in list_workloads():
        times, matches = measure_algorithms(workload.task, workload.partitions)
        rows = workload.partitions.row_count
        figures = [f"{seconds * 1000:.1f}" for seconds in times]
        cells.append([workload.name, f"{rows:,}", f"{matches:,}", *figures, workload.aim])
    yield from format_table(["milliseconds", "rows", "matches", *ALGORITHMS, "aim"], cells)


def report_growth(_options: Options) -> Iterator[str]:
    """Yield the table of what ten times the rows cost."""
    cells = []
    for workload in list_growing():
        times_of_few, _ = measure_algorithms(workload.task, workload.make(workload.rows))
        times_of_many, _ = measure_algorithms(workload.task, workload.make(10 * workload.rows))
        ratios = [
            f"{seconds / seconds_of_few:.1f}"
            for seconds_of_few, seconds in zip(times_of_few, times_of_many, strict=True)
        ]
        times = [f"{seconds * 1000:.1f}" for seconds in times_of_many]
        figures = (cell for pair in zip(times, ratios, strict=True) for cell in pair)
        cells.append([workload.name, f"{10 * workload.rows:,}", *figures])
    head = [cell for name in ALGORITHMS for cell in (name, "times as long")]
    yield from format_table(["milliseconds", "rows", *head], cells)


def report_first_searches(_options: Options) -> Iterator[str]:
    """Yield the table of the first search of a process."""
    cells = []
    for algorithm in ALGORITHMS:
        for run_conditions, name in FIRST_SEARCHES.items():
            call = f"print_first_search({algorithm!r}, {run_conditions!r})"
            with fresh_copy() as copy:
                seconds = [copy.printed(f"{IMPORT}; {call}") for _ in range(2)]
            cells.append([f"{algorithm}, {name}", *seconds])
    yield from format_table(["first search of a process", "compiled", "from the cache"], cells)


def main() -> None:
    for part in (report, report_growth, report_first_searches):
        print("\n".join(part(Options())), end="\n\n", flush=True)


def print_first_search(engine: str, run_conditions: str) -> None:
    """Print the seconds of a first search.

    Args:
        engine: the name of the search algorithm.
        run_conditions: a key of FIRST_SEARCHES; "selection" finds all matches that may skip rows.
    """
    walk, moves = make_prices(100)
    condition = {"B": build_operation(LESS, PRICE, FIRST_OF_A)}
    task = make_task("A B+ C+", {"B": 0, "C": 1}, None if run_conditions == "data" else condition)
    if run_conditions == "selection":
        pattern = compile_for_output(parse_row_pattern("A B+ C+"), None, NEXT, MatchOutput.ALL)
        task = replace(task, pattern=pattern, selection=NEXT, output=MatchOutput.ALL)
    partitions = make_partitions(moves, 10, walk)
    start = time.perf_counter()
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        count_matches(ALGORITHMS[engine], task, partitions)
    print(f"{time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
