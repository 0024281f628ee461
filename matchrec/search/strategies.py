"""Choose how a task is searched: two algorithms, and the strategies by which each of them searches.

Users may choose the algorithm. Its strategy is the first one in `STRATEGIES` that accepts the task:

    algorithm      strategy                             when it is chosen
    breadth_first  aggregates over all matches          aggregates are asked for, and no matches
    backtracking   preferred matches that skip rows ..  event selection, one run at a time
    breadth_first  all matches ..                       event selection, all runs at once
    backtracking   longest                              LONGEST MATCH, conditions on the data only
    breadth_first  longest                              LONGEST MATCH
    backtracking   windowed                             a window, conditions on the data only
    backtracking   chained                              matches overlap, conditions on the data only
    backtracking   memoised                             failures can be remembered
    backtracking   plain                                any conditions
    breadth_first  merging                              any conditions

A query that is planned needs only these classes. The code that searches is loaded by the first
search, in a worker, and only for the strategy that runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from matchrec.errors.calls import algorithm_not_possible
from matchrec.plan.clauses import ONE_MATCH_PER_START, MatchOutput
from matchrec.search.interface import BACKTRACKING, BREADTH_FIRST, Room, Task
from matchrec.shortcuts import current_shortcuts

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions
    from matchrec.search.records import CompiledTask
    from matchrec.search.search import KernelSearch


@dataclass(frozen=True)
class Strategy(ABC):
    """A way to search one kind of task. Immutable: a search has all mutable state."""

    algorithm: ClassVar[str]
    matching: ClassVar[str]  # what `explain` calls it
    fastest_because: ClassVar[str]  # why it is expected to be the fastest for a task

    room: Room = Room()  # how much a search may hold
    # Whether the runs from starting rows without a match are output after the matches.
    finds_runs: bool = False

    @abstractmethod
    def accepts(self, task: Task) -> str | None:
        """Return None if the strategy can search a task, otherwise the reason why it cannot."""

    def name(self, task: Task) -> str:
        """Return what `explain` calls the strategy for a task that it accepts."""
        return self.name_matching(task) + ", then runs of rows without a match" * self.finds_runs

    def name_matching(self, task: Task) -> str:  # noqa: ARG002 -- other classes look at it
        """Return the name for a task without the part about runs."""
        return self.matching

    def reason(self, task: Task) -> str:  # noqa: ARG002 -- other classes look at it
        """Return why the strategy is expected to be the fastest for a task that it accepts."""
        return self.fastest_because

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """Yield all matches in chunks of bounded size, in order of partition, then match number.

        With event selection they come in the order in which they are complete.

        Args:
            task: a task that the strategy accepts.
            partitions: the rows.
            counters: int64[COUNTERS], see `kernels.layout`. At its end, a search with event
                selection adds what it has counted. No other search counts.

        Raises:
            RunFailure: an error that depends on the data.
        """
        if not self.finds_runs:
            return self.find_matches(task, partitions, counters)
        from matchrec.search.partial import with_runs

        matches = self.find_matches(replace(task, partial=None), partitions, counters)
        return with_runs(matches, task, partitions, self.room)

    @abstractmethod
    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield all matches, as `search` does, of a task that asks for no runs."""


# Searches without event selection: at most one match of consecutive rows for each starting row.


@dataclass(frozen=True)
class ContiguousStrategy(Strategy):
    """A strategy for matches of consecutive rows."""

    @abstractmethod
    def load(self) -> type[KernelSearch]:
        """Load the class that searches."""

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches that the strategy's search finds."""
        from matchrec.search.records import prepare_input

        arrays = prepare_input(task, partitions, selects=False)
        return self.load()(task, arrays, self.room, counters).find_matches()


# The reasons for which a strategy cannot search a task; None if there is none. They are joined by
# `or`.


def why_not_longest(task: Task) -> str | None:
    """Return a reason if a task does not ask for the longest match of consecutive rows."""
    if task.selects or task.output is not MatchOutput.LONGEST:
        return "the longest match of consecutive rows is not asked for"
    return None


