"""Draw a story: rows go down, variables go across, and reasons are to the right of each row.

         row  day    DOWN    UP
           1    1     ●
           2    2     ●
           3    3     ✕       ✕       DOWN: 12 < 9 is false

The attempts are below each other. Above the first one are the pattern and a key of the symbols.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matchrec.explain.pictures import figures
from matchrec.explain.tracing.shown_lines import choose_lines
from matchrec.explain.tracing.story import AttemptStory, Line, Story
from matchrec.explain.tracing.trials import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The height of a line of text, in inches.
LINE_HEIGHT = 0.2

# The size of text, in points.
TEXT_SIZE = 9

# The number of characters that are drawn of each heading, such as the pattern.
MAX_HEADING_CHARACTERS = 110

# The number of characters in a line of a note.
NOTE_WIDTH = 60

# The beginning of each further line of a note. An SVG does not show ordinary spaces there, so these
# are no-break spaces.
NOTE_INDENT = "\N{NO-BREAK SPACE}" * 4

# The x of the left edge of the panel. The column of variable n, from 0, is centred at x = n.
LEFT = -0.5


# Symbols.

# The outcomes whose symbol needs no reason beside it: the row was mapped or skipped.
OUTCOMES_WITHOUT_NOTE = (Outcome.TAKEN, Outcome.GIVEN_BACK, Outcome.SKIPPED)


@dataclass(frozen=True, slots=True)
class Symbol:
    """The symbol of an outcome. No two symbols differ in their colour alone."""

    colour: str
    marker: str  # a marker of matplotlib; empty for dashes
    fill: str = "none"  # the colour of the marker's inside; "none" for a hollow marker

    @property
    def style(self) -> dict[str, Any]:
        """The arguments of matplotlib for a line that is the symbol."""
        if not self.marker:
            return {"color": self.colour, "linestyle": "--"}
        return {
            "color": self.colour,
            "linestyle": "",
            "marker": self.marker,
            "markeredgewidth": 2,
            "markerfacecolor": self.fill,
        }


DISC = Symbol(figures.MATCH_COLOUR, "o", figures.MATCH_COLOUR)
RING = Symbol(figures.MATCH_COLOUR, "o")
CROSS = Symbol(figures.FAILURE_COLOUR, "x")
SQUARE = Symbol(figures.ACCENT_COLOUR, "s")
DASHES = Symbol(figures.FAINT_COLOUR, "")

SYMBOLS = {
    Outcome.TAKEN: DISC,
    Outcome.GIVEN_BACK: RING,
    Outcome.TRIED_BEFORE: RING,
    Outcome.FAILED: CROSS,
    Outcome.SKIPPED: DASHES,
}


def choose_symbol(outcome: Outcome) -> Symbol:
    """Return the symbol of an outcome: a square if no symbol is listed for the outcome."""
    return SYMBOLS.get(outcome, SQUARE)


# The picture.


def draw_story(story: Story) -> Figure:
    """Return the picture of a story as a figure of matplotlib."""
    lines = [line for attempt in story.attempts for line in attempt.lines]
    variables = list(dict.fromkeys(line.variable for line in lines if line.variable))
    figure = figures.make_figure(1, 1)
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_axis_off()
    draw_key(panel, [line for attempt in story.attempts for line in choose_lines(attempt)])
    picture = StoryPicture(panel, variables, story.order_title)
    picture.draw_headings(story.heading)
    for attempt in story.attempts:
        picture.draw_attempt(attempt)
    if not story.attempts:
        picture.draw_results(story.results)
    height = max(1, picture.y - 1)  # without the empty line after the last attempt
    column_count = max(1, len(variables))
    column_width = figures.CHARACTER_WIDTH * max((len(name) + 3 for name in variables), default=1)
    figure.set_size_inches(column_width * column_count, LINE_HEIGHT * height)
    panel.set(xlim=(LEFT, column_count - 0.5), ylim=(height, 0))
    figures.fit_figure_to_content(figure)
    return figure


def draw_key(panel: Axes, lines: Iterable[Line]) -> None:
    """Write above the panel what each symbol in the picture means.

    Args:
        panel: the panel.
        lines: all lines that are drawn.
    """
    from matplotlib.lines import Line2D

    # The keys of a dict instead of a set, so that the outcomes keep their order.
    outcomes_by_symbol: dict[Symbol, dict[Outcome, None]] = {}
    for line in lines:
        has_symbol = line.variable or line.outcome is Outcome.SKIPPED
        if has_symbol:
            outcomes = outcomes_by_symbol.setdefault(choose_symbol(line.outcome), {})
            outcomes[line.outcome] = None
    entries = []
    for symbol, outcomes in outcomes_by_symbol.items():
        meaning = " or ".join(outcome.value for outcome in outcomes)
        entries.append(Line2D([], [], label=meaning, **symbol.style))
    if entries:
        panel.legend(
            handles=entries,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=len(entries),
            frameon=False,
            fontsize=TEXT_SIZE,
            labelcolor=figures.TEXT_COLOUR,
            handletextpad=0.5,
        )


class StoryPicture:
    """A picture that grows downwards, line by line.

    A line is one unit high, and each variable has a column that is one unit wide.
    """

    def __init__(self, panel: Axes, variables: Sequence[str], order_title: str) -> None:
        """Begin an empty picture.

        Args:
            panel: the panel to draw on.
            variables: the names of the variables, from left to right.
            order_title: the title of the column of order values, see `Story`.
        """
        self.panel = panel
        self.variables = variables
        self.order_title = order_title
        self.y = 0  # the number of lines above the next line, which is also its top edge

    def draw_headings(self, headings: Iterable[str]) -> None:
        """Write the first lines of the picture, each cut to MAX_HEADING_CHARACTERS characters."""
        for heading in headings:
            is_long = len(heading) > MAX_HEADING_CHARACTERS
            self.write(LEFT, f"{heading[:MAX_HEADING_CHARACTERS]}…" if is_long else heading)
            self.y += 1
        self.y += 1  # an empty line

    def draw_results(self, results: Iterable[str]) -> None:
        """Write the results of a search without attempts."""
        for result in results:
            self.write(LEFT, result)
            self.y += 1
        self.y += 1  # an empty line

    def draw_attempt(self, attempt: AttemptStory) -> None:
        """Draw an attempt: its title, a table of its rows, how it ended, and an empty line."""
        shown_lines = choose_lines(attempt)
        order_texts = [self.order_title, *(line.order_values for line in shown_lines)]
        order_width = max(len(text) for text in order_texts)
        self.write(LEFT, attempt.title, fontweight="bold")
        self.y += 1
        for x, variable in enumerate(self.variables):
            self.write(x, variable, ha="center")
        self.write_row_name("row", self.order_title, order_width)
        self.y += 1
        previous_row = 0
        for row, row_lines in groupby(shown_lines, key=attrgetter("row")):
            if row < previous_row:
                self.write(LEFT, f"the search goes back to row {row}:", fontstyle="italic")
                self.y += 1
            previous_row = row
            self.draw_row(list(row_lines), order_width)
        for end in attempt.ends:
            self.write(LEFT, end, fontstyle="italic")
            self.y += 1
        self.y += 1  # an empty line

    def draw_row(self, lines: Sequence[Line], order_width: int) -> None:
        """Draw the trials of a row next to each other, and below each other the reasons.

        Args:
            lines: the lines about the row, at least one.
            order_width: the number of characters of the longest order values of the attempt.
        """
        self.write_row_name(str(lines[0].row), lines[0].order_values, order_width)
        for line in lines:
            self.draw_trial(line)
        note_lines = [text for note in list_notes(lines) for text in break_note(note)]
        first_line = self.y
        for text in note_lines:
            self.write(len(self.variables) - 0.4, text)
            self.y += 1
        self.y = first_line + max(1, len(note_lines))

    def draw_trial(self, line: Line) -> None:
        """Draw the symbol of a trial: below its variable, or over all variables if it has none."""
        symbol = choose_symbol(line.outcome)
        y = self.y + 0.5
        if line.outcome is Outcome.SKIPPED:
            right = len(self.variables) - 0.5
            self.panel.plot((LEFT, right), (y, y), zorder=0, **symbol.style)
        elif line.variable:
            x = self.variables.index(line.variable)
            self.panel.plot(x, y, **symbol.style)

    def write(self, x: float, text: str, **style: Any) -> None:
        """Write a text on the current line, from x to the right unless `style` aligns it.

        Args:
            x: a position across the panel, in columns of variables.
            text: the text.
            style: further arguments of matplotlib.
        """
        self.panel.text(
            x,
            self.y + 0.5,
            text,
            va="center",
            fontsize=TEXT_SIZE,
            color=figures.TEXT_COLOUR,
            **style,
        )

    def write_row_name(self, row: str, order_values: str, order_width: int) -> None:
        """Write the number of a row and its order values, in two columns left of the variables.

        Args:
            row: the number of the row, or the title of the column.
            order_values: the order values, or the title of the column.
            order_width: how many characters the column of order values is wide.
        """
        for text, characters_from_right in ((order_values, 0), (row, order_width + 2)):
            points = figures.POINTS_PER_INCH * figures.CHARACTER_WIDTH * characters_from_right
            self.panel.annotate(
                text,
                (-0.7, self.y + 0.5),
                (-points, 0),
                textcoords="offset points",
                annotation_clip=False,
                ha="right",
                va="center",
                fontsize=TEXT_SIZE,
                color=figures.TEXT_COLOUR,
            )


def break_note(note: str) -> list[str]:
    """Return the lines of a note. The second line and those after it are indented.

    A long note is first broken before the values in brackets at its end.

    >>> for line in break_note(
    ...     "RISE: price > TOP.price * 1.05: 36.5 > 38.85 is false (TOP.price = 37.0 from row 1)"
    ... ):
    ...     print(line.replace(NOTE_INDENT, "    "))
    RISE: price > TOP.price * 1.05: 36.5 > 38.85 is false
        (TOP.price = 37.0 from row 1)
    """
    if len(note) <= NOTE_WIDTH:
        return [note]
    condition, bracket, values = note.rpartition(" (")
    parts = [condition, f"{NOTE_INDENT}({values}"] if bracket else [note]
    return [
        line
        for part in parts
        for line in wrap(part, NOTE_WIDTH, subsequent_indent=NOTE_INDENT, break_on_hyphens=False)
    ]


def list_notes(lines: Sequence[Line]) -> list[str]:
    """Return the notes at a row: why it could not be mapped, and how many rows are folded after it.

    Each note appears once. A conjunct that is true is left out, because it is not a reason.

    Args:
        lines: the lines about the row.
    """
    notes = []
    for line in lines:
        if line.outcome in OUTCOMES_WITHOUT_NOTE:
            continue
        reasons = [text for text in line.conditions if text not in line.true_conditions]
        if not line.conditions:
            reasons = [line.outcome.value]
        prefix = f"{line.variable}: " if line.variable else ""
        notes += [f"{prefix}{reason}" for reason in reasons]
    notes += [line.fold_note for line in lines if line.fold_note]
    return list(dict.fromkeys(notes))
