"""`Why`, what `why` of a query gives: one story as text, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from matchrec.pictures.html import folded, preformatted, wide
from matchrec.source import printable
from matchrec.tracing.search import Outcome
from matchrec.tracing.story import AttemptStory, Line, Story

if TYPE_CHECKING:
    import pandas as pd


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
        yield f"  ... {hidden:,} more trials; in Python to_pandas() has them"
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


STEP, LINE, LEFT, CHARACTER = 22, 20, 12, 6.6
COLOURS = {
    Outcome.TAKEN.value: "#2e8b57",
    "given back": "#9fd0b3",
    Outcome.KNOWN.value: "#9fd0b3",
    Outcome.FAILED.value: "#c8102e",
    Outcome.SKIPPED.value: "#9aa5b5",
}
TAKEN = (Outcome.TAKEN.value, "given back")
OTHER, TEXT = "#d98e04", "#2b2f36"
TOP = f'font-family="monospace" font-size="11" fill="{TEXT}"'


def draw(story: Story) -> str:
    """The attempts below each other."""
    drawings = [Drawing(attempt) for attempt in story.attempts]
    parts, top = [], 0
    for drawing in drawings:
        parts.append(f'<g transform="translate(0,{top})">{"".join(drawing.elements())}</g>')
        top += drawing.height
    width = max((one.width for one in drawings), default=0)
    size = f'width="{width:.0f}" height="{top}" viewBox="0 0 {width:.0f} {top}"'
    ground = f'<rect width="{width:.0f}" height="{top}" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {TOP}>{ground}{"".join(parts)}</svg>'


class Drawing:
    """One attempt."""

    def __init__(self, attempt: AttemptStory) -> None:
        self.attempt = attempt
        lines = shown_lines(attempt)
        self.rows = [list(own) for _, own in groupby(lines, key=lambda one: one.row)]
        self.words = [failing(own) for own in self.rows]
        self.names = list(dict.fromkeys(line.variable for line in lines if line.variable))
        places = (len(f"{line.row}  {line.place}") for line in lines)
        self.first = LEFT + CHARACTER * (max(places, default=0) + 2)
        widths = [max(STEP, CHARACTER * (len(name) + 2)) for name in self.names]
        self.columns = {
            name: self.first + sum(widths[:i]) + widths[i] / 2 for i, name in enumerate(self.names)
        }
        self.beside = self.first + sum(widths) + 8
        beside = (self.beside + CHARACTER * len(one) for own in self.words for one in own)
        below = (LEFT + CHARACTER * len(one) for one in (attempt.title, *attempt.ends))
        self.width = max((*beside, *below)) + LEFT
        count = sum(max(1, len(own)) for own in self.words)
        self.height = LINE * (count + len(attempt.ends) + 2) + LEFT

    def elements(self) -> Iterator[str]:
        """The title, the names of variables, marks for each row, the last words."""
        yield label(LEFT, LINE, self.attempt.title, ' font-weight="bold"')
        for name, x in self.columns.items():
            yield label(x, 2 * LINE, name, ' text-anchor="middle"')
        y = 3 * LINE
        for lines, words in zip(self.rows, self.words, strict=True):
            yield label(LEFT, y, f"{lines[0].row}  {lines[0].place}")
            for line in lines:
                yield from self.mark(line, y - 4)
            for number, text in enumerate(words):
                yield label(self.beside, y + number * LINE, text)
            y += LINE * max(1, len(words))
        for number, text in enumerate(self.attempt.ends):
            yield label(LEFT, y + number * LINE, text, ' font-style="italic"')

    def mark(self, line: Line, y: int) -> Iterator[str]:
        """A disc where a row is mapped, a cross where it may not be, dashes where it is skipped."""
        colour = COLOURS.get(line.outcome, OTHER)
        title = f"<title>{escape(' '.join((line.outcome, *line.conditions)))}</title>"
        if line.outcome == Outcome.SKIPPED.value:
            x, end = self.first, self.beside - 8
            yield f'<path d="M{x:.0f} {y}H{end:.0f}" stroke="{colour}" stroke-dasharray="4">'
            yield f"{title}</path>"
        elif line.variable and colour in (COLOURS["taken"], COLOURS["given back"]):
            x = self.columns[line.variable]
            yield f'<circle cx="{x:.0f}" cy="{y}" r="6" fill="{colour}">{title}</circle>'
        elif line.variable:
            x = self.columns[line.variable]
            cross = f"M{x - 5:.0f} {y - 5}l10 10m0 -10l-10 10"
            yield f'<path d="{cross}" stroke="{colour}" stroke-width="2.5">{title}</path>'


def failing(lines: list[Line]) -> list[str]:
    """What stands beside a row: why it could not be mapped, and what is folded after it.

    That it was skipped, the dashes say.
    """
    found = [
        f"{line.variable}: {one}" if line.variable else one
        for line in lines
        if line.outcome not in (*TAKEN, Outcome.SKIPPED.value)
        for one in (line.conditions or (line.outcome,))
        if not (one.endswith(": true") or " is true" in one)
    ]
    return list(dict.fromkeys([*found, *filter(None, (line.fold for line in lines))]))


def label(x: float, y: float, text: str, style: str = "") -> str:
    """Text at a place."""
    return f'<text x="{x:.0f}" y="{y:.0f}"{style} xml:space="preserve">{escape(text)}</text>'


COLUMNS = ("start", "row", "place", "rows_before", "variable", "outcome", "condition")


@dataclass(frozen=True, repr=False)
class Why:
    """How the search of one partition went; prints as text, shows as a picture in a notebook.

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
        """The matches, or what came of the rows asked for; then each attempt, row by row."""
        return printable(text_of(self.story))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        """What was found; without a match, how far the first attempt came."""
        attempts = self.story.attempts[:1]
        ends = [line for attempt in attempts for line in (attempt.title, *attempt.ends)]
        return f"<Why: {'; '.join(one.strip() for one in (*self.story.found, *ends))}>"

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each trial of each attempt, in the order of the search.

        start: the row from which the attempt began; row: the row that was tried; both count from 1.
        place: its values of the ORDER BY columns. rows_before: how many rows were mapped before.
        variable: for which it was tried, None for none. outcome: what came of it. condition: each
        conjunct with its values, None where no condition was asked.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> why = matchrec.query(spark.range(3), large, order_by="id").why(limit=1)
        >>> list(why.to_pandas()["outcome"])
        ['failed']
        """
        import pandas as pd

        rows = [
            (
                attempt.start,
                line.row,
                line.place,
                line.depth,
                line.variable or None,
                line.outcome,
                "; ".join(line.conditions) or None,
            )
            for attempt in self.story.attempts
            for line in attempt.lines
        ]
        found: pd.DataFrame = pd.DataFrame(rows, columns=list(COLUMNS))
        return found

    def svg(self) -> str:
        """An SVG drawing of each attempt: rows down, variables across, and what failed beside.

        >>> large = matchrec.Pattern.begin("large").where("id > 9")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").why().svg())
        <svg ...
        """
        return draw(self.story)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first lines, the picture, the text folded away."""
        head = "\n".join((*self.story.heading, *self.story.found))
        text = folded("as text", preformatted(self.text))
        return f"{preformatted(head)}{wide(self.svg())}{text}"
