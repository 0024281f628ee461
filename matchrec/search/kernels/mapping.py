"""Whether a run may map a row by a choice, and what need not be searched twice.

A row can be mapped if, in this order: the row satisfies the row condition; the anchors hold; and
the condition on the run holds. The last one is evaluated on a copy of the run's registers, in which
the row has been mapped already; for stages, before the row is mapped.

A run has its registers in a *slot*: a row of `RunConditions.registers`.
"""

from __future__ import annotations

import numpy as np

from matchrec.automaton.program import GUARD_END, GUARD_START
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.arithmetic import wrapped_product
from matchrec.conditions.evaluate.kernels.machine import holds, update_registers
from matchrec.jit.decorators import inlined, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ByteArray,
    Progress,
    ReachedStates,
    RememberedRows,
    RunConditions,
)
from matchrec.search.partitions import IntArray


@spliced
def takes_too_many_steps(progress: Progress) -> bool:
    """Count one more evaluation of a condition on the run; return whether it is one too many."""
    progress.step_count += 1
    return bool(progress.step_count > progress.step_limit)


@spliced
def holds_at(choice: int, slot: int, row: int, program: IntArray, conditions: RunConditions) -> int:
    """Evaluate a choice's condition on the registers in a slot: HOLDS, HOLDS_NOT or an error."""
    begin, end = program[choice, layout.CODE], program[choice, layout.CODE_END]
    instructions, stack = conditions.instructions, conditions.stack
    registers, machine_input = conditions.registers[slot], conditions.machine_input
    return holds(instructions, begin, end, registers, row, machine_input, stack)


@spliced
def copy_registers(slot: int, new_slot: int, registers: IntArray) -> None:
    """Copy the registers of a run from one slot to another."""
    register = np.int64(0)  # not a range, which the compiler turns into a hundred instructions
    while register < registers.shape[1]:
        registers[new_slot, register] = registers[slot, register]
        register += 1


@spliced
def update_copy(
    choice: int, slot: int, new_slot: int, row: int, program: IntArray, conditions: RunConditions
) -> None:
    """Copy the registers of a run to a new slot, and update the copy by the row that is mapped."""
    registers = conditions.registers
    copy_registers(slot, new_slot, registers)
    begin, end = program[choice, layout.STEPS], program[choice, layout.STEPS_END]
    update_registers(
        conditions.instructions, begin, end, registers[new_slot], row, conditions.machine_input
    )


@spliced
def may_map(
    choice: int,
    slot: int,
    new_slot: int,
    row: int,
    program: IntArray,
    satisfied: IntArray,
    progress: Progress,
    conditions: RunConditions,
) -> int:
    """Return whether a run may map a row by a choice: HOLDS, HOLDS_NOT or an error.

    `slot` has the registers of the run. `new_slot` gets the registers after the row is mapped.
    """
    mask = program[choice, layout.MASK]
    if satisfied[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, progress):
        return HOLDS_NOT
    return ask_run(choice, slot, new_slot, row, program, conditions)


@spliced
def ask_run(
    choice: int, slot: int, new_slot: int, row: int, program: IntArray, conditions: RunConditions
) -> int:
    """Return whether the condition on the run lets it map a row, as `may_map` does.

    It is called for a row that satisfies all that does not depend on the run. For stages, the
    condition is evaluated before the row is mapped. The loop puts the two steps into either order,
    so that each of them is compiled in one place only.
    """
    asks_first = conditions.tests_before_mapping
    if conditions.instructions.shape[0] == 0:
        return HOLDS
    tested_slot = slot if asks_first else new_slot
    step = np.int64(-1)
    while step < 1:
        step += 1
        if (step == 0) == asks_first:
            answer = holds_at(choice, tested_slot, row, program, conditions)
            if answer != HOLDS:
                return answer
        else:
            update_copy(choice, slot, new_slot, row, program, conditions)
    return HOLDS


@spliced
def note_failure(answer: int, choice: int, row: int, progress: Progress) -> int:
    """Note in `progress` which condition has failed at which row; return the status for it."""
    progress.row = row
    progress.choice = choice
    return layout.CONDITION_FAILED + answer


@spliced
def end_of_window(window_end: IntArray, start: int, progress: Progress) -> int:
    """Return the row before which a match ends that starts at `start`."""
    return progress.upper if window_end.shape[0] == 0 else window_end[start]


@spliced
def is_anchored(guard: int, row: int, progress: Progress) -> bool:
    """Return whether the anchors in `guard` hold before `row` of the partition that is searched."""
    if guard & GUARD_START and row != progress.lower:
        return False
    return not (guard & GUARD_END and row != progress.upper)


