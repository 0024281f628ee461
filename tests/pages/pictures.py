"""Draw the pictures of the documentation from the queries on its pages.

    python -m tests.pages.pictures                       all, to docs/images
    python -m tests.pages.pictures --only funnel why     some of them
    python -m tests.pages.pictures --format png --write DIRECTORY

To draw a picture, the Python blocks above it on its page are run, and one of their variables is
drawn. On a page of the cookbook, this is `query`. Its result has the times of the first and the
last row of each match in columns named `first_...` and `last_...`. The pictures that explain how
matching works are drawn by `tests.pages.matching`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col

import matchrec
from matchrec.cli.session import open_local_session
from matchrec.explain.charts.axes import SMALL_SIZE, AxisLabels
from matchrec.explain.charts.lanes import BAND_HEIGHT, draw_lanes
from matchrec.explain.charts.lines import draw_lines
from matchrec.explain.charts.series import MatchSpan, Series
from matchrec.explain.pictures import figures
from matchrec.explain.pictures.figures import (
    FAINT_COLOUR,
    MATCH_BAND_COLOUR,
    MATCH_COLOUR,
    TEXT_COLOUR,
)
from tests.benchmarks.pictures import for_both_schemes, new_figure, save
from tests.pages.blocks import ROOT, enter_temporary_clone, read_blocks
from tests.pages.tables import register_tables

COOKBOOK = ROOT / "docs" / "how-to" / "cookbook"
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Deadlines:
    """Times at which something was due, drawn on lanes; a match is drawn up to its deadline."""

    # A query that returns a series and its deadline in each row.
    rows_sql: str
    # The current time in the page's example: see `draw_now`.
    now: datetime


@dataclass(frozen=True)
class CloseUp:
    """The part of the rows that a picture shows, so that short matches are wide enough to see."""

    series: tuple[str, ...]  # the names of the series
    # The first and the last time, as the page prints them.
    first: str
    last: str

    def contains_span(self, span: MatchSpan) -> bool:
        """Return whether a match is in this part of the rows."""
        is_in_series = span.series is None or span.series in self.series
        return is_in_series and self.contains_time(span.first) and self.contains_time(span.last)

    def contains_time(self, time: object) -> bool:
        """Return whether a time is in this part of the rows."""
        return self.first <= str(time) <= self.last


@dataclass(frozen=True)
class Picture:
    """The rows that are drawn together with the matches of a page."""

    page: str
    # A query with the columns series, time and value. A fourth column says whether a row can belong
    # to a match; without it, every row can. If the matches also have a column with the name of the
    # first one, each of them belongs to a series. The series of a query without PARTITION BY has
    # the name "".
    rows_sql: str
    # A description of the values. None draws points on lanes instead of lines.
    value_label: str | None = None
    # If two rows are further apart than this, no line joins them. None joins all rows.
    max_gap: timedelta | None = None
    # Whether all panels have the same value axis.
    same_scale: bool = False
    deadlines: Deadlines | None = None
    # The part of the rows and matches that is shown; None shows all.
    close_up: CloseUp | None = None

    def choose_rows(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that the picture shows."""
        part = self.close_up
        return [
            row
            for row in rows
            if part is None or (row[0] in part.series and part.contains_time(row[1]))
        ]

    def choose_spans(self, spans: Sequence[MatchSpan]) -> list[MatchSpan]:
        """Return the matches that the picture shows."""
        return [
            span for span in spans if self.close_up is None or self.close_up.contains_span(span)
        ]


PRICES_2008 = "SELECT ticker, date, close FROM stocks WHERE YEAR(date) = 2008"
PRICES = "close, US dollars"

PICTURES = {
    "card_tests": Picture("fraud_chains", "SELECT card, at, amount FROM payments"),
    "churn": Picture(
        "churn", "SELECT customer, month, orders FROM months", "orders", same_scale=True
    ),
    "flapping": Picture("sensor_faults", "SELECT port, at, state FROM links"),
    "funnel": Picture("funnel", "SELECT visitor, at, page FROM visits"),
    "islands": Picture(
        "gaps_and_islands",
        "SELECT '' AS series, day, rain FROM rain_days",
        "rain, inches",
        max_gap=timedelta(days=1),
    ),
    "price_breakout": Picture(
        "price_breakout",
        "SELECT ticker, date, close FROM stocks",
        PRICES,
        close_up=CloseUp(("AAPL", "IBM"), "2007-01-01", "2007-06-30"),
    ),
    "retry_storms": Picture("retry_storms", "SELECT client, at, status FROM requests"),
    "sessions": Picture(
        "sessions",
        "SELECT '' AS series, measured_at, glucose FROM glucose WHERE measured_at < '2010-04-01'",
        "glucose, mg/dl",
        max_gap=timedelta(minutes=30),
    ),
    "sla_breach": Picture(
        "sla_breach",
        "SELECT ticket, at, event FROM tickets",
        deadlines=Deadlines(
            "SELECT ticket, at + INTERVAL '4' HOUR FROM tickets WHERE event = 'opened'",
            datetime(2024, 5, 1, 16),
        ),
    ),
    "streaks": Picture("streaks", PRICES_2008, PRICES),
    "stuck": Picture(
        "sensor_faults",
        """
        SELECT '' AS series, measured_at, glucose FROM glucose
        WHERE measured_at >= '2010-04-01' AND measured_at < '2010-04-09'
        """,
        "glucose, mg/dl",
        max_gap=timedelta(minutes=30),
        close_up=CloseUp(("",), "2010-04-05 12:00", "2010-04-06 18:00"),
    ),
    "transfers": Picture(
        "fraud_chains",
        """
        SELECT IF(amount >= 1000, '1,000 or more', 'less than 1,000') AS amount, at,
            sender || '→' || receiver, amount >= 1000
        FROM transfers
        """,
    ),
    "v_shapes": Picture(
        "v_and_w_shapes",
        PRICES_2008,
        PRICES,
        close_up=CloseUp(("GOOG", "MSFT"), "2008-09-01", "2008-11-30"),
    ),
    "w_shapes": Picture(
        "v_and_w_shapes",
        PRICES_2008,
        PRICES,
        close_up=CloseUp(("IBM",), "2008-06-15", "2008-09-15"),
    ),
}


