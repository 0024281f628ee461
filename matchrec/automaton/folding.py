"""Fold proceed edges away: for each state between two rows, list its choices by preferment.

`A* B` has the states `take A -> 0, proceed -> 1` and `begin B -> 2`; folded, the first one has the
choices `A -> 0, B -> 1` and the last one `accept`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice
from typing import TypeVar

from matchrec.automaton.program import (
    GUARD_END,
    GUARD_START,
    Action,
    Edge,
    Program,
    StateId,
    VariableId,
)
from matchrec.automaton.run_endings import NOTHING
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.source import Span

MOST_CHOICES = 200_000
ANCHORS = GUARD_START | GUARD_END
# The guard bit of NOT over variable 0. The bit of variable v is FIRST_NOT << v.
FIRST_NOT = 4


class Effect(IntEnum):
    """An effect of a row on a run that does not map it. A choice has it instead of a target."""

    END_RUN = -2  # the run ends
    END_UNLESS_COMPLETED = -3  # the run ends, unless this row completes it
    FORBID_SKIP = -4  # the run may not skip the row
    COMPLETE_RUN = -5  # the run is a match, without the row
    TIME_OUT = -6  # the run ends because its window has ended
    IGNORE_LATER_CHOICES = -7  # no later choice counts


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of a run in a state: one thing that it can do with the next row.

    It maps the next row to `variable` and goes on in `target`, or it accepts without reading a row
    (both are None), or it applies an effect.
    """

    # Anchors that must hold before the row: bits GUARD_START and GUARD_END. Until
    # `automaton.negation` turns NOTs into tests, also bits FIRST_NOT << v: the row must not satisfy
    # the condition of variable v.
    guard: int
    variable: VariableId | None
    target: int | None
    # Whether the row is matched inside an exclusion, `{- -}`.
    excluded: bool = False
    # Whether this is one more iteration of the loop over one variable that the state is in.
    repeats_loop: bool = False
    # The variable whose condition must hold, if it is not `variable`.
    test: VariableId | None = None
    effect: Effect | None = None
    # Whether a row that is mapped by this choice may not be skipped as well. Only of stages.
    blocks: bool = False

    @property
    def accepts(self) -> bool:
        """Return whether the run becomes a match here, without reading a row."""
        return self.target is None and self.effect is None


# The choice that accepts whatever the next row is.
ACCEPT = Choice(guard=0, variable=None, target=None)

# The choices of each folded state, in preferment order.
Folded = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """A program without proceed edges, as tuples with one item for each folded state."""

    choices: Folded
    # The state of the program that each folded state stands for.
    states: tuple[StateId, ...]
    # Number of states in which runs begin. They come first.
    start_count: int = 1

    # The other fields are empty unless the program is one of stages.

    # The state in which a run waits after it skips a row; None if it may not skip.
    waiting_states: tuple[int | None, ...] = ()
    # What becomes of a run whose window or partition ends here: NOTHING, A_MATCH, TIMED_OUT or
    # FIRST_NEIGHBOUR_WINDOW + n, see `run_endings`.
    ending_kinds: tuple[int, ...] = ()
    # The number of the smallest window between neighbouring rows that ends a run here, or
    # NO_NEIGHBOUR_WINDOW.
    neighbour_windows: tuple[int, ...] = ()

    def find_waiting_state(self, state: int) -> int | None:
        """Return the state in which a run waits after it skips a row.

        None if it may not skip one, or if the program is not one of stages.
        """
        return self.waiting_states[state] if self.waiting_states else None

    def find_ending_kind(self, state: int) -> int:
        """Return what becomes of a run whose window or partition ends in a state.

        NOTHING if the program is not one of stages.
        """
        return self.ending_kinds[state] if self.ending_kinds else NOTHING


