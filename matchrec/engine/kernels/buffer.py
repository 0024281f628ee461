"""The shared buffer: rows of all runs as nodes that point back to the row before.

Runs that part share the nodes before they part. A node stands behind its predecessor, so sliding
the living nodes together keeps that order.

Source: SASE+, "The shared versioned match buffer"; one predecessor for each node, as there is one
preferred way to a computation state.
"""

from matchrec.engine.kernels.layout import (
    BEST_NODE,
    BEST_START,
    NODE_CHOICE,
    NODE_PREDECESSOR,
    NODES,
    RUN_NODE,
    RUN_STATE,
    ChoiceArray,
)
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inner

_DEAD = -1


@inner
def compact(
    nodes: ChoiceArray,
    moved: ChoiceArray,
    runs: IntArray,
    bank: int,
    count: int,
    progress: IntArray,
) -> None:
    """Keep the nodes that the runs in `bank` and the best match reach. moved: int32[n], scratch."""
    for node in range(progress[NODES]):
        moved[node] = _DEAD
    for run in range(count):
        if runs[bank, run, RUN_STATE] >= 0:
            mark(nodes, moved, runs[bank, run, RUN_NODE])
    if progress[BEST_START] >= 0:
        mark(nodes, moved, progress[BEST_NODE])
    kept = 0
    for node in range(progress[NODES]):
        if moved[node] != _DEAD:
            predecessor = nodes[node, NODE_PREDECESSOR]
            nodes[kept, NODE_CHOICE] = nodes[node, NODE_CHOICE]
            nodes[kept, NODE_PREDECESSOR] = moved[predecessor] if predecessor >= 0 else -1
            moved[node] = kept
            kept += 1
    progress[NODES] = kept
    for run in range(count):
        node = runs[bank, run, RUN_NODE]
        if runs[bank, run, RUN_STATE] >= 0 and node >= 0:
            runs[bank, run, RUN_NODE] = moved[node]
    if progress[BEST_START] >= 0 and progress[BEST_NODE] >= 0:
        progress[BEST_NODE] = moved[progress[BEST_NODE]]


@inner
def mark(nodes: ChoiceArray, moved: ChoiceArray, node: int) -> None:
    """Mark a node and those before it as living, up to one that is marked."""
    while node >= 0 and moved[node] == _DEAD:
        moved[node] = 0
        node = nodes[node, NODE_PREDECESSOR]


@inner
def unwind(nodes: ChoiceArray, node: int, taken: ChoiceArray, begin: int, length: int) -> None:
    """Write the choices of the `length` rows that end at `node` to `taken`, from `begin` on."""
    for index in range(begin + length - 1, begin - 1, -1):
        taken[index] = nodes[node, NODE_CHOICE]
        node = nodes[node, NODE_PREDECESSOR]
