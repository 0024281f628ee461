"""Following moves back gives exactly the starting rows of the reference's matches.

The second size of an example has a quantifier before the pattern, whose states need two words.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matchrec.plan.clauses import AfterMatchSkip, SkipTo
from matchrec.plan.pattern import (
    PartitionEnd,
    PartitionStart,
    Quantified,
    RowPattern,
    Variable,
    make_concatenation,
    walk_pattern,
)
from matchrec.search.beginnings import build_moves, follow_moves_back
from matchrec.search.kernel_input import prepare_input
from matchrec.shortcuts import Shortcuts, use_shortcuts
from tests.properties.test_algorithms import PARTITIONS, patterns, random_examples
from tests.tasks.contiguous import Query, Rows, run_reference

IN_PYTHON = Shortcuts(max_python_steps=1 << 40)
COMPILED = Shortcuts(max_python_steps=0)


def find_beginnings(pattern: RowPattern, rows: Rows) -> list[bool]:
    """Return for each row whether a match may begin with it, according to the moves."""
    query = Query(pattern)
    arrays = prepare_input(
        query.task(), rows.partitions(query.variables), for_event_selection=False
    )
    moves = build_moves(arrays.compiled_task)
    results = []
    for shortcuts in (IN_PYTHON, COMPILED):
        # The initial values do not matter.
        can_begin = np.arange(rows.offsets[-1]) % 2 == 0
        with use_shortcuts(shortcuts):
            follow_moves_back(moves, arrays, can_begin, len(can_begin))
        results.append(can_begin.tolist())
    by_python, compiled = results
    assert by_python == compiled
    return by_python


def has_anchor(pattern: RowPattern) -> bool:
    """Return whether a pattern has an anchor. Moves do not test anchors."""
    return any(isinstance(part, PartitionStart | PartitionEnd) for part in walk_pattern(pattern))


@random_examples
@given(patterns(), PARTITIONS, st.integers(60, 70))
def test_moves_lead_back_to_the_first_rows_of_matches(
    pattern: RowPattern, partitions: tuple[tuple[frozenset[str], ...], ...], least: int
) -> None:
    partitions = tuple(filter(None, partitions))
    rows = Rows(partitions)
    matches = run_reference(Query(pattern, AfterMatchSkip(SkipTo.NEXT_ROW)), rows)
    assert isinstance(matches, list)
    begins = {start for _, _, start, _ in matches}
    marks = find_beginnings(pattern, rows)
    if has_anchor(pattern):
        assert all(marks[row] for row in begins)
        return
    assert marks == [row in begins for row in range(len(marks))]

    # Only X takes the 70 rows before each partition. A match has its last `least` to 70 of them.
    longer_pattern = make_concatenation([Quantified(Variable("X"), least, 70), pattern])
    longer_rows = Rows(tuple((frozenset("X"),) * 70 + words for words in partitions))
    expected = []
    for offset, words in zip(rows.offsets, partitions, strict=False):
        has_enough = [row <= 70 - least for row in range(70)]
        expected += [offset in begins and is_early for is_early in has_enough]
        expected += [False] * len(words)
    assert find_beginnings(longer_pattern, longer_rows) == expected
