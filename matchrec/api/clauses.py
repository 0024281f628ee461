"""The clauses of a query, innermost first, each over its rows; and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from matchrec.api.inputs import run_around, unbound
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.errors.language import Language
from matchrec.errors.run import failures as errors
from matchrec.errors.sql import clause as clause_errors
from matchrec.errors.sql.window import window_asked_about
from matchrec.errors.streams import another_clause_over_a_stream
from matchrec.errors.warnings import (
    MatchRecognizeWarning,
    days_in_hours,
    nanoseconds,
    unbounded_runs,
    unbounded_state,
)
from matchrec.frontends.lexing.tokens import read_tokens
from matchrec.frontends.sql import locate
from matchrec.frontends.sql.locate import QueryNode
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.nodes import Site
from matchrec.plan.clauses import MatchOutput, RowExpression
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, Use
from matchrec.plan.remarks import remarks
from matchrec.plan.text import Template
from matchrec.source import Source, counted
from matchrec.spark.environment import untuned_at_first
from matchrec.spark.errors.users_terms import InUsersTerms
from matchrec.spark.execute import ClauseResult, Prepared, execute
from matchrec.spark.nanoseconds import find_nanosecond_ties
from matchrec.spark.question import Options, Question, Rule, input_columns, is_streaming
from matchrec.spark.sail.zones import windows_in_hours
from matchrec.spark.session import Relation, Runner, holes, is_connect

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from matchrec.explanation import ExplainedClause


@dataclass(frozen=True)
class Clause:
    """A clause over its rows; by itself it is a whole query of SASE+, of a Pattern, or of a clause.

    alias: the name that qualifies columns of its rows. use: what is used of its result. finish:
    what is made of that where it is the whole query. searched: the plan that `why` and `coverage`
    are about, if that is another one.
    """

    names, is_plain = ("",), False

    plan: MatchPlan
    relation: Relation
    options: Options
    source: Source
    language: Language | None = None
    alias: str | None = None
    use: Use = EVERYTHING
    is_window: bool = False
    finish: Callable[[ClauseResult], DataFrame] = field(default=attrgetter("dataframe"))
    searched: MatchPlan | None = None

    @cached_property
    def result(self) -> ClauseResult:
        return execute(self.question(self.plan, self.options, self.use))

    def question(self, plan: MatchPlan, options: Options, use: Use = EVERYTHING) -> Question:
        columns = input_columns(self.relation, self.alias)
        return Question((Rule("", plan),), self.relation, columns, options, use).resolve()

    def clauses(self) -> Iterator[Clause]:
        yield self

    def outer(self) -> DataFrame:
        return self.finish(self.result)

    def plan_searched(self, call: str) -> MatchPlan:
        """The plan that a question is about. Raises MatchRecognizeError for that of a window."""
        if self.is_window:
            raise window_asked_about(call=call)
        return self.searched or self.plan

    def plan_of_matches(self, call: str) -> MatchPlan:
        """As `plan_searched`, of the matches that come out: of these a graph holds all."""
        plan, output = self.plan_searched(call), self.plan.output
        return replace(plan, output=output) if output is MatchOutput.NON_OVERLAPPING else plan


@dataclass(eq=False, repr=False)
class QueryText:
    """A text of Spark SQL on its way to a DataFrame. unchanged: runs it if Spark alone reads it."""

    language = None

    query: QueryNode
    runner: Runner
    options: Options
    unchanged: Callable[[], DataFrame] | None = None
    evaluated: list[Evaluated] = field(default_factory=list, init=False)

    @property
    def is_plain(self) -> bool:
        return self.unchanged is not None

    @property
    def source(self) -> Source:
        return self.query.source

    @property
    def names(self) -> list[str]:
        """The alias of each clause's result, or that of its input, or nothing."""
        return [site.alias or "" for site in self.query.sites]

    def clauses(self) -> Iterator[Clause]:
        """The clauses; the result of each is a view for those after it."""
        has_stream, args = False, self.runner.args
        for site in self.query.sites:
            plan = lower_site(site, args if isinstance(args, dict) else {})
            relation = self.relation(site)
            if has_stream and is_streaming(relation.rows):
                raise another_clause_over_a_stream(plan.pattern.span)
            around = site.relation_alias, site.use, site.calls is not None
            clause = Clause(plan, relation, self.options, self.source, None, *around)
            yield clause
            if site.calls is None:
                self.evaluated.append(Evaluated(site, clause.result, self.source))
                self.evaluated[-1].check_renames()
            has_stream |= clause.result.prepared.question.is_stream
            self.runner = self.runner.having(**{site.view.name: clause.result.dataframe})
            if site.calls is not None:
                self.name_columns(site, clause.result.dataframe.columns)

    def outer(self) -> DataFrame:
        if self.unchanged is not None:
            return self.unchanged()
        text = locate.outer(self.query)
        if (alone := locate.rows_alone(text)) is not None:
            view, alias = alone
            rows: DataFrame = self.runner.frames[view.name]
            return rows if alias is None else rows.alias(alias)
        try:
            return run_around(self.query, self.as_written, text)
        except AnalysisException as error:
            add_cure(error, self.evaluated)
            raise

    def name_columns(self, site: Site, columns: list[str]) -> None:
        """Says what `*` stands for around a window: the columns of its input."""
        own = {call.column for each in self.query.sites for call in each.calls or ()}
        shown = tuple(name for name in columns if name not in own)
        blocks = (
            replace(block, columns=shown) if block.rows == site.whole else block
            for block in self.query.blocks
        )
        self.query = replace(self.query, blocks=tuple(blocks))

    def relation(self, site: Site) -> Relation:
        """The input of a clause, once those in it have results."""
        select_from = partial(locate.select_from, self.query, site)
        runner = replace(self.runner, in_scope=partial(locate.in_scope, self.query, site))
        if site.goes_on:
            return Relation(runner, select_from)
        as_written, text = self.as_written, locate.rows_of(self.query, site)
        return Relation(runner, select_from, partial(self.every_row, as_written, text))

    @property
    def as_written(self) -> Runner:
        """What runs text in which the user's keeps its place."""
        return replace(self.runner, source=self.source)

    def every_row(self, runner: Runner, text: Template) -> DataFrame:
        """The rows of a relation; a parameter without a value is an error with its place."""
        try:
            return runner.sql(text)
        except AnalysisException as error:
            raise unbound(error, self.query, tuple(runner.args or ())) or error from None


