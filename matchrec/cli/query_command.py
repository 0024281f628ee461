"""The classes of commands: help in groups, and hints for wrong arguments.

- `GroupedCommand` shows its options in groups.
- `QueryCommand` is about a query. It says what to write for options of other programs, and for a
  table without `--table`. It keeps its arguments, so that `write_other_command("why")` can suggest
  another command with the same query and input.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from matchrec.cli.files import has_known_format, strip_compression
from matchrec.cli.usage_errors import read_extra_arguments
from matchrec.errors import command as errors
from matchrec.errors.wording import shorten

# The key in click's `Context.meta` under which a `QueryCommand` keeps its arguments as written.
ARGUMENTS_AS_WRITTEN = "matchrec.arguments"

# Groups of parameters, by the names of the parameters in Python. The first group describes the
# events of SASE+ and Patterns, the second the input of any query.
EVENT_PARAMETERS = ("events", "order_by", "partition_by", "type_column")
INPUT_PARAMETERS = ("tables", "schemas", "input_format", "delimiter", "header", "engine", "conf")

# The parameters that describe a query and its input, in all commands about a query.
QUERY_PARAMETERS = (
    "query",
    "text",
    "language",
    "dialect",
    "args",
    "clause",
    *EVENT_PARAMETERS,
    *INPUT_PARAMETERS,
)

# The groups of options in the help, with the names of the options in Python. The groups that most
# users need come first, then the groups of single commands, then the groups that few users need.
# LAST_GROUP has all other options.
OPTION_GROUPS: dict[str, tuple[str, ...]] = {
    "Server": ("host", "port", "token", "tls_cert", "tls_key", "allow_anyone"),
    "Query": ("text", "language", "dialect", "read", "write", "args", "grid", "clause"),
    "Input": ("tables", "schemas", "input_format", "delimiter", "header", "clause_table"),
    "Rows to explain": ("partition", "row"),
    "Incidents": ("labels", "start", "end", "key"),
    "Aggregates over all matches": ("aggregates", "per"),
    "Output": ("format_name", "limit", "file", "overwrite", "analyze", "dot", "picture_file"),
    "Picture of the matches": ("picture", "x", "y", "by", "between", "match", "page", "panels"),
    "Events (only for SASE+ and Patterns)": (*EVENT_PARAMETERS, "output", "timeouts"),
    "Warnings": ("ignore", "strict"),
    "Engine and search": ("engine", "conf", "algorithm", "sort", "max_steps"),
}
LAST_GROUP = "Other options"

# For options that users know from other programs or commands: what to write instead. The first word
# is an option of matchrec. `suggest_option` checks that the command has it.
FOREIGN_OPTION_HINTS = {
    "--master": "--engine spark --conf spark.master=local[4]",
    "--to": "--write",
    "--from": "--read",
    "--read": "--dialect",
    "--dialect": "--read",
    "--language": "--read",
    "--key": "--partition",
    "--by": "--per for totals",
    "--svg": "--picture FILE",
    "--png": "--picture FILE",
    "--picture": "--plot FILE",
    "--plot": "--picture FILE",
    "--series": "--by",
    "-o": "--output FILE",
    "-f": "--format",
    "-t": "--table NAME=PATH",
    "-p": "--arg NAME=VALUE",
}

# Options of other programs for the file or the text of a query.
FOREIGN_QUERY_OPTIONS = ("-f", "--file", "-q", "--query", "--sql", "-e", "--execute")
# The name of the file of a query.
QUERY_FILE = re.compile(r"\S+\.(?:sql|sase|py(?::\w+)?)")

# An argument such as `stocks=stocks.csv` or `a.csv.gz`, in a list of arguments.
TABLE_ARGUMENT = re.compile(r"\w+=[^\s()]+|[^\s()=]+\.\w+")


class GroupedCommand(click.Command):
    """A command whose help shows the options in the groups of `OPTION_GROUPS`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section of the help for each group that has options."""
        lines_by_group: dict[str, list[tuple[str, str]]] = {
            group: [] for group in (*OPTION_GROUPS, LAST_GROUP)
        }
        for parameter in self.get_params(ctx):
            line = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and line is not None:
                names, help_text = line
                # click writes two spaces before a default that it adds, and our texts have one
                help_text = help_text.replace("  [", " [")
                lines_by_group[find_option_group(parameter)].append((names, help_text))
        for group, lines in lines_by_group.items():
            if lines:
                with formatter.section(group):
                    formatter.write_dl(lines)


class QueryCommand(GroupedCommand):
    """A command about a query, which keeps its arguments as written for `write_other_command`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments as click does.

        Raises:
            click.UsageError: an argument is wrong. For an option of another program, and for a
                table without `--table`, the error says what to write instead.
        """
        written_arguments = list(args)  # click removes from `args` what it has parsed
        ctx.meta[ARGUMENTS_AS_WRITTEN] = written_arguments
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = self.suggest_option(error.option_name, written_arguments)
            if hint is None:
                raise
            unknown = errors.unknown_option(
                option=error.option_name, command=ctx.command_path, hint=hint
            )
            raise click.UsageError(str(unknown), ctx) from None
        except click.UsageError as error:
            extra_arguments = read_extra_arguments(error)
            if extra_arguments is None or not self.has_option("--table"):
                raise
            table = find_table_argument(extra_arguments, written_arguments)
            if table is None:
                raise
            unexpected = errors.unexpected_argument(
                arguments=extra_arguments, command=ctx.command_path, hint=f"write --table {table}"
            )
            raise click.UsageError(str(unexpected), ctx) from None

    def suggest_option(self, option: str, arguments: Sequence[str]) -> str | None:
        """Return what to write instead of an option of another program or command.

        Args:
            option: the option, which this command does not have.
            arguments: all arguments of the command as written.

        Returns:
            None if the option is not known from elsewhere, or if this command lacks the option to
            write instead.
        """
        query_hint = suggest_query(option, arguments)
        if query_hint is not None:
            return query_hint
        hint = FOREIGN_OPTION_HINTS.get(option)
        return hint if hint is not None and self.has_option(hint.split()[0]) else None

    def has_option(self, option: str) -> bool:
        """Return whether the command has an option, such as `--table`."""
        return any(option in parameter.opts for parameter in self.params)


def find_option_group(parameter: click.Parameter) -> str:
    """Return the group of an option in the help."""
    for group, names in OPTION_GROUPS.items():
        if parameter.name in names:
            return group
    return LAST_GROUP


def suggest_query(option: str, arguments: Sequence[str]) -> str | None:
    """Return how to write the query that follows an option of another program.

    Returns None if the option is not one of `FOREIGN_QUERY_OPTIONS`, or if no query follows it.

    Args:
        option: the option, which the command does not have.
        arguments: all arguments of the command as written.

    >>> suggest_query("--query", ["--query", "q.sql"]), suggest_query("-e", ["-e", "SELECT 1"])
    ('q.sql without --query', "-c 'SELECT 1'")
    """
    if option not in FOREIGN_QUERY_OPTIONS:
        return None
    for argument, next_argument in zip(arguments, (*arguments[1:], ""), strict=True):
        name, equals, value = argument.partition("=")
        if name != option:
            continue
        query = value if equals else next_argument
        if QUERY_FILE.fullmatch(query):
            return f"{shlex.quote(query)} without {option}"
        if len(query.split()) > 1:
            # a query that is cut off or joined to one line may not run
            is_repeatable = shorten(query) == query
            return f"-c {shlex.quote(query)}" if is_repeatable else f"-c instead of {option}"
    return None


def find_table_argument(extra_arguments: str, arguments: Sequence[str]) -> str | None:
    """Return the value of `--table` for a file that the user passed without this option.

    Returns None if no argument is such a file.

    Args:
        extra_arguments: the arguments that the command does not take, separated by spaces.
        arguments: all arguments of the command as written.

    >>> find_table_argument("stocks.csv", ["q.sql", "stocks.csv"])
    'stocks=stocks.csv'
    """
    for argument in TABLE_ARGUMENT.findall(extra_arguments):
        if argument not in arguments:
            continue
        if "=" in argument:
            return str(argument)
        path = Path(argument)
        if has_known_format(path):
            return f"{strip_compression(path).stem}={argument}"
    return None


def write_other_command(name: str) -> str:
    """Return a command line that runs another command on the query and input of the current one.

    The current command must be a `QueryCommand`.

    Args:
        name: the name of the other command.
    """
    context = click.get_current_context()
    parser = context.command.make_parser(context)
    # a copy, because click removes from the list what it has parsed
    values, _, order = parser.parse_args(list(context.meta[ARGUMENTS_AS_WRITTEN]))
    parameters = list(dict.fromkeys(order))
    parameters.sort(key=lambda parameter: isinstance(parameter, click.Option))  # QUERY is first
    words = [name]
    for parameter in parameters:
        if parameter.name in QUERY_PARAMETERS:
            words += list_parameter_words(parameter, values[parameter.name])
    return f"{format_program_name()} {shlex.join(words)}"


def list_parameter_words(parameter: click.Parameter, value: object) -> list[str]:
    """Return the words with which a user passes a value.

    Args:
        parameter: an argument or an option.
        value: what click's parser has read: a text, a list of texts for an option that is repeated,
            or a bool for a flag. Otherwise the user has not passed the parameter.
    """
    if not isinstance(value, str | list | bool):
        return []
    if isinstance(parameter, click.Argument):
        return [str(value)]
    if isinstance(value, bool):
        return [(parameter.opts if value else parameter.secondary_opts)[0]]
    values = value if isinstance(value, list) else [value]
    return [word for text in values for word in (parameter.opts[0], text)]


def format_program_name() -> str:
    """Return the words that start this program, as a shell reads them.

    - `python -m matchrec`, with the path of Python, if the program was started in this way;
    - `matchrec` if a shell finds this program under the name, or if another program such as pytest
      runs the command;
    - otherwise the path of the program.
    """
    script = Path(sys.argv[0])
    if script.name == "__main__.py" and script.parent.name == "matchrec":
        return shlex.join([sys.executable, "-m", "matchrec"])
    path_of_name = shutil.which("matchrec")
    is_on_path = path_of_name is not None and script.exists() and script.samefile(path_of_name)
    is_other_program = script.stem != "matchrec"
    if is_on_path or is_other_program:
        return "matchrec"
    return shlex.quote(str(script))
