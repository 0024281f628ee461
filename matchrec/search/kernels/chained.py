"""Overlapping matches that share their rows, if conditions depend on the data only.

It is used by the strategy `Chained`. How a run goes on from a state at a row does not depend on how
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

    known: int32[r, s], r a power of two; row position p is at known[p & (r - 1)]
    path: int32[r], the choice that is tried at each row from the starting row on
    nodes: int32[5, n], the output: mapped rows. A node comes after the one that follows it in the
        match.
    found: int64[6, m + 1]; its row FOUND_COMPLETED is the first node of each match
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
    note_value,
    searching,
)

# Rows of `nodes`: the choice that maps the row; the row; the next node of the match, or NO_NODE;
# how many rows the match has from here on; how many rows later the search goes on, or NO_ROW.
CHAIN_CHOICE, CHAIN_ROW, CHAIN_NEXT, CHAIN_LENGTH, CHAIN_SKIP, CHAIN_SIZE = range(6)
NO_NODE = -1

FOUND_FIRST = layout.FOUND_COMPLETED  # the node of the first row, NO_NODE for an empty match

# What is known of a state and row. From FIRST_NODE on, the match goes on with node k - FIRST_NODE.
FAILED, ENDS, FIRST_NODE = range(1, 4)


@spliced
def search_start(rules: Rules, rows: RowArrays, work: Work, _registers: None, _counts: None) -> int:
    """Write out the match at progress.start, and set the next starting row; return a status."""
    found, nodes, progress = work.output.found, work.output.choices, work.progress
    length = find_path(rules, rows, work)
    if length < 0:
        return go_on_without(length, progress)
    if not has_room(length, work.output, progress):
        return layout.OUTPUT_FULL
    node = write_chain(length, rules, work, nodes)
    found[FOUND_FIRST, progress.matches] = node
    start = progress.start
    total_length, row = np.int64(0), start + 1
    if node != NO_NODE:
        total_length, distance = np.int64(nodes[CHAIN_LENGTH, node]), nodes[CHAIN_SKIP, node]
        row = NO_ROW if distance == NO_ROW else start + distance
    add_match(found, progress, start, total_length)
    return go_on_from(row, start, progress)


search = searching(search_start)


@inlined
def find_path(rules: Rules, rows: RowArrays, work: Work) -> int:
    """Go the preferred way from progress.start on until it is known how it goes on.

    progress.known is then how it goes on, and `path` has the choices of the rows up to there.

    Returns:
        How many rows these are; or NO_MATCH, NO_ROOM or UNDECIDED.
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
        if choice < end_of_choices:
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
            note_chain(known, progress, program[choice, layout.MEMO], row + 1, FAILED)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@inner
def write_chain(length: int, rules: Rules, work: Work, nodes: ChoiceArray) -> int:
    """Write out the rows that `find_path` has gone, from the last one to the first.

    Returns:
        The node of the first row.
    """
    program, known, path, progress = rules.program, work.known, work.path, work.progress
    start = progress.start
    beyond = progress.known
    for index in range(length - 1, -1, -1):
        choice = path[index]
        note_chain(known, progress, program[choice, layout.MEMO], start + index + 1, beyond)
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
def note_chain(known: ChoiceArray, progress: Progress, bit: int, row: int, value: int) -> None:
    """Note how a run goes on from a row in the state with memo number `bit`, if it has one."""
    if bit >= 0:
        note_value(known, progress, bit, row, value)
