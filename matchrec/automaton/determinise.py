"""Make a folding that finds each match in one way only.

`A B | A C` has two choices of A, which lead to different states. The result has one choice of A,
which leads to the set of both states. This set has a choice of B and a choice of C.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from matchrec.automaton.explore_states import number_states
from matchrec.automaton.folding import Choice, ChoicesByState, Folding

# The most states of a deterministic folding. Each part of a pattern may double their number.
MAX_STATE_SETS = 200


def depends_on_variable_alone(choice: Choice) -> bool:
    """Return whether only the condition of its variable decides whether a choice is possible."""
    return choice.guard == 0 and choice.test is None and choice.effect is None


def determinise(folding: Folding) -> Folding | None:
    """Return a folding that finds each match in one way only.

    A state of the result is a set of states: the states of all runs that have mapped the same rows
    to the same variables. The result is correct only if rows may be skipped in all states or in
    none.

    All choices of a set of states that map a row to the same variable become one choice, a copy of
    the most preferred of them. So the tests and effects of the other choices would be lost:

    - `test`: `A+ NOT B` begins with two choices of A. One tests that the next row is not a B, and
      the other tests that it is a B. Only one of the tests would remain.
    - `effect`: all effects of a set would become one effect.

    Foldings with tests or effects are therefore rejected. `is_excluded` may be lost, because it
    decides which rows of a match are output, and not which matches there are.

    Source: Rabin and Scott, "Finite automata and their decision problems", subset construction.

    Returns:
        The folding, or None if it would have more than MAX_STATE_SETS states, or the pattern has
        anchors or choices with tests or effects.
    """
    if not all(depends_on_variable_alone(choice) for state in folding.choices for choice in state):
        return None

    start = frozenset(range(folding.start_count))
    numbered_states = number_states([start], partial(merge_choices, folding.choices))
    numbered_state_sets = list(islice(numbered_states, MAX_STATE_SETS + 1))
    if len(numbered_state_sets) > MAX_STATE_SETS:
        return None
    state_sets, choices = zip(*numbered_state_sets, strict=True)
    states = tuple(folding.states[min(state_set)] for state_set in state_sets)
    return Folding(choices=choices, states=states)


def merge_choices(
    choices_by_state: ChoicesByState, states: frozenset[int]
) -> Iterator[tuple[Choice, frozenset[int] | None]]:
    """Yield the choices of a set of states: at most one acceptance, then one for each variable.

    Each choice comes with the set of states to which it leads; None for the acceptance.
    """
    choices = [choice for state in sorted(states) for choice in choices_by_state[state]]
    acceptances = [choice for choice in choices if choice.accepts]
    if acceptances:
        yield acceptances[0], None
    # Reversed, so that the most preferred choice of a variable is kept.
    choice_by_variable = {
        choice.variable: choice for choice in reversed(choices) if not choice.accepts
    }
    for variable, choice in choice_by_variable.items():
        targets = (other.target for other in choices if other.variable == variable)
        target_set = frozenset(target for target in targets if target is not None)
        yield replace(choice, repeats_loop=False), target_set
