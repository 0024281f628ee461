"""Draw a backtest: incidents as bands, matches as lines with points, a lane for each partition.

    X    |=o===|--o    |///|     a match overlaps the first incident: a hit. The second is a miss
    Y         x- - x             a match that overlaps no incident: a false alarm

Misses are hatched and false alarms are dashed, so that not only colours tell them from hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from matchrec.errors import plots as errors
from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import (
    LABEL_SIZE,
    MAX_CHARACTERS,
    SMALL_SIZE,
    WIDTH,
    AxisLabels,
    shorten_middle,
    show_times,
    style_panel,
)
from matchrec.explain.charts.columns import has_positions, is_number_type, write_key_text
from matchrec.explain.pictures import figures
from matchrec.plan.text import quote_name
from matchrec.source import make_sort_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

# The largest number of lanes that are drawn.
MAX_LANES = 30

# The largest number of incidents that are drawn, and of matches. Those that overlap something are
# left out first.
MAX_SPANS = 5000

# The height of the band of an incident, as a share of the height of a lane.
BAND_HEIGHT = 0.42

# The width of the border of a band, in points. The band of an incident that begins and ends at the
# same time is only a border.
BORDER_WIDTH = 2

# The number of characters of the label of the x axis that fit below the panel.
MAX_X_CHARACTERS = 60

# The number of characters of the label of the y axis that fit along the lanes: some without a lane,
# and more for each lane.
MIN_Y_CHARACTERS = 3
Y_CHARACTERS_PER_LANE = 6

# Heights in inches: of a lane, and of the axis and the legend together.
LANE_HEIGHT = 0.45
REST_HEIGHT = 1.3

# The values of the partition columns as texts; None for NULL.
Lane = tuple[str | None, ...]


class DrawnSpan(NamedTuple):
    """An incident or a match in the picture."""

    # The partition; None for an incident that concerns all partitions.
    lane: Lane | None
    # The values of the ORDER BY column at the beginning and the end. They are None for an incident
    # without a beginning or without an end.
    begin: Any
    end: Any
    # Whether the incident is hit, or the match overlaps an incident.
    overlaps: bool


class LaneKey(NamedTuple):
    """A column of incidents or matches with a partition value."""

    # The name of the column.
    name: str
    # The type in which the picture shows its values: see `find_lane_types`.
    lane_type: str

    def write_text(self, type_name: str) -> str:
        """Return SQL for the value as text.

        Args:
            type_name: the type of the column.
        """
        value = quote_name(self.name)
        if type_name != self.lane_type:
            value = f"CAST({value} AS {self.lane_type})"
        return write_key_text(value, self.lane_type)


@dataclass(frozen=True, slots=True)
class SpanColumns:
    """The columns of incidents or of matches from which the picture is drawn."""

    # The columns with the partition values, which are the lane.
    keys: tuple[LaneKey, ...]
    # The names of the columns with the beginning and the end.
    begin: str
    end: str
    # SQL over the columns for `DrawnSpan.overlaps`.
    overlaps_sql: str

    def collect_spans(self, frame: DataFrame) -> list[DrawnSpan]:
        """Return the rows of a frame as spans: at most MAX_SPANS + 1, one more than is drawn.

        Runs a job. Spans that overlap nothing come first, then the other spans, both in the order
        of their lanes.

        Args:
            frame: all incidents or all matches.
        """
        types = dict(frame.dtypes)
        lane_columns = [f"lane_{index}" for index in range(len(self.keys))]
        lane_sql = [
            f"{key.write_text(types[key.name])} AS {lane_column}"
            for key, lane_column in zip(self.keys, lane_columns, strict=True)
        ]
        # Numbers can be decimals, which matplotlib does not draw.
        template = "CAST({} AS DOUBLE)" if is_number_type(types[self.begin]) else "{}"
        begin_sql = template.format(quote_name(self.begin))
        end_sql = template.format(quote_name(self.end))
        rows = frame.selectExpr(
            *lane_sql,
            f"{begin_sql} AS first_time",
            f"{end_sql} AS last_time",
            f"{self.overlaps_sql} AS overlaps",
        )
        drawn_rows = rows.orderBy("overlaps", *lane_columns).limit(MAX_SPANS + 1).collect()
        spans = []
        for row in drawn_rows:
            *lane_texts, begin, end, overlaps = row
            spans.append(DrawnSpan(tuple(lane_texts), begin, end, overlaps))
        return sorted(spans, key=lambda span: (span.overlaps, make_lane_sort_key(span.lane or ())))


def find_lane_types(
    incidents: DataFrame,
    incident_keys: Sequence[str],
    matches: DataFrame,
    match_keys: Sequence[str],
) -> tuple[str, ...]:
    """Return the types in which a picture shows partition values, so that equal values look equal.

    Spark compares a key 1 of incidents with a key 1.0 of matches as DOUBLE, so both are `1.0` in
    the picture. Runs no job.

    Args:
        incidents: a row for each incident.
        incident_keys: the columns of incidents with the partition values, as many as `match_keys`;
            empty if incidents concern all partitions.
        matches: a row for each match.
        match_keys: the columns of matches with the partition values.
    """
    incident_types = dict(incidents.dtypes)
    match_types = dict(matches.dtypes)
    lane_types = [match_types[key] for key in match_keys]
    for index, key in enumerate(incident_keys):
        types = (incident_types[key], lane_types[index])
        if types[0] != types[1]:
            # The engine itself finds the type that both have in common, as for a comparison.
            nulls = ", ".join(f"CAST(NULL AS {type_name})" for type_name in types)
            ((_, common_type),) = matches.selectExpr(f"coalesce({nulls})").dtypes
            lane_types[index] = common_type
    return tuple(lane_types)


def name_lane(lane: Lane) -> str:
    """Return the text beside a lane.

    >>> name_lane(("host 1", None))
    'host 1, NULL'
    """
    return ", ".join("NULL" if text is None else text for text in lane)


def make_lane_sort_key(lane: Lane) -> list[list[tuple[float, str]]]:
    """Return the sort key of a lane, so that numbers are sorted by value."""
    return [make_sort_key("NULL" if text is None else text) for text in lane]


def check_drawable(matches: DataFrame) -> None:
    """Check that the values of the ORDER BY column have positions on an axis. Runs no job.

    Args:
        matches: the DataFrame `Backtest.matches`.

    Raises:
        MatchRecognizeError: the values are neither numbers nor dates nor times.
    """
    type_name = dict(matches.dtypes)["match_start"]
    if not has_positions(type_name):
        raise errors.backtest_not_drawable(type_name=type_name)


class Mark(Enum):
    """The meaning of a band or a line of the picture. The value is its label in the legend."""

    HIT = "hit incident"
    MISS = "missed incident"
    TRUE_ALARM = "match that hits an incident"
    FALSE_ALARM = "false alarm"

    @property
    def is_band(self) -> bool:
        """Return whether the mark is the band of an incident, and not the line of a match."""
        return self in (Mark.HIT, Mark.MISS)

    @property
    def style(self) -> dict[str, Any]:
        """Return the keyword arguments with which matplotlib draws the band or the line."""
        return STYLES[self]


STYLES: dict[Mark, dict[str, Any]] = {
    Mark.HIT: {"facecolor": figures.MATCH_COLOUR, "edgecolor": figures.MATCH_COLOUR},
    Mark.MISS: {"facecolor": "none", "edgecolor": figures.FAILURE_COLOUR, "hatch": "////"},
    Mark.TRUE_ALARM: {
        "color": figures.TEXT_COLOUR,
        "linestyle": "-",
        "marker": "o",
        "markersize": 4,
    },
    Mark.FALSE_ALARM: {
        "color": figures.ACCENT_COLOUR,
        "linestyle": "--",
        "marker": "X",
        "markersize": 6,
    },
}


def choose_incident_mark(incident: DrawnSpan) -> Mark:
    """Return the mark of an incident: hit or missed."""
    return Mark.HIT if incident.overlaps else Mark.MISS


def choose_match_mark(match: DrawnSpan) -> Mark:
    """Return the mark of a match: it hits an incident, or is a false alarm."""
    return Mark.TRUE_ALARM if match.overlaps else Mark.FALSE_ALARM


def draw_backtest(
    incidents: Sequence[DrawnSpan], matches: Sequence[DrawnSpan], labels: AxisLabels
) -> Figure:
    """Return a picture of incidents and matches as a figure of matplotlib.

    Of the incidents and of the matches, the first MAX_SPANS are drawn, on the first MAX_LANES
    lanes. Lanes are in the order in which incidents and then matches name them. The legend says
    what is left out.

    Args:
        incidents: the incidents. Those that are missed come first, so that their lanes are drawn.
        matches: the matches, false alarms first. Each of them has a lane; without PARTITION BY, the
            lane is ().
        labels: the labels of the axes.
    """
    drawn_incidents = incidents[:MAX_SPANS]
    drawn_matches = matches[:MAX_SPANS]
    spans = (*drawn_incidents, *drawn_matches)
    times = [time for span in spans for time in (span.begin, span.end) if time is not None]
    lanes = list(dict.fromkeys(span.lane for span in spans if span.lane is not None))
    drawn_lanes = lanes[:MAX_LANES] or [()]  # without partitions, an empty lane
    lane_positions = {lane: index for index, lane in enumerate(drawn_lanes)}
    lane_count = len(lane_positions)
    figure = figures.make_figure(WIDTH, LANE_HEIGHT * lane_count + REST_HEIGHT)
    panel = figure.subplots()
    panel.use_sticky_edges = False  # otherwise a bar at the left edge would cover the axis
    draw_incidents(panel, drawn_incidents, lane_positions, times)
    draw_matches(panel, drawn_matches, lane_positions)
    max_y_characters = min(MIN_Y_CHARACTERS + Y_CHARACTERS_PER_LANE * lane_count, MAX_CHARACTERS)
    style_panel(panel, "", labels.shorten_labels(MAX_X_CHARACTERS, max_y_characters))
    show_times(panel, times)
    panel.set_yticks(
        range(lane_count), [shorten_middle(name_lane(lane)) for lane in lane_positions]
    )
    panel.set_ylim(lane_count - 0.5, -0.5)  # the first lane is at the top
    marks = {choose_incident_mark(incident) for incident in drawn_incidents}
    marks |= {choose_match_mark(match) for match in drawn_matches}
    draw_legend(figure, marks, list_hidden(incidents, matches, len(lanes) - lane_count))
    return figure


def list_hidden(
    incidents: Sequence[DrawnSpan], matches: Sequence[DrawnSpan], hidden_lanes: int
) -> list[str]:
    """Return what the picture leaves out, such as `3 more partitions`.

    Args:
        incidents: the incidents; only the first MAX_SPANS are drawn.
        matches: the matches; only the first MAX_SPANS are drawn.
        hidden_lanes: how many lanes of the first MAX_SPANS incidents and matches are not drawn.
    """
    hides_incidents = len(incidents) > MAX_SPANS
    hides_matches = len(matches) > MAX_SPANS
    hidden = []
    if hidden_lanes:
        # Other spans, which are not known here, can be in further lanes.
        at_least = "at least " if hides_incidents or hides_matches else ""
        hidden.append(f"{at_least}{show_count(hidden_lanes, 'more partition')}")
    if hides_incidents:
        hidden.append(f"incidents after the first {MAX_SPANS:,}")
    if hides_matches:
        hidden.append(f"matches after the first {MAX_SPANS:,}")
    return hidden


def draw_incidents(
    panel: Axes,
    incidents: Sequence[DrawnSpan],
    lane_positions: dict[Lane, int],
    times: Sequence[Any],
) -> None:
    """Draw incidents as bands: in a lane, or over all lanes if they concern all partitions.

    Args:
        panel: the panel of all lanes; the y of a lane is its position.
        incidents: the incidents; those on other lanes than `lane_positions` are left out.
        lane_positions: the lanes that are drawn, with their positions from the top, from 0.
        times: the values at which incidents and matches begin and end. The band of an incident
            without a beginning starts at the smallest value, and the band of an incident without
            an end extends to the largest value.
    """
    # If no incident has an end and there is no match, a band covers an axis without numbers.
    first, last = (min(times), max(times)) if times else (0, 1)
    for incident in incidents:
        begin = first if incident.begin is None else incident.begin
        end = last if incident.end is None else incident.end
        style = choose_incident_mark(incident).style
        if incident.lane is None:
            panel.axvspan(begin, end, alpha=0.3, linewidth=BORDER_WIDTH, **style)
        elif incident.lane in lane_positions:
            y = lane_positions[incident.lane]
            panel.barh(y, end - begin, BAND_HEIGHT, left=begin, linewidth=BORDER_WIDTH, **style)


def draw_matches(
    panel: Axes, matches: Sequence[DrawnSpan], lane_positions: dict[Lane, int]
) -> None:
    """Draw matches as lines with points at both ends.

    Args:
        panel: the panel of all lanes.
        matches: the matches; those on other lanes than `lane_positions` are left out.
        lane_positions: the lanes that are drawn, see `draw_incidents`.
    """
    for match in matches:
        if match.lane is not None and match.lane in lane_positions:
            y = lane_positions[match.lane]
            panel.plot([match.begin, match.end], [y, y], **choose_match_mark(match).style)


def draw_legend(figure: Figure, marks: AbstractSet[Mark], hidden: Sequence[str]) -> None:
    """Write above the panel what its bands and lines mean, and what is not drawn.

    Args:
        figure: the figure, which has room above the panel.
        marks: the marks that are drawn. If it is empty, the legend explains all marks.
        hidden: what is not drawn, see `list_hidden`.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: list[Any] = []
    for mark in Mark:
        if marks and mark not in marks:
            continue
        if mark.is_band:
            entries.append(Patch(label=mark.value, **mark.style))
        else:
            entries.append(Line2D([], [], label=mark.value, **mark.style))
    legend = figure.legend(
        handles=entries,
        loc="outside upper left",
        ncols=len(entries),
        frameon=False,
        fontsize=SMALL_SIZE,
        labelcolor=figures.TEXT_COLOUR,
    )
    if hidden:
        legend.set_title(f"not drawn: {', '.join(hidden)}")
        legend.get_title().set(fontsize=LABEL_SIZE, color=figures.TEXT_COLOUR)
