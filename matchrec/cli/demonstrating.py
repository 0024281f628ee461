"""The command `demo`: V-shapes in three years of share prices, from the query to the picture."""

from __future__ import annotations

import os
import shlex
import time
from importlib.resources import as_file, files
from pathlib import Path

import click

import matchrec
from matchrec.cli import common_options
from matchrec.cli.argument_types import PICTURE_TYPE
from matchrec.cli.command_decorators import handle_failures
from matchrec.cli.files import FileFormat
from matchrec.cli.messages import show_busy
from matchrec.cli.query_command import format_program_name
from matchrec.cli.rows import SHOWN_ROWS, format_first_rows
from matchrec.cli.session import open_local_session
from matchrec.cli.tables import Table
from matchrec.cli.written_files import replace_when_complete

# The folder with the query and the prices.
DATA = files("matchrec.cli") / "demo_data"
# The same query and the prices of all years, in a clone of the repository.
CLONED_QUERY = Path("sql_examples/v_shapes.sql")
CLONED_PRICES = Path("sql_examples/data/stocks.csv")


@click.command()
@click.option(
    "--output",
    "picture",
    default="matchrec-demo.png",
    type=PICTURE_TYPE,
    help="Write the picture to FILE, as png, svg or pdf. [default: matchrec-demo.png]",
)
@common_options.ENGINE_OPTION
@handle_failures
def demo(picture: Path, engine: str | None) -> None:
    """Find V-shapes in share prices and draw them.

    The data is part of matchrec, so no file is needed.

    \b
    Example:
      matchrec demo --output v_shapes.svg
    """
    from matchrec.explain.pictures.figures import check_matplotlib

    check_matplotlib()  # before an engine starts, which takes seconds
    start_time = time.monotonic()
    query_text = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print_introduction(query_text)
    with as_file(DATA / "stocks.csv") as prices, open_local_session(engine=engine) as spark:
        Table("stocks", (prices,), FileFormat.CSV).register(spark)
        query = matchrec.query(spark, query_text)
        with matchrec.progress(spark):
            table_text = format_first_rows(query.to_df(), SHOWN_ROWS)
        print(table_text, flush=True)
        match_count = draw_matches(query, picture)
    print(f"\n{match_count} matches, {time.monotonic() - start_time:.1f} s in all")
    print(f"picture written to {picture.absolute()}\n\n{suggest_next_command()}")


def print_introduction(query_text: str) -> None:
    """Print the question, the query that answers it, and what happens next."""
    print(
        "Which share prices fell for three days or more, by at least 5 %, and rose straight back?"
    )
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query_text}")
    print("Next, an engine starts, finds the matches and draws them.")
    print("This takes some seconds, and more when it runs for the first time.\n", flush=True)


def draw_matches(query: matchrec.Query, picture: Path) -> int:
    """Draw the matches of the demo over the prices, write the picture, and return their number."""
    with show_busy("Drawing"):
        plot = query.plot(x="date", y="close", by="ticker")
        with replace_when_complete(picture) as temporary_file:
            plot.save(temporary_file)
    return len(plot._page.spans)


def suggest_next_command() -> str:
    """Return a line that says what to run next, and the command below it, as a shell reads it.

    In a clone of the repository, this is the command of its README, which reads the prices of all
    years from short paths.
    """
    if CLONED_QUERY.exists() and CLONED_PRICES.exists():
        heading = "To run the query for 2007 to 2013"
        query = str(CLONED_QUERY)
        prices = str(CLONED_PRICES)
    else:
        heading = "To run the query again"
        query = str(DATA / "v_shapes.sql")
        prices = str(DATA / "stocks.csv")
    words = ["run", shorten_path(query), "--table", f"stocks={shorten_path(prices)}"]
    return f"{heading}:\n{format_program_name()} {shlex.join(words)}"


def shorten_path(path: str) -> str:
    """Return a path, or the same path relative to the current folder if that is shorter."""
    return min(os.path.relpath(path), path, key=len)
