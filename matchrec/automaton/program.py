"""The program of a row pattern: an automaton of states, with edges in preferment order.

`A* B` is the program

    0 start
        take A -> 0
        proceed -> 1
    1
        begin B -> 2
    2 final

`compile_program` compiles the row pattern of a query, and `compile_stages` the stages of SASE+ text
or of a Pattern. A *program of stages* differs in four ways: its states have names, its edges can
require or forbid conditions of several variables, TAKE and IGNORE edges can lead to another state,
and a run can end in a stop state. The search does not read programs: `fold_program` and
`fold_stages` fold their proceed edges away first.

Source: SASE+, "The NFA^b model" (an automaton with a buffer of rows; states, begin, take, ignore
and proceed edges, the final state), extended by groups, alternation and anchors, which need proceed
edges between any two states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from graphlib import TopologicalSorter
from types import MappingProxyType

StateId = int
VariableId = int
VariableIds = frozenset[VariableId]
# The formulas of edges as text, by the state and the index of the edge in `State.edges`.
Formulas = Mapping[tuple[StateId, int], str]
NO_FORMULAS: Formulas = MappingProxyType({})


class Action(Enum):
    """The action of an edge: what it does with the next row."""

    # The row is mapped, and the run enters another state. Not used in a program of stages.
    BEGIN = "begin"
    # The row is mapped, and the run stays in its state. In a program of stages, the run can also
    # enter another state.
    TAKE = "take"
    # The row is skipped, and the run stays in its state. In a program of stages, the run can also
    # enter another state.
    IGNORE = "ignore"
    # No row is consumed, and the run enters the state to which the edge leads.
    PROCEED = "proceed"


# Anchors: conditions on the location of a run, which is between two rows or at an end of the
# partition. They are bits, because the guard of a choice combines them: see `folding.Choice`.
ANCHOR_START = 1  # the partition starts here
ANCHOR_END = 2  # the partition ends here, so there is no next row
_ANCHOR_SYMBOLS = {ANCHOR_START: "^", ANCHOR_END: "$"}


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition from one state to another."""

    action: Action
    target: StateId
    # For BEGIN and TAKE: the variable to which the row is mapped, whose condition must hold.
    variable: VariableId | None = None
    # For PROCEED: ANCHOR_START or ANCHOR_END if the edge is an anchor, otherwise 0.
    anchor: int = 0
    # Whether the row is mapped inside an exclusion, `{- -}`.
    is_excluded: bool = False
    # In a program of stages: the variables whose conditions the next row must satisfy, all of them.
    required_variables: tuple[VariableId, ...] = ()
    # The variables whose conditions the next row must not satisfy, none of them. In a program of
    # stages, any edge can have such variables; in other programs, only the PROCEED edge of a NOT.
    forbidden_variables: tuple[VariableId, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A state of a program."""

    # The edges that leave the state, in preferment order. The final state has none.
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The automaton of a row pattern."""

    states: tuple[State, ...]
    start: StateId
    final: StateId
    # Names of variables, by id.
    variables: tuple[str, ...]
    # Names of states, by id. Empty except in a program of stages.
    names: tuple[str, ...] = ()
    # The state in which a run ends because a NOT forbids a row. Only in a program of stages.
    stop: StateId | None = None
    # The states in which a run becomes a match when its window ends. Only in a program of stages.
    completed_by_time: frozenset[StateId] = frozenset()

    def __hash__(self) -> int:
        # Edges are left out, because programs are often keys of caches, and may have many edges.
        return hash((len(self.states), self.start, self.final, self.variables))

    def check(self) -> Program:
        """Assert the properties that readers of a program rely on, and return the program itself.

        - Edges lead to states of the program.
        - BEGIN and TAKE edges have a variable, no other edge has one.
        - TAKE and IGNORE edges stay in their state, except in a program of stages.
        - Only PROCEED edges are anchors.
        - Only PROCEED edges forbid variables, and no edge requires any, except in a program of
          stages.
        - The final state and the stop state have no edges, and every other state has one.
        - Proceed edges form no cycle.
        """
        proceed_targets: dict[StateId, list[StateId]] = {}
        for number, state in enumerate(self.states):
            proceed_targets[number] = [
                edge.target for edge in state.edges if edge.action is Action.PROCEED
            ]
            if number in (self.final, self.stop):
                assert not state.edges, number
            else:
                assert state.edges, number
            for edge in state.edges:
                assert 0 <= edge.target < len(self.states), edge
                assert (edge.variable is not None) == (edge.action in (Action.BEGIN, Action.TAKE))
                assert not edge.anchor or edge.action is Action.PROCEED, edge
                if not self.has_stages:
                    can_leave_state = edge.action in (Action.BEGIN, Action.PROCEED)
                    assert can_leave_state or edge.target == number, edge
                    assert not edge.required_variables, edge
                    assert not edge.forbidden_variables or edge.action is Action.PROCEED, edge
        TopologicalSorter(proceed_targets).prepare()  # raises CycleError
        return self

    @property
    def has_stages(self) -> bool:
        """Return whether the program is a program of stages."""
        return bool(self.names)

    @property
    def can_skip_rows(self) -> bool:
        """Return whether the program has ignore edges, on which a run skips a row."""
        return any(edge.action is Action.IGNORE for state in self.states for edge in state.edges)

    def __str__(self) -> str:
        return "\n".join(self.describe_state(state) for state in range(len(self.states)))

    def describe_state(self, state: StateId, formulas: Formulas = NO_FORMULAS) -> str:
        """Return a line with the name of a state, then a line for each of its edges.

        Args:
            state: the state to describe.
            formulas: formulas of edges, which are appended to their lines.
        """
        heading = self.name_state(state)
        if state == self.start:
            heading += " start"
        if state == self.final:
            heading += " final"
        lines = [heading]
        for index, edge in enumerate(self.states[state].edges):
            formula = formulas.get((state, index))
            condition = "" if formula is None else f" if {formula}"
            lines.append(
                f"    {self.describe_edge(edge)} -> {self.name_state(edge.target)}{condition}"
            )
        return "\n".join(lines)

    def name_state(self, state: StateId) -> str:
        """Return the name of a state, or its number if states have no names."""
        return self.names[state] if self.has_stages else str(state)

    def describe_edge(self, edge: Edge) -> str:
        """Return the text of an edge without its target, such as `begin A` or `proceed if ^`.

        In a program of stages, the variables that an edge requires or forbids are left out, because
        `describe_state` shows their conditions in formulas.
        """
        words = [edge.action.value]
        if edge.variable is not None:
            words.append(self.variables[edge.variable])
        if edge.anchor:
            words.append(f"if {_ANCHOR_SYMBOLS[edge.anchor]}")
        if edge.forbidden_variables and not self.has_stages:
            names = [self.variables[variable] for variable in edge.forbidden_variables]
            forbidden = " | ".join(names)
            words.append(f"if not {forbidden}")
        if edge.is_excluded:
            words.append("excluded")
        return " ".join(words)


# Functions that number the states of a program in the order of the row pattern.


def order_states(
    states: Sequence[State], start: StateId, end_states: tuple[StateId, ...]
) -> dict[StateId, StateId]:
    """Assign numbers to the states reachable from `start`, in the order of the pattern.

    A state comes after all states that lead to it, except over edges that go back to an earlier
    state. So the copies of a part that a counted loop repeats follow each other. Of alternatives,
    the preferred one comes first.

    Args:
        states: all states; the edges between them are followed.
        start: the state that gets number 0.
        end_states: states that get the last numbers, even if they cannot be reached.

    Returns:
        The new number of each state, in the new order. Unreachable states are missing.
    """
    # A state is finished after all states that it leads to (depth-first search, postorder).
    finished_states: list[StateId] = []
    entered_states = set(end_states)
    stack = [(start, False)]  # a state, and whether the states that it leads to are finished
    while stack:
        state, targets_are_finished = stack.pop()
        if targets_are_finished:
            finished_states.append(state)
        elif state not in entered_states:
            entered_states.add(state)
            stack.append((state, True))
            stack += [(edge.target, False) for edge in states[state].edges]
    order = [*reversed(finished_states), *end_states]
    return {state: number for number, state in enumerate(order)}


def renumber_states(states: Sequence[State], order: Mapping[StateId, StateId]) -> tuple[State, ...]:
    """Return the states in the order of `order_states`, with the targets of edges renumbered."""
    return tuple(
        State(tuple(replace(edge, target=order[edge.target]) for edge in states[state].edges))
        for state in order
    )
