"""Compare labelled incidents with the matches of a query: numbers, and a picture of both."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from matchrec.arguments import check_arguments
from matchrec.errors import command as errors
from matchrec.errors.wording import show_count
from matchrec.explain.charts.axes import (
    LABEL,
    MOST_CHARACTERS,
    SMALL,
    WIDTH,
    AxisLabels,
    shorten,
    show_times,
    style_panel,
)
from matchrec.explain.charts.series import is_drawn, name_comparable_type, write_series_name
from matchrec.explain.pictures import figures
from matchrec.plan.text import quote_name
from matchrec.source import make_sort_key

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

# The columns that are added to the labels: about the matches that hit them, and about the best
# attempts at those that were missed.
MATCH_COLUMNS = ("outcome", "matches", "match_start", "match_end")
ATTEMPT_COLUMNS = ("furthest_variable", "attempt_start", "attempt_end", "rows_missing", "reason")

# How many lanes are drawn.
MOST_LANES = 30

# How many incidents are drawn, and how many matches.
MOST_DRAWN = 5000

# How many reasons are printed.
MOST_REASONS = 10


@dataclass(frozen=True, slots=True)
class Score:
    """The numbers of incidents and matches, and how many of each overlap the others."""

    # The number of incidents.
    incidents: int
    # How many incidents are hit: a match overlaps them.
    hits: int
    # How many incidents several matches overlap.
    hit_by_several: int
    # The number of matches.
    matches: int
    # How many matches overlap an incident.
    over_an_incident: int

    @property
    def misses(self) -> int:
        """The number of incidents that no match overlaps."""
        return self.incidents - self.hits

    @property
    def false_alarms(self) -> int:
        """The number of matches that overlap no incident."""
        return self.matches - self.over_an_incident

    @property
    def recall(self) -> float | None:
        """The share of incidents that are hit; None without incidents."""
        return self.hits / self.incidents if self.incidents else None

    @property
    def precision(self) -> float | None:
        """The share of matches that overlap an incident; None without matches."""
        return self.over_an_incident / self.matches if self.matches else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of recall and precision; None if one of them is None."""
        recall, precision = self.recall, self.precision
        if recall is None or precision is None:
            return None
        if recall + precision == 0:
            return 0.0
        return 2 * recall * precision / (recall + precision)


@dataclass(frozen=True, slots=True)
class OutcomeGroup:
    """The incidents that have an outcome, a furthest variable and a reason in common."""

    outcome: str  # hit or miss
    furthest_variable: str | None
    reason: str | None  # None for a hit
    incidents: int
    # How many of them several matches overlap.
    hit_by_several: int


class Mark(Enum):
    """What a band or a line of the picture shows, with its entry in the legend."""

    HIT = ("incident that is hit", figures.MATCHED, "-")
    MISS = ("incident that is missed", figures.MISSED, "-")
    TRUE_ALARM = ("match that overlaps an incident", figures.INK, "o-")
    FALSE_ALARM = ("false alarm", figures.ACCENT, "o-")

    def __init__(self, label: str, colour: str, form: str) -> None:
        self.label = label
        self.colour = colour
        # As matplotlib writes lines and points.
        self.form = form


class DrawnSpan(NamedTuple):
    """An incident or a match in the picture, as Spark returns it."""

    # The partition; None for an incident that is about all partitions.
    lane: str | None
    begin: Any
    end: Any
    # Whether the incident is hit, or the match overlaps an incident.
    overlaps: bool


