"""`python -m matchrec` and the console script `matchrec`: the group of all commands."""

from __future__ import annotations

import atexit
import gc
import re
from inspect import cleandoc
from typing import Any

import click

from matchrec.cli.checking import check
from matchrec.cli.demonstrating import demo
from matchrec.cli.questions import backtest, coverage, explain, sweep, why
from matchrec.cli.running import run
from matchrec.cli.serving import serve
from matchrec.cli.transpiling import transpile
from matchrec.cli.usage_errors import reword_usage_errors
from matchrec.cli.warm import warm
from matchrec.errors import command as errors
from matchrec.errors.misspellings import find_nearest_choice

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
  1    the query has a mistake, is not supported, or does not fit its tables
  2    wrong usage: an option, a file or another argument is wrong or missing
  3    the query failed because of a value in the rows or an error of the engine
  130  interrupted by Ctrl-C
"""

# The last line of the help of each command.
EXIT_CODES_HINT = "`matchrec --help` lists the exit codes."


class Commands(click.Group):
    """The group of all commands. Its errors say which command the user may have meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the command. Without arguments, show the help.

        `matchrec help` and `matchrec help run` mean `matchrec --help` and `matchrec run --help`.
        `matchrec help help` means `matchrec --help`, too.
        """
        if not ctx.resilient_parsing:  # True while a shell completes the command
            if not args:
                args = ["--help"]
            elif args[0] == "help":
                command_words = [word for word in args[1:] if word != "help"]
                args = [*command_words, "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the name of the first argument's command, the command, and the other arguments.

        Raises:
            click.UsageError: the first argument is a query or a file, or names no command.
        """
        name = args[0]
        if re.search(r"\s|\.(?:sql|sase|py)\b", name, re.IGNORECASE):
            raise click.UsageError(str(errors.not_a_command(argument=name)), ctx)
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = find_nearest_choice(name, list(self.commands))
            raise click.UsageError(str(errors.unknown_command(name=name, near=near)), ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command, and reword errors in them."""
        with reword_usage_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the options of the command and run it, and reword errors in the options."""
        with reword_usage_errors():
            return super().invoke(ctx)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="matchrec", message="%(prog)s %(version)s")
def main() -> None:
    """Find patterns in the rows of files, with SQL's MATCH_RECOGNIZE.

    Results are written to stdout, messages to stderr.
    """


def move_examples(command: click.Command) -> None:
    """Let the help of a command end with the examples of its docstring, after the options."""
    text, mark, examples = cleandoc(command.help or "").partition("\b\nExample")
    command.help = text
    command.epilog = f"{mark}{examples}\n\n{EXIT_CODES_HINT}"


for command in (run, check, explain, why, coverage, backtest, sweep, transpile, serve, demo, warm):
    move_examples(command)
    main.add_command(command)

# When Python ends, it searches all objects for cycles once more, which takes a quarter of a second
# or more if an engine is loaded. `freeze` leaves nothing to search. The process ends right after
# that, and no object here has to be freed before.
atexit.register(gc.freeze)

if __name__ == "__main__":
    main(prog_name="matchrec")
