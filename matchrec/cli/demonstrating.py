"""The command `demo`: V-shapes in three years of share prices, from the query to the picture."""

from __future__ import annotations

import shlex
import time
from importlib.resources import as_file, files
from pathlib import Path

import click

import matchrec
from matchrec.cli import arguments
from matchrec.cli.argument_types import PICTURE_TYPE
from matchrec.cli.files import FileFormat
from matchrec.cli.messages import show_busy
from matchrec.cli.query_command import show_program
from matchrec.cli.rows import SHOWN_ROWS, format_first_rows
from matchrec.cli.session import open_local_session
from matchrec.cli.tables import Table
from matchrec.cli.written_files import replace_when_complete

# The folder with the query and the prices.
DATA = files("matchrec.cli") / "demo_data"


@click.command()
@click.option(
    "--output",
    "picture",
    default="matchrec-demo.png",
    type=PICTURE_TYPE,
    help="Write the picture to FILE, as png, svg or pdf. [default: matchrec-demo.png]",
)
@arguments.ENGINE_OPTION
@arguments.handle_failures
def demo(picture: Path, engine: str | None) -> None:
    """Find V-shapes in share prices and draw them.

    The data is part of matchrec, so no file is needed.

    \b
    Example:
      matchrec demo --output v_shapes.svg
    """
    from matchrec.explain.pictures.figures import check_matplotlib

    check_matplotlib()
    began = time.monotonic()
    query = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print("Which falls of 5 % or more, over at least three days, were recovered by daily rises?")
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query}")
    print("Next, an engine starts, finds the matches and draws them.")
    print("This takes some seconds, and more when it runs for the first time.\n", flush=True)
    with as_file(DATA / "stocks.csv") as path, open_local_session(engine=engine) as spark:
        Table("stocks", (path,), FileFormat.CSV).register(spark)
        falls = matchrec.query(spark, query)
        with matchrec.progress(spark):
            text = format_first_rows(falls.to_df(), SHOWN_ROWS)
        print(text, flush=True)
        with show_busy("Drawing"):
            plot = falls.plot(x="date", y="close", by="ticker")
            with replace_when_complete(picture) as part:
                plot.save(part)
    print(f"\n{len(plot._page.spans)} matches, {time.monotonic() - began:.1f} s in all")
    print(f"picture written to {picture.absolute()}\n\nTo run the query again:")
    words = ("run", f"{DATA}/v_shapes.sql", "--table", f"stocks={DATA}/stocks.csv")
    print(f"{show_program()} {shlex.join(words)}")
