"""Compile a row pattern so that each choice says which occurrence of a variable a row takes.

Coverage counts how many starting rows reach each occurrence of a variable in PATTERN. The program
of a query has one id for all occurrences of a variable, so it does not say which of them a row
takes. For `A B+ A`, `compile_occurrences` returns occurrences 0, 1 and 2, of the variables A, B and
A:

    state    choices    occurrences of the choices    rows that a match still needs
    0        A          0                             3
    1        B          1                             2
    2        B, A       1, 2                          1
    3        accept     -1                            0

The steps of `compile_occurrences`:

1. Compile the row pattern with a separate variable for each occurrence.
2. Separate the start, where runs have no row, from the state of runs that come back with rows.
3. Copy states, so that the state of a run says which occurrences it awaits: see `sibling_states`.
4. Replace the variable of each choice by the variable of the query.

The matches and their preferment order stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from matchrec.automaton.compile_program import compile_program
from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.automaton.facts import can_complete, find_least_rows
from matchrec.automaton.fold_program import fold_program
from matchrec.automaton.folding import ACCEPT, Choice, ChoicesByState, Folding
from matchrec.automaton.program import ANCHOR_START, VariableId
from matchrec.automaton.sibling_states import StateSet, brings_nearer, copy_states_by_siblings
from matchrec.plan.pattern import RowPattern, Variable, replace_children, walk_pattern

# The occurrence of a choice that maps no row.
NO_OCCURRENCE = -1


@dataclass(frozen=True, slots=True)
class Occurrences:
    """A compiled pattern, and how its choices relate to the row pattern as it is written.

    Choices are numbered through all states: first the choices of state 0, then the choices of
    state 1, and so on.
    """

    # The pattern, whose choices map rows to the variables of the query.
    pattern: CompiledPattern
    # For each occurrence, in the order of PATTERN, the id of its variable.
    variables: tuple[VariableId, ...]
    # For each choice, the occurrence that the row takes; NO_OCCURRENCE if the choice maps no row.
    occurrence_by_choice: tuple[int, ...]
    # For each state, the least number of further rows that a match needs; UNREACHABLE if the state
    # leads to no match.
    remaining_rows: tuple[int, ...]
    # For each state, the numbers of choices after which a match would need fewer rows, one for each
    # variable and guard. They are choices of the state or of its siblings, see `sibling_states`.
    nearer_choices: tuple[tuple[int, ...], ...]


def compile_occurrences(
    compiled_pattern: CompiledPattern, pattern: RowPattern, *, all_matches: bool = False
) -> Occurrences:
    """Compile a row pattern by occurrences of its variables.

    Args:
        compiled_pattern: the row pattern, compiled by variables.
        pattern: the row pattern, without NOT.
        all_matches: see `fold_program`. If it is true, the empty match is left out, because it is
            not output together with all matches.

    Raises:
        MatchRecognizePlanError: the program would be too large.
    """
    names = [node.name for node in walk_pattern(pattern) if isinstance(node, Variable)]
    variables = tuple(compiled_pattern.program.variables.index(name) for name in names)
    occurrence_names = tuple(str(occurrence) for occurrence in range(len(names)))
    program = compile_program(rename_variables(pattern, iter(occurrence_names)), occurrence_names)

    folding = fold_program(program, all_matches=all_matches, span=pattern.span)
    folding = separate_start(folding, outputs_empty_match=not all_matches)
    folding, siblings = copy_states_by_siblings(folding, pattern.span)

    choices_by_state = tuple(
        tuple(restore_variable(choice, variables) for choice in choices)
        for choices in folding.choices
    )
    remaining_rows = find_least_rows(choices_by_state)
    return Occurrences(
        pattern=CompiledPattern(
            compiled_pattern.program, replace(folding, choices=choices_by_state)
        ),
        variables=variables,
        occurrence_by_choice=list_occurrences(folding.choices),
        remaining_rows=remaining_rows,
        nearer_choices=tuple(iterate_nearer_choices(choices_by_state, remaining_rows, siblings)),
    )


def rename_variables(pattern: RowPattern, names: Iterator[str]) -> RowPattern:
    """Return a row pattern whose variables are renamed to the next names, from left to right.

    `A B+ A` with the names 0, 1 and 2 becomes `0 1+ 2`.
    """
    if isinstance(pattern, Variable):
        return replace(pattern, name=next(names))
    return replace_children(pattern, lambda child: rename_variables(child, names))


def separate_start(folding: Folding, *, outputs_empty_match: bool) -> Folding:
    """Divide the start into a state for runs without a row and a state for runs that come back.

    The start is divided only if runs come back to it and the choices of both states differ:

    - `^` does not hold after a row. Otherwise, the start of `A* ^ A B` would say that two more rows
      are a match even after a row.
    - A run without a row may not accept unless the empty match is output.

    Args:
        folding: a folding whose start is state 0.
        outputs_empty_match: whether the empty match is output.
    """
    start_choices = folding.choices[0]
    later_choices = tuple(choice for choice in start_choices if not choice.guard & ANCHOR_START)
    first_choices = tuple(
        choice for choice in start_choices if outputs_empty_match or not choice.accepts
    )
    choices_by_state = (first_choices, *folding.choices[1:])
    can_come_back = any(choice.target == 0 for choices in folding.choices for choice in choices)
    if not can_come_back or first_choices == later_choices:
        return replace(folding, choices=choices_by_state)

    later_start = len(choices_by_state)  # the new state comes after all others
    return replace(
        folding,
        choices=tuple(
            redirect_choices(choices, 0, later_start)
            for choices in (*choices_by_state, later_choices)
        ),
        states=(*folding.states, folding.states[0]),
    )


def redirect_choices(choices: Sequence[Choice], target: int, new_target: int) -> tuple[Choice, ...]:
    """Return the choices, of which those that lead to one state lead to another one instead."""
    return tuple(
        replace(choice, target=new_target) if choice.target == target else choice
        for choice in choices
    )


def restore_variable(choice: Choice, variables: Sequence[VariableId]) -> Choice:
    """Return a choice of an occurrence as a choice of the variable that occurs there."""
    if choice.variable is None:
        return choice
    return replace(choice, variable=variables[choice.variable])


def find_stage_occurrences(compiled_pattern: CompiledPattern, stage_count: int) -> Occurrences:
    """Return the occurrences of a program of stages.

    Each stage is one occurrence, because no two stages have the same name.

    Args:
        compiled_pattern: the pattern of stages, compiled.
        stage_count: the number of stages.
    """
    folding = compiled_pattern.folding
    remaining_rows = find_least_rows(add_acceptances(folding))
    first_states = StateSet(range(folding.start_count))
    # A run that begins awaits the occurrences that any of the first states awaits.
    siblings = [
        first_states if state in first_states else StateSet()
        for state in range(len(folding.choices))
    ]
    return Occurrences(
        pattern=compiled_pattern,
        variables=tuple(range(stage_count)),
        occurrence_by_choice=list_occurrences(folding.choices),
        remaining_rows=remaining_rows,
        nearer_choices=tuple(iterate_nearer_choices(folding.choices, remaining_rows, siblings)),
    )


def add_acceptances(folding: Folding) -> ChoicesByState:
    """Return the choices, with an acceptance in each state in which a run needs no more rows.

    In some states, such a run still waits for the end of its window, or for a row that it does not
    map.
    """
    return tuple(
        (*choices, ACCEPT) if can_complete(folding, state) else choices
        for state, choices in enumerate(folding.choices)
    )


def list_occurrences(choices_by_state: ChoicesByState) -> tuple[int, ...]:
    """Return the occurrence that each choice takes, NO_OCCURRENCE if it takes none.

    Args:
        choices_by_state: the choices of all states; their variables are occurrences.
    """
    return tuple(
        NO_OCCURRENCE if choice.variable is None else choice.variable
        for choices in choices_by_state
        for choice in choices
    )


def iterate_nearer_choices(
    choices_by_state: ChoicesByState, remaining_rows: Sequence[int], siblings: Sequence[StateSet]
) -> Iterator[tuple[int, ...]]:
    """Yield for each state the numbers of its nearer choices, see `Occurrences`.

    Args:
        choices_by_state: the choices of all states.
        remaining_rows: the least number of rows that a match needs from each state.
        siblings: for each state, other states whose choices a run in the state awaits as well.
    """
    first_numbers = [0, *accumulate(len(choices) for choices in choices_by_state)]
    for state, rows in enumerate(remaining_rows):
        nearer_choices: dict[tuple[VariableId | None, int], int] = {}
        for source in (state, *sorted(siblings[state])):
            for number, choice in enumerate(choices_by_state[source], first_numbers[source]):
                if brings_nearer(choice, rows, remaining_rows):
                    # Of choices with the same variable and guard, the first is kept: the choice of
                    # the state itself, if it has one.
                    nearer_choices.setdefault((choice.variable, choice.guard), number)
        yield tuple(nearer_choices.values())
