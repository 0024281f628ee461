"""What both engines share where rows may be skipped or all matches are asked for.

Matches are handed on in the order in which they are complete: by partition, last row, first row,
then row positions, then variables; equal ones once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from matchrec.engine.compiled import (
    CompiledTask,
    columns_of,
    compile_task,
    plain,
    satisfied_of,
    word_and_mask,
)
from matchrec.engine.interface import Absent, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.selection import layout as own
from matchrec.engine.kernels.selection.matches import look_up
from matchrec.engine.kernels.selection.order import repeated, settle_ties
from matchrec.engine.match import Matches, Numbering
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.nfa.closure import GUARD_END
from matchrec.plan.clauses import EventSelection, MatchOutput

SELECTIONS = {
    EventSelection.STRICT_CONTIGUITY: own.STRICT,
    EventSelection.SKIP_TILL_NEXT_MATCH: own.TILL_NEXT,
    EventSelection.SKIP_TILL_ANY_MATCH: own.TILL_ANY,
}
OUTPUTS = {
    MatchOutput.PREFERRED: own.PREFERRED,
    MatchOutput.ALL: own.ALL,
    MatchOutput.NON_OVERLAPPING: own.NON_OVERLAPPING,
    MatchOutput.GRAPH: own.GRAPH,
}


@dataclass(frozen=True, slots=True)
class Given:
    """A task over some partitions, as its kernels read them."""

    compiled: CompiledTask
    rules: own.Rules
    rows: own.Rows


def given(task: Task, partitions: Partitions, *, merge_runs: bool = False) -> Given:
    """The arrays of a task and its partitions."""
    compiled = compile_task(task, len(partitions.integers))
    linked, tables = compiled.linked, compiled.tables
    satisfied = satisfied_of(partitions)
    starts = plain(partitions.starts, np.int64)
    states = len(tables.first) - 1
    absent = [absent_row(one, compiled) for one in task.absent]
    rules = own.Rules(
        first=tables.first,
        program=compiled.program,
        selection=SELECTIONS[task.selection],
        output=OUTPUTS[task.output],
        skip_to=compiled.skip_to,
        merge_runs=merge_runs and task.optimisations.merge_runs,
        accepts=accepting_guards(compiled),
        goes_on=np.isin(np.arange(states), tables.source[tables.target >= 0]).astype(np.int64),
        absent=np.array(absent, np.int64).reshape(-1, own.ABSENT_SIZE),
        members=membership(task),
        closing=closing_row(task, compiled),
        instructions=linked.instructions if linked else np.empty((0, 5), np.int64),
        live_first=linked.live_first if linked else np.zeros(states + 1, np.int64),
        live=linked.live_registers if linked else np.empty(0, np.int64),
    )
    columns, valid = columns_of(partitions)
    window_end = partitions.window_end
    partition_end = np.repeat(starts[1:], np.diff(starts))
    window_end = partition_end if window_end is None else plain(window_end, np.int64)
    rows = own.Rows(
        starts,
        satisfied,
        window_end,
        window_end if task.optimisations.push_window else partition_end,
        following_rows(task, satisfied),
        columns,
        valid,
    )
    return Given(compiled, rules, rows)


def first_work(given: Given, memory: int) -> own.Work:
    """What a search works in, each part as small as it can be."""
    linked = given.compiled.linked
    registers = np.empty((1, len(linked.initial) if linked else 0), np.int64)
    return own.Work(
        progress=new_progress(given.rows.starts),
        counters=np.zeros((2, own.COUNTERS), np.int64),
        registers=registers,
        stack=np.zeros((2, linked.depth if linked else 1), np.int64),
        path=np.empty((own.PATH_SIZE, memory), np.int64),
        memo=np.zeros((1, 0), np.uint8),
        runs=np.empty((2, 1, layout.RUN_SIZE), np.int64),
        table=np.zeros((1, 2), np.int64),
        nodes=np.empty((1, own.NODE_SIZE), np.int64),
        moved=np.empty(1, np.int64),
        ways=np.empty((memory, 2), np.int64),
    )


def absent_row(absent: Absent, compiled: CompiledTask) -> list[int]:
    """One row of `absent`."""
    kind = own.IN_THE_MIDDLE
    if absent.after is None:
        kind = own.AT_THE_BEGINNING
    elif absent.before is None:
        kind = own.AT_THE_END
    return [kind, *code_of(absent.variable, compiled)]


def closing_row(task: Task, compiled: CompiledTask) -> IntArray:
    """The condition of the match as a whole, or no row."""
    rows = []
    if task.closing is not None:
        row_condition = word_and_mask(task.conditions[task.closing])
        rows.append([*row_condition, *code_of(task.closing, compiled)])
    return np.array(rows, np.int64).reshape(-1, own.CLOSING_SIZE)


def code_of(variable: int, compiled: CompiledTask) -> tuple[int, int]:
    """Where the code of a variable's condition is."""
    return compiled.linked.code[variable] if compiled.linked else (0, 0)


