"""Proceed edges folded away: for each state between two rows, its choices in preferment order.

`A* B` has the states `take A -> 0, proceed -> 1` and `begin B -> 2`; folded, the first one has the
choices `A -> 0, B -> 1` and the last one `accept`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
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
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.source import Span

MOST_CHOICES = 200_000
ANCHORS = GUARD_START | GUARD_END
# The guard bit of NOT over variable 0. The bit of variable v is FIRST_NOT << v.
FIRST_NOT = 4


class Effect(IntEnum):
    """What a row does to a run without being mapped by it. A choice has it instead of a target."""

    ENDS = -2  # the run ends
    STOPS = -3  # the run ends, unless this row completes it
    BLOCKS = -4  # the run may not skip the row
    COMPLETES = -5  # the run is a match, without the row
    TIMES_OUT = -6  # the run ends because its window has ended
    CUTS = -7  # no later choice counts


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that a run can do in a state.

    It maps the next row to `variable` and goes on in `target`, or it accepts without reading a row
    (both are None), or it applies an effect.
    """

    # Anchors that must hold before the row: bits GUARD_START and GUARD_END. Until
    # `compile.negation` turns NOTs into tests, also bits FIRST_NOT << v: the row must not satisfy
    # the condition of variable v.
    guard: int
    variable: VariableId | None
    target: int | None
    # Whether the row is matched inside an exclusion, `{- -}`.
    excluded: bool = False
    # Whether this is one more iteration of the loop over one variable that the state is in.
    again: bool = False
    # The variable whose condition must hold, if it is not `variable`.
    test: VariableId | None = None
    effect: Effect | None = None
    # Whether a row that is mapped by this choice may not be skipped as well. Only of stages.
    blocks: bool = False

    @property
    def accepts(self) -> bool:
        """Return whether the run becomes a match here, without reading a row."""
        return self.target is None and self.effect is None


# The choices of each folded state, in preferment order.
Folded = tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """A program without proceed edges, as tuples with one item for each folded state."""

    choices: Folded
    # The state of the program that each folded state stands for.
    states: tuple[StateId, ...]
    # Number of states in which runs begin. They come first.
    starts: int = 1

    # The other fields are empty unless the program is one of stages.

    # The state in which a run waits after it skips a row; None if it may not skip.
    waits: tuple[int | None, ...] = ()
    # What becomes of a run whose window or partition ends here, see the end of `program.py`.
    ends: tuple[int, ...] = ()
    # The smallest window between neighbouring rows that ends a run here, or NOT_NEAR.
    near: tuple[int, ...] = ()


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

    def list_choices(state: StateId) -> Iterator[tuple[Choice, StateId | None]]:
        """Yield the choices of a state, each with the state that it leads to."""
        for choice in find_choices(program, state, every_way=every_way):
            yield choice, choice.target

    numbered = number_states([program.start], list_choices)
    if every_way:
        # Choices after an acceptance are not limited. Raise if there are too many before them.
        fold(program, span=span)
    else:
        numbered = limit_choices(numbered, span)
    states, choices = zip(*numbered, strict=True)
    return Folding(choices, states)


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
    possible_anchors = GUARD_START | GUARD_END if state == program.start else GUARD_END
    guards_by_step: dict[object, list[int]] = {}
    waiting = [(Edge(Action.PROCEED, state), 0)]
    while waiting:
        edge, guard = waiting.pop()
        if edge.action is Action.IGNORE:
            continue
        if edge.variable is not None:
            step = (edge.variable, edge.target)
            if not guard & GUARD_END and not is_repeated(guards_by_step, step, guard):
                again = edge.action is Action.TAKE and edge.target == state
                yield Choice(guard, edge.variable, edge.target, edge.excluded, again)
            continue
        guard |= edge.anchor
        for variable in edge.forbids:  # the next row must not satisfy its condition
            guard |= FIRST_NOT << variable
        has_impossible_anchor = guard & ANCHORS & ~possible_anchors
        if has_impossible_anchor or is_repeated(guards_by_step, edge.target, guard):
            continue
        if edge.target == program.final:
            # At the end of the partition there is no next row that a NOT could look at.
            yield Choice(guard & ANCHORS if guard & GUARD_END else guard, None, None)
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