# What the query around the clauses asks of their rows, and what they do not have.


@dataclass(frozen=True)
class Evaluated:
    site: Site
    result: ClauseResult
    source: Source

    def check_renames(self) -> None:
        """Raises MatchRecognizeError where the alias names more or fewer columns than there are."""
        names = self.site.renames
        if names and len(names) != len(self.columns):
            given, found = counted(len(names), "name"), counted(len(self.columns), "column")
            raise clause_errors.other_number_of_names(
                names[0].to(names[-1]), given=given, found=found, columns=self.columns
            )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the clause, also those that the query does not use."""
        question = self.result.prepared.question
        return question.columns_of(question.rules[0])

    def advice(self, qualifier: str, name: str) -> clause_errors.Advice | None:
        """What to say about a column that does not exist; None if it is none of the clause's."""
        site, inside = self.site, self.result.prepared.question.columns
        columns = tuple(map(self.source.at, site.renames)) or self.columns
        plan, own = self.result.drafted.plan, (site.own_alias or "").lower()
        variables = {one.lower() for one in (*plan.variables, *plan.unions)}
        if qualifier.lower() in variables - {own}:
            return clause_errors.advice_on_variable(qualifier, name)
        if name == "*" or name.lower() in map(str.lower, columns):
            is_named = qualifier.lower() == own
            return None if is_named else clause_errors.advice_on_qualifier(name, site.own_alias)
        qualifiers = {"", *(one.lower() for one in (site.own_alias, site.alias) if one)}
        if qualifier.lower() not in qualifiers:
            return None
        if inside.find((name,)) is not None:
            return clause_errors.advice_on_column_inside(name, columns)
        words = [token.key for token in read_tokens(self.source.text).tokens]
        sought_here = qualifier or words.count("SELECT") == 1  # each may rename what there is
        return clause_errors.advice_on_column_around(name, columns) if sought_here else None


def add_cure(error: Exception, clauses: Sequence[Evaluated]) -> None:
    """Adds what to write to the error of a column that the outermost clause does not have."""
    if not isinstance(error, InUsersTerms):
        return
    told = error.getMessageParameters()
    qualifier, _, name = told.get("objectName", "").rpartition(".")
    qualifier, name = (part.replace("`", "") for part in (qualifier, name))
    if "targetString" in told:
        qualifier, name = told["targetString"].replace("`", ""), "*"
    found = (clause.advice(qualifier, name) for clause in reversed(clauses) if name)
    if (advice := next(filter(None, found), None)) is not None:
        error.add_cure(advice.cure, advice.note)


def lower_site(site: Site, values: Mapping[str, object]) -> MatchPlan:
    """The plan of a clause of a query, which may be that of a window."""
    if site.calls is None:
        return lower(site.clause, values)
    from matchrec.frontends.sql.lower_windows import lower_window  # of no use elsewhere

    return lower_window(site.clause, site.calls, values)


Reading = Clause | QueryText  # a query that was read: its clauses, and what is around them