def membership(task: Task) -> BoolArray:
    """bool[a, 2, v]: which variables stand in front of an absence, and which behind it."""
    members = np.zeros((len(task.absent), 2, len(task.variables)), np.bool_)
    for place, absent in enumerate(task.absent):
        for side, ids in enumerate((absent.after, absent.before)):
            members[place, side, list(ids or ())] = True
    return members


def following_rows(task: Task, satisfied: IntArray) -> IntArray:
    """int64[a, n + 1]: from each row on the next one that satisfies the row condition, or n."""
    rows = len(satisfied)
    following = np.full((len(task.absent), rows + 1), rows, np.int64)
    for place, absent in enumerate(task.absent):
        word, mask = word_and_mask(task.conditions[absent.variable])
        here = np.where(satisfied[:, word] & mask == mask, np.arange(rows), rows)
        following[place, :rows] = np.minimum.accumulate(here[::-1])[::-1]
    return following


def new_output(matches: int, rows: int) -> own.Found:
    """Room for so many matches and mapped rows."""
    found = np.empty((4, matches + 1), np.int64)
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


def matches_of(output: own.Found, progress: IntArray, compiled: CompiledTask) -> Matches:
    """What has been found, as it was found; numbers are still to be given."""
    count, mapped = progress[[layout.MATCHES, layout.MAPPED]]
    choices = output.taken[:mapped]
    classifiers, excluded = np.empty(mapped, np.int16), np.zeros(mapped, np.bool_)
    look_up(choices, compiled.tables.variable, classifiers)
    if compiled.tables.excluded.any():
        look_up(choices, compiled.tables.excluded, excluded)
    return Matches(
        partition=output.found[layout.FOUND_PARTITION, :count],
        number=np.zeros(count, np.int64),
        start=output.found[layout.FOUND_START, :count],
        offsets=output.found[layout.FOUND_OFFSET, : count + 1],
        classifiers=classifiers,
        excluded=excluded,
        rows=output.rows[:mapped],
    )


def in_order(matches: Matches) -> Matches:
    """The matches by partition, last row, first row, positions and variables; equal ones once."""
    assert matches.rows is not None
    if matches.count < 2:
        return matches
    last = matches.rows[matches.offsets[1:] - 1]
    order = np.lexsort((matches.start, last, matches.partition)).astype(np.int64)
    keys = np.stack([matches.partition, last, matches.start])[:, order]
    new = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    groups = np.concatenate([[0], new, [matches.count]]).astype(np.int64)
    if len(groups) <= matches.count:
        spare = np.empty_like(order)
        settle_ties(groups, order, spare, matches.offsets, matches.rows, matches.classifiers)
        again = np.zeros(matches.count, np.bool_)
        repeated(groups, order, again, matches.offsets, matches.rows, matches.classifiers)
        order = order[~again]
    return picked(matches, order)


def picked(matches: Matches, order: IntArray) -> Matches:
    """Some of the matches in a given order."""
    assert matches.rows is not None
    if len(order) == matches.count and bool(np.all(order[1:] > order[:-1])):
        return matches
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.arange(offsets[-1]) + np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths)
    return Matches(
        matches.partition[order],
        matches.number[order],
        matches.start[order],
        offsets,
        matches.classifiers[places],
        matches.excluded[places],
        matches.rows[places],
    )


def new_progress(starts: IntArray) -> IntArray:
    """The progress of a search that has not begun."""
    progress = np.zeros(own.PROGRESS_SIZE, np.int64)
    progress[[layout.START, layout.MEMO_FROM, layout.MEMO_TO]] = starts[0]
    progress[[layout.BEST_START, own.WINDOW]] = -1
    return progress


def accepting_guards(compiled: CompiledTask) -> IntArray:
    """int64[s]: the weakest guard under which a run that arrives in a state accepts, or -1."""
    guards = np.full(len(compiled.tables.first) - 1, -1, np.int64)
    accepting = compiled.tables.target < 0
    for state, guard in zip(
        compiled.tables.source[accepting], compiled.tables.guard[accepting], strict=True
    ):
        if guard in (0, GUARD_END):
            guards[state] = guard if guards[state] < 0 else min(guards[state], guard)
    return guards


def add_counters(counters: IntArray | None, work: own.Work) -> None:
    """Add what a search has counted to `counters`, if anyone asks; of most alive the maximum."""
    if counters is not None:
        most = max(counters[own.MOST_ALIVE], work.counters[0, own.MOST_ALIVE])
        counters += work.counters[0]
        counters[own.MOST_ALIVE] = most


def chunks(found: Iterator[Matches], output: MatchOutput) -> Iterator[Matches]:
    """Numbered chunks of matches, each in order."""
    numbering = Numbering()
    for matches in found:
        ordered = matches if output is MatchOutput.PREFERRED else in_order(matches)
        yield numbering.numbered(ordered)
