"""The input and the output of both algorithms of event selection.

Matches are handed on in the order in which they are complete: by partition, last row, first row,
then row positions, then variables; equal ones once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from matchrec.dataclass import dataclass
from matchrec.engine.compiled import (
    CompiledTask,
    columns_of,
    compile_task,
    plain,
    satisfied_of,
)
from matchrec.engine.interface import Task
from matchrec.engine.kernels import layout
from matchrec.engine.matches import Matches
from matchrec.engine.partitions import IntArray, Partitions
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.matches import look_up
from matchrec.engine.selection.negation import negation_of
from matchrec.evaluate.mathematics.functions import mathematics_of
from matchrec.evaluate.values import Source
from matchrec.jit.callbacks import NO_CALLBACK
from matchrec.nfa.closure import GUARD_END
from matchrec.nfa.outcomes import A_MATCH, FIRST_NEAR, TIMED_OUT
from matchrec.nfa.tables import ProgramTables
from matchrec.plan.clauses import MatchOutput

if TYPE_CHECKING:
    from matchrec.evaluate.python_calls import PythonCalls

OUTPUTS = {
    MatchOutput.PREFERRED: own.PREFERRED,
    MatchOutput.ALL: own.ALL,
    MatchOutput.NON_OVERLAPPING: own.NON_OVERLAPPING,
    MatchOutput.GRAPH: own.GRAPH,
}


@dataclass(frozen=True, slots=True)
class SearchInput:
    """A task over some partitions, as the kernels read them. ends: see `Partitions`.

    python: what Python computes for conditions on the run; None without such.
    """

    compiled: CompiledTask
    rules: own.Rules
    rows: own.Rows
    negation: own.Negation | None
    ends: IntArray | None
    python: PythonCalls | None

    def show_to_python(self, work: Callable[[], own.Work]) -> None:
        """Let what Python computes see the runs and the match of a search. work: as it is now."""
        if self.python is not None:
            self.python.registers = lambda: work().registers
            self.python.match_number = lambda: int(work().progress[layout.NUMBER]) + 1


def prepare_input(task: Task, partitions: Partitions, *, merge_runs: bool = False) -> SearchInput:
    """The arrays of a task and its partitions."""
    compiled = compile_task(task, len(partitions.integers))
    merges = merge_runs and task.optimisations.merge_runs
    rules = rules_of(compiled, task.output, task.stages is not None, merges)
    rows = rows_of(task, partitions)
    negation = negation_of(task, compiled, rows.satisfied)
    if compiled.linked is None:
        return SearchInput(compiled, rules, rows, negation, partitions.ends, None)
    from matchrec.evaluate.python_calls import PythonCalls  # loads all functions

    source = Source(rows.columns, rows.valid, partitions.ranked)
    python = PythonCalls(compiled.linked, source, lambda: None)  # many runs live at once
    rows = rows._replace(mathematics=mathematics_of(compiled.linked), python=python.pointer)
    return SearchInput(compiled, rules, rows, negation, partitions.ends, python)


@lru_cache(maxsize=1024)  # a stream asks key after key
def rules_of(
    compiled: CompiledTask, output: MatchOutput, has_stages: bool, merge_runs: bool
) -> own.Rules:
    """The query as its kernels read it; of a known one, the same again."""
    linked, tables = compiled.linked, compiled.tables
    states = len(tables.first) - 1
    flushes = bool(compiled.ends.any())
    return own.Rules(
        first=tables.first,
        program=compiled.program,
        output=OUTPUTS[output],
        skip=compiled.skip,
        merge_runs=merge_runs and not flushes,
        starts=compiled.folding.starts,
        tests_before_mapping=has_stages,
        accepts=accepting_guards(compiled),
        goes_on=is_waited_in(tables, states),
        waits=compiled.waits,
        ends=compiled.ends,
        flushes=flushes,
        forgets=compiled.counts_matches,
        instructions=linked.instructions if linked else np.empty((0, 5), np.int64),
        live_first=linked.live_first if linked else np.zeros(states + 1, np.int64),
        live=linked.live_registers if linked else np.empty(0, np.int64),
    )


def rows_of(task: Task, partitions: Partitions) -> own.Rows:
    """The partitions as the kernels read them."""
    satisfied = satisfied_of(partitions)
    starts = plain(partitions.starts, np.int64)
    columns, valid = columns_of(partitions)
    window_end = partitions.window_end
    partition_end = np.repeat(starts[1:], np.diff(starts))
    window_end = partition_end if window_end is None else plain(window_end, np.int64)
    return own.Rows(
        starts,
        satisfied,
        window_end,
        window_end if task.optimisations.push_window else partition_end,
        columns,
        valid,
        NO_CALLBACK,
        NO_CALLBACK,
    )


def is_waited_in(tables: ProgramTables, states: int) -> IntArray:
    """int64[s], whether a run in a state looks at further rows: all but those that only accept."""
    looking = tables.source[tables.target != layout.ACCEPT]
    return np.isin(np.arange(states), looking).astype(np.int64)


def initial_work(task: Task, arrays: SearchInput, memory: int) -> own.Work:
    """What a search works in, each part as small as it can be."""
    linked = arrays.compiled.linked
    registers = np.empty((1, len(linked.initial) if linked else 0), np.int64)
    rows = arrays.rows.starts[-1] if needs_release_times(task) else 0
    return own.Work(
        progress=new_progress(arrays.rows.starts),
        counters=np.zeros(own.COUNTERS, np.int64),
        registers=registers,
        stack=arrays.python.stack if arrays.python else np.zeros((2, 1), np.int64),
        path=np.empty((own.PATH_SIZE, memory), np.int64),
        memo=np.zeros((1, 0), np.uint8),
        runs=np.empty((2, 1, layout.RUN_SIZE), np.int64),
        table=np.zeros((1, 2), np.int64),
        nodes=np.empty((1, own.NODE_SIZE), np.int64),
        moved=np.empty(1, np.int64),
        ways=np.empty((memory, 2), np.int64),
        last_live=np.full(rows, -1, np.int64),
    )


def needs_release_times(task: Task) -> bool:
    """Whether it matters when a match is released: runs that time out before it come out too."""
    return task.stages is not None and task.stages.timeouts and task.stages.skip is not None


def new_output(matches: int, rows: int) -> own.Found:
    """Room for so many matches and mapped rows."""
    found = np.empty((own.FOUND_SIZE, matches + 1), np.int64)
    found[layout.FOUND_OFFSET, 0] = 0
    return own.Found(found, np.empty(rows, np.int32), np.empty(rows, np.int64))


def larger_output(output: own.Found, progress: IntArray) -> own.Found:
    """At least twice the room, with the matches so far."""
    matches, mapped = progress[[layout.MATCHES, layout.MAPPED]]
    rows = max(2 * len(output.rows), int(progress[layout.NEEDED]))
    grown = new_output(2 * output.found.shape[1], rows)
    grown.found[:, : matches + 1] = output.found[:, : matches + 1]
    grown.taken[:mapped] = output.taken[:mapped]
    grown.rows[:mapped] = output.rows[:mapped]
    return grown


def renewed_output(output: own.Found, matches: int, rows: int) -> own.Found:
    """Room for so many more, after the matches so far have been looked up."""
    renewed = new_output(matches, rows)
    is_enough = len(output.taken) >= rows
    return renewed._replace(taken=output.taken) if is_enough else renewed


def matches_of(output: own.Found, progress: IntArray, arrays: SearchInput) -> Matches:
    """The matches in the order in which they were found, without numbers."""
    compiled = arrays.compiled
    count, mapped = progress[[layout.MATCHES, layout.MAPPED]]
    choices = output.taken[:mapped]
    classifiers, excluded = np.empty(mapped, np.int16), np.zeros(mapped, np.bool_)
    look_up(choices, compiled.tables.variable, classifiers)
    if compiled.tables.excluded.any():
        look_up(choices, compiled.tables.excluded, excluded)
    found = Matches(
        partition=output.found[layout.FOUND_PARTITION, :count],
        number=np.zeros(count, np.int64),
        start=output.found[layout.FOUND_START, :count],
        offsets=output.found[layout.FOUND_OFFSET, : count + 1],
        classifiers=classifiers,
        excluded=excluded,
        rows=output.rows[:mapped],
        completed=output.found[own.FOUND_COMPLETED, :count],
        kind=output.found[own.FOUND_KIND, :count],
    )
    return found if arrays.ends is None else by_first_end(found, arrays.ends)


def by_first_end(matches: Matches, ends: IntArray) -> Matches:
    """The same, each run that timed out by the first window of those that end at that time.

    So that a run which waited in several places is the same where it timed out at the same time.
    """
    assert matches.kind is not None
    assert matches.rows is not None
    timed_out = np.flatnonzero(matches.kind >= FIRST_NEAR)
    last = matches.rows[matches.offsets[timed_out + 1] - 1]
    near = ends[1:, last]
    time = near[matches.kind[timed_out] - FIRST_NEAR, np.arange(len(timed_out))]
    kind = matches.kind.copy()
    whole = ends[0, matches.start[timed_out]] <= time
    kind[timed_out] = np.where(whole, TIMED_OUT, FIRST_NEAR + (near == time).argmax(axis=0))
    return replace(matches, kind=kind)


def new_progress(starts: IntArray) -> IntArray:
    """The progress of a search that has not begun."""
    progress = np.zeros(own.PROGRESS_SIZE, np.int64)
    progress[[layout.START, layout.MEMO_FROM, layout.MEMO_TO]] = starts[0]
    progress[[layout.BEST_START, own.WINDOW, own.STOP]] = -1
    progress[own.MATCH_KIND] = A_MATCH
    return progress


def accepting_guards(compiled: CompiledTask) -> IntArray:
    """int64[s]: the weakest guard under which a run that arrives in a state accepts, or -1."""
    guards = np.full(len(compiled.tables.first) - 1, -1, np.int64)
    accepting = compiled.tables.target == layout.ACCEPT
    for state, guard in zip(
        compiled.tables.source[accepting], compiled.tables.guard[accepting], strict=True
    ):
        if guard in (0, GUARD_END):
            guards[state] = guard if guards[state] < 0 else min(guards[state], guard)
    return guards


def add_counters(counters: IntArray | None, work: own.Work) -> None:
    """Add what a search has counted to `counters`, if anyone asks; of live runs keep the most."""
    if counters is not None:
        most = max(counters[own.MOST_LIVE], work.counters[own.MOST_LIVE])
        counters += work.counters
        counters[own.MOST_LIVE] = most
