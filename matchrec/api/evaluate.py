"""From a parsed query to the results of its clauses, and to the result of the query.

    text ──parse──▶ ParsedQuery ──evaluate──▶ EvaluatedClauses ──build_result──▶ DataFrame

A SQL query may have several clauses, and a clause may read the rows of another one: in a subquery,
a common table expression or a JOIN. `SqlQuery.evaluate` goes through them in a plain loop,
innermost first. The result of each clause is a DataFrame that fills the hole of the clause in later
texts. What remains is the query around the clauses, which the engine runs like any other query.

A SASE+ text, a Pattern or a clause over a DataFrame has one clause and nothing around it. It is a
`ClauseQuery`. A text without a clause is an `EngineQuery`: the engine runs it as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from typing_extensions import override

from matchrec.api.clause import Clause, EvaluatedClause
from matchrec.api.engine_texts import explain_refused_text
from matchrec.api.inputs import FramesByName
from matchrec.api.missing_columns import advise_on_unknown_column
from matchrec.api.outer_query import find_unbound_parameter, run_outer_query, select_columns
from matchrec.api.table_columns import (
    advise_on_column_of_tables,
    advise_on_joined_column,
    advise_on_nested_clause,
)
from matchrec.api.text_kinds import is_query
from matchrec.arguments import Arguments
from matchrec.errors import inspection as inspection_errors
from matchrec.errors.language import Language
from matchrec.errors.sql import query as errors
from matchrec.errors.sql import select_columns as column_errors
from matchrec.errors.streams import second_clause_over_stream
from matchrec.errors.wording import show_count
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.templates import Template
from matchrec.source import Source
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.backends import make_runner
from matchrec.spark.clause_result import ClauseResult
from matchrec.spark.relation import Relation
from matchrec.spark.request import Options, is_streaming
from matchrec.spark.runner import Runner
from matchrec.syntax import query_pieces
from matchrec.syntax.locate import QueryNode
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import Site
from matchrec.syntax.plain_select import match_plain_select

# The clauses of a query with their results, innermost first.
EvaluatedClauses = tuple[EvaluatedClause, ...]


class ParsedQuery(ABC):
    """A parsed query in any language. Nothing has been analysed or run yet.

    A parsed query does not change. `evaluate` returns the results of its clauses, and
    `build_result` takes them.
    """

    @property
    @abstractmethod
    def source(self) -> Source:
        """The text that errors show."""

    @property
    def language(self) -> Language | None:
        """The language of the text; None for SQL."""
        return None

    @property
    @abstractmethod
    def clause_names(self) -> Sequence[str]:
        """The name of each clause: its alias, else the alias of its input, else ""."""

    @abstractmethod
    def evaluate(self) -> EvaluatedClauses:
        """Plan every clause, and return the clauses with their results. Runs no job.

        Raises:
            MatchRecognizeError: a clause has a mistake.
        """

    @abstractmethod
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the result of the whole query. Runs no job.

        Args:
            clauses: what `evaluate` has returned.
        """

    @abstractmethod
    def list_first_clauses(self, count: int) -> list[Clause]:
        """Return the first `count` clauses; `count` is at least 1.

        All of these clauses except the last are planned, because a clause may read the results of
        the clauses before it.
        """

    def find_clause(self, clause: int | str | None) -> Clause:
        """Return the clause that the user named. The clauses before it are planned.

        Args:
            clause: see `find_clause_number`.

        Raises:
            MatchRecognizePlanError: there is no such clause, or `clause` is None and the query has
                several.
        """
        number = find_clause_number(self, clause)
        return self.list_first_clauses(number)[-1]


