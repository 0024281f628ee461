"""A query of the command line: SQL, SASE+ or a Pattern, with what its function is passed."""

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
from typing import TYPE_CHECKING, Any

import click

import matchrec
from matchrec.cli.failures import label_errors, report_warnings
from matchrec.cli.files import EmptyTable, Table, nearest_file, read_query
from matchrec.cli.session import Settings, local_session
from matchrec.cli.statements import Statement, replace_file_names, split_statements
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OF_TOTALS = ("aggregates", "per")
OF_EVENTS = (
    "events",
    "args",
    "algorithm",
    "sort",
    "order_by",
    "partition_by",
    "output",
    *OF_TOTALS,
)
OPTIONS = {
    "sql": ("algorithm", "dialect", "args", "sort", "max_steps", "clause", *OF_TOTALS),
    "sase": (*OF_EVENTS, "type_column"),
    "pattern": (*OF_EVENTS, "timeouts"),
}
OF_RUN = ("algorithm", "sort", "max_steps")
NAMES = {"sql": "SQL", "sase": "SASE+", "pattern": "a Pattern"}
IN_PYTHON = re.compile(r"\.py(:\w+)?$")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
WORDS = {"true": True, "false": False, "null": None}
TYPED = re.compile(
    r"(DATE|TIMESTAMP(_NTZ|_LTZ)?|X)\s*'[^']*'|INTERVAL\s*'[^']*'\s+\w+(\s+TO\s+\w+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """The query of a command, with the statements before it and the tables that they read.

    Its options are named as in `matchrec.query` and `Options`.
    """

    language: str
    what: str  # the text of the last statement, or where a Pattern is
    earlier: tuple[Statement, ...]  # the statements before the last one
    label: str  # of the last statement, such as `statement 2 of 2`; empty if it is the only one
    events: str  # the table of the events of SASE+ and of a Pattern
    options: dict[str, Any]
    tables: tuple[Table | EmptyTable, ...]
    settings: Settings
    engine: str | None  # what runs the query, if that was named
    clause: int | str | None  # by number or alias
    totals: dict[str, Any]  # arguments of `aggregate`, which gives its rows instead of matches
    only_schema: bool = False  # whether only the columns of the tables matter, not their rows

    @contextmanager
    def running(self) -> Iterator[tuple[SparkSession, matchrec.Query]]:
        """Give the query and a session with the tables; print warnings as notices.

        Earlier statements run first, except queries, whose rows are not needed.
        """
        with report_warnings(), self.prepared() as (spark, read):
            for statement in self.earlier:
                if not statement.is_query:
                    with label_errors(statement.label):
                        self.query(spark, statement.text).to_df()
            with label_errors(self.label):
                yield spark, self.query(spark, read)

    @contextmanager
    def prepared(self) -> Iterator[tuple[SparkSession, Any]]:
        """Give a session with the tables, and the text of the last statement or the Pattern.

        Mistakes that the text alone shows are raised before an engine starts, which takes seconds.
        """
        read = self._read()
        with self.session() as spark:
            yield spark, read

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements of a SQL text, in their order."""
        return (*self.earlier, Statement(self.what, self.label))

    @property
    def gives_rows(self) -> bool:
        """Return whether the last statement has rows to print."""
        return self.language != "sql" or self.statements[-1].gives_rows

    def query(self, spark: SparkSession, what: Any) -> matchrec.Query:
        """Return the query of a statement, or of a SASE+ text or Pattern over the events."""
        from matchrec.spark.backends import table_of

        source: Any = spark if self.language == "sql" else table_of(spark, self.events)
        options = self.options.items()
        given = {name: one for name, one in options if name not in (*OF_RUN, "args")}
        args = {name: value_of(text) for name, text in self.select_arguments(what)} or None
        return matchrec.query(source, what, args, options=self.how, **given)

    def select_arguments(self, what: Any) -> list[tuple[str, str]]:
        """Return the values of --arg for a query; for one of several, only those that it names."""
        arguments = list(self.options.get("args", ()))
        if not self.earlier:
            return arguments
        from matchrec.api.inputs import find_possible_markers

        names = find_possible_markers(what)
        return [(name, text) for name, text in arguments if name in names]

    @contextmanager
    def session(self) -> Iterator[SparkSession]:
        """A session in which the files are tables."""
        from matchrec.spark.session import quiet_analysis

        with local_session(self.settings, self.engine) as spark, quiet_analysis():
            for table in self.tables:
                table.register(spark, only_schema=self.only_schema)
            yield spark

    @property
    def dialect(self) -> Any:
        return self.options.get("dialect", "spark")

    @property
    def how(self) -> matchrec.Options:
        given = {name: self.options[name] for name in OF_RUN if name in self.options}
        return matchrec.Options(**given)

    def _read(self) -> Any:
        """Check the texts of all statements; return the last text, or the Pattern."""
        if self.language == "pattern":
            return load_pattern(self.what)
        from matchrec.api.dialects import check_query
        from matchrec.api.inputs import refuse_unused

        language = self.dialect if self.language == "sql" else self.language
        for statement in self.statements:
            args = {
                name: plain_value_of(value) for name, value in self.select_arguments(statement.text)
            }
            with label_errors(statement.label):
                check_query(statement.text, language, args)
        if self.earlier:
            whole = "\n".join(statement.text for statement in self.statements)
            refuse_unused(whole, dict(self.options.get("args", ())))
        return self.what


@dataclass(frozen=True, slots=True)
class QuerySource:
    """Where a query comes from: a path, `-`, the place of a Pattern; or its text, of `-c`."""

    path: str
    text: str | None = None

    @property
    def language(self) -> str:
        """The language that the name of a query tells.

        >>> [QuerySource(path).language for path in ("q.sql", "-", "q.sase", "q.py:rises")]
        ['sql', 'sql', 'sase', 'pattern']
        """
        if self.path.endswith(".sase"):
            return "sase"
        return "pattern" if IN_PYTHON.search(self.path) else "sql"

    def read(self, language: str) -> str:
        """The query's text, or where the Pattern is. Raises click.UsageError where nothing is."""
        try:
            if language == "pattern":
                place, name = place_of(self.path)
                if not place or not name.isidentifier():
                    raise errors.malformed_pattern(where=self.path)
                if place.endswith(".py") and not Path(place).is_file():
                    cure = nearest_file(place)
                    raise errors.no_such_file(what="the query", path=place, cure=cure)
                return self.path
            text = read_query(self.path) if self.text is None else self.text
        except MatchRecognizeError as error:
            raise click.UsageError(str(error)) from error
        if not text.strip():
            raise click.UsageError("the query is empty")
        return text


def query_of(
    origin: QuerySource,
    tables: tuple[Table | EmptyTable, ...],
    settings: Settings,
    options: dict[str, Any],
) -> QueryRequest:
    """The query that the arguments ask for. Raises click.UsageError for those that do not fit."""
    csv_options = {name: options.pop(name) for name in ("delimiter", "header")}
    tables = (*tables, *options.pop("schemas", ()))
    is_query = "order_by" in options  # and not the clause of `sweep`
    language = options.pop("language", None) or origin.language
    engine = options.pop("engine")
    if language != "sql" and "order_by" not in options:
        raise click.UsageError("this command is for SQL")
    given = {name: value for name, value in options.items() if value not in (None, (), False)}
    for name in given.keys() - set(OPTIONS[language]):
        parameters = click.get_current_context().command.params
        option = next(one.opts[0] for one in parameters if one.name == name)
        raise click.UsageError(f"{option} is not for {NAMES[language]}")
    if language != "sql" and "order_by" not in given:
        raise click.UsageError(f"{NAMES[language]} needs --order-by")
    events = given.pop("events", None) or (tables[0].name if len(tables) == 1 else "")
    if language != "sql" and not events:
        raise no_events(NAMES[language])
    clause = given.pop("clause", None)
    chosen = int(clause) if clause and clause.isdigit() else clause
    totals: dict[str, Any] = {name: given.pop(name) for name in OF_TOTALS if name in given}
    if totals:
        totals["aggregates"] = dict(totals.get("aggregates", [("matches", "count(*)")]))
    what, label = origin.read(language), ""
    earlier: tuple[Statement, ...] = ()
    if language == "sql" and is_query:
        what, named = read_files(what, tables)
        tables = (*tables, *named)
        *before, last = split_statements(what)
        what, earlier, label = last.text, tuple(before), last.label
    tables = tuple(set_csv_options(table, csv_options) for table in tables)
    return QueryRequest(
        language, what, earlier, label, events, given, tables, settings, engine, chosen, totals
    )


def read_files(text: str, tables: Sequence[Table | EmptyTable]) -> tuple[str, list[Table]]:
    """Replace the files in FROM by names of tables. Raises click.UsageError for a missing file."""
    try:
        return replace_file_names(text, [table.name for table in tables])
    except MatchRecognizeError as error:
        raise click.UsageError(str(error)) from error


def set_csv_options(table: Table | EmptyTable, options: dict[str, Any]) -> Table | EmptyTable:
    """Return the table with the options for all csv files: `delimiter` and `header`."""
    return replace(table, **options) if isinstance(table, Table) else table


def no_events(what: str) -> click.UsageError:
    return click.UsageError(f"{what} needs --events, the name of a table")


def value_of(text: str) -> Any:
    """The value of a parameter: what it says as a literal of SQL, or else the text itself."""
    if TYPED.fullmatch(text):
        from pyspark.sql.functions import expr

        return expr(text)
    return plain_value_of(text)


def plain_value_of(text: str) -> int | float | Decimal | bool | str | None:
    """A number, a truth value, NULL or a text; dates and the like are texts.

    A number with a leading zero is a text, and so is what stands in quotes.

    >>> [plain_value_of(text) for text in ("12", "1.5", "1e3", "007", "null", "O'Hara", "'12'")]
    [12, Decimal('1.5'), 1000.0, '007', None, "O'Hara", '12']
    """
    if NUMBER.fullmatch(text):
        return float(text) if "e" in text.lower() else Decimal(text) if "." in text else int(text)
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def place_of(where: str) -> tuple[str, str]:
    """Where a Pattern is: the file or the module, and its name there.

    >>> place_of("rises.py"), place_of("shop/rises.py:slow"), place_of("shop.rises:slow")
    (('rises.py', 'pattern'), ('shop/rises.py', 'slow'), ('shop.rises', 'slow'))
    """
    if where.endswith(".py"):
        return where, "pattern"
    place, _, name = where.rpartition(":")
    return place, name


def load_pattern(where: str) -> matchrec.Pattern:
    """The Pattern of a name in a file or a module, which runs; it may import what is beside it."""
    place, name = place_of(where)
    is_file = place.endswith(".py")
    sys.path.insert(0, str(Path(place).absolute().parent if is_file else Path.cwd()))
    try:
        names = runpy.run_path(place) if is_file else vars(resolve_name(place))
    except ModuleNotFoundError as error:
        raise errors.no_such_module(module=place, reason=str(error)) from error
    finally:
        sys.path.pop(0)
    if not isinstance(names.get(name), matchrec.Pattern):
        known = [one for one, value in names.items() if isinstance(value, matchrec.Pattern)]
        raise errors.no_such_pattern(name=name, place=place, known=known)
    return names[name]  # type: ignore[no-any-return]
