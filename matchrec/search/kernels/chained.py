"""The kernel of `search.chained`: overlapping matches that share their rows.

How a run goes on from a state at a row does not depend on the way in which it got there. So the
search ends as soon as it comes to a state and row from which a match is known. The new rows are
chained to the rows of this match. No pair of a state and a row is searched or written out twice.

    PATTERN (A+ B), SKIP TO NEXT ROW   rows A A A B

    start 0: A A A B is written from the last row on, as nodes 0 (B), 1, 2 and 3
    start 1: A leads to the loop of A at row 2, from which node 1 is known to follow: one new node
    start 2: A leads to the loop at row 3, from which node 0 follows: one new node

`continuations` says how a run goes on from a row in the states that can be reached twice. Its
values refer to nodes in the output, so they are forgotten when the output is taken away.

Cost: rows x choices, however long the matches are.

The output has nodes instead of choices: int32[5, n], a node for each mapped row. As a match is
written from its last row to its first, a node has a greater number than the next node of its match.
Row MATCH_FIRST of `OutputArrays.matches` has the first node of each match.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced, stoppable_kernel
from matchrec.search.kernel_search import KernelSearch, Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    OutputArrays,
    RememberedRows,
    RowArrays,
    Rules,
)
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.memo import find_in_ring, forget
from matchrec.search.kernels.search_loop import (
    NO_MATCH,
    NO_ROOM,
    NO_TARGET,
    NOT_NOTED,
    UNDECIDED,
    add_match,
    compute_skip_distance,
    finish_without_match,
    go_on_from,
    go_to_next_partition,
    note_value,
    request_room,
    seek_start,
)
from matchrec.search.matches import Chains, Matches

# Rows of `nodes`.
CHAIN_CHOICE = 0  # the choice that maps the row
CHAIN_ROW = 1
CHAIN_NEXT = 2  # the next node of the match, or NO_NODE
CHAIN_LENGTH = 3  # how many rows the match has from here on
CHAIN_SKIP = 4  # how many rows later the search goes on after the match, or NO_TARGET
CHAIN_SIZE = 5
NO_NODE = -1

# A row of `OutputArrays.matches`: the node of the first row, NO_NODE for an empty match. Other
# searches have another value there.
MATCH_FIRST = layout.MATCH_COMPLETED

# A *continuation* says how a run goes on from a state at a row:
#
#     NOT_NOTED         the state has not been searched at the row
#     FAILED            no match follows
#     MATCH_ENDS        the run is a match
#     FIRST_NODE + k    the match goes on with node k
FAILED, MATCH_ENDS, FIRST_NODE = range(1, 4)


@inlined
def pack_node(node: int) -> int:
    """Return the continuation of a match that goes on with a node."""
    return FIRST_NODE + node


@inlined
def unpack_node(continuation: int) -> int:
    """Return the node with which a match goes on; NO_NODE if the continuation is MATCH_ENDS."""
    return continuation - FIRST_NODE


class ChainedWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: RememberedRows
    output: OutputArrays
    # int32[r], the choice taken at each row from the starting row on.
    path: ChoiceArray
    # int32[r, s], r a power of two, how a run goes on from each row of a ring in the states that
    # can be reached twice; row position p is at continuations[p & (r - 1)].
    continuations: ChoiceArray


@stoppable_kernel
def search(rules: Rules, rows: RowArrays, work: ChainedWork) -> int:
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
def begin_partition(work: ChainedWork) -> None:
    """Forget the continuations of the previous partition."""
    forget(work.progress.start, work.progress)


@spliced
def search_from_start(rules: Rules, rows: RowArrays, work: ChainedWork) -> int:
    """Search from progress.start, write the match, if any, and set the next starting row.

    Returns:
        DONE or another status.
    """
    matches = work.output.matches
    nodes = work.output.choices
    progress = work.progress
    # How many rows are new to the output, and how the match goes on after them.
    new_length, continuation = find_path(rules, rows, work)
    if new_length < 0:
        return finish_without_match(new_length, progress)
    if not request_room(new_length, work.output, progress):
        return layout.OUTPUT_FULL
    first_node = write_chain(new_length, continuation, rules, work, nodes)
    matches[MATCH_FIRST, progress.match_count] = first_node
    start = progress.start
    length = np.int64(0)
    next_start = start + 1
    if first_node != NO_NODE:
        length = np.int64(nodes[CHAIN_LENGTH, first_node])
        distance = nodes[CHAIN_SKIP, first_node]
        next_start = NO_TARGET if distance == NO_TARGET else start + distance
    add_match(matches, progress, start, length)
    return go_on_from(next_start, start, progress)


@inlined
def find_path(rules: Rules, rows: RowArrays, work: ChainedWork) -> tuple[int, int]:
    """Find the rows of the match at progress.start, up to a state and row with a continuation.

    The choices of these rows are written to `path`.

    Returns:
        The number of these rows, and the continuation after them. Without a match: NO_MATCH,
        NO_ROOM or UNDECIDED, and NOT_NOTED.
    """
    first_choice = rules.first_choice
    program = rules.program
    condition_bits = rows.condition_bits
    continuations = work.continuations
    path = work.path
    progress = work.progress
    start = progress.start
    edge = progress.edge
    partition_end = progress.partition_end
    row = start
    state = 0
    choice = first_choice[0]
    # Whether a choice of this pair of state and row has mapped the row, and has failed later.
    has_tried_mapping = False
    while True:
        end_of_choices = first_choice[state + 1]
        continuation = NOT_NOTED
        while choice < end_of_choices:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start), MATCH_ENDS
                # This test comes after the accept test, because accepting needs no further row.
                if row == edge:
                    return UNDECIDED, NOT_NOTED
                mask = program[choice, layout.MASK]
                if (
                    row < partition_end
                    and condition_bits[row, program[choice, layout.WORD]] & mask == mask
                ):
                    # How the run goes on from the target at the next row, if that is noted.
                    target_memo = program[choice, layout.MEMO]
                    continuation = NOT_NOTED
                    if target_memo >= 0 and row + 1 < progress.memo_to:
                        index = find_in_ring(row + 1, continuations.shape[0])
                        continuation = continuations[index, target_memo]
                    if continuation != FAILED:
                        break
            choice += 1
        if choice < end_of_choices:
            if row + 1 - start == path.shape[0]:
                progress.needed_rows = row + 2 - start
                return NO_ROOM, NOT_NOTED
            path[row - start] = choice
            row += 1
            if continuation != NOT_NOTED:
                return int(row - start), int(continuation)
            state = program[choice, layout.TARGET]
            choice = first_choice[state]
            has_tried_mapping = False
            continue
        if row == start:
            return NO_MATCH, NOT_NOTED
        row -= 1
        choice = path[row - start]
        if has_tried_mapping:
            note_continuation(
                continuations, progress, program[choice, layout.MEMO], row + 1, FAILED
            )
        state = program[choice, layout.SOURCE]
        choice += 1
        has_tried_mapping = True


@inner
def write_chain(
    length: int, continuation: int, rules: Rules, work: ChainedWork, nodes: ChoiceArray
) -> int:
    """Write out the rows in `path` as nodes, from the last row to the first.

    Args:
        length: the number of rows in `path`.
        continuation: how the match goes on after these rows.
        rules: the part of the query that every search needs.
        work: the arrays and records of the search.
        nodes: int32[5, n], the nodes in the output.

    Returns:
        The node of the first row of the match; NO_NODE if the match is empty.
    """
    program = rules.program
    continuations = work.continuations
    path = work.path
    progress = work.progress
    start = progress.start
    for index in range(length - 1, -1, -1):
        choice = path[index]
        memo_number = program[choice, layout.MEMO]
        note_continuation(continuations, progress, memo_number, start + index + 1, continuation)
        node = progress.mapped_count
        next_node = unpack_node(continuation)
        later_length = 0
        later_distance = NO_TARGET
        if continuation >= FIRST_NODE:
            later_length = nodes[CHAIN_LENGTH, next_node]
            later_distance = nodes[CHAIN_SKIP, next_node]
        is_target = program[choice, layout.IS_TARGET] != 0
        nodes[CHAIN_CHOICE, node] = choice
        nodes[CHAIN_ROW, node] = start + index
        nodes[CHAIN_NEXT, node] = next_node
        nodes[CHAIN_LENGTH, node] = later_length + 1
        nodes[CHAIN_SKIP, node] = compute_skip_distance(rules.skip, is_target, later_distance)
        progress.mapped_count = node + 1
        continuation = pack_node(node)
    return int(unpack_node(continuation))


@inner
def note_continuation(
    continuations: ChoiceArray, progress: RememberedRows, memo_number: int, row: int, value: int
) -> None:
    """Note a continuation for a row and the state with a memo number; nothing for the number -1."""
    if memo_number >= 0:
        note_value(continuations, progress, memo_number, row, value)


class ChainedSearch(KernelSearch[ChainedWork]):
    """A search whose matches are chains, with a ring of continuations and the path of one run."""

    kernel = search
    can_skip_starts = True

    progress: RememberedRows
    progress_class = RememberedRows

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the path, and the continuation from each state and row."""
        row_count = self.sizes[layout.MEMO_FULL]
        return {
            "path": ((row_count,), np.int32),
            "continuations": ((row_count, self.memo_number_count), np.int32),
        }

    def make_work(self) -> ChainedWork:
        """Return what the kernel works in."""
        return ChainedWork(
            progress=self.progress,
            output=self.output,
            path=self.working_arrays["path"],
            continuations=self.working_arrays["continuations"],
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work

    def make_output(self, match_count: int, row_count: int) -> OutputArrays:
        """Return an empty output, and forget the continuations into the previous output."""
        self.progress.memo_to = self.progress.start
        nodes = self.allocate_array(np.empty, (CHAIN_SIZE, row_count), np.int32)
        return super().make_output(match_count, 0)._replace(choices=nodes)

    def read_matches(self, output: OutputArrays) -> Matches:
        """Return the matches in an output, as chains."""
        nodes = output.choices[:, : self.progress.mapped_count]
        matches = super().read_matches(output._replace(choices=nodes[CHAIN_CHOICE]))
        first_nodes = output.matches[MATCH_FIRST, : matches.count]
        return replace(
            matches,
            rows=nodes[CHAIN_ROW].astype(np.int64),
            chains=Chains(first_mapped_rows=first_nodes, next_mapped_rows=nodes[CHAIN_NEXT]),
        )
