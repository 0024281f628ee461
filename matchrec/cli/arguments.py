"""The arguments that several commands take, as click reads them."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from matchrec.arguments import AggregatePer, Algorithm, DialectName, PatternOutput, SaseOutput, Sort
from matchrec.cli.failures import print_tracebacks, report_failures
from matchrec.cli.files import parse_delimiter
from matchrec.cli.queries import (
    OptionValues,
    QueryRequest,
    build_clause_request,
    build_query_request,
)
from matchrec.cli.query_sources import QueryLanguage, QuerySource
from matchrec.cli.session import SettingPairs
from matchrec.cli.tables import EmptyTable, Table, parse_schema, parse_table
from matchrec.cli.values import read_plain_value
from matchrec.cli.written_files import check_writable
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.errors.kinds import format_labelled
from matchrec.errors.language import COMMAND_LINE, use_surface
from matchrec.source import use_paths

make_repeatable_option = partial(click.option, multiple=True)
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Pairs = tuple[tuple[str, T], ...]
Tables = tuple[Table, ...]
Decorator = Callable[[F], F]


class ParsedType(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """The type of an argument that a function parses. An error of the function is a wrong usage."""

    def __init__(self, name: str, parse: Callable[[str], object]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse an argument, and report a failure as click does."""
        try:
            return self._parse(value)
        except MatchRecognizeError as error:
            self.fail(str(error), param, ctx)


class WholeNumber(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A whole number in a range. Unlike `click.IntRange`, it adds no `[x>=1]` to the help."""

    name = "N"

    def __init__(self, least: int = 1, most: int | None = None) -> None:
        self._least = least
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, and report another text or a number out of range as click does."""
        number = int(value) if re.fullmatch(r"\d{1,18}", str(value)) else -1
        if number < self._least:
            error = errors.not_a_whole_number(argument=str(value), least=self._least)
            self.fail(str(error), param, ctx)
        if self._most is not None and number > self._most:
            error = errors.number_too_large(argument=str(value), most=self._most)
            self.fail(str(error), param, ctx)
        return number


def parse_setting(argument: str) -> tuple[str, str]:
    """Split `NAME=VALUE` into the name and the value."""
    name, equals, value = argument.partition("=")
    if not (name and equals):
        raise errors.malformed_setting(argument=argument, example=suggest_setting(argument))
    return name, value


def suggest_setting(argument: str) -> str:
    """Return NAME=VALUE with the part that a malformed argument has.

    >>> [suggest_setting(argument) for argument in ("days", "days=", "=5", "5", "sum(n)")]
    ['days=VALUE', 'days=VALUE', 'NAME=5', 'NAME=5', 'NAME=sum(n)']
    """
    part = argument.strip("=")
    is_value = argument.startswith("=") or not part[:1].isalpha() or "(" in part
    return f"NAME={part or 'VALUE'}" if is_value else f"{part}=VALUE"


def parse_parameter(argument: str) -> tuple[str, str]:
    """Split `NAME=VALUE` of a query parameter, whose name has no colon."""
    name, value = parse_setting(argument)
    if name.startswith(":"):
        raise errors.colon_before_name(name=name, plain=name.lstrip(":"))
    return name, value


RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})")


def parse_candidates(argument: str) -> tuple[str, list[Any]]:
    """Return the name and the values of an argument NAME=VALUE,VALUE.

    Raises:
        MatchRecognizeError: the argument has another form, or a range such as 1..5.
    """
    name, values = parse_setting(argument)
    if not name.isidentifier():
        raise errors.malformed_parameter_name(name=name)
    ends = RANGE.fullmatch(values)
    if ends is not None:
        first, last = sorted(int(end) for end in ends.groups())
        examples = [str(value) for value in range(first, last + 1)[:3]]
        if last - first > 2:
            examples.append("...")
        raise errors.malformed_value_range(
            values=values, name=name, listed_values=",".join(examples)
        )
    return name, [read_plain_value(value) for value in values.split(",")]


