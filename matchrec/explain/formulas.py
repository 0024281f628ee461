"""Write the formula of each edge of an automaton: when a run can follow the edge.

The formula is a conjunction. Its first part depends on the action of the edge:

    begin, take   the condition of the variable
    proceed       the row satisfies a condition with which the next part of the pattern begins;
                  no part if a match can end there
    ignore        under SKIP TILL ANY MATCH, no part; under other strategies, the row does not
                  satisfy the conditions by which the state takes a row, or, if it takes none, those
                  with which the next part begins

Further parts are the condition on the match as a whole, on an edge to the final state, and that the
row is in the window, on edges that read a row.

In a pattern of stages the first part consists of the conditions that the edge needs, and of those
that it forbids, negated.

The formula of a proceed edge is shorter than in the paper: a run can also follow the edge if it can
neither take nor ignore the row. Then no edge leads on from there, and the run ends either way.

Sources: SASE+, "Query compilation", steps 2 to 6. Flink CEP, the states and edges that its compiler
makes of a pattern.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from matchrec.automaton.program import Action, Edge, Formulas, Program, StateId
from matchrec.explain.condition_texts import show_conditions
from matchrec.explain.restrictions import has_window
from matchrec.plan.clauses import EventSelection
from matchrec.plan.match_plan import MatchPlan
from matchrec.search.task import Task

# The text of a condition that holds for every row.
TRUE_TEXT = "TRUE"

# The text of a formula that holds for every row.
ALWAYS = "true"


def write_formulas(plan: MatchPlan, task: Task) -> Formulas:
    """Return the formula of each edge, by its state and its index among the state's edges.

    Without event selection, an edge that a run can always follow has no formula. Formulas do not
    contain the anchors of edges.
    """
    conditions = show_conditions(plan)
    formulas = {}
    for state, program_state in enumerate(task.pattern.program.states):
        for index, edge in enumerate(program_state.edges):
            parts = [
                write_edge_condition(edge, state, task, conditions),
                *write_match_tests(edge, state, plan, task, conditions),
            ]
            formula = " and ".join(part for part in parts if part)
            shows_always = task.needs_event_selection and not edge.anchor
            if formula or shows_always:
                formulas[state, index] = formula or ALWAYS
    return formulas


def write_match_tests(
    edge: Edge, state: StateId, plan: MatchPlan, task: Task, conditions: Mapping[str, str]
) -> Iterator[str]:
    """Yield the parts of a formula about the match: the condition on all of it, and its window.

    Args:
        edge: an edge of the state.
        state: the state.
        plan: the plan of the query.
        task: the task of the search.
        conditions: the text of each condition, see `show_conditions`.
    """
    program = task.pattern.program
    has_stages = plan.staging is not None
    completes_match = edge.target == program.final and not has_stages
    if completes_match and plan.match_condition is not None:
        yield conditions[plan.match_condition]
    # Windows between neighbouring stages are conditions of their own.
    has_window_test = plan.within is not None if has_stages else has_window(plan)
    reads_row = completes_match or edge.action is not Action.PROCEED
    is_first_row = state == program.start  # which is always in the window that begins with it
    if has_window_test and reads_row and not is_first_row:
        yield "in the window"


def write_edge_condition(
    edge: Edge, state: StateId, task: Task, conditions: Mapping[str, str]
) -> str:
    """Return the first part of a formula, which depends on the action; empty if there is none.

    Args:
        edge: an edge of the state.
        state: the state.
        task: the task of the search.
        conditions: the text of each condition, see `show_conditions`.
    """
    program = task.pattern.program
    if task.stages is not None:
        return write_stage_condition(edge, program, conditions)
    if edge.variable is not None:
        return conditions.get(program.variables[edge.variable], "")
    if edge.action is Action.IGNORE:
        if task.selection is EventSelection.SKIP_TILL_ANY_MATCH:
            return ""
        return f"not ({' or '.join(list_blocking_labels(program, state))})"
    if not task.needs_event_selection or can_be_final(program, edge.target):
        return ""
    return " or ".join(dict.fromkeys(find_next_labels(program, edge.target)))


def write_stage_condition(edge: Edge, program: Program, conditions: Mapping[str, str]) -> str:
    """Return the conditions that an edge of stages requires and, negated, those that it forbids."""
    required = [conditions[program.variables[test]] for test in edge.required_variables]
    forbidden = [conditions[program.variables[test]] for test in edge.forbidden_variables]
    parts = [text for text in required if text != TRUE_TEXT]
    parts += [f"not ({text})" for text in forbidden]
    return " and ".join(parts) or ALWAYS


def list_blocking_labels(program: Program, state: StateId) -> list[str]:
    """Return the labels of a row that a run in a state is not allowed to skip, each once.

    These are the labels of the edges that take a further row in the state; in a state without such
    an edge, the labels of the edges that begin the next part of the pattern.
    """
    takes = [edge for edge in program.states[state].edges if edge.action is Action.TAKE]
    labels = (
        [program.describe_edge(edge) for edge in takes]
        if takes
        else find_next_labels(program, state)
    )
    return list(dict.fromkeys(labels))


def find_next_labels(program: Program, state: StateId) -> Iterator[str]:
    """Yield the labels of the edges by which a run in a state can map its next row."""
    for next_state in walk_states_before_next_row(program, state):
        for edge in program.states[next_state].edges:
            if edge.variable is not None:
                yield program.describe_edge(edge)


def can_be_final(program: Program, state: StateId) -> bool:
    """Return whether a run in a state can reach the final state without a row."""
    return program.final in walk_states_before_next_row(program, state)


def walk_states_before_next_row(program: Program, state: StateId) -> Iterator[StateId]:
    """Yield a state, then the states that a run reaches from it without mapping a row."""
    reached = {state}
    waiting = deque([state])
    while waiting:
        next_state = waiting.popleft()
        yield next_state
        for edge in program.states[next_state].edges:
            if edge.variable is None and edge.target not in reached:
                reached.add(edge.target)
                waiting.append(edge.target)