def why_not_preferred(task: Task) -> str | None:
    """Return a reason if a task does not ask for the preferred match of consecutive rows."""
    if task.selects or task.output is MatchOutput.LONGEST:
        return "more than the preferred match of consecutive rows is asked for"
    return None


def why_not_data_only(task: Task) -> str | None:
    """Return a reason if some condition of a task reads more than the data."""
    return None if task.looks_only_at_data else "conditions depend on the run"


# What strategies with the same search have in common.


@dataclass(frozen=True)
class ByDistances(ContiguousStrategy):
    """How far the end of a match is, found out once for each state and row."""

    algorithm = BACKTRACKING

    def load(self) -> type[KernelSearch]:
        """Import and return the search by distances."""
        from matchrec.search.search import DistanceSearch

        return DistanceSearch


@dataclass(frozen=True)
class OneRun(ContiguousStrategy):
    """One run at a time, over any data."""

    algorithm = BACKTRACKING

    def load(self) -> type[KernelSearch]:
        """Import and return the backtracking search."""
        from matchrec.search.search import BacktrackingSearch

        return BacktrackingSearch


@dataclass(frozen=True)
class AllRuns(ContiguousStrategy):
    """All runs at once; runs with equal computation states merge."""

    algorithm = BREADTH_FIRST

    def load(self) -> type[KernelSearch]:
        """Import and return the breadth-first search."""
        from matchrec.search.search import BreadthFirstSearch

        return BreadthFirstSearch


