"""The query of a command: its text or Pattern, the tables that it reads, and its options.

`QuerySource` is where the text comes from, `build_request` checks that the arguments fit together,
and a `QueryRequest` starts the session and builds the `matchrec.Query`.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias

import click

import matchrec
from matchrec.cli.failures import label_errors, report_warnings
from matchrec.cli.files import FILE_FORMATS, strip_compression, suggest_nearest_file
from matchrec.cli.session import SettingPairs, open_local_session
from matchrec.cli.statements import Statement, replace_file_names, split_statements
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.errors.wording import shorten
from matchrec.source import record_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The options for aggregates over all matches.
TOTAL_OPTIONS = ("aggregates", "per")
# The options that SASE+ and Patterns have in common.
OPTIONS_OF_EVENTS = (
    "events",
    "args",
    "algorithm",
    "sort",
    "order_by",
    "partition_by",
    "output",
    *TOTAL_OPTIONS,
)
# The options that each language has.
OPTIONS_BY_LANGUAGE = {
    "sql": ("algorithm", "dialect", "args", "sort", "max_steps", "clause", *TOTAL_OPTIONS),
    "sase": (*OPTIONS_OF_EVENTS, "type_column"),
    "pattern": (*OPTIONS_OF_EVENTS, "timeouts"),
}
# The options that are fields of `matchrec.Options`.
RUN_OPTIONS = ("algorithm", "sort", "max_steps")
LANGUAGE_NAMES = {"sql": "SQL", "sase": "SASE+", "pattern": "a Pattern"}
IN_PYTHON = re.compile(r"\.py(:\w+)?$")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
KEYWORDS = {"true": True, "false": False, "null": None}
# A literal of SQL with the name of its type.
TYPED_LITERAL = re.compile(
    r"(DATE|TIMESTAMP(_NTZ|_LTZ)?|X)\s*'[^']*'|INTERVAL\s*'[^']*'\s+\w+(\s+TO\s+\w+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """The query of a command, with the statements before it and the tables that they read."""

    language: str  # "sql", "sase" or "pattern"
    content: str  # the text of the last statement, or where a Pattern is
    earlier: tuple[Statement, ...]  # the statements before the last one
    label: str  # of the last statement, such as `statement 2 of 2`; empty if it is the only one
    events: str  # the table of the events of SASE+ and of a Pattern
    options: dict[str, Any]  # named as in `matchrec.query` and `matchrec.Options`
    tables: tuple[Table | EmptyTable, ...]
    settings: SettingPairs
    engine: str | None  # the engine that runs the query, if the user named one
    clause: int | str | None  # the number or alias of the clause that the command is about
    totals: dict[str, Any]  # the arguments of `Query.aggregate`, if its rows are to be printed
    only_schema: bool = False  # whether only the columns of the tables matter, not their rows

    @contextmanager
    def open_query(self) -> Iterator[tuple[SparkSession, matchrec.Query]]:
        """Yield a session with the tables, and the query. Warnings are printed as notices.

        Earlier statements run first, except queries, whose rows are not needed.
        """
        with report_warnings(), self.open_statement() as (spark, content):
            for statement in self.earlier:
                if not statement.is_query:
                    with label_errors(statement.label):
                        self.build_query(spark, statement.text).to_df()
            with label_errors(self.label):
                yield spark, self.build_query(spark, content)

    @contextmanager
    def open_statement(self) -> Iterator[tuple[SparkSession, Any]]:
        """Yield a session with the tables, and the text of the last statement or the Pattern.

        Mistakes that can be found in the text alone are raised before an engine starts, because
        that takes seconds.
        """
        content = self._read()
        with self.open_session() as spark:
            yield spark, content

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements of a SQL text, in their order."""
        return (*self.earlier, Statement(self.content, self.label))

    @property
    def has_rows(self) -> bool:
        """Return whether the last statement has rows to print."""
        return self.language != "sql" or self.statements[-1].has_rows

    def build_query(self, spark: SparkSession, content: Any) -> matchrec.Query:
        """Return the query of a statement, or of a SASE+ text or Pattern over the events."""
        from matchrec.spark.backends import read_table

        source: Any = spark if self.language == "sql" else read_table(spark, self.events)
        values = {name: read_argument_value(text) for name, text in self.select_arguments(content)}
        args = values or None
        arguments = {
            name: value
            for name, value in self.options.items()
            if name not in RUN_OPTIONS and name != "args"
        }
        return matchrec.query(source, content, args, options=self.run_options, **arguments)

    def select_arguments(self, content: Any) -> list[tuple[str, str]]:
        """Return the names and values that `--arg` passes to a query.

        If there are several statements, each gets only the values that it names.
        """
        arguments = list(self.options.get("args", ()))
        if not self.earlier:
            return arguments
        from matchrec.api.inputs import find_possible_parameters

        names = find_possible_parameters(content)
        return [(name, text) for name, text in arguments if name in names]

    @contextmanager
    def open_session(self) -> Iterator[SparkSession]:
        """Yield a session in which the files are tables."""
        from matchrec.spark.session import silence_analysis

        with open_local_session(self.settings, self.engine) as spark, silence_analysis():
            for table in self.tables:
                table.register(spark, only_schema=self.only_schema)
            yield spark

    @property
    def dialect(self) -> Any:
        """The product whose SQL the query is."""
        return self.options.get("dialect", "spark")

    @property
    def run_options(self) -> matchrec.Options:
        """Return the options that say how the query runs."""
        fields = {name: self.options[name] for name in RUN_OPTIONS if name in self.options}
        return matchrec.Options(**fields)

    def _read(self) -> Any:
        """Check the texts of all statements. Return the last text, or the Pattern.

        Raises:
            MatchRecognizeError: a text has a mistake, or there is no such Pattern.
        """
        if self.language == "pattern":
            return load_pattern(self.content)
        from matchrec.api.dialects import check_query
        from matchrec.api.inputs import reject_unused

        language = self.dialect if self.language == "sql" else self.language
        for statement in self.statements:
            args = {
                name: read_plain_value(value)
                for name, value in self.select_arguments(statement.text)
            }
            with label_errors(statement.label):
                check_query(statement.text, language, args)
        if self.earlier:
            # A value may be for one of the statements.
            all_texts = "\n".join(statement.text for statement in self.statements)
            reject_unused(all_texts, dict(self.options.get("args", ())))
        return self.content


