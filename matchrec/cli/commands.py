"""The commands `run`, `transpile` and `demo`: a query over files, or as text."""

from __future__ import annotations

import shlex
import sys
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, get_args

import click

import matchrec
from matchrec.arguments import DialectName, WrittenDialect
from matchrec.cli import arguments
from matchrec.cli.failures import busy, tell, tell_at_terminal, while_it_runs
from matchrec.cli.files import Table, writable_table, write
from matchrec.cli.queries import QueryRequest, QuerySource, load_pattern
from matchrec.cli.rows import FORMATS, SHOWN_ROWS, table_text, write_rows
from matchrec.cli.session import local_session
from matchrec.errors import command as errors
from matchrec.source import counted

READ = (*get_args(DialectName), "sase", "pattern")

# Spark counts a limit in 32 bits, and a table asks for one row more than it shows.
MOST_ROWS = 2**31 - 2


def new_file(ctx: click.Context, _: click.Parameter, file: Path | None) -> Path | None:
    """The file. Raises click.BadParameter where it is there and is not to be replaced."""
    is_replaced = ctx.params.pop("overwrite", False)
    if file is not None and file.exists() and not is_replaced:
        raise click.BadParameter(str(errors.file_exists(path=str(file))))
    return file


@click.command(cls=arguments.Repeatable)
@arguments.ASKED
@click.option(
    "--format",
    "form_of_rows",
    type=click.Choice(tuple(FORMATS)),
    default="table",
    show_default=True,
    help="How rows are printed; --output FILE.parquet writes Parquet.",
)
@click.option(
    "--output",
    "file",
    metavar="FILE.parquet|csv|json",
    type=arguments.Parsed("FILE", writable_table),
    callback=new_file,
    help="Write all rows to a file instead.",
)
@click.option(
    "--overwrite", is_flag=True, is_eager=True, help="Replace the file of --output if it is there."
)
@click.option(
    "--limit", type=click.IntRange(1, MOST_ROWS), help="At most so many rows [a table: 20]."
)
@arguments.asks
def run(asked: QueryRequest, form_of_rows: str, file: Path | None, limit: int | None) -> None:
    """Run a query over files; its rows go to stdout, or to a file.

    QUERY is a file, or - for standard input: SQL, or SASE+ if its name ends with .sase. A Pattern
    is FILE.py:NAME, or MODULE:NAME with --language pattern.
    """
    if asked.clause is not None and not asked.totals:
        raise click.UsageError("--clause is for --aggregate and --per")
    from matchrec.spark.backends import runner_of

    with asked.running() as (spark, query):
        totals = asked.totals
        frame = query.aggregate(**totals, clause=asked.clause) if totals else query.to_df()
        runner_of(spark).analyse(frame)
        watch = matchrec.progress(spark)
        if file:
            with watch, while_it_runs():
                count = write(frame.limit(limit) if limit else frame, file)
            tell(f"{counted(count, 'row')} written to {file}")
        else:
            most = limit or (SHOWN_ROWS if form_of_rows == "table" else None)
            with while_it_runs():
                count, has_more = write_rows(frame, form_of_rows, most, watch, sys.stdout)
            if has_more:
                rows = counted(most or 0, "row")
                tell(f"showing {rows}; --limit shows more, --output writes all")
        tell_of_no_rows(asked, count)


def tell_of_no_rows(asked: QueryRequest, count: int) -> None:
    """Says in a terminal what shows why nothing matches, where that is why there are no rows."""
    from matchrec.frontends.sql.locate import may_have_clause

    if not count and not asked.totals and (asked.language != "sql" or may_have_clause(asked.what)):
        shows = arguments.again("coverage")
        tell_at_terminal(f"0 rows; how far rows come, and what stops them, shows\n{shows}")


@click.command(cls=arguments.Repeatable)
@arguments.QUERY
@arguments.chosen("--read", READ, "What it is written in, if its name does not tell [spark].")
@arguments.chosen(
    "--write", get_args(WrittenDialect), "Whose SQL it becomes.", default="spark", show_default=True
)
@arguments.STREAM
@arguments.chosen(
    ("--result", "output"),
    ("matches", "non_overlapping"),
    "Which matches of SASE+.",
    default="matches",
    show_default=True,
)
@arguments.tells_failures
def transpile(query: QuerySource, read: str | None, write: str, **options: Any) -> None:
    """Print a query in the SQL of a product.

    What differs there comes as comments. QUERY is as that of `matchrec run`; the other options say
    what SASE+ and a Pattern leave open.
    """
    from matchrec.api.transpile import conversion

    named = query.language
    language = read or ("spark" if named == "sql" else named)
    what: str | matchrec.Pattern = query.read(language)
    if language == "pattern":
        what, language = load_pattern(str(what)), "spark"
    passed: dict[str, Any] = {name: one for name, one in options.items() if one}
    events = passed.pop("events", "events")
    print(conversion(what, language, write, events, **passed))


# V-shapes in three years of share prices, from the query to the picture.

DATA = files("matchrec.cli") / "demo_data"


@click.command()
@click.option(
    "--output",
    "picture",
    default="matchrec-demo.png",
    show_default=True,
    metavar="FILE.png|svg",
    type=arguments.PICTURE,
)
@arguments.ENGINE
@arguments.tells_failures
def demo(picture: Path, engine: str | None) -> None:
    """Find V-shapes in share prices and draw them."""
    from matchrec.pictures.figures import check_matplotlib

    check_matplotlib()
    began = time.monotonic()
    query = (DATA / "v_shapes.sql").read_text(encoding="utf-8")
    print("Falls of at least three days that were won back day after day, by 5 % or more.")
    print(f"Daily closes of four shares, 2008 to 2010:\n\n{query}")
    print("An engine starts, reads the file and finds the matches; a chart of them is drawn.")
    print("This takes seconds, and longer the first time on a machine.\n", flush=True)
    with as_file(DATA / "stocks.csv") as path, local_session(engine=engine) as spark:
        Table("stocks", (path,), "csv").register(spark)
        asked = matchrec.query(spark, query)
        with matchrec.progress(spark):
            text, _ = table_text(asked.to_df(), SHOWN_ROWS)
        print(text, flush=True)
        with busy("Drawing"):
            drawn = asked.plot(x="date", y="close", by="ticker")
            drawn.save(picture)
    print(f"\n{len(drawn.page.spans)} matches, {time.monotonic() - began:.1f} s in all")
    print(f"picture: {picture.absolute()}\n\nTo run the query again:")
    words = ("run", f"{DATA}/v_shapes.sql", "--table", f"stocks={DATA}/stocks.csv")
    print(f"{arguments.program()} {shlex.join(words)}")
