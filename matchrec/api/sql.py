"""The functions that users call: each joins a front end, the plan and Spark, and no more."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from matchrec.api.binding import Arguments, run_around, runner_for
from matchrec.api.signatures import (
    ARGS,
    COUNTERS,
    ENGINE,
    FRAMES,
    MAX_STEPS,
    OPTIMISATIONS,
    SLICES,
    TRANSPORT,
)
from matchrec.arguments import DATAFRAME, FLAG, SESSION, TEXT, TEXTS, OneOf, checked
from matchrec.engine.interface import OPTIMISED, Optimisations
from matchrec.errors import MatchRecognizeError
from matchrec.errors.calls import not_compressible
from matchrec.errors.kinds import shown_in
from matchrec.errors.sase import WORDS
from matchrec.explanation import ExplainedClause, Explanation
from matchrec.frontends.arguments import keys, orders
from matchrec.frontends.lexing.dialect import SPARK, Dialect, DoubleQuotes
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sql import parse, parse_clause
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.query import Query, Site
from matchrec.frontends.sql.splice import (
    in_scope,
    markers_of_outer,
    markers_of_rows,
    outer,
    rows_of,
    select_from,
)
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.compressed import as_graph
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text.parameters import parameter_name
from matchrec.plan.text.template import Template, View, template
from matchrec.source import Source, Span
from matchrec.spark.after.unwind import marked, unwound
from matchrec.spark.counters import Counters
from matchrec.spark.errors.diagnose import check_type_column
from matchrec.spark.execute import Executed, Options, execute
from matchrec.spark.relation import Relation
from matchrec.spark.session import Runner
from matchrec.spark.sessions.environment import check_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@checked(
    spark=SESSION,
    query=TEXT,
    args=ARGS,
    engine=ENGINE,
    transport=TRANSPORT,
    max_steps=MAX_STEPS,
    slices=SLICES,
    counters=COUNTERS,
    frames=FRAMES,
)
def sql(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    engine: str = "auto",
    transport: str = "auto",
    max_steps: int | None = None,
    slices: int = 1,
    counters: Counters | None = None,
    **frames: Any,
) -> DataFrame:
    """The result of a Spark SQL query that may contain MATCH_RECOGNIZE clauses, anywhere.

    args: values of `:name` markers. frames: DataFrames that the query names as `{name}`, as in
    `spark.sql`. engine: "auto", "backtracking" or "breadth_first". transport: how rows reach the
    Python workers, "auto", "arrow" or "pandas". max_steps: how often conditions that depend on the
    run may be asked in one partition before the query ends with an error, None for no limit; the
    cost of all others is bounded, as `explain` says. slices: into how many slices each partition is
    cut at most, which Spark sorts and searches in parallel; worth while where partitions are fewer
    than cores, as it reads the input two times more; `explain` says whether a query can be cut. The
    limit of steps is then that of a slice, and a query that skips further than to the next row ends
    with an error where the rows that a slice borrows do not tell which of its rows begin a match.
    counters: see `Counters`. Runs no job; raises MatchRecognizeError for what is wrong with a
    clause, and Spark's own errors for the rest of the query.
    """
    check_session(spark)
    parsed = parse(query, frames, dialect_of(spark, query))
    if not parsed.sites:
        return spark.sql(query, args, **frames)
    runner = runner_for(spark, parsed, args, frames)
    options = Options(engine, transport, counters=counters, max_steps=max_steps, slices=slices)
    result = Evaluation(parsed, runner, options).dataframe()
    return result if counters is None else counters.of_query(result)


@checked(
    spark=SESSION,
    query=TEXT,
    args=ARGS,
    engine=ENGINE,
    max_steps=MAX_STEPS,
    slices=SLICES,
    analyze=FLAG,
    frames=FRAMES,
)
def explain(  # noqa: PLR0913 -- public signature
    spark: SparkSession,
    query: str,
    args: Arguments = None,
    *,
    engine: str = "auto",
    max_steps: int | None = None,
    slices: int = 1,
    analyze: bool = False,
    **frames: Any,
) -> Explanation:
    """What the query's clauses compile to and which engine runs them; arguments as of `sql`.

    analyze: the query also runs, its rows are dropped, and what it has counted is shown.
    """
    check_session(spark)
    parsed = parse(query, frames, dialect_of(spark, query))
    counters = Counters() if analyze and parsed.sites else None
    options = Options(engine, counters=counters, max_steps=max_steps, slices=slices)
    evaluation = Evaluation(parsed, runner_for(spark, parsed, args, frames), options)
    executed = evaluation.all()
    explanation = Explanation(
        tuple(ExplainedClause(one.plan, one.executable, one.keys, slices) for one in executed)
    )
    if counters is None:
        return explanation
    counters.run(evaluation.outer())
    return explanation.with_counters(counters)


@checked(
    df=DATAFRAME,
    clause=TEXT,
    engine=ENGINE,
    transport=TRANSPORT,
    max_steps=MAX_STEPS,
    slices=SLICES,
    counters=COUNTERS,
)
def match_recognize(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    clause: str,
    *,
    engine: str = "auto",
    transport: str = "auto",
    max_steps: int | None = None,
    slices: int = 1,
    counters: Counters | None = None,
) -> DataFrame:
    """The rows of a MATCH_RECOGNIZE clause over a DataFrame.

    clause: what would stand between the parentheses, from PARTITION BY to DEFINE. Otherwise as
    `sql`.
    """
    check_session(df.sparkSession)
    with shown_in(Source(clause)):
        plan = lower(parse_clause(clause, dialect_of(df.sparkSession, clause)))
        warn_about(plan)
        options = Options(engine, transport, counters=counters, max_steps=max_steps, slices=slices)
        return execute(plan, relation_of(df), None, options).dataframe


@checked(
    df=DATAFRAME,
    text=TEXT,
    order_by=TEXTS,
    partition_by=TEXTS,
    type_column=TEXT,
    output=OneOf(("all", "non_overlapping")),
    form=OneOf(("verbose", "compressed")),
    engine=ENGINE,
    transport=TRANSPORT,
    counters=COUNTERS,
    optimisations=OPTIMISATIONS,
)
def sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    output: str = "all",
    form: str = "verbose",
    engine: str = "auto",
    transport: str = "auto",
    counters: Counters | None = None,
    optimisations: Optimisations = OPTIMISED,
) -> DataFrame:
    """The matches of a SASE+ query over a DataFrame of events.

    order_by: what the events are sorted by, the first of it is what WITHIN measures. partition_by:
    what divides them into streams. Both are SQL over one row. type_column: its value is an event's
    type. output: "all" or "non_overlapping" matches.

    form "verbose": one row per match, the partition columns, then what RETURN says, or else for
    each variable an array of its events. form "compressed": the shared buffer of all matches, one
    row per pointer, for `unwind`. A worker gives matches in the order in which they are complete,
    but rows of a DataFrame have no order: sort by what RETURN says.

    optimisations: what to switch off, to measure what it gains. Otherwise as `sql`.
    """
    dialect = dialect_of(df.sparkSession, order_by, partition_by)
    streams = orders(order_by, dialect), keys(partition_by, dialect)
    query = SaseCall(df, text, *streams, type_column, sase_output(output, form))
    return query.executed(
        Options(engine, transport, optimisations, counters, streams=True)
    ).dataframe


@checked(
    df=DATAFRAME,
    text=TEXT,
    order_by=TEXTS,
    partition_by=TEXTS,
    type_column=TEXT,
    output=OneOf(("all", "non_overlapping")),
    form=OneOf(("verbose", "compressed")),
    engine=ENGINE,
    optimisations=OPTIMISATIONS,
)
def explain_sase(  # noqa: PLR0913 -- public signature
    df: DataFrame,
    text: str,
    *,
    order_by: str | Sequence[str],
    partition_by: str | Sequence[str] = (),
    type_column: str = "event_type",
    output: str = "all",
    form: str = "verbose",
    engine: str = "auto",
    optimisations: Optimisations = OPTIMISED,
) -> Explanation:
    """What a SASE+ query compiles to and which engine runs it; arguments as of `sase`."""
    dialect = dialect_of(df.sparkSession, order_by, partition_by)
    streams = orders(order_by, dialect), keys(partition_by, dialect)
    query = SaseCall(df, text, *streams, type_column, sase_output(output, form))
    executed = query.executed(Options(engine, optimisations=optimisations, streams=True))
    return Explanation((ExplainedClause(executed.plan, executed.executable),))


@dataclass(frozen=True)
class SaseCall:
    """What `sase` is asked, apart from how it is run."""

    df: DataFrame
    text: str
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    type_column: str
    output: MatchOutput

    def executed(self, options: Options) -> Executed:
        """The result, and what explains it."""
        with shown_in(Source(self.text), WORDS):
            plan = compile_sase(
                self.text, self.order_by, self.partition_by, self.type_column, self.output
            )
            check_session(self.df.sparkSession)
            try:
                executed = execute(as_graph(plan), relation_of(self.df), None, options)
            except MatchRecognizeError:
                check_type_column(self.df, self.type_column, plan)
                raise
            if self.output is not MatchOutput.GRAPH:
                return executed
            return replace(executed, dataframe=marked(executed.dataframe, plan))


@checked(graph=DATAFRAME)
def unwind(graph: DataFrame) -> DataFrame:
    """The matches that a DataFrame of `sase` in compressed form holds, as in verbose form.

    Rows of the graph may have been left out before, as long as each pointer that is left leads to
    one that is there.
    """
    check_session(graph.sparkSession)
    return unwound(graph)


def sase_output(output: str, form: str) -> MatchOutput:
    """Which matches `sase` is asked for."""
    if form == "verbose":
        return MatchOutput.ALL if output == "all" else MatchOutput.NON_OVERLAPPING
    if output != "all":
        raise not_compressible(output)
    return MatchOutput.GRAPH


def dialect_of(spark: SparkSession, *texts: object) -> Dialect:
    """How texts are to be read in a session, which is asked only if they have double quotes.

    Spark heeds its setting in ANSI mode only.
    """
    if not any('"' in str(text) for text in texts):
        return SPARK
    runner = Runner(spark)
    settings = ("spark.sql.ansi.enabled", "spark.sql.ansi.doubleQuotedIdentifiers")
    names = all(runner.setting(name) == "true" for name in settings)
    return Dialect(DoubleQuotes.NAME) if names else SPARK


def relation_of(df: DataFrame) -> Relation:
    """A DataFrame as the input of a clause."""

    def select_from_df(select_list: Template) -> Template:
        return template("SELECT ", select_list, " FROM ", View("df"))

    return Relation(Runner(df.sparkSession, None, {"df": df}), select_from_df)


class Evaluation:
    """One query on its way to a DataFrame: clause after clause, innermost first."""

    def __init__(self, query: Query, runner: Runner, options: Options) -> None:
        self.query = query
        self.runner = runner
        self.options = options

    def dataframe(self) -> DataFrame:
        """The result of the whole query."""
        self.all()
        return self.outer()

    def outer(self) -> DataFrame:
        """The query around the clauses, once these are evaluated."""
        runner, text = self.as_written(markers_of_outer(self.query)), outer(self.query)
        return run_around(self.query, runner, text)

    def as_written(self, markers: tuple[Span, ...]) -> Runner:
        """What runs text in which the user's keeps its place, and the `?` in it stay."""
        args = self.runner.args
        if isinstance(args, dict) and markers:
            args = [args[name] for name in map(parameter_name, markers) if name in args]
        return replace(self.runner, args=args, source=self.query.source)

    def all(self) -> list[Executed]:
        """Every clause's result, each a view for the ones after it."""
        with shown_in(self.query.source):
            return [self.site(site) for site in self.query.sites]

    def site(self, site: Site) -> Executed:
        plan = lower(site.clause)
        warn_about(plan)

        def select_list_from(select_list: Template) -> Template:
            return select_from(self.query, site, select_list)

        def behind_with(text: Template) -> Template:
            return in_scope(self.query, site, text)

        relation = Relation(
            replace(self.runner, in_scope=behind_with),
            select_list_from,
            (self.as_written(markers_of_rows(self.query, site)), rows_of(self.query, site)),
        )
        executed = execute(plan, relation, site.relation_alias, self.options, site.use)
        self.runner = self.runner.having(**{site.view.name: executed.dataframe})
        return executed


def warn_about(plan: MatchPlan) -> None:
    """Warns of what is allowed and is seldom meant."""
    if not plan.order_by:
        warnings.warn(
            "MATCH_RECOGNIZE without ORDER BY: the order of rows, and so the result, "
            "may differ each time",
            UserWarning,
            stacklevel=2,
        )
    if not plan.definitions:
        warnings.warn(
            "MATCH_RECOGNIZE without DEFINE: every pattern variable is true for every row",
            UserWarning,
            stacklevel=2,
        )
