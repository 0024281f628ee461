"""The command `demo`: V-shapes in three years of share prices, from the query to the picture."""

from __future__ import annotations

import shlex
import time
from importlib.resources import as_file, files
from pathlib import Path

import click

import matchrec
from matchrec.cli.arguments import ON, PICTURE, program, tells_failures
from matchrec.cli.failures import busy
from matchrec.cli.files import Table
from matchrec.cli.rows import SHOWN_ROWS, table_text
from matchrec.cli.session import local_session

DATA = files("matchrec.cli") / "demo_data"


@click.command()
@click.option(
    "--output",
    "picture",
    default="matchrec-demo.png",
    show_default=True,
    metavar="FILE.png|svg",
    type=PICTURE,
)
@ON
@tells_failures
def demo(picture: Path, on: str | None) -> None:
    """Find V-shapes in share prices and draw them."""
    from matchrec.charts.plot import check_matplotlib

    check_matplotlib()
    began = time.monotonic()
    query = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print("Falls of at least three days that were won back day after day, by 4 % or more.")
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query}")
    print("An engine starts, reads the file and finds the matches; a chart of them is drawn.")
    print("This takes seconds, and twice as long the first time on a machine.\n", flush=True)
    with as_file(DATA / "stocks.csv") as path, local_session(on=on) as spark:
        Table("stocks", (path,), "csv").register(spark)
        asked = matchrec.query(spark, query)
        with matchrec.progress(spark):
            text, _ = table_text(asked.dataframe(), SHOWN_ROWS)
        print(text, flush=True)
        with busy("Drawing"):
            drawn = asked.plot(x="date", y="close", by="ticker", between=("top_date", "back_date"))
            drawn.save(picture)
    print(f"\n{len(drawn.page.spans)} matches, {time.monotonic() - began:.1f} s in all")
    print(f"picture: {picture.absolute()}\n\nTo run the query again:")
    words = ("run", f"{DATA}/v_shapes.sql", "--table", f"stocks={DATA}/stocks.csv")
    print(f"{program()} {shlex.join(words)}")
