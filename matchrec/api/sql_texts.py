"""SQL texts and clauses as queries: what `sql` and `match_recognize` build before anything runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from matchrec.api.clause import Clause
from matchrec.api.dialects import parse_clause_in_dialect, parse_query
from matchrec.api.evaluate import ClauseQuery, EngineQuery, ParsedQuery, SqlQuery
from matchrec.api.frames import to_dataframe
from matchrec.api.front_end import FrontEnd, resolve_options
from matchrec.api.inputs import FramesByName, build_relation, build_runner, find_quote_dialect
from matchrec.api.parameters import reject_values_without_parameters
from matchrec.api.query import Query
from matchrec.api.text_kinds import CLAUSE_OR_SASE_START, SASE_START, reject_file_name
from matchrec.arguments import Arguments, DialectName, NamedArguments
from matchrec.errors import arguments as argument_errors
from matchrec.errors import calls as errors
from matchrec.errors.kinds import locate_errors, with_source
from matchrec.source import Source, Span
from matchrec.spark.request import OPTIONS, Options
from matchrec.syntax.lower import lower_clause

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion


def build_sql_query(  # noqa: PLR0913 -- the arguments of `sql`
    spark: SparkSession,
    query: str,
    args: Arguments | None,
    dialect: DialectName,
    options: Options | None,
    frames: FramesByName,
) -> Query:
    """Return the query of a SQL text, given the arguments of `sql`.

    Raises:
        MatchRecognizePlanError: a DataFrame was passed that the text does not name.
    """
    for name in frames:
        if not re.search(rf"{{\s*{re.escape(name)}\b", query):
            arguments = ("args", "dialect", "options")
            braces_without_frame = {
                braces["name"]: Span(*braces.span())
                for braces in re.finditer(r"{\s*(?P<name>[^\W\d]\w*)\s*}", query)
                if braces["name"] not in frames
            }
            error = argument_errors.unknown_argument(name, arguments, OPTIONS, braces_without_frame)
            raise with_source(error, Source(query))
    reject_values_without_parameters(query, args)
    return Query(
        text=query,
        language="SQL",
        dialect=dialect,
        options=resolve_options("sql", options),
        _front_end=SqlText(spark, query, args, convert_frames(spark, frames)),
    )


def convert_frames(spark: SparkSession, frames: FramesByName) -> FramesByName:
    """Convert the frames of other libraries that a query names to DataFrames of Spark."""
    return {name: to_dataframe(spark, name, frame) for name, frame in frames.items()}


def reject_clause_as_query(text: str) -> None:
    """Check that a text is neither a clause nor a SASE+ text.

    Raises:
        MatchRecognizePlanError: the text is one of these, and the error says which function takes
            it.
    """
    beginning = CLAUSE_OR_SASE_START.match(text)
    if beginning is None:
        return
    call = "match_sase" if SASE_START.match(text) else "match_recognize"
    span = Span(*beginning.span("word"))
    word = beginning["word"]
    if word.upper() == "SEQ":
        error = errors.sase_without_pattern(span, word=word, call=call)
    else:
        error = errors.not_a_query(span, is_sase=call == "match_sase")
    raise with_source(error, Source(text))


@dataclass(frozen=True)
class SqlText(FrontEnd):
    """A SQL text, the values of its parameters, and the DataFrames that it names."""

    spark: SparkSession
    text: str
    args: Arguments | None
    frames: FramesByName  # all of them DataFrames of Spark, if the text may have a clause

    @property
    @override
    def session(self) -> SparkSession:
        """Return the session that runs the query."""
        return self.spark

    @override
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the parsed query; an `EngineQuery` if the session can run the text as it is."""
        self.check_is_query()
        node = parse_query(self.spark, self.text, self.args, self.frames, dialect)
        is_translated = node.source.text != self.text  # from another dialect
        if not node.sites and not is_translated:
            return EngineQuery(node, self.spark, self.args, self.frames)
        return SqlQuery(node, build_runner(self.spark, node, self.args, self.frames), options)

    def check_is_query(self) -> None:
        """Check that the text is a query, rather than a clause or a SASE+ text.

        Raises:
            MatchRecognizePlanError: the text is a clause or a SASE+ text, and the error says which
                function takes such a text; or the text is the name of a file.
        """
        reject_file_name(self.text)
        reject_clause_as_query(self.text)

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert the query to the language `write`."""
        from matchrec.api.transpile import ConversionRequest, convert_query

        request = ConversionRequest(query=self.text, read=dialect, write=write, events=events)
        return convert_query(request)


def build_clause_query(
    df: DataFrame,
    clause: str,
    args: NamedArguments | None,
    dialect: DialectName,
    options: Options | None,
) -> Query:
    """Return the query of a clause over a DataFrame, given the arguments of `match_recognize`."""
    reject_values_without_parameters(clause, args)
    return Query(
        text=clause,
        language="a clause",
        dialect=dialect,
        options=resolve_options("match_recognize", options),
        _front_end=ClauseText(df, clause, args),
    )


@dataclass(frozen=True)
class ClauseText(FrontEnd):
    """The text of a clause, the DataFrame that it reads, and the values of its parameters."""

    df: DataFrame
    text: str  # the text between the parentheses of MATCH_RECOGNIZE
    args: NamedArguments | None

    @property
    @override
    def session(self) -> SparkSession:
        """Return the session of the DataFrame."""
        return self.df.sparkSession

    @override
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the clause over the DataFrame."""
        quotes = find_quote_dialect(self.df.sparkSession, self.text)
        node, source = parse_clause_in_dialect(self.df, self.text, dialect, quotes)
        with locate_errors(source):
            plan = lower_clause(node, self.args or {})
            return ClauseQuery(Clause(plan, build_relation(self.df, self.args), options, source))

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Convert a query with the clause, over the table `events`, to the language `write`."""
        from matchrec.api.transpile import ConversionRequest, convert_query

        query = f"SELECT * FROM {events} MATCH_RECOGNIZE ({self.text})"
        return convert_query(ConversionRequest(query=query, read=dialect, write=write))
