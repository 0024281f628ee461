"""`%%matchrec`: the query of a cell, with arguments in its first line; `%matchrec`: of a line."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import DataFrame, SparkSession

import matchrec
from matchrec.api.inputs import as_dataframe
from matchrec.api.signatures import are_values, fills_hole
from matchrec.api.sql import IS_SASE, build_answer
from matchrec.arguments import COUNT, is_dataframe, is_frame, is_session
from matchrec.cli.failures import report_warnings, shorten_spark_message
from matchrec.cli.queries import plain_value_of
from matchrec.cli.rows import SHOWN_ROWS, first_texts
from matchrec.dialects.products import PRODUCTS
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.errors import command as errors
from matchrec.errors.language import CELL, current_surface, shown_on
from matchrec.explain.pictures.html import paragraph, table
from matchrec.source import counted
from matchrec.spark.actions import Interrupted, cancelled_by_interrupt
from matchrec.spark.question import NO_OPTIONS
from matchrec.spark.sail.start import engine_of, start
from matchrec.spark.session import EVERY, FAILURES, quiet_analysis, replace_sql, restore_sql
from matchrec.syntax.locate import may_have_clause

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def unquoted(text: str) -> str:
    """An argument without the quotes around it, which IPython leaves.

    >>> unquoted('"abs(x), y"'), unquoted("x")
    ('abs(x), y', 'x')
    """
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


# Of an argument that takes several values, at once or one after the other.
SEVERAL: dict[str, Any] = {"nargs": "+", "action": "extend"}


@magics_class
class MatchrecMagics(Magics):
    @magic_arguments("matchrec")
    @argument(
        "-o", "--output", metavar="NAME", type=unquoted, help="variable that gets the DataFrame"
    )
    @argument("-n", "--limit", type=int, default=SHOWN_ROWS, metavar="N", help="rows shown")
    @argument("--explain", action="store_true", help="how the query runs, in place of its rows")
    @argument("--why", action="store_true", help="why a partition has its matches, or has none")
    @argument("--partition", **SEVERAL, metavar="NAME=VALUE", help="which, for --why")
    @argument("--row", **SEVERAL, metavar="VALUE", help="a starting row by its order, for --why")
    @argument("--coverage", action="store_true", help="how far starting rows come, over all rows")
    @argument(
        "--plot",
        nargs="+",
        type=unquoted,
        metavar="NAME",
        help="x y [by]: draw matches over the rows that they were found in",
    )
    @argument(
        "--between",
        nargs=2,
        type=unquoted,
        metavar=("FIRST", "LAST"),
        help="columns in which a match begins and ends, for --plot",
    )
    @argument("--events", metavar="NAME", type=unquoted, help="DataFrame that the cell is over")
    @argument(
        "--order-by", **SEVERAL, metavar="SQL", type=unquoted, help="what events are sorted by"
    )
    @argument("--partition-by", **SEVERAL, metavar="SQL", type=unquoted, help="what divides events")
    @argument("--type-column", metavar="SQL", type=unquoted, help="the types of events, of SASE+")
    @argument("--dialect", choices=tuple(PRODUCTS), help="whose SQL it is")
    @argument("--algorithm", default="auto", help="auto, backtracking or breadth_first")
    @no_var_expand
    @line_cell_magic
    def matchrec(self, line: str, cell: str | None = None) -> Any:
        """Run a query that may contain MATCH_RECOGNIZE.

        `:name` is the value of the Python variable of that name, `{name}` its DataFrame. With
        --events it is what stands between a clause's parentheses, SASE+, or the name of a Pattern.
        """
        if cell is None:
            line, cell = parted(line)
        try:
            asked = parse_argstring(self.matchrec, line)
        except UsageError as error:
            raise errors.wrong_arguments(sentence=str(error)) from None
        COUNT.check("%%matchrec", "--limit", asked.limit)
        for given, other in (("between", "plot"), ("partition", "why"), ("row", "why")):
            if getattr(asked, given) and not getattr(asked, other):
                raise errors.argument_without_other(given=f"--{given}", other=f"--{other}")
        if not cell.strip():
            raise errors.no_text()
        assert self.shell is not None, "IPython has registered it"
        variables = self.shell.user_ns
        try:
            spark = session_of(variables)
            with (
                shown_on(replace(CELL, frames=frames_of(variables), asking=asking_why(line))),
                quiet_analysis(),
                report_warnings(say),
                cancelled_by_interrupt(spark),
            ):
                return answer(asked, cell, spark, variables)
        except PySparkException as error:
            carries = MatchRecognizeRunError.from_exception(error) is not None
            if carries or isinstance(error, PythonException):
                raise
            raise UsageError(shorten_spark_message(str(error))) from error


def answer(asked: Namespace, query: str, spark: SparkSession, variables: dict[str, Any]) -> Any:
    """What a cell shows. variables: of the notebook."""
    asked_of = query_of(asked, query, spark, variables)
    if asked.output:
        variables[asked.output] = asked_of.to_df()
    if asked.explain:
        return asked_of.explain()
    if asked.why:
        row = tuple(map(value_of, asked.row)) if asked.row else None
        return asked_of.why(partition=partition_of(asked.partition), row=row)
    if asked.coverage:
        return asked_of.coverage()
    frame = variables[asked.output] if asked.output else asked_of.to_df()
    if asked.plot:
        if not 2 <= len(asked.plot) <= 3:
            names = counted(len(asked.plot), "name")
            raise errors.wrong_plot(given=" ".join(asked.plot), names=names)
        x, y, *by = asked.plot
        return asked_of.plot(x=x, y=y, by=by[0] if by else None, between=asked.between)
    found = first_texts(frame, asked.limit)
    rows = tuple(tuple("NULL" if value is None else value for value in row) for row in found)
    asks, more = bool(asked.events) or may_have_clause(query), len(rows) > asked.limit
    return Result(frame, tuple(frame.columns), rows[: asked.limit], more, asks)


def value_of(text: str) -> object:
    """A value; single quotes make it a text, as on the command line."""
    return plain_value_of(unquoted(text) if text.startswith('"') else text)


BEGINNING = re.compile(r"\b(SELECT|WITH|FROM|VALUES|PATTERN|PARTITION|ORDER)\s", re.IGNORECASE)


def parted(line: str) -> tuple[str, str]:
    """The arguments of a line, and its query, which may be the name of a Pattern.

    >>> parted("-n 5 SELECT * FROM t"), parted("--events t --order-by at rises")
    (('-n 5 ', 'SELECT * FROM t'), ('--events t --order-by at', 'rises'))
    """
    if begins := BEGINNING.search(line):
        return line[: begins.start()], line[begins.start() :]
    arguments, _, query = line.rpartition(" ")
    return arguments, query


def query_of(
    asked: Namespace, text: str, spark: SparkSession, variables: Mapping[str, Any]
) -> matchrec.Query:
    """What a cell asks. Raises MatchRecognizeError for events that are none."""
    source: Any = spark if asked.events is None else variables.get(asked.events)
    if is_frame(source):
        source = as_dataframe(spark, asked.events, source)
        say(f"`{asked.events}` is sent to the engine: {counted(source.count(), 'row')}")
    if asked.events and not is_dataframe(source):
        raise errors.no_events(name=asked.events, known=current_surface().frames)
    query: Any = variables.get(text.strip()) if asked.events else text
    if not isinstance(query, matchrec.Pattern):
        query = text
    of_events = query is not text or IS_SASE.match(text) is not None
    options = ("dialect", "order_by", "partition_by", "type_column")
    given = {one: value for one in options if (value := getattr(asked, one)) is not None}
    what = "SQL" if not of_events else "SASE+" if query is text else "a Pattern"
    for name in given:
        if (name == "dialect") is of_events or (name == "type_column" and query is not text):
            raise errors.unfit_in_cell(option=f"--{name.replace('_', '-')}", what=what)
    if of_events and asked.order_by is None:
        raise errors.no_order_in_cell()
    frames = {} if asked.events else frames_in(text, variables)
    how, values = matchrec.Options(algorithm=asked.algorithm), values_in(str(query), variables)
    return matchrec.query(source, query, values, options=how, **given, **frames)


def asking_why(line: str) -> str:
    """Return the first line of a cell that asks why, from that of a cell with another question.

    >>> asking_why("--events loads --order-by at --coverage"), asking_why("")
    ('%%matchrec --events loads --order-by at --why', '%%matchrec --why')
    """
    others = re.sub(r"--(?:coverage|explain|why)(?!\S)", "", line)
    return " ".join(["%%matchrec", *others.split(), "--why"])


def partition_of(given: Sequence[str] | None) -> dict[str, object] | None:
    """The values of the key columns, by name."""
    texts = [unquoted(one) for one in given or ()]
    for text in texts:
        if "=" not in text:
            raise errors.wrong_partition(given=text)
    named = (one.split("=", 1) for one in texts)
    return {name: value_of(value) for name, value in named} or None


BOLD_RED, GREEN, PLAIN = "\033[1;31m", "\033[32m", "\033[0m"


class Shown(Exception):  # noqa: N818 -- never raised: what a notebook shows in place of an error
    """A message as IPython shows it, for an error that it is given instead of."""

    def _render_traceback_(self) -> list[str]:
        """Its lines, the first one and carets in colours."""
        first, *others = str(self).split("\n")
        marked = (f"{GREEN}{one}{PLAIN}" if set(one.strip()) == {"^"} else one for one in others)
        return [f"{BOLD_RED}{first}{PLAIN}", *marked]


def say(notice: str) -> None:
    sys.stderr.write(f"{notice}\n")


def show_failure(
    shell: InteractiveShell,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """Shows an error that a cell has raised, or that of ours which it brings from the run."""
    is_ours = isinstance(error, MatchRecognizeError | Interrupted)
    ours = error if is_ours else MatchRecognizeRunError.from_exception(error)
    if ours is None:
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return
    shell.showtraceback((type(ours), Shown(str(ours)), traceback))
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback  # for %tb


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of a cell. rows: the first ones. asks_for_matches: no rows may mean no matches."""

    dataframe: DataFrame
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: bool
    asks_for_matches: bool = False

    @property
    def note(self) -> str:
        count = len(self.rows)
        if self.asks_for_matches and not count:
            return "0 rows; --coverage shows how far rows come, --why what stops them"
        rows = counted(count, "row")
        return f"showing {rows}; --limit shows more" if self.more else rows

    def _repr_html_(self) -> str:
        return table(self.names, self.rows) + paragraph(self.note)

    def __repr__(self) -> str:
        return f"<Result: {', '.join(self.names)}; {self.note}>"


