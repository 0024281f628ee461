"""`Backtest`, the result of `Query.backtest`: labelled incidents compared with matches.

The result has numbers and reasons as text, the incidents as a table, and a picture of incidents and
matches. `api.backtest` makes the two DataFrames of a `Backtest`, and `backtest_picture` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from matchrec.arguments import check_arguments
from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import AxisLabels
from matchrec.explain.charts.backtest_picture import (
    DrawnSpan,
    LaneKey,
    SpanColumns,
    check_drawable,
    draw_backtest,
    find_lane_types,
)
from matchrec.explain.pictures import figures
from matchrec.public_names import public

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

# The columns that `api.backtest` adds to the labels: about the matches that hit an incident, and
# about the best attempt at an incident that was missed.
MATCH_COLUMNS = ("outcome", "matches", "match_start", "match_end")
ATTEMPT_COLUMNS = ("furthest_variable", "attempt_start", "attempt_end", "rows_missing", "reason")

# The values of the column `outcome`: whether a match overlaps the incident.
HIT = "hit"
MISS = "miss"

# The largest number of reasons that are printed.
MAX_REASONS = 10

# The types of integers in Spark, with the types in pandas of columns without NULL.
INTEGER_TYPES = {"tinyint": "int8", "smallint": "int16", "int": "int32", "bigint": "int64"}


@dataclass(frozen=True, slots=True, repr=False)
class Score:
    """The numbers of a backtest: counts of incidents and of matches, recall, precision and F1."""

    # The number of incidents.
    incidents: int
    # The number of incidents that are hit: a match overlaps them.
    hits: int
    # The number of incidents that several matches overlap.
    hit_by_several: int
    # The number of matches.
    matches: int
    # The number of matches that overlap an incident.
    matches_on_incidents: int

    def __repr__(self) -> str:
        """Return all numbers, and the shares rounded to three digits."""
        return (
            f"Score(incidents={self.incidents}, hits={self.hits},"
            f" hit_by_several={self.hit_by_several}, misses={self.misses},"
            f" matches={self.matches}, matches_on_incidents={self.matches_on_incidents},"
            f" false_alarms={self.false_alarms}, recall={round_share(self.recall)},"
            f" precision={round_share(self.precision)}, f1={round_share(self.f1)})"
        )

    @property
    def misses(self) -> int:
        """The number of incidents that no match overlaps."""
        return self.incidents - self.hits

    @property
    def false_alarms(self) -> int:
        """The number of matches that overlap no incident."""
        return self.matches - self.matches_on_incidents

    @property
    def recall(self) -> float | None:
        """The share of incidents that are hit; None without incidents."""
        return self.hits / self.incidents if self.incidents else None

    @property
    def precision(self) -> float | None:
        """The share of matches that overlap an incident; None without matches."""
        return self.matches_on_incidents / self.matches if self.matches else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of recall and precision.

        0.0 if both are 0, and None if one of them is None.
        """
        recall, precision = self.recall, self.precision
        if recall is None or precision is None:
            return None
        if recall + precision == 0:
            return 0.0
        return 2 * recall * precision / (recall + precision)


