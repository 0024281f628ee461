"""Rows as lines or as points on lanes, the matches in the colours of the demo."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from matchrec.cli.draw import BAND, LINE, MATCH, TEXT, draw_line, plottable, style
from tests.benchmarks.pictures import new_figure

WIDTH = 9  # inches


@dataclass(frozen=True)
class Series:
    """Rows of one partition, in order of time: a number or a text for each.

    matched: whether a row is one that a match may contain, if it lies between its ends.
    """

    times: Sequence[date]
    values: Sequence[Any]
    matched: Sequence[bool]


@dataclass(frozen=True)
class Span:
    """The first and the last row of a match, in one of the series or across all (None)."""

    series: str | None
    first: date
    last: date

    @property
    def id(self) -> str:
        """Its name in the SVG."""
        return "match-" + re.sub(r"\W+", "-", f"{self.series} {self.first} {self.last}")


def lines(series: Mapping[str, Series], spans: Sequence[Span], measured: str) -> Figure:
    """A panel with a line for each series."""
    columns = min(2, len(series))
    rows = -(-len(series) // columns)
    figure = new_figure(figsize=(WIDTH, 2.3 * rows + 0.2))
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False).flat
    for panel, (name, line) in zip(panels, series.items(), strict=True):
        found = [span for span in spans if span.series in (None, name)]
        ends = [(span.first, span.last) for span in found]
        for band, span in zip(draw_line(panel, line.times, line.values, ends), found, strict=True):
            band.set_gid(span.id)
        style(panel, title(name, len(found)), measured)
        show_dates(panel)
    return figure


def lanes(series: Mapping[str, Series], spans: Sequence[Span]) -> Figure:
    """A lane for each series with a point for each row, its text above it."""
    figure = new_figure(figsize=(WIDTH, 0.62 * len(series) + 0.6))
    panel = figure.subplots()
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(plottable(points.times), [lane] * len(points.times), color=LINE, zorder=2)
        for span in spans:
            if span.series in (None, name):
                draw_span(panel, lane, points, span)
        for time, text in zip(points.times, points.values, strict=True):
            above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            panel.annotate(text, (time, lane), color=TEXT, fontsize=7, **above)
    style(panel, "", "")
    panel.set_yticks(range(len(series)), list(series))
    panel.set_ylim(len(series) - 0.6, -0.6)
    panel.margins(x=0.04)
    show_dates(panel)
    return figure


def draw_span(panel: Axes, lane: int, points: Series, span: Span) -> None:
    """The rows of a match on its lane, joined by a line over a band."""
    pairs = zip(points.times, points.matched, strict=True)
    times = plottable([time for time, may in pairs if may and span.first <= time <= span.last])
    if not times:
        return
    panel.plot(
        times, [lane] * len(times), color=BAND, linewidth=15, solid_capstyle="round", zorder=0
    )
    panel.plot(times, [lane] * len(times), "o-", color=MATCH, zorder=3, gid=span.id)


def title(name: str, matches: int) -> str:
    return f"{name}   {matches} " + ("match" if matches == 1 else "matches")


def show_dates(panel: Axes) -> None:
    """Few and short dates at the ticks."""
    locator = AutoDateLocator()
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(ConciseDateFormatter(locator))
