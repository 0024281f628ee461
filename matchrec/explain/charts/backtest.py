"""Labelled incidents beside the matches of a query: figures, and a picture of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from matchrec.errors import command as errors
from matchrec.explain.charts import plot
from matchrec.explain.charts.series import is_drawn, plain, text_of
from matchrec.explain.pictures import figures
from matchrec.plan.text import quoted
from matchrec.source import by_number, counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

# The columns that labels get: of the matches that hit them, and of the best attempts.
OF_MATCHES = ("outcome", "matches", "match_start", "match_end")
OF_ATTEMPTS = ("furthest_variable", "attempt_start", "attempt_end", "rows_missing", "reason")

MOST_LANES, MOST_DRAWN, MOST_REASONS = 30, 5000, 10


@dataclass(frozen=True, slots=True)
class Score:
    """How many incidents and matches there are, and how many of each meet the others."""

    incidents: int
    hits: int
    hit_by_several: int
    matches: int
    over_an_incident: int

    @property
    def misses(self) -> int:
        """The incidents that no match lies over."""
        return self.incidents - self.hits

    @property
    def false_alarms(self) -> int:
        """The matches that lie over no incident."""
        return self.matches - self.over_an_incident

    @property
    def recall(self) -> float | None:
        """The share of incidents that are hit; None of none."""
        return self.hits / self.incidents if self.incidents else None

    @property
    def precision(self) -> float | None:
        """The share of matches that lie over an incident; None without matches."""
        return self.over_an_incident / self.matches if self.matches else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both."""
        recall, precision = self.recall, self.precision
        if recall is None or precision is None:
            return None
        return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