def fold(program: Program, *, every_way: bool = False, span: Span | None = None) -> Folding:
    """Fold the proceed edges of a program away.

    Args:
        program: the program. Its starting state becomes number 0.
        every_way: whether all matches are wanted, so that choices less preferred than an acceptance
            count too.
        span: the row pattern, for the error.

    Raises:
        MatchRecognizePlanError: there are more than MOST_CHOICES, up to acceptances.
    """
    if every_way:
        # Choices after an acceptance are not limited.
        check_number_of_choices(program, span)
        numbered = number_program_states(program, every_way=True)
    else:
        numbered = limit_choices(number_program_states(program, every_way=False), span)
    states, choices = zip(*numbered, strict=True)
    return Folding(choices=choices, states=states)


def check_number_of_choices(program: Program, span: Span | None) -> None:
    """Check that a program has at most MOST_CHOICES, up to acceptances.

    Raises:
        MatchRecognizePlanError: there are more.
    """
    for _ in limit_choices(number_program_states(program, every_way=False), span):
        pass


def number_program_states(
    program: Program, *, every_way: bool
) -> Iterator[tuple[StateId, tuple[Choice, ...]]]:
    """Yield the states of a program that become folded states, with their choices, in order."""

    def list_choices(state: StateId) -> Iterator[tuple[Choice, StateId | None]]:
        """Yield the choices of a state, each with the state that it leads to."""
        for choice in find_choices(program, state, every_way=every_way):
            yield choice, choice.target

    return number_states([program.start], list_choices)


_State = TypeVar("_State", bound=Hashable)


