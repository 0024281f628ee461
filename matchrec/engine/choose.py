"""Which algorithm runs a task, and why."""

from __future__ import annotations

from matchrec.engine.engines import ENGINES, compiled
from matchrec.engine.interface import Algorithm, Task
from matchrec.errors.calls import engine_cannot
from matchrec.plan.clauses import MatchOutput


def choose(task: Task, name: str = "auto") -> tuple[Algorithm, str]:
    """The one algorithm that runs a task, and the reason.

    name: of the engine that it is to belong to; "auto" is the one expected to be fastest.
    Raises MatchRecognizeUnsupportedError for an engine that cannot run the task, KeyError for a
    name that none has.
    """
    chosen, reason = expect_fastest(task) if name == "auto" else (name, "asked for")
    engine = ENGINES[chosen]
    obstacle = engine.supports(task)
    if obstacle is not None:
        raise engine_cannot(chosen, obstacle)
    return engine.choose(task), reason


def expect_fastest(task: Task) -> tuple[str, str]:
    """The name of the engine expected to be fastest, and the reason."""
    if task.selects and task.output is MatchOutput.PREFERRED:
        return "backtracking", (
            "rows may be skipped and the preferred match is asked for: one run at a time finds it"
        )
    if task.selects:
        return "breadth_first", (
            "all matches are asked for: runs share their rows and merge where their computation "
            "states are equal"
        )
    if task.output is MatchOutput.LONGEST:
        return expect_fastest_for_longest(task)
    if task.looks_only_at_data and task.windowed:
        return "backtracking", (
            "conditions look only at the data: how far the end of a match is, is found out once "
            "for each state and row, so that no way is tried in vain"
        )
    if task.looks_only_at_data:
        return "backtracking", "conditions look only at the data: failures are remembered"
    arrays = compiled(task)
    if arrays.remembers_all:
        until = " until the next match" if arrays.counts_matches else ""
        return "backtracking", (
            f"where ways meet, no later condition looks at the run: failures are remembered{until}"
        )
    if task.pattern.is_exponentially_ambiguous:
        return "breadth_first", (
            "conditions depend on the run and the ways through the pattern can multiply: "
            "runs with equal computation states merge"
        )
    return "backtracking", (
        "conditions depend on the run, but the ways through the pattern do not multiply: "
        "one run at a time is fastest"
    )


def expect_fastest_for_longest(task: Task) -> tuple[str, str]:
    """The same where the longest match of each starting row is asked for."""
    if task.looks_only_at_data:
        return "backtracking", (
            "the longest match is asked for and conditions look only at the data: how far the "
            "farthest end of a match is, is found out once for each state and row"
        )
    return "breadth_first", (
        "the longest match is asked for and conditions depend on the run: all runs go on, and "
        "those with equal computation states merge"
    )
