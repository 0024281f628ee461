"""What both engines share where rows may be skipped or all matches are asked for.

Matches are handed on in the order in which they are complete: by partition, last row, first row,
then row positions, then variables; equal ones once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from matchrec.engine.compiled import CompiledTask, columns_of, compile_task, plain, satisfied_of
from matchrec.engine.interface import Absent, Condition, Task
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray, RunArray
from matchrec.engine.kernels.selection import layout as own
from matchrec.engine.kernels.selection.order import repeated, settle_ties
from matchrec.engine.match import Matches
from matchrec.engine.partitions import BoolArray, IntArray, Partitions
from matchrec.engine.search import failure_of
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
}


@dataclass(frozen=True, slots=True)
class Given:
    """A task over some partitions, as its kernels read them: see `kernels.selection.layout`."""

    compiled: CompiledTask
    selection: int
    output: int
    starts: IntArray
    satisfied: IntArray
    window_end: RunArray
    absent: IntArray
    members: BoolArray
    following: IntArray
    closing: IntArray
    columns: RunArray
    valid: RunArray


def given(task: Task, partitions: Partitions) -> Given:
    """The arrays of a task and its partitions."""
    compiled = compile_task(task, len(partitions.integers))
    satisfied = satisfied_of(partitions)
    columns, valid = columns_of(partitions) if compiled.linked else (None, None)
    window_end = partitions.window_end
    return Given(
        compiled,
        SELECTIONS[task.selection],
        OUTPUTS[task.output],
        plain(partitions.starts, np.int64),
        satisfied,
        None if window_end is None else plain(window_end, np.int64),
        np.array([absent_row(one, task, compiled) for one in task.absent], np.int64).reshape(
            -1, own.ABSENT_SIZE
        ),
        membership(task),
        following_rows(task, satisfied),
        closing_row(task, compiled),
        columns,
        valid,
    )


def absent_row(absent: Absent, task: Task, compiled: CompiledTask) -> list[int]:
    """One row of `absent`."""
    kind = own.IN_THE_MIDDLE
    if absent.after is None:
        kind = own.AT_THE_BEGINNING
    elif absent.before is None:
        kind = own.AT_THE_END
    return [kind, *condition_row(absent.variable, task, compiled)]


def closing_row(task: Task, compiled: CompiledTask) -> IntArray:
    """The condition of the match as a whole, or no row."""
    rows = [] if task.closing is None else [condition_row(task.closing, task, compiled)]
    return np.array(rows, np.int64).reshape(-1, own.CLOSING_SIZE)


def condition_row(variable: int, task: Task, compiled: CompiledTask) -> list[int]:
    """Word and mask of a variable's row condition, then where its code is."""
    word, mask = word_and_mask(task.conditions[variable])
    code = compiled.linked.code[variable] if compiled.linked else (0, 0)
    return [word, mask, *code]


def word_and_mask(condition: Condition) -> tuple[int, int]:
    """Where the bit of a row condition is; mask 0 where there is none."""
    if condition.row_condition is None:
        return 0, 0
    bit = np.uint64(1 << condition.row_condition % 64)
    return condition.row_condition // 64, int(bit.astype(np.int64))


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


@dataclass(slots=True)
class Output:
    """What a kernel writes matches to."""

    found: IntArray
    taken: ChoiceArray
    taken_rows: IntArray

    @classmethod
    def of(cls, matches: int, rows: int) -> Output:
        found = np.empty((4, matches + 1), np.int64)
        found[layout.FOUND_OFFSET, 0] = 0
        return cls(found, np.empty(rows, np.int32), np.empty(rows, np.int64))

    def larger(self, progress: IntArray) -> Output:
        """At least twice the room, with the matches so far."""
        matches, mapped = progress[[layout.MATCHES, layout.MAPPED]]
        rows = max(2 * len(self.taken), int(progress[layout.NEEDED]))
        grown = Output.of(2 * self.found.shape[1], rows)
        grown.found[:, : matches + 1] = self.found[:, : matches + 1]
        grown.taken[:mapped] = self.taken[:mapped]
        grown.taken_rows[:mapped] = self.taken_rows[:mapped]
        return grown

    def matches(self, progress: IntArray, compiled: CompiledTask) -> Matches:
        """What has been found, in the order in which it was found; numbers are still to be given."""
        count, mapped = progress[[layout.MATCHES, layout.MAPPED]]
        choices = self.taken[:mapped]
        return Matches(
            partition=self.found[layout.FOUND_PARTITION, :count],
            number=np.zeros(count, np.int64),
            start=self.found[layout.FOUND_START, :count],
            offsets=self.found[layout.FOUND_OFFSET, : count + 1],
            classifiers=compiled.tables.variable[choices],
            excluded=compiled.tables.excluded[choices],
            rows=self.taken_rows[:mapped],
        )


class Numbering:
    """Counts the matches of a partition over several chunks."""

    def __init__(self) -> None:
        self.partition = -1
        self.last = 0

    def numbered(self, matches: Matches) -> Matches:
        """The matches with their numbers; they come in order of partition."""
        if not matches.count:
            return matches
        first = np.searchsorted(matches.partition, matches.partition, side="left")
        number = np.arange(matches.count) - first + 1
        number[matches.partition == self.partition] += self.last
        self.partition, self.last = int(matches.partition[-1]), int(number[-1])
        return replace(matches, number=number)


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


def new_progress(partitions: Partitions) -> IntArray:
    """The progress of a search that has not begun."""
    progress = np.zeros(own.PROGRESS_SIZE, np.int64)
    progress[[layout.START, layout.MEMO_FROM, layout.MEMO_TO]] = partitions.starts[0]
    progress[layout.BEST_START] = -1
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


def raise_failure(status: int, progress: IntArray, compiled: CompiledTask, task: Task) -> None:
    """Raises RunFailure for a status that is one."""
    failure = failure_of(status, progress, compiled.tables, task)
    if failure is not None:
        raise failure


def chunks(found: Iterator[Matches], output: MatchOutput) -> Iterator[Matches]:
    """Numbered chunks of matches, each in order."""
    numbering = Numbering()
    for matches in found:
        ordered = matches if output is MatchOutput.PREFERRED else in_order(matches)
        yield numbering.numbered(ordered)
