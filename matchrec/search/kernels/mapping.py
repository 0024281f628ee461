"""Whether a run may map a row by a choice: anchors, windows, what the row satisfies, conditions.

A choice's condition on the run is evaluated in a copy of the run's registers, in which the row has
been mapped; of stages, before that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import GUARD_END, GUARD_START
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.conditions.evaluate.kernels.arithmetic import wrapped_product
from matchrec.conditions.evaluate.kernels.machine import Input, holds, update_registers
from matchrec.jit.decorators import inlined, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ByteArray, Progress, RowArrays, Rules, Work
from matchrec.search.partitions import IntArray


class OnRun(NamedTuple):
    """What conditions on the run read, and where: see `conditions.evaluate.kernels.machine`.

    Of all records it is what they need: each word of a record costs the compiler time wherever that
    is passed on or read.
    """

    instructions: IntArray
    registers: IntArray
    stack: IntArray
    given: Input


@spliced
def on_run_of(rules: Rules, rows: RowArrays, work: Work) -> OnRun:
    """What conditions on the run read, for the match after those found."""
    given = Input(rows.columns, rows.valid, rows.mathematics, rows.python, work.progress)
    return OnRun(rules.instructions, work.registers, work.stack, given)


@spliced
def takes_too_many_steps(progress: Progress) -> bool:
    """Count one more evaluation of a condition on the run; whether that is more than allowed."""
    progress.step_count += 1
    return bool(progress.step_count > progress.step_limit)


@spliced
def holds_at(choice: int, place: int, row: int, program: IntArray, on_run: OnRun) -> int:
    """The answer of the choice's condition on the registers at a place: HOLDS or another one."""
    begin, end = program[choice, layout.CODE], program[choice, layout.CODE_END]
    instructions, registers, stack = on_run.instructions, on_run.registers, on_run.stack
    return holds(instructions, begin, end, registers[place], row, on_run.given, stack)


@spliced
def copy_registers(before: int, after: int, registers: IntArray) -> None:
    register = np.int64(0)  # for the compiler, a range is a hundred instructions
    while register < registers.shape[1]:
        registers[after, register] = registers[before, register]
        register += 1


@spliced
def update_copy(
    choice: int, before: int, after: int, row: int, program: IntArray, on_run: OnRun
) -> None:
    """Copy registers from one place to another, and update the copy by the row that is mapped."""
    registers = on_run.registers
    copy_registers(before, after, registers)
    begin, end = program[choice, layout.STEPS], program[choice, layout.STEPS_END]
    update_registers(on_run.instructions, begin, end, registers[after], row, on_run.given)


@spliced
def may_map(
    choice: int, before: int, after: int, row: int, rules: Rules, satisfied: IntArray, on_run: OnRun
) -> int:
    """HOLDS, with the registers of the run that maps the row in place; HOLDS_NOT, or an error."""
    program = rules.program
    mask = program[choice, layout.MASK]
    if satisfied[row, program[choice, layout.WORD]] & mask != mask:
        return HOLDS_NOT
    guard = program[choice, layout.GUARD]
    if guard != 0 and not is_anchored(guard, row, on_run.given.progress):
        return HOLDS_NOT
    return ask_run(choice, before, after, row, rules, on_run)


@spliced
def ask_run(choice: int, before: int, after: int, row: int, rules: Rules, on_run: OnRun) -> int:
    """HOLDS, HOLDS_NOT or an error, of a row that satisfies what does not depend on the run.

    Of stages, the condition is evaluated on the registers from before the row is mapped. The loop
    says what comes first, so that either stands, and is compiled, in one place.
    """
    program, asks_first = rules.program, rules.tests_before_mapping
    if on_run.instructions.shape[0] == 0:
        return HOLDS
    place = before if asks_first else after
    turn = np.int64(-1)
    while turn < 1:
        turn += 1
        if (turn == 0) == asks_first:
            answer = holds_at(choice, place, row, program, on_run)
            if answer != HOLDS:
                return answer
        else:
            update_copy(choice, before, after, row, program, on_run)
    return HOLDS


@spliced
def note_failure(answer: int, choice: int, row: int, progress: Progress) -> int:
    """Note in `progress` where a condition has failed; the status that says so."""
    progress.row = row
    progress.choice = choice
    return layout.CONDITION_FAILED + answer


@spliced
def end_of_window(window_end: IntArray, start: int, progress: Progress) -> int:
    """The row before which a match ends that starts at `start`."""
    return progress.upper if window_end.shape[0] == 0 else window_end[start]


