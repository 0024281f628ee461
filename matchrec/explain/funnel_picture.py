"""Draw the coverage of clauses: a funnel for each clause, with a line for each variable.

    V C P: starting rows that reached each variable

      tried  10  ██████████████████  5 stopped: V's condition was not true

          V   5  █████████           3 stopped: 2 because C's condition was not true,
                                     1 because the partition ended before C

    matches   0

A reason that is too long for a line is broken into several lines, and the bar is at their middle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matchrec.explain.clause_coverage import ClauseCoverage
from matchrec.explain.funnel import Bar, build_bars
from matchrec.explain.pictures.figures import (
    MATCH_COLOUR,
    REACHED_COLOUR,
    TEXT_COLOUR,
    fit_figure_to_content,
    make_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The width of the longest bar, and the height of a line of text, in inches.
BAR_WIDTH = 2.7
LINE_HEIGHT = 0.16

# The heights in lines of text: of a line of the title with the space after it, of a bar, and of the
# free space after a bar and after a title.
TITLE_LINE_HEIGHT = 1.2
BAR_HEIGHT = 1.35
GAP = 0.7

# The size of text, and the width of a digit, in points.
TEXT_SIZE = 9
DIGIT_WIDTH = 6

# The distances of texts from the bars, in points: of counts at the left, of reasons at the right.
COUNT_DISTANCE = 5
REASON_DISTANCE = 8

# The number of characters that fit into a line of the title, and of a reason.
TITLE_WIDTH = 80
REASON_WIDTH = 64


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar, and the lines of text beside it that say why starting rows came no further."""

    bar: Bar
    reason_lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height of the bar or of the lines beside it, the larger one, in lines of text."""
        return max(BAR_HEIGHT, len(self.reason_lines))


def break_reasons(bar: Bar) -> tuple[str, ...]:
    """Return the lines of text beside a bar.

    If all reasons fit into one line, this is the only line. Otherwise, each reason begins a line.
    """
    if len(bar.reason) <= REASON_WIDTH:
        return (bar.reason,) if bar.reason else ()
    *others, last = bar.reasons
    texts = [*(f"{reason}," for reason in others), last]
    return tuple(line for text in texts for line in wrap(text, REASON_WIDTH))


@dataclass(frozen=True, slots=True)
class Funnel:
    """The part of the picture about one clause: a title and the bars below it."""

    # The title: the row pattern, and what the bars mean.
    title_lines: tuple[str, ...]
    # The bars from top to bottom. The last one counts the matches.
    bars: tuple[DrawnBar, ...]
    # The number of starting rows, which the longest bar stands for.
    tried: int

    @classmethod
    def create(cls, clause: ClauseCoverage) -> Funnel:
        """Return the funnel of a clause."""
        title = f"{clause.pattern}: starting rows that reached each variable"
        bars = tuple(DrawnBar(bar, break_reasons(bar)) for bar in build_bars(clause))
        return cls(tuple(wrap(title, TITLE_WIDTH)), bars, clause.tried)


def draw_funnels(clauses: Collection[ClauseCoverage]) -> Figure:
    """Return a figure of matplotlib with the funnels of clauses, one below the other."""
    funnels = [Funnel.create(clause) for clause in clauses]
    figure = make_figure(BAR_WIDTH, 1)
    # A line of text is one unit high, and the longest bar is one unit wide.
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_axis_off()
    most_digits = max((len(f"{funnel.tried:,}") for funnel in funnels), default=1)
    y = 0.0
    for funnel in funnels:
        y = draw_funnel(panel, funnel, y, most_digits)
    height = max(1, y - 2 * GAP)  # without the space after the last bar and the last funnel
    figure.set_size_inches(BAR_WIDTH, LINE_HEIGHT * height)
    panel.set(xlim=(0, 1), ylim=(height, 0))
    fit_figure_to_content(figure)
    return figure


def draw_funnel(panel: Axes, funnel: Funnel, top: float, most_digits: int) -> float:
    """Draw a funnel, and return where the next funnel begins.

    The count of a bar is between its name and the bar.

    Args:
        panel: the panel to draw on.
        funnel: the funnel.
        top: where the funnel begins, in lines of text from the top of the picture.
        most_digits: the number of characters of the largest count in the picture.

    Returns:
        The top of the next funnel, in lines of text.
    """
    names_right = -COUNT_DISTANCE - DIGIT_WIDTH * (most_digits + 2)
    y = top
    for line in funnel.title_lines:
        write(panel, line, (0, y + 0.5), (names_right, 0), fontweight="bold")
        y += TITLE_LINE_HEIGHT
    y += GAP
    for index, drawn in enumerate(funnel.bars):
        middle = y + drawn.height / 2
        is_matches = index == len(funnel.bars) - 1
        share = drawn.bar.count / max(1, funnel.tried)
        panel.barh(middle, share, BAR_HEIGHT, color=MATCH_COLOUR if is_matches else REACHED_COLOUR)
        write(panel, drawn.bar.name, (0, middle), (names_right, 0), ha="right")
        write(panel, f"{drawn.bar.count:,}", (0, middle), (-COUNT_DISTANCE, 0), ha="right")
        draw_reason(panel, drawn.reason_lines, middle)
        y += drawn.height + GAP
    return y + GAP


def draw_reason(panel: Axes, lines: Sequence[str], middle: float) -> None:
    """Write the lines of a reason to the right of the longest bar.

    Args:
        panel: the panel to draw on.
        lines: the lines.
        middle: the y of the middle of all lines together.
    """
    for index, line in enumerate(lines):
        y = middle + index - (len(lines) - 1) / 2
        write(panel, line, (1, y), (REASON_DISTANCE, 0))


def write(
    panel: Axes, text: str, position: tuple[float, float], offset: tuple[int, int], **style: Any
) -> None:
    """Write a text near a position in a panel.

    Args:
        panel: the panel to draw on.
        text: the text.
        position: the x and y of the position: x in longest bars, y in lines of text.
        offset: the distances of the text from the position to the right and upwards, in points.
        style: further arguments of matplotlib.
    """
    panel.annotate(
        text,
        position,
        offset,
        textcoords="offset points",
        annotation_clip=False,
        va="center_baseline",
        fontsize=TEXT_SIZE,
        color=TEXT_COLOUR,
        **style,
    )