def parse_engine(argument: str) -> str:
    """Return the name of an engine, or the address of a server.

    Raises:
        MatchRecognizeError: it is neither.
    """
    if argument not in ("sail", "spark") and not argument.startswith("sc://"):
        raise errors.unknown_engine(argument=argument)
    return argument


def check_named_once(_: click.Context, option: click.Parameter, pairs: Pairs[T]) -> Pairs[T]:
    """Return the names and values of an option.

    Raises:
        click.BadParameter: two of the names are the same.
    """
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            error = errors.repeated_name(option=option.opts[0], name=name)
            raise click.BadParameter(str(error))
    return pairs


def combine_options(*options: Decorator[Any]) -> Decorator[Any]:
    """Return several options as one decorator. The help shows them in this order."""

    def decorate(function: Any) -> Any:
        """Add all of the options to a command, in their order."""
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def handle_failures(function: Callable[..., None]) -> Callable[..., None]:
    """Let a command end with a message and an exit code if it fails. Adds --traceback to it."""

    @click.option("--traceback", is_flag=True, help="Also show the Python traceback of an error.")
    @wraps(function)
    def command(*args: Any, traceback: bool, **options: Any) -> None:
        """Run the command and report its failures, with a traceback if the user wants one."""
        shows = print_tracebacks() if traceback else nullcontext()
        with use_surface(COMMAND_LINE), use_paths(), report_failures(), shows:
            function(*args, **options)

    return command


def reject_repeated_tables(tables: Sequence[Table], schemas: Sequence[EmptyTable]) -> None:
    """Raise click.UsageError if two tables, of --table or of --schema, have the same name."""
    used_names = set[str]()
    for name in [table.name for table in tables] + [schema.name for schema in schemas]:
        if name.upper() in used_names:
            raise click.UsageError(str(errors.duplicate_table(name=name)))
        used_names.add(name.upper())


BuildRequest = Callable[[QuerySource, Tables, SettingPairs, OptionValues], QueryRequest]


def make_request_decorator(build_request: BuildRequest) -> Decorator[Callable[..., None]]:
    """Return a decorator of commands: they get a `QueryRequest` as their first argument.

    The request has the options that describe the query and its input. The command gets the others.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        """Return a command that builds the request, and calls the function with it."""
        own_options = signature(function).parameters

        @handle_failures
        @wraps(function)
        def command(query: QuerySource, tables: Tables, conf: SettingPairs, **options: Any) -> None:
            """Build the request from the options, and pass the function its own options."""
            passed = {name: options.pop(name) for name in own_options if name in options}
            reject_repeated_tables(tables, options.get("schemas", ()))
            function(build_request(query, tables, conf, options), **passed)

        return command

    return decorate


# For commands about a query in any language.
pass_request = make_request_decorator(build_query_request)
# For commands about a clause alone.
pass_clause_request = make_request_decorator(build_clause_request)


# The key in click's `Context.meta` of the arguments as written.
ARGUMENTS_AS_WRITTEN = "matchrec.arguments"
STREAM_PARAMETERS = ("events", "order_by", "partition_by", "type_column")
INPUT_PARAMETERS = ("tables", "schemas", "delimiter", "header", "engine", "conf")

# The parameters that describe the query and its input, in all commands about a query.
QUERY_PARAMETERS = (
    "query",
    "text",
    "language",
    "dialect",
    "args",
    "clause",
    *STREAM_PARAMETERS,
    *INPUT_PARAMETERS,
)

# What to write instead of options that users know from other programs. The first word is an option
# of matchrec, which some commands do not have.
HINTS_OF_FOREIGN_OPTIONS = {
    "--master": "--engine spark --conf spark.master=local[4]",
    "--to": "--write",
    "--key": "--partition",
    "-o": "--output FILE",
    "-f": "--format",
    "-t": "--table NAME=PATH",
    "-p": "--arg NAME=VALUE",
}

# An argument such as `stocks=stocks.csv` or `stocks.csv`, in click's error for extra arguments.
TABLE_ARGUMENT = re.compile(r"\w+=[^\s()]+|[^\s()=]+\.\w+")


class Repeatable(click.Command):
    """A command that keeps its arguments as written, so that another command can repeat them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Errors say what to write for options of other programs."""
        ctx.meta[ARGUMENTS_AS_WRITTEN] = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            hint = HINTS_OF_FOREIGN_OPTIONS.get(error.option_name)
            if hint is None or not self.has_option(hint.split()[0]):
                raise
            raise click.UsageError(add_help(error.format_message(), hint), ctx) from None
        except click.UsageError as error:
            tables = [
                argument
                for argument in TABLE_ARGUMENT.findall(error.message)
                if argument in ctx.meta[ARGUMENTS_AS_WRITTEN]
            ]
            if not tables or not self.has_option("--table"):
                raise
            table = tables[0]
            table = table if "=" in table else f"{Path(table).stem}={table}"
            raise click.UsageError(add_help(error.message, f"--table {table}"), ctx) from None

    def has_option(self, option: str) -> bool:
        """Return whether the command has an option, such as `--table`."""
        return any(option in parameter.opts for parameter in self.params)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups, by what they are about."""
        lines: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for parameter in self.get_params(ctx):
            line = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and line is not None:
                names, help_text = line
                # click writes two spaces before a default that it adds, and our texts have one
                line = names, help_text.replace("  [", " [")
                lines[find_option_group(parameter)].append(line)
        for group, listed in lines.items():
            if listed:
                with formatter.section(group):
                    formatter.write_dl(listed)


