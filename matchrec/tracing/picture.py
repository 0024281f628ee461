"""A trace as a picture: rows down, variables across, the failing condition beside; as SVG text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from matchrec.tracing.attempt import Outcome
from matchrec.tracing.story import AttemptStory, Line, Story
from matchrec.tracing.text import shown_lines

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


def svg(story: Story) -> str:
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
