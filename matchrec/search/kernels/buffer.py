"""The shared versioned match buffer: rows of all runs as pointers to the row selected before.

A pointer leads to the very pointer that its run made before, not to an entry of a stack, so no
version is needed to follow it: what the paper tells apart by Dewey numbers are different
pointers. Runs that part share what they have selected before; where runs merge, a join leads to
both. The numbers themselves are made for the compressed output. A node leads to earlier ones.

Where one preferred match is sought no node is a join, and none has more columns than it needs.

Source: SASE+, "The shared versioned match buffer", "Merging equivalent runs", "Memory
management".
"""

from __future__ import annotations

from typing import Any

from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import Progress, RunArray
from matchrec.search.partitions import IntArray

DEAD = -1
IN_A_MATCH = 1


@spliced
def put_run(made: IntArray, state: int, node: int, start: int) -> None:
    made[layout.RUN_STATE] = state
    made[layout.RUN_NODE] = node
    made[layout.RUN_START] = start


@spliced
def add_node(
    choice: int, row: int, before: int, other: int, start: int, nodes: IntArray, progress: Progress
) -> int:
    """The number of a new node, or -1 where there is no room."""
    node = progress.nodes
    if node == nodes.shape[0]:
        return -1
    made = nodes[node]
    made[layout.NODE_CHOICE] = choice
    made[layout.NODE_ROW] = row
    made[layout.NODE_BEFORE] = before
    made[layout.NODE_OTHER] = other
    made[layout.NODE_START] = start
    progress.nodes = node + 1
    return int(node)


@inner
def count_rows(nodes: IntArray, node: int) -> int:
    length = 0
    while node >= 0:
        length += 1
        node = nodes[node, layout.NODE_BEFORE]
    return length


@inner
def unwind(nodes: IntArray, node: int, column: int, to: Any, begin: int, length: int) -> None:
    """Write a column of the `length` nodes that end at `node`, from `begin` on."""
    for index in range(begin + length - 1, begin - 1, -1):
        to[index] = nodes[node, column]
        node = nodes[node, layout.NODE_BEFORE]


@kernel
def compact(
    row: int,
    window_end: RunArray,
    counters: RunArray,
    runs: IntArray,
    nodes: IntArray,
    moved: IntArray,
    progress: Progress,
) -> None:
    """Keep the nodes that a run still reaches inside its window, or a match that is kept.

    window_end, counters: None where one preferred match is sought; of that the best one so far is
    kept. moved: as long as the nodes, scratch.

    One pass back marks and one pass forth slides. A join with one side left is that side.
    """
    count, bank = progress.nodes, progress.bank
    for node in range(count):
        moved[node] = DEAD
        if window_end is not None:
            if nodes[node, layout.NODE_OTHER] == layout.COMPLETES:
                moved[node] = 0
    for run in range(progress.count):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            moved[runs[bank, run, layout.RUN_NODE]] = 0
    if progress.best_start >= 0 and progress.best_node >= 0:
        moved[progress.best_node] = 0
    for node in range(count - 1, -1, -1):
        if moved[node] != DEAD:
            before = nodes[node, layout.NODE_BEFORE]
            if window_end is None:
                if before >= 0:
                    moved[before] = 0
            else:
                other = nodes[node, layout.NODE_OTHER]
                kept_whole = moved[node] == IN_A_MATCH or other == layout.COMPLETES
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
        before = nodes[node, layout.NODE_BEFORE]
        before = moved[before] if before >= 0 else DEAD
        for column in range(nodes.shape[1]):
            nodes[kept, column] = nodes[node, column]
        nodes[kept, layout.NODE_BEFORE] = before
        if window_end is not None:
            other = nodes[node, layout.NODE_OTHER]
            other = moved[other] if other >= 0 else other
            if nodes[node, layout.NODE_CHOICE] == layout.JOIN and min(before, other) == DEAD:
                moved[node] = max(before, other)
                continue
            nodes[kept, layout.NODE_OTHER] = other
        moved[node] = kept
        kept += 1
    progress.nodes = kept
    if window_end is not None:
        counters[layout.NODES_PRUNED] += count - kept
    for run in range(progress.count):
        if runs[bank, run, layout.RUN_STATE] >= 0:
            runs[bank, run, layout.RUN_NODE] = moved[runs[bank, run, layout.RUN_NODE]]
    if progress.best_start >= 0 and progress.best_node >= 0:
        progress.best_node = moved[progress.best_node]


@spliced
def is_expired(nodes: IntArray, node: int, row: int, window_end: IntArray) -> bool:
    """Whether the window of all that ends at a node has ended before `row`."""
    return bool(window_end[nodes[node, layout.NODE_START]] <= row)
