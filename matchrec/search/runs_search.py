"""`RunsSearch`, the search of all runs at once for all matches, by the kernel `all_matches`.

A search can be stopped after some rows: its live runs are copied, and another search goes on with
the copy when more rows have arrived (`incremental`).

The arrays of the kernel have room for two *banks* of runs: the runs before a row and the runs after
it. The banks swap roles at each row. `runs` has a half for each bank. In `registers`, row 0 has the
registers before the first row, and then runs of both banks alternate: see `mapping.find_slot`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.jit.cached_function import CachedFunction
from matchrec.search.buffer_search import BANK_COUNT, BufferSearch
from matchrec.search.graph import number_versions
from matchrec.search.kernel_input import SearchInput
from matchrec.search.kernel_search import Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import AllMatchesProgress, AllMatchesWork, search
from matchrec.search.live_runs import LiveRuns
from matchrec.search.matches import Matches, Pointers, make_one_row_matches
from matchrec.search.partitions import IntArray
from matchrec.search.progress import make_last_live
from matchrec.search.task import Capacity, Task

# A restored search has room for this many times the runs, or nodes, with which it is restored.
ROOM_FOR_RUNS = 2
ROOM_FOR_NODES = 4


class RunsSearch(BufferSearch[AllMatchesWork]):
    """A search of all runs at once, for all matches.

    In addition to the arrays of `BufferSearch`, it has the path of the match that is written out.
    """

    kernel: CachedFunction[..., int] = search
    progress: AllMatchesProgress
    progress_class = AllMatchesProgress

    def __init__(
        self, task: Task, arrays: SearchInput, capacity: Capacity, counters: IntArray | None = None
    ) -> None:
        self.last_live_rows = make_last_live(task, arrays)
        super().__init__(task, arrays, capacity, counters)
        # If runs that are live at the end of the partition are output, the search takes one more
        # step, at the row after the last one.
        start_limits = arrays.rows.starts[1:] + arrays.compiled_task.outputs_ended_runs
        arrays.rows.frontier.start_limit[:] = start_limits

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `BufferSearch`, the path, and the joins still to be unwound."""
        length = self.sizes[layout.PATH_FULL]
        arrays: Shapes = {
            "path": ((layout.PATH_SIZE, length), np.int64),
            "pending_sides": ((length, 2), np.int64),
        }
        return super().shapes | arrays

    def make_work(self) -> AllMatchesWork:
        """Return what the kernel works in."""
        return AllMatchesWork(
            progress=self.progress,
            output=self.output,
            runs=self.working_arrays["runs"],
            nodes=self.working_arrays["nodes"],
            table=self.working_arrays["table"],
            path=self.working_arrays["path"],
            pending_sides=self.working_arrays["pending_sides"],
            counters=self.search_counters,
            last_live_rows=self.last_live_rows,
        )

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        rules = self.rules
        selection_rules = self.selection_rules
        rows = self.arrays.rows
        return rules, selection_rules, rows, self.work, self.conditions, self.arrays.negation

    @property
    def follows_starts_alone(self) -> bool:
        """Return whether the search follows the runs of one starting row alone at the moment."""
        return self.progress.solo_read_limit != 0

    def follow_starts_alone(self, reads_per_row: int) -> None:
        """Let the search follow the runs of each starting row alone at first.

        Args:
            reads_per_row: how often the runs can read each row on average, until the search follows
                all runs at once.
        """
        self.progress.solo_read_limit = reads_per_row * int(self.arrays.rows.starts[-1])

    def copy_live_runs(self) -> LiveRuns:
        """Return a copy of the live runs, and of the nodes in the buffer."""
        bank = int(self.progress.bank)
        count = int(self.progress.run_count)
        return LiveRuns(
            runs=self.working_arrays["runs"][bank, :count].copy(),
            registers=self.find_registers(bank)[:count].copy(),
            nodes=self.working_arrays["nodes"][: self.progress.node_count].copy(),
        )

    def find_registers(self, bank: int) -> IntArray:
        """Return the registers of the runs of a bank: int64[k, registers], a view."""
        # Row 0 has the registers before the first row. Then runs of both banks alternate.
        registers: IntArray = self.working_arrays["registers"][1 + bank :: BANK_COUNT]
        return registers

    def restore(self, live_runs: LiveRuns) -> None:
        """Put live runs and their nodes into the arrays, so that the search goes on with them."""
        # There is more room than the runs take, so that the arrays need not grow at the next row.
        min_sizes = {
            layout.RUNS_FULL: ROOM_FOR_RUNS * len(live_runs.runs),
            layout.NODES_FULL: ROOM_FOR_NODES * len(live_runs.nodes),
        }
        for status, min_size in min_sizes.items():
            while self.sizes[status] < min_size:
                self.sizes[status] *= 2
        self.allocate_arrays()
        bank = self.progress.bank
        count = len(live_runs.runs)
        self.working_arrays["runs"][bank, :count] = live_runs.runs
        self.find_registers(bank)[:count] = live_runs.registers
        self.working_arrays["nodes"][: len(live_runs.nodes)] = live_runs.nodes
        self.progress.run_count = count
        self.progress.node_count = len(live_runs.nodes)

    def run_to_end(self) -> None:
        """Run a search that writes no match out. Its results are in its arrays: nodes or totals.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.begin_output(match_count=0, row_count=0)
        status = self.call_until_output_full()
        self.check_status(status)
        assert status == layout.DONE, "no match is written out, so the output is never full"
        self.add_counters()

    def find_graph(self) -> Iterator[Matches]:
        """Yield the pointers of the graph of all matches, each as a match of one row: see `graph`.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.run_to_end()
        self.prune()
        nodes = self.working_arrays["nodes"][: self.progress.node_count]
        row = nodes[:, layout.NODE_ROW].copy()
        choice = nodes[:, layout.NODE_CHOICE].copy()
        before = nodes[:, layout.NODE_BEFORE].copy()
        completes = nodes[:, layout.NODE_OTHER] == layout.COMPLETES
        partition = np.searchsorted(self.arrays.rows.starts, row, side="right") - 1
        program = self.rules.program
        variable = program[choice, layout.VARIABLE].astype(np.int16)
        looping_variables = program[program[:, layout.REPEATS_LOOP] != 0, layout.VARIABLE]
        is_loop = np.isin(np.arange(len(self.task.variables)), looping_variables)
        # In this graph, each variable is a state.
        state = variable.astype(np.int64)
        versions = number_versions(partition, row, state, before, is_loop)
        pointers = Pointers(before, completes, *versions)
        yield replace(make_one_row_matches(partition, row, variable), pointers=pointers)