@dataclass(frozen=True, slots=True)
class QuerySource:
    """Where a query comes from: a file, standard input, a Pattern in a module, or the option -c."""

    path: str  # a path, `-` for standard input, or the file or module and name of a Pattern
    text: str | None = None  # the text of the option -c

    @property
    def language(self) -> str:
        """The language of the query, by the name of its file.

        >>> [QuerySource(path).language for path in ("q.sql", "-", "q.sase", "q.py:rises")]
        ['sql', 'sql', 'sase', 'pattern']
        """
        if self.path.endswith(".sase"):
            return "sase"
        return "pattern" if IN_PYTHON.search(self.path) else "sql"

    def read(self, language: str) -> str:
        """Return the text of the query, or where the Pattern is. Errors in the text name its file.

        Args:
            language: the language that the user named, or else `language`.

        Raises:
            click.UsageError: there is no such file, or it is empty.
        """
        try:
            if language == "pattern":
                module, name = split_pattern_path(self.path)
                if not module or not name.isidentifier():
                    raise errors.malformed_pattern(
                        where=self.path, module=(module or name).removesuffix(".py")
                    )
                if module.endswith(".py") and not Path(module).is_file():
                    hint = suggest_nearest_file(module)
                    raise errors.no_such_file(what="the query file", path=module, hint=hint)
                return self.path
            text = read_query(self.path) if self.text is None else self.text
        except MatchRecognizeError as error:
            raise click.UsageError(str(error)) from error
        if not text.strip():
            raise click.UsageError(str(errors.blank_query()))
        self.record_path(text)
        return text

    def record_path(self, text: str) -> None:
        """Let errors in a text, which is the query or a statement of it, name the file, if any."""
        if self.text is None and self.path != "-":
            record_path(text, self.path)


