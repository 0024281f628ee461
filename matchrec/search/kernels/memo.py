"""Remember what need not be searched twice: failures, and computation states that were reached.

*Failures.* A failure is a pair of a state and a row from which no match can be completed. It holds
for every starting row of the partition, so no pair is searched twice, and every pattern takes time
linear in the rows. The search never comes back to rows before the next starting row. So the memo is
a ring of rows: it is as long as the longest search of one starting row, not as the partition.

    memo: uint8[r, b], r a power of two. Row position p is at memo[p & (r - 1)]. Each bit there is
    for one *memo number*, which the program gives to each state that can be reached twice.

For PATTERN (A B+ C | A B+ D) and rows without a C, the loop of B in A B+ C fails once at each row.

*Equal futures.* Runs in the same state at the same row whose live registers are equal have the
same future. The more preferred one comes first and stays. If no register is live, the state alone
decides. A hash table has the *computation states* that have been reached: a state, its live
registers and a key.

    search                 what the table has                    key
    one run at a time      what one starting row has reached     the row
    merging                the runs after one row                the end of the window
    all_matches            the runs after one row                0
    totals                 the runs after one row                `TotalArrays.merge_keys`

`merging` keeps one of several equal runs, so their windows must end together. In `all_matches`, a
join leads to the rows of both runs. The merged run lives until the later window ends, and each
match is tested against its own window when it is unwound. Totals that were added cannot be
separated again. So runs with totals merge only if their windows end together. If matches are
grouped by their first row, or a negation reads the rows before it, runs with totals merge only if
they have the same first row.

    table: int64[t, 4 + r], t a power of two, r the number of registers, with open addressing. An
    entry counts if its first column is the current stamp, so no table is ever cleared. At most half
    of it is used.

Source: SASE+, "Merging equivalent runs".
"""

from __future__ import annotations

import numpy as np

from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.arithmetic import multiply_wrapped
from matchrec.jit.decorators import inlined, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ByteArray, ReachedStates, RememberedRows, RunConditions
from matchrec.search.partitions import IntArray

NOT_FOUND = -1  # what `find_or_add_state` returns for a new computation state
# The number by which hash values are multiplied, from the generator xorshift64*.
HASH_FACTOR = 0x2545F4914F6CDD1D


@inlined
def find_in_ring(row: int, size: int) -> int:
    """Return the index of a row in a ring of `size` rows, a power of two."""
    return row & (size - 1)


@inlined
def find_byte(memo_number: int) -> int:
    """Return the index of the byte that has the bit of a memo number."""
    return memo_number >> 3


@inlined
def find_mask(memo_number: int) -> int:
    """Return the mask of the bit of a memo number in its byte."""
    return 1 << (memo_number & 7)


@spliced
def has_failed(memo: ByteArray, progress: RememberedRows, memo_number: int, row: int) -> bool:
    """Return whether the state with a memo number is known to fail at a row."""
    if row >= progress.memo_to or row < progress.memo_from:
        return False
    index = find_in_ring(row, memo.shape[0])
    return bool(memo[index, find_byte(memo_number)] & find_mask(memo_number))


@spliced
def remember_failure(memo: ByteArray, progress: RememberedRows, memo_number: int, row: int) -> bool:
    """Note that the state with a memo number fails at a row.

    Returns:
        False if the ring is too small for the rows from the starting row on. Then
        progress.needed_rows says how many there are.
    """
    size, width = memo.shape
    if row >= progress.memo_to:
        if row - progress.start >= size:
            progress.needed_rows = row + 1 - progress.start
            return False
        start = progress.start
        end = progress.memo_to
        for new_row in range(end if end > start else start, row + 1):
            for byte in range(width):
                memo[find_in_ring(new_row, size), byte] = 0
        progress.memo_to = row + 1
    memo[find_in_ring(row, size), find_byte(memo_number)] |= find_mask(memo_number)
    return True


@spliced
def forget(row: int, progress: RememberedRows) -> None:
    """Forget all that is remembered about rows; from now on, it is remembered from `row` on.

    That is failures in `memo`, or the values of another ring of rows.
    """
    progress.memo_from = row
    progress.memo_to = row


@spliced
def begin_states(progress: ReachedStates) -> None:
    """Forget the computation states that the starting row before has reached."""
    progress.state_stamp += 1
    progress.state_count = 0


@spliced
def note_state(
    choice: int,
    row: int,
    depth: int,
    program: IntArray,
    conditions: RunConditions,
    table: IntArray,
    progress: ReachedStates,
) -> int:
    """Note that a run of `depth` rows has entered a state by mapping a row.

    If computation states are not kept, the table is empty, and nothing is noted.

    Returns:
        HOLDS if no run with the same future has entered the state at the row; HOLDS_NOT if such a
        run has; -RUNS_FULL if there is no room.
    """
    answer = np.int64(HOLDS)
    if table.shape[0] > 0:
        state = program[choice, layout.TARGET]
        registers = conditions.registers[depth + 1]
        live_registers = get_live_registers(state, conditions)
        if 2 * progress.state_count >= table.shape[0]:
            answer = np.int64(-layout.RUNS_FULL)
        else:
            stamp = progress.state_stamp
            entry = find_or_add_state(state, row, registers, live_registers, depth, stamp, table)
            if entry == NOT_FOUND:
                progress.state_count += 1
            else:
                answer = np.int64(HOLDS_NOT)
    return int(answer)


@spliced
def get_live_registers(state: int, conditions: RunConditions) -> IntArray:
    """Return the live registers of a state: the registers that decide how a run in it goes on."""
    first = conditions.live_first
    live: IntArray = conditions.live_registers[first[state] : first[state + 1]]
    return live


@inlined
def find_or_add_state(
    state: int,
    key: int,
    registers: IntArray,
    live_registers: IntArray,
    entry: int,
    stamp: int,
    table: IntArray,
) -> int:
    """Return the entry of an equal computation state; if there is none, add one.

    Args:
        state: the state of the run.
        key: a number that must be equal as well: see the table in the docstring of the module.
        registers: the registers of the run.
        live_registers: the indices of the registers that are live in the state.
        entry: the number that is stored for the run, such as its index.
        stamp: entries with another stamp do not count.
        table: the hash table.

    Returns:
        The entry with which an equal state was added; NOT_FOUND if `entry` was added now.
    """
    hash_value = multiply_wrapped(key, HASH_FACTOR) ^ state
    for register in live_registers:
        hash_value = multiply_wrapped(hash_value ^ registers[register], HASH_FACTOR)
        hash_value ^= hash_value >> 29
    bucket = hash_value & (table.shape[0] - 1)
    while table[bucket, layout.TABLE_STAMP] == stamp:
        if table[bucket, layout.TABLE_STATE] == state and table[bucket, layout.TABLE_KEY] == key:
            index = 0
            while index < live_registers.shape[0] and (
                table[bucket, layout.TABLE_REGISTERS + index] == registers[live_registers[index]]
            ):
                index += 1
            if index == live_registers.shape[0]:
                return int(table[bucket, layout.TABLE_ENTRY])
        bucket = (bucket + 1) & (table.shape[0] - 1)
    table[bucket, layout.TABLE_STAMP] = stamp
    table[bucket, layout.TABLE_ENTRY] = entry
    table[bucket, layout.TABLE_STATE] = state
    table[bucket, layout.TABLE_KEY] = key
    for index in range(live_registers.shape[0]):
        table[bucket, layout.TABLE_REGISTERS + index] = registers[live_registers[index]]
    return NOT_FOUND