class MissReason(NamedTuple):
    """A reason why the best attempts at missed incidents ended."""

    # The number of missed incidents with this variable and this reason.
    incidents: int
    # The last variable to which the best attempt at each of them mapped a row; None if the attempt
    # mapped no row.
    variable: str | None
    # Why these attempts ended, as a sentence.
    reason: str


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """The incidents that have an outcome, a furthest variable and a reason in common.

    Spark returns a row with these fields for each group. The first three are columns of
    `Backtest.incidents`, see there.
    """

    outcome: str  # HIT or MISS
    furthest_variable: str | None
    reason: str | None  # None for a hit
    incidents: int  # the number of incidents of the group
    hit_by_several: int  # the number of these incidents that several matches overlap


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Backtest(figures.PicturedText):
    """Labelled incidents compared with the matches of a query, from `Query.backtest`.

    `print` shows its numbers and the reasons for misses. They are computed once. Each use of
    `incidents` and `matches` searches the rows again.

    `incidents` is a DataFrame with the columns of the labels and these:

        outcome                     hit or miss
        matches                     how many matches overlap the incident
        match_start, match_end      where the first of them begins and ends
        furthest_variable           for a miss: the last variable to which the best attempt mapped
                                    a row; NULL if it mapped no row
        attempt_start, attempt_end  where the best attempt begins and ends
        rows_missing                how many further rows the best attempt needed at least
        reason                      what ended the best attempt

    The best attempt is the attempt that needed the fewest further rows. `matches` is a DataFrame
    with one row for each span, that is, for all matches with the same begin and end. It has the
    partition columns and these:

        match_start, match_end      where the matches begin and end
        matches                     how many matches begin and end there
        incidents                   how many incidents they overlap; 0 for a false alarm

    Attributes:
        incidents: the labels with the result for each.
        matches: the spans of matches.
        partition_columns: the names of the partition columns.
        key_columns: the columns of the labels with the partition values.
        span_columns: the columns of the labels with the beginning and the end of an incident.
        order: the first ORDER BY expression of the query, along which matches and incidents are
            compared.

    >>> loads = spark.sql("VALUES (1, 5), (2, 9), (3, 9), (7, 9), (8, 9) AS t(at, load)")
    >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
    >>> clause = "ORDER BY at PATTERN (HIGH HIGH) DEFINE HIGH AS load > 8"
    >>> result = matchrec.query(loads, clause).backtest(labels, start="start", end="end")
    >>> result.incidents.select("start", "outcome", "reason").orderBy("start").show(truncate=False)
    +-----+-------+------------------------+
    |start|outcome|reason                  |
    +-----+-------+------------------------+
    |1    |hit    |NULL                    |
    |5    |miss   |the incident has no rows|
    +-----+-------+------------------------+
    """

    incidents: DataFrame
    matches: DataFrame
    partition_columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    span_columns: tuple[str, str]
    order: str

    @cached_property
    def score(self) -> Score:
        """The numbers of incidents and matches. Reading it for the first time runs two jobs.

        Its attributes are:

        - `incidents`, `hits` and `misses`, numbers of incidents;
        - `hit_by_several`, the number of incidents that several matches overlap;
        - `matches`, `matches_on_incidents` and `false_alarms`, numbers of matches. A match on an
          incident overlaps at least one, and a false alarm overlaps none;
        - `recall`, the share of incidents that are hit; None without incidents;
        - `precision`, the share of matches on incidents; None without matches;
        - `f1`, the harmonic mean of recall and precision; None if one of them is None.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> score = query.backtest(labels, start="start", end="end").score
        >>> score.hits, score.misses, score.matches, score.recall, score.precision
        (1, 1, 2, 0.5, 1.0)
        """
        groups = self._outcome_groups
        hit_groups = [group for group in groups if group.outcome == HIT]
        counts = self.matches.selectExpr(
            "coalesce(sum(matches), 0L)", "coalesce(sum(IF(incidents > 0, matches, 0L)), 0L)"
        )
        match_count, matches_on_incidents = counts.collect()[0]
        return Score(
            incidents=sum(group.incidents for group in groups),
            hits=sum(group.incidents for group in hit_groups),
            hit_by_several=sum(group.hit_by_several for group in hit_groups),
            matches=int(match_count),
            matches_on_incidents=int(matches_on_incidents),
        )

    @property
    def reasons(self) -> tuple[MissReason, ...]:
        """The reasons why the best attempts at missed incidents ended, the most frequent one first.

        Reading it for the first time runs a job.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> query.backtest(labels, start="start", end="end").reasons
        (MissReason(incidents=1, variable=None, reason='the incident has no rows'),)
        """
        missed_groups = [group for group in self._outcome_groups if group.outcome == MISS]
        missed_groups.sort(
            key=lambda group: (-group.incidents, group.furthest_variable or "", group.reason or "")
        )
        return tuple(
            MissReason(group.incidents, group.furthest_variable, group.reason or "")
            for group in missed_groups
        )

    @cached_property
    def _outcome_groups(self) -> list[OutcomeGroup]:
        """The groups of incidents. The first time that they are read, a job runs."""
        from pyspark.sql.functions import expr

        groups = self.incidents.groupBy("outcome", "furthest_variable", "reason")
        rows = groups.agg(
            expr("count(*) AS incidents"), expr("count_if(matches > 1) AS hit_by_several")
        ).collect()
        return [OutcomeGroup(**row.asDict()) for row in rows]

    @property
    def text(self) -> str:
        """The text that `print` shows: the numbers of the score, then the reasons for misses.

        Reading it for the first time runs the two jobs of `score`.
        """
        score = self.score
        several_text = ""
        if score.hit_by_several:
            several_text = f", {score.hit_by_several:,} of them by several matches"
        incidents = show_count(score.incidents, "incident")
        matches = show_count(score.matches, "match", "matches")
        alarms = show_count(score.false_alarms, "false alarm")
        recall = format_share(score.recall)
        precision = format_share(score.precision)
        lines = [
            f"{incidents}: {score.hits:,} hit{several_text}, {score.misses:,} missed",
            f"{matches}: {score.matches_on_incidents:,} overlapping an incident, {alarms}",
            f"recall {recall}, precision {precision}, F1 {format_share(score.f1)}",
        ]
        if score.misses:
            lines.append("why the best attempts at the missed incidents stopped")
            for incident_count, variable, reason in self.reasons[:MAX_REASONS]:
                variable_prefix = "" if variable is None else f"after {variable}: "
                lines.append(f"  {incident_count:,} {variable_prefix}{reason}")
        return "\n".join(lines)

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return `incidents` as a pandas DataFrame. Runs a job.

        Columns of integers with NULL have the type Int64, so that all integers are exact.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> sorted(query.backtest(labels, start="start", end="end").toPandas()["matches"])
        [0, 2]
        """
        types = [field.dataType.simpleString() for field in self.incidents.schema.fields]
        # Two columns of the labels may have the same name.
        temporary_names = [f"c{index}" for index in range(len(types))]
        expressions = [
            # From integers with NULL, PySpark would make floats, which are exact only up to 2**53.
            f"CAST({name} AS STRING) AS {name}" if type_name in INTEGER_TYPES else name
            for name, type_name in zip(temporary_names, types, strict=True)
        ]
        texts: pd.DataFrame = (
            self.incidents.toDF(*temporary_names).selectExpr(*expressions).toPandas()
        )
        integer_types = {
            name: "Int64" if texts[name].hasnans else INTEGER_TYPES[type_name]
            for name, type_name in zip(temporary_names, types, strict=True)
            if type_name in INTEGER_TYPES
        }
        frame: pd.DataFrame = texts.astype(integer_types)
        frame.columns = self.incidents.columns
        return frame

    def svg(self) -> str:
        """Return an SVG drawing: incidents as bands, matches as lines, one lane for each partition.

        Lanes with missed incidents come first, then lanes with false alarms; at most 30 lanes are
        drawn. Runs two jobs.

        Raises:
            MatchRecognizeError: matplotlib is not installed, or the values of the ORDER BY column
                are neither numbers nor dates nor timestamps.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> print(query.backtest(labels, start="start", end="end").svg())
        <?xml ...
        """
        return figures.render_picture(self.figure, "svg").decode()

    @check_arguments(path=figures.PATH_ARGUMENT)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Runs two jobs.

        Raises:
            MatchRecognizeError: the name has another ending, matplotlib is not installed, or the
                values of the ORDER BY column are neither numbers nor dates nor timestamps.
            OSError: the file cannot be written.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> backtest = query.backtest(labels, start="start", end="end")
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     backtest.save(f"{folder}/backtest.png")
        ...     os.listdir(folder)
        ['backtest.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib, for example to change its size.

        Runs two jobs.

        Raises:
            MatchRecognizeError: matplotlib is not installed, or the values of the ORDER BY column
                are neither numbers nor dates nor timestamps.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> query = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> type(query.backtest(labels, start="start", end="end").figure()).__name__
        'Figure'
        """
        figures.check_matplotlib()
        check_drawable(self.matches)
        lane_types = find_lane_types(
            self.incidents, self.key_columns, self.matches, self.partition_columns
        )
        labels = AxisLabels(self.order, ", ".join(self.partition_columns))
        incidents = self._collect_incident_spans(lane_types)
        matches = self._collect_match_spans(lane_types)
        return draw_backtest(incidents, matches, labels)

    def _collect_incident_spans(self, lane_types: tuple[str, ...]) -> list[DrawnSpan]:
        """Return the incidents as the picture draws them. Runs a job."""
        begin, end = self.span_columns
        columns = SpanColumns(
            # There are no key columns if incidents concern all partitions.
            keys=tuple(map(LaneKey, self.key_columns, lane_types)),
            begin=begin,
            end=end,
            overlaps_sql=f"outcome = '{HIT}'",
        )
        incidents = columns.collect_spans(self.incidents)
        if self.key_columns:
            return incidents
        # Incidents without a lane are drawn over all lanes.
        return [incident._replace(lane=None) for incident in incidents]

    def _collect_match_spans(self, lane_types: tuple[str, ...]) -> list[DrawnSpan]:
        """Return the spans of matches as the picture draws them. Runs a job."""
        columns = SpanColumns(
            keys=tuple(map(LaneKey, self.partition_columns, lane_types)),
            begin="match_start",
            end="match_end",
            overlaps_sql="incidents > 0",
        )
        return columns.collect_spans(self.matches)

    def __repr__(self) -> str:
        """Return the names of the two columns with the ends of incidents. Runs no job."""
        return f"<Backtest of incidents in {', '.join(self.span_columns)}>"


def format_share(share: float | None) -> str:
    """Return a share of incidents or matches as text, `0.667`; `-` if it is None."""
    return "-" if share is None else f"{share:.3f}"


def round_share(share: float | None) -> float | None:
    """Return a share of incidents or matches rounded to three digits; None if it is None."""
    return None if share is None else round(share, 3)