def read_query(path: str) -> str:
    """Return the text of a query, from a file or, for `-`, from standard input.

    Raises:
        MatchRecognizeError: there is no such file, or it is not a text.
    """
    if strip_compression(Path(path)).suffix.lower() in FILE_FORMATS:
        stem = strip_compression(Path(path)).stem
        raise errors.rows_for_query(path=path, name=stem if stem.isidentifier() else "events")
    if path != "-" and not Path(path).is_file():
        if len(path.split()) > 1:
            raise errors.no_such_query(path=shorten(path))
        raise errors.no_such_file(what="the query file", path=path, hint=suggest_nearest_file(path))
    content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise errors.not_a_text_file(path=path) from error


def build_request(
    source: QuerySource,
    tables: tuple[Table | EmptyTable, ...],
    settings: SettingPairs,
    options: dict[str, Any],
) -> QueryRequest:
    """Return the request of a command.

    Args:
        source: where the query comes from.
        tables: the tables of `--table`.
        settings: the settings of `--conf`.
        options: all other options, by their names in Python. Those that are not for the query are
            removed.

    Raises:
        click.UsageError: the arguments do not fit together.
    """
    csv_options = {name: options.pop(name) for name in ("delimiter", "header")}
    tables = (*tables, *options.pop("schemas", ()))
    is_query = "order_by" in options  # otherwise it is the clause of `sweep`
    language = options.pop("language", None) or source.language
    engine = options.pop("engine")
    check_language(language, is_query)
    passed = {name: value for name, value in options.items() if value not in (None, (), False)}
    check_options(passed, language)
    events = passed.pop("events", None) or (tables[0].name if len(tables) == 1 else "")
    if language != "sql" and not events:
        raise make_missing_events_error(LANGUAGE_NAMES[language])
    clause = passed.pop("clause", None)
    if clause and clause.isdigit():
        clause = int(clause)
    totals = pop_totals(passed)

    content = source.read(language)
    label = ""
    earlier: tuple[Statement, ...] = ()
    if language == "sql" and is_query:
        content, file_tables = read_files(content, tables)
        tables = (*tables, *file_tables)
        *earlier_statements, last = split_statements(content)
        earlier = tuple(earlier_statements)
        content, label = last.text, last.label
        for statement in (*earlier, last):
            source.record_path(statement.text)
    return QueryRequest(
        language=language,
        content=content,
        earlier=earlier,
        label=label,
        events=events,
        options=passed,
        tables=tuple(set_csv_options(table, csv_options) for table in tables),
        settings=settings,
        engine=engine,
        clause=clause,
        totals=totals,
    )


def check_language(language: str, is_query: bool) -> None:
    """Check that a command that takes a clause gets SQL.

    Args:
        language: the language of the text.
        is_query: whether the command takes whole queries, in all languages.

    Raises:
        click.UsageError: the command takes a clause, and the text is not SQL.
    """
    if language != "sql" and not is_query:
        error = errors.language_not_for_command(language=LANGUAGE_NAMES[language])
        raise click.UsageError(str(error))


def make_missing_events_error(reader: str) -> click.UsageError:
    """Return the error for a text that needs the name of a table.

    Args:
        reader: what reads the table, such as "a clause".
    """
    error = errors.missing_option(option="--events", value="NAME", reader=reader)
    return click.UsageError(str(error))


def pop_totals(passed: dict[str, Any]) -> dict[str, Any]:
    """Remove the options for `Query.aggregate`, and return them as its arguments.

    If there is one of them, but no aggregate, matches are counted.
    """
    totals: dict[str, Any] = {name: passed.pop(name) for name in TOTAL_OPTIONS if name in passed}
    if totals:
        totals["aggregates"] = dict(totals.get("aggregates", [("matches", "count(*)")]))
    return totals


