"""`Query.backtest`: compare the matches of a clause with labelled incidents.

1. The clause is searched for the first and the last row of each match.
2. It is searched again, as by `coverage`, for how far each starting row came.
3. Spark joins both with the labels, by the partition and along the order.

In the SQL of the joins, `label` is the labels, `span` the matches or attempts, and `hit`, `attempt`
and `known_key` are facts about each incident: see `LabelComparison.find_facts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr
from typing_extensions import override

from matchrec.api.clause import Clause
from matchrec.automaton.facts import UNREACHABLE
from matchrec.compile.coverage import CoverageQuery, CoverageTask
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors import labels as errors
from matchrec.explain.charts.backtest import ATTEMPT_COLUMNS, MATCH_COLUMNS, Backtest
from matchrec.explain.charts.columns import find_single_column, name_comparable_type
from matchrec.explain.clause_coverage import Reason
from matchrec.explain.coverage_summary import build_ending, find_states_after, list_condition_parts
from matchrec.plan.clauses import Measure, RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics, Term, make_column
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quote_name, quote_string
from matchrec.search.kernels.nearest_runs import NOTED_PARTS
from matchrec.spark.coverage import list_attempts
from matchrec.spark.request import Options, Purpose, is_streaming
from matchrec.spark.types import normalize_columns, normalize_value
from matchrec.worker.cover import ATTEMPT_NOTES

if TYPE_CHECKING:
    from pyspark.sql import GroupedData

# Whether a match or an attempt overlaps an incident. An end of an incident that is NULL is open; an
# incident that ends before it begins overlaps nothing.
OVERLAPS = (
    "coalesce(label.__begin <= label.__end, TRUE)"
    " AND (label.__begin IS NULL OR span.__high >= label.__begin)"
    " AND (label.__end IS NULL OR span.__low <= label.__end)"
)
Key = str | Sequence[str] | None  # the argument `key` of `Query.backtest`


def backtest(clause: Clause, labels: DataFrame, key: Key, ends: tuple[str, str]) -> Backtest:
    """Compare the matches of a clause with labels, as `Query.backtest` does.

    Args:
        clause: the clause.
        labels: the labelled incidents.
        key: as for `Query.backtest`.
        ends: the columns of `start` and `end`.

    Raises:
        MatchRecognizePlanError: the labels do not fit the query, or the query has no ORDER BY.
        MatchRecognizeUnsupportedError: the query or the labels are a stream.
    """
    plan = build_plan_of_matches(clause)
    for rows, what in ((clause.relation.rows, "the input of the query"), (labels, "`labels`")):
        if is_streaming(rows):
            raise errors.backtest_of_stream(what=what)
    matches = clause.evaluate_plan(plan).dataframe
    checked_labels = Labels.build(labels, matches, key, ends)
    return LabelComparison(checked_labels, matches, find_attempts(clause, plan)).backtest()


def build_plan_of_matches(clause: Clause) -> MatchPlan:
    """Return a plan that finds the partition, the first and the last row of each match.

    Raises:
        MatchRecognizePlanError: the clause has no ORDER BY.
    """
    plan = clause.find_plan_of_matches("backtest")
    if not plan.order_by:
        raise errors.labels_without_order()
    order = plan.order_by[0].expression

    def build_order_term(end: End) -> Term:
        """Return the order value of the first or the last row of a match."""
        row = Navigation(end=end, semantics=Semantics.FINAL)
        return make_column(row, order.text, order.span_or_start, order.names)

    # Keys with the same text are one key: the first one is kept.
    keys = {key.text: key for key in reversed(plan.keys)}
    return replace(
        plan,
        partition_by=tuple(reversed(keys.values())),
        equivalence_keys=(),
        measures=(
            Measure("__first", build_order_term(End.FIRST)),
            Measure("__last", build_order_term(End.LAST)),
        ),
        rows_per_match=RowsPerMatch.ONE_ROW,
        partial=None,
    )


@dataclass(frozen=True)
class Labels:
    """Labelled incidents that can be compared with the matches of a query."""

    # One row for each incident.
    frame: DataFrame
    # The partition columns of the query.
    names: tuple[str, ...]
    # The columns of the labels with their values; empty if an incident concerns all partitions.
    keys: tuple[str, ...]
    # The columns with the beginning and the end of an incident.
    ends: tuple[str, str]

    @staticmethod
    def build(frame: DataFrame, matches: DataFrame, key: Key, ends: tuple[str, str]) -> Labels:
        """Return the labels of a frame.

        Args:
            frame: one row for each incident.
            matches: the matches, with their partition, first and last order value.
            key: as for `Query.backtest`.
            ends: the columns of `start` and `end`.

        Raises:
            MatchRecognizePlanError: the labels do not fit the matches.
        """
        *key_fields, order_field, _ = matches.dtypes
        names = [name for name, _ in key_fields]
        key_columns = find_key_columns(frame, names, key)
        start, end = ends
        start_column = find_label_column(frame, start, "start")
        end_column = find_label_column(frame, end, "end")

        label_types = dict(frame.dtypes)
        comparisons = [
            *zip(key_columns, key_fields, strict=False),  # there are no key columns for key=[]
            (start_column, order_field),
            (end_column, order_field),
        ]
        for column, (name, query_type) in comparisons:
            if name_comparable_type(label_types[column]) != name_comparable_type(query_type):
                is_order = name == order_field[0]
                what = "the order of the query" if is_order else f"`{name}` of the query"
                in_pandas = CASTS_IN_PANDAS.get(query_type, "labels.{}.astype(...)").format(column)
                raise errors.label_type_differs(
                    name=column,
                    what=what,
                    kind=label_types[column],
                    expected_type=query_type,
                    in_pandas=in_pandas,
                )
        columns_by_lower_name = {column.lower(): column for column in frame.columns}
        for name in (*MATCH_COLUMNS, *ATTEMPT_COLUMNS):
            if name in columns_by_lower_name:
                raise errors.label_column_taken(name=columns_by_lower_name[name])
        return Labels(frame, tuple(names), tuple(key_columns), (start_column, end_column))

    @property
    def compared_columns(self) -> list[str]:
        """The columns of a label that are compared with matches, as SQL."""
        columns = (*self.keys, *self.ends)
        new_names = [*(f"__key_{index}" for index in range(len(self.keys))), "__begin", "__end"]
        types = {field.name: field.dataType for field in self.frame.schema.fields}
        return [
            f"{normalize_value(quote_name(column), types[column])} AS {new_name}"
            for column, new_name in zip(columns, new_names, strict=True)
        ]

    @property
    def keys_of_label(self) -> list[str]:
        """The keys of a label, as SQL. There are none if an incident concerns all partitions."""
        return [f"label.__key_{index}" for index in range(len(self.keys))]

    @property
    def keys_of_span(self) -> list[str]:
        """The keys of a match or an attempt, as SQL: the query's PARTITION BY."""
        return [f"span.__key_{index}" for index in range(len(self.names))]

    def is_in_partition(self, alias: str) -> str:
        """Return SQL that is true if the row with an alias is in the partition of the label."""
        tests = [
            f"label.__key_{index} <=> {alias}.__key_{index}" for index in range(len(self.keys))
        ]
        return " AND ".join(tests) or "TRUE"


