"""The shared versioned match buffer: rows of all runs as pointers to the row selected before.

A pointer leads to the very pointer that its run made before, not to an entry of a stack, so no
version is needed to follow it: what the paper tells apart by Dewey numbers are different pointers.
Runs that part share what they have selected before; where runs merge, a join leads to both. The
numbers themselves are made for the compressed output.

Source: SASE+, "The shared versioned match buffer", "Merging equivalent runs", "Memory management".
"""

from matchrec.engine.kernels import layout
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.jit.decorators import inner, kernel, spliced

DEAD = -1
IN_A_MATCH = 1


@spliced
def add_node(
    choice: int,
    row: int,
    before: int,
    other: int,
    start: int,
    nodes: IntArray,
    progress: IntArray,
) -> int:
    """The number of a new node, or -1 where there is no room."""
    node = progress[layout.NODES]
    if node == nodes.shape[0]:
        return -1
    made = nodes[node]
    made[own.NODE_CHOICE] = choice
    made[own.NODE_ROW] = row
    made[own.NODE_BEFORE] = before
    made[own.NODE_OTHER] = other
    made[own.NODE_START] = start
    progress[layout.NODES] = node + 1
    return int(node)


@inner
def compact(
    bank: int,
    row: int,
    window_end: IntArray,
    runs: IntArray,
    nodes: IntArray,
    moved: IntArray,
    progress: IntArray,
    counters: IntArray,
) -> None:
    """Keep the nodes that a run in `bank` still reaches inside its window, or a kept match.

    A node comes after those that it leads to, so one pass back marks and one pass forth slides. A
    join with one side left is that side. Source: SASE+, "Memory management".
    """
    count = progress[layout.NODES]
    for node in range(count):
        moved[node] = 0 if nodes[node, own.NODE_OTHER] == own.COMPLETES else DEAD
    for run in range(progress[layout.COUNT]):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            moved[runs[bank, run, layout.RUN_NODE]] = 0
    for node in range(count - 1, -1, -1):
        if moved[node] != DEAD:
            before, other = nodes[node, own.NODE_BEFORE], nodes[node, own.NODE_OTHER]
            kept_whole = moved[node] == IN_A_MATCH or other == own.COMPLETES
            if before >= 0 and kept_whole:
                moved[before] = IN_A_MATCH
            elif before >= 0 and not is_expired(nodes, before, row, window_end):
                moved[before] = max(moved[before], 0)
            if other >= 0 and not is_expired(nodes, other, row, window_end):
                moved[other] = 0
    kept = 0
    for node in range(count):
        if moved[node] == DEAD:
            continue
        before, other = nodes[node, own.NODE_BEFORE], nodes[node, own.NODE_OTHER]
        before = moved[before] if before >= 0 else DEAD
        other = moved[other] if other >= 0 else other
        if nodes[node, own.NODE_CHOICE] == own.JOIN and min(before, other) == DEAD:
            moved[node] = max(before, other)
            continue
        for column in range(nodes.shape[1]):
            nodes[kept, column] = nodes[node, column]
        nodes[kept, own.NODE_BEFORE] = before
        nodes[kept, own.NODE_OTHER] = other
        moved[node] = kept
        kept += 1
    progress[layout.NODES] = kept
    counters[own.NODES_PRUNED] += count - kept
    for run in range(progress[layout.COUNT]):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            runs[bank, run, layout.RUN_NODE] = moved[runs[bank, run, layout.RUN_NODE]]


# For a search that is called again afterwards: few need it.
compact_apart = kernel(compact.py_func)  # type: ignore[attr-defined]


@spliced
def is_expired(nodes: IntArray, node: int, row: int, window_end: IntArray) -> bool:
    """Whether the window of all that ends at a node has ended before `row`."""
    return bool(window_end[nodes[node, own.NODE_START]] <= row)
