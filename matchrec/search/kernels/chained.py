"""Overlapping matches that end alike, where conditions depend on the data only.

How a run goes on from a state and row does not depend on how it came there. So a search ends where
it comes to a state and row from which a match is known: its rows are chained to those that follow
there, and no pair of state and row is searched, or written out, twice.

`known` says of states that can be reached twice how a run in them goes on from a row. What is known
leads into the output, so it is forgotten with it.

Cost: rows x choices, however long the matches are.

known: int32[r, s], r a power of two; row position p stands at known[p & (r - 1)].
path: int32[r], the choice that is tried at each row from the starting row on.
nodes: int32[5, n], the output: mapped rows, rows of the table as below; a node comes after the one
that follows it in the match.
found: int64[6, m + 1], in which the row FOUND_COMPLETED says which node is a match's first one.
"""

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ChoiceArray, Progress, RowArrays, Rules, Work
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    NO_ROW,
    UNDECIDED,
    UNKNOWN,
    add_match,
    distance_to_next_start,
    go_on_from,
    go_on_without,
    has_room,
    note,
    searching,
)

# Rows of `nodes`: the choice that maps the row, the row, the next node of the match or NO_NODE,
# how many rows the match has from here on, and how many rows further on the search does, or NO_ROW.
CHAIN_CHOICE, CHAIN_ROW, CHAIN_NEXT, CHAIN_LENGTH, CHAIN_SKIP, CHAIN_SIZE = range(6)
NO_NODE = -1

FOUND_FIRST = layout.FOUND_COMPLETED  # the node of the first row, NO_NODE of an empty match

# What is known of a state and row; the match goes on with node k - FIRST_NODE.
FAILED, ENDS, FIRST_NODE = range(1, 4)


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, _registers: None, _counts: None) -> int:
    found, nodes, progress = work.output.found, work.output.taken, work.progress
    length = follow(rules, rows, work)
    if length < 0:
        return go_on_without(length, progress)
    if not has_room(length, work.output, progress):
        return layout.OUTPUT_FULL
    node = chain(length, rules, work, nodes)
    found[FOUND_FIRST, progress.matches] = node
    start = progress.start
    whole, row = np.int64(0), start + 1
    if node != NO_NODE:
        whole, distance = np.int64(nodes[CHAIN_LENGTH, node]), nodes[CHAIN_SKIP, node]
        row = NO_ROW if distance == NO_ROW else start + distance
    add_match(found, progress, start, whole)
    return go_on_from(row, start, progress)


search = searching(search_start)


@inlined
def follow(rules: Rules, rows: RowArrays, work: Work) -> int:
    """How many rows the preferred way has from progress.start on, until it is known how it goes on:
    that is progress.known then. The choices of these rows are in `path`.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    known, path, progress = work.known, work.path, work.progress
    start, edge, upper = progress.start, progress.edge, progress.upper
    row = start
    state = 0
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    while True:
        last = first[state + 1]
        beyond = UNKNOWN
        while choice < last:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, progress):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    progress.known = ENDS
                    return int(row - start)
                if row == edge:
                    return UNDECIDED
                mask = program[choice, layout.MASK]
                if row < upper and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                    bit = program[choice, layout.MEMO]
                    beyond = UNKNOWN
                    if bit >= 0 and row + 1 < progress.memo_to:
                        beyond = known[(row + 1) & (known.shape[0] - 1), bit]
                    if beyond != FAILED:
                        break
            choice += 1
        if choice < last:
            if row + 1 - start == path.shape[0]:
                progress.needed = row + 2 - start
                return NO_ROOM
            path[row - start] = choice
            row += 1
            if beyond != UNKNOWN:
                progress.known = beyond
                return int(row - start)
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        if tried_further:
            learn(known, progress, program[choice, layout.MEMO], row + 1, FAILED)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@inner
def chain(length: int, rules: Rules, work: Work, nodes: ChoiceArray) -> int:
    """Write out the rows that `follow` has gone, from the last one on; the first one's node."""
    program, known, path, progress = rules.program, work.known, work.path, work.progress
    start = progress.start
    beyond = progress.known
    for index in range(length - 1, -1, -1):
        choice = path[index]
        learn(known, progress, program[choice, layout.MEMO], start + index + 1, beyond)
        node = progress.mapped
        following = beyond - FIRST_NODE
        rest = 0
        distance = NO_ROW
        if beyond >= FIRST_NODE:
            rest = nodes[CHAIN_LENGTH, following]
            distance = nodes[CHAIN_SKIP, following]
        is_target = program[choice, layout.IS_TARGET] != 0
        nodes[CHAIN_CHOICE, node] = choice
        nodes[CHAIN_ROW, node] = start + index
        nodes[CHAIN_NEXT, node] = following
        nodes[CHAIN_LENGTH, node] = rest + 1
        nodes[CHAIN_SKIP, node] = distance_to_next_start(rules.skip, is_target, distance)
        progress.mapped = node + 1
        beyond = FIRST_NODE + node
    return int(beyond - FIRST_NODE)


@inner
def learn(known: ChoiceArray, progress: Progress, bit: int, row: int, what: int) -> None:
    """Note how a run goes on from a row in the state with memo number `bit`, if it has one."""
    if bit >= 0:
        note(known, progress, bit, row, what)
