"""The command `demo`: V-shapes in three years of share prices, from the query to the picture."""

from __future__ import annotations

import time
from argparse import Namespace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from matchrec.cli.commands import SHOWN_ROWS, table_text
from matchrec.cli.console import progress
from matchrec.cli.draw import Prices, check_matplotlib, draw
from matchrec.cli.files import Table
from matchrec.cli.session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = files("matchrec.cli") / "demo_data"


def demo(arguments: Namespace) -> None:
    """Shows the query, its matches as a table, and draws them over the prices."""
    import matchrec

    check_matplotlib()
    began = time.monotonic()
    query = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print("Falls of at least three days that were won back day after day, by 4 % or more.")
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query}", flush=True)
    with as_file(DATA / "stocks.csv") as path, local_session() as spark:
        Table("stocks", path, "csv").register(spark)
        frame = matchrec.sql(spark, query).cache()  # shown and drawn, matched once
        with progress("Matching"):
            text, _ = table_text(frame, SHOWN_ROWS)
            matches = frame.collect()
        print(text, flush=True)
        picture = Path(arguments.output).absolute()
        with progress("Drawing"):
            draw(prices(spark), matches, picture)
    print(f"\n{len(matches)} matches, {time.monotonic() - began:.1f} s in all")
    print(f"picture: {picture}")


def prices(spark: SparkSession) -> dict[str, Prices]:
    """Days and closes of each share, in order of time."""
    found: dict[str, Prices] = {}
    for ticker, day, close in spark.table("stocks").orderBy("ticker", "date").collect():
        days, closes = found.setdefault(ticker, ([], []))
        days.append(day)
        closes.append(close)
    return found
