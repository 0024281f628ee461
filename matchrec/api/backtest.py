"""`Query.backtest`: compare the matches of a clause with labelled incidents.

1. The clause is searched for the first and the last row of each match.
2. The clause is searched again, as by `coverage`, to find how far each starting row came
   (`backtest_attempts`).
3. Spark joins the matches and the attempts with the labels, by the partition and along the order
   (`backtest_labels`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from matchrec.api.backtest_attempts import Attempts, IncidentFacts, find_attempts
from matchrec.api.backtest_labels import Key, Labels, name_keys
from matchrec.api.clause import Clause
from matchrec.errors import labels as errors
from matchrec.explain.charts.backtest import ATTEMPT_COLUMNS, HIT, MISS, Backtest
from matchrec.plan.build_expressions import make_column
from matchrec.plan.clauses import Measure, RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics, Term
from matchrec.plan.match_plan import MatchPlan, add_equivalence_keys
from matchrec.spark.request import is_streaming


def backtest(clause: Clause, labels: DataFrame, key: Key, ends: tuple[str, str]) -> Backtest:
    """Compare the matches of a clause with labels, as `Query.backtest` does.

    Args:
        clause: the clause.
        labels: the labelled incidents.
        key: as for `Query.backtest`.
        ends: the columns of the labels with the start and the end of an incident.

    Raises:
        MatchRecognizePlanError: the labels do not fit the query, or the query has no ORDER BY.
        MatchRecognizeUnsupportedError: the query or the labels are a stream.
    """
    plan = build_plan_of_matches(clause)
    if is_streaming(clause.relation.rows):
        raise errors.backtest_of_stream(what="the input of the query")
    if is_streaming(labels):
        raise errors.backtest_of_stream(what="`labels`")
    matches = clause.evaluate_plan(plan).dataframe
    comparison = LabelComparison(
        labels=Labels.build(labels, matches, key, ends),
        matches=matches,
        attempts=find_attempts(clause, plan),
        order=plan.order_by[0].expression.text.replace("`", ""),
    )
    return comparison.backtest()


def build_plan_of_matches(clause: Clause) -> MatchPlan:
    """Return a plan that finds the partition, the first and the last row of each match.

    Raises:
        MatchRecognizePlanError: the clause has no ORDER BY.
    """
    plan = clause.choose_counted_plan("backtest")
    if not plan.order_by:
        raise errors.labels_without_order()
    order = plan.order_by[0].expression

    def build_order_term(end: End) -> Term:
        """Return the order value of the first or the last row of a match."""
        row = Navigation(end=end, semantics=Semantics.FINAL)
        return make_column(row, order.text, order.span_or_start, order.column_path)

    return replace(
        add_equivalence_keys(plan),
        measures=(
            Measure("__first", build_order_term(End.FIRST)),
            Measure("__last", build_order_term(End.LAST)),
        ),
        rows_per_match=RowsPerMatch.ONE_ROW,
        partial=None,
    )


@dataclass(frozen=True)
class LabelComparison:
    """Labels, the matches of a clause, and how far other starting rows came."""

    labels: Labels
    # The partition, the first and the last order value of each match.
    matches: DataFrame
    attempts: Attempts
    # The first ORDER BY expression as the result shows it, without backticks.
    order: str

    def backtest(self) -> Backtest:
        """Return the result for each label, and the incidents that the matches overlap."""
        labels = self.labels
        return Backtest(
            incidents=self.compare_incidents(),
            matches=self.compare_spans(),
            partition_columns=labels.partition_columns,
            key_columns=labels.key_columns,
            span_columns=(labels.start_column, labels.end_column),
            order=self.order,
        )

    @cached_property
    def spans(self) -> DataFrame:
        """Return the spans of matches, with the number of matches in each.

        Empty matches have no span.
        """
        spans = self.labels.select_spans(self.matches).where("__low IS NOT NULL")
        return spans.groupBy(*spans.columns).agg(expr("count(*) AS __count"))

    def compare_spans(self) -> DataFrame:
        """Return the spans of matches, with the number of incidents that each overlaps."""
        labels = self.labels
        # After the left join, `__marked` is NULL for a span that overlaps no incident.
        incidents = labels.select_incidents("TRUE AS __marked").alias("label")
        overlaps = self.spans.alias("span").join(incidents, labels.build_overlap(), "left")
        keys = [f"span.{name}" for name in name_keys(len(labels.partition_columns))]
        overlaps_by_span = overlaps.groupBy(*keys, "span.__low", "span.__high", "span.__count")
        span_counts = overlaps_by_span.agg(expr("count(label.__marked) AS __incidents"))
        return span_counts.toDF(
            *labels.partition_columns, "match_start", "match_end", "matches", "incidents"
        )

    def compare_incidents(self) -> DataFrame:
        """Return the labels, each with its first match, or with the reason why it was missed."""
        labels = self.labels
        incidents = labels.select_incidents("struct(*) AS __label").alias("label")
        for facts in (self.find_hits(), *self.attempts.find_facts(labels)):
            if facts.are_about_partitions:
                condition = labels.write_partition_test(facts.alias)
            else:
                condition = labels.write_incident_test(facts.alias)
            incidents = incidents.join(facts.frame.alias(facts.alias), expr(condition), "left")
        is_hit = "hit.count IS NOT NULL"
        return incidents.selectExpr(
            "label.__label.*",
            f"IF({is_hit}, '{HIT}', '{MISS}') AS outcome",
            "coalesce(hit.count, 0L) AS matches",
            "hit.first.__low AS match_start",
            "hit.first.__high AS match_end",
            *self.write_attempt_columns(is_hit),
        )

    def find_hits(self) -> IncidentFacts:
        """Return the facts `hit`, for incidents that are hit.

        The facts are `count`, the number of matches that overlap the incident, and `first`, the
        span of the first of these matches.
        """
        first_match = expr("min(struct(span.__low, span.__high)) AS first")
        hits_by_incident = self.labels.join_incidents(self.spans)
        hits = hits_by_incident.agg(expr("sum(span.__count) AS count"), first_match)
        return IncidentFacts("hit", hits)

    def write_attempt_columns(self, is_hit: str) -> list[str]:
        """Return the columns that say how far the best attempt at a missed incident came.

        Args:
            is_hit: SQL that is true for an incident that is hit, which has NULL in these columns.
        """
        _, order_type = self.matches.dtypes[-1]  # the last column is an order value
        columns = self.attempts.write_columns(self.labels, order_type)
        return [
            f"IF({is_hit}, NULL, {getattr(columns, name)}) AS {name}" for name in ATTEMPT_COLUMNS
        ]
