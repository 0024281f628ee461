"""The kernel of `search.memoised`: search one run at a time, and remember failures.

    PATTERN (A B+ C)   rows A B B X

    row 0 A, row 1 B, row 2 B, row 3: neither B nor C
    back to row 2: C does not hold; so the loop of B fails at row 2, which is remembered
    back to row 1, back to row 0: no other choice, so no match begins at row 0

`path` holds the choice taken at each row and is the only stack. If all choices of a state at a row
have been tried, the pair of the state and the row has failed, for every starting row. The failure
is remembered if the pair can be reached again. It is not remembered if no choice has mapped the
row, because testing the choices again is as cheap as looking the failure up.

This kernel gets only queries whose conditions are row conditions and whose matches have no windows;
`distances` runs such queries with windows. `plain` has the same loop, with conditions on the run
and windows. `coverage` has the same loop, with windows and perhaps with conditions on the run, and
counts how far each starting row came.
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ByteArray,
    ChoiceArray,
    OutputArrays,
    RememberedRows,
    RowArrays,
    Rules,
)
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.memo import forget, has_failed, remember_failure
from matchrec.search.kernels.search_loop import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    encode_status,
    finish_without_match,
    go_to_next_partition,
    seek_start,
    write_path,
)
from matchrec.search.path_search import PathSearch


class PathWork(NamedTuple):
    """The arrays and records of a search of one run at a time that remembers failures."""

    progress: RememberedRows
    output: OutputArrays
    # int32[d], the choice taken at each row from the starting row on. If a run has more than d
    # rows, the kernel returns a status, and is called again with a longer array.
    path: ChoiceArray
    # uint8[r, b], the failures that are remembered: see `memo`.
    memo: ByteArray


@stoppable_kernel
def search(rules: Rules, rows: RowArrays, work: PathWork) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(search_from_start(rules, rows, work))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: PathWork) -> None:
    """Forget the failures of the previous partition."""
    forget(work.progress.start, work.progress)


@spliced
def search_from_start(rules: Rules, rows: RowArrays, work: PathWork) -> int:
    """Search from progress.start, write the match, if any, and set the next starting row.

    Returns:
        DONE or another status.
    """
    progress = work.progress
    length = find_match(rules, rows, work)
    if length < 0:
        return finish_without_match(length, progress)
    return write_path(length, work.path, rules, work.output, progress)


@spliced
def find_match(rules: Rules, rows: RowArrays, work: PathWork) -> int:
    """Return the length of the preferred match at progress.start, NO_MATCH, or an encoded status.

    A single loop goes forward and back over the choices, so that its variables stay in machine
    registers.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    path = work.path
    memo = work.memo
    progress = work.progress
    start = progress.start
    edge = progress.edge
    partition_end = progress.partition_end
    row = start
    state = np.int64(0)
    choice = first_choice[0]
    # Whether a choice of this pair of state and row has mapped the row, and has failed later.
    has_tried_mapping = False
    while True:
        end_of_choices = first_choice[state + 1]
        while choice < end_of_choices:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start)
                # This test comes after the accept test, because accepting needs no further row.
                if row == edge and row < partition_end:
                    return UNDECIDED
                mask = program[choice, layout.MASK]
                word = program[choice, layout.WORD]
                if row < partition_end and condition_bits[row, word] & mask == mask:
                    # The memo number of the target; -1 if its failures are not remembered.
                    target_memo = program[choice, layout.MEMO]
                    if target_memo < 0 or not has_failed(memo, progress, target_memo, row + 1):
                        break
            choice += 1
        if choice < end_of_choices:
            if row - start == path.shape[0]:
                return encode_status(layout.PATH_FULL)
            path[row - start] = choice
            row += 1
            state = program[choice, layout.TARGET]
            choice = first_choice[state]
            has_tried_mapping = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        target_memo = program[choice, layout.MEMO]
        if has_tried_mapping and target_memo >= 0:
            if not remember_failure(memo, progress, target_memo, row + 1):
                return NO_ROOM
        state = program[choice, layout.SOURCE]
        choice += 1
        has_tried_mapping = True


class MemoisedSearch(PathSearch[PathWork]):
    """A search of one run at a time, for conditions on the data and matches without windows."""

    kernel = search
    can_skip_starts = True

    def make_work(self) -> PathWork:
        """Return the records and arrays that the kernel changes."""
        return PathWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            memo=self.working_arrays["memo"],
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work
