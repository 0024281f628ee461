"""One clause over its input rows, and the questions that can be asked about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matchrec.errors.language import Language
from matchrec.errors.sql.window import method_not_for_pattern_window
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import EVERYTHING, MatchPlan, ResultUse
from matchrec.source import Source
from matchrec.spark.clause_result import ClauseResult, build_clause_result
from matchrec.spark.relation import Relation
from matchrec.spark.request import MatchRequest, Options, Purpose, Rule, find_input_columns
from matchrec.syntax.nodes import Site


@dataclass(frozen=True)
class Clause:
    """The meaning of a clause, a SASE+ text or a Pattern, and the rows that it is applied to."""

    plan: MatchPlan
    # The rows.
    relation: Relation
    options: Options
    # The user's text, which errors show.
    source: Source
    # The language of the text; None for SQL.
    language: Language | None = None
    # Where the clause is in a SQL query; None if it is the whole query.
    site: Site | None = None
    # The plan that `why` and `coverage` explain; None if it is `plan`.
    explained_plan: MatchPlan | None = None

    @property
    def use(self) -> ResultUse:
        """Return the part of the result that the query around the clause uses."""
        return EVERYTHING if self.site is None else self.site.use

    @property
    def is_window(self) -> bool:
        """Return whether this is a row pattern window (R020), and not a clause."""
        return self.site is not None and self.site.calls is not None

    def evaluate(self) -> ClauseResult:
        """Return the result of the clause as a DataFrame that no job has computed yet.

        Raises:
            MatchRecognizeError: the clause has a mistake.
        """
        return build_clause_result(self.build_request(self.plan, self.options, self.use))

    def evaluate_plan(self, plan: MatchPlan) -> ClauseResult:
        """Return the result of another plan over the rows of the clause, with all of its columns.

        Raises:
            MatchRecognizeError: the plan has a mistake.
        """
        return build_clause_result(self.build_request(plan, self.options))

    def build_request(
        self,
        plan: MatchPlan,
        options: Options,
        use: ResultUse = EVERYTHING,
        purpose: Purpose = Purpose.RESULT,
    ) -> MatchRequest:
        """Return a request for a plan over the rows of the clause.

        Args:
            plan: the plan of the clause, or another one.
            options: how it runs.
            use: the part of its result that is used.
            purpose: the purpose for which it is compiled.

        Raises:
            MatchRecognizeError: the plan or the input is wrong.
        """
        alias = None if self.site is None else self.site.relation_alias
        columns = find_input_columns(self.relation, alias)
        rules = (Rule("", plan),)
        return MatchRequest.build(rules, self.relation, columns, options, use, purpose)

    def find_explained_plan(self, call: str) -> MatchPlan:
        """Return the plan that `why`, `coverage` and the like explain.

        Args:
            call: the name of the method, for the error.

        Raises:
            MatchRecognizeUnsupportedError: this is a row pattern window.
        """
        if self.is_window:
            raise method_not_for_pattern_window(call=call)
        return self.explained_plan or self.plan

    def find_plan_of_matches(self, call: str) -> MatchPlan:
        """Return the plan that finds the matches of the query, each as one match.

        It is the plan that `why` explains, but without overlapping matches if the output of the
        query leaves them out. A graph leaves out none: it holds all matches.

        Args:
            call: the name of the method, for the error.

        Raises:
            MatchRecognizeUnsupportedError: this is a row pattern window.
        """
        plan = self.find_explained_plan(call)
        if self.plan.output is MatchOutput.NON_OVERLAPPING:
            return replace(plan, output=MatchOutput.NON_OVERLAPPING)
        return plan


@dataclass(frozen=True)
class EvaluatedClause:
    """A clause with its result."""

    clause: Clause
    result: ClauseResult
