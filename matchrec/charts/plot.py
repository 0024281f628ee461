"""A page of matches over the rows that they were found in."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.arguments import Kind, checked
from matchrec.charts.panels import (
    INK,
    check_matplotlib,
    draw_lanes,
    draw_lines,
    size_of_lanes,
    size_of_lines,
)
from matchrec.charts.series import MOST_MATCHES, Charted, Page
from matchrec.dataclass import dataclass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 100


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A page of a picture; a notebook shows it. figure: matplotlib's."""

    figure: Figure
    page: Page

    @checked(path=Kind("a path", lambda given: isinstance(given, str | Path)))
    def save(self, path: str | Path) -> None:
        """Write it to a file: PNG, SVG or PDF, as the name says."""
        self.figure.savefig(path, dpi=130)

    def _repr_html_(self) -> str:
        drawn = BytesIO()
        self.figure.savefig(drawn, format="png", dpi=DPI)
        picture = b64encode(drawn.getvalue()).decode()
        return f'<img alt="{self.summary}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        return f"<Plot: {self.summary}>"

    @property
    def summary(self) -> str:
        """What is drawn, in one line."""
        matches = len(self.page.spans)
        counts = f"{matches} match{'' if matches == 1 else 'es'} in {len(self.page.series)} series"
        return f"{counts}, page {self.page.number} of {self.page.pages}"


def draw_page(charted: Charted, number: int, panels: int) -> Plot:
    """A page of so many panels, or lanes where there is nothing to measure."""
    check_matplotlib()
    from matplotlib.figure import Figure

    found = charted.page(number, panels)
    size = size_of_lines if charted.is_measured else size_of_lanes
    figure = Figure(figsize=size(found.series), layout="constrained")
    if charted.is_measured:
        draw_lines(figure, found.series, found.spans, charted.named.y)
    else:
        draw_lanes(figure, found.series, found.spans)
    said = headline(found)
    if said:
        figure.suptitle(said, color=INK, fontsize=9)
    return Plot(figure, found)


def headline(page: Page) -> str:
    """What the picture does not show."""
    parts = [f"page {page.number} of {page.pages}"] * (page.pages > 1)
    parts += [f"the first {MOST_MATCHES} matches"] * (not page.all_matches)
    return ", ".join(parts)