def add_help(message: str, hint: str) -> str:
    """Return a message of click with what to write instead."""
    return f"{message}\n{format_labelled('help', f'write {hint}')}"


# The groups of options in the help, by their names in Python; others are in the last group.
GROUPS: dict[str, tuple[str, ...]] = {
    "Query": ("text", "language", "dialect", "read", "write", "args", "grid", "clause"),
    "Input": ("tables", "schemas", "delimiter", "header", "clause_table"),
    "Events (only for SASE+ and Patterns)": STREAM_PARAMETERS,
    "Engine and search": ("engine", "conf", "algorithm", "sort", "max_steps"),
    "Incidents": ("labels", "start", "end", "key"),
    "Rows to explain": ("partition", "row"),
    "Result": ("output", "timeouts", "aggregates", "per", "format_name", "limit", "analyze"),
    "Files to write": ("file", "overwrite", "picture", "x", "y", "series", "between", "dot", "svg"),
    "Other options": (),
}


def find_option_group(parameter: click.Parameter) -> str:
    """Return the group of an option in the help."""
    *_, last = GROUPS
    return next((group for group, names in GROUPS.items() if parameter.name in names), last)


def write_other_command(name: str) -> str:
    """Return another command about the query of the current one, as a shell reads it.

    The current command is a `Repeatable`. Its arguments that describe the query are repeated.

    Args:
        name: the name of the other command.
    """
    context = click.get_current_context()
    parser = context.command.make_parser(context)
    values, _, order = parser.parse_args(context.meta[ARGUMENTS_AS_WRITTEN])
    parameters = list(dict.fromkeys(order))
    parameters.sort(key=lambda parameter: isinstance(parameter, click.Option))  # QUERY is first
    words = [name]
    for parameter in parameters:
        value = values[parameter.name]
        if parameter.name not in QUERY_PARAMETERS or not isinstance(value, str | list | bool):
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            for item in value if isinstance(value, list) else [value]:
                words += [parameter.opts[0], item]
    return f"{show_program()} {shlex.join(words)}"


def show_program() -> str:
    """Return how this program was started, as a shell reads it.

    That is `matchrec` if a shell finds the same file under this name.
    """
    script = Path(sys.argv[0])
    if script.name == "__main__.py" and script.parent.name == "matchrec":
        return shlex.join([sys.executable, "-m", "matchrec"])
    path_of_name = shutil.which("matchrec")
    is_same = path_of_name is not None and script.exists() and script.samefile(path_of_name)
    if is_same or script.stem != "matchrec":
        return "matchrec"
    return shlex.quote(str(script))