def find_clause_number(query: ParsedQuery, clause: int | str | None) -> int:
    """Return the 1-based number of the clause that the user named.

    Args:
        query: the query with the clauses.
        clause: a number as `explain` prints it, an alias, or None for the only clause.

    Raises:
        MatchRecognizePlanError: there is no such clause, or `clause` is None and the query has
            several.
    """
    names = query.clause_names
    if not names:
        raise inspection_errors.missing_clause()
    if clause is None:
        if len(names) == 1:
            return 1
        raise inspection_errors.several_clauses(list_clauses(query))
    if isinstance(clause, int):
        numbers = [clause] if 1 <= clause <= len(names) else []
    else:
        lower_name = clause.lower()
        numbers = [number for number, name in enumerate(names, 1) if name.lower() == lower_name]
    if len(numbers) != 1:
        raise inspection_errors.unknown_clause(clause, list_clauses(query))
    return numbers[0]


def list_clauses(query: ParsedQuery) -> list[str]:
    """Return each clause of a SQL query as messages list it: its input and its name, `t AS m`.

    The list is empty for a query in another language, whose only clause needs no name.
    """
    if not isinstance(query, SqlQuery):
        return []
    clauses = []
    for site, name in zip(query.node.sites, query.clause_names, strict=True):
        alias = f" AS {name}" if name else ""
        clauses.append(f"{query.source.text_at(site.relation)}{alias}")
    return clauses


# A query of one clause.


@dataclass(frozen=True)
class ClauseQuery(ParsedQuery):
    """A clause over a DataFrame, a SASE+ text or a Pattern: one clause is the whole query."""

    clause: Clause

    @property
    @override
    def source(self) -> Source:
        """Return the text of the clause."""
        return self.clause.source

    @property
    @override
    def language(self) -> Language | None:
        """Return the language of the clause; None if it is SQL."""
        return self.clause.language

    @property
    @override
    def clause_names(self) -> Sequence[str]:
        """Return the empty name of the only clause."""
        return ("",)

    @override
    def evaluate(self) -> EvaluatedClauses:
        """Plan the clause. Runs no job."""
        return (EvaluatedClause(self.clause, self.clause.evaluate()),)

    @override
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the result of the only clause. Front ends override this to change the result."""
        (evaluated_clause,) = clauses
        return evaluated_clause.result.dataframe

    @override
    def list_first_clauses(self, count: int) -> list[Clause]:
        """Return the only clause. It is not planned."""
        assert count == 1, "the query has one clause"
        return [self.clause]


# A text that the engine runs as it is.


@dataclass(frozen=True)
class EngineQuery(ParsedQuery):
    """A SQL text without a clause. The engine runs it as it is."""

    node: QueryNode
    spark: SparkSession
    # The values of its parameters.
    args: Arguments | None
    # The DataFrames and values that it names as `{name}`.
    frames: FramesByName

    @property
    @override
    def source(self) -> Source:
        """Return the text of the query."""
        return self.node.source

    @property
    @override
    def clause_names(self) -> Sequence[str]:
        """Return no names, because the query has no clauses."""
        return ()

    @override
    def evaluate(self) -> EvaluatedClauses:
        """Return no results, because there are no clauses to plan."""
        return ()

    @override
    def list_first_clauses(self, count: int) -> list[Clause]:
        """Return no clauses."""
        return []

    @override
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Let the session run the text as it is.

        A query runs no job before an action. Another statement, such as INSERT, runs now.

        Raises:
            pyspark.errors.PySparkException: the session refuses the text. The error is in the
                user's terms, like an error about the query around a clause.
        """
        args = dict(self.args) if isinstance(self.args, Mapping) else self.args
        runner = make_runner(self.spark)
        with silence_analysis(), explain_refused_text(runner, self.node, args):
            rows = self.spark.sql(self.source.text, args, **self.frames)
            # Any other statement than a query has run by now, so it has no mistake to find.
            return runner.analyse(rows) if is_query(self.source.text) else rows


# A SQL query with clauses anywhere in it.


