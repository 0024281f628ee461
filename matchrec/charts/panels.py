"""Rows as lines or as points on lanes, with matches in colour over them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from matchrec.dataclass import dataclass
from matchrec.errors import environment as errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE, MATCH, BAND, INK = "#9aa5b5", "#c8102e", "#fbe9ec", "#2b2f36"
WIDTH = 9  # inches
MOST_TEXTS = 60  # on a lane


def check_matplotlib() -> None:
    """Raises where matplotlib is not installed."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise errors.no_matplotlib()


@dataclass(frozen=True)
class Series:
    """Rows of one partition, in order of time: a number or a text for each.

    matched: whether a row is one that a match may contain, if it lies between its ends.
    """

    times: Sequence[Any]
    values: Sequence[Any]
    matched: Sequence[bool]


@dataclass(frozen=True)
class Span:
    """The first and the last row of a match, in one of the series or across all (None).

    rows: the times of all its rows, where they are known.
    """

    series: str | None
    first: Any
    last: Any
    rows: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """Its name in the SVG."""
        return "match-" + re.sub(r"\W+", "-", f"{self.series} {self.first} {self.last}")


def size_of_lines(series: Mapping[str, Series]) -> tuple[float, float]:
    """The size of a figure of lines, in inches."""
    rows = -(-len(series) // min(2, len(series)))
    return WIDTH, 2.3 * rows + 0.2


def size_of_lanes(series: Mapping[str, Series]) -> tuple[float, float]:
    """The size of a figure of lanes, in inches."""
    return WIDTH, 0.62 * len(series) + 0.6


def draw_lines(
    figure: Figure, series: Mapping[str, Series], spans: Sequence[Span], measured: str
) -> None:
    """A panel with a line for each series."""
    columns = min(2, len(series))
    rows = -(-len(series) // columns)
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        found = [span for span in spans if span.series in (None, name)]
        for band, span in zip(draw_line(panel, line, found), found, strict=True):
            band.set_gid(span.id)
        style(panel, title(name, len(found)), measured)
        show_dates(panel, line.times)
    for place in range(len(series), len(panels)):
        panels[place].set_visible(False)
        panels[place - columns].tick_params(labelbottom=True)


def draw_line(panel: Axes, line: Series, spans: Iterable[Span]) -> list[Any]:
    """A line, and over it each span in colour, its rows as points where they are known."""
    panel.plot(plottable(line.times), line.values, color=LINE, linewidth=1.2, zorder=1)
    bands = []
    for span in spans:
        first, last = bisect_left(line.times, span.first), bisect_right(line.times, span.last)
        times, values = line.times[first:last], line.values[first:last]
        bands.append(panel.axvspan(span.first, span.last, color=BAND, linewidth=0, zorder=0))
        panel.plot(plottable(times), values, color=MATCH, linewidth=2.2)
        own = set(span.rows) if len(times) > 1 else set(times)
        points = [(x, y) for x, y in zip(times, values, strict=True) if x in own]
        panel.plot([x for x, _ in points], [y for _, y in points], ".", color=MATCH)
    return bands


def plottable(times: Sequence[date]) -> Any:
    """Dates as matplotlib takes them; its type stubs know numbers only."""
    return times


def draw_lanes(figure: Figure, series: Mapping[str, Series], spans: Sequence[Span]) -> None:
    """A lane for each series with a point for each row, its text above it."""
    panel = figure.subplots()
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(plottable(points.times), [lane] * len(points.times), color=LINE, zorder=2)
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


def draw_span(panel: Axes, lane: int, points: Series, span: Span) -> None:
    """The rows of a match on its lane, joined by a line over a band."""
    pairs = zip(points.times, points.matched, strict=True)
    between = [time for time, may in pairs if may and span.first <= time <= span.last]
    times = plottable([time for time in between if not span.rows or time in span.rows])
    if not times:
        return
    panel.plot(
        times, [lane] * len(times), color=BAND, linewidth=15, solid_capstyle="round", zorder=0
    )
    panel.plot(times, [lane] * len(times), "o-", color=MATCH, zorder=3, gid=span.id)


def title(name: str, matches: int) -> str:
    return f"{name}   {matches} " + ("match" if matches == 1 else "matches")


def show_dates(panel: Axes, times: Sequence[Any]) -> None:
    """Few and short dates at the ticks."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    if times and isinstance(times[0], date):
        locator = AutoDateLocator()  # type: ignore[no-untyped-call]
        panel.xaxis.set_major_locator(locator)
        panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


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
