"""Choose how to search a task: an algorithm, and one of its strategies.

1. Take the algorithm that the user chose; otherwise `find_fastest` chooses one.
2. Take the first class in `STRATEGIES` whose `algorithm` matches and whose `find_obstacle` returns
   None.

`format_strategies` returns a table that says when each strategy is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from matchrec.errors.calls import algorithm_not_possible
from matchrec.plan.clauses import ONE_MATCH_PER_START, MatchOutput
from matchrec.search.all_matches import SelectionByAllRuns
from matchrec.search.chained import ChainedStrategy
from matchrec.search.distances import LongestDistanceStrategy, WindowedDistanceStrategy
from matchrec.search.memoised import MemoisedStrategy
from matchrec.search.merging import LongestOfAllRuns, MergingStrategy
from matchrec.search.plain import PlainStrategy
from matchrec.search.skipping import SelectionByOneRun
from matchrec.search.strategy import Strategy, compile_arrays
from matchrec.search.task import BACKTRACKING, BREADTH_FIRST, Capacity, Task
from matchrec.search.totals import TotalsOfAllRuns

# Strategies of one algorithm are in order of preference.
STRATEGIES: tuple[type[Strategy], ...] = (
    TotalsOfAllRuns,
    SelectionByOneRun,
    SelectionByAllRuns,
    LongestDistanceStrategy,
    LongestOfAllRuns,
    WindowedDistanceStrategy,
    ChainedStrategy,
    MemoisedStrategy,
    PlainStrategy,
    MergingStrategy,
)


def format_strategies() -> str:
    """Return all strategies as a table in Markdown, in order of preference.

    Of the strategies of the chosen algorithm, the first one that can search a task is used.
    """
    lines = ["| strategy | file | algorithm | chosen for |", "|---|---|---|---|"]
    for strategy in STRATEGIES:
        file = strategy.__module__.removeprefix("matchrec.").replace(".", "/")
        lines.append(
            f"| {strategy.label} | `{file}.py` | `{strategy.algorithm}` | {strategy.chosen_for} |"
        )
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SearchAlgorithm:
    """A search algorithm, which a user can choose by its name.

    | name | how it searches | time if conditions read only the data |
    |---|---|---|
    | backtracking | one run at a time, depth first | linear in the rows, with two exceptions |
    | breadth_first | all runs at once, row by row | see `classify_time` |

    The two exceptions are event selection and longest matches in windows.

    Breadth-first search continues only one of several runs with the same future. These are runs in
    the same state at the same row, and whose conditions on later rows read the same values.
    """

    # BACKTRACKING or BREADTH_FIRST.
    name: str
    # How much a search is allowed to hold in memory.
    capacity: Capacity = Capacity()

    def find_obstacle(self, task: Task) -> str | None:
        """Return why the algorithm cannot run a task, as a sentence; None if it can."""
        if self.name == BACKTRACKING:
            if task.output is MatchOutput.GRAPH:
                return "only breadth_first has the shared buffer that the match graph shows"
            if task.totals is not None:
                return "aggregates over all matches need all runs at once"
            if task.output is MatchOutput.LONGEST and not task.reads_only_data:
                return "LONGEST MATCH needs all runs at once if conditions depend on the run"
        if task.output is MatchOutput.PREFERRED and (
            task.absences or task.closing_condition is not None
        ):
            return "negation needs all matches, and the query asks for the preferred ones"
        return None

    def choose_strategy(self, task: Task) -> Strategy:
        """Return the strategy by which the algorithm searches a task that it can run."""
        finds_runs = task.partial is not None and task.output in ONE_MATCH_PER_START
        matches_task = task if task.partial is None else replace(task, partial=None)
        for strategy in STRATEGIES:
            if strategy.algorithm == self.name and strategy.find_obstacle(matches_task) is None:
                return strategy(capacity=self.capacity, finds_runs=finds_runs)
        raise AssertionError("each algorithm has a strategy for every task that it can run")


ALGORITHMS = {name: SearchAlgorithm(name) for name in (BACKTRACKING, BREADTH_FIRST)}


# Instead of the name of an algorithm: the one that is expected to be fastest.
AUTO = "auto"


class StrategyChoice(NamedTuple):
    """The strategy that searches a task."""

    strategy: Strategy
    # Why it was chosen: a clause that `explain` prints after the name of the strategy.
    reason: str


def choose_algorithm_and_strategy(task: Task, name: str = AUTO) -> StrategyChoice:
    """Return the strategy that searches a task, with the reason.

    Args:
        task: the task of a query.
        name: BACKTRACKING, BREADTH_FIRST or AUTO.

    Raises:
        MatchRecognizeUnsupportedError: the algorithm cannot run the task.
        KeyError: there is no algorithm with this name.
    """
    algorithm = ALGORITHMS[find_fastest(task) if name == AUTO else name]
    obstacle = algorithm.find_obstacle(task)
    if obstacle is not None:
        raise algorithm_not_possible(name=algorithm.name, reason=obstacle)
    strategy = algorithm.choose_strategy(task)
    if name != AUTO:
        return StrategyChoice(strategy, "you chose this algorithm")
    return StrategyChoice(strategy, strategy.explain_choice(task))


def find_fastest(task: Task) -> str:
    """Return the name of the algorithm that is expected to be fastest.

    That is backtracking, except in three cases:

    1. With event selection, more than the preferred matches are output.
    2. Longest matches are output, and conditions depend on the run. Only breadth-first finds them.
    3. Conditions depend on the run, the number of ways through the pattern grows exponentially, and
       a search cannot remember all of its failures.
    """
    if task.needs_event_selection:
        return BACKTRACKING if task.output is MatchOutput.PREFERRED else BREADTH_FIRST
    if task.reads_only_data:
        return BACKTRACKING
    if task.output is MatchOutput.LONGEST:
        return BREADTH_FIRST
    if task.pattern.is_exponentially_ambiguous and not compile_arrays(task).remembers_all:
        return BREADTH_FIRST
    return BACKTRACKING


def classify_time(task: Task, algorithm: str) -> str:
    """Return in words how the time of a contiguous search grows with its rows.

    The result is an upper bound, for any conditions: each condition can hold on any row. If
    conditions depend on the run, `max_steps` ends a search that takes too long.

    W is an upper bound on the number of rows of a match: `describe_match_rows` says which. A search
    from one starting row reads at most W rows. Without loops, W is a constant, but the number of
    ways can still double with each element: `(A?){9} A{9}` has 512 ways. So the time of a bounded
    pattern with a choice is called exponential. For `A{1,5} B`, which has only five ways, this
    bound is far from exact.
    """
    linear = "linear in the number of rows"
    match_rows = describe_match_rows(task)
    linear_in_matches = f"{linear} times W; {match_rows}"
    if task.reads_only_data:
        return linear if is_linear_over_data(task, algorithm) else linear_in_matches
    if algorithm == BACKTRACKING and compile_arrays(task).remembers_all:
        if task.has_window:
            return linear_in_matches
        if compile_arrays(task).reads_match_number:
            return f"{linear} for each match, because conditions read MATCH_NUMBER()"
        return linear
    if task.pattern.is_deterministic:
        return linear_in_matches
    # `is_exponentially_ambiguous` looks at loops, so it is False for every bounded pattern.
    is_bounded = task.pattern.longest_match is not None
    is_exponential = is_bounded or task.pattern.is_exponentially_ambiguous
    growth = "exponentially" if is_exponential else "polynomially"
    return f"can grow {growth} with W, so max_steps can limit it; {match_rows}"


def describe_match_rows(task: Task) -> str:
    """Return in words what W is: how many rows a match can have."""
    if task.has_window:
        return "W is the number of rows in a window"
    if task.pattern.longest_match is None:
        return "W is the number of rows in a partition"
    return f"W is at most {task.pattern.longest_match}"


def is_linear_over_data(task: Task, algorithm: str) -> bool:
    """Return whether a search takes linear time if conditions depend on the data only.

    In windows, backtracking remembers distances. A distance to the nearest end of a match holds for
    every window that contains the match. A distance to the farthest end holds for one end of a
    window, so LONGEST searches rows again for other windows. Breadth-first search is linear only
    for preferred matches without windows.

    Args:
        task: a task whose conditions depend on the data only.
        algorithm: BACKTRACKING or BREADTH_FIRST.
    """
    if not task.has_window:
        return algorithm == BACKTRACKING or task.output is not MatchOutput.LONGEST
    return algorithm == BACKTRACKING and task.output is not MatchOutput.LONGEST
