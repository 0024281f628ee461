"""The command `demo`: V-shapes in three years of share prices, from the query to the picture."""

from __future__ import annotations

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

import matchrec
from matchrec.cli.arguments import FILE, tells_failures
from matchrec.cli.failures import busy
from matchrec.cli.rows import SHOWN_ROWS, table_text
from matchrec.cli.session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from matchrec.cli.draw import Prices

DATA = files("matchrec.cli") / "demo_data"


@click.command()
@click.option(
    "--output",
    "picture",
    default="matchrec-demo.png",
    show_default=True,
    metavar="FILE.png|svg",
    type=FILE,
)
@tells_failures
def demo(picture: Path) -> None:
    """Find V-shapes in share prices and draw them."""
    from matchrec.cli.draw import check_matplotlib, draw
    from matchrec.cli.files import Table

    check_matplotlib()
    began = time.monotonic()
    query = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print("Falls of at least three days that were won back day after day, by 4 % or more.")
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query}", flush=True)
    with as_file(DATA / "stocks.csv") as path, local_session() as spark:
        Table("stocks", (path,), "csv").register(spark)
        frame = matchrec.sql(spark, query).cache()  # shown and drawn, matched once
        with matchrec.progress(spark):
            text, _ = table_text(frame, SHOWN_ROWS)
            matches = frame.collect()
        print(text, flush=True)
        with busy("Drawing"):
            draw(prices(spark), matches, picture.absolute())
    print(f"\n{len(matches)} matches, {time.monotonic() - began:.1f} s in all")
    print(f"picture: {picture.absolute()}")


def prices(spark: SparkSession) -> dict[str, Prices]:
    """Days and closes of each share, in order of time."""
    found: dict[str, Prices] = {}
    for ticker, day, close in spark.table("stocks").orderBy("ticker", "date").collect():
        days, closes = found.setdefault(ticker, ([], []))
        days.append(day)
        closes.append(close)
    return found
