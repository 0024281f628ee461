"""What a strategy is: a way to search one kind of task, and when it can.

Each strategy is a class in a file of its own, and `strategies` has the list of them and the choice.
A strategy says which tasks it can search, what `explain` calls it and why it is chosen. It knows
its search only by name: the code that searches is loaded by the first search, in a worker, because
a query that is planned needs none of it. Each `load` or `find_matches` names its kernel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from matchrec.plan.clauses import MatchOutput
from matchrec.search.interface import Room, Task

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions
    from matchrec.search.records import CompiledTask, SearchInput


@dataclass(frozen=True)
class Strategy(ABC):
    """A way to search one kind of task. Immutable: a search has all mutable state."""

    # The name of the algorithm that it is a variant of, by which users choose.
    algorithm: ClassVar[str]
    # What `explain` calls it.
    matching: ClassVar[str]
    # Which tasks it is for, for the table in the documentation.
    chosen_for: ClassVar[str]
    # Why it is expected to be the fastest for a task, for `explain`.
    fastest_because: ClassVar[str]

    # How much a search may hold.
    room: Room = Room()
    # Whether the runs from starting rows without a match are output after the matches.
    finds_runs: bool = False

    @classmethod
    @abstractmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot search a task, or None if it can."""

    def name(self, task: Task) -> str:
        """Return what `explain` calls the strategy for a task that it can search."""
        return self.name_matching(task) + ", then unfinished runs" * self.finds_runs

    def name_matching(self, task: Task) -> str:  # noqa: ARG002 -- other classes look at it
        """Return the name for a task without the part about runs."""
        return self.matching

    def reason(self, task: Task) -> str:  # noqa: ARG002 -- other classes look at it
        """Return why the strategy is expected to be the fastest for a task that it can search."""
        return self.fastest_because

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """Yield all matches in chunks of bounded size, in order of partition, then match number.

        With event selection they come in the order in which they are complete.

        Args:
            task: a task that the strategy can search.
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


class Search(Protocol):
    """One search of one task: see `search.KernelSearch`."""

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches in chunks, as they are found."""


class SearchClass(Protocol):
    """A class of searches."""

    def __call__(
        self, task: Task, arrays: SearchInput, room: Room, counters: IntArray | None
    ) -> Search:
        """Return a search of a task over some partitions."""


def load_backtracking(task: Task) -> SearchClass:
    """Import and return the backtracking search of preferred matches.

    If conditions read only the data, it is the search that remembers failures by state and row.
    Otherwise, it is the search that tests conditions on the run.
    """
    if task.looks_only_at_data:
        from matchrec.search.kernels.memoised import MemoisedSearch

        return MemoisedSearch
    from matchrec.search.kernels.plain import PlainSearch

    return PlainSearch


@dataclass(frozen=True)
class ContiguousStrategy(Strategy):
    """A strategy for matches of consecutive rows."""

    @abstractmethod
    def load(self, task: Task) -> SearchClass:
        """Load the class that searches a task."""

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches that the strategy's search finds."""
        from matchrec.search.records import prepare_input

        arrays = prepare_input(task, partitions, selects=False)
        return self.load(task)(task, arrays, self.room, counters).find_matches()


# What strategies of event selection are called if no skip strategy of stages leaves matches out.
NAMES: Mapping[MatchOutput, str] = {
    MatchOutput.PREFERRED: "preferred matches that skip rows",
    MatchOutput.ALL: "all matches",
    MatchOutput.NON_OVERLAPPING: "matches that do not overlap",
    MatchOutput.GRAPH: "graph of all matches",
}


@dataclass(frozen=True)
class SelectionStrategy(Strategy):
    """A strategy for event selection."""

    @classmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot run the task, or None if it can."""
        if task.totals is not None:
            return "the query asks for aggregates over all matches instead of matches"
        return None if task.selects else "the query has no event selection"

    def name_matching(self, task: Task) -> str:
        """Return which matches the task outputs."""
        return "matches after the skip strategy" if task.skip else NAMES[task.output]


# The reasons for which a strategy cannot search a task; None if there is none. They are joined by
# `or`.


def why_not_longest(task: Task) -> str | None:
    """Return a reason if a task does not ask for the longest match of consecutive rows."""
    if task.selects or task.output is not MatchOutput.LONGEST:
        return "the query does not ask for the longest match of consecutive rows"
    return None


def why_not_preferred(task: Task) -> str | None:
    """Return a reason if a task does not ask for the preferred match of consecutive rows."""
    if task.selects or task.output is MatchOutput.LONGEST:
        return "the query asks for more than the preferred match of consecutive rows"
    return None


def why_not_data_only(task: Task) -> str | None:
    """Return a reason if some condition of a task reads more than the data."""
    return None if task.looks_only_at_data else "conditions depend on the run"


def compiled(task: Task) -> CompiledTask:
    """Return the arrays of a task, which say more of conditions on the run than their form does."""
    from matchrec.search.records import compile_task  # loads all that conditions on the run need

    return compile_task(task, 0)
