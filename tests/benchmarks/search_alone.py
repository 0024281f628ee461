"""Measure the search algorithms on sorted arrays in memory.

    python -m tests.benchmarks.search_alone

It prints three tables: the CPU time of searches (the least of several runs, with compiled kernels);
what ten times the rows cost; and the elapsed time of the first search of a new process, with
kernels that are compiled and with kernels from the cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

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
from tests.benchmarks.fresh_copy import make_fresh_copy
from tests.benchmarks.markdown import format_table
from tests.benchmarks.options import Options
from tests.tasks.compiled import compile_for_output

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# The rows of most workloads, and the rows of workloads with conditions on the run.
MANY_ROWS = 2_000_000
FEWER_ROWS = 500_000
# The rate that a workload with conditions on the run should reach, in rows per second.
LEAST_RATE = 5e6
# The source of random rows. The seed is fixed, so that all runs of the benchmark have the same.
RANDOM = np.random.default_rng(7)

NEXT_ROW = AfterMatchSkip(SkipTo.NEXT_ROW)
PAST_LAST_ROW = AfterMatchSkip(SkipTo.PAST_LAST_ROW)

# The values that conditions on the run read, all from the only column.
PRICE = ReadValue(0, Kind.FLOATING)
FIRST_OF_A = ReadValue(0, Kind.FLOATING, Navigation("A", End.FIRST))
SECOND_LAST_OF_A = ReadValue(0, Kind.FLOATING, Navigation("A", End.LAST, 1))
LAST_OF_B = ReadValue(0, Kind.FLOATING, Navigation("B", End.LAST))
AVERAGE_OF_A = RunAggregate(Reduction.AVG, "A", 0, Kind.FLOATING)
SUM_OF_A = RunAggregate(Reduction.SUM, "A", 0, Kind.FLOATING)
LOWEST_PRICE = RunAggregate(Reduction.MIN, None, 0, Kind.FLOATING)
HAS_KEY_OF_A = build_operation(Comparison.EQUAL, PRICE, FIRST_OF_A)
IS_BELOW_FIRST = build_operation(Comparison.LESS, PRICE, FIRST_OF_A)
IS_ABOVE_BOTTOM = build_operation(Comparison.GREATER, PRICE, LAST_OF_B)

# The bits of the row conditions in the rows of `make_prices`.
FALLS = 0
RISES = 1

# Patterns with their variables. In the rows of the benchmark, no row satisfies the last variable
# and every row satisfies the others, so there is no match.
UNMATCHED_PATTERNS = {
    "A* B": "AB",
    "(A+)+ B": "AB",
    "(A | A B)* C": "ABC",
    "(A?){30} A{30} B": "AB",
    "A+ B+ C": "ABC",
    "PERMUTE(A, B, C, D, E, F, G, H)": "ABCDEFGH",
    "PERMUTE(A, B, C, D, E, F, G, H) I": "ABCDEFGHI",
    "A{1,50} B": "AB",
}


class FirstSearch(Enum):
    """A kind of search whose first run in a process is measured. The value is its description."""

    DATA = "conditions on the data"
    RUN = "conditions on the run"
    SELECTION = "event selection"


@dataclass(frozen=True)
class Workload:
    """A search, and the aim for its time, if there is one."""

    name: str
    task: Task
    partitions: Partitions
    # The CPU seconds that the search may take; None if there is no aim.
    most_seconds: float | None = None

    @property
    def aim(self) -> str:
        """Return the milliseconds that the search may take, as text; "" if there is no aim."""
        return "" if self.most_seconds is None else f"{self.most_seconds * 1000:.0f}"


def make_task(
    pattern: str,
    row_conditions: dict[str, int],
    run_conditions: dict[str, RunExpression] | None = None,
    after_match: AfterMatchSkip = PAST_LAST_ROW,
) -> Task:
    """Return the task of a search for consecutive rows.

    Args:
        pattern: the row pattern.
        row_conditions: by variable, the bit that a row has if it may be mapped to the variable.
        run_conditions: by variable, a condition on the run.
        after_match: where the search goes on after a match.
    """
    tree = parse_row_pattern(pattern)
    names = list_variable_names(tree)
    run_conditions = run_conditions or {}
    conditions = tuple(
        Condition(row_conditions.get(name), run_conditions.get(name)) for name in names
    )
    members = {name: frozenset([variable_id]) for variable_id, name in enumerate(names)}
    return Task(compile_for_output(tree, names), conditions, members, after_match)


def make_partitions(bits: IntArray, size: int, *columns: FloatArray) -> Partitions:
    """Return partitions of the same size.

    Args:
        bits: for each row, the bits of the row conditions that it satisfies.
        size: the number of rows of a partition. The last partition can have fewer.
        columns: the columns that conditions on the run read.
    """
    row_count = len(bits)
    values = np.array(columns, np.float64).reshape(len(columns), row_count)
    return Partitions(
        starts=np.append(np.arange(0, row_count, size), row_count).astype(np.int64),
        condition_bits=bits.astype(np.uint64).reshape(row_count, 1),
        columns=values.view(np.int64),
        valid=np.ones(values.shape, np.bool_),
        integer_count=0,
    )


def make_prices(row_count: int) -> tuple[FloatArray, IntArray]:
    """Return a random walk of prices, and for each row the bits FALLS and RISES."""
    prices = np.cumsum(RANDOM.integers(-5, 6, row_count)).astype(np.float64)
    changes = np.diff(prices, prepend=prices[0])
    bits = (changes < 0) * (1 << FALLS) + (changes > 0) * (1 << RISES)
    return prices, bits


def list_workloads() -> Iterator[Workload]:
    """Yield the workloads: first with conditions on the data, then with conditions on the run."""
    prices, moves = make_prices(MANY_ROWS)
    moves_by_variable = {"B": FALLS, "C": RISES}
    v_shape = make_task("A B+ C+", moves_by_variable)
    yield Workload("V-shape, 1,000 partitions", v_shape, make_partitions(moves, 2_000), 0.15)
    yield Workload("V-shape, 200,000 partitions", v_shape, make_partitions(moves, 10))
    overlapping = make_task("A B+ C+", moves_by_variable, after_match=NEXT_ROW)
    yield Workload("V-shape, SKIP TO NEXT ROW", overlapping, make_partitions(moves, 2_000))

    # Each row satisfies each of three variables with a probability of 2 %.
    rare_bits = (RANDOM.random((MANY_ROWS, 3)) < 0.02) @ np.array([1, 2, 4])
    bits_by_variable = {"A": 0, "B": 1, "C": 2}
    scan = make_task("A B C", bits_by_variable)
    yield Workload("scan, few matches", scan, make_partitions(rare_bits, MANY_ROWS))
    funnel = make_task("A D*? B D*? C", bits_by_variable)
    yield Workload("reluctant funnel", funnel, make_partitions(rare_bits, 2_000))
    yield from list_run_workloads(prices[:FEWER_ROWS], moves[:FEWER_ROWS])


def list_run_workloads(prices: FloatArray, moves: IntArray) -> Iterator[Workload]:
    """Yield the workloads with conditions on the run.

    Args:
        prices: the price of each row.
        moves: for each row, the bits FALLS and RISES.
    """
    partitions = make_partitions(moves, 500, prices)
    most_seconds = partitions.row_count / LEAST_RATE
    v_shape = make_task(
        "A B+ C+", {"B": FALLS, "C": RISES}, {"B": IS_BELOW_FIRST, "C": IS_ABOVE_BOTTOM}
    )
    yield Workload("FIRST(A.x), LAST(B.x): A B+ C+", v_shape, partitions, most_seconds)
    limits = {"avg": AVERAGE_OF_A, "min": LOWEST_PRICE, "LAST(A.x, 1)": SECOND_LAST_OF_A}
    for name, limit in limits.items():
        reaches_limit = build_operation(Comparison.GREATER_OR_EQUAL, PRICE, limit)
        task = make_task("A+ B", {"B": FALLS}, {"A": reaches_limit})
        yield Workload(f"running {name}: A+ B", task, partitions, most_seconds)
    is_sum_small = build_operation(Comparison.LESS, SUM_OF_A, Constant(1e4, Kind.FLOATING))
    summing = make_task("A+", {}, {"A": is_sum_small})
    yield Workload("running sum: A+", summing, partitions, most_seconds)


@dataclass(frozen=True)
class GrowingWorkload:
    """A search over few rows and over ten times as many, in one partition."""

    name: str
    task: Task
    # Returns the partition, given its number of rows.
    make_rows: Callable[[int], Partitions]
    # The number of few rows.
    row_count: int = 50_000


def make_satisfying(names: str) -> Callable[[int], Partitions]:
    """Return a function that makes rows each of which satisfies all these variables, A first."""
    return lambda row_count: make_partitions(np.full(row_count, (1 << len(names)) - 1), row_count)


def list_growing_workloads() -> Iterator[GrowingWorkload]:
    """Yield patterns that can map the same rows in very many ways.

    A search that tries all ways would not end within a lifetime.
    """
    for pattern, names in UNMATCHED_PATTERNS.items():
        task = make_task(pattern, {name: bit for bit, name in enumerate(names)})
        yield GrowingWorkload(f"{pattern}, no match", task, make_satisfying(names[:-1]))
    optional = make_task("(A?){30} A{30}", {"A": 0})
    yield GrowingWorkload("(A?){30} A{30}", optional, make_satisfying("A"))
    yield GrowingWorkload(
        "(A?){30} A{30}, rows too few",
        optional,
        lambda row_count: make_short_stretches(row_count, 29),
    )
    equal_keys = {"A": HAS_KEY_OF_A, "B": HAS_KEY_OF_A}
    matching = make_task("A+ B+", {}, equal_keys)
    yield GrowingWorkload("A+ B+, equal keys", matching, make_equal_keys, 25_000)
    failing = make_task("A+ B+ C", {"C": 0}, equal_keys)
    yield GrowingWorkload("A+ B+ C, equal keys, no match", failing, make_equal_keys, 50)


def make_short_stretches(row_count: int, length: int) -> Partitions:
    """Return one partition in which `length` rows satisfy A, then one row does not, and so on."""
    satisfies_a = np.arange(row_count) % (length + 1) < length
    return make_partitions(satisfies_a.astype(np.int64), row_count)


def make_equal_keys(row_count: int) -> Partitions:
    """Return one partition whose rows have the same value and satisfy no row condition."""
    return make_partitions(np.zeros(row_count, np.int64), row_count, np.ones(row_count))


@dataclass(frozen=True)
class Measurement:
    """What the algorithms take for a search."""

    # The CPU seconds of each algorithm, in the order of ALGORITHMS.
    seconds: list[float]
    # The number of matches that all of them find.
    match_count: int


def measure_algorithms(task: Task, partitions: Partitions) -> Measurement:
    """Measure a search with each algorithm.

    Raises:
        AssertionError: the algorithms find different numbers of matches.
    """
    seconds = []
    match_counts = set()
    for algorithm in ALGORITHMS.values():
        fastest, match_count = measure_search(algorithm, task, partitions)
        seconds.append(fastest)
        match_counts.add(match_count)
    assert len(match_counts) == 1, match_counts
    return Measurement(seconds, match_counts.pop())


def measure_search(
    algorithm: SearchAlgorithm, task: Task, partitions: Partitions
) -> tuple[float, int]:
    """Return the CPU seconds of the fastest of several searches, and the number of matches.

    There are five searches; three if these take more than two seconds together.
    """
    times: list[float] = []
    match_count = 0
    while len(times) < 3 or (len(times) < 5 and sum(times) < 2):
        start = time.process_time()
        match_count = count_matches(algorithm, task, partitions)
        times.append(time.process_time() - start)
    return min(times), match_count


def count_matches(algorithm: SearchAlgorithm, task: Task, partitions: Partitions) -> int:
    """Search the partitions, and return the number of matches."""
    strategy = algorithm.choose_strategy(task)
    return sum(matches.count for matches in strategy.search(task, partitions))


def report(_options: Options) -> Iterator[str]:
    """Yield the table of the workloads."""
    rows = []
    for workload in list_workloads():
        measurement = measure_algorithms(workload.task, workload.partitions)
        milliseconds = [f"{seconds * 1000:.1f}" for seconds in measurement.seconds]
        counts = (f"{workload.partitions.row_count:,}", f"{measurement.match_count:,}")
        rows.append([workload.name, *counts, *milliseconds, workload.aim])
    yield from format_table(["milliseconds", "rows", "matches", *ALGORITHMS, "aim"], rows)


def report_growth(_options: Options) -> Iterator[str]:
    """Yield the table of what ten times the rows cost."""
    rows = []
    for workload in list_growing_workloads():
        few_rows = workload.make_rows(workload.row_count)
        many_rows = workload.make_rows(10 * workload.row_count)
        seconds_of_few = measure_algorithms(workload.task, few_rows).seconds
        seconds_of_many = measure_algorithms(workload.task, many_rows).seconds
        cells = [workload.name, f"{many_rows.row_count:,}"]
        for few, many in zip(seconds_of_few, seconds_of_many, strict=True):
            cells += [f"{many * 1000:.1f}", f"{many / few:.1f}"]
        rows.append(cells)
    head = ["milliseconds", "rows"]
    for algorithm in ALGORITHMS:
        head += [algorithm, "times as long"]
    yield from format_table(head, rows)


def report_first_searches(_options: Options) -> Iterator[str]:
    """Yield the table of the first search of a process.

    Two processes run one after the other: the first one compiles the kernels, and the second one
    finds them in the cache.
    """
    rows = []
    for algorithm in ALGORITHMS:
        for first_search in FirstSearch:
            code = (
                "from tests.benchmarks.search_alone import FirstSearch, print_first_search; "
                f"print_first_search({algorithm!r}, {first_search})"
            )
            with make_fresh_copy() as copy:
                seconds = [copy.run_code(code) for _ in range(2)]
            rows.append([f"{algorithm}, {first_search.value}", *seconds])
    yield from format_table(["first search of a process", "compiled", "from the cache"], rows)


def print_first_search(algorithm: str, first_search: FirstSearch) -> None:
    """Run a search that compiles its kernels, and print its elapsed seconds.

    Args:
        algorithm: the name of the search algorithm.
        first_search: the kind of search.
    """
    prices, moves = make_prices(100)
    run_conditions = None if first_search is FirstSearch.DATA else {"B": IS_BELOW_FIRST}
    task = make_task("A B+ C+", {"B": FALLS, "C": RISES}, run_conditions, NEXT_ROW)
    if first_search is FirstSearch.SELECTION:
        selection = EventSelection.SKIP_TILL_NEXT_MATCH
        output = MatchOutput.ALL
        pattern = compile_for_output(parse_row_pattern("A B+ C+"), None, selection, output)
        task = replace(task, pattern=pattern, selection=selection, output=output)
    partitions = make_partitions(moves, 10, prices)
    start = time.perf_counter()
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        count_matches(ALGORITHMS[algorithm], task, partitions)
    print(f"{time.perf_counter() - start:.2f} s")


def main() -> None:
    """Print all tables."""
    for report_part in (report, report_growth, report_first_searches):
        print("\n".join(report_part(Options())), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
