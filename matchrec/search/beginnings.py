"""Find the rows with which a match can begin, so that a search need not try other rows.

Searches that go from starting row to starting row use the result. Two functions find the rows:

1. `unmark_by_first_rows` compares the row conditions of the first rows of a match for all rows at
   once. It is cheap, and suffices if rows that satisfy these conditions are rare.
2. `follow_moves_back` follows all choices from the last row back, by `kernels.beginnings`. If
   conditions read only the data, it finds exactly the rows with which a match begins. It is for
   quantifiers with large bounds, such as A{5,50}, if most rows satisfy A. For such a quantifier, a
   search from each row takes up to 100 steps to fail, and fails in other states than the searches
   before it, so remembered failures do not help.

For example, `unmark_by_first_rows` for PATTERN (A B C), with rows that satisfy A B A B C:

    row 0 of the match satisfies A    rows 0 and 2 remain
    row 1 of the match satisfies B    rows 0 and 2 remain
    row 2 of the match satisfies C    row 2 remains

A row must not be left out if a search from it would raise an error. So both functions assume that
a choice that evaluates a condition on the run leads to a match, and look no further. If steps are
limited, a search can also fail because it takes too many steps. Then only the first row of a match
is compared.

A search of all runs at once does not leave out single rows. But a stream need not search a key that
has no live runs if none of its new rows can begin a run. `mark_possible_first_rows` marks the
rows that can, by the first row of the match alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.search.compiled_task import CompiledTask, compile_task
from matchrec.search.kernel_input import SearchInput, build_row_arrays
from matchrec.search.kernels import layout
from matchrec.search.kernels.beginnings import (
    ALL_STATES,
    MOVE_SIZE,
    STATES_PER_WORD,
    Moves,
    mark_beginnings,
)
from matchrec.search.partitions import NO_EDGE, BoolArray, IntArray, Partitions
from matchrec.search.task import Task

# At most this many rows at the beginning of a match are compared.
MAX_ROWS_COMPARED = 8
# Comparing stops when a smaller share of the rows than this remains.
SMALL_SHARE = 1 / 16
# Leaving out rows pays if a smaller share of the rows than this remains.
WORTHWHILE_SHARE = 1 / 2
# Choices are followed back if a move stands for at least this number of choices on average.
# Otherwise, a search takes hardly more steps than there are moves.
MIN_CHOICES_PER_MOVE = 4
# Returned instead of a mark for each row: any row can begin a match.
ANY_ROW: BoolArray = np.ones(0, np.bool_)
# The columns of `layout.Rules.program` from which moves are built.
COLUMNS_OF_MOVES = [
    layout.SOURCE,
    layout.TARGET,
    layout.WORD,
    layout.MASK,
    layout.CODE,
    layout.CODE_END,
]
# Choices are followed back if all moves of a row change at most this number of words, which takes
# about 30 ns.
MAX_WORDS_PER_ROW = 32


def find_possible_beginnings(task: Task, arrays: SearchInput) -> BoolArray:
    """Return for each row whether a match can begin with it: bool[n].

    The result is ANY_ROW if all rows should be tried, because it does not pay to leave rows out.
    """
    rows = arrays.rows
    row_count = len(rows.condition_bits)
    edges = rows.frontier.edge
    # Rows can be missing at the end of the last partition. If they are missing elsewhere, all rows
    # are tried.
    if task.stages is not None or (edges[:-1] != NO_EDGE).any():
        return ANY_ROW
    present_row_count = min([row_count, *edges[-1:].tolist()])
    # If steps are limited, a search can fail from each row that one of its first choices can map.
    # So only rows that none of them can map are left out.
    can_exceed_steps = task.max_steps is not None and mark_run_choices(arrays.rules.program).any()
    moves = None if can_exceed_steps else find_moves(arrays.compiled_task)

    can_begin = np.ones(row_count, np.bool_)
    # Moves are followed only if most rows satisfy the conditions. Then comparing more is useless.
    compares_first_row_only = can_exceed_steps or moves is not None
    compared_row_count = 1 if compares_first_row_only else MAX_ROWS_COMPARED
    remaining_count = unmark_by_first_rows(arrays, can_begin, present_row_count, compared_row_count)
    if moves is not None and remaining_count >= SMALL_SHARE * row_count:
        follow_moves_back(moves, arrays, can_begin, present_row_count)
        return can_begin
    is_worthwhile = remaining_count < WORTHWHILE_SHARE * row_count
    return can_begin if is_worthwhile else ANY_ROW


def mark_run_choices(choices: IntArray) -> BoolArray:
    """Return for each choice whether it evaluates a condition on the run: bool[k].

    Args:
        choices: int64[k, 16], some rows of `layout.Rules.program`.
    """
    return np.asarray(choices[:, layout.CODE] < choices[:, layout.CODE_END])


def unmark_by_first_rows(
    arrays: SearchInput, can_begin: BoolArray, present_row_count: int, compared_row_count: int
) -> int:
    """Unmark rows with which no match can begin; return how many rows are still marked.

    For `A B`, a row can begin a match if it satisfies A's row condition and the next row satisfies
    B's. Rows that have not arrived yet can satisfy any condition, and so can the rows of the next
    partition.

    Args:
        arrays: the task and its partitions.
        can_begin: bool[n], the marks. All are set before the call.
        present_row_count: how many rows have arrived.
        compared_row_count: how many rows at the beginning of a match are compared at most.
    """
    remaining_count = len(can_begin)
    condition_bits = arrays.rows.condition_bits[:present_row_count]
    program = arrays.rules.program
    masks = program[:, layout.MASK].astype(np.uint64)
    # Comparisons are faster if all compared bits fit into one byte, as they mostly do.
    bits = condition_bits.astype(np.min_scalar_type(np.bitwise_or.reduce(masks)))
    states = {0}  # the states in which a run can be after `depth` rows
    for depth in range(min(compared_row_count, len(condition_bits))):
        is_possible = [source in states for source in program[:, layout.SOURCE].tolist()]
        states = {*program[is_possible, layout.TARGET].tolist()}
        if layout.ACCEPT in states:
            break
        # A row at this depth must satisfy the row condition of a possible choice. A choice with the
        # mask 0 has no row condition, so any row satisfies it.
        row_conditions = list_row_conditions(program[is_possible])
        if all(mask != 0 for _, mask in row_conditions):
            satisfies_one = find_rows_satisfying_one(bits[depth:], row_conditions)
            can_begin[: len(condition_bits) - depth] &= satisfies_one
            remaining_count = int(np.count_nonzero(can_begin))
            if remaining_count < SMALL_SHARE * len(can_begin):
                break
        if mark_run_choices(program[is_possible]).any():
            break  # it is assumed to lead to a match, so later rows decide nothing
    return remaining_count


def list_row_conditions(choices: IntArray) -> set[tuple[int, int]]:
    """Return the word and the unsigned mask of the row condition of each choice, each pair once.

    Args:
        choices: int64[k, 16], some rows of `layout.Rules.program`.
    """
    words = choices[:, layout.WORD].tolist()
    masks = choices[:, layout.MASK].astype(np.uint64).tolist()
    return {*zip(words, masks, strict=True)}


def find_rows_satisfying_one(
    condition_bits: npt.NDArray[np.integer[Any]], row_conditions: Iterable[tuple[int, int]]
) -> BoolArray:
    """Return for each row whether it satisfies at least one of some row conditions: bool[n].

    Args:
        condition_bits: int[n, w], the bits of the row conditions that each row satisfies.
        row_conditions: the word and the mask of each of these row conditions.
    """
    satisfies = np.zeros(len(condition_bits), np.bool_)
    for word, mask in row_conditions:
        satisfies |= condition_bits[:, word] & mask == mask
    return satisfies


def follow_moves_back(
    moves: Moves, arrays: SearchInput, can_begin: BoolArray, present_row_count: int
) -> None:
    """Mark the rows with which a match can begin, and unmark the other rows.

    Args:
        moves: the moves of the task.
        arrays: the task and its partitions.
        can_begin: bool[n], the marks. Rows that have not arrived yet keep their marks.
        present_row_count: how many rows have arrived.
    """
    rows = arrays.rows
    # The states that are viable after the last row, twice: see `mark_beginnings`.
    viable = np.concatenate([moves.accepting_states, moves.accepting_states])
    if (rows.frontier.edge[-1:] != NO_EDGE).any():
        viable[:] = ALL_STATES  # rows that have not arrived yet can satisfy any condition
    mark_beginnings(rows.starts, rows.condition_bits, moves, viable, can_begin[:present_row_count])


# Cached because the worker of a stream calls this for every key.
@lru_cache(maxsize=64)
def find_moves(compiled_task: CompiledTask) -> Moves | None:
    """Return the moves of a task; None if it would not pay to follow them back."""
    program = compiled_task.rules.program
    accepts = program[:, layout.TARGET] == layout.ACCEPT
    if (program[accepts, layout.SOURCE] == 0).any():
        return None  # a match can be empty, so it can begin with any row
    moves = build_moves(compiled_task)
    pays = (
        MIN_CHOICES_PER_MOVE * len(moves.table) <= len(program)
        and moves.sources.size <= MAX_WORDS_PER_ROW
    )
    return moves if pays else None


def build_moves(compiled_task: CompiledTask) -> Moves:
    """Return the moves of a task.

    All anchors are assumed to hold. If a choice evaluates a condition on the run, its target is
    replaced by an additional state, which is viable at every row.
    """
    rules = compiled_task.rules
    always_viable = len(rules.first_choice) - 1
    accepting_states = [always_viable]
    # By word and mask of a row condition, the source and the target of each choice with it.
    pairs_by_condition: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for source, target, word, mask, code, code_end in rules.program[:, COLUMNS_OF_MOVES].tolist():
        if target == layout.ACCEPT:
            accepting_states.append(source)
            continue
        evaluates_run_condition = code < code_end
        reached_state = always_viable if evaluates_run_condition else target
        pairs_by_condition[word, mask].append((source, reached_state))

    word_count = always_viable // STATES_PER_WORD + 1
    table: list[tuple[int, ...]] = []
    sources: list[list[int]] = []
    for (word, mask), pairs in pairs_by_condition.items():
        by_distance, by_target = group_sources(pairs)
        for is_shift, groups in ((True, by_distance), (False, by_target)):
            for distance_or_target, group in groups.items():
                target_word, target_bit = divmod(distance_or_target, STATES_PER_WORD)
                # In the order of the columns of `Moves.table`.
                table.append((word, mask, is_shift, target_word, target_bit))
                sources.append(pack_states(group, word_count))
    return Moves(
        table=np.array(table, np.int64).reshape(-1, MOVE_SIZE),
        sources=np.array(sources, np.int64).reshape(-1, word_count),
        accepting_states=np.array(pack_states(accepting_states, word_count), np.int64),
    )


class SourceGroups(NamedTuple):
    """The sources of choices, in groups for which one move can stand."""

    # For each distance from source to target, the sources of the choices with this distance.
    by_distance: Mapping[int, list[int]]
    # For each target, the sources of the choices that are not in `by_distance`.
    by_target: Mapping[int, list[int]]


def group_sources(pairs: Iterable[tuple[int, int]]) -> SourceGroups:
    """Group the sources of choices by distance or by target.

    A source is grouped by the distance to its target if the target is a later state and other
    choices have the same distance. Otherwise it is grouped by its target.

    Args:
        pairs: the source and the target of each choice.

    >>> by_distance, by_target = group_sources([(0, 1), (1, 2), (2, 5), (1, 5)])
    >>> dict(by_distance), dict(by_target)
    ({1: [0, 1]}, {5: [2, 1]})
    """
    pairs = list(pairs)
    distances = Counter(target - source for source, target in pairs)
    by_distance: defaultdict[int, list[int]] = defaultdict(list)
    by_target: defaultdict[int, list[int]] = defaultdict(list)
    for source, target in pairs:
        distance = target - source
        if distance > 0 and distances[distance] > 1:
            by_distance[distance].append(source)
        else:
            by_target[target].append(source)
    return SourceGroups(by_distance, by_target)


def pack_states(states: Iterable[int], word_count: int) -> list[int]:
    """Return a set of states as the bits of some words, STATES_PER_WORD in each.

    >>> pack_states([1, 3, 64], 2)
    [10, 2]
    """
    packed = [0] * word_count
    for state in states:
        word, bit = divmod(state, STATES_PER_WORD)
        packed[word] |= 1 << bit
    return packed


def mark_possible_first_rows(task: Task, partitions: Partitions) -> BoolArray:
    """Return for each row whether its row conditions allow a run to begin with it: bool[n].

    Unlike `find_possible_beginnings`, this is for event selection, and looks at one row only.

    Args:
        task: a task with event selection.
        partitions: the rows.
    """
    compiled_task = compile_task(task, partitions.integer_count)
    rules = compiled_task.rules
    first_choices = rules.program[: rules.first_choice[compiled_task.selection_rules.start_count]]
    if (first_choices[:, layout.TARGET] < 0).any():
        return np.ones(partitions.row_count, np.bool_)
    condition_bits = build_row_arrays(partitions, for_event_selection=True).condition_bits
    return find_rows_satisfying_one(
        condition_bits, first_choices[:, [layout.WORD, layout.MASK]].tolist()
    )
