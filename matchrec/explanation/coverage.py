"""Coverage: how far the starting rows of a query come, and what ends them.

What the workers have counted goes in; a funnel comes out, as text, table and picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from matchrec.compile.coverage import Counted, CoverageDraft, Figures, NearestStart, parts_of
from matchrec.errors.language import current_surface
from matchrec.explanation.clause import numbered, titled
from matchrec.explanation.formulas import show_test
from matchrec.nfa.closure import UNREACHABLE
from matchrec.nfa.occurrences import Occurrences
from matchrec.pictures.figures import CAME, CHARACTER, INK, MATCHED, Pictured, new_figure, written
from matchrec.pictures.html import data_frame
from matchrec.plan.pattern import show
from matchrec.plan.show import show_scalar
from matchrec.plan.stages import Single, Staging
from matchrec.plan.stages import parts as stage_parts
from matchrec.source import counted, printable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What `coverage` says of a clause, in numbers.


class Reason(Enum):
    """Why a run came no nearer to a match, in the order of `kernels.counting`: in words."""

    FALSE = "{}'s condition was false"
    NO_ROW = "the partition ended before {}"
    OUT_OF_WINDOW = "the window ended before {}"
    ANCHORED = "^ or $ did not hold"
    FORBIDDEN = "a forbidden row came before {}"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """What ended some runs. awaited: the variables that would have brought them nearer to a match;
    remaining: how many rows a match still needed at least.
    """

    reason: Reason
    awaited: tuple[str, ...]
    remaining: int
    count: int

    def __str__(self) -> str:
        if self.reason is Reason.FALSE and len(self.awaited) != 1:
            return f"the conditions of {', '.join(self.awaited)} were false"
        return self.reason.value.format(" or ".join(self.awaited) or "the end of the match")


@dataclass(frozen=True, slots=True)
class FalsePart:
    """A part of a condition that has several, and for how many of the runs it was not true.

    What depends on the run is one part, which counts where all others were true.
    """

    variable: str
    text: str
    count: int


@dataclass(frozen=True, slots=True)
class OccurrenceCoverage:
    """An occurrence of a variable in PATTERN; number 0 is what comes before any row.

    reached: starting rows whose match, or whose nearest run, has a row there. stopped: those that
    began no match and whose nearest run had its last row there. stop_reasons, false_parts: why, the
    most frequent first.
    """

    number: int
    variable: str | None
    reached: int
    stopped: int
    stop_reasons: tuple[RunEnding, ...]
    false_parts: tuple[FalsePart, ...]


@dataclass(frozen=True, slots=True)
class ClauseCoverage:
    """How far the starting rows of one clause came.

    occurrences: in the order of PATTERN, after what comes before any row. nearest: the starting row
    that came nearest to a match and began none, if one has got any row. selects: whether rows may
    be skipped or all matches are asked for; then `figures.matches` are rows that begin one.
    """

    pattern: str
    figures: Figures
    occurrences: tuple[OccurrenceCoverage, ...]
    nearest: NearestStart | None
    selects: bool = False

    @property
    def tried(self) -> int:
        """The starting rows from which a match was sought; the others are inside of matches."""
        return self.occurrences[0].reached

    @property
    def without_match(self) -> int:
        """The starting rows of these that began no match."""
        return self.tried - self.figures.matches

    @property
    def summary(self) -> str:
        """How many of the starting rows begin a match, in one line."""
        begin = f"{self.figures.matches:,} of {self.tried:,} starting rows begin a match"
        return f"{self.pattern}, {begin}"


# The funnel of a clause as text, which ends with what ended most starting rows.

BAR = 20
LARGE = 1_000_000  # rows that a worker held at once


def show_funnel(clause: ClauseCoverage) -> str:
    parts = (
        ("row pattern", [clause.pattern]),
        ("rows", row_lines(clause)),
        ("starting rows: how many came so far, and ended there", funnel_lines(clause)),
        ("what ended most of them", answer_lines(clause)),
    )
    return titled(parts)


def row_lines(clause: ClauseCoverage) -> Iterator[str]:
    """Rows, partitions and matches, and what is strange about them."""
    found = clause.figures
    alone = found.partitions - found.matched_partitions
    rows = f"{found.rows:,} in {counted(found.partitions, 'partition')}"
    yield f"{rows}, {alone:,} of them without a match; the largest has {found.largest_partition:,}"
    if clause.selects:
        begin = "row begins" if found.matches == 1 else "rows begin"
        yield f"{found.matches:,} starting {begin} a match"
    elif found.matches:
        over = f"{counted(found.matches, 'match', 'matches')} over {counted(found.covered, 'row')}"
        yield f"{over}; the longest has {found.longest_match:,}"
    if found.ties:
        ties = f"{counted(found.ties, 'tie')} in ORDER BY, so the result may differ each time"
        yield f"{ties}: add a column that tells these rows apart"
    if found.rows_held >= LARGE:
        cure = "bound it by WITHIN or by a quantifier such as {1,100}"
        held = f"{found.rows_held:,} were held by a worker at once"
        yield f"{held}, as a search looked that far: {cure}"


def funnel_lines(clause: ClauseCoverage) -> Iterator[str]:
    if not clause.tried:
        return
    names = [occurrence.variable or "tried" for occurrence in clause.occurrences]
    width, digits = max(map(len, [*names, "matches"])), len(f"{clause.tried:,}")
    for name, one in zip(names, clause.occurrences, strict=True):
        line = f"{name:<{width}} {one.reached:>{digits},} {bar(one.reached, clause.tried)}"
        yield f"{line:<{width + digits + BAR + 3}}{why(one)}".rstrip()
    matches = clause.figures.matches
    yield f"{'matches':<{width}} {matches:>{digits},} {bar(matches, clause.tried)}".rstrip()
    inside = clause.figures.rows - clause.tried
    if inside > 0:
        yield f"not tried, as they are inside of matches: {counted(inside, 'other row')}"


def bar(part: int, whole: int) -> str:
    """A bar whose length is a share; never empty for something."""
    return "█" * (max(1, round(BAR * part / whole)) if part else 0)


def why(coverage: OccurrenceCoverage) -> str:
    if not coverage.stopped:
        return ""
    most = coverage.stop_reasons[0]
    count = f" ({most.count:,})" if len(coverage.stop_reasons) > 1 else ""
    return f"{coverage.stopped:,} ended: {most}{count}"


def answer_lines(clause: ClauseCoverage) -> Iterator[str]:
    """What a reader who misses rows wants to know."""
    if not clause.tried:
        yield "there are no rows"
        return
    if not clause.without_match:
        yield "nothing: every one of them begins a match"
        return
    ended = [occurrence for occurrence in clause.occurrences if occurrence.stopped]
    if clause.figures.matches:
        decisive = max(ended, key=lambda one: one.stopped)
        runs = f"{decisive.stopped:,} of {clause.without_match:,} without a match"
    else:  # where those ended that came nearest to one
        decisive = min(
            ended, key=lambda one: (min(e.remaining for e in one.stop_reasons), -one.stopped)
        )
        runs = f"no match: of those that came nearest to one, {decisive.stopped:,}"
    where = f"after {decisive.variable}" if decisive.variable else "before any row"
    yield f"{runs} ended {where}"
    most = decisive.stop_reasons[0]
    yield f"{most}: {most.count:,}"
    for part in decisive.false_parts:
        yield f"  {part.variable}: {part.text} was not true: {part.count:,}"
    if clause.nearest is not None:
        yield from nearest_lines(clause.nearest)


def nearest_lines(nearest: NearestStart) -> Iterator[str]:
    if nearest.remaining >= UNREACHABLE:
        return
    row = " of ".join(filter(None, map(equalities, (nearest.order, nearest.partition))))
    yield f"nearest to a match: the starting row {row}"
    yield f"  it needed {counted(nearest.remaining, 'more row')} at least"
    call = current_surface().why(nearest.partition, tuple(nearest.order.values()))
    yield f"  {call} says why"


def equalities(values: dict[str, str | None]) -> str:
    return ", ".join(
        f"{name} = {'NULL' if value is None else value}" for name, value in values.items()
    )


# The funnel of a clause as a picture.


def draw(clauses: Collection[ClauseCoverage]) -> Figure:
    """Below each other, of each clause the bars of its starting rows."""
    heights = [len(one.occurrences) + 2 for one in clauses] or [1]
    reasons = (why(each) for one in clauses for each in one.occurrences)
    width = 6 + CHARACTER * max(map(len, reasons), default=0)
    figure = new_figure(width, 0.3 * sum(heights))
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)
    for panel, clause in zip(panels.flat, clauses, strict=False):
        draw_bars(panel, clause)
    return figure


def draw_bars(panel: Axes, clause: ClauseCoverage) -> None:
    """A bar for each occurrence, as long as its share of the starting rows, then the matches."""
    bars = [(one.variable or "tried", one.reached, why(one)) for one in clause.occurrences]
    bars.append(("matches", clause.figures.matches, ""))
    names, counts, reasons = zip(*bars, strict=True)
    panel.barh(range(len(bars)), counts, color=[*[CAME] * (len(bars) - 1), MATCHED])
    for y, (count, reason) in enumerate(zip(counts, reasons, strict=True)):
        panel.text(0, y, f" {count:,}", va="center")
        panel.text(max(1, clause.tried), y, f"  {reason}", va="center", color=INK)
    panel.set(xlim=(0, max(1, clause.tried)), xticks=[])
    panel.set_yticks(range(len(bars)), names)
    panel.invert_yaxis()
    panel.set_title(clause.pattern, loc="left")
    panel.spines[:].set_visible(False)


# What `coverage` gives: the funnels of a query's clauses.

COLUMNS = (
    "clause",
    "occurrence",
    "variable",
    "reached",
    "stopped",
    "stop_reason",
    "stopped_for_reason",
)


@dataclass(frozen=True, repr=False)
class Coverage(Pictured):
    """How far the starting rows of a query came; prints as text, shows as a picture in a notebook.

    clauses: by their number in the query, from 1.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> covered = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ... ''').coverage()
    >>> covered
    <Coverage: DOWN{3}, 0 of 4 starting rows begin a match>
    """

    clauses: dict[int, ClauseCoverage]

    @property
    def text(self) -> str:
        funnels = {number: show_funnel(clause) for number, clause in self.clauses.items()}
        return printable(numbered(funnels))

    def __repr__(self) -> str:
        return f"<Coverage: {'; '.join(clause.summary for clause in self.clauses.values())}>"

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame with a row for each occurrence of a variable in PATTERN.

        Occurrence 0 is before any row. reached: the number of starting rows that got there.
        stopped: how many of these got no further. stop_reason: what stopped most of them, and
        stopped_for_reason: how many it stopped.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> covered = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
        ... ''').coverage()
        >>> covered.to_pandas()[["occurrence", "variable", "reached", "stopped"]]
           occurrence variable  reached  stopped
        0           0     None        4        2
        1           1     DOWN        2        2
        """
        rows = list[tuple[object, ...]]()
        for number, clause in self.clauses.items():
            for one in clause.occurrences:
                most = (
                    (str(one.stop_reasons[0]), one.stop_reasons[0].count)
                    if one.stopped
                    else (None, 0)
                )
                rows.append((number, one.number, one.variable, one.reached, one.stopped, *most))
        return data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """A funnel for each clause. Needs matplotlib.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> print(matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
        ... ''').coverage().svg())
        <?xml ...
        """
        return written(lambda: draw(self.clauses.values()), "svg").decode()


# What the workers have counted → what `coverage` says of a clause.


def summarise(counted: Counted) -> ClauseCoverage:
    endings = endings_by_occurrence(counted)
    names = counted.asked.drafted.plan.variables
    variables = [names[variable] for variable in counted.asked.occurrences.variables]
    ended = [sum(one.count for one in group) for group in endings]
    tried = sum(ended) + counted.figures.matches
    came = [tried, *counted.counts.came.tolist()]
    false = (parts(counted, number) for number in range(len(came)))
    columns = range(len(came)), [None, *variables], came, ended, endings, false
    occurrences = tuple(OccurrenceCoverage(*row) for row in zip(*columns, strict=True))
    pattern = show(counted.asked.drafted.plan.pattern)
    selects = counted.task.selects
    return ClauseCoverage(pattern, counted.figures, occurrences, counted.nearest, selects)


def endings_by_occurrence(counted: Counted) -> list[tuple[RunEnding, ...]]:
    """Why runs ended whose last row had taken each occurrence, the most frequent reason first."""
    occurrences = counted.asked.occurrences
    states = states_after(occurrences)
    places = [0, *(taken + 1 for taken in occurrences.taken)]  # 0 before any row
    found: list[Counter[RunEnding]] = [Counter() for _ in range(len(occurrences.variables) + 1)]
    for state, place, counts in zip(states, places, counted.counts.ended.tolist(), strict=True):
        for reason, count in zip(Reason, counts, strict=True):
            if state is not None and count:
                found[place][ending(counted.asked, state, reason)] += count
    return [tuple(replace(one, count=n) for one, n in group.most_common()) for group in found]


def states_after(occurrences: Occurrences) -> list[int | None]:
    """The state in which a run is before any choice, then after each of them."""
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    return [0, *(choice.target for choice in choices)]


def ending(asked: CoverageDraft, state: int, reason: Reason) -> RunEnding:
    occurrences, names = asked.occurrences, asked.drafted.plan.variables
    nearer = (names[occurrences.variables[occurrences.taken[i]]] for i in occurrences.nearer[state])
    return RunEnding(reason, tuple(dict.fromkeys(nearer)), occurrences.remaining[state], 0)


def parts(counted: Counted, number: int) -> tuple[FalsePart, ...]:
    """The parts of conditions that were not true after an occurrence, the most frequent first."""
    counts = counted.counts.parts_false[number].tolist()
    pairs = zip(all_parts(counted.asked), counts, strict=True)
    found = [FalsePart(*part, count) for part, count in pairs if count and part is not None]
    return tuple(sorted(found, key=lambda part: -part.count))


def all_parts(asked: CoverageDraft) -> list[tuple[str, str] | None]:
    """The parts of all conditions: the variable, and the part as it was written; None of one that
    is all that is asked of its variable.
    """
    known = list[tuple[str, str]]()
    plan = asked.drafted.plan
    conditions = {condition.variable: condition for condition in asked.drafted.conditions}
    stages = {} if plan.staging is None else stages_by_test(plan.staging)
    for variable in plan.variables:
        show_part = partial(show_test, test=variable) if plan.staging else show_scalar
        name = stages.get(variable, variable)
        known += ((name, text) for text in parts_of(conditions.get(variable), show_part))
    several = Counter(name for name, _ in known)
    return [one if several[one[0]] > 1 else None for one in known]


def stages_by_test(staging: Staging) -> dict[str, str]:
    """The names of stages, by those of the tests that their rows satisfy."""
    found = {}
    for part in stage_parts(staging.steps):
        if isinstance(part.content, Single):
            found[part.content.test] = part.content.name
            if part.until is not None and part.until.take is not None:
                found[part.until.take] = part.content.name
    return found
