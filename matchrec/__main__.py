"""`python -m matchrec` and the console script `matchrec`: the group of all commands."""

from __future__ import annotations

import atexit
import gc
import re
from collections.abc import Iterable
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
from matchrec.errors.old_names import COMMANDS

EPILOG = """
`matchrec COMMAND --help` shows the options of a command.

\b
Examples:
  matchrec demo
  matchrec run v_shapes.sql --table stocks=stocks.csv
  matchrec why v_shapes.sql --table stocks=stocks.csv --partition ticker=MSFT
  matchrec transpile v_shapes.sql --write oracle

\b
Exit codes:
  0    success, also if the program that reads the output stopped early
  1    the query has a mistake, is not supported, or does not fit its tables; or a file
       cannot be read
  2    wrong usage: an option, its value or another argument is wrong, or a file is missing
  3    the query failed because of a value in the rows or an error of the engine
  130  interrupted by Ctrl-C
"""

# A first argument that is the text of a query, which has blanks, or a file: `v_shapes.sql`.
QUERY_ARGUMENT = re.compile(r"\s|\.(?:sql|sase|py)\b", re.IGNORECASE)

# The mark with which click keeps the lines of a paragraph of help, and the title of examples.
EXAMPLES_BEGIN = "\b\nExample"

# The last line of the help of each command.
EXIT_CODES_HINT = "`matchrec --help` lists the exit codes."


class Commands(click.Group):
    """The group of all commands.

    If the first argument is a query instead of a command, the error says to write `matchrec run`.
    Errors of click about arguments are reworded.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the command. Without arguments, show the help.

        `matchrec help` and `matchrec help run` mean `matchrec --help` and `matchrec run --help`.
        `matchrec help help` means `matchrec --help`, too.
        """
        if not ctx.resilient_parsing:  # click is resilient while a shell completes the command
            if not args:
                args = ["--help"]
            elif args[0] == "help":
                command_words = [word for word in args[1:] if word != "help"]
                args = [*command_words, "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the name of the command that the first argument names, the command, and the rest.

        Raises:
            click.UsageError: the first argument is a query or a file, or names no command.
        """
        name = args[0]
        if QUERY_ARGUMENT.search(name):
            raise click.UsageError(str(errors.not_a_command(argument=name)), ctx)
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            near = COMMANDS.get(name) or find_nearest_choice(name, list(self.commands))
            raise click.UsageError(str(errors.unknown_command(name=name, near=near)), ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command.

        Raises:
            WrongUsage: an error of click about these options, reworded.
        """
        with reword_usage_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the options of the command, and run it.

        Raises:
            WrongUsage: an error of click about the command or its options, reworded.
        """
        with reword_usage_errors():
            return super().invoke(ctx)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    None, "-V", "--version", package_name="matchrec", message="%(prog)s %(version)s"
)
def main() -> None:
    """Find patterns in the rows of files, with SQL's MATCH_RECOGNIZE.

    Results are written to stdout, messages to stderr.
    """
    # With all objects frozen, Python skips its last garbage collection at exit, which takes a
    # quarter of a second or more with an engine loaded. Nothing depends on finalizers that would
    # run then.
    atexit.register(gc.freeze)


def move_examples(command: click.Command) -> None:
    """Move the examples in the help of a command to the end, after the options."""
    text, mark, examples = cleandoc(command.help or "").partition(EXAMPLES_BEGIN)
    command.help = text
    command.epilog = f"{mark}{examples}\n\n{EXIT_CODES_HINT}"


def add_commands(commands: Iterable[click.Command]) -> None:
    """Add commands to the group, with their examples at the end of their help."""
    for command in commands:
        move_examples(command)
        main.add_command(command)


add_commands((run, check, explain, why, coverage, backtest, sweep, transpile, serve, demo, warm))

if __name__ == "__main__":
    main(prog_name="matchrec")
