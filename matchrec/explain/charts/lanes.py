"""Draw series of texts: a lane for each series, with a point for each row and its text above it.

             home    cart    pay
    user 1    o       o-------o       the points of a match are joined

Texts that would overlap are below the point or left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matchrec.explain.charts.axes import (
    MOST_CHARACTERS,
    SMALL,
    WIDTH,
    AxisLabels,
    draw_note,
    shorten,
    show_times,
    style_panel,
)
from matchrec.explain.charts.legend import NO_ROWS, draw_legend
from matchrec.explain.charts.series import MatchSpan, Series
from matchrec.explain.pictures.figures import FAINT, INK, MATCH_BAND, MATCHED, POINTS_PER_INCH

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The number of characters of a text that a lane shows.
MOST_TEXT = 16

# The width of a character in points.
CHARACTER_WIDTH = 4.6

# The part of a lane that is free before its first and after its last row.
MARGIN = 0.05

# The heights of a lane, and of the legend and the axis together, in inches.
LANE_HEIGHT, REST_HEIGHT = 0.6, 0.9

# The width of a character of a lane's name, and of everything else beside the lanes, in points.
NAME_CHARACTER_WIDTH, REST_WIDTH = 6, 60


def draw_lanes(
    figure: Figure,
    series: Mapping[str, Series],
    spans: Sequence[MatchSpan],
    labels: AxisLabels,
    other_times: Sequence[Any] = (),
) -> None:
    """Draw a lane for each series, with a point for each row.

    Args:
        figure: an empty figure.
        series: the name of each series, and the series.
        spans: the matches.
        labels: the labels of the axes.
        other_times: times at which the caller draws something on the lanes, too.
    """
    if not series:
        draw_note(figure, NO_ROWS)
        return
    figure.set_size_inches(WIDTH, LANE_HEIGHT * len(series) + REST_HEIGHT)
    panel = figure.subplots()
    all_times = [time for points in series.values() for time in points.times]
    all_times.extend(other_times)
    names = [shorten(name) for name in series]
    name_width = NAME_CHARACTER_WIDTH * max(map(len, names))
    lane_width = (POINTS_PER_INCH * WIDTH - name_width - REST_WIDTH) / (1 + 2 * MARGIN)
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(points.times, [lane] * len(points.times), color=FAINT, zorder=2)
        matched_times: set[Any] = set()
        for span in spans:
            if span.is_in_series(name):
                matched_times.update(draw_span(panel, lane, points, span))
        write_texts(
            panel,
            lane,
            choose_texts(points, matched_times, min(all_times), max(all_times), lane_width),
        )
    lane_labels = AxisLabels(labels.x, labels.series)
    most_y = min(9 * len(names), MOST_CHARACTERS)
    style_panel(panel, "", lane_labels.shorten(MOST_CHARACTERS, most_y))
    show_times(panel, all_times)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.65)
    panel.margins(x=MARGIN)
    if spans:
        draw_legend(figure, match_form="o-", other_form="o")


@dataclass(frozen=True, slots=True)
class LaneText:
    """The text of a row on a lane."""

    # The time of the row.
    time: Any
    # The text, shortened.
    text: str
    # Whether the text is above the point of the row. Otherwise it is below.
    is_above: bool


def write_texts(panel: Axes, lane: int, texts: Sequence[LaneText]) -> None:
    """Write the texts of a lane above or below its points."""
    for lane_text in texts:
        offset, alignment = (6, "bottom") if lane_text.is_above else (-6, "top")
        panel.annotate(
            lane_text.text,
            (lane_text.time, lane),
            xytext=(0, offset),
            textcoords="offset points",
            ha="center",
            va=alignment,
            fontsize=SMALL,
            color=INK,
        )


def choose_texts(
    points: Series, matched_times: Collection[Any], first: Any, last: Any, width: float
) -> list[LaneText]:
    """Return the texts of a lane that can be shown without overlapping, in order of time.

    A text that does not fit above its point may fit below it.

    Args:
        points: the rows of the lane.
        matched_times: the times of rows in matches. Their texts are chosen before others.
        first: the first time along the axis.
        last: the last time along the axis.
        width: the width between these times in points.
    """
    chosen: list[LaneText] = []
    # The left and the right end of each chosen text in points: of those above, and of those below.
    occupied: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    rows = list(zip(points.times, points.values, strict=True))
    for time, value in sorted(rows, key=lambda row: row[0] not in matched_times):
        text = shorten(str(value), MOST_TEXT)
        middle = width * float((time - first) / (last - first)) if last > first else 0.0
        half = (CHARACTER_WIDTH * len(text) + 3) / 2
        for is_above, intervals in occupied.items():
            if all(middle + half <= left or right <= middle - half for left, right in intervals):
                chosen.append(LaneText(time, text, is_above))
                intervals.append((middle - half, middle + half))
                break
    return sorted(chosen, key=lambda lane_text: lane_text.time)


def draw_span(panel: Axes, lane: int, points: Series, span: MatchSpan) -> list[Any]:
    """Draw the rows of a match on its lane, joined over a band, and return their times."""
    times = [
        time
        for time, may_match in zip(points.times, points.matched, strict=True)
        if may_match and span.first <= time <= span.last
        if not span.rows or time in span.rows
    ]
    if times:
        lanes = [lane] * len(times)
        panel.plot(times, lanes, color=MATCH_BAND, linewidth=15, solid_capstyle="round", zorder=0)
        panel.plot(times, lanes, "o-", color=MATCHED, zorder=3, gid=span.id)
    return times
