"""The order of matches, which of them are equal, and which a skip strategy leaves.

A skip strategy goes over the matches of a partition in the order of their first rows.
A match is kept if it does not begin before the start bound, the next start of the matches kept
before it; then it moves the bound to its own next start. It is released when no run is live that
began before it. That matters to runs whose window ends meanwhile: they are kept if they do not
begin before the bound of that time.

So where no run comes out because its window has ended, what is kept can be found from one starting
row after the other: no match that begins before the next start of one that is kept matters.

Source: Flink CEP, "After Match Skip Strategy".
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import FoundArrays, Hook, Progress, Rules, Work
from matchrec.search.kernels.starts import NO_ROW, next_start
from matchrec.search.partitions import BoolArray, IntArray


class MappedRows(NamedTuple):
    """Mapped rows as in `matches.Matches`. mapped: the variable of each, in a search the choice."""

    offsets: IntArray
    rows: IntArray
    mapped: npt.NDArray[np.signedinteger[Any]]


@kernel
def mark_equal(groups: IntArray, order: IntArray, again: BoolArray, matches: MappedRows) -> bool:
    """Mark in `again` each match that equals the one before it; false where one is out of order.

    Group g has the matches order[groups[g]] .. order[groups[g + 1]] - 1.
    """
    for group in range(groups.shape[0] - 1):
        for place in range(groups[group] + 1, groups[group + 1]):
            found = compare(order[place - 1], order[place], matches, None)
            if found > 0:
                return False
            again[place] = found == 0
    return True


@kernel
def settle_ties(groups: IntArray, order: IntArray, spare: IntArray, matches: MappedRows) -> None:
    """Sort the matches of each group by row positions, then by variables. spare: like `order`."""
    for group in range(groups.shape[0] - 1):
        begin, end = groups[group], groups[group + 1]
        width = 1
        while width < end - begin:
            for left in range(begin, end, 2 * width):
                middle, right = min(left + width, end), min(left + 2 * width, end)
                one, other = left, middle
                for place in range(left, right):
                    if other == right or (
                        one < middle and compare(order[one], order[other], matches, None) <= 0
                    ):
                        spare[place] = order[one]
                        one += 1
                    else:
                        spare[place] = order[other]
                        other += 1
            for place in range(begin, end):
                order[place] = spare[place]
            width *= 2


@spliced
def compare(left: int, right: int, matches: MappedRows, program: Hook) -> int:
    """Negative, zero or positive, by row positions, then by variables. program: where matches have
    choices, what says of which variables these are.
    """
    offsets, rows, mapped = matches.offsets, matches.rows, matches.mapped
    first, second = offsets[left], offsets[right]
    length, other_length = offsets[left + 1] - first, offsets[right + 1] - second
    shared = min(length, other_length)
    for index in range(shared):
        if rows[first + index] != rows[second + index]:
            return int(rows[first + index] - rows[second + index])
    if length != other_length:
        return int(length - other_length)
    for index in range(shared):
        variable, other_variable = int(mapped[first + index]), int(mapped[second + index])
        if program is not None:
            variable = int(program[variable, layout.VARIABLE])
            other_variable = int(program[other_variable, layout.VARIABLE])
        if variable != other_variable:
            return variable - other_variable
    return 0


class Ranked(NamedTuple):
    """Matches by partition, by first row, then in the order of completion.

    lower: the first row of the first partition. target: int64[m], the next start, or NO_ROW.
    """

    lower: int
    start: IntArray
    completed: IntArray
    target: IntArray


class SearchPosition(NamedTuple):
    """Where a search has stopped. All rows are positions.

    stop: the row that comes next. first_rows: int64[r], with which live runs begin; a search of one
    starting row after the other has none. last_live: int64[n or 0], for each row the last at which
    a run was live that began there, since the search went on, if it matters when matches are
    released. start_bounds: int64[b, 2], at which rows bounds were set, and the bounds; those of a
    partition mean nothing to the next. starts: of the partitions.
    """

    stop: int
    first_rows: IntArray
    last_live: IntArray
    start_bounds: IntArray
    starts: IntArray


# What becomes of a match; nothing where it is left out.
KEPT = 1
HELD = 2


@kernel
def mark_kept(
    ranked: Ranked, at: SearchPosition, fails_on_miss: bool, outcome: IntArray, bounds: IntArray
) -> int:
    """Note which matches are kept and which are held; the first one that misses its target, or -1.

    at: with sorted first rows.

    bounds: int64[m + 1, 2], the row at which a match is released, and the start bound from then on;
    the first are those from before. Those of one partition are no bounds in the next one.
    """
    start, target = ranked.start, ranked.target
    first_rows, last_live = at.first_rows, at.last_live
    former, earliest = ranked.lower, np.int64(0)
    for match in range(start.shape[0]):
        first, time, bound = start[match], bounds[match, 0], bounds[match, 1]
        while earliest < first_rows.shape[0] and first_rows[earliest] < bound:
            earliest += 1
        limit = first_rows[earliest] if earliest < first_rows.shape[0] else at.stop
        if first >= bound and first > limit:
            outcome[match] = HELD
        elif first >= bound:
            if fails_on_miss and (target[match] == NO_ROW or target[match] == first):
                return match
            outcome[match] = KEPT
            time = max(time, ranked.completed[match])
            if last_live.shape[0] > 0:
                for row in range(max(former, bound), first):
                    time = max(time, last_live[row])
            former = first
            bound = max(bound, target[match])
        bounds[match + 1, 0] = time
        bounds[match + 1, 1] = bound
    return -1


@spliced
def next_row_alone(end: int, matches: int, rules: Rules, work: Work) -> None:
    """Set the row that comes next, the runs of one starting row being followed alone.

    That is the next start of its first match that has one behind the starting row, as no run of its
    is needed after that. Without such a match it is the row after the starting row, as soon as no
    run is left. Where runs have looked at rows too often, all are followed at once from there on:
    those of several starting rows may merge.

    matches: how many there were before the last row. end: of the rows.
    """
    progress, start = work.progress, work.progress.alone_from
    onward = first_next_start(matches, rules.skip, rules.program, progress, work.output)
    if onward <= start:
        if progress.count > 0 and progress.start < end:
            return
        onward = start + 1
        if work.counters[layout.READS] > progress.alone:
            progress.alone = 0
    progress.count = 0
    progress.start = onward


@inner
def first_next_start(
    matches: int, skip: layout.SkipRule, program: IntArray, progress: Progress, output: FoundArrays
) -> int:
    """The next start of the first of some matches that has one behind its own; NO_ROW if none has.

    They are those from number `matches` on, which begin together and are complete together.
    """
    is_target, choices, rows = program[:, layout.IS_TARGET], output.taken, output.rows
    found = MappedRows(output.found[layout.FOUND_OFFSET], rows, choices)
    onward, first, differ = np.int64(NO_ROW), -1, False
    for last in range(2):
        if last == 1 and not differ:
            break
        for match in range(matches, progress.matches):
            begin, end = found.offsets[match], found.offsets[match + 1]
            own = rows[begin:end]
            row = np.int64(next_start(skip, is_target, choices[begin:end], own[0], own))
            if row <= own[0]:
                continue
            differ |= first >= 0 and row != onward
            if first < 0 or (last == 1 and compare(match, first, found, program) < 0):
                onward, first = row, match
    return int(onward)
