"""The base class of searches that follow all runs at once: its arrays, and how they grow."""

from __future__ import annotations

import numpy as np

from matchrec.search.kernel_search import KernelSearch, Shapes, W
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import PruningInput, compact

# The number of banks of runs: the runs before a row and the runs after it.
BANK_COUNT = 2

# A buffer of fewer nodes grows instead of being pruned: see `BufferSearch.prune_if_enough`.
MIN_PRUNED_NODES = 1 << 13


class BufferSearch(KernelSearch[W]):
    """A search that follows all runs at once.

    The runs share a buffer of mapped rows, and equal runs merge.
    """

    progress: layout.BufferState

    @property
    def shapes(self) -> Shapes:
        """Return the shapes of the runs, of the nodes, of the hash table and of the registers.

        Nodes are the elements of the buffer. The table holds the computation states of the runs of
        one bank.
        """
        run_count = self.sizes[layout.RUNS_FULL]
        node_count = self.sizes[layout.NODES_FULL]
        runs_and_nodes: Shapes = {
            "runs": ((BANK_COUNT, run_count, layout.RUN_SIZE), np.int64),
            "nodes": ((node_count, layout.NODE_SIZE), np.int64),
        }
        table = self.shape_table(2 * run_count)  # at most half of the entries are used
        registers = self.shape_registers(BANK_COUNT * run_count)
        return runs_and_nodes | table | registers

    @property
    def pruning(self) -> PruningInput | None:
        """Return the additional input with which `compact` prunes nodes whose windows have ended.

        `MergingSearch` overrides this with None, because it needs no such pruning.
        """
        return PruningInput(self.arrays.rows.window_end, self.search_counters)

    def prune(self) -> None:
        """Drop the nodes that no run and no kept match needs.

        The search must be between two rows.
        """
        last_row = int(self.progress.start) - 1  # `progress.start` is the next row
        runs = self.working_arrays["runs"]
        nodes = self.working_arrays["nodes"]
        new_numbers = self.allocate_array(np.empty, nodes.shape[:1], nodes.dtype.type)
        compact(last_row, self.pruning, runs, nodes, new_numbers, self.progress)

    def grow_arrays(self, status: int) -> None:
        """Make the arrays that are full at least twice as large.

        If the nodes are full and pruning them makes enough room, no array grows.

        Args:
            status: the status of the kernel, which says which arrays are full: a key of `sizes`.
        """
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
