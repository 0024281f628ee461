"""Times both engines on sorted arrays in memory: `python -m tests.benchmarks.engine_alone`.

Prints a table of seconds (the best of three, processor time, warm) and of the rows a second, then
the time of the first search in a new process, kernels compiled and kernels from the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from matchrec.engine.choose import ENGINES
from matchrec.engine.interface import Condition, Engine, Task
from matchrec.engine.partitions import Partitions
from matchrec.frontends.row_pattern import parse_row_pattern
from matchrec.nfa.compile import compile_pattern
from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.expression import End, Navigation
from matchrec.plan.glue import Compare, Comparison, Constant, Glue, Kind, Read, Reduce, Reduction
from matchrec.plan.pattern import variable_names

NEXT_ROW = AfterMatchSkip(SkipTo.NEXT_ROW)
CHANGES = np.random.default_rng(7)


@dataclass(frozen=True)
class Workload:
    name: str
    task: Task
    partitions: Partitions


def make_task(
    pattern: str,
    row_conditions: dict[str, int],
    glue: dict[str, Glue] | None = None,
    after_match: AfterMatchSkip = NEXT_ROW,
) -> Task:
    tree = parse_row_pattern(pattern)
    names = variable_names(tree)
    conditions = (Condition(row_conditions.get(n), (glue or {}).get(n)) for n in names)
    members = {name: frozenset([number]) for number, name in enumerate(names)}
    return Task(compile_pattern(tree, names), names, tuple(conditions), members, after_match)


def make_partitions(bits: npt.NDArray[np.int64], size: int, *floats: object) -> Partitions:
    rows = len(bits)
    columns = np.array(floats, np.float64).reshape(len(floats), rows)
    return Partitions(
        np.append(np.arange(0, rows, size), rows).astype(np.int64),
        bits.astype(np.uint64).reshape(rows, 1),
        np.zeros((0, rows), np.int64),
        columns,
        np.zeros((0, rows), np.bool_),
        np.ones(columns.shape, np.bool_),
    )


def prices(rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """A random walk; bit 0: down, bit 1: up."""
    walk = np.cumsum(CHANGES.integers(-5, 6, rows)).astype(np.float64)
    change = np.diff(walk, prepend=walk[0])
    return walk, (change < 0) * 1 + (change > 0) * 2


PAST = AfterMatchSkip()
PRICE = Read(0, Kind.FLOATING)
GREATER, LESS = Comparison.GREATER, Comparison.LESS
LONG = {
    "A* B": "AB",
    "(A+)+ B": "AB",
    "(A | A B)* C": "ABC",
    "(A?){30} A{30} B": "AB",
    "A+ B+ C": "ABC",
    "PERMUTE(A, B, C, D, E, F, G, H) I": "ABCDEFGHI",
    "A{1,50} B": "AB",
}


def workloads() -> Iterator[Workload]:
    walk, moves = prices(2_000_000)
    v_shape = make_task("A B+ C+", {"B": 0, "C": 1}, after_match=PAST)
    yield Workload("V-shape, 1,000 partitions", v_shape, make_partitions(moves, 2_000))
    yield Workload("V-shape, 200,000 partitions", v_shape, make_partitions(moves, 10))
    overlapping = make_task("A B+ C+", {"B": 0, "C": 1})
    yield Workload("V-shape, SKIP TO NEXT ROW", overlapping, make_partitions(moves, 2_000))
    rare = (CHANGES.random((2_000_000, 3)) < 0.02) @ np.array([1, 2, 4])
    scan = make_task("A B C", {"A": 0, "B": 1, "C": 2}, after_match=PAST)
    yield Workload("scan, few matches", scan, make_partitions(rare, 2_000_000))
    funnel = make_task("A D*? B D*? C", {"A": 0, "B": 1, "C": 2}, after_match=PAST)
    yield Workload("reluctant funnel", funnel, make_partitions(rare, 2_000))
    for pattern, names in LONG.items():
        for rows in (50_000, 500_000):
            bits = np.full(rows, (1 << (len(names) - 1)) - 1)  # all but the last variable
            task = make_task(pattern, {n: i for i, n in enumerate(names)}, after_match=PAST)
            yield Workload(f"{pattern}, no match, {rows:,}", task, make_partitions(bits, rows))
    yield from run_dependent(walk[:500_000], moves[:500_000])


def run_dependent(
    walk: npt.NDArray[np.float64], moves: npt.NDArray[np.int64]
) -> Iterator[Workload]:
    partitions = make_partitions(moves, 500, walk)
    first = Read(0, Kind.FLOATING, Navigation("A", End.FIRST))
    last = Read(0, Kind.FLOATING, Navigation("B", End.LAST))
    before = Read(0, Kind.FLOATING, Navigation("A", End.LAST, 1))
    average = Reduce(Reduction.AVG, "A", 0, Kind.FLOATING)
    lowest = Reduce(Reduction.MIN, None, 0, Kind.FLOATING)
    total = Reduce(Reduction.SUM, "A", 0, Kind.FLOATING)
    down, up = {"B": 0}, {"C": 1}
    yield Workload(
        "FIRST(A.x), LAST(B.x): A B+ C+",
        make_task(
            "A B+ C+",
            down | up,
            {"B": Compare(LESS, PRICE, first), "C": Compare(GREATER, PRICE, last)},
            PAST,
        ),
        partitions,
    )
    for name, limit in (("avg", average), ("min", lowest), ("LAST(A.x, 1)", before)):
        condition = Compare(Comparison.GREATER_OR_EQUAL, PRICE, limit)
        task = make_task("A+ B", down, {"A": condition}, PAST)
        yield Workload(f"running {name}: A+ B", task, partitions)
    bounded = Compare(LESS, total, Constant(1e4, Kind.FLOATING))
    yield Workload("running sum: A+", make_task("A+", {}, {"A": bounded}, PAST), partitions)


def seconds(action: Callable[[], int]) -> tuple[float, int]:
    """The best processor time of three, and the result."""
    best, result = float("inf"), 0
    for _ in range(3):
        begin = time.process_time()
        result = action()
        best = min(best, time.process_time() - begin)
    return best, result


def count_matches(engine: Engine, workload: Workload) -> int:
    return sum(m.count for m in engine.search(workload.task, workload.partitions))


def main() -> None:
    print(f"{'workload':<44}{'rows':>10}{'matches':>9}" + "".join(f"{n:>24}" for n in ENGINES))
    for workload in workloads():
        cells, counts = [], set()
        for engine in ENGINES.values():
            time_taken, count = seconds(lambda e=engine, w=workload: count_matches(e, w))
            rate = workload.partitions.rows / time_taken / 1e6
            cells.append(f"{time_taken * 1000:>11.1f} ms {rate:>6.1f} M/s")
            counts.add(count)
        assert len(counts) == 1, (workload.name, counts)
        rows = workload.partitions.rows
        print(f"{workload.name:<44}{rows:>10,}{counts.pop():>9,}" + "".join(cells), flush=True)
    for engine in ENGINES:
        for glue in ("data", "run"):
            with tempfile.TemporaryDirectory() as cache:
                taken = [first_search(engine, glue, cache) for _ in range(2)]
            print(f"first search, {engine}, {glue}: compiled {taken[0]}, from the cache {taken[1]}")


def first_search(engine: str, glue: str, cache: str) -> str:
    """Seconds of the first search in a new process with its kernels cached in `cache`."""
    code = f"from tests.benchmarks.engine_alone import first; first({engine!r}, {glue!r})"
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def first(engine: str, glue: str) -> None:
    walk, moves = prices(100)
    condition = {"B": Compare(LESS, PRICE, Read(0, Kind.FLOATING, Navigation("A", End.FIRST)))}
    task = make_task("A B+ C+", {"B": 0, "C": 1}, condition if glue == "run" else None)
    workload = Workload("first", task, make_partitions(moves, 10, walk))
    begin = time.perf_counter()
    count_matches(ENGINES[engine], workload)
    print(f"{time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
