"""The kernel of `search.chained`: overlapping matches that share their rows.

How a run goes on from a state at a row does not depend on how
it came there. So the search ends as soon as it comes to a state and row from which a match is
known. Its rows are chained to those that follow there. No pair of a state and a row is searched or
written out twice.

    PATTERN (A+ B), SKIP TO NEXT ROW   rows A A A B

    start 0: A A A B is written from the last row on, as nodes 0 (B), 1, 2 and 3
    start 1: A leads to the loop of A at row 2, from which node 1 is known to follow: one new node
    start 2: A leads to the loop at row 3, from which node 0 follows: one new node

`known` says how a run goes on from a row in the states that can be reached twice. It refers to
nodes in the output, so it is forgotten when the output is taken away.

Cost: rows x choices, however long the matches are.

The output has nodes instead of choices: int32[5, n], the mapped rows. A node comes after the one
that follows it in the match. Row FOUND_COMPLETED of `found` has the first node of each match.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import (
    ChoiceArray,
    OutputArrays,
    RememberedRows,
    RowArrays,
    Rules,
)
from matchrec.search.kernels.mapping import forget, is_anchored
from matchrec.search.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    NO_ROW,
    UNDECIDED,
    UNKNOWN,
    add_match,
    distance_to_next_start,
    find_start,
    go_on_from,
    go_on_without,
    go_to_next_partition,
    has_room,
    note_value,
)
from matchrec.search.matches import Chains, Matches
from matchrec.search.search import Kernel, KernelSearch, Shapes

# Rows of `nodes`: the choice that maps the row; the row; the next node of the match, or NO_NODE;
# how many rows the match has from here on; how many rows later the search goes on, or NO_ROW.
CHAIN_CHOICE, CHAIN_ROW, CHAIN_NEXT, CHAIN_LENGTH, CHAIN_SKIP, CHAIN_SIZE = range(6)
NO_NODE = -1

FOUND_FIRST = layout.FOUND_COMPLETED  # the node of the first row, NO_NODE for an empty match

# What is known of a state and row. From FIRST_NODE on, the match goes on with node k - FIRST_NODE.
FAILED, ENDS, FIRST_NODE = range(1, 4)


class ChainedWork(NamedTuple):
    """What the search works in."""

    progress: RememberedRows
    output: OutputArrays
    # int32[r], the choice that is tried at each row from the starting row on.
    path: ChoiceArray
    # int32[r, s], r a power of two, how a run goes on from each row of a ring in the states that
    # can be reached twice; row position p is at known[p & (r - 1)].
    known: ChoiceArray


@kernel
def search(rules: Rules, rows: RowArrays, work: ChainedWork) -> int:
    """Search from `progress` on; return a status. `starts` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and find_start(rows.begins, progress):
            status = np.int64(search_start(rules, rows, work))
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: ChainedWork) -> None:
    """Forget how runs of the partition before went on."""
    forget(work.progress.start, work.progress)


@spliced
def search_start(rules: Rules, rows: RowArrays, work: ChainedWork) -> int:
    """Write out the match at progress.start, and set the next starting row; return a status."""
    found, nodes, progress = work.output.found, work.output.choices, work.progress
    length, beyond = find_path(rules, rows, work)
    if length < 0:
        return go_on_without(length, progress)
    if not has_room(length, work.output, progress):
        return layout.OUTPUT_FULL
    node = write_chain(length, beyond, rules, work, nodes)
    found[FOUND_FIRST, progress.matches] = node
    start = progress.start
    total_length, row = np.int64(0), start + 1
    if node != NO_NODE:
        total_length, distance = np.int64(nodes[CHAIN_LENGTH, node]), nodes[CHAIN_SKIP, node]
        row = NO_ROW if distance == NO_ROW else start + distance
    add_match(found, progress, start, total_length)
    return go_on_from(row, start, progress)


