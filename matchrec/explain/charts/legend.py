"""The legend of a picture of matches, and the text that a picture without rows shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.explain.charts.axes import SMALL_SIZE
from matchrec.explain.pictures.figures import FAINT_COLOUR, MATCH_COLOUR, TEXT_COLOUR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The text that is drawn if there are no rows.
NO_ROWS = "There are no rows to draw."


def draw_legend(figure: Figure, *, match_form: str, other_form: str, has_others: bool) -> None:
    """Write above the panels which colour matches and other rows have.

    Args:
        figure: the figure.
        match_form: how a match is drawn, in the notation of matplotlib: `-` is a line, `o` a point,
            `o-` both.
        other_form: how other rows are drawn, in the same notation.
        has_others: whether there is a row that is in no match.
    """
    from matplotlib.lines import Line2D

    def make_entry(label: str, form: str, colour: str, width: float) -> Line2D:
        """Return a line that the legend shows beside a label."""
        marker = "o" if "o" in form else None
        style = "-" if "-" in form else ""
        return Line2D([], [], color=colour, linewidth=width, marker=marker, ls=style, label=label)

    entries = [make_entry("match", match_form, MATCH_COLOUR, 2.2)]
    if has_others:
        entries.append(make_entry("other rows", other_form, FAINT_COLOUR, 1.2))
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