# What can be said about a row pattern from its folded program alone, whatever the rows are.
#
# `FollowSets` of `A B* (C | D)`: it begins with A, ends with C or D, and has the pairs A B, A C,
# A D, B B, B C and B D.
#
# Source: Glushkov, "The abstract theory of automata", the sets First, Last and Follow.


UNREACHABLE = 1 << 30


def find_least_rows(folded: Folded) -> tuple[int, ...]:
    """Return for each state the least number of rows that a match needs from there.

    UNREACHABLE if no way leads to an acceptance, as in `A $ B`.
    """
    sources: list[list[int]] = [[] for _ in folded]
    for state in range(len(folded)):
        for target in find_targets(folded, state):
            sources[target].append(state)
    least = [0 if any(choice.accepts for choice in choices) else UNREACHABLE for choices in folded]
    reached = [state for state, rows in enumerate(least) if rows == 0]
    for state in reached:  # grows while it is read
        for source in sources[state]:
            if least[source] == UNREACHABLE:
                least[source] = least[state] + 1
                reached.append(source)
    return tuple(least)


def find_live_states(folded: Folded) -> tuple[bool, ...]:
    """Return for each state whether a run that mapped rows may become a match by mapping more."""

    def is_possible(choice: Choice) -> bool:
        """Return whether a choice is possible after the first row.

        No such row is the first one of its partition, and no row before another one is the last.
        """
        return choice.guard == 0 or (choice.accepts and choice.guard == GUARD_END)

    later = tuple(tuple(filter(is_possible, choices)) for choices in folded)
    least = find_least_rows(later)
    return tuple(
        any(least[target] < UNREACHABLE for target in find_targets(later, state))
        for state in range(len(folded))
    )


def find_least_mapped(folded: Folded, members: frozenset[VariableId]) -> tuple[int, ...]:
    """Return for each state the least number of rows mapped to `members` by a run that is there."""
    least = [0, *(UNREACHABLE for _ in folded[1:])]
    changed = True
    while changed:
        changed = False
        for state, choices in enumerate(folded):
            for choice in choices:
                rows = least[state] + (choice.variable in members)
                if choice.target is not None and rows < least[choice.target]:
                    least[choice.target] = rows
                    changed = True
    return tuple(least)


def find_states_reached_twice(folded: Folded) -> tuple[bool, ...]:
    """Return for each state whether two searches or ways can reach it at the same row.

    That is the case after a state that is entered twice, as the start is if a row leads back to it.
    In all other states a failure is not worth remembering.
    """
    entries = Counter(choice.target for choices in folded for choice in choices)
    entries[0] += 1
    entered_twice = (state for state in range(len(folded)) if entries[state] > 1)
    reached = set(find_reachable(entered_twice, partial(find_targets, folded)))
    return tuple(state in reached for state in range(len(folded)))


def find_targets(folded: Folded, state: int) -> tuple[int, ...]:
    """Return the states that one row can lead to from a state, each once."""
    return tuple(
        dict.fromkeys(choice.target for choice in folded[state] if choice.target is not None)
    )


@dataclass(frozen=True, slots=True)
class FollowSets:
    """The variables at both ends of matches, and the pairs of variables that follow each other."""

    # Variables to which the first row of a match can be mapped.
    first: frozenset[VariableId]
    # Variables to which the last row of a match can be mapped.
    last: frozenset[VariableId]
    # The variables to which two adjacent rows of a match can be mapped, in order.
    pairs: frozenset[tuple[VariableId, VariableId]]
    # Whether a match can be empty.
    matches_empty: bool

    @classmethod
    def of(cls, folded: Folded) -> FollowSets:
        """Return the sets of a folded program."""
        variables_from: list[set[VariableId]] = [set() for _ in folded]
        accepting = set[int]()
        entries = set[tuple[VariableId, int]]()  # a variable, and the state that its row leads to
        for state, choices in enumerate(folded):
            for choice in choices:
                if choice.accepts:
                    accepting.add(state)
                if choice.variable is not None:
                    variables_from[state].add(choice.variable)
                    if choice.target is not None:
                        entries.add((choice.variable, choice.target))
        return cls(
            first=frozenset(variables_from[0]),
            last=frozenset(variable for variable, state in entries if state in accepting),
            pairs=frozenset(
                (variable, following)
                for variable, state in entries
                for following in variables_from[state]
            ),
            matches_empty=0 in accepting,
        )

    def before(self, variable: VariableId) -> frozenset[VariableId]:
        """Return the variables to which the row before a row of `variable` can be mapped."""
        return frozenset(first for first, second in self.pairs if second == variable)


