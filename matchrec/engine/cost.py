"""How the time of a search grows with its rows, where the rows of a match follow each other."""

from __future__ import annotations

from matchrec.engine.compiled import compile_task
from matchrec.engine.interface import Task
from matchrec.plan.clauses import MatchOutput


def classify_time(task: Task, engine: str) -> str:
    """The class in words. Conditions are unknown here: any of them may hold on any row.

    W is how many rows a match may have. Where conditions depend on the run, `max_steps` ends what
    takes too long.
    """
    longest = task.pattern.longest
    if task.windowed:
        rows = "the rows of a window"
    else:
        rows = "the rows of a partition" if longest is None else f"at most {longest}"
    within = f"times W, {rows}"
    one_at_a_time = engine == "backtracking"
    if task.looks_only_at_data:
        merges = one_at_a_time or not task.windowed
        if task.output is MatchOutput.LONGEST:  # values hold for one end of windows only
            merges = one_at_a_time and not task.windowed
        return "linear in the rows" if merges else f"linear in the rows {within}"
    compiled = compile_task(task, 0)
    if one_at_a_time and compiled.remembers_all:
        again = " for each match, whose number conditions read" if compiled.counts_matches else ""
        return f"linear in the rows {within}" if task.windowed else f"linear in the rows{again}"
    if task.pattern.is_deterministic:
        return f"linear in the rows {within}"
    explodes = longest is not None or task.pattern.is_exponentially_ambiguous
    grows = "exponentially" if explodes else "as a power"
    return f"may grow {grows} with W, {rows}; max_steps ends what takes too long"