@enter_temporary_clone()
def draw(spark: SparkSession, name: str) -> Figure:
    """Return a picture of the cookbook, after running its page up to the picture."""
    picture = PICTURES[name]
    matches = run_blocks_before(COOKBOOK / f"{picture.page}.md", name)["query"].to_df()
    rows = drop_time_zone(spark.sql(picture.rows_sql))
    series = dict(read_series(picture.choose_rows(rows.collect()), picture.max_gap))
    match_rows = drop_time_zone(matches).collect()
    spans = picture.choose_spans(find_spans(match_rows, rows.columns[0]))
    figure = new_figure()
    # On lanes, the columns have names of the page's tables, such as "at".
    time = "time" if picture.value_label is None else rows.columns[1]
    labels = AxisLabels(time, picture.value_label or "", rows.columns[0])
    due: dict[str, datetime] = {}
    if picture.deadlines is not None:
        deadlines = drop_time_zone(spark.sql(picture.deadlines.rows_sql)).collect()
        due = {str(lane): time for lane, time in deadlines}
    if picture.value_label is None:
        draw_lanes(figure, series, spans, labels, list(due.values()))
    else:
        draw_lines(figure, series, spans, labels)
    if picture.same_scale:
        share_scale(figure.axes)
    if picture.deadlines is not None:
        draw_deadlines(figure.axes[0], list(series), due, spans)
        draw_now(figure.axes[0], picture.deadlines.now)
    return figure


def run_blocks_before(page: Path, name: str) -> dict[str, Any]:
    """Run the Python blocks of a page up to a picture, and return the names that they bind."""
    end = page.read_text(encoding="utf-8").index(f"/{name}.svg)")
    names: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(StringIO()):
        for block in read_blocks(page):
            if block.end < end and block.language == "python":
                exec(compile(block.code, "<block>", "exec"), names)
    return names


def share_scale(panels: Sequence[Axes]) -> None:
    """Give all panels the same value axis, which has room for all values."""
    limits = [panel.get_ylim() for panel in panels]
    for panel in panels:
        panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def draw_deadlines(
    panel: Axes, lanes: Sequence[str], due: Mapping[str, datetime], spans: Sequence[MatchSpan]
) -> None:
    """Mark the deadline of each lane, and draw a line from the end of its match to the deadline."""
    span_of_lane = {span.series: span for span in spans}
    for lane, time in due.items():
        y = lanes.index(lane)
        if lane in span_of_lane:
            ends = [span_of_lane[lane].last, time]
            band: Any = {"linewidth": BAND_HEIGHT, "solid_capstyle": "butt", "zorder": 0}
            panel.plot(ends, [y, y], color=MATCH_BAND_COLOUR, **band)
            panel.plot(ends, [y, y], color=MATCH_COLOUR, linestyle=(0, (2, 2)), zorder=1)
        colour = MATCH_COLOUR if lane in span_of_lane else FAINT_COLOUR
        panel.plot([time], [y], "|", color=colour, markersize=12, markeredgewidth=2.5, zorder=1)
        style: Any = {"xytext": (0, -8), "textcoords": "offset points", "ha": "center"}
        style |= {"va": "top", "color": TEXT_COLOUR, "fontsize": SMALL_SIZE}
        panel.annotate(f"due {time:%H:%M}", (time, y), **style)


