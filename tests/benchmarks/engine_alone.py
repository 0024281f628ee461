"""Times the engines on sorted arrays in memory: `python -m tests.benchmarks.engine_alone`.

Prints seconds (the least of several, processor time, warm) and rows a second; what ten times the
rows cost; and the first search of a new process, kernels compiled and kernels from the cache.
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
from matchrec.shortcuts import Shortcuts, in_force
from matchrec.syntax.row_pattern import parse_row_pattern
from tests.benchmarks.fresh_copy import fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options
from tests.tasks.compiled import compile_for_output
from tests.tasks.contiguous import search

FIRST = "from tests.benchmarks.engine_alone import first"
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
    """least_rate: rows a second that are aimed at; most_seconds: likewise."""

    name: str
    task: Task
    partitions: Partitions
    least_rate: float | None = None
    most_seconds: float | None = None

    @property
    def aim(self) -> str:
        """The most milliseconds that it should take, if any."""
        if self.most_seconds is not None:
            return f"{self.most_seconds * 1000:.0f}"
        rate = self.least_rate
        return f"{self.partitions.rows / rate * 1000:.0f}" if rate is not None else ""


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


def prices(rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """A random walk; bit 0: down, bit 1: up."""
    walk = np.cumsum(CHANGES.integers(-5, 6, rows)).astype(np.float64)
    change = np.diff(walk, prepend=walk[0])
    return walk, (change < 0) * 1 + (change > 0) * 2


PAST = AfterMatchSkip()
PRICE = ReadValue(0, Kind.FLOATING)
FIRST_OF_A = ReadValue(0, Kind.FLOATING, Navigation("A", End.FIRST))
SAME_KEY = build_operation(Comparison.EQUAL, PRICE, FIRST_OF_A)
RUN_DEPENDENT = 5e6
UNMATCHED = {  # the last variable is the one that no row satisfies
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


def workloads() -> Iterator[Workload]:
    walk, moves = prices(2_000_000)
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
    yield from run_dependent(walk[:500_000], moves[:500_000])


def run_dependent(
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
class Growing:
    """A workload that is run over few rows and over ten times as many, all of one partition."""

    name: str
    task: Task
    make: Callable[[int], Partitions]
    rows: int = 50_000


def satisfying(names: str) -> Callable[[int], Partitions]:
    """Every row may be mapped to each of so many variables, A first."""
    return lambda rows: make_partitions(np.full(rows, (1 << len(names)) - 1), rows)


def growing() -> Iterator[Growing]:
    """Patterns with many ways through the same rows: where a search that tries them all is lost.

    A row satisfies the conditions of all variables but one, which no row does: every way fails.
    """
    for pattern, names in UNMATCHED.items():
        task = make_task(pattern, {name: bit for bit, name in enumerate(names)}, after_match=PAST)
        yield Growing(f"{pattern}, no match", task, satisfying(names[:-1]))
    optional = make_task("(A?){30} A{30}", {"A": 0}, after_match=PAST)
    yield Growing("(A?){30} A{30}", optional, satisfying("A"))
    yield Growing("(A?){30} A{30}, rows too few", optional, lambda rows: ends_early(rows, 29))
    keys = {"A": SAME_KEY, "B": SAME_KEY}
    yield Growing("A+ B+, equal keys", make_task("A+ B+", {}, keys, PAST), equal_keys, 25_000)
    failing = make_task("A+ B+ C", {"C": 0}, keys, PAST)
    yield Growing("A+ B+ C, equal keys, no match", failing, equal_keys, 50)


def ends_early(rows: int, length: int) -> Partitions:
    """A row that satisfies nothing after every `length` rows that satisfy A."""
    return make_partitions((np.arange(rows) % (length + 1) < length).astype(np.int64), rows)


def equal_keys(rows: int) -> Partitions:
    """One partition whose rows all have the same value."""
    return make_partitions(np.zeros(rows, np.int64), rows, np.ones(rows))


def seconds(action: Callable[[], int]) -> tuple[float, int]:
    """The least processor time of five runs, of three where they take long, and the result."""
    times: list[float] = []
    while len(times) < 5 and (len(times) < 3 or sum(times) < 2):
        begin = time.process_time()
        result = action()
        times.append(time.process_time() - begin)
    return min(times), result


def count_matches(engine: SearchAlgorithm, task: Task, partitions: Partitions) -> int:
    return sum(m.count for m in search(engine, task, partitions))


def both(task: Task, partitions: Partitions) -> tuple[list[float], int]:
    """Seconds of every engine, and how many matches all of them have found."""
    found = [seconds(lambda e=e: count_matches(e, task, partitions)) for e in ALGORITHMS.values()]
    (count,) = {count for _, count in found}
    return [taken for taken, _ in found], count


def report(_: Options) -> Iterator[str]:
    """The table of workloads."""
    cells = []
    for one in workloads():
        times, matches = both(one.task, one.partitions)
        rows = one.partitions.rows
        figures = [f"{taken * 1000:.1f}" for taken in times]
        cells.append([one.name, f"{rows:,}", f"{matches:,}", *figures, one.aim])
    yield from format_table(["milliseconds", "rows", "matches", *ALGORITHMS, "aim"], cells)


def linear(_: Options) -> Iterator[str]:
    """The table of what ten times the rows cost."""
    cells = []
    for one in growing():
        few, _ = both(one.task, one.make(one.rows))
        many, _ = both(one.task, one.make(10 * one.rows))
        ratios = [f"{last / first:.1f}" for first, last in zip(few, many, strict=True)]
        times = [f"{last * 1000:.1f}" for last in many]
        pairs = (cell for pair in zip(times, ratios, strict=True) for cell in pair)
        cells.append([one.name, f"{10 * one.rows:,}", *pairs])
    head = [cell for name in ALGORITHMS for cell in (name, "ratio")]
    yield from format_table(["milliseconds", "rows", *head], cells)


def first_searches(_: Options) -> Iterator[str]:
    """The table of the first search of a process."""
    cells = []
    for engine in ALGORITHMS:
        for run_conditions, name in FIRST_SEARCHES.items():
            call = f"first({engine!r}, {run_conditions!r})"
            with fresh_copy() as copy:
                taken = [copy.printed(f"{FIRST}; {call}") for _ in range(2)]
            cells.append([f"{engine}, {name}", *taken])
    yield from format_table(["first search of a process", "compiled", "from the cache"], cells)


def main() -> None:
    for part in (report, linear, first_searches):
        print("\n".join(part(Options())), end="\n\n", flush=True)


def first(engine: str, run_conditions: str) -> None:
    """Prints the seconds of a first search; "selection": all matches that may skip rows."""
    walk, moves = prices(100)
    condition = {"B": build_operation(LESS, PRICE, FIRST_OF_A)}
    task = make_task("A B+ C+", {"B": 0, "C": 1}, None if run_conditions == "data" else condition)
    if run_conditions == "selection":
        pattern = compile_for_output(parse_row_pattern("A B+ C+"), None, NEXT, MatchOutput.ALL)
        task = replace(task, pattern=pattern, selection=NEXT, output=MatchOutput.ALL)
    partitions = make_partitions(moves, 10, walk)
    began = time.perf_counter()
    with in_force(Shortcuts(max_python_steps=0)):
        count_matches(ALGORITHMS[engine], task, partitions)
    print(f"{time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
