"""Overlapping matches that end alike, where conditions look only at the data.

How a run goes on from a state and row does not depend on how it came there. So a search ends where
it comes to a state and row from which a match is known: its rows are chained to those that follow
there, and no pair of state and row is searched, or written out, twice.

`known` says of states that can be reached twice how a run in them goes on from a row. What is known
leads into the output, so it is forgotten with it.

Cost: rows x choices, however long the matches are.

known: int32[r, s], r a power of two; row position p stands at known[p & (r - 1)].
path: int32[r], the choice that is tried at each row from the starting row on.
nodes: int32[5, n], the output: mapped rows, rows of the table as below; a node stands behind the
one that follows it in the match.
found: int64[5, m + 1], with a row more than `layout` says.
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_NODE,
    DONE,
    GUARD,
    MAPPED,
    MASK,
    MATCHES,
    MEMO,
    MEMO_FULL,
    MEMO_TO,
    MORE_ROWS,
    NEEDED,
    NO_EDGE,
    NUMBER,
    OUTPUT_FULL,
    PARTITION,
    SKIP_HERE,
    SOURCE,
    START,
    TARGET,
    TO_FIRST,
    WORD,
    ChoiceArray,
)
from matchrec.engine.kernels.starts import edge_of, finish, is_anchored
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, inner, kernel

# Rows of `nodes`: the choice that maps the row, the row, the next node of the match or NO_NODE,
# how many rows the match has from here on, and how many rows further on it skips to, or -1.
CHAIN_CHOICE = 0
CHAIN_ROW = 1
CHAIN_NEXT = 2
CHAIN_LENGTH = 3
CHAIN_SKIP = 4
CHAIN_SIZE = 5
NO_NODE = -1

FOUND_FIRST = 4  # of `found`: the node of the first row, NO_NODE of an empty match
FOUND_SIZE = 5

# What is known of a state and row; the match goes on with node k - FIRST_NODE.
UNKNOWN = 0
FAILED = 1
ENDS = 2
FIRST_NODE = 3

NO_MATCH = -1  # `follow` returns how many rows it has gone, this, or less: NO_MATCH - status


@kernel
def search(
    first: IntArray,
    program: IntArray,
    starts: IntArray,
    searched: IntArray,
    satisfied: IntArray,
    skip_to: int,
    known: ChoiceArray,
    path: ChoiceArray,
    found: IntArray,
    nodes: ChoiceArray,
    progress: IntArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    progress[MEMO_TO] = progress[START]
    while progress[PARTITION] < starts.shape[0] - 1:
        lower = starts[progress[PARTITION]]
        upper = starts[progress[PARTITION] + 1]
        edge = edge_of(starts, progress)
        while progress[START] < searched[1, progress[PARTITION]]:
            length = follow(first, program, satisfied, known, path, progress, edge, lower, upper)
            if length == NO_MATCH:
                progress[START] += 1
                continue
            if length < NO_MATCH:
                return NO_MATCH - length
            has_room = progress[MATCHES] < found.shape[1] - 1
            if not has_room or progress[MAPPED] + length > nodes.shape[1]:
                progress[NEEDED] = length
                return OUTPUT_FULL
            node = chain(program, skip_to, known, path, nodes, progress, length)
            found[FOUND_FIRST, progress[MATCHES]] = node
            whole, target = 0, 0
            if node != NO_NODE:
                whole, target = nodes[CHAIN_LENGTH, node], nodes[CHAIN_SKIP, node]
            status = finish(skip_to, found, progress, progress[START], whole, target)
            if status != DONE:
                return status
        if edge != NO_EDGE:
            return MORE_ROWS
        progress[PARTITION] += 1
        progress[START] = searched[0, progress[PARTITION]]
        progress[NUMBER] = 0
        progress[MEMO_TO] = progress[START]
    return DONE


@inlined
def follow(
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    known: ChoiceArray,
    path: ChoiceArray,
    progress: IntArray,
    edge: int,
    lower: int,
    upper: int,
) -> int:
    """Go the preferred way from progress[START] on until it is known how it goes on.

    How many rows, whose choices are in `path`; then progress[BEST_NODE] is what is known there.
    """
    start = progress[START]
    if start >= edge:
        return NO_MATCH - MORE_ROWS
    row = start
    state = 0
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    while True:
        last = first[state + 1]
        beyond = UNKNOWN
        while choice < last:
            guard = program[choice, GUARD]
            if guard == 0 or is_anchored(guard, row, lower, upper):
                if program[choice, TARGET] == ACCEPT:
                    progress[BEST_NODE] = ENDS
                    return int(row - start)
                mask = program[choice, MASK]
                if row < upper and satisfied[row, program[choice, WORD]] & mask == mask:
                    bit = program[choice, MEMO]
                    beyond = UNKNOWN
                    if bit >= 0 and row + 1 < progress[MEMO_TO]:
                        beyond = known[(row + 1) & (known.shape[0] - 1), bit]
                    if beyond != FAILED:
                        break
            choice += 1
        if choice < last:
            if row + 1 - start == path.shape[0]:
                progress[NEEDED] = row + 2 - start
                return NO_MATCH - MEMO_FULL
            path[row - start] = choice
            row += 1
            if beyond != UNKNOWN:
                progress[BEST_NODE] = beyond
                return int(row - start)
            if row == edge:
                return NO_MATCH - MORE_ROWS
            state = program[choice, TARGET]
            choice = first[state]
            tried_further = False
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        if tried_further:
            learn(known, progress, program[choice, MEMO], row + 1, FAILED)
        state = program[choice, SOURCE]
        choice += 1
        tried_further = True


@inner
def chain(
    program: IntArray,
    skip_to: int,
    known: ChoiceArray,
    path: ChoiceArray,
    nodes: ChoiceArray,
    progress: IntArray,
    length: int,
) -> int:
    """Write out the rows that `follow` has gone, from the last one on; the first one's node."""
    start = progress[START]
    beyond = progress[BEST_NODE]
    for index in range(length - 1, -1, -1):
        choice = path[index]
        learn(known, progress, program[choice, MEMO], start + index + 1, beyond)
        node = progress[MAPPED]
        following = beyond - FIRST_NODE
        rest = 0
        target = -1
        if beyond >= FIRST_NODE:
            rest = nodes[CHAIN_LENGTH, following]
            target = nodes[CHAIN_SKIP, following]
        if target >= 0:
            target += 1
        if program[choice, SKIP_HERE] != 0 and (skip_to == TO_FIRST or target < 0):
            target = 0
        nodes[CHAIN_CHOICE, node] = choice
        nodes[CHAIN_ROW, node] = start + index
        nodes[CHAIN_NEXT, node] = following
        nodes[CHAIN_LENGTH, node] = rest + 1
        nodes[CHAIN_SKIP, node] = target
        progress[MAPPED] = node + 1
        beyond = FIRST_NODE + node
    return int(beyond - FIRST_NODE)


@inner
def learn(known: ChoiceArray, progress: IntArray, bit: int, row: int, what: int) -> None:
    """Note how a run goes on from a row in the state with memo number `bit`, if it has one."""
    size, width = known.shape
    if bit < 0:
        return
    if row >= progress[MEMO_TO]:
        for new in range(max(progress[MEMO_TO], progress[START]), row + 1):
            for other in range(width):
                known[new & (size - 1), other] = UNKNOWN
        progress[MEMO_TO] = row + 1
    known[row & (size - 1), bit] = what


@kernel
def unchain(first: IntArray, following: ChoiceArray, offsets: IntArray, nodes: ChoiceArray) -> None:
    """Write the nodes of every match to `nodes`, match after match."""
    for match in range(first.shape[0]):
        node = first[match]
        for index in range(offsets[match], offsets[match + 1]):
            nodes[index] = node
            node = following[node]
