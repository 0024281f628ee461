"""The legend of a picture of matches, and the text that a picture without rows shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.explain.charts.axes import SMALL_SIZE
from matchrec.explain.pictures.figures import FAINT_COLOUR, MATCH_COLOUR, TEXT_COLOUR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The text that is drawn if there are no rows.
NO_ROWS = "There are no rows to draw."

# The widths of the lines of matches and of other rows, in points.
MATCH_LINE_WIDTH = 2.2
OTHER_LINE_WIDTH = 1.2


def draw_legend(figure: Figure, *, match_format: str, other_format: str, has_others: bool) -> None:
    """Write above the panels which colour matches and other rows have.

    Args:
        figure: the figure with the panels.
        match_format: how a match is drawn, in the notation of matplotlib: `-` is a line, `o` a
            point, `o-` both.
        other_format: how other rows are drawn, in the same notation.
        has_others: whether there is a row that is in no match.
    """
    from matplotlib.lines import Line2D

    def make_entry(label: str, format_: str, colour: str, width: float) -> Line2D:
        """Return a line that the legend shows beside a label."""
        marker = "o" if "o" in format_ else None
        style = "-" if "-" in format_ else ""
        return Line2D([], [], color=colour, linewidth=width, marker=marker, ls=style, label=label)

    entries = [make_entry("match", match_format, MATCH_COLOUR, MATCH_LINE_WIDTH)]
    if has_others:
        entries.append(make_entry("other rows", other_format, FAINT_COLOUR, OTHER_LINE_WIDTH))
    figure.legend(
        handles=entries,
        loc="outside upper left",
        ncols=len(entries),
        frameon=False,
        fontsize=SMALL_SIZE,
        labelcolor=TEXT_COLOUR,
        borderpad=0.1,
        borderaxespad=0.5,
    )