# How a column of a pandas frame is converted to a type of Spark.
CASTS_IN_PANDAS = {
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "pandas.to_datetime(labels.{})"),
    "date": "pandas.to_datetime(labels.{}).dt.date",
}


def find_key_columns(frame: DataFrame, names: Sequence[str], key: Key) -> list[str]:
    """Return the columns of labels with the partition values, as the labels spell them.

    Args:
        frame: the labels.
        names: the partition columns of the query.
        key: as for `Query.backtest`.

    Raises:
        MatchRecognizePlanError: a column is missing, there are too few or too many, or the query
            has no PARTITION BY.
    """
    if key is None:
        return [find_label_column(frame, name) for name in names]
    key_names = [key] if isinstance(key, str) else key
    if key_names and not names:
        raise errors.key_without_partition()
    columns = [find_label_column(frame, name, "key") for name in key_names]
    if columns and len(columns) != len(names):
        raise errors.wrong_number_of_keys(count=len(columns), names=names)
    return columns


def find_label_column(frame: DataFrame, name: str, argument: str = "") -> str:
    """Return a column as the labels spell it.

    Args:
        frame: the labels.
        name: the name that the user or the query has for the column.
        argument: the argument that names the column, or "" if none does.

    Raises:
        MatchRecognizePlanError: the labels have no such column.
    """
    column = find_single_column(frame, name)
    if column is not None:
        return column
    if argument:
        raise errors.unknown_label_column(argument=argument, name=name, columns=frame.columns)
    raise errors.label_key_missing(name=name, columns=frame.columns)


