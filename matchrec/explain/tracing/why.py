"""`Why`, what `why` of a query gives: one story as text, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from matchrec.explain.pictures import figures
from matchrec.explain.pictures.html import data_frame
from matchrec.explain.tracing.search import Outcome
from matchrec.explain.tracing.story import AttemptStory, Line, Story
from matchrec.source import printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_LINES = 40
FIRST = 8  # of more lines these many from the beginning, the rest from the end


def text_of(story: Story) -> str:
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
        yield f"  ... {hidden:,} more trials; in Python to_pandas() has them"
    yield from (f"  {line}" for line in attempt.ends)


def shown_lines(attempt: AttemptStory) -> Sequence[Line]:
    """All lines of a short attempt; else those where outcomes change, or of its best way."""
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


COLOURS = {
    Outcome.TAKEN.value: figures.MATCHED,
    "given back": figures.GIVEN_BACK,
    Outcome.KNOWN.value: figures.GIVEN_BACK,
    Outcome.FAILED.value: figures.MISSED,
    Outcome.SKIPPED.value: figures.FAINT,
}
TAKEN = (Outcome.TAKEN.value, "given back")
LINE = 0.2  # inches


def draw(story: Story) -> Figure:
    """The attempts below each other: rows down, variables across, and beside a row what failed."""
    lines = [line for attempt in story.attempts for line in attempt.lines]
    names = list(dict.fromkeys(line.variable for line in lines if line.variable))
    figure = figures.new_figure(1, 1)
    figure.set_layout_engine("none")
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_axis_off()
    y = 0
    for attempt in story.attempts:
        y = draw_attempt(panel, attempt, names, y, story.orders)
    width = figures.CHARACTER * max((len(name) + 3 for name in names), default=1)
    figure.set_size_inches(width * max(1, len(names)), LINE * max(1, y))
    panel.set(xlim=(-0.5, max(1, len(names)) - 0.5), ylim=(max(1, y), 0))
    return figure


def draw_attempt(
    panel: Axes, attempt: AttemptStory, names: Sequence[str], y: int, orders: str
) -> int:
    """Draw an attempt from a line on, and return the line after it.

    orders: the ORDER BY columns, which head the second column of text.
    """
    shown = shown_lines(attempt)
    wide = max(map(len, [orders, *(line.place for line in shown)]))

    def name_row(row: str, place: str, y: int) -> None:
        """Write the number of a row and its place in the order, in two columns."""
        for text, characters in ((place, 0), (row, wide + 2)):
            left = (-72 * figures.CHARACTER * characters, 0)
            beside: Any = {"textcoords": "offset points", "ha": "right", "va": "top"}
            panel.annotate(text, (-0.7, y), left, fontsize=9, annotation_clip=False, **beside)

    panel.text(-0.5, y, attempt.title, va="top", fontsize=9, fontweight="bold")
    for x, name in enumerate(names):
        panel.text(x, y + 1, name, ha="center", va="top", fontsize=9)
    name_row("row", orders, y + 1)
    y += 2
    for _, own in groupby(shown, key=attrgetter("row")):
        lines = list(own)
        name_row(str(lines[0].row), lines[0].place, y)
        for line in lines:
            draw_trial(panel, line, names, y + 0.4)
        words = failing(lines)
        panel.text(len(names) - 0.4, y, "\n".join(words), va="top", fontsize=9)
        y += max(1, len(words))
    panel.text(-0.5, y, "\n".join(attempt.ends), va="top", fontsize=9, fontstyle="italic")
    return y + len(attempt.ends) + 1


def draw_trial(panel: Axes, line: Line, names: Sequence[str], y: float) -> None:
    """A disc where a row is mapped, a cross where it may not be, dashes where it is skipped."""
    colour = COLOURS.get(line.outcome, figures.BESIDE)
    if line.outcome == Outcome.SKIPPED.value:
        panel.plot((-0.5, len(names) - 0.5), (y, y), "--", color=colour, zorder=0)
    elif line.variable:
        marker = "x" if colour in (figures.MISSED, figures.BESIDE) else "o"
        panel.plot(names.index(line.variable), y, marker, color=colour, markeredgewidth=2)


def failing(lines: list[Line]) -> list[str]:
    """What stands beside a row: why it could not be mapped, and what is folded after it."""
    found = [
        f"{line.variable}: {one}" if line.variable else one
        for line in lines
        if line.outcome not in (*TAKEN, Outcome.SKIPPED.value)
        for one in (line.conditions or (line.outcome,))
        if not (one.endswith(": true") or " is true" in one)
    ]
    return list(dict.fromkeys([*found, *filter(None, (line.fold for line in lines))]))


COLUMNS = ("start", "row", "order_value", "rows_before", "variable", "outcome", "condition")


@dataclass(frozen=True, repr=False)
class Why(figures.Pictured):
    """The search of one partition, row by row, from `Query.why`.

    It prints as text. A notebook shows it as a picture.

    >>> large = matchrec.Pattern.begin("large").where("id > 9")
    >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
    >>> print(why.text)
    PATTERN (`large`)
    the only partition: 3 rows
    no match; searched from 3 of the rows
    ...
    """

    story: Story

    @property
    def text(self) -> str:
        """The text that `print` shows: the matches, or the result for the chosen row, then each
        attempt.
        """
        return printable(text_of(self.story))

    def __repr__(self) -> str:
        """What was found; without a match, how far the first attempt came."""
        attempts = self.story.attempts[:1]
        ends = [line for attempt in attempts for line in (attempt.title, *attempt.ends)]
        return f"<Why: {'; '.join(one.strip() for one in (*self.story.found, *ends))}>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one line for each row that an attempt tried for a
        variable.

        The lines are in the order of the search. The columns are:

        - `start`: the number of the row where the attempt began, from 1;
        - `row`: the number of the row that was tried, from 1;
        - `order_value`: the values of the tried row in the ORDER BY columns;
        - `rows_before`: how many rows were already mapped;
        - `variable`: the variable for which the row was tried, or None;
        - `outcome`: the result, such as "taken" or "failed";
        - `condition`: each part of the condition with its values, or None if no condition was
          tested.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
        >>> list(why.to_pandas()["outcome"])
        ['failed']
        """
        rows = list[tuple[object, ...]]()
        for attempt in self.story.attempts:
            for line in attempt.lines:
                trial = (line.variable or None, line.outcome, "; ".join(line.conditions) or None)
                rows.append((attempt.start, line.row, line.place, line.depth, *trial))
        return data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing of each attempt: rows down, variables across, and failed
        conditions.

        Needs matplotlib.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").why().svg())
        <?xml ...
        """
        return figures.written(lambda: draw(self.story), "svg").decode()