# What need not be searched twice: failures that are remembered, and runs with equal futures.
#
# A *failure* is a pair of a state and a row from which no match can be completed. It holds for
# every starting row of the partition, so no pair is searched twice, and every pattern costs time
# linear in the rows. The search never comes back to rows before the next starting row, so the memo
# is a ring, as large as a search reaches, not as large as the partition.
#
#     bits: uint8[r, b], r a power of two; row position p is at bits[p & (r - 1)].
#
# For PATTERN (A B+ C | A B+ D) without a C in the rows, the loop of B fails for C at each row once.
#
# *Runs* in the same state at the same row whose live registers are equal have the same future. The
# more preferred one comes first and stays. If no register is live, the state alone decides. A
# search of one run at a time keeps the computation states that it has reached from one starting
# row; the key of a state is the row. A search of all runs at once keeps the states of a row;
# the key is the end of the window, and an entry says which run has it.
#
#     table: int64[t, 4 + r], t a power of two, a hash table with open addressing. An entry counts
#     if its first column is the stamp. Half of the table may be used.
#
# Source: SASE+, "Merging equivalent runs".


@spliced
def has_failed(bits: ByteArray, progress: RememberedRows, bit: int, row: int) -> bool:
    """Return whether the state with memo number `bit` is known to fail at `row`."""
    if row >= progress.memo_to or row < progress.memo_from:
        return False
    return bool((bits[row & (bits.shape[0] - 1), bit >> 3] >> (bit & 7)) & 1)


@spliced
def remember_failure(bits: ByteArray, progress: RememberedRows, bit: int, row: int) -> bool:
    """Note that the state with memo number `bit` fails at `row`.

    Returns:
        False if the ring is too small for the rows from the starting row on. Then progress.needed
        says how many there are.
    """
    size, width = bits.shape
    if row >= progress.memo_to:
        if row - progress.start >= size:
            progress.needed = row + 1 - progress.start
            return False
        start, end = progress.start, progress.memo_to
        for new_row in range(end if end > start else start, row + 1):
            for byte in range(width):
                bits[new_row & (size - 1), byte] = 0
        progress.memo_to = row + 1
    bits[row & (size - 1), bit >> 3] |= 1 << (bit & 7)
    return True


@spliced
def forget(row: int, progress: RememberedRows) -> None:
    """Forget what is remembered, and start again at `row`."""
    progress.memo_from = row
    progress.memo_to = row


NONE = -1


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

    Nothing is noted if such states are not kept: then the table is empty.

    Returns:
        HOLDS if no run with the same future has entered it; HOLDS_NOT if one has; or -RUNS_FULL.
    """
    answer = np.int64(HOLDS)
    if table.shape[0] > 0:
        state = program[choice, layout.TARGET]
        registers, live = conditions.registers[depth + 1], live_in(state, conditions)
        if 2 * progress.state_count >= table.shape[0]:
            answer = np.int64(-layout.RUNS_FULL)
        elif find_equal(state, row, registers, live, depth, progress.state_stamp, table) == NONE:
            progress.state_count += 1
        else:
            answer = np.int64(HOLDS_NOT)
    return int(answer)


@spliced
def live_in(state: int, conditions: RunConditions) -> IntArray:
    """Return the live registers of a state."""
    first = conditions.live_first
    live: IntArray = conditions.live[first[state] : first[state + 1]]
    return live


@inlined
def find_equal(
    state: int,
    key: int,
    registers: IntArray,
    live: IntArray,
    entry: int,
    stamp: int,
    table: IntArray,
) -> int:
    """Return the entry with the same state, key and live registers, or NONE, and then add `entry`.

    Args:
        state: the state of the run.
        key: what else must be equal: a row, or the end of a window.
        registers: the registers of the run.
        live: which of them are live in the state.
        entry: the number by which the run will be found.
        stamp: entries with another stamp do not count.
        table: the hash table.
    """
    code = wrapped_product(key, 0x2545F4914F6CDD1D) ^ state
    for register in live:
        code = wrapped_product(code ^ registers[register], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    bucket = code & (table.shape[0] - 1)
    while table[bucket, layout.TABLE_STAMP] == stamp:
        if table[bucket, layout.TABLE_STATE] == state and table[bucket, layout.TABLE_KEY] == key:
            index = 0
            while index < live.shape[0] and (
                table[bucket, layout.TABLE_REGISTERS + index] == registers[live[index]]
            ):
                index += 1
            if index == live.shape[0]:
                return int(table[bucket, layout.TABLE_ENTRY])
        bucket = (bucket + 1) & (table.shape[0] - 1)
    table[bucket, layout.TABLE_STAMP] = stamp
    table[bucket, layout.TABLE_ENTRY] = entry
    table[bucket, layout.TABLE_STATE] = state
    table[bucket, layout.TABLE_KEY] = key
    for index in range(live.shape[0]):
        table[bucket, layout.TABLE_REGISTERS + index] = registers[live[index]]
    return NONE