class Attempts(ABC):
    """How far the starting rows came, or why this is not known."""

    @abstractmethod
    def find_facts(self, comparison: LabelComparison) -> list[tuple[str, DataFrame]]:
        """Return facts about the attempts at each incident, by the alias of the DataFrame.

        See `LabelComparison.find_facts`.
        """

    @abstractmethod
    def write_values(self, comparison: LabelComparison) -> tuple[str, str, str, str, str]:
        """Return SQL of the values of ATTEMPT_COLUMNS for a missed incident, in their order."""


def find_attempts(clause: Clause, plan: MatchPlan) -> Attempts:
    """Return how far the starting rows of a clause came. Runs no job.

    Args:
        clause: the clause.
        plan: the plan that finds its matches.
    """
    options = Options(sort=clause.options.sort, max_steps=clause.options.max_steps)
    try:
        request = clause.build_request(plan, options, purpose=Purpose.COVERAGE)
        attempts = list_attempts(request)
    except MatchRecognizeUnsupportedError as error:
        # The matches can be compared all the same.
        return UnknownAttempts(error.message)
    return KnownAttempts(attempts.query, attempts.task, attempts.rows, plan)


@dataclass(frozen=True)
class UnknownAttempts(Attempts):
    """The reason why it is not known how far the starting rows came."""

    reason: str

    @override
    def find_facts(self, comparison: LabelComparison) -> list[tuple[str, DataFrame]]:
        """Return nothing."""
        return []

    @override
    def write_values(self, comparison: LabelComparison) -> tuple[str, str, str, str, str]:
        """Return NULL for all values except the reason, which is the last one."""
        no_variable = "CAST(NULL AS STRING)"
        no_end = f"CAST(NULL AS {comparison.order_type})"
        no_number = "CAST(NULL AS BIGINT)"
        reason = quote_string(f"no attempts are known: {self.reason}")
        return no_variable, no_end, no_end, no_number, reason