@dataclass(frozen=True, repr=False)
class Backtest(figures.PicturedText):
    """Labelled incidents compared with the matches of a query, from `Query.backtest`.

    It prints its figures, which are computed once. Each use of `incidents` and `matches` searches
    the rows again.

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
    with a row for all matches that begin and end at the same places:

        the partition columns
        match_start, match_end      where the matches begin and end
        matches                     how many matches begin and end there
        incidents                   how many incidents they overlap; 0 for a false alarm

    Attributes:
        incidents: the labels with the result for each.
        matches: the spans of matches.
        partition_columns: the names of the partition columns.
        key_columns: the columns of the labels with the partition values.
        span_columns: the columns of the labels with the beginning and the end of an incident.

    >>> errors = spark.sql("VALUES (1, 5), (2, 9), (3, 9), (7, 9), (8, 9) AS t(at, load)")
    >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
    >>> rises = "ORDER BY at PATTERN (HIGH HIGH) DEFINE HIGH AS load > 8"
    >>> found = matchrec.query(errors, rises).backtest(labels, start="start", end="end")
    >>> found.incidents.select("start", "outcome", "reason").orderBy("start").show(truncate=False)
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

    @cached_property
    def score(self) -> Score:
        """The numbers of hits, misses and false alarms. Reading it runs two jobs."""
        counts = self.matches.selectExpr(
            "coalesce(sum(matches), 0L)", "coalesce(sum(IF(incidents > 0, matches, 0L)), 0L)"
        )
        hits = [group for group in self._outcomes if group.outcome == "hit"]
        match_count, over_an_incident = counts.collect()[0]
        return Score(
            incidents=sum(group.incidents for group in self._outcomes),
            hits=sum(group.incidents for group in hits),
            hit_by_several=sum(group.hit_by_several for group in hits),
            matches=int(match_count),
            over_an_incident=int(over_an_incident),
        )

    @property
    def reasons(self) -> tuple[tuple[int, str | None, str], ...]:
        """The reasons why the best attempts at missed incidents ended, the most frequent one first.

        Each item is a count of incidents, the last variable that was reached, and the reason.
        """
        missed = [
            (group.incidents, group.furthest_variable, group.reason or "")
            for group in self._outcomes
            if group.outcome == "miss"
        ]
        missed.sort(key=lambda item: (-item[0], item[1] or "", item[2]))
        return tuple(missed)

    @cached_property
    def _outcomes(self) -> list[OutcomeGroup]:
        """The groups of incidents. Reading it for the first time runs a job."""
        from pyspark.sql.functions import expr

        groups = self.incidents.groupBy("outcome", "furthest_variable", "reason")
        rows = groups.agg(expr("count(*)"), expr("count_if(matches > 1)")).collect()
        return [OutcomeGroup(*row) for row in rows]

    @property
    def text(self) -> str:
        """The figures, as `print` shows them."""
        score = self.score
        several = ""
        if score.hit_by_several:
            several = f", {score.hit_by_several:,} of them by several matches"
        incidents = show_count(score.incidents, "incident")
        matches = show_count(score.matches, "match", "matches")
        alarms = show_count(score.false_alarms, "false alarm")
        shares = [
            "-" if share is None else f"{share:.3f}"
            for share in (score.recall, score.precision, score.f1)
        ]
        lines = [
            f"{incidents}: {score.hits:,} hit{several}, {score.misses:,} missed",
            f"{matches}: {score.over_an_incident:,} overlapping an incident, {alarms}",
            "recall {}, precision {}, F1 {}".format(*shares),
        ]
        if score.misses:
            lines.append("why the best attempts at the missed incidents stopped")
            for count, variable, reason in self.reasons[:MOST_REASONS]:
                after = "" if variable is None else f"after {variable}: "
                lines.append(f"  {count:,} {after}{reason}")
        return "\n".join(lines)

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return `incidents` as a pandas DataFrame.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> found = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> sorted(found.backtest(labels, start="start", end="end").toPandas()["matches"])
        [0, 2]
        """
        frame: pd.DataFrame = self.incidents.toPandas()
        return frame

    def svg(self) -> str:
        """Return an SVG drawing: incidents as bands, matches as lines, one lane for each partition.

        Lanes with missed incidents come first, then those with false alarms; at most 30 are drawn.
        The ORDER BY column must have numbers, dates or instants. Needs matplotlib.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> found = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> print(found.backtest(labels, start="start", end="end").svg())
        <?xml ...
        """
        return figures.render(self.figure, "svg").decode()

    @check_arguments(path=figures.PATH)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Needs matplotlib.

        Raises:
            MatchRecognizeError: the name has another ending.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> found = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> backtest = found.backtest(labels, start="start", end="end")
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     backtest.save(f"{folder}/backtest.png")
        ...     os.listdir(folder)
        ['backtest.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib. Runs two jobs."""
        figures.check_matplotlib()  # before any job runs
        incidents, matches = self._collect_drawn()
        spans = (*incidents, *matches)
        ends = [end for span in spans for end in (span.begin, span.end) if end is not None]
        # If no incident has an end and there is no match, a band covers an axis without numbers.
        first, last = (min(ends), max(ends)) if ends else (0, 1)
        lanes = list(dict.fromkeys(span.lane for span in spans if span.lane is not None))
        heights = {lane: index for index, lane in enumerate(lanes[:MOST_LANES])} or {"": 0}
        figure = figures.make_figure(WIDTH, 0.45 * len(heights) + 1.3)
        panel = figure.subplots()
        for incident in incidents:
            begin = first if incident.begin is None else incident.begin
            end = last if incident.end is None else incident.end
            colour = choose_incident_mark(incident).colour
            if incident.lane is None:  # over all lanes
                panel.axvspan(begin, end, color=colour, alpha=0.3, linewidth=0)
            elif incident.lane in heights:
                height = heights[incident.lane]
                band: Any = {"linewidth": 14, "solid_capstyle": "butt", "ms": 13}
                panel.plot([begin, end], [height, height], "|-", color=colour, **band)
        for match in matches:
            if match.lane in heights:
                height = heights[match.lane]
                colour = choose_match_mark(match).colour
                panel.plot([match.begin, match.end], [height] * 2, "o-", color=colour, ms=4)
        axis = "from {} to {}".format(*self.span_columns)
        labels = AxisLabels(axis, ", ".join(self.partition_columns))
        style_panel(panel, "", labels.shorten(60, min(3 + 6 * len(heights), MOST_CHARACTERS)))
        show_times(panel, ends)
        panel.set_yticks(range(len(heights)), [shorten(lane) for lane in heights])
        panel.set_ylim(len(heights) - 0.5, -0.5)
        marks = {choose_incident_mark(incident) for incident in incidents}
        marks |= {choose_match_mark(match) for match in matches}
        draw_legend(figure, panel, marks, hidden=len(lanes) - len(heights))
        return figure

    def _collect_drawn(self) -> tuple[list[DrawnSpan], list[DrawnSpan]]:
        """Return the incidents and the matches that are drawn, at most 5,000 each. Runs two jobs.

        Missed incidents and false alarms come first.

        Raises:
            MatchRecognizeError: the values of the ORDER BY column have no positions on an axis.
        """
        kind = dict(self.matches.dtypes)["match_start"]
        if not is_drawn(kind):
            raise errors.backtest_not_drawable(kind=kind)
        end_template = "CAST({} AS DOUBLE)" if name_comparable_type(kind) == "number" else "{}"

        def collect_spans(
            frame: DataFrame, names: tuple[str, ...], ends: tuple[str, str], overlaps: str
        ) -> list[DrawnSpan]:
            """Return the spans of a DataFrame, those that overlap nothing first.

            Args:
                frame: the incidents or the matches.
                names: the columns that name the lane.
                ends: the columns of the ends.
                overlaps: `DrawnSpan.overlaps` as SQL.
            """
            kinds = dict(frame.dtypes)
            texts = ", ".join(write_series_name(quote_name(name), kinds[name]) for name in names)
            lane = f"concat_ws(', ', {texts})" if names else "CAST(NULL AS STRING)"
            begin, end = (end_template.format(quote_name(name)) for name in ends)
            rows = frame.selectExpr(f"{lane} AS lane", begin, end, f"{overlaps} AS overlaps")
            drawn_rows = rows.orderBy("overlaps", "lane").limit(MOST_DRAWN).collect()
            spans = [DrawnSpan(*row) for row in drawn_rows]
            return sorted(spans, key=lambda span: (span.overlaps, make_sort_key(span.lane or "")))

        match_ends = ("match_start", "match_end")
        incidents = collect_spans(
            self.incidents, self.key_columns, self.span_columns, "outcome = 'hit'"
        )
        matches = collect_spans(self.matches, self.partition_columns, match_ends, "incidents > 0")
        if not self.partition_columns:
            matches = [match._replace(lane="") for match in matches]
        return incidents, matches

    def __repr__(self) -> str:
        """Return the columns of the labels that have the ends. Runs no job."""
        return f"<Backtest of incidents in {', '.join(self.span_columns)}>"


def choose_incident_mark(incident: DrawnSpan) -> Mark:
    """Return how an incident is drawn."""
    return Mark.HIT if incident.overlaps else Mark.MISS


def choose_match_mark(match: DrawnSpan) -> Mark:
    """Return how a match is drawn."""
    return Mark.TRUE_ALARM if match.overlaps else Mark.FALSE_ALARM


def draw_legend(figure: Figure, panel: Axes, marks: Set[Mark], hidden: int) -> None:
    """Say above the panel what its colours mean, and how many partitions are not drawn.

    Args:
        figure: the figure.
        panel: the panel.
        marks: the marks that are drawn. If nothing is drawn, all are explained.
        hidden: how many partitions are not drawn.
    """
    for mark in Mark:
        if marks and mark not in marks:
            continue
        width = 5 if mark.form == "-" else 1.5
        panel.plot([], [], mark.form, color=mark.colour, label=mark.label, ms=4, linewidth=width)
    entries: Any = {"ncols": len(Mark), "frameon": False, "fontsize": SMALL}
    legend = figure.legend(loc="outside upper center", labelcolor=figures.INK, **entries)
    if hidden > 0:
        legend.set_title(f"{hidden:,} more partitions are not drawn")
        legend.get_title().set(fontsize=LABEL, color=figures.INK)