def make_choice_option(
    option: str | tuple[str, str], words: Sequence[str], help_text: str, **attributes: Any
) -> Decorator[Any]:
    """Return an option with one of a few values.

    Args:
        option: `--name`, or this and its name in Python.
        words: the values.
        help_text: what the help says about the option.
        attributes: other arguments of `click.option`.
    """
    names = (option,) if isinstance(option, str) else option
    return click.option(*names, type=click.Choice(words), help=help_text, **attributes)


SETTING_TYPE = ParsedType("NAME=VALUE", parse_setting)
CANDIDATES_TYPE = ParsedType("NAME=VALUE,...", parse_candidates)


def name_query_source(ctx: click.Context, _: click.Parameter, path: str | None) -> QuerySource:
    """Return where the query comes from.

    Raises:
        click.UsageError: there is no query, or there are two.
    """
    text = ctx.params.pop("text", None)
    if path is None and text is None:
        raise click.UsageError(str(errors.missing_query()))
    if path is not None and text is not None:
        raise click.UsageError(str(errors.two_queries(path=path)))
    return QuerySource("-c" if path is None else path, text)


# Groups of options, from those that most commands have to those that few have.

# The query: the argument QUERY, or the option -c.
QUERY_TEXT = combine_options(
    click.argument("query", metavar="[QUERY]", required=False, callback=name_query_source),
    click.option(
        "-c", "text", metavar="TEXT", is_eager=True, help="Text of the query, instead of a file."
    ),
)


def complete_parameters(ctx: click.Context, _: click.Parameter, typed: str) -> list[str]:
    """Return the completions that a shell offers after `--arg`: the parameters of the query."""
    # click leaves the query in `args` if an option without a value follows it.
    query = ctx.params.get("query") or next(map(QuerySource, ctx.args), None)
    if query is None or not (query.text or Path(query.path).is_file()):
        return []
    from matchrec.api.inputs import find_clause_parameters

    names = dict.fromkeys(name for name, _ in find_clause_parameters(query.read(QueryLanguage.SQL)))
    return [f"{name}=" for name in names if name.startswith(typed)]


