"""A trace as text: a table for each attempt, row by row, and what it would have needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.tracing.story import AttemptStory, Line, Story

MOST_LINES = 40
FIRST = 8  # of more lines these many from the beginning, the rest from the end


def text_of(story: Story) -> str:
    """All of it."""
    blocks = ["\n".join((*story.heading, *story.found))]
    blocks += ["\n".join(attempt_lines(one, story.orders)) for one in story.attempts]
    return "\n\n".join(blocks)


def attempt_lines(attempt: AttemptStory, orders: str) -> Iterator[str]:
    """One attempt: a title, a table of its trials, how it ended."""
    yield attempt.title
    yield from (f"  {line}" for line in table(shown_lines(attempt), orders))
    hidden = len(attempt.lines) - len(shown_lines(attempt))
    if hidden:
        yield f"  ... {hidden:,} more trials, which frame() has"
    yield from (f"  {line}" for line in attempt.ends)


def shown_lines(attempt: AttemptStory) -> Sequence[Line]:
    """The lines of a short attempt; of a long one those of its best way, and of these the ends."""
    if len(attempt.lines) <= MOST_LINES:
        return attempt.lines
    key = [line for line in attempt.lines if line.is_key]
    return key if len(key) <= MOST_LINES else [*key[:FIRST], *key[FIRST - MOST_LINES :]]


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
        conditions = line.conditions or ("",)
        yield (row, place, line.variable, line.outcome, conditions[0])
        yield from (("", "", "", "", one) for one in conditions[1:])