HOLE = re.compile(r"\{(\w+)\}")
MARKER = re.compile(r"(?<![:\w]):([^\W\d]\w*)")


def running_session(variables: Mapping[str, Any]) -> SparkSession | None:
    """The session that the notebook calls `spark`, else the active one, if there is any."""
    from pyspark.sql import SparkSession

    spark = variables.get("spark")
    return spark if is_session(spark) else SparkSession.getActiveSession()


def session_of(variables: dict[str, Any]) -> SparkSession:
    """The running session, or a new one, which is called `spark` unless something else is."""
    if (running := running_session(variables)) is not None:
        return running
    spark = start()
    is_named = variables.setdefault("spark", spark) is spark
    say(f"started {engine_of(spark)}: {'`spark`' if is_named else 'matchrec.session()'}")
    return spark


def frames_in(query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """What the holes of a query stand for: `{stocks}` is the DataFrame of that name.

    >>> frames_in("SELECT {n} FROM t MATCH_RECOGNIZE (... A{2} {- B -})", {"n": 1, "B": 2})
    {'n': 1}
    """
    named = {name: variables[name] for name in HOLE.findall(query) if name in variables}
    return {name: value for name, value in named.items() if fills_hole(value)}


def frames_of(variables: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the DataFrames of a notebook, without those of IPython, as `_` and `_12`."""
    named = ((name, one) for name, one in variables.items() if not name.startswith("_"))
    return tuple(name for name, one in named if is_dataframe(one) or is_frame(one))


def values_in(query: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of the markers of a query: `:days` is the variable `days`.

    >>> values_in("SELECT a::int, '12:30' FROM t WHERE n > :days", {"days": 3, "int": 1})
    {'days': 3}
    """
    named = {name: variables[name] for name in MARKER.findall(query) if name in variables}
    return {name: value for name, value in named.items() if are_values([value])} or None


def load(shell: InteractiveShell) -> None:
    """Makes the magic known, errors short, and the clause understood by `sql` of every session."""
    shell.register_magics(MatchrecMagics)
    shell.set_custom_exc((MatchRecognizeError, *FAILURES, Interrupted), show_failure)
    replace_sql(EVERY, build_answer("spark", NO_OPTIONS))


def unload(shell: InteractiveShell) -> None:
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("matchrec", None)
    shell.set_custom_exc((), None)
    restore_sql(EVERY)