# What sorts and partitions the events of SASE+ and of a Pattern, which their texts do not say.
EVENT_OPTIONS = combine_options(
    make_repeatable_option(
        "--order-by",
        metavar="SQL",
        help="Column or expression that sorts the events. May be repeated.",
    ),
    make_repeatable_option(
        "--partition-by",
        metavar="SQL",
        help="Column or expression that partitions the events. May be repeated.",
    ),
    click.option(
        "--type-column",
        metavar="SQL",
        help="Column or expression with the type of each event. [default: event_type]",
    ),
)
EVENT_TABLE = click.option(
    "--events", metavar="NAME", help="Table that holds the events. [default: the only --table]"
)
ENGINE = click.option(
    "--engine",
    metavar="sail|spark|sc://HOST:PORT",
    type=ParsedType("ENGINE", parse_engine),
    help="Engine that runs the query. [default: sail if it is installed, else spark]",
)
# The tables and the engine.
SESSION_OPTIONS = combine_options(
    make_repeatable_option(
        "--table",
        "tables",
        type=ParsedType("NAME=PATH", parse_table),
        help="Read a table from a parquet, csv, tsv or json file, from a folder, or from the files"
        " that match a pattern such as 'day-*.csv'. May be repeated.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        type=ParsedType("CHARACTER", parse_delimiter),
        help="Field separator of csv files. [default: detected in the first line]",
    ),
    click.option(
        "--header/--no-header",
        default=True,
        help="Whether the first line of csv files holds the column names. [default: --header]",
    ),
    ENGINE,
    make_repeatable_option(
        "--conf",
        type=SETTING_TYPE,
        help="Set a Spark property, such as spark.sql.session.timeZone=UTC. May be repeated.",
    ),
)
ALGORITHM = make_choice_option(
    "--algorithm", get_args(Algorithm), "Search algorithm. [default: auto]"
)
DIALECT = make_choice_option(
    "--dialect", get_args(DialectName), "SQL dialect of the query. [default: spark]"
)
# A query in any language: its text, its parameters and its tables.
QUERY_OPTIONS = combine_options(
    QUERY_TEXT,
    SESSION_OPTIONS,
    make_choice_option(
        "--language",
        [language.value for language in QueryLanguage],
        "Language of the query. [default: by the name of its file, else sql]",
    ),
    DIALECT,
    make_repeatable_option(
        "--arg",
        "args",
        type=ParsedType("NAME=VALUE", parse_parameter),
        callback=check_named_once,
        shell_complete=complete_parameters,
        help="Set the parameter :NAME of the query to a number, true, false, null,"
        " DATE'2026-01-31' or a text. May be repeated.",
    ),
    EVENT_TABLE,
    EVENT_OPTIONS,
)
SORT = make_choice_option(
    "--sort",
    get_args(Sort),
    "Who sorts the rows: the engine or the Python workers. With ranges, the workers sort, and a"
    " large partition is first cut into ranges. [default: auto]",
)
MAX_STEPS = click.option(
    "--max-steps",
    type=WholeNumber(),
    help="Stop with an error if the search of a partition takes more than N steps. A step is one"
    " test of a condition that depends on the rows of the match so far. Not for queries that may"
    " skip rows.",
)
CLAUSE_TABLE = click.option(
    "--events",
    "clause_table",
    metavar="NAME",
    help="Table that the clause reads. [default: the only --table]",
)
# A clause alone, as `sweep` takes it.
CLAUSE_OPTIONS = combine_options(
    QUERY_TEXT, SESSION_OPTIONS, DIALECT, SORT, MAX_STEPS, ALGORITHM, CLAUSE_TABLE
)
# A query whose rows are searched, by whichever algorithm the command has.
SEARCH_OPTIONS = combine_options(QUERY_OPTIONS, SORT, MAX_STEPS)


def make_clause_option(use: str) -> Decorator[Any]:
    """Return the option that chooses one of several clauses; `use` is what the command does."""
    return click.option(
        "--clause", metavar="NUMBER|ALIAS", help=f"Clause to {use}, if the query has several."
    )


def make_result_options(aggregate_help: str) -> Decorator[Any]:
    """Return the options of a query whose result is shown or explained.

    They choose which matches are the result, or which aggregates over them.

    Args:
        aggregate_help: what `--aggregate` does, as sentences.
    """
    return combine_options(
        SEARCH_OPTIONS,
        ALGORITHM,
        make_choice_option(
            ("--result", "output"),
            tuple(dict.fromkeys((*get_args(SaseOutput), *get_args(PatternOutput)))),
            "What to return. non_overlapping and graph are only for SASE+, events only for"
            " Patterns. [default: matches]",
        ),
        click.option(
            "--timeouts", is_flag=True, help="Also return the runs of a Pattern that timed out."
        ),
        make_repeatable_option(
            "--aggregate",
            "aggregates",
            type=ParsedType("NAME=AGGREGATE", parse_setting),
            help=f"{aggregate_help} May be repeated. [default with --per: matches=count(*)]",
        ),
        make_choice_option(
            "--per",
            get_args(AggregatePer),
            "Aggregate for each partition, or for each row that starts or ends matches. [default:"
            " partition]",
        ),
    )


SCHEMAS = make_repeatable_option(
    "--schema",
    "schemas",
    type=ParsedType("'NAME: COLUMNS'", parse_schema),
    help="Declare a table without a file, such as 't: id INT, ts TIMESTAMP'. May be repeated.",
)
FILE_TYPE = ParsedType("FILE", check_writable)
PICTURE_TYPE = ParsedType("FILE", partial(check_writable, suffixes=(".png", ".svg")))
SVG_TYPE = ParsedType("FILE", partial(check_writable, suffixes=(".svg",)))
