"""Draw a sweep: the number of matches for each value of the first parameter, as a line chart.

Each combination of the values of the other parameters has a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from matchrec.explain.charts.axes import (
    SMALL_SIZE,
    WIDTH,
    AxisLabels,
    shorten_middle,
    show_numbers,
    style_panel,
)
from matchrec.explain.pictures.figures import TEXT_COLOUR, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The height of the chart, in inches.
HEIGHT = 3.4

# The number of colours, and the markers and styles of lines. Each line has the next one of each, so
# at least two of them differ between lines that are close in the legend.
COLOUR_COUNT = 10
MARKERS = "osD^vph"
LINE_STYLES = ("-", "--", ":", "-.")

# The space above the greatest number of matches, as a share of this number.
SPACE_ABOVE = 0.08

# The number of lines in a column of the legend.
MAX_LEGEND_LINES = 14

# The number of characters that fit below the chart, the largest number for one value, and the gap
# between two values in characters.
MAX_TICK_CHARACTERS = 72
MAX_VALUE_CHARACTERS = 16
TICK_GAP_CHARACTERS = 3


@dataclass(frozen=True, slots=True)
class SweepChart:
    """The lines of a chart, without their style."""

    # The values of the first parameter as texts, from left to right.
    values: tuple[str, ...]
    # Whether they are strings. These have no order, so a line would suggest a trend.
    are_texts: bool
    # For the values of the other parameters, as texts: the points of their line. A point is the
    # number of matches, by the index of the value in `values`.
    lines: dict[tuple[str, ...], dict[int, int]]


def group_points(
    rows: Sequence[Sequence[Any]], parameter_count: int, matches_column: int
) -> SweepChart:
    """Return the lines of the chart for the rows of a sweep.

    >>> group_points([(1, "a", 90), (2, "a", 80), (1, "b", 7)], 2, matches_column=2).lines
    {('a',): {0: 90, 1: 80}, ('b',): {0: 7}}

    Args:
        rows: see `Sweep.rows`.
        parameter_count: the number of parameters.
        matches_column: the index of the number of matches in a row.
    """
    values = list(dict.fromkeys(show_value(row[0]) for row in rows))
    lines: dict[tuple[str, ...], dict[int, int]] = {}
    for row in rows:
        other_values = tuple(show_value(value) for value in row[1:parameter_count])
        points = lines.setdefault(other_values, {})
        points[values.index(show_value(row[0]))] = row[matches_column]
    return SweepChart(
        values=tuple(values), are_texts=any(isinstance(row[0], str) for row in rows), lines=lines
    )


def draw_sweep(parameters: Sequence[str], chart: SweepChart) -> Figure:
    """Return the chart as a figure of matplotlib.

    Args:
        parameters: the names of the parameters. The values of the first one are along the x axis.
        chart: the lines of the chart.
    """
    figure = make_figure(WIDTH, HEIGHT)
    panel = figure.subplots()
    name, *other_names = parameters
    draw_sweep_lines(panel, chart)
    title = f"Matches for each value of {shorten_middle(name)}"
    style_panel(panel, title, AxisLabels(name, "number of matches"))
    matches = [count for points in chart.lines.values() for count in points.values()]
    show_numbers(panel.yaxis, matches)
    panel.set_ylim(0, (1 + SPACE_ABOVE) * max([1, *matches]))
    panel.margins(x=0.03)
    step = count_values_per_tick(chart.values)
    tick_labels = [shorten_middle(value, MAX_VALUE_CHARACTERS) for value in chart.values[::step]]
    panel.set_xticks(range(0, len(chart.values), step), tick_labels)
    if other_names:
        draw_legend(figure, other_names, len(chart.lines))
    return figure


def draw_sweep_lines(panel: Axes, chart: SweepChart) -> None:
    """Draw the lines, each with its own colour, marker and style, or only markers for texts.

    Markers are hollow, and most lines have gaps, so that a line can be seen below another one.
    """
    for index, (other_values, points) in enumerate(chart.lines.items()):
        panel.plot(
            list(points),
            list(points.values()),
            color=f"C{index % COLOUR_COUNT}",
            marker=MARKERS[index % len(MARKERS)],
            markerfacecolor="none",
            markersize=7,
            markeredgewidth=1.6,
            linestyle="none" if chart.are_texts else LINE_STYLES[index % len(LINE_STYLES)],
            linewidth=1.8,
            clip_on=False,  # the marker of 0 is on the axis
            label=shorten_middle(", ".join(other_values)),
        )


def draw_legend(figure: Figure, names: Sequence[str], line_count: int) -> None:
    """Write right of the chart which values of the other parameters each line has.

    Args:
        figure: the figure with the lines and their labels.
        names: the names of the other parameters.
        line_count: the number of lines.
    """
    legend = figure.legend(
        loc="outside right upper",
        title=shorten_middle(", ".join(names)),
        title_fontsize=SMALL_SIZE,
        fontsize=SMALL_SIZE,
        labelcolor=TEXT_COLOUR,
        frameon=False,
        ncols=ceil(line_count / MAX_LEGEND_LINES),
    )
    legend.get_title().set(color=TEXT_COLOUR)


def show_value(value: object) -> str:
    """Return a value of a parameter as the chart writes it.

    >>> show_value(0.05), show_value(None)
    ('0.05', 'NULL')
    """
    return "NULL" if value is None else str(value)


def count_values_per_tick(values: Sequence[str]) -> int:
    """Return how many values have one tick, so that the labels of ticks do not overlap.

    >>> count_values_per_tick(["1", "2"]), count_values_per_tick([str(n) for n in range(100, 160)])
    (1, 5)
    """
    longest = max((min(len(value), MAX_VALUE_CHARACTERS) for value in values), default=0)
    needed_characters = len(values) * (longest + TICK_GAP_CHARACTERS)
    return max(1, ceil(needed_characters / MAX_TICK_CHARACTERS))