@spliced
def is_anchored(guard: int, row: int, progress: Progress) -> bool:
    """Whether the anchors in `guard` hold before `row` of the partition that is searched."""
    if guard & GUARD_START and row != progress.lower:
        return False
    return not (guard & GUARD_END and row != progress.upper)


# What need not be searched twice: failures that are remembered, and runs with equal futures.
#
# *Failures* are pairs of a state and a row from which no match can be completed. A failure holds
# for every starting row of the partition, so no pair is searched twice and every pattern costs time
# linear in the rows. Rows before the next starting row are never asked for again, so the memo is a
# ring whose size is the reach of a search, not of the partition.
#
#     bits: uint8[r, b], r a power of two; row position p stands at bits[p & (r - 1)].
#
# *Runs* in the same state at the same row whose live registers are equal have the same future: the
# more preferred one comes first and stays. Where no register is live, the state alone decides. A
# search of one run at a time keeps the computation states that it has seen from one starting row,
# and the key beside a state is the row. One that follows all runs at once keeps those of a row; the
# key is the end of the window, and an entry says which run has it.
#
#     table: int64[t, 4 + r], t a power of two, a hash table with open addressing; an entry counts
#     if its first column is the stamp. There is room for half the table.
#
# Source: SASE+, "Merging equivalent runs".


@spliced
def has_failed(bits: ByteArray, progress: Progress, bit: int, row: int) -> bool:
    if row >= progress.memo_to or row < progress.memo_from:
        return False
    return bool((bits[row & (bits.shape[0] - 1), bit >> 3] >> (bit & 7)) & 1)


@spliced
def remember_failure(bits: ByteArray, progress: Progress, bit: int, row: int) -> bool:
    """Note a failure; or false, and how many rows there are, if the ring is too small for them."""
    size, width = bits.shape
    if row >= progress.memo_to:
        if row - progress.start >= size:
            progress.needed = row + 1 - progress.start
            return False
        start, end = progress.start, progress.memo_to
        for new in range(end if end > start else start, row + 1):
            for byte in range(width):
                bits[new & (size - 1), byte] = 0
        progress.memo_to = row + 1
    bits[row & (size - 1), bit >> 3] |= 1 << (bit & 7)
    return True


@spliced
def forget(row: int, progress: Progress) -> None:
    progress.memo_from = row
    progress.memo_to = row


NONE = -1


@spliced
def note_state(choice: int, row: int, depth: int, rules: Rules, work: Work) -> int:
    """Note that a run of `depth` rows has come to a state by mapping a row, if states are kept.

    HOLDS if it is the first, HOLDS_NOT if one with the same future has come there, or - RUNS_FULL.
    """
    table, progress = work.table, work.progress
    answer = np.int64(HOLDS)
    if table.shape[0] > 0:
        state = rules.program[choice, layout.TARGET]
        own, live = work.registers[depth + 1], live_in(state, rules)
        if 2 * progress.runs >= table.shape[0]:
            answer = np.int64(-layout.RUNS_FULL)
        elif find_equal(state, row, own, live, depth, progress.stamp, table) == NONE:
            progress.runs += 1
        else:
            answer = np.int64(HOLDS_NOT)
    return int(answer)


@spliced
def live_in(state: int, rules: Rules) -> IntArray:
    live: IntArray = rules.live[rules.live_first[state] : rules.live_first[state + 1]]
    return live


@inlined
def find_equal(
    state: int, key: int, own: IntArray, live: IntArray, entry: int, stamp: int, table: IntArray
) -> int:
    """The entry with the same state, key and live registers as `own`, or NONE and `entry` noted."""
    code = wrapped_product(key, 0x2545F4914F6CDD1D) ^ state
    for register in live:
        code = wrapped_product(code ^ own[register], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    slot = code & (table.shape[0] - 1)
    while table[slot, layout.TABLE_STAMP] == stamp:
        if table[slot, layout.TABLE_STATE] == state and table[slot, layout.TABLE_KEY] == key:
            index = 0
            while index < live.shape[0] and (
                table[slot, layout.TABLE_REGISTERS + index] == own[live[index]]
            ):
                index += 1
            if index == live.shape[0]:
                return int(table[slot, layout.TABLE_ENTRY])
        slot = (slot + 1) & (table.shape[0] - 1)
    table[slot, layout.TABLE_STAMP] = stamp
    table[slot, layout.TABLE_ENTRY] = entry
    table[slot, layout.TABLE_STATE] = state
    table[slot, layout.TABLE_KEY] = key
    for index in range(live.shape[0]):
        table[slot, layout.TABLE_REGISTERS + index] = own[live[index]]
    return NONE
