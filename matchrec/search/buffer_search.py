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
        run_count = self.sizes[layout.RUNS_FULL]
        node_count = self.sizes[layout.NODES_FULL]
        buffer: Shapes = {
            "runs": ((2, run_count, layout.RUN_SIZE), np.int64),
            "nodes": ((node_count, layout.NODE_SIZE), np.int64),
        }
        return buffer | self.shape_table(2 * run_count) | self.shape_registers(2 * run_count)

    @property
    def pruning(self) -> PruningInput | None:
        """Return the additional input of `compact` for a search for all matches.

        None in a search for one match of each start: only nodes to which a live run or the best
        match leads are kept.
        """
        return PruningInput(self.arrays.rows.window_end, self.search_counters)

    def prune(self) -> None:
        """Drop the nodes to which no run leads. The search must be between two rows."""
        last_row = int(self.progress.start) - 1
        runs = self.working_arrays["runs"]
        nodes = self.working_arrays["nodes"]
        new_numbers = self.allocate_array(np.empty, nodes.shape[:1], nodes.dtype.type)
        compact(last_row, self.pruning, runs, nodes, new_numbers, self.progress)

    def grow_arrays(self, status: int) -> None:
        """Make the arrays that are full twice as large, or prune the nodes if that is enough."""
        if status == layout.NODES_FULL and self.prune_if_enough():
            return
        super().grow_arrays(status)

    def prune_if_enough(self) -> bool:
        """Prune the nodes if that can make room; return whether the buffer need not grow.

        A small buffer grows at once, so that few searches have to compile `compact`. A buffer that
        is not half full also grows at once, because a single row needs more nodes than are free.
        If more than a quarter of the nodes is in use after pruning, the buffer grows as well, so
        that it is not pruned too often.
        """
        size = self.sizes[layout.NODES_FULL]
        if not MIN_PRUNED_NODES <= size < 2 * self.progress.node_count:
            return False
        self.prune()
        return bool(4 * self.progress.node_count <= size)
