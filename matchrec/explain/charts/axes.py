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

# The colour of the lines behind a chart.
GRID_COLOUR = "#edf0f4"

# The width of a chart in inches. A page of the documentation shows such a chart in its own size.
WIDTH = 7.0

# The sizes of text in points: of the title of a panel, of the labels of axes, and of small texts
# such as ticks and legends.
TITLE_SIZE = 12
LABEL_SIZE = 10
SMALL_SIZE = 9

# The number of characters of a text that fit at an axis that is as wide as the picture.
MAX_CHARACTERS = 25


@dataclass(frozen=True, slots=True)
class AxisLabels:
    """The labels of both axes, and the name of the column whose values are the series."""

    x: str
    y: str
    series: str = ""  # empty if there is one series

    def shorten_labels(self, max_x: int, max_y: int) -> AxisLabels:
        """Return labels whose x and y are shortened to `max_x` and `max_y` characters."""
        return AxisLabels(shorten_middle(self.x, max_x), shorten_middle(self.y, max_y), self.series)


def shorten_middle(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return a text in one line, without its middle if it is longer than `max_characters`.

    The beginning and the end stay, because names often differ in a number at their end.

    >>> shorten_middle("price"), shorten_middle("host 12 of the cluster 77", 16)
    ('price', 'host 12 o…ter 77')
    """
    line = " ".join(text.split())
    if len(line) <= max_characters:
        return line
    tail_length = 2 * max_characters // 5
    head_length = max_characters - tail_length - 1
    return f"{line[:head_length]}…{line[-tail_length:]}"


def style_panel(panel: Axes, title: str, labels: AxisLabels) -> None:
    """Style a panel like all charts: pale lines, no box, texts in one colour.

    Args:
        panel: the panel.
        title: its title; "" for none.
        labels: the labels of its axes.
    """
    panel.set_title(title, loc="left", color=TEXT_COLOUR, fontsize=TITLE_SIZE, fontweight="bold")
    panel.set_xlabel(labels.x, color=TEXT_COLOUR, fontsize=LABEL_SIZE)
    panel.set_ylabel(labels.y, color=TEXT_COLOUR, fontsize=LABEL_SIZE)
    panel.grid(axis="y", color=GRID_COLOUR)
    panel.set_axisbelow(True)
    panel.margins(x=0.01, y=0.12)
    panel.tick_params(colors=TEXT_COLOUR, labelsize=SMALL_SIZE)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_offset_text().set(fontsize=SMALL_SIZE, color=TEXT_COLOUR)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def draw_note(figure: Figure, note: str) -> None:
    """Write a sentence into an empty figure, instead of a chart without rows."""
    figure.set_size_inches(WIDTH, 0.5)
    figure.text(0.5, 0.5, note, ha="center", va="center", color=TEXT_COLOUR, fontsize=LABEL_SIZE)


# Formats of dates, by the smallest unit in which the ticks of an axis differ: years, months, days,
# hours, minutes, seconds.

# The formats of the ticks.
TICK_FORMATS = ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S.%f"]
# The formats of a tick at which a larger unit begins, such as the tick of January.
FIRST_TICK_FORMATS = ["", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M:%S"]
# The formats of the text in the corner: the part of the last date that the ticks leave out.
CORNER_FORMATS = ["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d"]


@dataclass(frozen=True, slots=True)
class TickLimits:
    """How many ticks a panel can have below it."""

    # The smallest number of dates. A unit with fewer dates is too large.
    min_dates: int
    # The largest number of dates of each unit, from years to microseconds.
    max_dates: tuple[int, ...]
    # The largest number of numbers.
    max_numbers: int


# The limits of a panel as wide as the picture, and of a panel half as wide.
WIDE_LIMITS = TickLimits(min_dates=3, max_dates=(10, 10, 8, 9, 9, 7, 4), max_numbers=10)
NARROW_LIMITS = TickLimits(min_dates=2, max_dates=(6, 6, 4, 5, 5, 4, 3), max_numbers=6)

# The largest number of numbers at an axis of values.
MAX_VALUE_TICKS = 9


def show_times(panel: Axes, times: Sequence[Any], *, is_narrow: bool = False) -> None:
    """Label the ticks of a time axis: few and short dates, or numbers.

    The corner shows what the labels of dates leave out. The label of a day contains the month,
    because the corner could name only one month, and an axis often begins in another month.

    Args:
        panel: the panel, or one of several panels that share the axis.
        times: all times along the axis: dates, date-times or numbers.
        is_narrow: whether the panel has half the width of the picture.
    """
    limits = NARROW_LIMITS if is_narrow else WIDE_LIMITS
    if not times:
        panel.set_xticks([])
    elif all(time == times[0] for time in times):
        # Otherwise an axis of dates would have ticks for four years around the only time.
        panel.set_xticks([times[0]], [str(times[0])])
    elif isinstance(times[0], date):
        show_dates(panel, limits)
    else:
        show_numbers(panel.xaxis, times, limits.max_numbers)


def show_dates(panel: Axes, limits: TickLimits) -> None:
    """Put the ticks of an axis at dates.

    Args:
        panel: the panel, or one of several panels that share the axis.
        limits: how many dates fit below it.
    """
    from matplotlib import dates

    units: list[int] = [
        *(dates.YEARLY, dates.MONTHLY, dates.DAILY),
        *(dates.HOURLY, dates.MINUTELY, dates.SECONDLY, dates.MICROSECONDLY),
    ]
    locator = dates.AutoDateLocator(  # type: ignore[no-untyped-call]
        minticks=limits.min_dates, maxticks=dict(zip(units, limits.max_dates, strict=True))
    )
    # With few ticks, the largest steps of matplotlib are too small.
    for unit, step in ((dates.MONTHLY, 12), (dates.HOURLY, 24)):
        locator.intervald[unit].append(step)
    for unit in (dates.MINUTELY, dates.SECONDLY):
        locator.intervald[unit].append(60)
    panel.xaxis.set_major_locator(locator)
    formatter = dates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator,
        formats=TICK_FORMATS,
        zero_formats=FIRST_TICK_FORMATS,
        offset_formats=CORNER_FORMATS,
    )
    panel.xaxis.set_major_formatter(formatter)


def show_numbers(axis: Axis, values: Iterable[Any], max_ticks: int = MAX_VALUE_TICKS) -> None:
    """Put few ticks at an axis of numbers. If all values are whole, the ticks are whole, too.

    A label shows the whole value, such as 10000004. By default matplotlib would write 4, and `+1e7`
    in a corner.

    Args:
        axis: the axis of a panel.
        values: the values along the axis; some may be None.
        max_ticks: the largest number of ticks.
    """
    from matplotlib import rc_context
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    are_whole = all(float(value).is_integer() for value in values if value is not None)
    axis.set_major_locator(
        MaxNLocator(max_ticks - 1, integer=are_whole, min_n_ticks=1, steps=[1, 2, 5, 10])
    )
    with rc_context({"axes.formatter.offset_threshold": 8, "axes.formatter.limits": (-6, 9)}):
        axis.set_major_formatter(ScalarFormatter())
