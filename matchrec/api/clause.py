"""A clause with its input rows: build its result, and the plans and requests of questions about it.

`api.questions`, `api.totals` and `api.backtest` ask the questions.
"""

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
    """A plan and the rows that it is applied to.

    The user wrote the plan as a MATCH_RECOGNIZE clause, a row pattern window (R020), a SASE+ query
    or a `Pattern`. In `matchrec.api`, *clause* stands for all of these.
    """

    plan: MatchPlan
    # The input rows.
    relation: Relation
    # The options of the query.
    options: Options
    # The user's text, which errors show.
    source: Source
    # The language of the text; None for SQL.
    language: Language | None = None
    # Where the clause is in a SQL query; None if the clause is the whole query.
    site: Site | None = None
    # The plan that `why` and `coverage` explain; None if they explain `plan`.
    explained_plan: MatchPlan | None = None

    @property
    def result_use(self) -> ResultUse:
        """Return the part of the result that the query around the clause uses."""
        return EVERYTHING if self.site is None else self.site.use

    @property
    def is_window(self) -> bool:
        """Return whether the user wrote a row pattern window (R020)."""
        return self.site is not None and self.site.calls is not None

    def evaluate(self) -> ClauseResult:
        """Compile the clause and return its result. No job runs.

        Raises:
            MatchRecognizeError: the plan has a mistake, or does not fit the input.
        """
        return build_clause_result(self.build_request(self.plan, self.options, self.result_use))

    def evaluate_plan(self, plan: MatchPlan) -> ClauseResult:
        """Compile another plan over the same rows and return its result. No job runs.

        The result has all columns of that plan, even if the query around the clause does not use
        them.

        Raises:
            MatchRecognizeError: the plan has a mistake, or does not fit the input.
        """
        return build_clause_result(self.build_request(plan, self.options))

    def build_request(
        self,
        plan: MatchPlan,
        options: Options,
        result_use: ResultUse = EVERYTHING,
        purpose: Purpose = Purpose.RESULT,
    ) -> MatchRequest:
        """Return a request for a plan over the rows of the clause.

        Args:
            plan: the plan of the clause, or another plan.
            options: the options of the query, perhaps changed.
            result_use: the part of the plan's result that is used.
            purpose: what the plan is compiled for: rows, the figures of `coverage`, or the trace of
                `why`.

        Raises:
            MatchRecognizeError: the plan has a mistake, or does not fit the input.
        """
        alias = None if self.site is None else self.site.relation_alias
        columns = find_input_columns(self.relation, alias)
        unnamed_rule = Rule("", plan)  # a query is a rule without a name
        return MatchRequest.build(
            rules=(unnamed_rule,),
            relation=self.relation,
            columns=columns,
            options=options,
            use=result_use,
            purpose=purpose,
        )

    def find_explained_plan(self, method_name: str) -> MatchPlan:
        """Return the plan that `why` and `coverage` explain.

        Args:
            method_name: the method that the user called, for the error.

        Raises:
            MatchRecognizeUnsupportedError: the user wrote a row pattern window.
        """
        if self.is_window:
            raise method_not_for_pattern_window(call=method_name)
        return self.plan if self.explained_plan is None else self.explained_plan

    def find_counted_plan(self, method_name: str) -> MatchPlan:
        """Return the plan whose matches `backtest` and `aggregate` count.

        The plan is the one that `why` explains. But if the query outputs only matches that do not
        overlap, so does this plan. The plan for MATCH GRAPH finds every match, as the graph holds
        them all.

        Args:
            method_name: the method that the user called, for the error.

        Raises:
            MatchRecognizeUnsupportedError: the user wrote a row pattern window.
        """
        plan = self.find_explained_plan(method_name)
        if self.plan.output is MatchOutput.NON_OVERLAPPING:
            return replace(plan, output=MatchOutput.NON_OVERLAPPING)
        return plan


@dataclass(frozen=True)
class EvaluatedClause:
    """A clause with the result of `Clause.evaluate`."""

    clause: Clause
    result: ClauseResult
