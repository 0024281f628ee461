"""The shared buffer: rows of all runs as nodes that point back to the row before.

Runs that part share the nodes before they part. A node comes after its predecessor, so sliding
the living nodes together keeps that order.

Source: SASE+, "The shared versioned match buffer"; one predecessor for each node, as there is one
preferred way to a computation state.
"""

import numpy as np

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inner, kernel

_DEAD = -1


@kernel
def compact(
    bank: int,
    count: int,
    nodes: ChoiceArray,
    moved: ChoiceArray,
    runs: IntArray,
    progress: IntArray,
) -> None:
    """Keep the nodes that the first runs in `bank` and the best match reach."""
    for node in range(progress[layout.NODES]):
        moved[node] = _DEAD
    for run in range(count + 1):
        node = np.int64(-1)
        if run < count and runs[bank, run, layout.RUN_STATE] >= 0:
            node = runs[bank, run, layout.RUN_NODE]
        elif run == count and progress[layout.BEST_START] >= 0:
            node = progress[layout.BEST_NODE]
        while node >= 0 and moved[node] == _DEAD:  # what is before a marked one is marked
            moved[node] = 0
            node = np.int64(nodes[node, layout.NODE_PREDECESSOR])
    kept = 0
    for node in range(progress[layout.NODES]):
        if moved[node] != _DEAD:
            predecessor = nodes[node, layout.NODE_PREDECESSOR]
            nodes[kept, layout.NODE_CHOICE] = nodes[node, layout.NODE_CHOICE]
            nodes[kept, layout.NODE_PREDECESSOR] = moved[predecessor] if predecessor >= 0 else -1
            moved[node] = kept
            kept += 1
    progress[layout.NODES] = kept
    for run in range(count):
        node = runs[bank, run, layout.RUN_NODE]
        if runs[bank, run, layout.RUN_STATE] >= 0 and node >= 0:
            runs[bank, run, layout.RUN_NODE] = moved[node]
    if progress[layout.BEST_START] >= 0 and progress[layout.BEST_NODE] >= 0:
        progress[layout.BEST_NODE] = moved[progress[layout.BEST_NODE]]


@inner
def unwind(nodes: ChoiceArray, node: int, taken: ChoiceArray, begin: int, length: int) -> None:
    """Write the choices of the `length` rows that end at `node` to `taken`, from `begin` on."""
    for index in range(begin + length - 1, begin - 1, -1):
        taken[index] = nodes[node, layout.NODE_CHOICE]
        node = nodes[node, layout.NODE_PREDECESSOR]
