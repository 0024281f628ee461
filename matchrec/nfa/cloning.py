"""Proceed edges as they are: a mapped row leads to each state after them by itself.

A run that has mapped a row is cloned into every state in which it may wait for the next one, where
`closure` keeps one run that waits in all of them. `A C* B` has, after A, one run in the loop over C
and one that waits for B.

Cost: a run for each component that may come next, in every row. Not for skip till next match: the
run that waits for B could skip a row that the loop has to take.
Source: SASE+, "Query compilation", steps 1 to 4, without the constrained proceed edges of step 6.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.nfa.closure import GUARD_END, GUARDS, Choice, Folding, choices_of, is_repeated
from matchrec.nfa.program import Action, Edge, Program, StateId

Place = tuple[StateId, int]  # where a run waits, or the final state with the guard to accept under


def clone_at_proceed(program: Program) -> Folding:
    """Choices of each state in which a run waits; the starting state is number 0.

    The starting state has its choices folded: no run waits there.
    """
    numbers: dict[Place, int] = {}
    order: list[Place] = []

    def number(place: Place) -> int:
        if place not in numbers:
            numbers[place] = len(order) + 1
            order.append(place)
        return numbers[place]

    def cloned(choice: Choice, source: StateId | None) -> Iterator[Choice]:
        if choice.target is None:
            yield choice
            return
        for place in waiting_places(program, choice.target):
            again = choice.again and place[0] == source
            yield Choice(choice.guard, choice.variable, number(place), choice.excluded, again)

    begin = choices_of(program, program.start, every_way=True)
    states = [tuple(one for choice in begin for one in cloned(choice, None))]
    for state, guard in order:  # grows while it is read
        own = own_choices(program, state, guard)
        states.append(tuple(one for choice in own for one in cloned(choice, state)))
    return Folding(tuple(states), (program.start, *(state for state, _ in order)))


def waiting_places(program: Program, state: StateId) -> Iterator[Place]:
    """Where a run may wait that a row has led to `state`, in preferment order, each once."""
    seen: dict[object, list[int]] = {}
    waiting = [(Edge(Action.PROCEED, state), 0)]
    while waiting:
        edge, guard = waiting.pop()
        if edge.variable is not None:
            if not guard & GUARD_END and not is_repeated(seen, ("waits", edge.target), guard):
                yield edge.target, 0
            continue
        guard |= 0 if edge.anchor is None else GUARDS[edge.anchor]
        if guard & ~GUARD_END or is_repeated(seen, edge.target, guard):
            continue
        if edge.target == program.final:
            yield program.final, guard
        waiting += [(onward, guard) for onward in reversed(ways_on(program, edge.target))]


def ways_on(program: Program, state: StateId) -> list[Edge]:
    """The proceed edges of a state, and in place of those that map a row one back to itself."""
    return [
        Edge(edge.action, state, edge.variable) if edge.variable is not None else edge
        for edge in program.states[state].edges
        if edge.action is not Action.IGNORE
    ]


def own_choices(program: Program, state: StateId, guard: int) -> Iterator[Choice]:
    """The rows that a state maps itself, or the acceptance of the final state."""
    if state == program.final:
        yield Choice(guard, None, None)
    for edge in program.states[state].edges:
        if edge.variable is not None:
            again = edge.action is Action.TAKE
            yield Choice(0, edge.variable, edge.target, edge.excluded, again)
