"""Ignore edges: which rows a run may skip, by event selection strategy.

A run waits in the states to which a mapped row leads. Under skip till any match it may skip every
row there; under skip till next match every row that it does not have to take: in a loop over one
variable a row that the loop could take again, elsewhere a row that any way on could take. The
starting state has no ignore edge, so a match begins with a mapped row.

Source: SASE+, "Query compilation", step 3, and the constrained proceed edges of step 6.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.nfa.cloning import waiting_places
from matchrec.nfa.program import Action, Edge, Program, State
from matchrec.plan.clauses import EventSelection


def with_selection(
    program: Program, selection: EventSelection, *, constrain_proceed: bool = True
) -> Program:
    """The program with the ignore edges of a strategy, least preferred in their states.

    constrain_proceed: a run waits where a row has led it; otherwise in every state after that too.
    """
    if selection is EventSelection.STRICT_CONTIGUITY:
        return program
    mapping = (Action.BEGIN, Action.TAKE)
    waiting = {
        edge.target for state in program.states for edge in state.edges if edge.action in mapping
    } - {program.final}
    if not constrain_proceed:
        places = {state for one in waiting for state, _ in waiting_places(program, one)}
        waiting = places - {program.final}
    states = tuple(
        State((*state.edges, Edge(Action.IGNORE, number))) if number in waiting else state
        for number, state in enumerate(program.states)
    )
    return replace(program, states=states).check()
