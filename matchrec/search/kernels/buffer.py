"""The shared versioned match buffer: the mapped rows of all runs, as nodes that runs share.

A *node* is a mapped row with a pointer to the node of the row that its run mapped before. In the
SASE+ paper, pointers lead to entries of stacks that runs share, and Dewey numbers say which
pointers belong to the same run. Here, each such pointer is a node of its own, so following pointers
needs no numbers. `search.graph` computes the numbers for the graph of all matches.

When a run splits, the new runs share the nodes before. When two runs merge, a *join*, a node
without a row, leads to the last nodes of both:

    A1 <- B2 <- join(B2, C2) <- D3      two matches, A1 B2 D3 and A1 C2 D3
    A1 <- C2 <-

A node has a greater number than the nodes that it leads to. If one preferred match is sought, no
node is a join, and nodes have fewer columns.

Source: SASE+, "The shared versioned match buffer", "Merging equivalent runs", "Memory management".
"""

from __future__ import annotations

from typing import NamedTuple

from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import BufferState, ChoiceArray
from matchrec.search.partitions import IntArray

NodeArray = ChoiceArray | IntArray

# The marks of nodes in `compact`.
DEAD = -1  # the node is dropped
ALIVE = 0  # the node is kept
IN_A_MATCH = 1  # the node is kept, and so are all nodes before it, whatever their windows are


@spliced
def put_run(run: IntArray, state: int, node: int, start: int) -> None:
    """Write a run into a row of `runs`."""
    run[layout.RUN_STATE] = state
    run[layout.RUN_NODE] = node
    run[layout.RUN_START] = start


@spliced
def add_node(
    choice: int,
    row: int,
    before: int,
    other: int,
    start: int,
    nodes: IntArray,
    progress: BufferState,
) -> int:
    """Add a node, and return its number, or -1 if there is no room.

    The arguments are the columns of a node: see `layout`.
    """
    node = progress.node_count
    if node == nodes.shape[0]:
        return -1
    new_node = nodes[node]
    new_node[layout.NODE_CHOICE] = choice
    new_node[layout.NODE_ROW] = row
    new_node[layout.NODE_BEFORE] = before
    new_node[layout.NODE_OTHER] = other
    new_node[layout.NODE_START] = start
    progress.node_count = node + 1
    return int(node)


@inner
def count_rows(nodes: NodeArray, node: int) -> int:
    """Return the number of rows from the first row of a run to a node, its own row included.

    No node before it can be a join.
    """
    length = 0
    while node >= 0:
        length += 1
        node = nodes[node, layout.NODE_BEFORE]
    return length


@inner
def unwind(
    nodes: NodeArray, node: int, column: int, values: NodeArray, begin: int, length: int
) -> None:
    """Write a column of the `length` nodes up to `node` to `values`, from the index `begin` on."""
    for index in range(begin + length - 1, begin - 1, -1):
        values[index] = nodes[node, column]
        node = nodes[node, layout.NODE_BEFORE]


class PruningInput(NamedTuple):
    """The additional arrays that `compact` needs in a search for all matches."""

    # See `RowArrays`.
    window_end: IntArray
    # int64[COUNTER_COUNT], see `layout`.
    counters: IntArray


@kernel
def compact(
    row: int,
    pruning: PruningInput | None,
    runs: IntArray,
    nodes: NodeArray,
    new_numbers: NodeArray,
    progress: BufferState,
) -> None:
    """Drop the nodes that no live run and no kept match reaches, and move the others together.

    1. Mark the nodes at which live runs and kept matches end.
    2. Mark the nodes that these reach, in one pass from the last node to the first.
    3. Move the marked nodes to the front, in one pass from the first node to the last.
    4. Give runs and the best match the new numbers of their nodes.

    Args:
        row: the last row that was searched.
        pruning: set if all matches are sought. Then nodes whose windows have ended are dropped as
            well. None if one preferred match is sought. Then only the best match so far is kept.
        runs: see `layout`.
        nodes: see `layout`.
        new_numbers: int[n], as long as `nodes`. It is overwritten, first by marks, then by the new
            number of each node that is kept.
        progress: its number of nodes and last node of the best match are updated.
    """
    bank = progress.bank
    has_best_node = progress.best_start >= 0 and progress.best_node >= 0
    marks = new_numbers
    mark_last_nodes(pruning, runs, nodes, marks, progress)
    if has_best_node:
        marks[progress.best_node] = ALIVE
    mark_reached_nodes(row, pruning, nodes, marks, progress)
    move_marked_nodes(pruning, nodes, new_numbers, progress)  # marks become numbers
    for run in range(progress.run_count):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            runs[bank, run, layout.RUN_NODE] = new_numbers[runs[bank, run, layout.RUN_NODE]]
    if has_best_node:
        progress.best_node = new_numbers[progress.best_node]


