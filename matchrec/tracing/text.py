"""A trace as text: a table for each attempt, row by row, and what it would have needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from matchrec.tracing.story import AttemptStory, Line, Story

MOST_LINES = 40
FIRST = 8  # of more lines these many from the beginning, the rest from the end


def text_of(story: Story) -> str:
    """All of it."""
    blocks = ["\n".join((*story.heading, *story.found))]
    blocks += ["\n".join(attempt_lines(attempt, story.orders)) for attempt in story.attempts]
    return "\n\n".join(blocks)


def attempt_lines(attempt: AttemptStory, orders: str) -> Iterator[str]:
    """One attempt: a title, a table of its trials, how it ended."""
    shown = shown_lines(attempt)
    yield attempt.title
    yield from (f"  {line}" for line in table(shown, orders))
    hidden = len(attempt.lines) - len(shown)
    if hidden:
        yield f"  ... {hidden:,} more trials, which to_pandas() has"
    yield from (f"  {line}" for line in attempt.ends)


def shown_lines(attempt: AttemptStory) -> Sequence[Line]:
    """The lines of a short attempt; of a long one those where the outcomes change.

    If these are too many, those of its best way, and of these the ends.
    """
    if len(attempt.lines) <= MOST_LINES:
        return attempt.lines
    found = fold(attempt.lines)
    if len(found) > MOST_LINES:
        found = fold(line for line in attempt.lines if line.is_key)
    return found if len(found) <= MOST_LINES else [*found[:FIRST], *found[FIRST - MOST_LINES :]]


def fold(lines: Iterable[Line]) -> list[Line]:
    """The first and the last of rows that follow each other and have the same outcomes."""
    rows = [list(own) for _, own in groupby(lines, key=attrgetter("row"))]
    kept: list[Line] = []
    for _, run in groupby(rows, key=lambda own: [(one.variable, one.outcome) for one in own]):
        first, *others = run
        if len(others) > 1:
            first[-1] = replace(first[-1], folded=len(others) - 1)
        kept += [*first, *(others[-1] if others else ())]
    return kept


def table(lines: Sequence[Line], orders: str) -> Iterator[str]:
    """The lines as columns; a row's number and place stand on the first line about it only."""
    cells = [("row", orders, "", "", ""), *table_cells(lines)]
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in cells), strict=True)]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        yield "  ".join((*padded, row[-1])).rstrip()


def table_cells(lines: Sequence[Line]) -> Iterator[tuple[str, str, str, str, str]]:
    """Row, place, variable, outcome and a condition; further conditions below."""
    before = None
    for line in lines:
        row, place = (str(line.row), line.place) if line.row != before else ("", "")
        before = line.row
        first, *others = line.conditions or ("",)
        yield (row, place, line.variable, line.outcome, first)
        yield from (("", "", "", "", one) for one in (*others, line.fold) if one)
