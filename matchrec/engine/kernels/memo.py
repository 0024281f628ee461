"""Remembered failures: pairs of a state and a row from which no match can be completed.

A failure holds for every starting row of the partition, so no pair is searched twice and every
pattern costs time linear in the rows. Rows before the next starting row are never asked for again,
so the memo is a ring whose size is the reach of a search, not of the partition.

bits: uint8[r, b], r a power of two; row position p stands at bits[p & (r - 1)].
"""

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import spliced


@spliced
def has_failed(bits: ByteArray, progress: IntArray, bit: int, row: int) -> bool:
    """Whether the state with memo number `bit` is known to fail at `row`."""
    if row >= progress[layout.MEMO_TO] or row < progress[layout.MEMO_FROM]:
        return False
    return bool((bits[row & (bits.shape[0] - 1), bit >> 3] >> (bit & 7)) & 1)


@spliced
def remember_failure(bits: ByteArray, progress: IntArray, bit: int, row: int) -> bool:
    """Note a failure; false when the ring is too small for the rows from the starting row on."""
    size, width = bits.shape
    if row >= progress[layout.MEMO_TO]:
        if row - progress[layout.START] >= size:
            return False
        start, end = progress[layout.START], progress[layout.MEMO_TO]
        for new in range(end if end > start else start, row + 1):
            for byte in range(width):
                bits[new & (size - 1), byte] = 0
        progress[layout.MEMO_TO] = row + 1
    bits[row & (size - 1), bit >> 3] |= 1 << (bit & 7)
    return True


@spliced
def forget(row: int, progress: IntArray) -> None:
    """Remember failures from `row` on only."""
    progress[layout.MEMO_FROM] = row
    progress[layout.MEMO_TO] = row
