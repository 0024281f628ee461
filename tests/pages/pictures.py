"""Draws the pictures of the cookbook from the queries on its pages.

    python -m tests.pages.pictures                       all, to docs/images/cookbook
    python -m tests.pages.pictures --only funnel         one of them
    python -m tests.pages.pictures --format png --write DIRECTORY

A picture shows the matches of the last query before it on the page. These have columns whose
names begin with `first_` and `last_`: the times of the first and the last row.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col

import matchrec
from matchrec.charts.plot import draw_lanes, draw_lines
from matchrec.charts.series import MatchSpan, Series
from matchrec.cli.session import local_session
from tests.benchmarks.pictures import new_figure, save
from tests.pages.blocks import blocks
from tests.pages.tables import register_tables

ROOT = Path(__file__).parent.parent.parent
COOKBOOK = ROOT / "docs" / "how-to" / "cookbook"
IMAGES = ROOT / "docs" / "images" / "cookbook"


@dataclass(frozen=True)
class Picture:
    """What is drawn beside the matches of a page.

    rows: a query; its columns are the series, whose name that of the matches also has if they
    belong to one, the time, the value, and whether a match may contain the row, if not all may.
    measured: what the values are; None draws points on lanes, not lines.
    """

    page: str
    rows: str
    measured: str | None = None


PRICES_2008 = "SELECT ticker, date, close FROM stocks WHERE YEAR(date) = 2008"
PRICES = "close, US dollars"

PICTURES = {
    "card_tests": Picture("fraud_chains", "SELECT card, at, amount FROM payments"),
    "churn": Picture("churn", "SELECT customer, month, orders FROM months", "orders"),
    "flapping": Picture("sensor_faults", "SELECT port, at, state FROM links"),
    "funnel": Picture("funnel", "SELECT who, at, page FROM visits"),
    "islands": Picture(
        "gaps_and_islands", "SELECT 'JFK', day, rain FROM rain_days", "rain, inches"
    ),
    "price_breakout": Picture("price_breakout", "SELECT ticker, date, close FROM stocks", PRICES),
    "retry_storms": Picture("retry_storms", "SELECT client, at, status FROM requests"),
    "sessions": Picture(
        "sessions",
        "SELECT 'sensor', measured_at, glucose FROM glucose WHERE measured_at < '2010-04-01'",
        "glucose, mg/dl",
    ),
    "sla_breach": Picture(
        "sla_breach",
        """
        SELECT ticket, at, event, TRUE FROM tickets
        UNION ALL SELECT ticket, at + INTERVAL '4' HOUR, 'due', FALSE
        FROM tickets WHERE event = 'opened'
        """,
    ),
    "streaks": Picture("streaks", PRICES_2008, PRICES),
    "stuck": Picture(
        "sensor_faults",
        """
        SELECT 'sensor', measured_at, glucose FROM glucose
        WHERE measured_at >= '2010-04-01' AND measured_at < '2010-04-09'
        """,
        "glucose, mg/dl",
    ),
    "transfers": Picture(
        "fraud_chains",
        """
        SELECT IF(amount >= 1000, 'large', 'small'), at, sender || '–' || receiver, amount >= 1000
        FROM transfers
        """,
    ),
    "v_shapes": Picture("v_and_w_shapes", PRICES_2008, PRICES),
    "w_shapes": Picture("v_and_w_shapes", PRICES_2008, PRICES),
}


def draw(spark: SparkSession, name: str) -> Figure:
    """A picture of the cookbook, its page run as far as it needs."""
    picture = PICTURES[name]
    page = COOKBOOK / f"{picture.page}.md"
    place = page.read_text(encoding="utf-8").index(f"/{name}.svg)")
    *_, matches = [matchrec.sql(spark, block.code) for block in blocks(page) if block.end < place]
    rows = without_zone(spark.sql(picture.rows))
    series = dict(series_of(rows.collect()))
    spans = spans_of(without_zone(matches).collect(), rows.columns[0])
    figure = new_figure()
    if picture.measured is None:
        draw_lanes(figure, series, spans)
    else:
        draw_lines(figure, series, spans, picture.measured)
    return figure


def without_zone(frame: DataFrame) -> DataFrame:
    """Times as the clocks of the session show them, whatever the zone of this machine."""
    kinds = {name: "timestamp_ntz" if kind == "timestamp" else kind for name, kind in frame.dtypes}
    return frame.select(*(col(f"`{name}`").cast(kind).alias(name) for name, kind in kinds.items()))


def series_of(rows: Iterable[Row]) -> Iterator[tuple[str, Series]]:
    """The rows of each series in order of time; series in the order of their names."""
    ordered = sorted(rows, key=lambda row: row[:2])
    for name in sorted({row[0] for row in ordered}):
        found = [row for row in ordered if row[0] == name]
        times, values = [row[1] for row in found], [row[2] for row in found]
        yield str(name), Series(times, values, [all(row[3:]) for row in found])


def spans_of(matches: Iterable[Row], series: str) -> list[MatchSpan]:
    """Where each match begins and ends."""
    return [span_of(match.asDict(), series) for match in matches]


def span_of(match: dict[str, object], series: str) -> MatchSpan:
    """Where a match begins and ends, as its page prints it or as Spark returns it."""
    (first,) = (value for name, value in match.items() if re.match("first_", name))
    (last,) = (value for name, value in match.items() if re.match("last_", name))
    return MatchSpan(str(match[series]) if series in match else None, first, last)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.pages.pictures")
    parser.add_argument("--only", choices=PICTURES, nargs="+", default=list(PICTURES))
    parser.add_argument("--write", type=Path, default=IMAGES, metavar="DIRECTORY")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    arguments = parser.parse_args()
    with local_session() as spark:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        register_tables(spark)
        for name in arguments.only:
            write(draw(spark, name), arguments.write / f"{name}.{arguments.format}")


def write(figure: Figure, path: Path) -> None:
    """SVG with few decimals, or PNG."""
    if path.suffix == ".svg":
        save(figure, path)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=110)
    print(os.path.relpath(path))


if __name__ == "__main__":
    main()
