"""Draw matches over the rows in which they were found, page by page.

Numbers are drawn as lines, texts as points on lanes.
"""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.arguments import ArgumentKind, check_arguments
from matchrec.errors.wording import show_count
from matchrec.explain.charts.series import MOST_MATCHES, ChartSource, MatchSpan, Page, Series
from matchrec.explain.pictures.figures import FAINT, INK, check_matplotlib, make_figure, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of a match, and of the band around it.
MATCH, BAND = "#c8102e", "#fbe9ec"

# The width of a picture, in inches.
WIDTH = 9

# How many texts a lane shows.
MOST_TEXTS = 60


def draw_lines(
    figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan], measured: str
) -> None:
    """Draw a panel with a line for each series, in at most two columns.

    Args:
        figure: an empty figure.
        series: the name of each series, and the series. Without any, the figure is empty.
        spans: the matches.
        measured: the label of the vertical axis.
    """
    columns = min(2, max(1, len(series)))
    rows = max(1, -(-len(series) // columns))
    figure.set_size_inches(WIDTH, 2.3 * rows + 0.2)
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        series_spans = [span for span in spans if span.series in (None, name)]
        draw_line(panel, line, series_spans)
        matches = show_count(len(series_spans), "match", "matches")
        style_panel(panel, f"{name}: {matches}" if name else matches, measured)
        show_dates(panel, line.times)
        show_whole_numbers(panel, line.values)
    for index in range(len(series), len(panels)):
        panels[index].set_visible(False)
        panels[index - columns].tick_params(labelbottom=True)  # the panel above is the last one


def draw_line(panel: Axes, line: Series, spans: Iterable[MatchSpan]) -> None:
    """Draw a line, and over it each match in colour, with points for its rows if they are known."""
    panel.plot(line.times, line.values, color=FAINT, linewidth=1.2, zorder=1)
    for span in spans:
        first, last = bisect_left(line.times, span.first), bisect_right(line.times, span.last)
        times, values = line.times[first:last], line.values[first:last]
        panel.axvspan(span.first, span.last, color=BAND, linewidth=0, zorder=0, gid=span.id)
        panel.plot(times, values, color=MATCH, linewidth=2.2)
        # A match of one row has no line, so it always has a point.
        point_times = set(span.rows) if len(times) > 1 else set(times)
        points = [(x, y) for x, y in zip(times, values, strict=True) if x in point_times]
        panel.plot([x for x, _ in points], [y for _, y in points], ".", color=MATCH)


def draw_lanes(figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan]) -> None:
    """Draw a lane for each series, with a point for each row and its text above it."""
    figure.set_size_inches(WIDTH, 0.62 * len(series) + 0.6)
    panel = figure.subplots()
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(points.times, [lane] * len(points.times), color=FAINT, zorder=2)
        for span in spans:
            if span.series in (None, name):
                draw_span(panel, lane, points, span)
        if len(points.times) <= MOST_TEXTS:
            above: Any = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            for time, text in zip(points.times, points.values, strict=True):
                panel.annotate(text, (time, lane), color=INK, fontsize=7, **above)
        show_dates(panel, points.times)
    style_panel(panel, "", "")
    panel.set_yticks(range(len(series)), list(series))
    panel.set_ylim(len(series) - 0.6, -0.6)
    panel.margins(x=0.04)


def draw_span(panel: Axes, lane: int, points: Series, span: MatchSpan) -> None:
    """Draw the rows of a match on its lane, joined by a line over a band."""
    times = [
        time
        for time, may_match in zip(points.times, points.matched, strict=True)
        if may_match and span.first <= time <= span.last
        if not span.rows or time in span.rows
    ]
    if not times:
        return
    lanes = [lane] * len(times)
    panel.plot(times, lanes, color=BAND, linewidth=15, solid_capstyle="round", zorder=0)
    panel.plot(times, lanes, "o-", color=MATCH, zorder=3, gid=span.id)


# How a tick is written, by the smallest unit that the ticks differ in: years, months, days, hours,
# minutes, seconds.
TICKS = ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%S.%f"]
FIRST_TICKS = ["", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M"]  # the first tick of a larger unit
CORNERS = ["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d %H:%M"]  # the rest of the last tick


def show_dates(panel: Axes, times: Sequence[Any]) -> None:
    """Label the ticks of a time axis with few and short dates.

    The corner shows what the labels leave out. A day has its month in its label, because the corner
    could name only one month and an axis often begins in another.
    """
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    if times and isinstance(times[0], date):
        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        panel.xaxis.set_major_locator(locator)
        formatter = ConciseDateFormatter(  # type: ignore[no-untyped-call]
            locator, formats=TICKS, zero_formats=FIRST_TICKS, offset_formats=CORNERS
        )
        panel.xaxis.set_major_formatter(formatter)


def show_whole_numbers(panel: Axes, values: Iterable[Any]) -> None:
    """Put the ticks of the value axis at whole numbers if all values are whole: 4, 5, not 4.2."""
    from matplotlib.ticker import MaxNLocator

    if all(float(value).is_integer() for value in values if value is not None):
        panel.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def style_panel(panel: Axes, title: str, measured: str) -> None:
    """Give a panel a title, a label of the vertical axis and pale lines, and remove its box."""
    panel.set_title(title, loc="left", color=INK, fontsize=12, fontweight="bold")
    panel.set_ylabel(measured, color=INK, fontsize=9)
    panel.grid(axis="y", color="#edf0f4")
    panel.set_axisbelow(True)
    panel.margins(x=0.01, y=0.12)
    panel.tick_params(colors=INK, labelsize=9)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A picture of matches, from `Query.plot`. A notebook shows it.

    Attributes:
        figure: the figure of matplotlib.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> len(falls.plot(x="day", y="price").page.spans)
    1
    """

    figure: Figure
    page: Page

    @check_arguments(path=ArgumentKind("a path", lambda value: isinstance(value, str | Path)))
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     falls.plot(x="day", y="price").save(f"{folder}/falls.png")
        ...     os.listdir(folder)
        ['falls.png']
        """
        self.figure.savefig(path, dpi=130)

    def _repr_html_(self) -> str:
        """Return the picture as a PNG inside of HTML."""
        picture = b64encode(render(lambda: self.figure, "png")).decode()
        return f'<img alt="{self.summary}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        """Return the summary."""
        return f"<Plot: {self.summary}>"

    @property
    def summary(self) -> str:
        """The number of matches and series, and the number of the page."""
        matches = show_count(len(self.page.spans), "match", "matches")
        counts = f"{matches} in {len(self.page.series)} series"
        return f"{counts}, page {self.page.number} of {self.page.pages}"


def plot(charted: ChartSource, page: int, panels: int) -> Plot:
    """Draw a page: see `Query.plot`. Runs jobs.

    Args:
        charted: the rows and the matches.
        page: the number of the page, from 1.
        panels: how many series a page has: panels with lines, or lanes if values are not numbers.

    Raises:
        MatchRecognizeError: matplotlib is missing, or a column or the page does not exist.
    """
    check_matplotlib()  # before any job runs
    drawn_page = charted.read_page(page, panels)
    figure = make_figure(WIDTH, 1)
    if charted.is_measured:
        draw_lines(figure, drawn_page.series, drawn_page.spans, charted.y)
    else:
        draw_lanes(figure, drawn_page.series, drawn_page.spans)
    notes = []
    if drawn_page.pages > 1:
        notes.append(f"page {page} of {drawn_page.pages}")
    if not drawn_page.all_matches:
        notes.append(f"the first {MOST_MATCHES} matches")
    if notes:
        figure.suptitle(", ".join(notes), color=INK, fontsize=9)
    return Plot(figure, drawn_page)