@spliced
def mark_last_nodes(
    pruning: PruningInput | None,
    runs: IntArray,
    nodes: NodeArray,
    marks: NodeArray,
    progress: BufferState,
) -> None:
    """Mark the last node of each live run, and of each match that the graph keeps, as ALIVE.

    All other nodes are marked as DEAD.
    """
    bank = progress.bank
    for node in range(progress.node_count):
        marks[node] = DEAD
        if pruning is not None:
            if nodes[node, layout.NODE_OTHER] == layout.COMPLETES:
                marks[node] = ALIVE
    for run in range(progress.run_count):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            marks[runs[bank, run, layout.RUN_NODE]] = ALIVE


@spliced
def mark_reached_nodes(
    row: int,
    pruning: PruningInput | None,
    nodes: NodeArray,
    marks: NodeArray,
    progress: BufferState,
) -> None:
    """Mark the nodes to which marked nodes lead.

    For all matches, a run reaches a node only if the node's window has not ended before `row`. A
    match reaches all nodes before it.
    """
    for node in range(progress.node_count - 1, -1, -1):
        if marks[node] == DEAD:
            continue
        before = nodes[node, layout.NODE_BEFORE]
        if pruning is None:
            if before >= 0:
                marks[before] = ALIVE
        else:
            other = nodes[node, layout.NODE_OTHER]
            is_in_match = marks[node] == IN_A_MATCH or other == layout.COMPLETES
            if before >= 0 and is_in_match:
                marks[before] = IN_A_MATCH
            elif before >= 0 and not is_expired(nodes, before, row, pruning.window_end):
                marks[before] = max(marks[before], ALIVE)
            if other >= 0 and not is_expired(nodes, other, row, pruning.window_end):
                marks[other] = ALIVE


@spliced
def move_marked_nodes(
    pruning: PruningInput | None, nodes: NodeArray, new_numbers: NodeArray, progress: BufferState
) -> None:
    """Move the marked nodes to the front, and replace each mark in `new_numbers` by the new number.

    The mark of a node that is dropped, DEAD, stays. If only one side of a join is left, the join is
    dropped, and gets the number of this side.
    """
    count = progress.node_count
    kept_count = 0
    for node in range(count):
        if new_numbers[node] == DEAD:
            continue
        before = nodes[node, layout.NODE_BEFORE]
        before = new_numbers[before] if before >= 0 else DEAD
        for column in range(nodes.shape[1]):
            nodes[kept_count, column] = nodes[node, column]
        nodes[kept_count, layout.NODE_BEFORE] = before
        if pruning is not None:
            other = nodes[node, layout.NODE_OTHER]
            other = new_numbers[other] if other >= 0 else other
            if nodes[node, layout.NODE_CHOICE] == layout.JOIN and min(before, other) == DEAD:
                new_numbers[node] = max(before, other)
                continue
            nodes[kept_count, layout.NODE_OTHER] = other
        new_numbers[node] = kept_count
        kept_count += 1
    progress.node_count = kept_count
    if pruning is not None:
        pruning.counters[layout.NODES_PRUNED] += count - kept_count


@spliced
def is_expired(nodes: NodeArray, node: int, row: int, window_end: IntArray) -> bool:
    """Return whether `row` is after the windows of all runs that share a node."""
    return bool(window_end[nodes[node, layout.NODE_START]] <= row)