@dataclass(frozen=True)
class LongestByDistances(ByDistances):
    """The longest match: how far its farthest end is, found out once for each state and row."""

    matching = "longest"
    fastest_because = (
        "the longest match is asked for and conditions depend on the data only: how far the "
        "farthest end of a match is, is found out once for each state and row"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return why_not_longest(task) or why_not_data_only(task)


@dataclass(frozen=True)
class LongestOfAllRuns(AllRuns):
    """The longest match: all runs go on, and those with equal computation states merge."""

    matching = "longest"
    fastest_because = (
        "the longest match is asked for and conditions depend on the run: all runs go on, and "
        "those with equal computation states merge"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return why_not_longest(task)


@dataclass(frozen=True)
class Windowed(ByDistances):
    """The preferred match in a window: how far its end is, once for each state and row."""

    matching = "windowed"
    fastest_because = (
        "conditions depend on the data only: how far the end of a match is, is found out once "
        "for each state and row, so that no way is tried in vain"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        no_window = None if task.windowed else "matches have no window"
        return why_not_preferred(task) or no_window or why_not_data_only(task)


@dataclass(frozen=True)
class Memoised(OneRun):
    """One run at a time; failures are remembered by state and row."""

    matching = "memoised"

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        if (reason := why_not_preferred(task)) is not None:
            return reason
        if task.looks_only_at_data or compiled(task).remembers_all:
            return None
        return "a later condition may look at the run"

    def reason(self, task: Task) -> str:
        """Return why failures can be remembered."""
        if task.looks_only_at_data:
            return "conditions depend on the data only: failures are remembered"
        reason = "where ways meet, no later condition looks at the run: failures are remembered"
        return f"{reason} until the next match" if compiled(task).rules.forgets else reason


@dataclass(frozen=True)
class Chained(ContiguousStrategy):
    """One run at a time, whose match shares its rows with the matches that overlap it."""

    algorithm = BACKTRACKING
    matching = "chained"
    fastest_because = "conditions depend on the data only: failures are remembered"

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        if (reason := why_not_preferred(task)) is not None:
            return reason
        if not current_shortcuts().chains:
            return "matches may not share rows"
        return None if task.shares_rows else "how a match goes on depends on where it started"

    def load(self) -> type[KernelSearch]:
        """Import and return the chained search."""
        from matchrec.search.search import ChainedSearch

        return ChainedSearch

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield all matches.

        If chains are not asked for, they would have to be written out. That takes longer than to
        find the rows of short matches again.
        """
        if not task.chained:
            return Memoised(self.room).find_matches(task, partitions, counters)
        return super().find_matches(task, partitions, counters)


@dataclass(frozen=True)
class Plain(OneRun):
    """One run at a time; a failure is remembered only if no condition of the run bears on it."""

    matching = "plain"
    fastest_because = (
        "conditions depend on the run, but the ways through the pattern do not multiply: one "
        "run at a time is fastest"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return why_not_preferred(task)


@dataclass(frozen=True)
class Merging(AllRuns):
    """The preferred match: all runs at once; runs with equal computation states merge."""

    matching = "merging"
    fastest_because = (
        "conditions depend on the run and the ways through the pattern can multiply: runs with "
        "equal computation states merge"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return why_not_preferred(task)


# Searches with event selection: rows may be skipped, or more than one match of a starting row is
# asked for.

# What these strategies are called if no skip strategy of stages leaves matches out.
NAMES: Mapping[MatchOutput, str] = {
    MatchOutput.PREFERRED: "preferred matches that skip rows",
    MatchOutput.ALL: "all matches",
    MatchOutput.NON_OVERLAPPING: "matches that do not overlap",
    MatchOutput.GRAPH: "graph of all matches",
}


@dataclass(frozen=True)
class SelectionStrategy(Strategy):
    """A strategy for event selection."""

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        if task.totals is not None:
            return "aggregates over all matches are asked for, and no matches"
        return None if task.selects else "neither may rows be skipped nor are all matches asked for"

    def name_matching(self, task: Task) -> str:
        """Return which matches the task outputs."""
        return "matches that a skip strategy leaves" if task.skip else NAMES[task.output]

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches that event selection finds with the strategy's algorithm."""
        from matchrec.search.records import prepare_input
        from matchrec.search.selection import find_matches

        arrays = prepare_input(task, partitions, selects=True)
        return find_matches(self.algorithm, task, arrays, self.room, counters)


@dataclass(frozen=True)
class SelectionByOneRun(SelectionStrategy):
    """One run at a time, which finds the preferred match first."""

    algorithm = BACKTRACKING
    fastest_because = (
        "rows may be skipped and the preferred match is asked for: one run at a time finds it"
    )


@dataclass(frozen=True)
class SelectionByAllRuns(SelectionStrategy):
    """All runs at once over a shared buffer of their rows; equal runs merge."""

    algorithm = BREADTH_FIRST
    fastest_because = (
        "all matches are asked for: runs share their rows and merge where their computation "
        "states are equal"
    )


@dataclass(frozen=True)
class TotalsOfAllRuns(SelectionStrategy):
    """Aggregates over all matches: runs carry what is added up, and no match is built."""

    algorithm = BREADTH_FIRST
    matching = "aggregates over all matches"
    fastest_because = (
        "all matches are counted and none is built: runs carry what is added up, and merge "
        "where their computation states are equal"
    )

    def accepts(self, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        return None if task.totals is not None else "matches are asked for"

    def name_matching(self, task: Task) -> str:  # noqa: ARG002 -- other classes look at it
        """Return the text for aggregates over all matches, which is the same for every task."""
        return self.matching


# Strategies of one algorithm are in order of preference.
STRATEGIES: tuple[type[Strategy], ...] = (
    TotalsOfAllRuns,
    SelectionByOneRun,
    SelectionByAllRuns,
    LongestByDistances,
    LongestOfAllRuns,
    Windowed,
    Chained,
    Memoised,
    Plain,
    Merging,
)


# Choosing


@dataclass(frozen=True, slots=True)
class SearchAlgorithm:
    """A search algorithm, which a user may choose by its name.

    "backtracking" is depth-first search, linear in the rows where conditions depend on the data
    only. "breadth_first" makes one pass over the rows; runs with one future are searched once.
    """

    name: str
    room: Room = Room()

    def supports(self, task: Task) -> str | None:
        """Return None if the algorithm can run a task, otherwise the sentence that says why not."""
        if self.name == BACKTRACKING:
            if task.output is MatchOutput.GRAPH:
                return (
                    "the graph of all matches is the shared buffer of the algorithm breadth_first"
                )
            if task.totals is not None:
                return "what is added up over all matches is carried by all runs at once"
            if task.output is MatchOutput.LONGEST and not task.looks_only_at_data:
                return "the longest match under conditions on the run is found by all runs at once"
        if task.output is MatchOutput.PREFERRED and (task.absent or task.closing is not None):
            return "negation is tested on all matches, not on the preferred ones"
        return None

    def choose(self, task: Task) -> Strategy:
        """Return the strategy by which the algorithm searches a task that it supports."""
        finds_runs = task.partial is not None and task.output in ONE_MATCH_PER_START
        strategies = (kind(self.room, finds_runs) for kind in STRATEGIES)
        task = replace(task, partial=None)
        return next(
            strategy
            for strategy in strategies
            if strategy.algorithm == self.name and strategy.accepts(task) is None
        )


ALGORITHMS = {name: SearchAlgorithm(name) for name in (BACKTRACKING, BREADTH_FIRST)}


def choose(task: Task, name: str = "auto") -> tuple[Strategy, str]:
    """Return the strategy that runs a task, and the reason for it.

    Args:
        task: the task of a query.
        name: the name of an algorithm; "auto" is the one that is expected to be fastest.

    Raises:
        MatchRecognizeUnsupportedError: the algorithm cannot run the task.
        KeyError: there is no algorithm with this name.
    """
    algorithm = ALGORITHMS[find_fastest(task) if name == "auto" else name]
    obstacle = algorithm.supports(task)
    if obstacle is not None:
        raise algorithm_not_possible(name=algorithm.name, reason=obstacle)
    strategy = algorithm.choose(task)
    return strategy, strategy.reason(task) if name == "auto" else "asked for"


def find_fastest(task: Task) -> str:
    """Return the name of the algorithm that is expected to be fastest.

    All runs at once are faster if all matches are asked for, and if the ways through the pattern
    multiply while failures cannot be remembered.
    """
    if task.selects or task.looks_only_at_data:
        all_at_once = task.selects and task.output is not MatchOutput.PREFERRED
    elif task.output is MatchOutput.LONGEST:
        all_at_once = True
    else:
        multiplies = task.pattern.is_exponentially_ambiguous
        all_at_once = multiplies and not compiled(task).remembers_all
    return BREADTH_FIRST if all_at_once else BACKTRACKING


def classify_time(task: Task, algorithm: str) -> str:
    """Return in words how the time of a contiguous search grows with its rows.

    Conditions are unknown here: any of them may hold on any row. W is how many rows a match may
    have. If conditions depend on the run, `max_steps` ends what takes too long.
    """
    longest = task.pattern.longest
    if task.windowed:
        rows = "the rows of a window"
    else:
        rows = "the rows of a partition" if longest is None else f"at most {longest}"
    within = f"times W, {rows}"
    one_at_a_time = algorithm == BACKTRACKING
    if task.looks_only_at_data:
        merges = one_at_a_time or not task.windowed
        if task.output is MatchOutput.LONGEST:  # values hold for one end of windows only
            merges = one_at_a_time and not task.windowed
        return "linear in the rows" if merges else f"linear in the rows {within}"
    if one_at_a_time and compiled(task).remembers_all:
        again = " for each match, whose number conditions read"
        again = again if compiled(task).rules.forgets else ""
        return f"linear in the rows {within}" if task.windowed else f"linear in the rows{again}"
    if task.pattern.is_deterministic:
        return f"linear in the rows {within}"
    explodes = longest is not None or task.pattern.is_exponentially_ambiguous
    grows = "exponentially" if explodes else "as a power"
    return f"may grow {grows} with W, {rows}; max_steps ends what takes too long"


def compiled(task: Task) -> CompiledTask:
    """Return the arrays of a task, which say more of conditions on the run than their form does."""
    from matchrec.search.records import compile_task  # loads all that conditions on the run need

    return compile_task(task, 0)
