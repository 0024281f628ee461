"""The program of a row pattern, an NFA^b: states with edges in preferment order.

`A* B` is the program

    0 start
        take A -> 0
        proceed -> 1
    1
        begin B -> 2
    2 final

`compile_program` makes it from the row pattern of a query, and `compile_stages` from stages, which
are what SASE+ text and the Pattern API describe. A *program of stages* has a few additional fields.
The search does not read programs: `folding` folds their proceed edges away first.

Source: SASE+, "The NFA^b model" (states, begin, take, ignore and proceed edges, the final state),
extended by groups, alternation and anchors, which need proceed edges between any two states.
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

    # In a program of stages, TAKE and IGNORE may also lead to another state, and BEGIN is not used.
    BEGIN = "begin"  # the row is mapped and the run enters another state
    TAKE = "take"  # the row is mapped and the run stays in its state
    IGNORE = "ignore"  # the row is skipped and the run stays in its state
    PROCEED = "proceed"  # no row is consumed


# Bits of guards. A guard is a set of conditions that must hold before the next row.
GUARD_START = 1  # the partition starts here
GUARD_END = 2  # the partition ends here, so there is no next row
_ANCHOR_SYMBOLS = {GUARD_START: "^", GUARD_END: "$"}


@dataclass(frozen=True, slots=True)
class Edge:
    """A transition from one state to another."""

    action: Action
    target: StateId
    # For BEGIN and TAKE: the variable to which the row is mapped, whose condition must hold.
    variable: VariableId | None = None
    # For PROCEED: GUARD_START or GUARD_END if the edge is an anchor, otherwise 0.
    anchor: int = 0
    # Whether the row is matched inside an exclusion, `{- -}`.
    excluded: bool = False
    # Variables whose conditions must hold for the next row. Only in a program of stages.
    needs: tuple[VariableId, ...] = ()
    # Variables whose conditions must not hold for the next row. Only on PROCEED edges, for NOT; in
    # a program of stages on any edge.
    forbids: tuple[VariableId, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A state of a program."""

    # The edges that leave the state, in preferment order. The final state has none.
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The automaton of a row pattern.

    The hash does not visit every edge, because programs are often keys of caches.
    """

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
        return hash((len(self.states), self.start, self.final, self.variables))

    def check(self) -> Program:
        """Assert the properties on which later stages rely, and return the program itself.

        - Edges lead to states of the program.
        - BEGIN and TAKE edges have a variable, no other edge has one.
        - TAKE and IGNORE edges stay in their state, except in a program of stages.
        - Only PROCEED edges are anchors.
        - Only the final state and the stop state are dead ends.
        - Proceed edges form no cycle.
        """
        proceed_targets: dict[StateId, list[StateId]] = {}
        for number, state in enumerate(self.states):
            proceed_targets[number] = [
                edge.target for edge in state.edges if edge.action is Action.PROCEED
            ]
            assert bool(state.edges) != (number in (self.final, self.stop)), number
            for edge in state.edges:
                assert 0 <= edge.target < len(self.states), edge
                assert (edge.variable is not None) == (edge.action in (Action.BEGIN, Action.TAKE))
                assert not edge.anchor or edge.action is Action.PROCEED, edge
                may_leave = edge.action in (Action.BEGIN, Action.PROCEED) or self.names
                assert may_leave or edge.target == number, edge
        TopologicalSorter(proceed_targets).prepare()  # raises CycleError
        return self

    @property
    def can_skip_rows(self) -> bool:
        """Return whether a run may skip rows."""
        return any(edge.action is Action.IGNORE for state in self.states for edge in state.edges)

    def __str__(self) -> str:
        return "\n".join(self.describe_state(state) for state in range(len(self.states)))

    def describe_state(self, state: StateId, formulas: Formulas = NO_FORMULAS) -> str:
        """Describe a state and its edges, one line each.

        Args:
            state: the state.
            formulas: the formulas to append to edges, for the edges that have one.
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
        return self.names[state] if self.names else str(state)

    def describe_edge(self, edge: Edge) -> str:
        """Describe an edge without its target.

        For example `begin A`, `proceed if ^` or `take B excluded`. In a program of stages, the
        tests of the edge are left out: `describe_state` shows them as formulas.
        """
        words = [edge.action.value]
        if edge.variable is not None:
            words.append(self.variables[edge.variable])
        if edge.anchor:
            words.append(f"if {_ANCHOR_SYMBOLS[edge.anchor]}")
        if edge.forbids and not self.names:
            forbidden = " | ".join(self.variables[variable] for variable in edge.forbids)
            words.append(f"if not {forbidden}")
        if edge.excluded:
            words.append("excluded")
        return " ".join(words)


# Functions that number the states of a program in the order of the row pattern.


def order_states(
    states: Sequence[State], start: StateId, ends: tuple[StateId, ...]
) -> dict[StateId, StateId]:
    """Number the states reachable from `start` in the order of the pattern.

    A state comes after all states that lead to it, except over edges that go back to an earlier
    state. So the copies of a part that a counted loop repeats follow each other. Of alternatives,
    the preferred one comes first.

    Args:
        states: the states.
        start: the state that gets number 0.
        ends: states that get the last numbers, also if they cannot be reached.

    Returns:
        The new number of each state, in the new order. Unreachable states are missing.
    """
    # A state is finished after all states that it leads to (depth-first search, postorder).
    finished: list[StateId] = []
    visited = set(ends)
    waiting = [(start, False)]  # a state, and whether the states that it leads to are finished
    while waiting:
        state, targets_are_finished = waiting.pop()
        if targets_are_finished:
            finished.append(state)
        elif state not in visited:
            visited.add(state)
            waiting.append((state, True))
            waiting += [(edge.target, False) for edge in states[state].edges]
    order = [*reversed(finished), *ends]
    return {state: number for number, state in enumerate(order)}


def renumber_states(states: Sequence[State], order: Mapping[StateId, StateId]) -> tuple[State, ...]:
    """Return the states in the order of `order_states`, with the targets of edges renumbered."""
    return tuple(
        State(tuple(replace(edge, target=order[edge.target]) for edge in states[old].edges))
        for old in order
    )
