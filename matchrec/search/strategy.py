"""The base classes of strategies. A strategy is a way to search one kind of task.

Each strategy is a class in a file of its own. `strategies` has the list of them, and chooses one.

A strategy says which tasks it can search, which name `explain` gives it and why it is chosen. Its
methods `load` and `find_matches` import the code that searches when a worker calls them. Planning a
query does not need this code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from matchrec.plan.clauses import MatchOutput
from matchrec.search.task import Capacity, Task

if TYPE_CHECKING:
    from matchrec.search.compiled_task import CompiledTask
    from matchrec.search.kernel_input import SearchInput
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions


@dataclass(frozen=True)
class Strategy(ABC):
    """A way to search one kind of task. Immutable: a search has all mutable state."""

    # The name of its algorithm, which users can choose: BACKTRACKING or BREADTH_FIRST.
    algorithm: ClassVar[str]
    # The name in `explain`.
    label: ClassVar[str]
    # The tasks for which it is chosen: a cell of the table that `format_strategies` returns.
    chosen_for: ClassVar[str]
    # For `explain`: why it is expected to be the fastest for its tasks.
    fastest_because: ClassVar[str]

    # How much a search is allowed to hold in memory.
    capacity: Capacity = Capacity()
    # Whether the runs from starting rows without a match are output after the matches.
    finds_runs: bool = False

    @classmethod
    @abstractmethod
    def find_obstacle(cls, task: Task) -> str | None:
        """Return why the strategy cannot search a task, or None if it can."""

    def make_name(self, task: Task) -> str:
        """Return the name that `explain` shows for a task that the strategy can search."""
        name = self.make_name_for_matches(task)
        return f"{name}, then unfinished runs" if self.finds_runs else name

    def make_name_for_matches(self, task: Task) -> str:  # noqa: ARG002 -- other strategies need it
        """Return the part of the name about the search for matches."""
        return self.label

    def explain_choice(self, task: Task) -> str:  # noqa: ARG002 -- other strategies need it
        """Return why the strategy is expected to be the fastest for a task that it can search."""
        return self.fastest_because

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """Yield all matches in chunks of bounded size, in order of partition, then match number.

        With event selection they are numbered in another order: all matches in the order in which
        they are complete, preferred matches by their starting rows, and the matches that a skip
        strategy keeps by their first rows.

        Args:
            task: a task that the strategy can search.
            partitions: the rows. A search without event selection changes their frontier.
            counters: int64[COUNTER_COUNT], see `kernels.layout`. A search with event selection adds
                its counts when it ends; other searches do not count. None if no counts are needed.

        Raises:
            RunFailure: an error that depends on the data.
        """
        if not self.finds_runs:
            return self.find_matches(task, partitions, counters)
        from matchrec.search.partial import add_partial_runs

        matches = self.find_matches(replace(task, partial=None), partitions, counters)
        return add_partial_runs(matches, task, partitions, self.capacity)

    @abstractmethod
    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield all matches of a task that asks for no runs, as `search` does."""


class TaskSearch(Protocol):
    """A search of one task: see `kernel_search.KernelSearch`."""

    def find_matches(self) -> Iterator[Matches]:
        """Yield the matches in chunks, as they are found."""


class TaskSearchClass(Protocol):
    """A class of searches."""

    def __call__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None
    ) -> TaskSearch:
        """Return a search of a task over some partitions."""


@dataclass(frozen=True)
class ContiguousStrategy(Strategy):
    """A strategy for matches of consecutive rows."""

    @abstractmethod
    def load(self, task: Task) -> TaskSearchClass:
        """Load the class that searches a task."""

    def find_matches(
        self, task: Task, partitions: Partitions, counters: IntArray | None
    ) -> Iterator[Matches]:
        """Yield the matches that the strategy's search finds."""
        from matchrec.search.kernel_input import prepare_input

        arrays = prepare_input(task, partitions, for_event_selection=False)
        return self.load(task)(task, arrays, self.capacity, counters).find_matches()


# For each output, the name in `explain` of a search with event selection without a skip strategy of
# stages.
NAME_BY_OUTPUT: Mapping[MatchOutput, str] = {
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
        return None if task.needs_event_selection else "the query has no event selection"

    def make_name_for_matches(self, task: Task) -> str:
        """Return a name that says which matches the task outputs."""
        return "matches after the skip strategy" if task.skip else NAME_BY_OUTPUT[task.output]


# Functions that return why a strategy cannot search a task, as a sentence, or None if this is no
# obstacle. A strategy with several possible obstacles joins the calls by `or`.


def explain_not_longest(task: Task) -> str | None:
    """Return a sentence if a task does not ask for the longest match of consecutive rows."""
    if task.needs_event_selection or task.output is not MatchOutput.LONGEST:
        return "the query does not ask for the longest match of consecutive rows"
    return None


def explain_not_preferred(task: Task) -> str | None:
    """Return a sentence if a task does not ask for the preferred match of consecutive rows."""
    if task.needs_event_selection or task.output is MatchOutput.LONGEST:
        return "the query asks for more than the preferred match of consecutive rows"
    return None


def explain_no_window(task: Task) -> str | None:
    """Return a sentence if the matches of a task have no window."""
    return None if task.has_window else "matches have no window"


def explain_run_conditions(task: Task) -> str | None:
    """Return a sentence if some condition of a task depends on the run."""
    return None if task.reads_only_data else "conditions depend on the run"


def compile_arrays(task: Task) -> CompiledTask:
    """Return the arrays of a task, to find out which failures of a search can be remembered.

    They are not the arrays of a search, because the columns of the rows are not known yet.
    """
    # Imported here, because the module loads all code for conditions on the run.
    from matchrec.search.compiled_task import compile_task

    # While a query is planned, the number of columns is not known. It decides where instructions
    # read doubles, but not which failures can be remembered.
    return compile_task(task, integer_count=0)