@dataclass(frozen=True)
class KnownAttempts(Attempts):
    """How far each starting row came: see `AttemptWorker`."""

    query: CoverageQuery
    task: CoverageTask
    # One row for each starting row: its partition, its ends, and its notes.
    rows: DataFrame
    # The plan of the matches.
    plan: MatchPlan

    @override
    def find_facts(self, comparison: LabelComparison) -> list[tuple[str, DataFrame]]:
        """Return the best attempt at each incident, and the partitions that have rows."""
        rows = comparison.add_span(self.rows, ATTEMPT_NOTES)
        if self.task.needs_event_selection:
            # A match that is left out is an attempt that lacked no row.
            rows = rows.withColumn("remaining", expr("coalesce(remaining, 0L)"))
        attempts = comparison.join_incidents(rows)
        # Structs are compared field by field. The fields from `choice` on only travel with them.
        fields = (
            "span.remaining, -span.rows AS negative_rows, span.__low, span.__high, span.choice,"
            " span.reason, span.parts"
        )
        best = expr(f"min(struct({fields})) FILTER (WHERE span.remaining IS NOT NULL) AS best")
        best_attempts = attempts.agg(best, expr("TRUE AS rows"))

        keys = rows.columns[: len(comparison.labels.keys)]
        partitions = rows.selectExpr(*keys, "TRUE AS known").distinct()
        return [("attempt", best_attempts), ("known_key", partitions)]

    @override
    def write_values(self, comparison: LabelComparison) -> tuple[str, str, str, str, str]:
        """Return SQL of the values of the best attempt."""
        variable = f"get({write_array(self.variables)}, CAST(best.choice AS INT))"
        rows_missing = f"nullif(best.remaining, {UNREACHABLE}L)"
        no_rows = "no row has this key" if comparison.labels.keys else "the input has no rows"
        reason = (
            "CASE WHEN label.__begin > label.__end THEN 'the incident ends before it begins'"
            f" WHEN known IS NULL THEN {quote_string(no_rows)}"
            " WHEN attempt.rows IS NULL THEN 'the incident has no rows'"
            f" WHEN best.choice IS NULL THEN {quote_string(self.left_out)}"
            f" ELSE {self.write_reason()} END"
        )
        return variable, "best.__low", "best.__high", rows_missing, reason

    @property
    def left_out(self) -> str:
        """The reason shown for a row that begins a match which is not in the result."""
        if self.plan.first_matches is not None:
            return "a match begins here, but FIRST k MATCHES does not return it"
        if self.task.needs_event_selection:
            return "a match begins here, but another match excludes it"
        return "only empty matches begin here"

    @property
    def variables(self) -> list[str | None]:
        """The variable of the last row of an attempt, by its last choice."""
        names = self.query.plan.variables
        occurrences = self.query.occurrences
        # An attempt without rows has choice 0.
        return [
            None,
            *(names[occurrences.variables[state]] for state in occurrences.occurrence_by_choice),
        ]

    @property
    def reasons(self) -> list[str]:
        """The texts of what ended an attempt, by its last choice (0 for none), then by reason."""
        return [
            "" if state is None else str(build_ending(self.query, state, reason))
            for state in find_states_after(self.query.occurrences)
            for reason in Reason
        ]

    def write_reason(self) -> str:
        """Return SQL of what ended the best attempt, and which parts of the condition failed."""
        index = f"CAST(best.choice * {len(Reason)} + best.reason AS INT)"
        reason = f"get({write_array(self.reasons)}, {index})"
        parts = list_condition_parts(self.query)[:NOTED_PARTS]
        part_texts = write_array(
            None if part is None else f"{part.text} was not true" for part in parts
        )
        # Bit i of `best.parts` is set if part i was not true.
        failed_parts = (
            f"filter({part_texts}, (p, i) -> p IS NOT NULL AND shiftright(best.parts, i) % 2 = 1)"
        )
        return f"concat_ws(': ', {reason}, nullif(array_join({failed_parts}, ', '), ''))"


def write_array(texts: Iterable[str | None]) -> str:
    """Return SQL of an array of texts. None becomes NULL."""
    items = ["NULL" if text is None else quote_string(text) for text in texts]
    return f"CAST(array({', '.join(items)}) AS ARRAY<STRING>)"