def number_states(
    starts: Iterable[_State],
    list_choices: Callable[[_State], Iterable[tuple[Choice, _State | None]]],
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """Explore states from some starts, and number them in the order in which they are met.

    Args:
        starts: the states with the first numbers.
        list_choices: returns the choices of a state, and the state to which each leads, None if it
            leads nowhere.

    Yields:
        Each state with its choices, whose targets are numbers of states.
    """
    order = list(starts)
    numbers = {state: number for number, state in enumerate(order)}
    for state in order:  # grows while it is read
        choices = []
        for choice, target in list_choices(state):
            if target is None:
                choices.append(choice)
                continue
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
            choices.append(replace(choice, target=numbers[target]))
        yield state, tuple(choices)


def limit_choices(
    numbered: Iterable[tuple[_State, tuple[Choice, ...]]], span: Span | None
) -> Iterator[tuple[_State, tuple[Choice, ...]]]:
    """Pass the states of `number_states` on while they have few choices together.

    Raises:
        MatchRecognizePlanError: there are more than MOST_CHOICES.
    """
    total = 0
    for state, choices in numbered:
        total += len(choices)
        if total > MOST_CHOICES:
            raise pattern_too_large(span, limit=MOST_CHOICES, what="choices")
        yield state, choices


def find_reachable(
    starts: Iterable[_State], list_targets: Callable[[_State], Iterable[_State]]
) -> Iterator[_State]:
    """Yield the starts and all states reachable from them, each once, in any order."""
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        state = waiting.pop()
        yield state
        new_states = set(list_targets(state)) - reached
        reached |= new_states
        waiting += new_states


def find_choices(program: Program, state: StateId, *, every_way: bool) -> Iterator[Choice]:
    """Yield the choices of a state; their targets are still states of the program.

    Ignore edges are no choices. These choices are left out:

    - what an earlier choice does already, under the same guard or a weaker one,
    - a row at the end of the partition, because there is none,
    - `^` in any state but the first one, because a row came before,
    - what is less preferred than an acceptance without guard, unless `every_way`.
    """
    possible_anchors = ANCHORS if state == program.start else GUARD_END
    guards_by_step: dict[object, list[int]] = {}
    waiting = [(Edge(Action.PROCEED, state), 0)]
    while waiting:
        edge, guard = waiting.pop()
        if edge.action is Action.IGNORE:
            continue
        if edge.variable is not None:
            step = (edge.variable, edge.target)
            if not guard & GUARD_END and not is_repeated(guards_by_step, step, guard):
                repeats_loop = edge.action is Action.TAKE and edge.target == state
                yield Choice(
                    guard=guard,
                    variable=edge.variable,
                    target=edge.target,
                    excluded=edge.excluded,
                    repeats_loop=repeats_loop,
                )
            continue
        guard |= edge.anchor
        for variable in edge.forbids:  # the next row must not satisfy its condition
            guard |= FIRST_NOT << variable
        has_impossible_anchor = guard & ANCHORS & ~possible_anchors
        if has_impossible_anchor or is_repeated(guards_by_step, edge.target, guard):
            continue
        if edge.target == program.final:
            # At the end of the partition there is no next row that a NOT could look at.
            yield replace(ACCEPT, guard=guard & ANCHORS if guard & GUARD_END else guard)
            if guard == 0 and not every_way:
                return
        waiting += [(next_edge, guard) for next_edge in reversed(program.states[edge.target].edges)]


def find_forbidden_variables(guard: int) -> frozenset[VariableId]:
    """Return the variables whose conditions the next row must not satisfy."""
    bits = guard // FIRST_NOT
    return frozenset(variable for variable in range(bits.bit_length()) if bits >> variable & 1)


def is_repeated(guards_by_step: dict[object, list[int]], step: object, guard: int) -> bool:
    """Return whether a step was taken before under a subset of `guard`, and record it if not."""
    guards = guards_by_step.setdefault(step, [])
    if any(earlier & ~guard == 0 for earlier in guards):
        return True
    guards.append(guard)
    return False


MOST_SETS = 200  # limit of `determinise`, as each further part of a pattern may double the sets


def depends_on_variable_alone(choice: Choice) -> bool:
    """Return whether a choice is possible exactly if the row satisfies its variable's condition."""
    return choice.guard == 0 and choice.test is None and choice.effect is None


def determinise(folding: Folding) -> Folding | None:
    """Return a folding that finds each match in one way only.

    Its states are sets of states: those in which a run may be that has mapped the same rows to the
    same variables. This is correct only if it does not depend on the state whether a row may be
    skipped.

    All choices of a set of states that map a row to the same variable become one, which is like the
    most preferred one of them. So what the others test or do would be lost:

    - `test`: `A+ NOT B` begins with two choices of A. One tests that the next row is not a B, and
      the other tests that it is. Only one of the tests would remain.
    - `effect`: all effects of a set would become one.
    - `excluded`: only this may be lost, because it decides which rows of a match are output and not
      which matches there are.

    Source: Rabin and Scott, "Finite automata and their decision problems", subset construction.

    Returns:
        The folding, or None if it would have more than MOST_SETS states, or the pattern has anchors
        or choices with tests or effects.
    """
    if not all(depends_on_variable_alone(choice) for state in folding.choices for choice in state):
        return None

    def merge_choices(members: frozenset[int]) -> Iterator[tuple[Choice, frozenset[int] | None]]:
        """Yield at most one acceptance, then one choice for each variable."""
        choices = [choice for state in sorted(members) for choice in folding.choices[state]]
        acceptances = [choice for choice in choices if choice.accepts]
        if acceptances:
            yield acceptances[0], None
        # Reversed, so that the most preferred choice of a variable is kept.
        by_variable = {
            choice.variable: choice for choice in reversed(choices) if not choice.accepts
        }
        for variable, choice in by_variable.items():
            next_states = (other.target for other in choices if other.variable == variable)
            target = frozenset(state for state in next_states if state is not None)
            yield replace(choice, repeats_loop=False), target

    start = frozenset(range(folding.start_count))
    numbered = list(islice(number_states([start], merge_choices), MOST_SETS + 1))
    if len(numbered) > MOST_SETS:
        return None
    sets, choices = zip(*numbered, strict=True)
    states = tuple(folding.states[min(members)] for members in sets)
    return Folding(choices=choices, states=states)
