"""Draw series of texts: a lane for each series, with a point for each row and its text above it.

             home    cart    pay
    user 1    o       o-------o       the points of a match are joined

A text that would overlap with another text is below its point, or is left out. `lines` draws series
of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from matchrec.explain.charts.axes import (
    MAX_CHARACTERS,
    SMALL_SIZE,
    WIDTH,
    AxisLabels,
    draw_note,
    shorten_middle,
    show_times,
    style_panel,
)
from matchrec.explain.charts.legend import NO_ROWS, draw_legend
from matchrec.explain.charts.series import MatchSpan, Series, collect_times
from matchrec.explain.pictures.figures import (
    FAINT_COLOUR,
    MATCH_BAND_COLOUR,
    MATCH_COLOUR,
    POINTS_PER_INCH,
    TEXT_COLOUR,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The largest number of characters of a text that a lane shows.
MAX_TEXT_CHARACTERS = 16

# The width of a character of a text, in points.
CHARACTER_WIDTH = 5.2

# The gap between two texts, in points. The wide gap keeps `1` and `480` from reading as one number.
# The narrow gap is used for a text that has no place otherwise.
WIDE_TEXT_GAP = 9
TEXT_GAP = 3

# How far a text is above or below its point, in points.
TEXT_OFFSET = 6

# The height of the band around the points of a match, in points.
BAND_HEIGHT = 15

# The free space before the first row and after the last row of the lanes, as a share of the width
# between these rows.
MARGIN = 0.05

# The space above the first lane and below the last lane, as shares of the distance of two lanes.
# There is more above, for the texts of the first lane.
SPACE_ABOVE = 0.65
SPACE_BELOW = 0.5

# The heights in inches: of a lane, and of the legend and the axis together.
LANE_HEIGHT = 0.6
REST_HEIGHT = 0.9

# The widths in points: of a character of a lane's name, and of everything else beside the lanes.
NAME_CHARACTER_WIDTH = 6.5
REST_WIDTH = 64

# How many characters of the label of the y axis fit beside a lane.
LABEL_CHARACTERS_PER_LANE = 9


def draw_lanes(
    figure: Figure,
    series: Mapping[str, Series],
    spans: Sequence[MatchSpan],
    labels: AxisLabels,
    other_times: Sequence[Any] = (),
) -> None:
    """Draw a lane for each series, with a point for each row.

    Args:
        figure: an empty figure, which gets the height of the lanes.
        series: the series, by their names.
        spans: the matches in these series.
        labels: the labels of the axes.
        other_times: times at which the caller draws further things on the lanes. The time axis
            covers these times, too.
    """
    if not series:
        draw_note(figure, NO_ROWS)
        return
    figure.set_size_inches(WIDTH, LANE_HEIGHT * len(series) + REST_HEIGHT)
    panel = figure.subplots()
    all_times = [*collect_times(series), *other_times]
    names = [shorten_middle(name) for name in series]
    axis = TimeAxis(first=min(all_times), last=max(all_times), width=measure_lane_width(names))
    has_others = False
    for lane, (name, points) in enumerate(series.items()):
        lane_spans = [span for span in spans if span.is_in_series(name)]
        matched_times = draw_lane(panel, lane, points, lane_spans, axis)
        has_others |= not matched_times.issuperset(points.times)
    max_label_characters = min(LABEL_CHARACTERS_PER_LANE * len(names), MAX_CHARACTERS)
    lane_labels = AxisLabels(labels.x, labels.series)
    style_panel(panel, "", lane_labels.shorten_labels(MAX_CHARACTERS, max_label_characters))
    show_times(panel, all_times)
    panel.set_yticks(range(len(names)), names)
    # The first lane is on top.
    panel.set_ylim(len(names) - 1 + SPACE_BELOW, -SPACE_ABOVE)
    panel.margins(x=MARGIN)
    if spans:
        draw_legend(figure, match_format="o-", other_format="o", has_others=has_others)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The time axis of all lanes."""

    # The first and the last time: both are dates, date-times or numbers.
    first: Any
    last: Any
    # The distance between these times on the axis, in points.
    width: float

    def find_position(self, time: Any) -> float:
        """Return how far a time is right of the first time, in points."""
        if self.first == self.last:
            return 0.0
        return self.width * float((time - self.first) / (self.last - self.first))


def measure_lane_width(names: Sequence[str]) -> float:
    """Return the distance between the first and the last time on a lane, in points.

    Args:
        names: the names of the lanes, which take space at the left.
    """
    name_width = NAME_CHARACTER_WIDTH * max(map(len, names))
    return (POINTS_PER_INCH * WIDTH - name_width - REST_WIDTH) / (1 + 2 * MARGIN)


