"""Where a run may go on in more than one way, and how many runs that can make.

Conditions are unknown here, so that any two edges may hold for the same row, but an edge and its
negation.

Source: SASE+, "Runtime complexity": the four sources of nondeterminism, propositions 4.1 and 4.2,
corollary 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.compile.executable import Executable
from matchrec.engine.interface import Task
from matchrec.explanation.drawing.repeats import said_once
from matchrec.explanation.selection import merges_runs
from matchrec.explanation.sources import (
    BEGIN_BEGIN,
    BEGIN_IGNORE,
    IGNORE_PROCEED,
    TAKE_IGNORE,
    TAKE_PROCEED,
    Source,
)
from matchrec.explanation.stage_conditions import choices_of_runs
from matchrec.nfa.closure import Choice
from matchrec.plan.clauses import EventSelection, MatchOutput


def nondeterminism_lines(executable: Executable) -> Iterator[str]:
    """The sources with their states, then the cost."""
    task = executable.task
    if task.stages is not None:
        yield from choices_of_runs(executable)
        return
    folding = task.pattern.folding
    found: dict[Source, list[int]] = {}
    for place, (state, choices) in enumerate(zip(folding.states, folding.choices, strict=True)):
        for source in sources(choices, task.selection, waits=place > 0):
            found.setdefault(source, []).append(state)
    for source, states in found.items():
        said = [state for state, _ in said_once(dict.fromkeys(states), task.pattern.program)]
        where = ", ".join(map(str, said))
        plural = "s" if len(said) > 1 else ""
        yield f"may have {source.name} in state{plural} {where}: {source.runs}"
    if not found:
        yield "none: a row leads a run on in one way at most"
    if task.selects:
        yield cost(executable, len({state for states in found.values() for state in states}))
    elif found:
        rows = rows_in_reach(task)
        which = "longest" if task.output is MatchOutput.LONGEST else "preferred"
        yield f"W: {rows}; only the {which} match of a starting row is sought"


def sources(
    choices: tuple[Choice, ...], selection: EventSelection, *, waits: bool
) -> Iterator[Source]:
    """The sources in one state. waits: whether runs wait there, and so may ignore a row."""
    takes = any(choice.again for choice in choices)
    begins = {
        choice.variable for choice in choices if choice.target is not None and not choice.again
    }
    accepts = any(choice.accepts for choice in choices)
    skips = waits and selection is not EventSelection.STRICT_CONTIGUITY
    skips_any = waits and selection is EventSelection.SKIP_TILL_ANY_MATCH
    if takes and (begins or accepts):
        yield TAKE_PROCEED
    if skips and takes and begins:
        yield IGNORE_PROCEED
    if skips_any and takes:
        yield TAKE_IGNORE
    if skips_any and begins and not takes:
        yield BEGIN_IGNORE
    if len(begins) > 1:
        yield BEGIN_BEGIN


def rows_in_reach(task: Task) -> str:
    """What W is."""
    return "the rows of a window" if task.windowed else "the rows of a partition"


def cost(executable: Executable, states: int) -> str:
    """How many runs there may be at once. states: how many have a source."""
    task = executable.task
    rows = f"W, {rows_in_reach(task)}"
    skips_any = task.selection is EventSelection.SKIP_TILL_ANY_MATCH
    unbounded = skips_any and task.pattern.longest is None
    if unbounded or task.pattern.is_exponentially_ambiguous:
        merging = "unless runs merge" if merges_runs(executable) else "and runs do not merge here"
        return f"runs: exponential in {rows}, {merging}"
    if states:
        return f"runs: polynomial in {rows}: at most W^{states + 1}"
    return f"runs: linear in {rows}: one for each starting row"
