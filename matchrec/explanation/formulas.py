"""Formulas of a program's edges.

    begin, take   the condition of the variable
    proceed       constrained: the row begins what comes next; true into the final state
    ignore        by strategy: true, or that the row cannot be taken, or where none is, not begun
    all of them   the window, or where it is not pushed down only those into the final state
    to the final  the closing condition, which is about the match as a whole

Source: SASE+, "Query compilation", steps 2 to 6. A constrained proceed edge may also be followed,
there, where the run can neither take nor ignore: then no way leads on, and the run ends either way.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.engine.interface import Task
from matchrec.explanation.selection import has_window
from matchrec.explanation.stage_conditions import formulas_of_stages
from matchrec.nfa.program import Action, Edge, Formulas, Program, StateId
from matchrec.plan.clauses import EventSelection
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar

IN_WINDOW = "in the window"


def formulas(plan: MatchPlan, task: Task) -> Formulas:
    """The formula of each edge, by its state and place; of plain SQL, what is not true."""
    if plan.staging is not None:
        return formulas_of_stages(plan, task)
    written = {one.variable: show_scalar(one.condition) for one in plan.definitions}
    found = {}
    for number, state in enumerate(task.pattern.program.states):
        for place, edge in enumerate(state.edges):
            parts = [formula(edge, number, task, written)]
            if edge.target == task.pattern.program.final and plan.closing is not None:
                parts.append(written[plan.closing])
            if has_window(plan) and is_bounded(edge, number, task):
                parts.append(IN_WINDOW)
            text = " and ".join(part for part in parts if part)
            if text or (task.selects and edge.anchor is None):
                found[number, place] = text or "true"
    return found


def formula(edge: Edge, state: StateId, task: Task, written: dict[str, str]) -> str:
    """The formula of one edge but for the window; empty where it is true."""
    program = task.pattern.program
    if edge.variable is not None:
        return written.get(program.variables[edge.variable], "")
    if edge.action is Action.IGNORE:
        if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
            return ""
        return f"not ({' or '.join(blocking(program, state))})"
    if not task.selects or not task.optimisations.constrain_proceed:
        return ""
    ways = list(dict.fromkeys(ways_on(program, edge.target)))
    return "" if "" in ways else " or ".join(ways)


def is_bounded(edge: Edge, state: StateId, task: Task) -> bool:
    """Whether the window is tested on an edge; a run that begins is in its own."""
    if edge.action is Action.PROCEED and edge.target != task.pattern.program.final:
        return False
    if task.optimisations.push_window:
        return state != task.pattern.program.start
    return edge.target == task.pattern.program.final


def blocking(program: Program, state: StateId) -> list[str]:
    """What a row must not be for a run in a state to skip it: taken again, or else begun."""
    own = [
        program.label(edge) for edge in program.states[state].edges if edge.action is Action.TAKE
    ]
    return own or list(dict.fromkeys(way for way in ways_on(program, state) if way))


def ways_on(program: Program, state: StateId) -> Iterator[str]:
    """What can map a row from a state on, proceed edges included; empty for the final state."""
    seen = {state}
    waiting = [state]
    while waiting:
        here = waiting.pop(0)
        if here == program.final:
            yield ""
        for edge in program.states[here].edges:
            if edge.variable is not None:
                yield program.label(edge)
            elif edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
