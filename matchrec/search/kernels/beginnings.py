"""The kernel of `search.beginnings`: mark the rows with which a match can begin.

A state is *viable* at a row if a run that is in the state before it gets the row can become a
match. Which states are viable depends on the row and on the states that are viable at the next row.
So the kernel goes from the last row to the first:

    PATTERN (A{2,4} B)   state k: k rows are mapped to A; state M: B is mapped, which is a match

    row              0        1          2          3          4    (end)
    satisfies        A        A          A          B          A
    viable states    0 1 M    0 1 2 M    1 2 3 M    2 3 4 M    M    M

    row 4    a run in state k would go to k + 1, which is not viable at the end
    row 3    B leads from the states 2, 3 and 4 to M, so these three are viable
    row 2    A leads from k to k + 1, so 1, 2 and 3 are viable

A match begins with the rows 0 and 1, because the starting state 0 is viable at them.

The states that are viable at a row are bits of words. A *move* stands for many choices, and takes
one operation on these words, so a row costs as much for A{2,60} as for A{2,4}:

    shift    choices with one condition whose targets are equally far from their sources, such as
             the A above: shift the bits of the next row
    join     choices with one condition and one target, such as the B above: if the target is
             viable at the next row, all sources are

Source: Baeza-Yates and Gonnet, "A new approach to text searching", CACM 35(10), 1992.
"""

from typing import NamedTuple

from matchrec.jit.decorators import linear_kernel, spliced
from matchrec.search.partitions import BoolArray, IntArray

# The number of states in a word. The sign bit is left out, because it would be copied by a shift.
STATES_PER_WORD = 63
ALL_STATES = (1 << STATES_PER_WORD) - 1

# Columns of `Moves.table`.
# A row satisfies the row condition of a move if `condition_bits[row, word] & mask == mask`.
WORD = 0
MASK = 1
IS_SHIFT = 2  # whether the move is a shift, otherwise it is a join
# The word and the bit of the target of a join. For a shift, the word and the bit of the
# state to which it would lead from state 0.
TARGET_WORD = 3
TARGET_BIT = 4
MOVE_SIZE = 5


class Moves(NamedTuple):
    """The moves of a query: m moves, over states in w words."""

    # int64[m, 5], see the columns above.
    table: IntArray
    # int64[m, w], the states from which each move leads.
    sources: IntArray
    # int64[w], the states that are viable at every row: those that accept.
    accepting_states: IntArray


@linear_kernel
def mark_beginnings(
    starts: IntArray,
    condition_bits: IntArray,
    moves: Moves,
    viable_states: IntArray,
    can_begin: BoolArray,
) -> None:
    """Mark the rows at which the starting state is viable, and unmark the other ones.

    Args:
        starts: see `Partitions`.
        condition_bits: see `RowArrays`.
        moves: the moves of the query.
        viable_states: int64[2 w], the states that are viable after the last row, twice. It is
            overwritten: the states of a row and of the next row are in different halves, which
            change places.
        can_begin: bool[k], gets the marks of the first k rows. Later rows are not looked at.
    """
    table = moves.table
    accepting_states = moves.accepting_states
    word_count = accepting_states.shape[0]
    partition = starts.shape[0] - 2
    # Where the states of the row and of the next row begin in `viable_states`.
    row_offset = 0
    next_offset = word_count
    row = can_begin.shape[0]
    while row > 0:
        row -= 1
        if row < starts[partition]:
            # The next row belongs to another partition, so no run goes on there.
            while row < starts[partition]:
                partition -= 1
            for word in range(word_count):
                viable_states[next_offset + word] = accepting_states[word]
        for word in range(word_count):
            viable_states[row_offset + word] = accepting_states[word]
        for move in range(table.shape[0]):
            mask = table[move, MASK]
            if condition_bits[row, table[move, WORD]] & mask == mask:
                if table[move, IS_SHIFT]:
                    shift_states(move, row_offset, next_offset, moves, viable_states)
                else:
                    join_states(move, row_offset, next_offset, moves, viable_states)
        can_begin[row] = viable_states[row_offset] & 1
        row_offset, next_offset = next_offset, row_offset


@spliced
def shift_states(
    move: int, row_offset: int, next_offset: int, moves: Moves, viable_states: IntArray
) -> None:
    """Mark each source of a shift as viable whose target is viable at the next row."""
    target_word = moves.table[move, TARGET_WORD]
    bit = moves.table[move, TARGET_BIT]
    word_count = moves.accepting_states.shape[0]
    for word in range(word_count - target_word):
        states = viable_states[next_offset + word + target_word] >> bit
        if word + target_word + 1 < word_count:
            next_states = viable_states[next_offset + word + target_word + 1]
            states |= (next_states << (STATES_PER_WORD - bit)) & ALL_STATES
        viable_states[row_offset + word] |= states & moves.sources[move, word]


@spliced
def join_states(
    move: int, row_offset: int, next_offset: int, moves: Moves, viable_states: IntArray
) -> None:
    """Mark all sources of a join as viable if its target is viable at the next row."""
    target_word = moves.table[move, TARGET_WORD]
    bit = moves.table[move, TARGET_BIT]
    if (viable_states[next_offset + target_word] >> bit) & 1:
        for word in range(moves.accepting_states.shape[0]):
            viable_states[row_offset + word] |= moves.sources[move, word]