@dataclass(frozen=True, repr=False)
class Backtest(figures.Pictured):
    """Labelled incidents compared with the matches of a query, from `Query.backtest`.

    It prints its figures. Each use runs jobs, but figures are computed once.

    `incidents` is a DataFrame with the columns of the labels and these:

        outcome                     hit or miss
        matches                     how many matches overlap the incident
        match_start, match_end      where the first of them begins and ends
        furthest_variable           for a miss: the variable of the last row of its best attempt,
                                    which is the one that lacked the fewest rows; NULL if no row
                                    was mapped
        attempt_start, attempt_end  the order of the first and the last row of this attempt
        rows_missing                how many rows the attempt lacked at least
        reason                      what ended the attempt

    `matches` is a DataFrame with a row for each place where matches lie:

        the partition columns
        match_start, match_end      where the matches begin and end
        matches                     how many matches lie there
        incidents                   how many incidents they overlap, 0 for a false alarm

    Attributes:
        incidents: the labels with the result for each.
        matches: the places of matches.
        names: the names of the partition columns.
        keys: the columns of the labels with the partition values.
        ends: the columns of the labels with the beginning and the end of an incident.

    >>> errors = spark.sql("VALUES (1, 5), (2, 9), (3, 9), (7, 9), (8, 9) AS t(at, load)")
    >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
    >>> rises = "ORDER BY at PATTERN (HIGH HIGH) DEFINE HIGH AS load > 8"
    >>> found = matchrec.query(errors, rises).backtest(labels, start="start", end="end")
    >>> found.incidents.select("start", "outcome", "reason").orderBy("start").show()
    +-----+-------+-----------------+
    |start|outcome|           reason|
    +-----+-------+-----------------+
    |    1|    hit|             NULL|
    |    5|   miss|no row lies in it|
    +-----+-------+-----------------+
    """

    incidents: DataFrame
    matches: DataFrame
    names: tuple[str, ...]
    keys: tuple[str, ...]
    ends: tuple[str, str]

    @cached_property
    def score(self) -> Score:
        """The numbers of hits, misses and false alarms. Reading it runs two jobs."""
        over = "coalesce(sum(IF(incidents > 0, matches, 0L)), 0L)"
        found = self.matches.selectExpr("coalesce(sum(matches), 0L)", over)
        hit = [row for row in self._outcomes if row[0] == "hit"]
        hits, several = (sum(row[count] for row in hit) for count in (3, 4))
        incidents = sum(row[3] for row in self._outcomes)
        return Score(incidents, hits, several, *map(int, found.collect()[0]))

    @property
    def reasons(self) -> tuple[tuple[int, str | None, str], ...]:
        """What ended the best attempts at the missed incidents, the most frequent reason first.

        Each item is a count of incidents, the last variable that was reached, and the reason.
        """
        missed = [(row[3], row[1], row[2]) for row in self._outcomes if row[0] == "miss"]
        return tuple(sorted(missed, key=lambda one: (-one[0], one[1] or "", one[2])))

    @cached_property
    def _outcomes(self) -> list[Any]:
        """Outcome, furthest variable, reason, incidents, and how many were hit by several matches.

        Runs a job.
        """
        from pyspark.sql.functions import expr

        groups = self.incidents.groupBy("outcome", "furthest_variable", "reason")
        return list(groups.agg(expr("count(*)"), expr("count_if(matches > 1)")).collect())

    @property
    def text(self) -> str:
        """The figures, as `print` shows them."""
        score = self.score
        often = score.hit_by_several
        several = f", {often:,} of them by several matches" if often else ""
        incidents = counted(score.incidents, "incident")
        matches = counted(score.matches, "match", "matches")
        alarms = counted(score.false_alarms, "false alarm")
        numbers = (score.recall, score.precision, score.f1)
        shares = ("-" if number is None else f"{number:.3f}" for number in numbers)
        lines = [
            f"{incidents}: {score.hits:,} hit{several}, {score.misses:,} missed",
            f"{matches}: {score.over_an_incident:,} over an incident, {alarms}",
            "recall {}, precision {}, F1 {}".format(*shares),
        ]
        if score.misses:
            lines.append("what ended the best attempts at those that were missed")
            for count, variable, because in self.reasons[:MOST_REASONS]:
                after = "" if variable is None else f"after {variable}: "
                lines.append(f"  {count:,} {after}{because}")
        return "\n".join(lines)

    def to_pandas(self) -> pd.DataFrame:
        """Return `incidents` as a pandas DataFrame.

        >>> rows = spark.sql("VALUES (1, 9), (2, 9) AS t(at, load)")
        >>> labels = spark.sql("VALUES (1, 4), (5, 6) AS t(start, end)")
        >>> found = matchrec.query(rows, "ORDER BY at PATTERN (A) DEFINE A AS load > 8")
        >>> sorted(found.backtest(labels, start="start", end="end").to_pandas()["matches"])
        [0, 2]
        """
        found: pd.DataFrame = self.incidents.toPandas()
        return found

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
        return figures.written(self.figure, "svg").decode()

    def figure(self) -> Figure:
        """The picture as a figure of matplotlib's."""
        figures.check_matplotlib()  # before any job runs
        labelled, found = self.drawn()
        values = [one for row in (*labelled, *found) for one in row[1:3] if one is not None]
        lanes = list(dict.fromkeys(row[0] for row in (*labelled, *found) if row[0] is not None))
        shown = {lane: place for place, lane in enumerate(lanes[:MOST_LANES])} or {"": 0}
        figure = figures.new_figure(plot.WIDTH, 0.45 * len(shown) + 1.1)
        panel = figure.subplots()
        for lane, begin, end, is_hit in labelled:
            ends = (min(values) if begin is None else begin, max(values) if end is None else end)
            colour = figures.MATCHED if is_hit else figures.MISSED
            if lane is None:  # over all lanes
                panel.axvspan(*ends, color=colour, alpha=0.3, linewidth=0)
            elif lane in shown:
                wide: Any = {"linewidth": 14, "solid_capstyle": "butt", "ms": 13}
                panel.plot(ends, [shown[lane]] * 2, "|-", color=colour, **wide)
        for lane, *ends, is_over in found:
            if lane in shown:
                colour = figures.INK if is_over else figures.BESIDE
                panel.plot(ends, [shown[lane]] * 2, ".-", color=colour, linewidth=2)
        plot.show_dates(panel, values)
        plot.style(panel, "", ", ".join(self.names))
        panel.set_xlabel(" to ".join(self.ends), color=figures.INK, fontsize=9)
        panel.set_yticks(range(len(shown)), list(shown))
        panel.set_ylim(len(shown) - 0.5, -0.5)
        for name, colour in COLOURS:
            panel.plot([], [], color=colour, linewidth=5, label=name)
        left = len(lanes) - len(shown)
        further = {"title": f"{left:,} more are not drawn"} if left > 0 else {}
        figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8, **further)
        return figure

    def drawn(self) -> tuple[list[Any], list[Any]]:
        """Lane, ends and colour of incidents and of matches, of each at most 5,000."""
        kind = dict(self.matches.dtypes)["match_start"]
        if not is_drawn(kind):
            raise errors.no_line_of(kind=kind)
        measured = "CAST({} AS DOUBLE)" if plain(kind) == "number" else "{}"

        def rows(frame: DataFrame, names: tuple[str, ...], ends: tuple[str, str], last: str) -> Any:
            kinds = dict(frame.dtypes)
            texts = ", ".join(text_of(quoted(name), kinds[name]) for name in names)
            lane = f"concat_ws(', ', {texts})" if names else "CAST(NULL AS STRING)"
            spans = (measured.format(quoted(one)) for one in ends)
            found = frame.selectExpr(f"{lane} AS lane", *spans, f"{last} AS last")
            few = found.orderBy("last", "lane").limit(MOST_DRAWN).collect()
            return sorted(few, key=lambda row: (row[3], by_number(row[0] or "")))

        alike = ("match_start", "match_end")
        incidents = rows(self.incidents, self.keys, self.ends, "outcome = 'hit'")
        matches = rows(self.matches, self.names, alike, "incidents > 0")
        if not self.names:
            matches = [("", *row[1:]) for row in matches]
        return [tuple(row) for row in incidents], [tuple(row) for row in matches]

    def __repr__(self) -> str:
        return f"<Backtest of incidents in {', '.join(self.ends)}>"


COLOURS = (
    ("incident that is hit", figures.MATCHED),
    ("missed", figures.MISSED),
    ("match over an incident", figures.INK),
    ("false alarm", figures.BESIDE),
)
