"""Write the formula of each edge of an automaton: when a run may follow the edge.

The formula is a conjunction. What it has depends on the action of the edge:

    begin, take       the condition of the variable
    proceed           the row can begin what comes next; nothing if that is the final state
    ignore            depends on the strategy: nothing, or that the row cannot be taken again, or
                      in a state that takes no row again, that it begins nothing
    any of these      the row is in the window
    to the final      the condition on the match as a whole

In a pattern of stages each edge has the conditions that it needs and those that it forbids.

The formula of a proceed edge is shorter than in the paper: a run may also follow the edge if it can
neither take nor ignore the row. Then no edge leads on from there, and the run ends either way.

Sources: SASE+, "Query compilation", steps 2 to 6. Flink CEP, the states and edges that its compiler
makes of a pattern.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.automaton.program import Action, Edge, Formulas, Program, StateId
from matchrec.explain.condition_texts import show_conditions
from matchrec.explain.restrictions import has_window
from matchrec.plan.clauses import EventSelection
from matchrec.plan.match_plan import MatchPlan
from matchrec.search.task import Task

# The text of a condition that holds for every row.
TRUE_TEXT = "TRUE"


def write_formulas(plan: MatchPlan, task: Task) -> Formulas:
    """Return the formula of each edge, by its state and its index among the state's edges.

    In plain SQL an edge that is always open has none. Anchors are not formulas.
    """
    conditions = show_conditions(plan)
    program = task.pattern.program
    has_window_test = plan.within is not None if plan.staging is not None else has_window(plan)
    edge_formulas = {}
    for state_id, state in enumerate(program.states):
        for edge_index, edge in enumerate(state.edges):
            parts = [write_formula(edge, state_id, task, conditions)]
            is_last = edge.target == program.final and plan.staging is None
            if is_last and plan.match_condition is not None:
                parts.append(conditions[plan.match_condition])
            reads_row = is_last or edge.action is not Action.PROCEED
            # The first row of a run is always in the run's window.
            if has_window_test and reads_row and state_id != program.start:
                parts.append("in the window")
            text = " and ".join(part for part in parts if part)
            if text or (task.needs_event_selection and not edge.anchor):
                edge_formulas[state_id, edge_index] = text or "true"
    return edge_formulas


def write_formula(edge: Edge, state: StateId, task: Task, conditions: dict[str, str]) -> str:
    """Return the formula of one edge without the window; empty if it is true.

    Args:
        edge: an edge of the state.
        state: the state.
        task: the task of the search.
        conditions: the text of each condition, see `show_conditions`.
    """
    program = task.pattern.program
    if task.stages is not None:
        return write_stage_formula(edge, program, conditions)
    if edge.variable is not None:
        return conditions.get(program.variables[edge.variable], "")
    if edge.action is Action.IGNORE:
        if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
            return ""
        return f"not ({' or '.join(find_blocking_labels(program, state))})"
    if not task.needs_event_selection:
        return ""
    labels = list(dict.fromkeys(find_next_labels(program, edge.target)))
    return "" if "" in labels else " or ".join(labels)


def write_stage_formula(edge: Edge, program: Program, conditions: dict[str, str]) -> str:
    """Return the formula of an edge of stages: what it needs and, negated, what it forbids."""
    needed = [conditions[program.variables[test]] for test in edge.needs]
    parts = [text for text in needed if text != TRUE_TEXT]
    parts += [f"not ({conditions[program.variables[test]]})" for test in edge.forbids]
    return " and ".join(parts) or "true"


def find_blocking_labels(program: Program, state: StateId) -> list[str]:
    """Return the labels of a row that a run in a state may not skip.

    These are the edges that take the row again; in a state without such an edge, those that begin
    what comes next.
    """
    takes = [edge for edge in program.states[state].edges if edge.action is Action.TAKE]
    labels = [program.describe_edge(edge) for edge in takes]
    if not takes:
        labels = [label for label in find_next_labels(program, state) if label]
    return list(dict.fromkeys(labels))


def find_next_labels(program: Program, state: StateId) -> Iterator[str]:
    """Yield the labels of the edges by which a run in a state can map its next row.

    Proceed edges are followed. An empty label means that the final state can be reached.
    """
    visited = {state}
    queue = [state]
    while queue:
        next_state = queue.pop(0)
        if next_state == program.final:
            yield ""
        for edge in program.states[next_state].edges:
            if edge.variable is not None:
                yield program.describe_edge(edge)
            elif edge.target not in visited:
                visited.add(edge.target)
                queue.append(edge.target)