def draw_lane(
    panel: Axes, lane: int, points: Series, spans: Sequence[MatchSpan], axis: TimeAxis
) -> set[Any]:
    """Draw the points of a series on its lane, its matches, and the texts that fit.

    Args:
        panel: the panel of all lanes.
        lane: the number of the lane, from 0, which is also its y.
        points: the rows of the series.
        spans: the matches in these rows.
        axis: the time axis of the picture.

    Returns:
        The times of the rows that belong to a match.
    """
    panel.scatter(points.times, [lane] * len(points.times), color=FAINT_COLOUR, zorder=2)
    matched_times: set[Any] = set()
    for span in spans:
        matched_times.update(draw_span(panel, lane, points, span))
    write_texts(panel, lane, choose_texts(points, matched_times, axis))
    return matched_times


@dataclass(frozen=True, slots=True)
class LaneText:
    """The text of a row on a lane."""

    # The time of the row.
    time: Any
    # The text, shortened to MAX_TEXT_CHARACTERS characters.
    text: str
    # Whether the text is above the point of the row. If not, the text is below the point.
    is_above: bool


def write_texts(panel: Axes, lane: int, texts: Sequence[LaneText]) -> None:
    """Write the texts of a lane above or below its points."""
    for lane_text in texts:
        offset = TEXT_OFFSET if lane_text.is_above else -TEXT_OFFSET
        panel.annotate(
            lane_text.text,
            (lane_text.time, lane),
            xytext=(0, offset),
            textcoords="offset points",
            ha="center",
            va="bottom" if lane_text.is_above else "top",
            fontsize=SMALL_SIZE,
            color=TEXT_COLOUR,
        )


def choose_texts(points: Series, matched_times: Collection[Any], axis: TimeAxis) -> list[LaneText]:
    """Return the texts of a lane that can be shown without overlapping, in order of time.

    A text that does not fit above its point can fit below it. If it fits there only with less than
    the wide gap, it is shown with the smaller one.

    Args:
        points: the rows of the lane.
        matched_times: the times of rows in matches. The texts of these rows, and of the rows
            before and after them, are chosen before others: they show where a match begins and
            ends.
        axis: the time axis.
    """
    chosen: list[LaneText] = []
    # The left and the right end in points of each text that is chosen above or below the points.
    intervals_above: list[tuple[float, float]] = []
    intervals_below: list[tuple[float, float]] = []
    places = [
        (gap, is_above, intervals)
        for gap in (WIDE_TEXT_GAP, TEXT_GAP)
        for is_above, intervals in ((True, intervals_above), (False, intervals_below))
    ]
    is_matched = [False, *(time in matched_times for time in points.times), False]
    is_far_from_match = [
        not any(is_matched[index : index + 3]) for index in range(len(points.times))
    ]
    rows = sorted(
        zip(is_far_from_match, points.times, points.values, strict=True), key=itemgetter(0)
    )
    for _, time, value in rows:
        text = shorten_middle(str(value), MAX_TEXT_CHARACTERS)
        middle = axis.find_position(time)
        half_width = CHARACTER_WIDTH * len(text) / 2
        left, right = middle - half_width, middle + half_width
        for gap, is_above, intervals in places:
            if is_free(intervals, left - gap, right + gap):
                chosen.append(LaneText(time, text, is_above))
                intervals.append((left, right))
                break
    return sorted(chosen, key=lambda lane_text: lane_text.time)


def is_free(intervals: Sequence[tuple[float, float]], left: float, right: float) -> bool:
    """Return whether the interval from `left` to `right` overlaps with none of some intervals."""
    return all(right <= begin or end <= left for begin, end in intervals)


def draw_span(panel: Axes, lane: int, points: Series, span: MatchSpan) -> list[Any]:
    """Draw the rows of a match on a lane: points that are joined by a line, over a band.

    Args:
        panel: the panel of all lanes.
        lane: the number of the lane, from 0, which is also its y.
        points: the rows of the lane.
        span: the span of a match in these rows.

    Returns:
        The times of the rows that belong to the match.
    """
    times = [
        time
        for time, can_match in zip(points.times, points.can_match, strict=True)
        if can_match and span.first <= time <= span.last
        if not span.row_times or time in span.row_times
    ]
    if times:
        lanes = [lane] * len(times)
        band: Any = {"linewidth": BAND_HEIGHT, "solid_capstyle": "round"}
        if times[0] == times[-1]:
            # A line without a length is not drawn, not even its round ends.
            band = {"marker": "o", "markersize": BAND_HEIGHT, "markeredgewidth": 0}
        panel.plot(times, lanes, color=MATCH_BAND_COLOUR, zorder=0, **band)
        panel.plot(times, lanes, "o-", color=MATCH_COLOUR, zorder=3, gid=span.id)
    return times
