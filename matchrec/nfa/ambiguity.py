"""Whether the number of ways through a program can explode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from matchrec.nfa.closure import Choice, Folded
from matchrec.nfa.facts import targets

MOST_STATES = 60  # pairs of states are looked at

Pair = tuple[int, int]
Graph = Mapping[Pair, tuple[Pair, ...]]


def is_exponentially_ambiguous(folded: Folded) -> bool:
    """Whether the ways over k rows may grow exponentially with k.

    That is so where two different ways of equal length lead from a state back to itself: a pair of
    equal states reaches, in the graph of pairs, a pair of different ones and itself again, or steps
    on by two choices at once. Conditions are unknown here, so any variables may hold for the same
    row; a program of over MOST_STATES states counts as ambiguous.

    Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.
    """
    if len(folded) > MOST_STATES:
        return True
    after = [targets(folded, state) for state in range(len(folded))]
    pairs = list(product(range(len(folded)), repeat=2))
    component = _components({(p, q): tuple(product(after[p], after[q])) for p, q in pairs})
    equal = {component[state, state] for state in range(len(folded))}
    return any(p != q and component[p, q] in equal for p, q in pairs) or any(
        component[state, state] == component[target, target]
        for state, choices in enumerate(folded)
        for target in _reached_by_two(choices)
    )


def _reached_by_two(choices: tuple[Choice, ...]) -> Iterator[int]:
    """Targets to which more than one of the choices lead."""
    reached = [choice.target for choice in choices if choice.target is not None]
    yield from (target for target in set(reached) if reached.count(target) > 1)


def _components(graph: Graph) -> dict[Pair, Pair]:
    """A representative of the strongly connected component of every node (Kosaraju's way)."""
    backward: dict[Pair, list[Pair]] = {node: [] for node in graph}
    for node, onward in graph.items():
        for target in onward:
            backward[target].append(node)
    component: dict[Pair, Pair] = {}
    for root in reversed(_finished(graph)):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node not in component:
                component[node] = root
                waiting += backward[node]
    return component


def _finished(graph: Graph) -> list[Pair]:
    """The nodes in the order in which a depth-first walk leaves them."""
    finished: list[Pair] = []
    seen: set[Pair] = set()
    for root in graph:
        waiting = [(root, False)]
        while waiting:
            node, left = waiting.pop()
            if left:
                finished.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting += [(target, False) for target in graph[node]]
    return finished
