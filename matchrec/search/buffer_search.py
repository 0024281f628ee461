"""The base class of searches that follow all runs at once: its arrays, and how they grow."""

from __future__ import annotations

import numpy as np

from matchrec.search.kernel_search import KernelSearch, Shapes, W
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import PruningInput, compact

# A buffer of fewer nodes grows instead of being pruned: see `BufferSearch.prune_if_enough`.
MIN_PRUNED_NODES = 1 << 13


class BufferSearch(KernelSearch[W]):
    """A search of all runs at once, with the shared buffer of their rows. Equal runs merge."""

    progress: layout.BufferState

    @property
    def shapes(self) -> Shapes:
        """Return the runs before and after a row, the buffer, the table and the registers."""
        runs = self.sizes[layout.RUNS_FULL]
        nodes = self.sizes[layout.NODES_FULL]
        buffer: Shapes = {
            "runs": ((2, runs, layout.RUN_SIZE), np.int64),
            "nodes": ((nodes, layout.NODE_SIZE), np.int64),
        }
        return buffer | self.shape_table(2 * runs) | self.shape_registers(2 * runs)

    @property
    def pruning(self) -> PruningInput | None:
        """Return the input of `compact` that depends on the search.

        None if a node is dropped unless a live run or the best match leads to it.
        """
        return PruningInput(self.arrays.rows.window_end, self.search_counters)

    def prune(self) -> None:
        """Drop the nodes to which no run leads. It is called between two rows."""
        last_row = int(self.progress.start) - 1
        runs = self.working_arrays["runs"]
        nodes = self.working_arrays["nodes"]
        new_numbers = self.allocate_array(np.empty, nodes.shape[:1], nodes.dtype.type)
        compact(last_row, self.pruning, runs, nodes, new_numbers, self.progress)

    def grow(self, status: int) -> None:
        """Make the arrays that are full twice as large, or prune the nodes if that is enough."""
        if status == layout.NODES_FULL and self.prune_if_enough():
            return
        super().grow(status)

    def prune_if_enough(self) -> bool:
        """Prune the nodes if that may make room; return whether the buffer need not grow.

        A small buffer grows at once, so that few searches have to compile `compact`. So does a
        buffer that is not half full, because then a single row needs more nodes than are left.
        After pruning, at most a quarter may be in use, so that the buffer is not pruned too often.
        """
        size = self.sizes[layout.NODES_FULL]
        if not MIN_PRUNED_NODES <= size < 2 * self.progress.node_count:
            return False
        self.prune()
        return bool(4 * self.progress.node_count <= size)
