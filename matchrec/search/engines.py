"""The two search algorithms: which tasks each can run, by which strategy, why, and in what time.

A query that is planned needs only the names of strategies. The code that searches is loaded by the
first search, in a worker, and only for the strategy that runs.

What decides is asked once for each question: whether rows may be skipped or all matches are asked
for; whether conditions depend on the data only; whether failures can be remembered; whether the
ways through the pattern multiply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from matchrec.errors.calls import algorithm_cannot
from matchrec.plan.clauses import ONE_OF_A_ROW, MatchOutput
from matchrec.search.interface import Room, Task
from matchrec.shortcuts import taken

if TYPE_CHECKING:
    from matchrec.search.matches import Matches
    from matchrec.search.partitions import IntArray, Partitions
    from matchrec.search.records import CompiledTask


@dataclass(frozen=True, slots=True)
class Strategy:
    """How an algorithm searches one kind of task. Immutable: a search has all mutable state.

    algorithm: the name of its algorithm. matching: how it finds matches, see `name_matching`.
    partial: whether runs come out beside them that are none.
    """

    algorithm: str
    matching: str
    room: Room = Room()
    partial: bool = False

    @property
    def name(self) -> str:
        return self.matching + ", then runs of rows without a match" * self.partial

    def search(
        self, task: Task, partitions: Partitions, counters: IntArray | None = None
    ) -> Iterator[Matches]:
        """All matches, in chunks of bounded size, in order of partition, then of match number.

        With event selection they come in the order in which they are complete. counters:
        int64[COUNTERS], see `kernels.layout`; what a search with event selection has counted is
        added when it is at its end. No other search counts.
        Raises `RunFailure` for errors that depend on the data.
        """
        if self.partial:
            from matchrec.search.partial import with_runs

            matching = replace(self, partial=False)
            found = matching.search(replace(task, partial=None), partitions, counters)
            return with_runs(found, task, partitions, self.room)
        from matchrec.search.records import prepare_input

        arrays = prepare_input(task, partitions, selects=task.selects)
        if task.selects:
            from matchrec.search.selection import find_matches as find_selected

            return find_selected(self.algorithm, task, arrays, self.room, counters)
        from matchrec.search.search import search_of

        search = search_of(self.algorithm, self.matching, chained=task.chained)
        return search(task, arrays, self.room, counters).find_matches()


# What strategies of event selection are called that find such matches, without a skip strategy.
NAMES: Mapping[MatchOutput, str] = {
    MatchOutput.PREFERRED: "preferred matches that skip rows",
    MatchOutput.ALL: "all matches",
    MatchOutput.NON_OVERLAPPING: "matches that do not overlap",
    MatchOutput.GRAPH: "graph of all matches",
}

TOTALS = "aggregates over all matches"
CARRIED = (
    "all matches are counted and none is built: runs carry what is added up, and merge where their "
    "computation states are equal"
)
PREFERRED_SELECTION = (
    "rows may be skipped and the preferred match is asked for: one run at a time finds it"
)
ALL_MATCHES = (
    "all matches are asked for: runs share their rows and merge where their computation states are "
    "equal"
)

# Why a strategy is the fastest, by its algorithm and its name.
REASONS: Mapping[tuple[str, str], str] = {
    ("backtracking", "longest"): (
        "the longest match is asked for and conditions depend on the data only: how far the "
        "farthest end of a match is, is found out once for each state and row"
    ),
    ("backtracking", "windowed"): (
        "conditions depend on the data only: how far the end of a match is, is found out once for "
        "each state and row, so that no way is tried in vain"
    ),
    ("backtracking", "plain"): (
        "conditions depend on the run, but the ways through the pattern do not multiply: one run "
        "at a time is fastest"
    ),
    ("breadth_first", "longest"): (
        "the longest match is asked for and conditions depend on the run: all runs go on, and "
        "those with equal computation states merge"
    ),
    ("breadth_first", "merging"): (
        "conditions depend on the run and the ways through the pattern can multiply: runs with "
        "equal computation states merge"
    ),
}


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A search algorithm, which a user may choose by its name.

    "backtracking" is depth-first search, linear in the rows where conditions depend on the data
    only. "breadth_first" makes one pass over the rows; runs with one future are searched once.
    """

    name: str
    room: Room = Room()

    def supports(self, task: Task) -> str | None:
        """None, or the sentence that says why this algorithm cannot run the task."""
        if self.name == "backtracking":
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
        matching = name_matching(replace(task, partial=None), self.name)
        partial = task.partial is not None and task.output in ONE_OF_A_ROW
        return Strategy(self.name, matching, self.room, partial)


def name_matching(task: Task, algorithm: str) -> str:
    if task.totals is not None:
        return TOTALS
    if task.selects:
        return "matches that a skip strategy leaves" if task.skip else NAMES[task.output]
    if task.output is MatchOutput.LONGEST:
        return "longest"
    if algorithm == "breadth_first":
        return "merging"
    if task.looks_only_at_data and task.windowed:
        return "windowed"
    if task.shares_rows and taken().chains:
        return "chained"
    remembers = task.looks_only_at_data or compiled(task).remembers_all
    return "memoised" if remembers else "plain"


ALGORITHMS = {name: Algorithm(name) for name in ("backtracking", "breadth_first")}


def choose(task: Task, name: str = "auto") -> tuple[Strategy, str]:
    """Return the strategy that runs a task, and the reason for it.

    name: of its algorithm; "auto" is the one expected to be fastest. Raises
    MatchRecognizeUnsupportedError for an algorithm that cannot run the task, KeyError for an
    unknown name.
    """
    algorithm = ALGORITHMS[find_fastest(task) if name == "auto" else name]
    obstacle = algorithm.supports(task)
    if obstacle is not None:
        raise algorithm_cannot(name=algorithm.name, reason=obstacle)
    strategy = algorithm.choose(task)
    return strategy, find_reason(task, strategy) if name == "auto" else "asked for"


def find_fastest(task: Task) -> str:
    if task.selects or task.looks_only_at_data:
        all_at_once = task.selects and task.output is not MatchOutput.PREFERRED
    elif task.output is MatchOutput.LONGEST:
        all_at_once = True
    else:
        multiplies = task.pattern.is_exponentially_ambiguous
        all_at_once = multiplies and not compiled(task).remembers_all
    return "breadth_first" if all_at_once else "backtracking"


def find_reason(task: Task, strategy: Strategy) -> str:
    if task.totals is not None:
        return CARRIED
    if task.selects:
        return PREFERRED_SELECTION if task.output is MatchOutput.PREFERRED else ALL_MATCHES
    reason = REASONS.get((strategy.algorithm, strategy.matching))
    if reason is not None:
        return reason
    if task.looks_only_at_data:
        return "conditions depend on the data only: failures are remembered"
    until = " until the next match" if compiled(task).rules.forgets else ""
    return f"where ways meet, no later condition looks at the run: failures are remembered{until}"


def classify_time(task: Task, algorithm: str) -> str:
    """How the time of a contiguous search grows with its rows, in words.

    Conditions are unknown here: any of them may hold on any row. W is how many rows a match may
    have. Where conditions depend on the run, `max_steps` ends what takes too long.
    """
    longest = task.pattern.longest
    if task.windowed:
        rows = "the rows of a window"
    else:
        rows = "the rows of a partition" if longest is None else f"at most {longest}"
    within = f"times W, {rows}"
    one_at_a_time = algorithm == "backtracking"
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
    """The arrays of a task, which say more of conditions on the run than their form does."""
    from matchrec.search.records import compile_task  # loads all that conditions on the run need

    return compile_task(task, 0)
