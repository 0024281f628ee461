"""`python -m matchrec` and the console script `matchrec`: the group of all commands."""

from __future__ import annotations

import atexit
import gc
import re
from typing import Any

import click

from matchrec.cli.checking import check
from matchrec.cli.demonstrating import demo
from matchrec.cli.questions import backtest, coverage, explain, sweep, why
from matchrec.cli.running import run
from matchrec.cli.serving import serve
from matchrec.cli.transpiling import transpile
from matchrec.cli.warm import warm
from matchrec.errors.command import not_a_command

EPILOG = """
\b
Examples:
  matchrec demo
  matchrec run v_shapes.sql --table stocks=stocks.csv
  matchrec why v_shapes.sql --table stocks=stocks.csv --partition ticker=MSFT
  matchrec transpile v_shapes.sql --write snowflake

\b
Exit codes:
  0    success, also if the program that reads the output stopped early
  1    the query has a mistake, or a part of it is not supported
  2    the arguments are wrong
  3    the query failed because of a value in the rows or an error of the engine
  130  interrupted
"""


class Commands(click.Group):
    """The group of all commands. The error for a query says which command takes it."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command that the first argument names, and the arguments after it."""
        if re.search(r"\s|\.(?:sql|sase|py)\b", args[0]):
            raise click.UsageError(str(not_a_command(argument=args[0])), ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="matchrec", message="%(prog)s %(version)s")
def main() -> None:
    """Find patterns in the rows of files, with SQL's MATCH_RECOGNIZE.

    Rows are written to stdout, everything else to stderr.
    """


for command in (run, check, explain, why, coverage, backtest, sweep, transpile, serve, demo, warm):
    main.add_command(command)

# At its end Python looks through all objects for cycles once more, a quarter of a second or more
# with an engine loaded. The process is gone right after it, and no object here waits for that.
atexit.register(gc.freeze)

if __name__ == "__main__":
    main(prog_name="matchrec")
