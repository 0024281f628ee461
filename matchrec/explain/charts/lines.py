"""Draw series of numbers: a panel with a line for each series, on which matches are coloured."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import (
    MOST_CHARACTERS,
    WIDTH,
    AxisLabels,
    draw_note,
    shorten,
    show_numbers,
    show_times,
    style_panel,
)
from matchrec.explain.charts.legend import NO_ROWS, draw_legend
from matchrec.explain.charts.series import MatchSpan, Series
from matchrec.explain.pictures.figures import FAINT, MATCH_BAND, MATCHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The heights of a panel, and of the legend and the axis together, in inches.
PANEL_HEIGHT, REST_HEIGHT = 2.2, 0.5


def draw_lines(
    figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan], labels: AxisLabels
) -> None:
    """Draw a panel with a line for each series, in at most two columns.

    Args:
        figure: an empty figure.
        series: the name of each series, and the series.
        spans: the matches.
        labels: the labels of the axes.
    """
    if not series:
        draw_note(figure, NO_ROWS)
        return
    column_count = min(2, len(series))
    row_count = ceil(len(series) / column_count)
    is_narrow = column_count > 1
    figure.set_size_inches(WIDTH, PANEL_HEIGHT * row_count + REST_HEIGHT)
    panels = list(figure.subplots(row_count, column_count, sharex=True, squeeze=False).flat)
    labels = labels.shorten(18 if is_narrow else MOST_CHARACTERS, 20)
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        series_spans = [span for span in spans if span.is_in_series(name)]
        draw_line(panel, line, series_spans)
        matches = show_count(len(series_spans), "match", "matches")
        title = f"{shorten(name, 18 if is_narrow else 70)}: {matches}" if name else matches
        style_panel(panel, title, labels)
        show_numbers(panel.yaxis, line.values)
    all_times = [time for line in series.values() for time in line.times]
    show_times(panels[0], all_times, is_narrow=is_narrow)
    # Only the lowest panel of each column has a label below it.
    for panel in panels[:-column_count]:
        panel.set_xlabel("")
    for index in range(len(series), len(panels)):
        panels[index].set_visible(False)
        lowest = panels[index - column_count]
        lowest.tick_params(labelbottom=True)
        style_panel(lowest, lowest.get_title(loc="left"), labels)
    if spans:
        draw_legend(figure, match_form="-", other_form="-")


def draw_line(panel: Axes, line: Series, spans: Iterable[MatchSpan]) -> None:
    """Draw a line, and over it each match in colour, with points for its rows if they are known.

    Args:
        panel: where to draw.
        line: the rows.
        spans: the matches in these rows.
    """
    # A line of one row cannot be seen, so it has a point.
    marker = "." if len(line.times) == 1 else None
    panel.plot(line.times, line.values, color=FAINT, linewidth=1.2, marker=marker, zorder=1)
    for span in spans:
        first, last = bisect_left(line.times, span.first), bisect_right(line.times, span.last)
        times, values = line.times[first:last], line.values[first:last]
        panel.axvspan(span.first, span.last, color=MATCH_BAND, linewidth=0, zorder=0, gid=span.id)
        panel.plot(times, values, color=MATCHED, linewidth=2.2)
        # A match of one row has no line and no band, so it always has a large point.
        point_times = set(span.rows) if len(times) > 1 else set(times)
        points = [(x, y) for x, y in zip(times, values, strict=True) if x in point_times]
        marker = "." if len(times) > 1 else "o"
        panel.plot([x for x, _ in points], [y for _, y in points], marker, color=MATCHED)
