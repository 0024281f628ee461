"""The computation states that a search has seen from one starting row: equal ones, equal futures.

seen: int64[t, 3 + r], t a power of two, a hash table with open addressing; an entry counts if its
first column is progress[STAMP]. progress[RUNS] counts the entries, of which there is room for half
the table.

Source: SASE+, "Merging equivalent runs".
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import RunArray
from matchrec.engine.kernels.mapping import Rules
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.kernels.wrapping import wrapped_product
from matchrec.jit.decorators import inlined

# Columns of `seen`; the last ones are the live registers.
SEEN_STAMP = 0
SEEN_STATE = 1
SEEN_ROW = 2
SEEN_REGISTERS = 3


class SeeingWork(Protocol):
    """What of a search's work is needed here."""

    @property
    def progress(self) -> IntArray:
        """See `kernels.layout`."""

    @property
    def registers(self) -> RunArray:
        """See `evaluate.kernels`."""

    @property
    def seen(self) -> RunArray:
        """The table."""


class Seen(NamedTuple):
    """The table, and what else is needed of the work."""

    progress: IntArray
    registers: RunArray
    seen: RunArray


@inlined
def is_seen(place: int, state: int, row: int, rules: Rules, work: SeeingWork) -> bool:
    """Whether a run with the same live registers has come to a state and row; now one has.

    It came from the same starting row, earlier in preferment order, and has gone as far as it can.
    """
    seen, registers, live = work.seen, work.registers, rules.live
    stamp = work.progress[layout.STAMP]
    begins, ends = rules.live_first[state], rules.live_first[state + 1]
    code = wrapped_product(row ^ (state << 32), 0x2545F4914F6CDD1D)
    for index in range(begins, ends):
        code = wrapped_product(code ^ registers[place, live[index]], 0x2545F4914F6CDD1D)
        code ^= code >> 29
    slot = code & (seen.shape[0] - 1)
    while seen[slot, SEEN_STAMP] == stamp:
        if seen[slot, SEEN_STATE] == state and seen[slot, SEEN_ROW] == row:
            index = begins
            while index < ends and (
                seen[slot, SEEN_REGISTERS + index - begins] == registers[place, live[index]]
            ):
                index += 1
            if index == ends:
                return True
        slot = (slot + 1) & (seen.shape[0] - 1)
    seen[slot, SEEN_STAMP] = stamp
    seen[slot, SEEN_STATE] = state
    seen[slot, SEEN_ROW] = row
    for index in range(begins, ends):
        seen[slot, SEEN_REGISTERS + index - begins] = registers[place, live[index]]
    work.progress[layout.RUNS] += 1
    return False
