"""`backtest`: the matches of a clause beside incidents that somebody has labelled.

The clause is searched twice: for where its matches lie, and, as by `coverage`, for how far each
starting row came. Spark joins both with the labels, by the partition and along the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from matchrec.api.clause import Clause
from matchrec.automaton.closure import UNREACHABLE
from matchrec.compile.coverage import CoverageDraft, CoverageTask
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors import calls as errors
from matchrec.explain.charts.backtest import OF_ATTEMPTS, OF_MATCHES, Backtest
from matchrec.explain.charts.series import only_column, plain
from matchrec.explain.coverage import Reason, build_ending, find_states_after, list_condition_parts
from matchrec.plan.clauses import Measure, RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics, Term, column_term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import quoted, string_literal
from matchrec.search.kernels.counting import NOTED_PARTS
from matchrec.spark.coverage import attempts_of
from matchrec.spark.execute import execute
from matchrec.spark.question import Options, is_streaming
from matchrec.spark.types import columns_in_one_form, in_one_form

OVERLAPS = (
    "coalesce(d.__begin <= d.__end, TRUE) AND (d.__begin IS NULL OR m.__high >= d.__begin)"
    " AND (d.__end IS NULL OR m.__low <= d.__end)"
)
Key = str | Sequence[str] | None
NOTED = ("remaining", "choice", "reason", "rows", "parts")


def backtest(clause: Clause, labels: DataFrame, key: Key, ends: tuple[str, str]) -> Backtest:
    """Compare the matches of a clause with labels, as `Query.backtest` does.

    Args:
        clause: the clause.
        labels: the labelled incidents.
        key: as for `Query.backtest`.
        ends: the columns of `start` and `end`.
    """
    plan = plan_of_matches(clause)
    for rows, what in ((clause.relation.rows, "those of the query"), (labels, "labels")):
        if is_streaming(rows):
            raise errors.backtest_of_stream(what=what)
    found = execute(clause.build_question(plan, clause.options)).dataframe
    labelled = Labels.of(labels, found, key, ends)
    options = Options(sort=clause.options.sort, max_steps=clause.options.max_steps)
    try:
        attempts = Attempts(*attempts_of(clause.build_question(plan, options)), plan)
    except MatchRecognizeUnsupportedError as unknown:
        return Joined(labelled, found, f"not known: {unknown.message}").backtest()
    return Joined(labelled, found, attempts).backtest()


def plan_of_matches(clause: Clause) -> MatchPlan:
    """Return a plan that finds the partition, the first and the last row of each match.

    Raises:
        MatchRecognizePlanError: the clause has no ORDER BY.
    """
    plan = clause.plan_of_matches("backtest")
    if not plan.order_by:
        raise errors.no_order_of_labels()
    first = plan.order_by[0].expression

    def place_of(end: End) -> Term:
        row = Navigation(end=end, semantics=Semantics.FINAL)
        return column_term(row, first.text, first.place, first.names)

    keys = {key.text: key for key in reversed(plan.keys)}
    return replace(
        plan,
        partition_by=tuple(reversed(keys.values())),
        equal=(),
        measures=(Measure("__first", place_of(End.FIRST)), Measure("__last", place_of(End.LAST))),
        rows_per_match=RowsPerMatch.ONE_ROW,
        partial=None,
    )


@dataclass(frozen=True)
class Labels:
    """Labelled incidents.

    Attributes:
        frame: one row for each incident.
        names: the partition columns of the query.
        keys: the columns of the labels with their values; empty if an incident concerns all
            partitions.
        ends: the columns with the beginning and the end of an incident.
    """

    frame: DataFrame
    names: tuple[str, ...]
    keys: tuple[str, ...]
    ends: tuple[str, str]

    @staticmethod
    def of(frame: DataFrame, found: DataFrame, key: Key, ends: tuple[str, str]) -> Labels:
        """Return the labels of a frame.

        Args:
            frame: one row for each incident.
            found: the matches.
            key: as for `Query.backtest`.
            ends: the columns of `start` and `end`.

        Raises:
            MatchRecognizePlanError: the labels do not fit the matches.
        """
        *keys, first, _ = found.dtypes
        names = [name for name, _ in keys]
        named = names if key is None else [key] if isinstance(key, str) else key
        columns = [column_of(frame, one, "" if key is None else "key") for one in named]
        if columns and len(columns) != len(names):
            raise errors.other_number_of_keys(count=len(columns), names=names or ["nothing"])
        arguments = zip(ends, ("start", "end"), strict=True)
        begin, end = (column_of(frame, one, name) for one, name in arguments)
        own = dict(frame.dtypes)
        wanted = [*zip(columns, keys, strict=False), (begin, first), (end, first)]
        for column, (name, kind) in wanted:
            given = own[column]
            if plain(given) != plain(kind):
                what = "the order of the query" if name == first[0] else f"`{name}` of the query"
                cast = IN_PANDAS.get(kind, "labels.{}.astype(...)").format(column)
                raise errors.labels_do_not_compare(
                    name=column, what=what, kind=given, wanted=kind, in_pandas=cast
                )
        lower = {one.lower(): one for one in frame.columns}
        for name in (*OF_MATCHES, *OF_ATTEMPTS):
            if name in lower:
                raise errors.label_column_taken(name=lower[name])
        return Labels(frame, tuple(names), tuple(columns), (begin, end))

    @property
    def own(self) -> list[str]:
        """The columns of a label that are compared with matches, as SQL."""
        named = [*(f"__key_{i}" for i in range(len(self.keys))), "__begin", "__end"]
        columns = zip((*self.keys, *self.ends), named, strict=True)
        kinds = {one.name: one.dataType for one in self.frame.schema.fields}
        return [f"{in_one_form(quoted(one), kinds[one])} AS {name}" for one, name in columns]

    def named(self, alias: str) -> list[str]:
        """The keys under an alias; those of the query where labels have none."""
        count = len(self.keys) if alias == "d" else len(self.names)
        return [f"{alias}.__key_{i}" for i in range(count)]

    def same(self, left: str, right: str) -> str:
        """Return SQL that is true if both sides are in the same partition."""
        pairs = (f"{left}.__key_{i} <=> {right}.__key_{i}" for i in range(len(self.keys)))
        return " AND ".join(pairs) or "TRUE"


# How a frame of pandas has a column in a type.
IN_PANDAS = {
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "pandas.to_datetime(labels.{})"),
    "date": "pandas.to_datetime(labels.{}).dt.date",
}


def column_of(frame: DataFrame, name: str, argument: str) -> str:
    """Return a column as the DataFrame spells it.

    Args:
        frame: the DataFrame.
        name: the name that the user or the query has for the column.
        argument: the argument that names the column, or "" if none does.
    """
    if (found := only_column(frame, name)) is not None:
        return found
    if argument:
        raise errors.no_label_column(argument=argument, name=name, columns=frame.columns)
    raise errors.no_key_of_labels(name=name, columns=frame.columns)


@dataclass(frozen=True)
class Attempts:
    """How far each starting row came: see `AttemptWorker`. plan: of the matches."""

    asked: CoverageDraft
    task: CoverageTask
    rows: DataFrame
    plan: MatchPlan

    @property
    def left_out(self) -> str:
        """The reason for a row that begins a match which is not in the result."""
        if self.plan.first_matches is not None:
            return "its rows are in matches after the first ones, which alone are asked for"
        if self.task.selects:
            return "a match begins here, and is left out because of another one"
        return "only empty matches begin here"

    @property
    def variables(self) -> list[str | None]:
        """The variable of the last row of an attempt, by its last choice."""
        names, occurrences = self.asked.draft.plan.variables, self.asked.occurrences
        return [None, *(names[occurrences.variables[one]] for one in occurrences.taken)]

    @property
    def reasons(self) -> list[str]:
        """The texts of what ended an attempt, by its last choice (0 for none), then by reason."""
        return [
            "" if state is None else str(build_ending(self.asked, state, reason))
            for state in find_states_after(self.asked.occurrences)
            for reason in Reason
        ]

    @property
    def because(self) -> str:
        """SQL of what ended the best attempt, and the parts of its condition that failed."""
        why = f"get({array(self.reasons)}, CAST(best.choice * {len(Reason)} + best.reason AS INT))"
        known = list_condition_parts(self.asked)[:NOTED_PARTS]
        parts = array(None if part is None else f"{part.text} was not true" for part in known)
        false = f"filter({parts}, (p, i) -> p IS NOT NULL AND shiftright(best.parts, i) % 2 = 1)"
        return f"concat_ws(': ', {why}, nullif(array_join({false}, ', '), ''))"


def array(texts: Any) -> str:
    items = ("NULL" if text is None else string_literal(text) for text in texts)
    return f"CAST(array({', '.join(items)}) AS ARRAY<STRING>)"


@dataclass(frozen=True)
class Joined:
    """Labels, the matches of a clause, and how far other starting rows came.

    `attempts` is a text with the reason if it is not known how far they came.
    """

    labels: Labels
    found: DataFrame
    attempts: Attempts | str

    @cached_property
    def places(self) -> DataFrame:
        """The places of matches, with the number of matches in each. Empty matches have none."""
        placed = self.placed(self.found).where("__low IS NOT NULL")
        return placed.groupBy(*placed.columns).agg(expr("count(*) AS __count"))

    def placed(self, rows: DataFrame, further: Sequence[str] = ()) -> DataFrame:
        """Return rows with their keys, a low and a high place, and further columns.

        Args:
            rows: the keys, the first and the last place, and the further columns.
            further: the names of the further columns.
        """
        keys = [f"__key_{i}" for i in range(len(self.labels.names))]
        named = rows.toDF(*keys, "__first", "__last", *further)
        alike = named.selectExpr(*columns_in_one_form(named.schema.fields))
        ends = "least(__first, __last) AS __low", "greatest(__first, __last) AS __high"
        return alike.selectExpr(*keys, *ends, *further)

    def backtest(self) -> Backtest:
        labels = self.labels
        over = f"{labels.same('d', 'm')} AND {OVERLAPS}"
        marked = labels.frame.selectExpr(*labels.own, "TRUE AS __marked")
        own = [*labels.named("m"), "m.__low", "m.__high", "m.__count"]
        joined = self.places.alias("m").join(marked.alias("d"), expr(over), "left")
        found = joined.groupBy(*own).agg(expr("count(d.__marked) AS __over"))
        places = found.toDF(*labels.names, "match_start", "match_end", "matches", "incidents")
        return Backtest(self.of_incidents(), places, labels.names, labels.keys, labels.ends)

    def of_incidents(self) -> DataFrame:
        """Return the labels with the result for each."""
        labels = self.labels
        whole = labels.frame.selectExpr("struct(*) AS __label", *labels.own).alias("d")
        for alias, further in self.facts():
            same = labels.same("d", alias)
            if "__begin" in further.columns:
                same += "".join(f" AND d.{one} <=> {alias}.{one}" for one in ("__begin", "__end"))
            whole = whole.join(further.alias(alias), expr(same), "left")
        is_hit = "h.count IS NOT NULL"
        shown = [
            "d.__label.*",
            f"IF({is_hit}, 'hit', 'miss') AS outcome",
            "coalesce(h.count, 0L) AS matches",
            "h.first.__low AS match_start",
            "h.first.__high AS match_end",
            *self.of_attempts(is_hit),
        ]
        return whole.selectExpr(*shown)

    def facts(self) -> list[tuple[str, DataFrame]]:
        """Return facts about each incident by alias: its matches, its best attempt, its rows."""
        labels = self.labels
        spans = [*labels.named("d"), "d.__begin", "d.__end"]
        over = expr(f"{labels.same('d', 'm')} AND {OVERLAPS}")
        incidents = labels.frame.selectExpr(*labels.own).distinct().alias("d")
        first = expr("min(struct(m.__low, m.__high)) AS first")
        hits = incidents.join(self.places.alias("m"), over).groupBy(*spans)
        found = [("h", hits.agg(expr("sum(m.__count) AS count"), first))]
        if isinstance(self.attempts, str):
            return found
        rows = self.placed(self.attempts.rows, NOTED)
        if self.attempts.task.selects:
            rows = rows.withColumn("remaining", expr("coalesce(remaining, 0L)"))
        fields = "m.remaining, -m.rows AS fewest, m.__low, m.__high, m.choice, m.reason, m.parts"
        best = expr(f"min(struct({fields})) FILTER (WHERE m.remaining IS NOT NULL) AS best")
        near = incidents.join(rows.alias("m"), over).groupBy(*spans).agg(best, expr("TRUE AS rows"))
        known = rows.selectExpr(*rows.columns[: len(labels.keys)], "TRUE AS known").distinct()
        return [*found, ("a", near), ("k", known)]

    def of_attempts(self, is_hit: str) -> list[str]:
        """Return the columns that say how far the best attempt at a missed incident came."""
        if isinstance(self.attempts, str):
            low = high = f"CAST(NULL AS {self.found.dtypes[-1][1]})"
            came, needed = "CAST(NULL AS STRING)", "CAST(NULL AS BIGINT)"
            because = string_literal(self.attempts)
        else:
            came = f"get({array(self.attempts.variables)}, CAST(best.choice AS INT))"
            because = self.attempts.because
            low, high = "best.__low", "best.__high"
            needed = f"nullif(best.remaining, {UNREACHABLE}L)"
            left_out = string_literal(self.attempts.left_out)
            no_rows = "no row has this key" if self.labels.keys else "there are no rows"
            because = (
                "CASE WHEN d.__begin > d.__end THEN 'the incident ends before it begins'"
                f" WHEN known IS NULL THEN {string_literal(no_rows)}"
                " WHEN a.rows IS NULL THEN 'no row lies in it'"
                f" WHEN best.choice IS NULL THEN {left_out} ELSE {because} END"
            )
        named = zip((came, low, high, needed, because), OF_ATTEMPTS, strict=True)
        return [f"IF({is_hit}, NULL, {value}) AS {name}" for value, name in named]
