"""Find out for a backtest how far starting rows came at the incidents that no match overlaps.

`find_attempts` searches the clause as `coverage` does. `Attempts.find_facts` finds the best attempt
at each incident, and `Attempts.write_columns` describes it in SQL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.functions import expr
from typing_extensions import override

from matchrec.api.backtest_labels import Labels, name_keys
from matchrec.api.clause import Clause
from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import NO_OCCURRENCE
from matchrec.compile.coverage import CoverageQuery, CoverageTask
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.explain.clause_coverage import Reason
from matchrec.explain.coverage_summary import build_ending, find_states_after, list_condition_parts
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_string
from matchrec.search.kernels.nearest_runs import NOTED_PARTS
from matchrec.spark.coverage import plan_attempts
from matchrec.spark.request import Options, Purpose
from matchrec.worker.attempts import ATTEMPT_NOTES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class IncidentFacts:
    """Facts about incidents or about partitions, which a backtest joins to its incidents."""

    # The name of the facts in the SQL of the join: `hit`, `attempt` or `known_key`.
    alias: str
    # The facts, and the columns by which they are joined: `__key_0` and so on, the key of a
    # partition; for facts about incidents also `__begin` and `__end`.
    frame: DataFrame
    # Whether there is a row for each partition, and not for each incident.
    are_about_partitions: bool = False


@dataclass(frozen=True)
class AttemptColumns:
    """The SQL of the values of `ATTEMPT_COLUMNS` for an incident that was missed."""

    # The variable of the last row of the attempt.
    furthest_variable: str
    # The smallest and the largest order value of the attempt.
    attempt_start: str
    attempt_end: str
    # The number of rows that a match still needed; NULL if no number would have been enough.
    rows_missing: str
    # The reason why the attempt ended, or why there is no attempt.
    reason: str


class Attempts(ABC):
    """The attempts from the starting rows of a clause, or the reason why they are not known."""

    @abstractmethod
    def find_facts(self, labels: Labels) -> list[IncidentFacts]:
        """Return facts about the attempts at each incident.

        - `attempt`, for incidents with rows: the best attempt that overlaps the incident. The best
          attempt lacked the fewest rows. Among equals, the longest is the best, then the first.
          Its columns are `best`, a struct of what is known of this attempt, and `has_rows`, which
          is true. `best` is NULL if all rows of the incident begin matches.
        - `known_key`, for partitions that have rows: the column `is_known`, which is true.

        If the attempts are not known, there are no facts.
        """

    @abstractmethod
    def write_columns(self, labels: Labels, order_type: str) -> AttemptColumns:
        """Return the values for a missed incident, as SQL over the labels and the facts.

        Args:
            labels: the labels.
            order_type: the type of the first ORDER BY column.
        """


def find_attempts(clause: Clause, plan: MatchPlan) -> Attempts:
    """Return the attempts from the starting rows of a clause. Runs no job.

    Args:
        clause: the clause.
        plan: the plan that finds its matches.
    """
    options = Options(sort=clause.options.sort, max_steps=clause.options.max_steps)
    try:
        request = clause.build_request(plan, options, purpose=Purpose.COVERAGE)
        attempts = plan_attempts(request)
    except MatchRecognizeUnsupportedError as error:
        # The matches can be compared all the same.
        return UnknownAttempts(error.message)
    return KnownAttempts(query=attempts.query, task=attempts.task, rows=attempts.rows, plan=plan)


@dataclass(frozen=True)
class UnknownAttempts(Attempts):
    """The reason why the attempts are not known."""

    reason: str

    @override
    def find_facts(self, labels: Labels) -> list[IncidentFacts]:
        """Return no facts."""
        return []

    @override
    def write_columns(self, labels: Labels, order_type: str) -> AttemptColumns:
        """Return NULL for all values except the reason."""
        no_end = f"CAST(NULL AS {order_type})"
        return AttemptColumns(
            furthest_variable="CAST(NULL AS STRING)",
            attempt_start=no_end,
            attempt_end=no_end,
            rows_missing="CAST(NULL AS BIGINT)",
            reason=quote_string(f"no attempts are known: {self.reason}"),
        )


@dataclass(frozen=True)
class KnownAttempts(Attempts):
    """The attempts from all starting rows, which `AttemptWorker` finds."""

    query: CoverageQuery
    task: CoverageTask
    # One row for each starting row: its partition, its first and last order value, and what
    # `ATTEMPT_NOTES` names.
    rows: DataFrame
    # The plan that finds the matches.
    plan: MatchPlan

    @override
    def find_facts(self, labels: Labels) -> list[IncidentFacts]:
        """Return the best attempt at each incident, and the partitions that have rows."""
        spans = labels.select_spans(self.rows, ATTEMPT_NOTES)
        if self.task.needs_event_selection:
            # A match that is left out is an attempt that lacked no row.
            spans = spans.withColumn("remaining", expr("coalesce(remaining, 0L)"))
        # Structs are compared field by field: the best attempt is the smallest one. A row without
        # `remaining` begins a match or is inside of one, so it is not an attempt.
        compared_fields = "span.remaining, -span.rows AS negative_rows, span.__low, span.__high"
        described_fields = "span.choice, span.reason, span.parts"
        attempt = f"struct({compared_fields}, {described_fields})"
        best = expr(f"min({attempt}) FILTER (WHERE span.remaining IS NOT NULL) AS best")
        best_attempts = labels.join_incidents(spans).agg(best, expr("TRUE AS has_rows"))
        keys = name_keys(len(labels.key_columns))
        partitions = spans.selectExpr(*keys, "TRUE AS is_known").distinct()
        return [
            IncidentFacts("attempt", best_attempts),
            IncidentFacts("known_key", partitions, are_about_partitions=True),
        ]

    @override
    def write_columns(self, labels: Labels, order_type: str) -> AttemptColumns:
        """Return the values of the best attempt."""
        no_rows = "no row has this key" if labels.key_columns else "the input has no rows"
        return AttemptColumns(
            furthest_variable=f"get({write_array(self.variables)}, CAST(best.choice AS INT))",
            attempt_start="best.__low",
            attempt_end="best.__high",
            rows_missing=f"nullif(best.remaining, {UNREACHABLE}L)",
            reason=(
                "CASE WHEN label.__begin > label.__end THEN 'the incident ends before it begins'"
                f" WHEN known_key.is_known IS NULL THEN {quote_string(no_rows)}"
                " WHEN attempt.has_rows IS NULL THEN 'the incident has no rows'"
                f" WHEN best.choice IS NULL THEN {quote_string(self.reason_without_attempts)}"
                f" ELSE {self.write_reason()} END"
            ),
        )

    @property
    def reason_without_attempts(self) -> str:
        """Return the reason if all rows of an incident begin matches that the result lacks."""
        if self.plan.first_matches is not None:
            return "a match begins here, but FIRST k MATCHES does not return it"
        if self.task.needs_event_selection:
            return "a match begins here, but another match excludes it"
        return "only empty matches begin here"

    @property
    def variables(self) -> list[str | None]:
        """Return the variable of the last row of an attempt, by the number of its last choice.

        None for an attempt without rows, and for a choice that maps no row.
        """
        names = self.query.plan.variables
        occurrences = self.query.occurrences
        variables: list[str | None] = [None]  # an attempt without rows has choice 0
        for occurrence in occurrences.occurrence_by_choice:
            maps_row = occurrence != NO_OCCURRENCE
            variables.append(names[occurrences.variables[occurrence]] if maps_row else None)
        return variables

    @property
    def reasons(self) -> list[str]:
        """Return the reasons by the last choice of an attempt (0 for none), then by `Reason`.

        The text is "" for a choice that accepts: no attempt ends after it.
        """
        return [
            "" if state is None else str(build_ending(self.query, state, reason))
            for state in find_states_after(self.query.occurrences)
            for reason in Reason
        ]

    def write_reason(self) -> str:
        """Return SQL for the reason why the best attempt ended, with the parts that failed."""
        index = f"CAST(best.choice * {len(Reason)} + best.reason AS INT)"
        reason = f"get({write_array(self.reasons)}, {index})"
        parts = list_condition_parts(self.query)[:NOTED_PARTS]
        part_texts = write_array(
            None if part is None else f"{part.text} was not true" for part in parts
        )
        # A bit of `best.parts` is set if the part with its number was not true.
        has_failed = "shiftright(best.parts, number) % 2 = 1"
        failed_parts = f"filter({part_texts}, (part, number) -> part IS NOT NULL AND {has_failed})"
        return f"concat_ws(': ', {reason}, nullif(array_join({failed_parts}, ', '), ''))"


def write_array(texts: Iterable[str | None]) -> str:
    """Return SQL of an array of texts. None becomes NULL."""
    items = ["NULL" if text is None else quote_string(text) for text in texts]
    return f"CAST(array({', '.join(items)}) AS ARRAY<STRING>)"
