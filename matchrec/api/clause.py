"""A clause with its input rows, from which every call about one clause begins.

`Clause.evaluate` returns the result of the clause. The other methods choose the plan, and build the
request to compile, for `why` and `coverage` (`api.questions`), for `aggregate` (`api.totals`) and
for `backtest` (`api.backtest`).
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
    # The options that the user passed with the query.
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
        """Return the part of the result that the query around the clause uses.

        The whole result is used if the clause is the whole query.
        """
        return EVERYTHING if self.site is None else self.site.result_use

    @property
    def is_window(self) -> bool:
        """Return whether the user wrote a row pattern window (R020)."""
        return self.site is not None and self.site.calls is not None

    @property
    def relation_alias(self) -> str | None:
        """Return the name that can qualify columns of the input, or None if there is none."""
        return None if self.site is None else self.site.relation_alias

    def evaluate(self) -> ClauseResult:
        """Compile the clause, and return its result, a lazy DataFrame: no job runs.

        Raises:
            MatchRecognizeError: the plan has a mistake or does not fit the input, or the engine
                rejects the input.
        """
        return build_clause_result(self.build_request(self.plan, self.options, self.result_use))

    def evaluate_plan(self, plan: MatchPlan) -> ClauseResult:
        """Compile another plan over the same rows, and return its result as `evaluate` does.

        The result has all columns of `plan`, even columns that the query around the clause does not
        use.

        Raises:
            MatchRecognizeError: see `evaluate`.
        """
        return build_clause_result(self.build_request(plan, self.options))

    def build_request(
        self,
        plan: MatchPlan,
        options: Options,
        result_use: ResultUse = EVERYTHING,
        purpose: Purpose = Purpose.RESULT,
    ) -> MatchRequest:
        """Return a request to compile a plan over the rows of the clause.

        Args:
            plan: the plan of the clause, or another plan.
            options: the options of the request. `why` and `backtest` change some options of the
                query.
            result_use: the part of the plan's result that is used.
            purpose: what the plan is compiled for: rows, the figures of `coverage`, or the trace of
                `why`.

        Raises:
            MatchRecognizeError: see `evaluate`.
        """
        columns = find_input_columns(self.relation, self.relation_alias)
        unnamed_rule = Rule("", plan)  # a query is a rule without a name
        return MatchRequest.build(
            rules=(unnamed_rule,),
            relation=self.relation,
            columns=columns,
            options=options,
            use=result_use,
            purpose=purpose,
        )

    def choose_explained_plan(self, method_name: str) -> MatchPlan:
        """Return the plan that `why` and `coverage` explain: `explained_plan`, if it is set.

        Args:
            method_name: the method that the user called, which the error names.

        Raises:
            MatchRecognizeUnsupportedError: the user wrote a row pattern window.
        """
        if self.is_window:
            raise method_not_for_pattern_window(call=method_name)
        return self.plan if self.explained_plan is None else self.explained_plan

    def choose_counted_plan(self, method_name: str) -> MatchPlan:
        """Return the plan whose matches `backtest` and `aggregate` count.

        The plan that `why` explains finds all matches of SASE+ and of a Pattern. The counted plan
        finds the matches that the query outputs. So with NON-OVERLAPPING MATCHES it leaves out the
        matches that the query leaves out. With MATCH GRAPH, it finds all matches, like the graph.

        Args:
            method_name: the method that the user called, which the error names.

        Raises:
            MatchRecognizeUnsupportedError: the user wrote a row pattern window.
        """
        plan = self.choose_explained_plan(method_name)
        if self.plan.output is MatchOutput.NON_OVERLAPPING:
            return replace(plan, output=MatchOutput.NON_OVERLAPPING)
        return plan


@dataclass(frozen=True)
class EvaluatedClause:
    """A clause with the result of `Clause.evaluate`."""

    clause: Clause
    result: ClauseResult
