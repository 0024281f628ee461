"""The axes of charts: their style, their labels, and the numbers or dates at their ticks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from matchrec.explain.pictures.figures import TEXT_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# The width of a chart in inches. A page of the documentation shows such a chart in its own size.
WIDTH = 7.0

# The sizes of text in points: of the title of a panel, of the labels of axes, and of small texts
# such as ticks and legends.
TITLE, LABEL, SMALL = 12, 10, 9

# The number of characters of a text that fit at an axis that is as wide as the picture.
MAX_CHARACTERS = 25


@dataclass(frozen=True, slots=True)
class AxisLabels:
    """The labels of both axes, and the name of the column whose values are the series."""

    x: str
    y: str
    series: str = ""  # empty if there is one series

    def shorten(self, most_x: int, most_y: int) -> AxisLabels:
        """Return labels whose x and y are shortened to `most_x` and `most_y` characters."""
        return AxisLabels(shorten(self.x, most_x), shorten(self.y, most_y), self.series)


def shorten(text: str, most: int = MAX_CHARACTERS) -> str:
    """Return a text in one line, without its middle if it is longer than `most` characters.

    The beginning and the end stay, because names often differ in a number at their end.

    >>> shorten("price"), shorten("host 12 of the cluster 77", 16)
    ('price', 'host 12 o…ter 77')
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    tail = 2 * most // 5
    return f"{line[: most - tail - 1]}…{line[-tail:]}"


def style_panel(panel: Axes, title: str, labels: AxisLabels) -> None:
    """Style a panel like all charts: pale lines, no box, texts in one colour.

    Args:
        panel: the panel.
        title: the title of the panel; "" for none.
        labels: the labels of its axes.
    """
    panel.set_title(title, loc="left", color=TEXT_COLOUR, fontsize=TITLE, fontweight="bold")
    panel.set_xlabel(labels.x, color=TEXT_COLOUR, fontsize=LABEL)
    panel.set_ylabel(labels.y, color=TEXT_COLOUR, fontsize=LABEL)
    panel.grid(axis="y", color="#edf0f4")
    panel.set_axisbelow(True)
    panel.margins(x=0.01, y=0.12)
    panel.tick_params(colors=TEXT_COLOUR, labelsize=SMALL)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_offset_text().set(fontsize=SMALL, color=TEXT_COLOUR)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def draw_note(figure: Figure, note: str) -> None:
    """Write a sentence into an empty figure, instead of a chart without rows."""
    figure.set_size_inches(WIDTH, 0.5)
    figure.text(0.5, 0.5, note, ha="center", va="center", color=TEXT_COLOUR, fontsize=LABEL)


# Formats of dates, by the smallest unit in which the ticks of an axis differ: years, months, days,
# hours, minutes, seconds.

# The formats of the ticks.
TICKS = ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S.%f"]
# The formats of a tick at which a larger unit begins, such as the tick of January.
FIRST_TICKS = ["", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M:%S"]
# The formats of the text in the corner: the part of the last date that the ticks leave out.
CORNERS = ["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d"]

# The number of ticks of each unit, from years to microseconds, that fit below a panel. The first
# tuple is for a panel as wide as the picture, the second for a panel half as wide.
WIDE_TICKS = (10, 10, 8, 9, 9, 7, 4)
NARROW_TICKS = (6, 6, 4, 5, 5, 4, 3)


def show_times(panel: Axes, times: Sequence[Any], *, is_narrow: bool = False) -> None:
    """Label the ticks of a time axis: few and short dates, or numbers.

    The corner shows what the labels of dates leave out. The label of a day contains the month,
    because the corner could name only one month, and an axis often begins in another month.

    Args:
        panel: the panel, or one of several panels that share the axis.
        times: all times along the axis: dates, date-times or numbers.
        is_narrow: whether the panel has half the width of the picture.
    """
    if not times:
        panel.set_xticks([])
    elif all(time == times[0] for time in times):
        # Otherwise an axis of dates would have ticks for four years around the only time.
        panel.set_xticks([times[0]], [str(times[0])])
    elif isinstance(times[0], date):
        if is_narrow:
            show_dates(panel, least_ticks=2, most_ticks=NARROW_TICKS)
        else:
            show_dates(panel, least_ticks=3, most_ticks=WIDE_TICKS)
    else:
        show_numbers(panel.xaxis, times, most_ticks=6 if is_narrow else 10)


def show_dates(panel: Axes, least_ticks: int, most_ticks: Sequence[int]) -> None:
    """Put the ticks of an axis at dates.

    Args:
        panel: the panel, or one of several panels that share the axis.
        least_ticks: the smallest number of ticks. A unit with fewer ticks is too large.
        most_ticks: the largest number of ticks of each unit, from years to microseconds.
    """
    from matplotlib import dates

    units: list[int] = [
        *(dates.YEARLY, dates.MONTHLY, dates.DAILY),
        *(dates.HOURLY, dates.MINUTELY, dates.SECONDLY, dates.MICROSECONDLY),
    ]
    locator = dates.AutoDateLocator(  # type: ignore[no-untyped-call]
        minticks=least_ticks, maxticks=dict(zip(units, most_ticks, strict=True))
    )
    # With few ticks, the largest steps of matplotlib are too small.
    for unit, step in ((dates.MONTHLY, 12), (dates.HOURLY, 24)):
        locator.intervald[unit].append(step)
    for unit in (dates.MINUTELY, dates.SECONDLY):
        locator.intervald[unit].append(60)
    panel.xaxis.set_major_locator(locator)
    formatter = dates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator, formats=TICKS, zero_formats=FIRST_TICKS, offset_formats=CORNERS
    )
    panel.xaxis.set_major_formatter(formatter)


def show_numbers(axis: Axis, values: Iterable[Any], most_ticks: int = 9) -> None:
    """Put few ticks at an axis of numbers. If all values are whole, the ticks are whole, too.

    A label shows the whole value, such as 10000004. By default matplotlib would write 4, and `+1e7`
    in a corner.

    Args:
        axis: the axis.
        values: the values along the axis; some may be None.
        most_ticks: the largest number of ticks.
    """
    from matplotlib import rc_context
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    are_whole = all(float(value).is_integer() for value in values if value is not None)
    axis.set_major_locator(
        MaxNLocator(most_ticks - 1, integer=are_whole, min_n_ticks=1, steps=[1, 2, 5, 10])
    )
    with rc_context({"axes.formatter.offset_threshold": 8, "axes.formatter.limits": (-6, 9)}):
        axis.set_major_formatter(ScalarFormatter())
