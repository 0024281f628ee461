"""`plot`: the matches of a query over the rows that they were found in."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.arguments import DATAFRAME, Kind, checked, instance_of, is_whole
from matchrec.charts.columns import Named
from matchrec.charts.panels import (
    INK,
    check_matplotlib,
    draw_lanes,
    draw_lines,
    size_of_lanes,
    size_of_lines,
)
from matchrec.charts.series import MOST_MATCHES, Charted, Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

NAME = Kind("the name of a column", instance_of(str), 'write {argument}="name"')
COUNT = Kind("a whole number from 1", lambda given: is_whole(given) and given >= 1)
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
        counts = f"{len(self.page.spans)} matches in {len(self.page.series)} series"
        return f"{counts}, page {self.page.number} of {self.page.pages}"


@checked(
    matches=DATAFRAME,
    data=DATAFRAME,
    x=NAME,
    y=NAME,
    by=NAME.or_none(),
    start=NAME.or_none(),
    end=NAME.or_none(),
    match=NAME.or_none(),
    page=COUNT,
    panels=COUNT,
)
def plot(  # noqa: PLR0913 -- public signature
    matches: DataFrame,
    data: DataFrame,
    *,
    x: str,
    y: str,
    by: str | None = None,
    start: str | None = None,
    end: str | None = None,
    match: str | None = None,
    page: int = 1,
    panels: int = 6,
) -> Plot:
    """Matches of `sql`, `sase` or `detect` drawn over the rows that they were found in.

    x, y: columns of `data`; x is a date, an instant or a number, y a number, drawn as a line, or a
    text, drawn above a point. by: the column whose values are the series, each with a panel; it is
    also one of `matches`, or of the events in their arrays.

    Where a match lies is told by arrays of events with x in them; or else by two columns of the
    type of x with names such as first_day and last_day, start_time and end_time, from and to; or
    else by x itself and a match number, of ALL ROWS PER MATCH. start, end: these two columns, where
    their names do not tell. match: the column with the match number.

    Of a long series, each column of pixels shows the first, last, lowest and highest row. page: of
    so many `panels`; series without matches have none. Runs a few jobs. Raises
    MatchRecognizePlanError where columns are missing; needs matplotlib.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    charted = Charted(matches, data, Named(x, y, by, start, end, match))
    found = charted.page(page, panels)
    size = size_of_lines if charted.is_measured else size_of_lanes
    figure = Figure(figsize=size(found.series), layout="constrained")
    if charted.is_measured:
        draw_lines(figure, found.series, found.spans, y)
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
