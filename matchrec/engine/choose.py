"""Which engine runs a task, and why."""

from __future__ import annotations

from matchrec.engine.compiled import compile_task
from matchrec.engine.contiguous.backtracking import Backtracking
from matchrec.engine.contiguous.breadth_first import BreadthFirst
from matchrec.engine.interface import Engine, Task
from matchrec.plan.clauses import MatchOutput

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Backtracking(), BreadthFirst())}


def choose(task: Task, name: str = "auto") -> tuple[Engine, str]:
    """The engine called `name`, or for "auto" the one expected to be fastest, and the reason.

    Raises KeyError for any other name.
    """
    if name != "auto":
        return ENGINES[name], "asked for"
    if task.selects and task.output is MatchOutput.PREFERRED:
        return ENGINES["backtracking"], (
            "rows may be skipped and the preferred match is asked for: one run at a time finds it"
        )
    if task.selects:
        return ENGINES["breadth_first"], (
            "all matches are asked for: runs share their rows and merge where their computation "
            "states are equal"
        )
    if task.looks_only_at_data and task.windowed:
        return ENGINES["backtracking"], (
            "conditions look only at the data: how far the end of a match is, is found out once "
            "for each state and row, so that no way is tried in vain"
        )
    if task.looks_only_at_data:
        return ENGINES["backtracking"], (
            "conditions look only at the data: failures are remembered"
        )
    if compile_task(task, 0).remembers_all:
        return ENGINES["backtracking"], (
            "where ways meet, no later condition looks at the run: failures are remembered"
        )
    if task.pattern.is_exponentially_ambiguous:
        return ENGINES["breadth_first"], (
            "conditions depend on the run and the ways through the pattern can multiply: "
            "runs with equal computation states merge"
        )
    return ENGINES["backtracking"], (
        "conditions depend on the run, but the ways through the pattern do not multiply: "
        "one run at a time is fastest"
    )