@dataclass(frozen=True)
class SqlQuery(ParsedQuery):
    """A SQL query with clauses anywhere in it, and the values and DataFrames that it names."""

    node: QueryNode
    # Runs the parts of the query, with the values and DataFrames.
    runner: Runner
    # How the clauses run.
    options: Options

    @property
    @override
    def source(self) -> Source:
        """Return the text of the query."""
        return self.node.source

    @property
    @override
    def clause_names(self) -> Sequence[str]:
        """Return the name of each clause: its alias, else the alias of its input, else ""."""
        return [site.alias or "" for site in self.node.sites]

    @override
    def evaluate(self) -> EvaluatedClauses:
        """Plan all clauses of the query. Runs no job."""
        return self.evaluate_first(len(self.node.sites))

    def evaluate_first(self, count: int) -> EvaluatedClauses:
        """Plan the first `count` clauses, and return them with their results. Runs no job.

        Raises:
            MatchRecognizeError: a clause has a mistake.
        """
        clauses: EvaluatedClauses = ()
        for site in self.node.sites[:count]:
            clause = self.build_clause(site, clauses)
            result = clause.evaluate()
            if site.calls is None:
                check_renames(site, result)
            clauses = (*clauses, EvaluatedClause(clause, result))
        return clauses

    def build_clause(self, site: Site, earlier_clauses: EvaluatedClauses) -> Clause:
        """Return the clause of a site.

        Args:
            site: the site.
            earlier_clauses: all clauses before the site, whose results the clause may read.

        Raises:
            MatchRecognizeError: the clause has a mistake, or a parameter has no value.
            MatchRecognizeUnsupportedError: the clause reads a stream, and so does an earlier one.
        """
        args = self.runner.args
        plan = lower_site(site, args if isinstance(args, Mapping) else {})
        relation = self.fill_holes(earlier_clauses).build_input(site)
        reads_stream = any(earlier.result.reads_stream for earlier in earlier_clauses)
        if reads_stream and is_streaming(relation.rows):
            raise second_clause_over_stream(plan.pattern.span)
        return Clause(plan, relation, self.options, self.node.source, site=site)

    def fill_holes(self, clauses: EvaluatedClauses) -> SqlQuery:
        """Return the query with the rows of its first clauses in their holes.

        A hole is the view that stands for a clause in later texts. The rows of the clause become a
        frame of the runner. For a row pattern window, `*` in the SELECT around it becomes the
        columns of the window's input.

        Args:
            clauses: the first clauses of the query, in order. The other holes stay empty.
        """
        if not clauses:
            return self
        node = self.node
        frames = {}
        for evaluated_clause in clauses:
            site = evaluated_clause.clause.site
            assert site is not None, "the clause of a SQL query has a site"
            rows = evaluated_clause.result.dataframe
            frames[site.view.name] = rows
            if site.calls is not None:
                node = limit_star_to_input(node, site, rows.columns)
        return replace(self, node=node, runner=self.runner.with_frames(**frames))

    def build_input(self, site: Site) -> Relation:
        """Return the input of the clause of a site. The holes that it reads must be filled."""
        runner = replace(self.runner, with_clauses=query_pieces.write_with_clauses(self.node, site))
        relation_text = query_pieces.write_relation(self.node, site)
        if site.reads_previous_window:
            return Relation(runner, relation_text)
        query = query_pieces.write_relation_query(self.node, site)
        return Relation(runner, relation_text, create_rows=lambda: self.select_all(query))

    def select_all(self, text: Template) -> DataFrame:
        """Return all rows of an input.

        Args:
            text: the query that selects them.

        Raises:
            MatchRecognizePlanError: a parameter has no value; the error shows its location.
        """
        runner = self.runner.with_source(self.node.source)
        try:
            return runner.sql(text)
        except AnalysisException as error:
            clearer_error = find_unbound_parameter(error, self.node, tuple(runner.args or ()))
            if clearer_error is None:
                advise_on_column_of_tables(error, self.runner)
                raise
            raise clearer_error from None

    @override
    def list_first_clauses(self, count: int) -> list[Clause]:
        """Return the first `count` clauses: see `ParsedQuery.list_first_clauses`."""
        assert count > 0, "at least one clause is needed"  # -1 would mean all but the last one
        first_clauses = self.evaluate_first(count - 1)
        last_clause = self.build_clause(self.node.sites[count - 1], first_clauses)
        return [*(first.clause for first in first_clauses), last_clause]

    @override
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the result of the query around the clauses. Runs no job.

        Raises:
            MatchRecognizePlanError: a parameter has no value; the error shows its location.
            AnalysisException: Spark finds another mistake in the query around the clauses.
        """
        assert len(clauses) == len(self.node.sites), "every clause needs a result"
        filled_query = self.fill_holes(clauses)
        text = query_pieces.write_outer_query(filled_query.node)
        plain_select = match_plain_select(text)
        if plain_select is not None:
            rows = select_columns(filled_query.runner, plain_select)
            if rows is not None:
                return rows
        try:
            runner = filled_query.runner.with_source(filled_query.node.source)
            return run_outer_query(filled_query.node, runner, text)
        except AnalysisException as error:
            filled_query._advise_on_columns(error, clauses)
            raise

    def _advise_on_columns(self, error: AnalysisException, clauses: EvaluatedClauses) -> None:
        """Add advice to an error about a column that the query around the clauses does not have.

        Args:
            error: the error of that query. If it is not about a column, it is not changed.
            clauses: all clauses of the query with their results.
        """
        # A row pattern window hides no column of its input, so the advice is not about windows.
        match_clauses = [
            evaluated_clause
            for evaluated_clause in clauses
            if not evaluated_clause.clause.is_window
        ]
        columns_of_only_clause = {}
        if len(clauses) == len(match_clauses) == 1:
            columns_of_only_clause[column_errors.CLAUSE] = clauses[0].result.columns
        if advise_on_joined_column(error, self.runner, columns_of_only_clause):
            return
        advise_on_unknown_column(error, match_clauses, self.node.source)
        advise_on_nested_clause(error, columns_of_only_clause)


# Steps for a single clause.


def lower_site(site: Site, values: Mapping[str, object]) -> MatchPlan:
    """Return the plan of a clause or of a row pattern window of a query.

    Args:
        site: the clause or window.
        values: the values of the query's `:name` parameters.

    Raises:
        MatchRecognizeError: the clause has a mistake, or a parameter in it has no value.
    """
    if site.calls is None:
        return lower_clause(site.clause, values)
    from matchrec.syntax.lower_windows import lower_window  # few queries have windows

    return lower_window(site.clause, site.calls, values)


def check_renames(site: Site, result: ClauseResult) -> None:
    """Check that the names in `AS m (a, b)`, if there are any, are as many as the columns.

    Args:
        site: the clause.
        result: the result of the clause, with the columns that are renamed.

    Raises:
        MatchRecognizePlanError: there are more or fewer names than columns.
    """
    names = site.renames
    if names and len(names) != len(result.columns):
        raise errors.wrong_number_of_column_names(
            names[0].to(names[-1]),
            name_count=show_count(len(names), "name"),
            column_count=show_count(len(result.columns), "column"),
            columns=result.columns,
        )


def limit_star_to_input(node: QueryNode, site: Site, columns: Sequence[str]) -> QueryNode:
    """Return a query in which `*` around a window selects only the columns of the window's input.

    Args:
        node: the query.
        site: the window.
        columns: the columns of the window's result: the columns of its input and its calls.
    """
    call_columns = {call.column for window in node.sites for call in window.calls or ()}
    input_columns = tuple(name for name in columns if name not in call_columns)
    blocks = [
        replace(block, columns=input_columns) if block.rows == site.replaced else block
        for block in node.blocks
    ]
    return replace(node, blocks=tuple(blocks))
