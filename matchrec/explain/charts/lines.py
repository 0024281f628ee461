"""Draw series of numbers: each series is a line in its own panel, on which matches are coloured.

`lanes` draws series of texts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import (
    MAX_CHARACTERS,
    WIDTH,
    AxisLabels,
    draw_note,
    shorten_middle,
    show_numbers,
    show_times,
    style_panel,
)
from matchrec.explain.charts.legend import MATCH_LINE_WIDTH, NO_ROWS, OTHER_LINE_WIDTH, draw_legend
from matchrec.explain.charts.series import MatchSpan, Series, collect_times
from matchrec.explain.pictures.figures import FAINT_COLOUR, MATCH_BAND_COLOUR, MATCH_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The heights in inches: of a panel, and of the legend and the axis together.
PANEL_HEIGHT = 2.2
REST_HEIGHT = 0.5

# A match is short if the series is at least this many times as long.
TIMES_AS_LONG = 50

# How much wider the band of a short match is than the match, in points, so that the band of one row
# among many can be seen.
BAND_BORDER = 3

# The lines where a match begins or ends in another match: the width in points, and the dashes. A
# panel with more such places has no lines, because they would hide the matches.
EDGE_WIDTH = 1
EDGE_DASHES = (0, (4, 3))
MAX_EDGES = 40

# How many characters fit in the title of a narrow panel or below its x axis, in the title of a wide
# panel, and beside the y axis.
MAX_NARROW_TITLE = 12
MAX_WIDE_TITLE = 56
MAX_Y_LABEL = 18


def draw_lines(
    figure: Figure, series: Mapping[str, Series], spans: Sequence[MatchSpan], labels: AxisLabels
) -> None:
    """Draw a panel with a line for each series, in at most two columns.

    Args:
        figure: an empty figure, which gets the height of the panels.
        series: the series, by their names.
        spans: the matches in these series.
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
    short_labels = labels.shorten_labels(
        MAX_NARROW_TITLE if is_narrow else MAX_CHARACTERS, MAX_Y_LABEL
    )
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        series_spans = [span for span in spans if span.is_in_series(name)]
        draw_line(panel, line, series_spans)
        title = write_title(name, len(series_spans), is_narrow=is_narrow)
        style_panel(panel, title, short_labels)
        show_numbers(panel.yaxis, line.values)
    show_times(panels[0], collect_times(series), is_narrow=is_narrow)
    # Only the lowest panel of each column has a label below it.
    for panel in panels[:-column_count]:
        panel.set_xlabel("")
    has_unused_panel = len(panels) > len(series)
    if has_unused_panel:
        hide_last_panel(panels, column_count, short_labels)
    if spans:
        has_others = any(
            has_row_outside(line, [span for span in spans if span.is_in_series(name)])
            for name, line in series.items()
        )
        draw_legend(figure, match_format="-", other_format="-", has_others=has_others)


def hide_last_panel(panels: Sequence[Axes], column_count: int, labels: AxisLabels) -> None:
    """Hide the last panel, for which there is no series.

    The panel above it has nothing below it now, so it gets the labels of the time axis. So does the
    panel to its left, so that both have the same height.

    Args:
        panels: the panels, row after row.
        column_count: the number of panels in a row.
        labels: the labels of the axes.
    """
    panels[-1].set_visible(False)
    for panel in panels[-2 * column_count : -column_count]:
        panel.tick_params(labelbottom=True)
        style_panel(panel, panel.get_title(loc="left"), labels)


def has_row_outside(line: Series, spans: Iterable[MatchSpan]) -> bool:
    """Return whether a row of a series is in no match of the series.

    Args:
        line: the rows, in order of time.
        spans: the matches of the series, in any order.
    """
    ordered_spans = deque(sorted(spans, key=lambda span: span.first))
    # The latest end of the matches that begin at the row or before it.
    latest_end = None
    for time, value in zip(line.times, line.values, strict=True):
        while ordered_spans and ordered_spans[0].first <= time:
            end = ordered_spans.popleft().last
            latest_end = end if latest_end is None else max(latest_end, end)
        if value is not None and (latest_end is None or latest_end < time):
            return True
    return False


def write_title(name: str, match_count: int, *, is_narrow: bool) -> str:
    """Return the title of a panel, such as `ACME: 3 matches`.

    Args:
        name: the name of the series; "" if there is only one.
        match_count: the number of its matches.
        is_narrow: whether the panel has half the width of the picture.
    """
    matches = show_count(match_count, "match", "matches")
    if not name:
        return matches
    return f"{shorten_middle(name, MAX_NARROW_TITLE if is_narrow else MAX_WIDE_TITLE)}: {matches}"


def find_inner_edges(spans: Iterable[MatchSpan]) -> set[Any]:
    """Return the times at which a match begins or ends in another match.

    The bands of these matches join, so they look like one match. Two matches that share only a row
    have one such time.

    Args:
        spans: the matches of a series, in any order.
    """
    edges: set[Any] = set()
    latest_end = None
    for first, last in sorted({(span.first, span.last) for span in spans}):
        if latest_end is not None and first <= latest_end:
            edges.update((first, min(latest_end, last)))
        latest_end = last if latest_end is None else max(latest_end, last)
    return edges


def is_short(span: MatchSpan, line: Series) -> bool:
    """Return whether a match is so short that its band could hardly be seen."""
    if not line.times:
        return True
    is_small_part: bool = TIMES_AS_LONG * (span.last - span.first) <= line.times[-1] - line.times[0]
    return is_small_part


def draw_line(panel: Axes, line: Series, spans: Sequence[MatchSpan]) -> None:
    """Draw a series as a line, and on the line each match in colour, over a band.

    Points mark the rows of a match, if these are known. Dashed lines mark where a match begins or
    ends in another one.

    Args:
        panel: the panel of the series.
        line: the rows of the series.
        spans: the matches in these rows.
    """
    # A line of one row cannot be seen, so it has a point.
    marker = "." if len(line.times) == 1 else None
    panel.plot(
        line.times,
        line.values,
        color=FAINT_COLOUR,
        linewidth=OTHER_LINE_WIDTH,
        marker=marker,
        zorder=1,
    )
    edges = find_inner_edges(spans)
    if len(edges) <= MAX_EDGES:
        for edge in edges:
            panel.axvline(edge, color=MATCH_COLOUR, linewidth=EDGE_WIDTH, linestyle=EDGE_DASHES)
    for span in spans:
        draw_match(panel, line, span)


def draw_match(panel: Axes, line: Series, span: MatchSpan) -> None:
    """Draw a match on the line of its series, over a band."""
    begin = bisect_left(line.times, span.first)
    end = bisect_right(line.times, span.last)
    times = line.times[begin:end]
    values = line.values[begin:end]
    band: Any = {"color": MATCH_BAND_COLOUR, "zorder": 0, "gid": span.id}
    border = BAND_BORDER if is_short(span, line) else 0
    panel.axvspan(span.first, span.last, linewidth=border, **band)
    panel.plot(times, values, color=MATCH_COLOUR, linewidth=MATCH_LINE_WIDTH)
    # A match of one row has no line, so it always has a large point.
    point_times = set(span.row_times) if len(times) > 1 else set(times)
    points = [(x, y) for x, y in zip(times, values, strict=True) if x in point_times]
    match_marker = "." if len(times) > 1 else "o"
    panel.plot([x for x, _ in points], [y for _, y in points], match_marker, color=MATCH_COLOUR)