@dataclass(frozen=True)
class LabelComparison:
    """Labels, the matches of a clause, and how far other starting rows came."""

    labels: Labels
    matches: DataFrame
    attempts: Attempts

    @property
    def order_type(self) -> str:
        """The type of the first ORDER BY column."""
        *_, (_, type_name) = self.matches.dtypes
        return type_name

    @cached_property
    def spans(self) -> DataFrame:
        """The ranges of matches along the order, with the number of matches in each.

        Empty matches have none.
        """
        spans = self.add_span(self.matches).where("__low IS NOT NULL")
        return spans.groupBy(*spans.columns).agg(expr("count(*) AS __count"))

    def add_span(self, rows: DataFrame, other_columns: Sequence[str] = ()) -> DataFrame:
        """Return rows with their keys, their low and high end along the order, and other columns.

        If the order is descending, the last row is the low end.

        Args:
            rows: the keys, the first and the last order value, and the other columns.
            other_columns: the names of the other columns.
        """
        keys = [f"__key_{index}" for index in range(len(self.labels.names))]
        named = rows.toDF(*keys, "__first", "__last", *other_columns)
        comparable = named.selectExpr(*normalize_columns(named.schema.fields))
        low = "least(__first, __last) AS __low"
        high = "greatest(__first, __last) AS __high"
        return comparable.selectExpr(*keys, low, high, *other_columns)

    def backtest(self) -> Backtest:
        """Return the result for each label, and the incidents that the matches overlap."""
        labels = self.labels
        return Backtest(
            self.compare_incidents(), self.compare_spans(), labels.names, labels.keys, labels.ends
        )

    def compare_spans(self) -> DataFrame:
        """Return the ranges of matches, with the number of incidents that each overlaps."""
        labels = self.labels
        overlap = expr(f"{labels.is_in_partition('span')} AND {OVERLAPS}")
        incidents = labels.frame.selectExpr(*labels.compared_columns, "TRUE AS __marked")
        joined = self.spans.alias("span").join(incidents.alias("label"), overlap, "left")
        span_columns = [*labels.keys_of_span, "span.__low", "span.__high", "span.__count"]
        counted = joined.groupBy(*span_columns).agg(expr("count(label.__marked) AS __over"))
        return counted.toDF(*labels.names, "match_start", "match_end", "matches", "incidents")

    def compare_incidents(self) -> DataFrame:
        """Return the labels with the result for each."""
        labels = self.labels
        incidents = labels.frame.selectExpr("struct(*) AS __label", *labels.compared_columns)
        joined = incidents.alias("label")
        for alias, facts in self.find_facts():
            condition = labels.is_in_partition(alias)
            if "__begin" in facts.columns:
                for end in ("__begin", "__end"):
                    condition += f" AND label.{end} <=> {alias}.{end}"
            joined = joined.join(facts.alias(alias), expr(condition), "left")
        is_hit = "hit.count IS NOT NULL"
        return joined.selectExpr(
            "label.__label.*",
            f"IF({is_hit}, 'hit', 'miss') AS outcome",
            "coalesce(hit.count, 0L) AS matches",
            "hit.first.__low AS match_start",
            "hit.first.__high AS match_end",
            *self.write_attempt_columns(is_hit),
        )

    def find_facts(self) -> list[tuple[str, DataFrame]]:
        """Return facts about each incident, by the alias of the DataFrame that has them.

        - `hit`, for incidents that are hit: the number of matches, and the ends of the first one.
        - `attempt`, for incidents with rows: the best attempt among these rows. It is the one that
          lacked the fewest rows, and among equal ones the longest and then the first.
        - `known_key`, for partitions that have rows: the value true.

        If it is not known how far starting rows came, there is only `hit`.
        """
        first_match = expr("min(struct(span.__low, span.__high)) AS first")
        hits = self.join_incidents(self.spans).agg(expr("sum(span.__count) AS count"), first_match)
        return [("hit", hits), *self.attempts.find_facts(self)]

    def join_incidents(self, spans: DataFrame) -> GroupedData:
        """Return the matches or attempts that overlap each incident, grouped by incident."""
        labels = self.labels
        incidents = labels.frame.selectExpr(*labels.compared_columns).distinct().alias("label")
        overlap = expr(f"{labels.is_in_partition('span')} AND {OVERLAPS}")
        incident_columns = [*labels.keys_of_label, "label.__begin", "label.__end"]
        return incidents.join(spans.alias("span"), overlap).groupBy(*incident_columns)

    def write_attempt_columns(self, is_hit: str) -> list[str]:
        """Return the columns that say how far the best attempt at a missed incident came.

        Args:
            is_hit: SQL that is true for an incident that is hit, which has NULL in these columns.
        """
        values = self.attempts.write_values(self)
        return [
            f"IF({is_hit}, NULL, {value}) AS {name}"
            for value, name in zip(values, ATTEMPT_COLUMNS, strict=True)
        ]
