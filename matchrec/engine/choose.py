"""Which engine runs a task, and why."""

from __future__ import annotations

from matchrec.engine.backtracking import Backtracking
from matchrec.engine.breadth_first import BreadthFirst
from matchrec.engine.interface import Engine, Task

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Backtracking(), BreadthFirst())}


def choose(task: Task, name: str = "auto") -> tuple[Engine, str]:  # noqa: ARG001
    """The engine called `name`, or for "auto" the one expected to be fastest, and the reason.

    Raises KeyError for any other name.
    """
    if name != "auto":
        return ENGINES[name], "asked for"
    return ENGINES["backtracking"], (
        "conditions look only at the data: failures are remembered, so the cost is linear in rows"
    )
