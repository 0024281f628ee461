"""The steps that all searches share: go from start to start, write a match out, and skip.

A kernel goes from starting row to starting row. Each search has a kernel of the same form:

    @stoppable_kernel
    def search(rules, rows, work):
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

1. `seek_start` passes over rows with which no match can begin. It returns whether another row is
   left in the partition.
2. `search_from_start` searches from the starting row. If there is a match, it writes the match to
   the output, and sets the next starting row by AFTER MATCH SKIP. Otherwise it sets the next row.
3. At the end of the partition, `go_to_next_partition` notes how far the search has come, and enters
   the next partition. `begin_partition` forgets failures and runs of the previous partition.

A search begins with partition -1, which has no starting rows. So the first pass of the loop only
enters partition 0.

Each kernel writes the loop out, because the compiler splices `search_from_start` and
`begin_partition` into the loop by their names. A shared loop would have to call these functions:
see *Each kernel writes out its loop* in docs/contributing/decisions/search.md.

If an array is full, the kernel returns a status. A second call goes on where `progress` says. So
Python can stop the kernel between two starting rows, where nothing is half done (`seek_start`), and
before each condition on the run (`mapping.takes_too_many_steps`).

After MORE_ROWS, the kernel goes on with the next partition, because other partitions need not wait
for the missing rows. So it never returns this status.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import inlined, inner, linear_kernel, spliced, stopping_point
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    OutputArrays,
    Progress,
    RememberedRows,
    Rules,
    SkipRule,
)
from matchrec.search.kernels.mapping import find_window_end
from matchrec.search.kernels.memo import find_in_ring, forget
from matchrec.search.partitions import BoolArray, Frontier, IntArray

# A search from a starting row returns the length of the match, NO_MATCH, or a status encoded by
# `encode_status`, which is less than NO_MATCH.
NO_MATCH = -1
NO_ROOM = NO_MATCH - layout.MEMO_FULL  # a ring is too small
UNDECIDED = NO_MATCH - layout.MORE_ROWS  # rows from the edge on decide

NOT_NOTED = -2  # no value has been noted for a state at a row


@inlined
def encode_status(status: int) -> int:
    """Encode a status so that a search can return it instead of the length of a match."""
    return NO_MATCH - status


def find_row_to_search(_can_begin: BoolArray, progress: Progress) -> int:
    """Return the starting row of the search, at which Python can stop the kernel.

    The arguments are the same as for `seek_start`.
    """
    return progress.start


@stopping_point(find_row_to_search)
@spliced
def seek_start(can_begin: BoolArray, progress: Progress) -> bool:
    """Set progress.start to the first row from it on with which a match can begin.

    If the search from progress.start was interrupted, a match can begin with this row, so
    progress.start stays as it is.

    Returns:
        Whether there is such a row before progress.start_limit.
    """
    start = progress.start
    start_limit = progress.start_limit
    if can_begin.shape[0] > 0:
        while start < start_limit and not can_begin[start]:
            start += 1
        progress.start = start
    return bool(start < start_limit)


@inner
def go_to_next_partition(starts: IntArray, frontier: Frontier, progress: Progress) -> None:
    """Store how far the search of the partition has come in `frontier`, and enter the next one.

    `starts` and `frontier` are as in `RowArrays`. After the last partition, only
    progress.partition changes, so that the kernel ends.
    """
    partition = progress.partition
    if partition >= 0:
        start = progress.start
        start_limit = frontier.start_limit[partition]
        frontier.next_start[partition] = start if start < start_limit else start_limit
        frontier.match_number[partition] = progress.match_number
        frontier.step_count[partition] = progress.step_count
    partition += 1
    progress.partition = partition
    if partition == starts.shape[0] - 1:
        return
    start = frontier.next_start[partition]
    edge = frontier.edge[partition]
    progress.partition_begin = starts[partition]
    progress.partition_end = starts[partition + 1] + int(edge <= starts[partition + 1])
    progress.edge = edge
    progress.start_limit = min(frontier.start_limit[partition], edge)
    progress.match_number = frontier.match_number[partition]
    set_next_start(start, progress)
    progress.step_count = frontier.step_count[partition]


@spliced
def set_next_start(row: int, progress: Progress) -> None:
    """Set the next starting row: `row`, or no row if as many matches were found as are sought.

    The limit is tested here, once for each match, because a test at each starting row costs more.
    """
    is_enough = progress.match_number >= progress.match_limit
    progress.start = layout.NO_LIMIT if is_enough else row


@spliced
def finish_without_match(answer: int, progress: Progress) -> int:
    """Return the status after a search that has found no match, and set the next starting row.

    Args:
        answer: NO_MATCH, after which the next row becomes the starting row; or an encoded status,
            after which the starting row stays.
        progress: the progress of the search.

    Returns:
        DONE for NO_MATCH, otherwise the status.
    """
    if answer == NO_MATCH:
        progress.start += 1
        return layout.DONE
    return NO_MATCH - answer  # the inverse of `encode_status`


@spliced
def write_path(
    length: int, path: ChoiceArray, rules: Rules, output: OutputArrays, progress: RememberedRows
) -> int:
    """Write out the match whose `length` choices are in `path`, and set the next starting row.

    Returns:
        DONE, OUTPUT_FULL or a failure of AFTER MATCH SKIP.
    """
    if not request_room(length, output, progress):
        return layout.OUTPUT_FULL
    begin = progress.mapped_count
    choices = output.choices
    for index in range(length):
        choices[begin + index] = path[index]
    return finish_match(progress.start, length, rules, output, progress, None)


@spliced
def request_room(length: int, output: OutputArrays, progress: Progress) -> bool:
    """Return whether the output has room for one more match of `length` rows.

    If it has no room, note in progress.needed_rows how many mapped rows the next output must hold.
    """
    needed_rows = progress.mapped_count + length
    has_column = progress.match_count < output.matches.shape[1] - 1
    if has_column and needed_rows <= output.choices.shape[-1]:
        return True
    progress.needed_rows = needed_rows
    return False


@spliced
def finish_match(
    start: int,
    length: int,
    rules: Rules,
    output: OutputArrays,
    progress: RememberedRows,
    rows: IntArray | None,
) -> int:
    """Add the match whose choices were written to the end of the output; set the next start.

    The caller has written `length` choices from progress.mapped_count on. `rows` are the positions
    of the rows of the match; None if they follow the starting row without a gap.

    Returns:
        DONE or a failure of AFTER MATCH SKIP.
    """
    begin = progress.mapped_count
    progress.mapped_count = begin + length
    add_match(output.matches, progress, start, length)
    choices = output.choices[begin : begin + length]
    return skip_match(choices, start, rows, rules, progress)


@spliced
def add_match(matches: IntArray, progress: Progress, start: int, length: int) -> None:
    """Add a match of `length` rows, which starts at `start`, to `OutputArrays.matches`."""
    match = progress.match_count
    progress.match_number += 1
    matches[layout.MATCH_PARTITION, match] = progress.partition
    matches[layout.MATCH_NUMBER, match] = progress.match_number
    matches[layout.MATCH_START, match] = start
    matches[layout.MATCH_OFFSET, match + 1] = matches[layout.MATCH_OFFSET, match] + length
    progress.match_count = match + 1


@inlined
def note_value(
    ring: ChoiceArray, progress: RememberedRows, state: int, row: int, value: int
) -> None:
    """Note a value for a state at a row in a ring of rows.

    The ring has a column for each state, or for each memo number. If the row is new to the ring,
    all other values of the row become NOT_NOTED.
    """
    size, states = ring.shape
    if row >= progress.memo_to:
        for new_row in range(max(progress.memo_to, progress.start), row + 1):
            for other_state in range(states):
                ring[find_in_ring(new_row, size), other_state] = NOT_NOTED
        progress.memo_to = row + 1
    ring[find_in_ring(row, size), state] = value


@spliced
def begin_start(window_end: IntArray, progress: RememberedRows) -> int:
    """Return the row before which a match that starts at progress.start must end.

    If the previous starting row had another window end, forget the failures that hold for it only.
    """
    start = progress.start
    latest_end = find_window_end(window_end, start, progress)
    if latest_end != progress.memo_window:
        forget(start, progress)
        progress.memo_window = latest_end
    return latest_end


# The row at which the search goes on after a match. A skip strategy is a `SkipRule`: the search
# goes on `rows_after_target` rows after the first target, or after the last target if
# `uses_last_target` is true. Targets are the rows of the match; if the strategy names a variable,
# only the rows that are mapped to this variable.
#
#     strategy         uses_last_target  rows_after_target  targets
#     TO NEXT ROW      False             1                  all rows
#     PAST LAST ROW    True              1                  all rows
#     TO FIRST v       False             0                  rows mapped to v
#     TO LAST v        True              0                  rows mapped to v
#
# A strategy of this form whose `rows_after_target` is 0 or 1 needs no code here, because its search
# goes on at the row after the match at the latest. A strategy of another form needs a branch in
# `find_next_start`, and in `compute_skip_distance`, which does the same row by row for matches that
# share their rows.
#
# Source: ISO/IEC 19075-5, AFTER MATCH SKIP; Flink CEP, "After Match Skip Strategy".

NO_TARGET = -1  # the match has no target

TargetArray = BoolArray | IntArray
MappingArray = npt.NDArray[np.int16] | ChoiceArray | IntArray


@spliced
def find_next_start(
    skip: SkipRule,
    is_target: TargetArray,
    mappings: MappingArray,
    start: int,
    rows: IntArray | None,
) -> int:
    """Return the row from which the search goes on after a match; NO_TARGET if no row is a target.

    After an empty match, it is the row after the starting row.

    Args:
        skip: the skip strategy.
        is_target: by choice or by variable, as in `mappings`: whether its rows are targets.
        mappings: int[k], how each row is mapped: its choice or its variable.
        start: the match's starting row.
        rows: int64[k], positions of the rows; None if they follow the starting row without a gap.
    """
    length = mappings.shape[0]
    if length == 0:
        return start + 1
    index = length - 1 if skip.uses_last_target else 0
    step = -1 if skip.uses_last_target else 1
    while 0 <= index < length and not is_target[mappings[index]]:
        index += step
    if index < 0 or index == length:
        return NO_TARGET
    row = start + index if rows is None else rows[index]
    return int(row + skip.rows_after_target)


@inlined
def compute_skip_distance(skip: SkipRule, is_target: bool, later_distance: int) -> int:
    """Return how many rows after a row of a match the search goes on, or NO_TARGET.

    Called for each row of a match, from the last row to the first, it computes for the first row
    what `find_next_start` returns. Only this row and the rows after it count as targets.

    Args:
        skip: the skip strategy.
        is_target: whether the row is a target.
        later_distance: the result for the next row of the match; NO_TARGET for the last row.
    """
    if is_target and (later_distance == NO_TARGET or not skip.uses_last_target):
        return skip.rows_after_target
    return later_distance if later_distance == NO_TARGET else later_distance + 1


@spliced
def skip_match(
    mappings: MappingArray,
    start: int,
    rows: IntArray | None,
    rules: Rules,
    progress: RememberedRows,
) -> int:
    """Set the next starting row after a match. See `find_next_start` for the arguments.

    Failures that hold only until the next match are forgotten.

    Returns:
        DONE or a failure.
    """
    is_target = rules.program[:, layout.IS_TARGET]
    row = find_next_start(rules.skip, is_target, mappings, start, rows)
    if rules.forgets_after_match:
        forget(row, progress)
    return go_on_from(row, start, progress)


@spliced
def go_on_from(row: int, start: int, progress: Progress) -> int:
    """Set `row` as the next starting row after the match that starts at `start`.

    Returns:
        DONE; or a failure, because the match has no target (`row` is NO_TARGET), or because the
        target is the match's first row.
    """
    if row > start:
        set_next_start(row, progress)
        return layout.DONE
    progress.row = start
    return layout.SKIP_TO_NO_ROW if row == NO_TARGET else layout.SKIP_TO_FIRST_ROW


@linear_kernel
def fill_next_starts(
    skip: SkipRule,
    is_target: BoolArray,
    start: IntArray,
    offsets: IntArray,
    mappings: MappingArray,
    rows: IntArray | None,
    next_rows: IntArray,
) -> None:
    """Write the next start after each match to `next_rows`, int64[m]; NO_TARGET without a target.

    `start`, `offsets` and `rows` are as in `matches.Matches`, and `mappings` are its classifiers.
    If `rows` is None, the rows of each match follow its starting row without a gap. For `skip` and
    `is_target`, see `find_next_start`.
    """
    for match in range(start.shape[0]):
        begin = offsets[match]
        end = offsets[match + 1]
        mappings_of_match = mappings[begin:end]
        if rows is None:
            next_rows[match] = find_next_start(
                skip, is_target, mappings_of_match, start[match], None
            )
        else:
            next_rows[match] = find_next_start(
                skip, is_target, mappings_of_match, start[match], rows[begin:end]
            )
