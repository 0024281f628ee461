"""Choose the lines of an attempt that text and picture show, if it has many.

`Why.toPandas` has all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from matchrec.explain.tracing.story import AttemptStory, Line
from matchrec.explain.tracing.trials import Outcome

# The largest number of lines that are shown of an attempt. If it has more, FIRST_LINES of the shown
# lines are from its beginning, and the others are from its end.
MAX_LINES = 40
FIRST_LINES = 8


def choose_lines(attempt: AttemptStory) -> Sequence[Line]:
    """Return the lines of an attempt that are shown.

    1. If there are at most MAX_LINES, all.
    2. Otherwise, those at which the outcomes change, see `fold_lines`.
    3. If these are too many, only the lines of the best path.
    4. If these are still too many, the first and the last ones.
    """
    if len(attempt.lines) <= MAX_LINES:
        return attempt.lines
    lines = fold_lines(attempt.lines)
    if len(lines) > MAX_LINES:
        lines = fold_lines(line for line in attempt.lines if line.is_key)
    if len(lines) > MAX_LINES:
        lines = [*lines[:FIRST_LINES], *lines[FIRST_LINES - MAX_LINES :]]
    return lines


def fold_lines(lines: Iterable[Line]) -> list[Line]:
    """Keep only the first and the last of consecutive rows that have the same outcomes.

    The last line of the first row then says how many rows are not shown:

        row 1  A  taken            row 1  A  taken  (folded=2)
        row 2  A  taken      →     row 4  A  taken
        row 3  A  taken            row 5  A  failed
        row 4  A  taken
        row 5  A  failed
    """
    rows = [list(row_lines) for _, row_lines in groupby(lines, key=attrgetter("row"))]
    kept_lines: list[Line] = []
    for _, rows_with_same_outcomes in groupby(rows, key=list_outcomes):
        first_row, *other_rows = rows_with_same_outcomes
        if len(other_rows) > 1:
            first_row[-1] = replace(first_row[-1], folded=len(other_rows) - 1)
        kept_lines += first_row
        if other_rows:
            kept_lines += other_rows[-1]
    return kept_lines


def list_outcomes(row_lines: Sequence[Line]) -> list[tuple[str, Outcome]]:
    """Return the variables that a row was tried for, each with the outcome."""
    return [(line.variable, line.outcome) for line in row_lines]
