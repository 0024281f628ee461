"""Matches drawn over the rows that they were found in: lines, or points on lanes, page by page."""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.arguments import ArgumentKind, checked
from matchrec.explain.charts.series import MOST_MATCHES, Charted, MatchSpan, Page, Series
from matchrec.explain.pictures.figures import FAINT, INK, check_matplotlib, new_figure, written
from matchrec.source import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MATCH, BAND = "#c8102e", "#fbe9ec"
WIDTH = 9  # inches
MOST_TEXTS = 60  # on a lane


def draw_lines(
    figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan], measured: str
) -> None:
    """A panel with a line for each series, one panel at least."""
    columns = min(2, max(1, len(series)))
    rows = max(1, -(-len(series) // columns))
    figure.set_size_inches(WIDTH, 2.3 * rows + 0.2)
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        found = [span for span in spans if span.series in (None, name)]
        draw_line(panel, line, found)
        matches = counted(len(found), "match", "matches")
        style(panel, f"{name}: {matches}" if name else matches, measured)
        show_dates(panel, line.times)
        show_whole_numbers(panel, line.values)
    for place in range(len(series), len(panels)):
        panels[place].set_visible(False)
        panels[place - columns].tick_params(labelbottom=True)


def draw_line(panel: Axes, line: Series, spans: Iterable[MatchSpan]) -> None:
    """A line, and over it each span in colour, its rows as points where they are known."""
    panel.plot(line.times, line.values, color=FAINT, linewidth=1.2, zorder=1)
    for span in spans:
        first, last = bisect_left(line.times, span.first), bisect_right(line.times, span.last)
        times, values = line.times[first:last], line.values[first:last]
        panel.axvspan(span.first, span.last, color=BAND, linewidth=0, zorder=0, gid=span.id)
        panel.plot(times, values, color=MATCH, linewidth=2.2)
        own = set(span.rows) if len(times) > 1 else set(times)
        points = [(x, y) for x, y in zip(times, values, strict=True) if x in own]
        panel.plot([x for x, _ in points], [y for _, y in points], ".", color=MATCH)


def draw_lanes(figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan]) -> None:
    """A lane for each series with a point for each row, its text above it."""
    figure.set_size_inches(WIDTH, 0.62 * len(series) + 0.6)
    panel = figure.subplots()
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(points.times, [lane] * len(points.times), color=FAINT, zorder=2)
        for span in spans:
            if span.series in (None, name):
                draw_span(panel, lane, points, span)
        shown = zip(points.times, points.values, strict=True)
        for time, text in shown if len(points.times) <= MOST_TEXTS else ():
            above: Any = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            panel.annotate(text, (time, lane), color=INK, fontsize=7, **above)
        show_dates(panel, points.times)
    style(panel, "", "")
    panel.set_yticks(range(len(series)), list(series))
    panel.set_ylim(len(series) - 0.6, -0.6)
    panel.margins(x=0.04)


def draw_span(panel: Axes, lane: int, points: Series, span: MatchSpan) -> None:
    """The rows of a match on its lane, joined by a line over a band."""
    pairs = zip(points.times, points.matched, strict=True)
    between = [time for time, may in pairs if may and span.first <= time <= span.last]
    times = [time for time in between if not span.rows or time in span.rows]
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


def style(panel: Axes, title: str, measured: str) -> None:
    """A panel with a title, what its values are, no box and pale rules."""
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
    ...     PATTERN (DOWN+) DEFINE DOWN AS price < PREV(price)
    ... ''')
    >>> len(falls.plot(x="day", y="price").page.spans)
    1
    """

    figure: Figure
    page: Page

    @checked(path=ArgumentKind("a path", lambda given: isinstance(given, str | Path)))
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (DOWN) DEFINE DOWN AS price < PREV(price)
        ... ''')
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     falls.plot(x="day", y="price").save(f"{folder}/falls.png")
        ...     os.listdir(folder)
        ['falls.png']
        """
        self.figure.savefig(path, dpi=130)

    def _repr_html_(self) -> str:
        picture = b64encode(written(lambda: self.figure, "png")).decode()
        return f'<img alt="{self.summary}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        return f"<Plot: {self.summary}>"

    @property
    def summary(self) -> str:
        matches = counted(len(self.page.spans), "match", "matches")
        counts = f"{matches} in {len(self.page.series)} series"
        return f"{counts}, page {self.page.number} of {self.page.pages}"


def plot(charted: Charted, page: int, panels: int) -> Plot:
    """A page of so many panels, or lanes where there is nothing to measure: see `Query.plot`."""
    check_matplotlib()  # before any job runs
    found = charted.page(page, panels)
    figure = new_figure(WIDTH, 1)
    if charted.is_measured:
        draw_lines(figure, found.series, found.spans, charted.y)
    else:
        draw_lanes(figure, found.series, found.spans)
    not_shown = [f"page {page} of {found.pages}"] * (found.pages > 1)
    not_shown += [f"the first {MOST_MATCHES} matches"] * (not found.all_matches)
    if not_shown:
        figure.suptitle(", ".join(not_shown), color=INK, fontsize=9)
    return Plot(figure, found)
