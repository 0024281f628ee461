"""NFA^b: states with ordered edges; the order of a state's edges is their preferment order.

Source: SASE+, "The NFA^b model" (states, begin, take, ignore and proceed edges, the final state),
extended by groups, alternation and anchors, which need proceed edges between any two states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from graphlib import TopologicalSorter
from types import MappingProxyType

StateId = int
VariableId = int
Formulas = Mapping[tuple[StateId, int], str]  # by state and place among its edges
NO_FORMULAS: Formulas = MappingProxyType({})


class Action(Enum):
    BEGIN = "begin"  # the row is mapped and the run enters another state
    TAKE = "take"  # the row is mapped and the run stays in its state
    IGNORE = "ignore"  # the row is skipped and the run stays in its state
    PROCEED = "proceed"  # no row is consumed


_LINE = dict(zip(Action, ("solid", "bold", "dashed", "dotted"), strict=True))


# Bits of guards: where in the partition the next row must be.
GUARD_START = 1
GUARD_END = 2
_SYMBOLS = {GUARD_START: "^", GUARD_END: "$"}


@dataclass(frozen=True, slots=True)
class Edge:
    """One way on from a state. `variable` names the condition of BEGIN and TAKE, `anchor`, a bit
    or 0, that of PROCEED; excluded: the row is matched inside an exclusion. forbids: conditions
    that must not hold for the next row, of PROCEED as NOT asks it, in a program of stages of any
    edge. needs: in a program of stages, those that must hold.
    """

    action: Action
    target: StateId
    variable: VariableId | None = None
    anchor: int = 0
    excluded: bool = False
    needs: tuple[VariableId, ...] = ()
    forbids: tuple[VariableId, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Ways on in preferment order; the final state has none."""

    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """The automaton of a row pattern. variables: names by id.

    Of stages, whose states have names: stop, where runs end that a NOT forbids; pending, the states
    in which a run is a match when its window has ended. Its hash does not look at every edge: what
    is remembered of programs is asked for again and again.
    """

    states: tuple[State, ...]
    start: StateId
    final: StateId
    variables: tuple[str, ...]
    names: tuple[str, ...] = ()
    stop: StateId | None = None
    pending: frozenset[StateId] = frozenset()

    def __hash__(self) -> int:
        return hash((len(self.states), self.start, self.final, self.variables))

    def check(self) -> Program:
        """Itself, after asserting what every later stage relies on.

        Edges lead to states; a mapped row has a variable and nothing else has; TAKE and IGNORE stay
        but in a program of stages; only the final state and that of stopped runs are dead ends;
        proceed edges form no cycle.
        """
        proceeding: dict[StateId, list[StateId]] = {}
        for number, state in enumerate(self.states):
            proceeding[number] = [e.target for e in state.edges if e.action is Action.PROCEED]
            assert bool(state.edges) != (number in (self.final, self.stop)), number
            for edge in state.edges:
                assert 0 <= edge.target < len(self.states), edge
                assert (edge.variable is not None) == (edge.action in (Action.BEGIN, Action.TAKE))
                assert not edge.anchor or edge.action is Action.PROCEED, edge
                stays = edge.action in (Action.TAKE, Action.IGNORE)
                assert not stays or edge.target == number or self.names, edge
        TopologicalSorter(proceeding).prepare()  # raises CycleError
        return self

    @property
    def waits(self) -> bool:
        return any(edge.action is Action.IGNORE for state in self.states for edge in state.edges)

    def __str__(self) -> str:
        return "\n".join(self.text_of(state) for state in range(len(self.states)))

    def text_of(self, state: StateId, formulas: Formulas = NO_FORMULAS) -> str:
        """A state and its edges, a line each, with what is known of their formulas."""
        roles = " start" * (state == self.start) + " final" * (state == self.final)
        lines = [f"{self.named(state)}{roles}"]
        for order, edge in enumerate(self.states[state].edges):
            formula = formulas.get((state, order))
            condition = "" if formula is None else f" if {formula}"
            lines.append(f"    {self.label(edge)} -> {self.named(edge.target)}{condition}")
        return "\n".join(lines)

    def named(self, state: StateId) -> str:
        return self.names[state] if self.names else str(state)

    def label(self, edge: Edge) -> str:
        """What stands on an edge: its action, then its condition."""
        words = [edge.action.value]
        if edge.variable is not None:
            words.append(self.variables[edge.variable])
        if edge.anchor:
            words.append(f"if {_SYMBOLS[edge.anchor]}")
        if edge.forbids and not self.names:
            words.append(f"if not {' | '.join(self.variables[one] for one in edge.forbids)}")
        if edge.excluded:
            words.append("excluded")
        return " ".join(words)

    def dot(self, formulas: Formulas = NO_FORMULAS) -> str:
        """The program in Graphviz's language; numbers on edges are their preferment order."""
        lines = ["digraph program {", "  rankdir=LR; node [shape=circle];"]
        lines += ['  start [shape=point, label=""];', f"  start -> {self.start};"]
        lines.append(f"  {self.final} [shape=doublecircle];")
        lines += [f'  {n} [label="{escaped(name)}"];' for n, name in enumerate(self.names)]
        for number, state in enumerate(self.states):
            for order, edge in enumerate(state.edges, 1):
                label = escaped(self.label(edge))
                formula = formulas.get((number, order - 1))
                label += "" if formula is None else f"\\n{escaped(formula)}"
                style = _LINE[edge.action]
                lines += [f'  {number} -> {edge.target} [label="{order}: {label}", style={style}];']
        return "\n".join([*lines, "}"])


def order_states(
    states: Sequence[State], start: StateId, ends: tuple[StateId, ...]
) -> dict[StateId, StateId]:
    """New numbers of the states that `start` leads to, as a reader meets them; `ends` are last.

    A state comes after all that lead to it, but for the edges that go back: what a counted loop
    repeats stands there copy after copy. Of alternatives the preferred one comes first.
    """
    left: dict[StateId, None] = {}  # a state is left after all that it leads to
    seen = set(ends)
    waiting = [(start, False)]
    while waiting:
        state, done = waiting.pop()
        if done:
            left[state] = None
        elif state not in seen:
            seen.add(state)
            waiting.append((state, True))
            waiting += [(edge.target, False) for edge in states[state].edges]
    order = [*reversed(left), *ends]
    return {state: number for number, state in enumerate(order)}


def renumber_states(states: Sequence[State], order: Mapping[StateId, StateId]) -> tuple[State, ...]:
    return tuple(
        State(tuple(replace(edge, target=order[edge.target]) for edge in states[old].edges))
        for old in order
    )


def number_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with a number after those that are there already."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        found.append(f"{name}:{seen[name] - 1}" if seen[name] else name)
        seen[name] += 1
    return tuple(found)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# What a run comes out as.

# What a run is whose window or partition ends where it waits: beside these, FIRST_NEAR + n is timed
# out by window n between neighbours, or by that of the whole match, whichever ends first.
NOTHING = 0
A_MATCH = 1
TIMED_OUT = 2
FIRST_NEAR = 3
UNFINISHED = -1  # live where the partition ended, before its window did
NOT_NEAR = -1  # of a place that no window between neighbours ends