def chosen_clause(reading: Reading, asked: int | str | None) -> int:
    """The number, from 1, of the clause of a number or alias, or of the only one; else raises."""
    if not (aliases := reading.names):
        raise errors.no_clause()
    if asked is None and len(aliases) == 1:
        return 1
    sites = reading.query.sites if isinstance(reading, QueryText) else ()
    places = [reading.source.at(site.relation) for site in sites]
    named = enumerate(zip(places, aliases, strict=False), 1)
    names = "\n".join(f"{number}: {place} AS {alias}" for number, (place, alias) in named)
    if asked is None:
        raise errors.several_clauses(count=len(aliases), names=names)
    if isinstance(asked, int):
        numbers = [asked] if 1 <= asked <= len(aliases) else []
    else:
        numbers = [n for n, alias in enumerate(aliases, 1) if alias.lower() == asked.lower()]
    if len(numbers) != 1:
        raise errors.unknown_clause(asked=asked, names=names)
    return numbers[0]


def clause_asked(reading: Reading, asked: int | str | None) -> Clause:
    """The clause that `chosen_clause` tells, once those before it have results."""
    return next(islice(reading.clauses(), chosen_clause(reading, asked) - 1, None))


# Warnings about queries that run but are probably not meant; `explain` shows them too.

Remarks = tuple[MatchRecognizeWarning, ...]


def remarks_in(drafted: Draft, question: Question, source: Source) -> Remarks:
    """The remarks on what a clause or a rule asks, which show their lines of the query."""
    spark, found = question.runner.spark, remarks(drafted.written)
    if is_connect(spark):
        days = windows_in_hours(drafted.plan, spark, question.type_of_order)
        found = (*found, *(days_in_hours(one.span, written=one.text) for one in days))
    found = (*found, *remarks_on_nanoseconds(drafted.plan, question))
    return tuple(one.located(source) for one in found)


def remarks_on_nanoseconds(plan: MatchPlan, question: Question) -> Iterator[MatchRecognizeWarning]:
    """Yield a remark on each frame with rows that are equal in ORDER BY without nanoseconds."""
    columns = question.columns
    relation = question.relation

    def name_of(expression: RowExpression) -> str:
        """Return the name of a column, or "" for another expression."""
        return columns.name(expression.text) or columns.find(expression.names) or ""

    frames = [relation.runner.frames[name] for name in holes(relation.query(["*"]))]
    order = [name_of(item.expression) for item in plan.order_by]
    keys = [name_of(key) for key in plan.keys]
    for close_times, column, count in find_nanosecond_ties(frames, order, keys):
        yield nanoseconds(
            plan.order_by[order.index(column)].expression.span,
            count=count,
            frame=close_times.frame,
            column=column,
            part=close_times.parts[column],
        )


def remarks_on(result: ClauseResult, reading: Reading) -> Remarks:
    """The remarks on a clause that has been planned, of SQL those on streams included."""
    drafted, question = result.drafted, result.prepared.question
    found = remarks_in(drafted, question, reading.source)
    if not question.is_stream or reading.language is not None:
        return found
    return (*found, *remarks_on_state(drafted.written, result.executable, reading.source))


def remarks_on_state(plan: MatchPlan, executable: Executable, source: Source) -> Remarks:
    if executable.is_bounded or executable.crossing.ends:
        return ()
    unbounded = unbounded_runs if executable.task.selects else unbounded_state
    return (unbounded(plan.pattern.span).located(source),)


def remarks_on_session(spark: SparkSession, prepared: Sequence[Prepared[Any]]) -> Remarks:
    """What would make the queries of a session faster, at the first one that would be."""
    if not prepared or any(map(attrgetter("question.is_stream"), prepared)):
        return ()
    found = untuned_at_first(spark, chain.from_iterable(map(types_of_values, prepared)))
    return () if found is None else (found,)


def types_of_values(prepared: Prepared[Any]) -> Iterator[DataType]:
    """The types of what may cross, beside keys and order: nobody has these in kilobytes."""
    sorting = {one.text for one in prepared.demand.draft.plan.sorted_by}
    for column, found in prepared.fields.items():
        if not (column.looks_at_one_row and column.text in sorting):
            yield found.dataType


def explained(result: ClauseResult, found: Remarks) -> ExplainedClause:
    """What a clause compiles to, with the remarks on it."""
    from matchrec.explanation import ExplainedClause

    preparation, drafted = result.prepared.preparation, result.drafted
    asked = drafted.plan, result.executable, preparation.keys, tuple(map(str, found))
    how = preparation.sorts, result.built, preparation.show_ranges()
    return ExplainedClause(*asked, result.prepared.question.is_stream, drafted.written, *how)