def draw_now(panel: Axes, now: datetime) -> None:
    """Draw a line at the current time of the page."""
    x: Any = now  # matplotlib takes times, but its type hints say numbers
    panel.axvline(x, color=TEXT_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    style: Any = {
        "xytext": (5, -4),
        "textcoords": "offset points",
        "va": "top",
        "color": TEXT_COLOUR,
    }
    style["fontsize"] = SMALL_SIZE
    panel.annotate(f"now, {now:%H:%M}", (x, min(panel.get_ylim())), **style)


def drop_time_zone(frame: DataFrame) -> DataFrame:
    """Return a DataFrame with times in the time zone of the session, not of this machine."""
    types = {
        name: "timestamp_ntz" if type_name == "timestamp" else type_name
        for name, type_name in frame.dtypes
    }
    return frame.select(*(col(f"`{name}`").cast(types[name]).alias(name) for name in types))


def read_series(
    rows: Iterable[Row], max_gap: timedelta | None = None
) -> Iterator[tuple[str, Series]]:
    """Yield the rows of each series in order of time. The series are ordered by name.

    If two rows are further apart than `max_gap`, a row without a value is added between them, so
    that no line joins them.
    """
    ordered = sorted(rows, key=lambda row: row[:2])
    for name in sorted({row[0] for row in ordered}):
        times: list[Any] = []
        values: list[Any] = []
        can_match: list[bool] = []
        for row in ordered:
            if row[0] != name:
                continue
            if max_gap is not None and times and row[1] - times[-1] > max_gap:
                times.append(times[-1] + max_gap)
                values.append(None)
                can_match.append(False)
            times.append(row[1])
            values.append(row[2])
            can_match.append(all(row[3:]))  # true if there is no fourth column
        yield str(name), Series(times, values, can_match)


def find_spans(matches: Iterable[Row], series: str) -> list[MatchSpan]:
    """Return where each match begins and ends."""
    return [find_span(match.asDict(), series) for match in matches]


def find_span(match: dict[str, object], series: str) -> MatchSpan:
    """Return where a match begins and ends, as texts that a page prints or as times from Spark."""
    first = find_value(match, prefix="first_")
    last = find_value(match, prefix="last_")
    return MatchSpan(str(match[series]) if series in match else None, first, last)  # type: ignore[arg-type]


def find_value(match: dict[str, object], prefix: str) -> object:
    """Return the only value whose column name begins with a prefix."""
    (value,) = (value for name, value in match.items() if name.startswith(prefix))
    return value


@dataclass(frozen=True)
class PagePicture:
    """A picture of what the Python blocks before it on its page have made."""

    page: str  # the path of the page below `docs`, without `.md`
    # Returns the SVG, from the variables that these blocks have set.
    make_svg: Callable[[Mapping[str, Any]], str]


def draw_failed_v_shape(names: Mapping[str, Any]) -> str:
    """Return the picture of the first question on the page of `why`."""
    query = matchrec.query(names["spark"], names["v_shape"])
    return query.why(partition={"ticker": "AAPL"}, row=1).svg()


PAGE_PICTURES = {
    "backtest": PagePicture("how-to/backtest", lambda names: names["result"].svg()),
    "coverage": PagePicture("how-to/coverage", lambda names: names["coverage"].svg()),
    "first_plot": PagePicture(
        "tutorial/getting_started", lambda names: render_svg(names["plot"].figure())
    ),
    "plot": PagePicture("how-to/plots", lambda names: render_svg(names["plot"].figure())),
    "row_pattern": PagePicture("how-to/notebooks", lambda names: names["explanation"].svg()),
    "sweep": PagePicture("how-to/sweep", lambda names: names["counts"].svg()),
    "why": PagePicture("how-to/why", draw_failed_v_shape),
}


def render_svg(figure: Figure) -> str:
    """Return a figure as SVG."""
    return figures.render_picture(lambda: figure, "svg").decode()


@enter_temporary_clone()
def draw_page_picture(name: str) -> str:
    """Run the Python blocks of a page up to its picture, and return the picture as SVG."""
    picture = PAGE_PICTURES[name]
    with mpl.rc_context({"svg.hashsalt": "matchrec"}):
        names = run_blocks_before(ROOT / "docs" / f"{picture.page}.md", name)
        return for_both_schemes(picture.make_svg(names))


def main() -> None:
    """Draw the pictures that the command line names."""
    names = [*PICTURES, *PAGE_PICTURES]
    parser = argparse.ArgumentParser(prog="python -m tests.pages.pictures")
    parser.add_argument("--only", choices=names, nargs="+", default=names)
    parser.add_argument("--write", type=Path, default=IMAGES, metavar="DIRECTORY")
    parser.add_argument(
        "--format",
        choices=("svg", "png"),
        default="svg",
        help="format of the cookbook pictures (default: svg)",
    )
    arguments = parser.parse_args()
    with open_local_session() as spark:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        register_tables(spark)
        for name in arguments.only:
            if name in PICTURES:
                folder = arguments.write / "cookbook"
                write(draw(spark, name), folder / f"{name}.{arguments.format}")
            else:
                (arguments.write / f"{name}.svg").write_text(draw_page_picture(name), "utf-8")


def write(figure: Figure, path: Path) -> None:
    """Write a picture of the cookbook, as SVG for light and dark pages, or as PNG."""
    if path.suffix == ".svg":
        save(figure, path)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
    print(os.path.relpath(path))


if __name__ == "__main__":
    main()