@inlined
def find_path(rules: Rules, rows: RowArrays, work: ChainedWork) -> tuple[int, int]:
    """Go the preferred way from progress.start on until it is known how it goes on.

    `path` has the choices of the rows up to there.

    Returns:
        How many rows these are, and what is known there; or NO_MATCH, NO_ROOM or UNDECIDED, and
        UNKNOWN.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    known, path, progress = work.known, work.path, work.progress
    start, edge, upper = progress.start, progress.edge, progress.upper
    row = start
    state = 0
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    while True:
        end_of_choices = first[state + 1]
        beyond = UNKNOWN
        while choice < end_of_choices:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start), ENDS
                if row == edge:
                    return UNDECIDED, UNKNOWN
                mask = program[choice, layout.MASK]
                if row < upper and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                    bit = program[choice, layout.MEMO]
                    beyond = UNKNOWN
                    if bit >= 0 and row + 1 < progress.memo_to:
                        beyond = known[(row + 1) & (known.shape[0] - 1), bit]
                    if beyond != FAILED:
                        break
            choice += 1
        if choice < end_of_choices:
            if row + 1 - start == path.shape[0]:
                progress.needed = row + 2 - start
                return NO_ROOM, UNKNOWN
            path[row - start] = choice
            row += 1
            if beyond != UNKNOWN:
                return int(row - start), int(beyond)
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH, UNKNOWN
        row -= 1
        choice = path[row - start]
        if tried_further:
            note_chain(known, progress, program[choice, layout.MEMO], row + 1, FAILED)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@inner
def write_chain(
    length: int, beyond: int, rules: Rules, work: ChainedWork, nodes: ChoiceArray
) -> int:
    """Write out the rows that `find_path` has gone, from the last one to the first.

    `beyond` is how the match goes on after them.

    Returns:
        The node of the first row.
    """
    program, known, path, progress = rules.program, work.known, work.path, work.progress
    start = progress.start
    for index in range(length - 1, -1, -1):
        choice = path[index]
        bit = program[choice, layout.MEMO]
        note_chain(known, progress, bit, start + index + 1, beyond)
        node = progress.mapped
        next_node = beyond - FIRST_NODE
        later_length = 0
        later_distance = NO_ROW
        if beyond >= FIRST_NODE:
            later_length = nodes[CHAIN_LENGTH, next_node]
            later_distance = nodes[CHAIN_SKIP, next_node]
        is_target = program[choice, layout.IS_TARGET] != 0
        nodes[CHAIN_CHOICE, node] = choice
        nodes[CHAIN_ROW, node] = start + index
        nodes[CHAIN_NEXT, node] = next_node
        nodes[CHAIN_LENGTH, node] = later_length + 1
        nodes[CHAIN_SKIP, node] = distance_to_next_start(rules.skip, is_target, later_distance)
        progress.mapped = node + 1
        beyond = FIRST_NODE + node
    return int(beyond - FIRST_NODE)


@inner
def note_chain(
    known: ChoiceArray, progress: RememberedRows, bit: int, row: int, value: int
) -> None:
    """Note how a run goes on from a row in the state with memo number `bit`, if it has one."""
    if bit >= 0:
        note_value(known, progress, bit, row, value)


class ChainedSearch(KernelSearch[ChainedWork]):
    """How a match goes on from each state and row, and the path of one run."""

    kernel = Kernel(search, search_start, begin_partition)
    begins_anew = True

    progress: RememberedRows
    progress_kind = RememberedRows

    @property
    def shapes(self) -> Shapes:
        """Return rings of rows: the path, and the chain from each state and row on."""
        rows = self.sizes[layout.MEMO_FULL]
        return {"path": ((rows,), np.int32), "known": ((rows, self.remembered_states), np.int32)}

    def make_work(self) -> ChainedWork:
        """Return what the kernel works in."""
        path, known = self.memory["path"], self.memory["known"]
        return ChainedWork(self.progress, self.output, path, known)

    def arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return self.rules, self.arrays.rows, self.work

    def grow(self, status: int) -> None:
        """Make the rings larger, and forget what they hold: a row is elsewhere in a larger one."""
        super().grow(status)
        self.progress.memo_to = self.progress.start

    def make_output(self, matches: int, rows: int) -> OutputArrays:
        """Return an empty output, and forget the chains that lead into the one before."""
        self.progress.memo_to = self.progress.start
        nodes = self.new_array(np.empty, (CHAIN_SIZE, rows), np.int32)
        return super().make_output(matches, 0)._replace(choices=nodes)

    def matches(self, output: OutputArrays) -> Matches:
        """Return the matches in an output, as chains."""
        nodes = output.choices[:, : self.progress.mapped]
        matches = super().matches(output._replace(choices=nodes[CHAIN_CHOICE]))
        first = output.found[FOUND_FIRST, : matches.count]
        return replace(
            matches,
            rows=nodes[CHAIN_ROW].astype(np.int64),
            chains=Chains(first=first, following=nodes[CHAIN_NEXT]),
        )
