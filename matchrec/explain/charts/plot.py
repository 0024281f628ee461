"""Draw matches over the rows in which they were found, page by page.

Numbers are drawn as lines, texts as points on lanes.
"""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchrec.arguments import check_arguments
from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import (
    MOST_CHARACTERS,
    SMALL,
    WIDTH,
    AxisLabels,
    draw_note,
    shorten,
    show_numbers,
    show_times,
    style_panel,
)
from matchrec.explain.charts.series import MOST_MATCHES, ChartSource, MatchSpan, Page, Series
from matchrec.explain.pictures.figures import (
    FAINT,
    INK,
    MATCH_BAND,
    MATCHED,
    PATH,
    check_matplotlib,
    check_picture_format,
    keep_texts,
    make_figure,
    render,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What a picture without rows says.
NO_ROWS = "There are no rows to draw."


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
    columns = min(2, len(series))
    rows = -(-len(series) // columns)
    figure.set_size_inches(WIDTH, 2.2 * rows + 0.5)
    panels = list(figure.subplots(rows, columns, sharex=True, squeeze=False).flat)
    is_narrow = columns > 1
    most_name = 18 if is_narrow else 70
    labels = labels.shorten(18 if is_narrow else MOST_CHARACTERS, 20)
    for panel, (name, line) in zip(panels, series.items(), strict=False):
        series_spans = [span for span in spans if span.series in (None, name)]
        draw_line(panel, line, series_spans)
        matches = show_count(len(series_spans), "match", "matches")
        title = f"{shorten(name, most_name)}: {matches}" if name else matches
        style_panel(panel, title, labels)
        show_numbers(panel.yaxis, line.values)
    show_times(
        panels[0], [time for line in series.values() for time in line.times], is_narrow=columns > 1
    )
    for panel in panels[:-columns]:
        panel.set_xlabel("")
    for index in range(len(series), len(panels)):
        panels[index].set_visible(False)
        last = panels[index - columns]  # the last panel of its column
        last.tick_params(labelbottom=True)
        style_panel(last, last.get_title(loc="left"), labels)
    if spans:
        draw_legend(figure, "-", "-")


def draw_legend(figure: Figure, match_form: str, other_form: str) -> None:
    """Say above the panels what the colours mean.

    Args:
        figure: the figure.
        match_form: the form of a match, as matplotlib writes a line or a point.
        other_form: the form of other rows.
    """
    from matplotlib.lines import Line2D

    forms = (("match", match_form, MATCHED, 2.2), ("other rows", other_form, FAINT, 1.2))
    entries = []
    for label, form, colour, width in forms:
        marker = "o" if "o" in form else None
        line_style = "-" if "-" in form else ""
        entries.append(
            Line2D([], [], color=colour, linewidth=width, marker=marker, ls=line_style, label=label)
        )
    figure.legend(
        handles=entries,
        loc="outside upper left",
        ncols=len(entries),
        frameon=False,
        fontsize=SMALL,
        labelcolor=INK,
        borderpad=0.1,
        borderaxespad=0.5,
    )


def draw_line(panel: Axes, line: Series, spans: Iterable[MatchSpan]) -> None:
    """Draw a line, and over it each match in colour, with points for its rows if they are known."""
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


def draw_lanes(
    figure: Figure,
    series: Mapping[str, Series],
    spans: Sequence[MatchSpan],
    labels: AxisLabels,
    other_times: Sequence[Any] = (),
) -> None:
    """Draw a lane for each series, with a point for each row.

    The text is above the point, or below it if it would overlap another text, or else left out.

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
    figure.set_size_inches(WIDTH, 0.6 * len(series) + 0.9)
    panel = figure.subplots()
    all_times = [time for points in series.values() for time in points.times]
    all_times.extend(other_times)
    names = [shorten(name) for name in series]
    lane_width = (72 * WIDTH - 6 * max(map(len, names)) - 60) / (1 + 2 * MARGIN)
    for lane, (name, points) in enumerate(series.items()):
        panel.scatter(points.times, [lane] * len(points.times), color=FAINT, zorder=2)
        matched_times = set[Any]()
        for span in spans:
            if span.series in (None, name):
                matched_times.update(draw_span(panel, lane, points, span))
        style: Any = {"textcoords": "offset points", "ha": "center", "color": INK}
        shown = choose_texts(points, matched_times, min(all_times), max(all_times), lane_width)
        for lane_text in shown:
            offset, alignment = (6, "bottom") if lane_text.is_above else (-6, "top")
            position: Any = {"xytext": (0, offset), "va": alignment, "fontsize": SMALL}
            panel.annotate(lane_text.text, (lane_text.time, lane), **position, **style)
    lane_labels = AxisLabels(labels.x, labels.series)
    style_panel(
        panel, "", lane_labels.shorten(MOST_CHARACTERS, min(9 * len(names), MOST_CHARACTERS))
    )
    show_times(panel, all_times)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.65)
    panel.margins(x=MARGIN)
    if spans:
        draw_legend(figure, "o-", "o")


# How many characters of a text a lane shows.
MOST_TEXT = 16

# The width of a character in points.
CHARACTER_WIDTH = 4.6

# The part of a lane that is free before its first and after its last row.
MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class LaneText:
    """The text of a row on a lane."""

    # The time of the row.
    time: Any
    # The text, shortened.
    text: str
    # Whether the text is above the point of the row. Otherwise it is below.
    is_above: bool


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


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A picture of matches, from `Query.plot`. A notebook shows it.

    Attributes:
        figure: the figure of matplotlib.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> falls = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
    ...     PATTERN (FALL+) DEFINE FALL AS price < PREV(price)
    ... ''')
    >>> len(falls.plot(x="day", y="price").page.spans)
    1
    """

    figure: Figure
    page: Page

    def svg(self) -> str:
        """Return the picture as an SVG drawing.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> print(falls.plot(x="day", y="price").svg())
        <?xml ...
        """
        return render(lambda: self.figure, "svg").decode()

    @check_arguments(path=PATH)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80) AS t(day, price)")
        >>> falls = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES FIRST(day) AS first_day, LAST(day) AS last_day
        ...     PATTERN (FALL) DEFINE FALL AS price < PREV(price)
        ... ''')
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     falls.plot(x="day", y="price").save(f"{folder}/falls.png")
        ...     os.listdir(folder)
        ['falls.png']
        """
        check_picture_format(Path(path))
        with keep_texts():
            self.figure.savefig(path, dpi=130)

    def _repr_html_(self) -> str:
        """Return the picture as a PNG inside of HTML."""
        picture = b64encode(render(lambda: self.figure, "png")).decode()
        return f'<img alt="{self.summary}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        """Return the summary."""
        return f"<Plot: {self.summary}>"

    @property
    def summary(self) -> str:
        """The number of matches and series, and the number of the page."""
        matches = show_count(len(self.page.spans), "match", "matches")
        counts = f"{matches} in {len(self.page.series)} series"
        return f"{counts}, page {self.page.number} of {self.page.pages}"


def plot(charted: ChartSource, page: int, panels: int) -> Plot:
    """Draw a page: see `Query.plot`. Runs jobs.

    Args:
        charted: the rows and the matches.
        page: the number of the page, from 1.
        panels: how many series a page has: panels with lines, or lanes if values are not numbers.

    Raises:
        MatchRecognizeError: matplotlib is missing, or a column or the page does not exist.
    """
    check_matplotlib()  # before any job runs
    drawn_page = charted.read_page(page, panels)
    figure = make_figure(WIDTH, 1)
    labels = AxisLabels(charted.x, charted.y, charted.by or "")
    draw = draw_lines if charted.is_measured else draw_lanes
    with keep_texts():
        draw(figure, drawn_page.series, drawn_page.spans, labels)
    notes = []
    if drawn_page.pages > 1:
        notes.append(f"page {page} of {drawn_page.pages}")
    if not drawn_page.all_matches:
        notes.append(f"the first {MOST_MATCHES} matches")
    if notes:
        figure.suptitle(", ".join(notes), color=INK, fontsize=9)
    return Plot(figure, drawn_page)
