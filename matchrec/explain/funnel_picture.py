"""Draw the coverage of clauses: a funnel for each clause, with a line for each variable.

    V C P: starting rows that reached each variable

      tried  10  ██████████████████  5 stopped: V's condition was not true

          V   5  █████████           3 stopped: 2 because C's condition was not true,
                                     1 because the partition ended before C

    matches   0

A reason that is too long for a line is broken into several. Its bar is beside their middle.
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
BAR_WIDTH, LINE_HEIGHT = 2.7, 0.16

# The height of a bar, and the free space after a bar and after a title, in lines of text.
BAR_HEIGHT, GAP = 1.35, 0.7

# The size of text, and the width of a digit, in points.
TEXT_SIZE, DIGIT_WIDTH = 9, 6

# The number of characters that fit into a line of the title, and of a reason.
TITLE_WIDTH, REASON_WIDTH = 80, 50


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar, and the lines of its reason."""

    bar: Bar
    reason_lines: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height of the bar or of its reason, in lines of text."""
        return max(BAR_HEIGHT, len(self.reason_lines))


def break_reasons(bar: Bar) -> tuple[str, ...]:
    """Return the lines of the reasons at a bar: one line if they fit, or each on its own lines."""
    if len(bar.reason) <= REASON_WIDTH:
        return (bar.reason,) if bar.reason else ()
    *others, last = bar.reasons
    texts = [*(f"{reason}," for reason in others), last]
    return tuple(line for text in texts for line in wrap(text, REASON_WIDTH))


@dataclass(frozen=True, slots=True)
class Funnel:
    """The part of the picture about one clause: a title and the bars below it."""

    # The row pattern and what the bars are.
    title_lines: tuple[str, ...]
    bars: tuple[DrawnBar, ...]
    # The number of starting rows, which a bar of full length stands for.
    tried: int

    @classmethod
    def create(cls, clause: ClauseCoverage) -> Funnel:
        """Return the funnel of a clause."""
        title = f"{clause.pattern}: starting rows that reached each variable"
        bars = tuple(DrawnBar(bar, break_reasons(bar)) for bar in build_bars(clause))
        return cls(tuple(wrap(title, TITLE_WIDTH)), bars, clause.tried)


def draw_funnels(clauses: Collection[ClauseCoverage]) -> Figure:
    """Draw the funnels of clauses, one below the other."""
    funnels = [Funnel.create(clause) for clause in clauses]
    figure = make_figure(BAR_WIDTH, 1)
    # A line of text is one unit high, and the longest bar is one unit wide.
    panel = figure.add_axes((0, 0, 1, 1))
    panel.set_axis_off()
    most_digits = max((len(f"{funnel.tried:,}") for funnel in funnels), default=1)
    y = 0.0
    for funnel in funnels:
        y = draw_funnel(panel, funnel, y, most_digits)
    height = max(1, y)
    figure.set_size_inches(BAR_WIDTH, LINE_HEIGHT * height)
    panel.set(xlim=(0, 1), ylim=(height, 0))
    fit_figure_to_content(figure)
    return figure


def draw_funnel(panel: Axes, funnel: Funnel, top: float, most_digits: int) -> float:
    """Draw a funnel, and return where the next one begins.

    The count is between the name and the bar. The last bar counts the matches.

    Args:
        panel: where to draw.
        funnel: the funnel.
        top: where it begins, in lines of text from the top.
        most_digits: the number of characters of the largest count of the picture.
    """
    names_right = -5 - DIGIT_WIDTH * (most_digits + 2)
    y = top
    for line in funnel.title_lines:
        write(panel, line, (0, y + 0.5), (names_right, 0), fontweight="bold")
        y += 1.2
    y += GAP
    for index, drawn in enumerate(funnel.bars):
        middle = y + drawn.height / 2
        is_matches = index == len(funnel.bars) - 1
        share = drawn.bar.count / max(1, funnel.tried)
        panel.barh(middle, share, BAR_HEIGHT, color=MATCH_COLOUR if is_matches else REACHED_COLOUR)
        write(panel, drawn.bar.name, (0, middle), (names_right, 0), ha="right")
        write(panel, f"{drawn.bar.count:,}", (0, middle), (-5, 0), ha="right")
        draw_reason(panel, drawn.reason_lines, middle)
        y += drawn.height + GAP
    return y + GAP


def draw_reason(panel: Axes, lines: Sequence[str], middle: float) -> None:
    """Write the lines of a reason right of the longest bar, with their middle at a height."""
    for index, line in enumerate(lines):
        write(panel, line, (1, middle + index - (len(lines) - 1) / 2), (8, 0))


def write(
    panel: Axes, text: str, at: tuple[float, float], offset: tuple[int, int], **style: Any
) -> None:
    """Write a text at an offset in points. `style` has further arguments of matplotlib."""
    panel.annotate(
        text,
        at,
        offset,
        textcoords="offset points",
        annotation_clip=False,
        va="center_baseline",
        fontsize=TEXT_SIZE,
        color=TEXT_COLOUR,
        **style,
    )