def check_options(passed: dict[str, Any], language: str) -> None:
    """Check that the options fit the language of the query.

    Raises:
        click.UsageError: one does not, or `--order-by` is missing.
    """
    for name in passed.keys() - set(OPTIONS_BY_LANGUAGE[language]):
        parameters = click.get_current_context().command.params
        option = next(parameter.opts[0] for parameter in parameters if parameter.name == name)
        error = errors.option_not_for_language(option=option, language=LANGUAGE_NAMES[language])
        raise click.UsageError(str(error))
    if language != "sql" and "order_by" not in passed:
        error = errors.missing_option(
            option="--order-by", value="COLUMN", reader=LANGUAGE_NAMES[language]
        )
        raise click.UsageError(str(error))


def read_files(text: str, tables: Sequence[Table | EmptyTable]) -> tuple[str, list[Table]]:
    """Replace the files in FROM by names of tables, and return the text and these tables.

    Raises:
        click.UsageError: a file does not exist.
    """
    try:
        return replace_file_names(text, [table.name for table in tables])
    except MatchRecognizeError as error:
        raise click.UsageError(str(error)) from error


def set_csv_options(table: Table | EmptyTable, options: dict[str, Any]) -> Table | EmptyTable:
    """Return the table with the options for all CSV files: `delimiter` and `header`."""
    return replace(table, **options) if isinstance(table, Table) else table


def read_argument_value(text: str) -> Any:
    """Return the value of `--arg`: the value of a SQL literal, or else the text itself."""
    if TYPED_LITERAL.fullmatch(text):
        from pyspark.sql.functions import expr

        return expr(text)
    return read_plain_value(text)


# A value of an argument.
PlainValue: TypeAlias = int | float | Decimal | bool | str | None


def read_plain_value(text: str) -> PlainValue:
    """Return a number, a truth value, NULL or a text. Dates and the like are texts.

    A number with a leading zero is a text, and so is everything in single quotes.

    >>> [read_plain_value(text) for text in ("12", "1.5", "1e3", "007", "null", "O'Hara", "'12'")]
    [12, Decimal('1.5'), 1000.0, '007', None, "O'Hara", '12']
    """
    if NUMBER.fullmatch(text):
        if "e" in text.lower():
            return float(text)
        return Decimal(text) if "." in text else int(text)
    if text.lower() in KEYWORDS:
        return KEYWORDS[text.lower()]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def split_pattern_path(path: str) -> tuple[str, str]:
    """Return the file or module of a Pattern, and its name there.

    >>> [split_pattern_path(path) for path in ("rises.py", "rises.py:slow", "shop.rises:slow")]
    [('rises.py', 'pattern'), ('rises.py', 'slow'), ('shop.rises', 'slow')]
    """
    if path.endswith(".py"):
        return path, "pattern"
    module, _, name = path.rpartition(":")
    return module, name


def load_pattern(path: str) -> matchrec.Pattern:
    """Run a file or a module, and return the Pattern with a name in it.

    A file can import modules in its own folder, and a module those in the current folder.

    Raises:
        MatchRecognizeError: there is no such module, or no such Pattern in it.
    """
    module, name = split_pattern_path(path)
    is_file = module.endswith(".py")
    folder = Path(module).absolute().parent if is_file else Path.cwd()
    sys.path.insert(0, str(folder))
    try:
        variables = runpy.run_path(module) if is_file else vars(resolve_name(module))
    except ModuleNotFoundError as error:
        raise errors.no_such_module(module=module, reason=str(error)) from error
    finally:
        sys.path.pop(0)
    pattern = variables.get(name)
    if not isinstance(pattern, matchrec.Pattern):
        pattern_names = [
            variable for variable, value in variables.items() if isinstance(value, matchrec.Pattern)
        ]
        raise errors.no_such_pattern(name=name, module=module, patterns=pattern_names)
    return pattern
