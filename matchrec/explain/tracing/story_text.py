"""Write a story as text: a block of lines for the result, then one for each attempt.

    PATTERN (TOP FALL+ RISE)
    partition ticker = 'GOOG': 2 rows
    no match; 2 starting rows tried

    row 1 (day = 1): no match
      row  day
      1    1    TOP   taken        no condition: always true
      2    2    FALL  taken        price < PREV(price): 49.0 < 50.0 is true
      3    end  FALL  no row left
                RISE  no row left
      got as far as rows 1 to 2: TOP FALL
      then it needed a row for FALL or RISE, but the partition has no more rows

Each line of the table is a `Line` of the story, which is a trial of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matchrec.explain.tracing.shown_lines import choose_lines
from matchrec.explain.tracing.story import AttemptStory, Line, Story


def show_story(story: Story) -> str:
    """Return a story as text: heading and results, then each attempt, with empty lines between."""
    attempts = [show_attempt(attempt, story.order_title) for attempt in story.attempts]
    blocks = [(*story.heading, *story.results), *attempts]
    return "\n\n".join("\n".join(block) for block in blocks)


def show_attempt(attempt: AttemptStory, order_title: str) -> Iterator[str]:
    """Yield the lines of text of an attempt: its title, a table of its trials, how it ended.

    Args:
        attempt: the attempt.
        order_title: the ORDER BY columns, the title of the table's second column.
    """
    shown_lines = choose_lines(attempt)
    hidden_count = len(attempt.lines) - len(shown_lines)
    yield attempt.title
    for text in align_lines(shown_lines, order_title):
        yield f"  {text}"
    if hidden_count:
        yield (
            f"  ... {hidden_count:,} more trials are not shown; "
            "in Python, toPandas() has all of them"
        )
    for text in attempt.ends:
        yield f"  {text}"


def align_lines(lines: Sequence[Line], order_title: str) -> Iterator[str]:
    """Yield the rows of a table of lines, with aligned columns and a header.

    Args:
        lines: the lines.
        order_title: the ORDER BY columns, the title of the second column.
    """
    table = [("row", order_title, "", "", ""), *make_cells(lines)]
    # The last column is not padded.
    widths = [max(len(cells[column]) for cells in table) for column in range(4)]
    for *cells, last_cell in table:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        yield "  ".join((*padded, last_cell)).rstrip()


def make_cells(lines: Sequence[Line]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the cells of each line: row, order values, variable, outcome and condition.

    The number of a row and its order values are only on the first line about the row. Further
    conditions of a line, and the number of rows that are folded after it, follow in the last cell
    of rows of their own.
    """
    previous_row = None
    for line in lines:
        is_new_row = line.row != previous_row
        previous_row = line.row
        row = str(line.row) if is_new_row else ""
        order_values = line.order_values if is_new_row else ""
        condition, *other_conditions = line.conditions or ("",)
        yield (row, order_values, line.variable, line.outcome.value, condition)
        for text in (*other_conditions, line.fold_note):
            if text:
                yield ("", "", "", "", text)
