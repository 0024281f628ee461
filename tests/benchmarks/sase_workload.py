"""The workload of the SASE+ paper's evaluation, made from SASE+ text, without Spark.

Source: Agrawal, Diao, Gyllstrom, Immerman, "Efficient Pattern Matching over Event Streams", 2008,
"Performance evaluation".
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from matchrec.compile.compiled_query import CompiledQuery
from matchrec.conditions.types import BIGINT
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.resolve import InputColumns
from matchrec.search.kernel_input import SearchInput, prepare_input
from matchrec.search.kernels import layout
from matchrec.search.match_lists import number_chunks, sort_matches
from matchrec.search.matches import Matches
from matchrec.search.partitions import Partitions
from matchrec.search.runs_search import RunsSearch
from matchrec.search.strategies import ALGORITHMS as SEARCH_ALGORITHMS
from matchrec.search.task import Capacity, Task
from matchrec.search.window_ends import find_ends_by_row_count
from tests.tasks.linking import link, split_plan

SYMBOLS = 2
# The length of the stream of a symbol, in windows.
WINDOWS = 200

# The queries, with the names that the paper gives the strategies and the predicates.
TEMPLATE = """
PATTERN SEQ(stock+ a[], stock b{more})
WHERE {strategy} {{
    [symbol] AND a[1].price % 500 = 0{predicate} AND b.volume < 150{on_more} }}
WITHIN {window} events
"""
STRATEGIES = {"s2": "partition_contiguity", "s3": "skip_till_next_match"}
PREDICATES = {
    "p1": "",
    "p2": " AND a[i].price > a[i-1].price",
    "p3": " AND a[i].price > min(a[..i-1].price)",
    "p3*": " AND a[i].price > min(a[..i-1].price)",
}
# The predicate on the third component, which only the query p3* has.
ON_C = " AND c.price > a[1].price AND c.price < a[a.LEN].price"

# The algorithms that are compared: breadth-first without and with merging of runs, and
# backtracking.
ALGORITHMS = ("basic", "merging", "backtracking")

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """A query over a stream, and the algorithm that searches it: one measurement."""

    # A key of PREDICATES.
    predicate: str
    # A key of STRATEGIES.
    strategy: str
    # One of ALGORITHMS.
    algorithm: str = "basic"
    # "all", "non_overlapping", or "count" for all matches without sequence construction.
    output: str = "all"
    # The size of the window, in events.
    window: int = 500
    # The length of the stream of a symbol, in windows.
    windows: int = WINDOWS
    # The probability that a price rises.
    rises: float = 0.7
    # Whether prices stay in 1 .. 1000: a price of 1000 that rises becomes 1.
    wrapped: bool = False

    @property
    def text(self) -> str:
        """Return the query in SASE+."""
        has_c = self.predicate == "p3*"
        return TEMPLATE.format(
            more=", stock c" if has_c else "",
            on_more=ON_C if has_c else "",
            strategy=STRATEGIES[self.strategy],
            predicate=PREDICATES[self.predicate],
            window=self.window,
        )

    @property
    def events(self) -> pd.DataFrame:
        """Return the events of all symbols, symbol after symbol."""
        return make_stream(self.windows * self.window, self.rises, self.wrapped)


@dataclass(frozen=True)
class Result:
    """What a search finds and how long it takes."""

    # CPU seconds.
    seconds: float
    # The number of events of the stream.
    events: int
    matches: int
    # The number of events of all matches together.
    mapped: int
    # The counters of the search: see `kernels.layout`.
    counters: IntArray

    @property
    def rate(self) -> float:
        """Events per second."""
        return self.events / self.seconds

    @property
    def length(self) -> float:
        """Return the mean number of events of a match."""
        return self.mapped / max(1, self.matches)

    @property
    def runs(self) -> float:
        """Return the mean number of runs at a time step, of all symbols together."""
        return SYMBOLS * (self.reads - 1)

    @property
    def reads(self) -> float:
        """Return how many runs read an event on average, including the run that it may begin."""
        return float(self.counters[layout.READS]) / self.events


@lru_cache(maxsize=2)
def make_stream(length: int, rises: float, wrapped: bool) -> pd.DataFrame:
    """Return the events of all symbols, symbol after symbol; the same ones each time."""
    random = np.random.default_rng(2008)
    events = [make_ticks(random, length, rises, wrapped) for _ in range(SYMBOLS)]
    symbol = np.repeat(np.arange(1, SYMBOLS + 1), length)
    return pd.concat(events, ignore_index=True).assign(symbol=symbol, event_type="stock")


def make_ticks(
    random: np.random.Generator, length: int, rises: float, wrapped: bool
) -> pd.DataFrame:
    """Return the events of a symbol: a price that rises by one, falls by one or stays; a volume.

    Args:
        random: the source of random numbers.
        length: the number of events.
        rises: the probability that the price rises. It falls as often as it stays.
        wrapped: whether prices stay in 1 .. 1000.
    """
    draws = random.random(length)
    rises_or_falls = rises + (1 - rises) / 2
    change = np.where(draws < rises, 1, np.where(draws < rises_or_falls, -1, 0))
    price = random.integers(1, 1001) + np.cumsum(change)
    price = (price - 1) % 1000 + 1 if wrapped else price
    return pd.DataFrame({"price": price, "volume": random.integers(1, 1001, length)})


def link_query(text: str, output: MatchOutput) -> CompiledQuery:
    """Compile a query as for Spark; every column is a bigint."""
    plan = compile_sase(text, StreamOptions(("time",), output=output))
    split = split_plan(plan, InputColumns(()), str)
    types = dict.fromkeys(split.columns, BIGINT)
    return link(split, types, "breadth_first", ansi=False)


def make_partitions(linked: CompiledQuery, events: pd.DataFrame) -> Partitions:
    """Return what Spark would send: a partition for each symbol, columns, conditions, windows."""
    assert linked.window_rows is not None
    changes = np.flatnonzero(np.diff(events["symbol"])) + 1
    starts = np.array([0, *changes, len(events)], np.int64)
    bits = np.zeros(len(events), np.uint64)
    for bit, condition in enumerate(linked.row_conditions):
        bits |= evaluate_condition(condition.text, events).astype(np.uint64) << np.uint64(bit)
    columns = [
        events[linked.sent_columns.columns[i].text.strip("`")]
        for i in linked.sent_columns.integer_columns
    ]
    integers = np.array(columns, np.int64).reshape(-1, len(events))
    return Partitions(
        starts,
        bits.reshape(-1, 1),
        integers,
        np.ones(integers.shape, np.bool_),
        len(integers),
        find_ends_by_row_count(starts, linked.window_rows),
    )


def evaluate_condition(condition: str, events: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return for each event whether a condition in SQL is true; no value is NULL."""
    result = np.ones(len(events), np.bool_)
    for conjunct in condition.split(" AND "):
        if "IS NOT NULL" not in conjunct:
            result &= events.eval(conjunct.replace(" = ", " == ")).to_numpy()
    return result


