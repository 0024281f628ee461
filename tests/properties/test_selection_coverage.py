"""How far starting rows come where rows may be skipped, against the reference and by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matchrec.engine.contiguous.coverage import Counts, Coverable
from matchrec.engine.contiguous.search import Room
from matchrec.engine.selection.coverage import find_matches
from matchrec.nfa.occurrences import compile_occurrences
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import show
from tests.generators.selection import cases, general, sequences
from tests.properties.test_selection import random_examples
from tests.references.event_selection import SelectionQuery
from tests.references.selection_coverage import Run, cover
from tests.tasks.selection import ANY, NEXT, STRICT, WindowedRows, task

pytestmark = pytest.mark.larger  # its examples are

REASONS = ("FALSE", "NO_ROW", "OUT_OF_WINDOW", "ANCHORED", "FORBIDDEN")
ALL, PREFERRED = MatchOutput.ALL, MatchOutput.PREFERRED
Outcome = tuple[Counter[int], Counter[tuple[int | None, str]], list[int]]


def found_of(asked: SelectionQuery, rows: WindowedRows, room: Room) -> Outcome:
    one = task(asked)
    found = compile_occurrences(one.pattern, asked.pattern, every_way=asked.output is ALL)
    parts = tuple((number,) for number in range(len(one.conditions)))
    choices = found.taken, found.remaining, found.nearer, parts
    coverable = Coverable(replace(one, pattern=found.pattern), len(found.variables), *choices)
    counts = Counts.of(coverable)
    chunks = list(find_matches(coverable, counts, rows.partitions(asked.variables), room))
    ended: Counter[tuple[int | None, str]] = Counter()
    for choice, reason in np.argwhere(counts.ended).tolist():
        place = None if choice == 0 else coverable.taken[choice - 1]
        ended[place, REASONS[reason]] += int(counts.ended[choice, reason])
    came = Counter({i: n for i, n in enumerate(counts.came.tolist()) if n})
    return came, ended, [start for chunk in chunks for start in chunk.start.tolist()]


def expected_of(asked: SelectionQuery, rows: WindowedRows) -> Outcome:
    """Of starting rows without a match only: which of its matches one comes to is a choice."""
    came: Counter[int] = Counter()
    ended: Counter[tuple[int | None, str]] = Counter()
    begun = []
    for number, partition in enumerate(rows.seen_by(asked)):
        for start, one in enumerate(cover(partition)):
            if one.begins:
                begun.append(rows.offsets[number] + start)
                continue
            came.update(set(one.nearest.taken))
            last = one.nearest.taken[-1] if one.nearest.taken else None
            ended[last, reason(one.nearest, partition.window_end[start], len(partition.words))] += 1
    return came, ended, begun


def reason(run: Run, end: int, rows: int) -> str:
    if run.until < end or (not run.mapped and run.start < end):
        return "FALSE"
    return "NO_ROW" if end == rows else "OUT_OF_WINDOW"


def assert_agreement(asked: SelectionQuery, rows: WindowedRows) -> None:
    expected = expected_of(asked, rows)
    for room in (Room(), Room(rows=3, matches=2, memory=1)):
        came, ended, begun = found_of(asked, rows, room)
        assert begun == expected[2], show(asked.pattern)
        assert ended == expected[1], show(asked.pattern)
        if not begun:
            assert came == expected[0], show(asked.pattern)


@pytest.mark.parametrize("selection", [ANY, NEXT, STRICT])
@random_examples
@given(st.data())
def test_random_sequences(selection: EventSelection, data: st.DataObject) -> None:
    drawn = cases(
        shapes=sequences(), selection=selection, output=ALL, depends_on_run=False, most_rows=6
    )
    asked, rows = data.draw(drawn.filter(lambda case: not case[0].absences))
    assert_agreement(asked, rows)


@pytest.mark.parametrize("selection", [ANY, STRICT])
@random_examples
@given(st.data())
def test_random_patterns(selection: EventSelection, data: st.DataObject) -> None:
    drawn = cases(
        shapes=general(), selection=selection, output=ALL, depends_on_run=False, most_rows=5
    )
    assert_agreement(*data.draw(drawn.filter(lambda case: not case[0].absences)))
