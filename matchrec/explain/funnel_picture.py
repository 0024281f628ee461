"""Draw the coverage of clauses: a panel for each clause, a rectangle for each variable."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matchrec.explain.clause_coverage import ClauseCoverage
from matchrec.explain.funnel import Bar, build_bars
from matchrec.explain.pictures.figures import CHARACTER, INK, MATCHED, REACHED, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The width of the longest bar, and the height of a line, in inches.
BAR_WIDTH = 3.2
LINE_HEIGHT = 0.27

# The size of text in points.
TEXT_SIZE = 9

# The number of characters that fit into a line of the title.
TITLE_WIDTH = 90


@dataclass(frozen=True, slots=True)
class FunnelPanel:
    """The part of the picture about one clause: a title and the bars below it."""

    # The row pattern and what the bars are, in lines that fit above the bars.
    title_lines: tuple[str, ...]
    bars: tuple[Bar, ...]
    # The number of starting rows, which a bar of full length stands for.
    tried: int

    @classmethod
    def create(cls, clause: ClauseCoverage) -> FunnelPanel:
        """Return the panel of a clause."""
        title = f"{clause.pattern}: starting rows that reached each variable"
        return cls(tuple(wrap(title, TITLE_WIDTH)), tuple(build_bars(clause)), clause.tried)

    @property
    def height(self) -> int:
        """Return the number of lines of text that the panel needs."""
        return max(1, len(self.title_lines)) + len(self.bars)


def draw_funnels(clauses: Collection[ClauseCoverage]) -> Figure:
    """Draw the funnels of clauses, one below the other."""
    panels = [FunnelPanel.create(clause) for clause in clauses]
    heights = [panel.height for panel in panels]
    width = BAR_WIDTH + CHARACTER * count_characters_beside_bars(panels)
    figure = make_figure(width, LINE_HEIGHT * sum(heights))
    # A figure needs at least one area, even if there is no clause.
    areas = figure.subplots(len(panels) or 1, squeeze=False, height_ratios=heights or [1])
    for axes, panel in zip(areas.flat, panels, strict=False):
        draw_bars(axes, panel)
        title = "\n".join(panel.title_lines)
        axes.set_title(title, loc="left", color=INK, fontsize=TEXT_SIZE + 1, fontweight="bold")
    return figure


def count_characters_beside_bars(panels: Sequence[FunnelPanel]) -> int:
    """Return how many characters the longest texts on both sides of the bars have together.

    The name and the count are on the left of a bar, the reason is on its right.
    """
    bars = [bar for panel in panels for bar in panel.bars]
    longest_left = max((len(f"{bar.name}  {bar.count:,}  ") for bar in bars), default=0)
    longest_right = max((len(bar.reason) for bar in bars), default=0)
    return longest_left + longest_right


def draw_bars(axes: Axes, panel: FunnelPanel) -> None:
    """Draw a bar for each line of the funnel, as long as its share of the starting rows.

    The count is between the name and the bar. There are no tick marks, because a tick mark next to
    a count would look like a minus sign.
    """
    bars = panel.bars
    longest = max(1, panel.tried)
    colours = [REACHED] * (len(bars) - 1) + [MATCHED]  # the last bar counts the matches
    axes.barh(range(len(bars)), [bar.count for bar in bars], color=colours)
    label: Any = {"textcoords": "offset points", "color": INK, "fontsize": TEXT_SIZE}
    # Counts and reasons have the baseline of the names, which are the labels of ticks.
    label["va"] = "center_baseline"
    for y, bar in enumerate(bars):
        axes.annotate(f"{bar.count:,}", (0, y), (-5, 0), ha="right", **label)
        axes.annotate(bar.reason, (longest, y), (5, 0), **label)
    axes.set(xlim=(0, longest), xticks=[])
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], va="center_baseline")
    digits = len(f"{longest:,}")
    axes.tick_params(axis="y", length=0, pad=12 + 6 * digits, labelcolor=INK, labelsize=TEXT_SIZE)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