@dataclass(frozen=True)
class Search:
    """The search of a cell, ready to run."""

    # One of ALGORITHMS.
    algorithm: str
    task: Task
    partitions: Partitions
    # Whether no match is constructed.
    counts_only: bool

    def run(self) -> Result:
        """Run the search, drop its matches, and return the result with its CPU time."""
        counters = np.zeros(layout.COUNTER_COUNT, np.int64)
        start = time.process_time()
        matches = 0
        mapped = 0
        for chunk in self.find_matches(counters):
            matches += chunk.count
            mapped += int(chunk.offsets[-1])
        seconds = time.process_time() - start
        return Result(seconds, self.partitions.row_count, matches, mapped, counters)

    def find_matches(self, counters: IntArray) -> Iterator[Matches]:
        """Yield the matches in chunks."""
        if self.algorithm == "backtracking":
            strategy = SEARCH_ALGORITHMS[self.algorithm].choose_strategy(self.task)
            return strategy.search(self.task, self.partitions, counters)
        runs = RunsSearch(self.task, self.prepare(), Capacity(), counters)
        return number_chunks(self.task, map(sort_matches, runs.find_matches()))

    def prepare(self) -> SearchInput:
        """Return the input of the breadth-first search, with merging and output as the cell says.

        The search has a rule for the graph of all matches that keeps runs from merging. If matching
        alone is measured, no state accepts: the runs are the same, and no match is constructed.
        """
        search_input = prepare_input(self.task, self.partitions)
        compiled_task = search_input.compiled_task
        selection_rules = search_input.selection_rules
        assert selection_rules is not None
        if self.algorithm == "basic":
            rules = compiled_task.rules._replace(merges_runs=False)
            compiled_task = replace(compiled_task, rules=rules)
        if self.counts_only:
            selection_rules = selection_rules._replace(
                accepting_guards=np.full_like(selection_rules.accepting_guards, -1)
            )
        return replace(search_input, compiled_task=compiled_task, selection_rules=selection_rules)


def prepare_search(cell: Cell) -> Search:
    """Prepare the search of a cell."""
    non_overlapping = cell.output == "non_overlapping"
    linked = link_query(
        cell.text, MatchOutput.NON_OVERLAPPING if non_overlapping else MatchOutput.ALL
    )
    partitions = make_partitions(linked, cell.events)
    return Search(cell.algorithm, linked.task, partitions, cell.output == "count")


def measure_cells(cells: list[Cell], rounds: int, most_seconds: float = 6.0) -> dict[Cell, Result]:
    """Return the fastest run of every cell.

    The cells take turns, so that a time in which the machine is slow affects all of them.

    Args:
        cells: the cells.
        rounds: how often each cell runs, after a first round that also compiles.
        most_seconds: the CPU seconds after which a cell that has run twice does not run again.
    """
    searches = {cell: prepare_search(cell) for cell in cells}
    best: dict[Cell, Result] = {}
    seconds_spent = dict.fromkeys(cells, 0.0)
    for round_number in range(rounds + 1):
        for cell, search in searches.items():
            if round_number > 1 and seconds_spent[cell] > most_seconds:
                continue
            result = search.run()
            seconds_spent[cell] += result.seconds
            if cell not in best or result.seconds < best[cell].seconds:
                best[cell] = result
    return best