def is_needed(folding: Folding, marked: Callable[[Choice], bool]) -> bool:
    """Return whether every output of a partition needs a row mapped by a marked choice.

    Conditions are unknown here, so any of them may hold.

    Args:
        folding: the folded program.
        marked: returns whether a choice is marked.
    """
    ending_effects = (Effect.COMPLETES, Effect.TIMES_OUT)

    def list_targets(state: int) -> Iterator[int]:
        """Yield where a run goes that maps no row by a marked choice."""
        waiting_states = folding.waits[state : state + 1]
        unmarked = (choice.target for choice in folding.choices[state] if not marked(choice))
        for target in (*waiting_states, *unmarked):
            if target is not None:
                yield target

    def has_output(state: int) -> bool:
        """Return whether a run in this state can become a match or time out."""
        choices = folding.choices[state]
        if any(choice.accepts or choice.effect in ending_effects for choice in choices):
            return True
        return any(folding.ends[state : state + 1])

    states = find_reachable(range(folding.starts), list_targets)
    return not any(has_output(state) for state in states)


def may_map_twice(folding: Folding, waits: tuple[int | None, ...]) -> bool:
    """Return whether two ways may map the same rows to the same variables and both be a match.

    Conditions are unknown here, so any of them may hold. The search follows two
    ways at once: it visits pairs of states, each with whether the two ways have differed so far.

    Source: Book, Even, Greibach, Ott, "Ambiguity in graphs and expressions", IEEE TC 20(2), 1971.

    Args:
        folding: the folded program.
        waits: for each state the one in which a run waits after it skips a row, None if it may not.
    """
    folded = folding.choices
    accepting = [any(choice.accepts for choice in choices) for choices in folded]

    def list_next_pairs(pair: tuple[int, int, bool]) -> Iterator[tuple[int, int, bool]]:
        """Yield the pairs of states that two runs can reach with the next row."""
        left, right, differs = pair
        left_wait = waits[left]
        right_wait = waits[right]
        if left_wait is not None and right_wait is not None:
            yield left_wait, right_wait, differs
        for left_index, left_choice in enumerate(folded[left]):
            for right_index, right_choice in enumerate(folded[right]):
                if left_choice.variable != right_choice.variable:
                    continue
                if left_choice.target is not None and right_choice.target is not None:
                    is_same = left_index == right_index
                    yield left_choice.target, right_choice.target, differs or not is_same

    starts = range(folding.starts)
    first_pairs = ((left, right, left != right) for left in starts for right in starts)
    return any(
        differs and accepting[left] and accepting[right]
        for left, right, differs in find_reachable(first_pairs, list_next_pairs)
    )


MOST_SETS = 200  # limit of `determinise`, as each further part of a pattern may double the sets


def determinise(folding: Folding) -> Folding | None:
    """Return a folding that finds each match in one way only.

    Its states are sets of states: those in which a run may be that has mapped the same rows to the
    same variables. This is correct only if it does not depend on the state whether a row may be
    skipped.

    Source: Rabin and Scott, "Finite automata and their decision problems", subset construction.

    Returns:
        The folding, or None if it would have more than MOST_SETS states or the pattern has anchors.
    """
    if any(choice.guard for choices in folding.choices for choice in choices):
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
            yield replace(choice, again=False), target

    start = frozenset(range(folding.starts))
    numbered = list(islice(number_states([start], merge_choices), MOST_SETS + 1))
    if len(numbered) > MOST_SETS:
        return None
    sets, choices = zip(*numbered, strict=True)
    return Folding(choices, tuple(folding.states[min(members)] for members in sets))
