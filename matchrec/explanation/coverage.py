"""Coverage: how far the starting rows of a query come, and what ends them.

What the workers have counted goes in; a funnel comes out, as text, table and picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from matchrec.compile.coverage import (
    CountedCoverage,
    CoverageDraft,
    Figures,
    NearestStart,
    show_condition_parts,
)
from matchrec.errors.language import Surface, current_surface
from matchrec.explanation.clause import numbered, titled
from matchrec.explanation.formulas import show_test
from matchrec.nfa.closure import UNREACHABLE
from matchrec.nfa.occurrences import Occurrences
from matchrec.pictures.figures import CAME, CHARACTER, INK, MATCHED, Pictured, new_figure, written
from matchrec.pictures.html import data_frame
from matchrec.plan.pattern import Permutation, Quantified, RowPattern, Variable, children, show
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
class LoopCoverage:
    """The starting rows that reached a number of rows in a loop, such as two of `A{5,}`."""

    rows: int
    reached: int
    stop_reasons: tuple[RunEnding, ...]  # of those that did not reach the next number


@dataclass(frozen=True, slots=True)
class OccurrenceCoverage:
    """An occurrence of a variable in PATTERN; number 0 is what comes before any row.

    reached: starting rows whose match, or whose nearest run, has a row there. stopped: those that
    began no match and whose nearest run had its last row there. stop_reasons, false_parts: why, the
    most frequent first. loop: for a loop that needs several rows, how many rows were reached: one,
    two and so on to the number that it needs, or a few of these numbers.
    """

    number: int
    variable: str | None
    reached: int
    stopped: int
    stop_reasons: tuple[RunEnding, ...]
    false_parts: tuple[FalsePart, ...]
    loop: tuple[LoopCoverage, ...] = ()


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
MOST_NUMBERS = 6  # of rows of a loop that are all listed


def show_funnel(clause: ClauseCoverage, surface: Surface) -> str:
    parts = (
        ("row pattern", [clause.pattern]),
        ("rows", row_lines(clause)),
        ("starting rows: how many came so far, and ended there", funnel_lines(clause)),
        ("what ended most of them", answer_lines(clause, surface)),
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
    bars = list(bars_of(clause))
    width, digits = max(len(one.name) for one in bars), len(f"{clause.tried:,}")
    for one in bars:
        line = f"{one.name:<{width}} {one.count:>{digits},} {bar(one.count, clause.tried)}"
        yield f"{line:<{width + digits + BAR + 3}}{one.reason}".rstrip()
    inside = clause.figures.rows - clause.tried
    if inside > 0:
        yield f"not tried, as they are inside of matches: {counted(inside, 'other row')}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of the funnel: some starting rows, and what stopped those that came no further."""

    name: str
    count: int
    reason: str = ""


def bars_of(clause: ClauseCoverage) -> Iterator[Bar]:
    """Yield the lines of the funnel: one for each occurrence or number of rows, then the matches.

    The second row of a loop `A{5,}` is called `A{2}`.
    """
    for one in clause.occurrences:
        name = one.variable or "tried"
        if not one.loop:
            yield Bar(name, one.reached, why(one.stop_reasons))
        for part in one.loop:
            written = name if part.rows == 1 else f"{name}{{{part.rows}}}"
            yield Bar(written, part.reached, why(part.stop_reasons))
    yield Bar("matches", clause.figures.matches)


def bar(part: int, whole: int) -> str:
    """A bar whose length is a share; never empty for something."""
    return "█" * (max(1, round(BAR * part / whole)) if part else 0)


def why(endings: Collection[RunEnding]) -> str:
    """Return how many runs ended, and the most frequent reason with its number."""
    if not endings:
        return ""
    reasons = count_reasons(endings)
    ((most, times),) = reasons.most_common(1)
    count = f" ({times:,})" if len(reasons) > 1 else ""
    return f"{reasons.total():,} ended: {most}{count}"


def count_reasons(endings: Collection[RunEnding]) -> Counter[str]:
    """Return how many runs ended for each reason, however many rows they still needed."""
    reasons = Counter[str]()
    for ending in endings:
        reasons[str(ending)] += ending.count
    return reasons


def answer_lines(clause: ClauseCoverage, surface: Surface) -> Iterator[str]:
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
    ((most, count),) = count_reasons(decisive.stop_reasons).most_common(1)
    yield f"{most}: {count:,}"
    for part in decisive.false_parts:
        yield f"  {part.variable}: {part.text} was not true: {part.count:,}"
    if clause.nearest is not None:
        yield from nearest_lines(clause.nearest, surface)


def nearest_lines(nearest: NearestStart, surface: Surface) -> Iterator[str]:
    if nearest.remaining >= UNREACHABLE:
        return
    row = " of ".join(filter(None, map(equalities, (nearest.order, nearest.partition))))
    yield f"nearest to a match: the starting row {row}"
    yield f"  it needed {counted(nearest.remaining, 'more row')} at least"
    call = surface.why(nearest.partition, tuple(nearest.order.values()))
    yield f"  {call} says why"


def equalities(values: dict[str, str | None]) -> str:
    return ", ".join(
        f"{name} = {'NULL' if value is None else value}" for name, value in values.items()
    )


# The funnel of a clause as a picture.


def draw(clauses: Collection[ClauseCoverage]) -> Figure:
    """Below each other, of each clause the bars of its starting rows."""
    heights = [len(list(bars_of(one))) + 1 for one in clauses] or [1]
    reasons = (each.reason for one in clauses for each in bars_of(one))
    width = 6 + CHARACTER * max(map(len, reasons), default=0)
    figure = new_figure(width, 0.3 * sum(heights))
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)
    for panel, clause in zip(panels.flat, clauses, strict=False):
        draw_bars(panel, clause)
    return figure


def draw_bars(panel: Axes, clause: ClauseCoverage) -> None:
    """A bar for each line of the funnel, as long as its share of the starting rows.

    The count stands between the name and the bar. There are no tick marks: one beside a count would
    read as a minus sign.
    """
    bars = list(bars_of(clause))
    most = max(1, clause.tried)
    colours = [*[CAME] * (len(bars) - 1), MATCHED]
    panel.barh(range(len(bars)), [one.count for one in bars], color=colours)
    for y, one in enumerate(bars):
        beside: Any = {"textcoords": "offset points", "va": "center", "color": INK}
        panel.annotate(f"{one.count:,}", (0, y), (-5, 0), ha="right", **beside)
        panel.annotate(one.reason, (most, y), (5, 0), **beside)
    panel.set(xlim=(0, most), xticks=[])
    panel.set_yticks(range(len(bars)), [one.name for one in bars])
    digits = len(f"{most:,}")
    panel.tick_params(axis="y", length=0, pad=12 + 7 * digits, labelcolor=INK)
    panel.invert_yaxis()
    panel.set_title(clause.pattern, loc="left", color=INK)
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
    """How far the starting rows of a query get through its pattern, from `Query.coverage`.

    It prints as text. A notebook shows it as a picture, after the cell has run.

    Attributes:
        clauses: the figures of each clause, by its number in the query, from 1.
        surface: where the user called `coverage`: in Python, a notebook or a terminal. The text
            suggests calls in the words of that place.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> covered = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
    ... ''').coverage()
    >>> covered
    <Coverage: DOWN{3}, 0 of 4 starting rows begin a match>
    """

    clauses: dict[int, ClauseCoverage]
    surface: Surface = field(default_factory=current_surface, compare=False)

    @property
    def text(self) -> str:
        """The text that `print` shows."""
        funnels = {
            number: show_funnel(clause, self.surface) for number, clause in self.clauses.items()
        }
        return printable(numbered(funnels))

    def __repr__(self) -> str:
        return f"<Coverage: {'; '.join(clause.summary for clause in self.clauses.values())}>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row for each occurrence of a variable in PATTERN.

        Occurrence 0 is the place before any row. The other columns are:

        - `reached`: the number of starting rows that reached this occurrence;
        - `stopped`: how many of these got no further;
        - `stop_reason`: what stopped most of them;
        - `stopped_for_reason`: how many stopped for that reason.

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
                reasons = count_reasons(one.stop_reasons).most_common(1)
                most = reasons[0] if reasons else (None, 0)
                rows.append((number, one.number, one.variable, one.reached, one.stopped, *most))
        return data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing with a funnel for each clause.

        Needs matplotlib.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> print(matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (DOWN{3}) DEFINE DOWN AS price < PREV(price)
        ... ''').coverage().svg())
        <?xml ...
        """
        return written(lambda: draw(self.clauses.values()), "svg").decode()


# What the workers have counted → what `coverage` says of a clause.


def summarise(counted: CountedCoverage) -> ClauseCoverage:
    endings = endings_by_occurrence(counted)
    names = counted.coverage_draft.draft.plan.variables
    variables = [names[variable] for variable in counted.coverage_draft.occurrences.variables]
    ended = [sum(one.count for one in group) for group in endings]
    tried = sum(ended) + counted.figures.matches
    came = [tried, *counted.counts.came.tolist()]
    false = (parts(counted, number) for number in range(len(came)))
    loops = [(), *loops_of(counted, came[1:], endings[1:])]
    columns = range(len(came)), [None, *variables], came, ended, endings, false, loops
    occurrences = tuple(OccurrenceCoverage(*row) for row in zip(*columns, strict=True))
    pattern = show(counted.coverage_draft.draft.plan.pattern)
    selects = counted.task.selects
    return ClauseCoverage(pattern, counted.figures, occurrences, counted.nearest, selects)


def loops_of(
    counted: CountedCoverage, reached: list[int], endings: Sequence[tuple[RunEnding, ...]]
) -> Iterator[tuple[LoopCoverage, ...]]:
    """Yield for each occurrence how many starting rows reached two, three, ... rows of its loop.

    A run that has left a loop has all the rows that the loop needs. A run that ended in it lacks as
    many of these as the pattern still needed in the loop.
    """
    plan, occurrences = counted.coverage_draft.draft.plan, counted.coverage_draft.occurrences
    if plan.staging is not None:  # occurrences are stages there, not variables of PATTERN
        yield from (() for _ in reached)
        return
    after = states_after(occurrences)[1:]
    for number, needed in enumerate(rows_of_loops(plan.pattern)):
        states = [
            state
            for state, taken in zip(after, occurrences.taken, strict=True)
            if taken == number and state is not None
        ]
        behind = min((occurrences.remaining[state] for state in states), default=UNREACHABLE)
        if needed < 2 or behind >= UNREACHABLE:
            yield ()
            continue
        yield tuple(loop_lines(needed, behind, reached[number], endings[number]))


def rows_of_loops(pattern: RowPattern, repeats: bool = False) -> Iterator[int]:
    """Yield for each variable, in order, how many rows the loop needs that is only about it, or 1.

    repeats: whether the variable may be reached several times or in several orders. Then what a run
    still needs does not tell how often it has been through the loop.

    >>> from matchrec.plan.pattern import concatenation
    >>> a, b = Variable("A"), Variable("B")
    >>> list(rows_of_loops(concatenation([Quantified(a, 5, None), b])))
    [5, 1]
    >>> list(rows_of_loops(Quantified(concatenation([Quantified(a, 5, 5), b]), 1, None)))
    [1, 1]
    """
    match pattern:
        case Variable():
            yield 1
        case Quantified(part=Variable()):
            yield 1 if repeats else pattern.least
        case _:
            inside = repeats or isinstance(pattern, Permutation)
            inside = inside or (isinstance(pattern, Quantified) and pattern.most != 1)
            for child in children(pattern):
                yield from rows_of_loops(child, inside)


def loop_lines(
    needed: int, behind: int, reached: int, endings: Sequence[RunEnding]
) -> Iterator[LoopCoverage]:
    """Yield what was reached in a loop that needs some rows.

    behind: how many rows the pattern needs after the loop.
    """
    numbers = numbers_up_to(needed)
    for number, following in zip(numbers, [*numbers[1:], None], strict=True):
        stopped = tuple(
            one
            for one in endings
            if number <= needed - max(0, one.remaining - behind) < (following or needed + 1)
        )
        yield LoopCoverage(number, reached, stopped)
        reached -= sum(one.count for one in stopped)


def numbers_up_to(needed: int) -> list[int]:
    """Return the numbers of rows that are listed for a loop: all of a few, or 1, 2, 5, 10, ...

    >>> numbers_up_to(4), numbers_up_to(60)
    ([1, 2, 3, 4], [1, 2, 5, 10, 20, 50, 60])
    """
    if needed <= MOST_NUMBERS:
        return list(range(1, needed + 1))
    steps = (factor * 10**power for power in range(len(str(needed))) for factor in (1, 2, 5))
    return [*(number for number in steps if number < needed), needed]


def endings_by_occurrence(counted: CountedCoverage) -> list[tuple[RunEnding, ...]]:
    """Why runs ended whose last row had taken each occurrence, the most frequent reason first."""
    occurrences = counted.coverage_draft.occurrences
    states = states_after(occurrences)
    places = [0, *(taken + 1 for taken in occurrences.taken)]  # 0 before any row
    found: list[Counter[RunEnding]] = [Counter() for _ in range(len(occurrences.variables) + 1)]
    for state, place, counts in zip(states, places, counted.counts.ended.tolist(), strict=True):
        for reason, count in zip(Reason, counts, strict=True):
            if state is not None and count:
                found[place][ending(counted.coverage_draft, state, reason)] += count
    return [tuple(replace(one, count=n) for one, n in group.most_common()) for group in found]


def states_after(occurrences: Occurrences) -> list[int | None]:
    """The state in which a run is before any choice, then after each of them."""
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    return [0, *(choice.target for choice in choices)]


def ending(asked: CoverageDraft, state: int, reason: Reason) -> RunEnding:
    occurrences, names = asked.occurrences, asked.draft.plan.variables
    nearer = (names[occurrences.variables[occurrences.taken[i]]] for i in occurrences.nearer[state])
    return RunEnding(reason, tuple(dict.fromkeys(nearer)), occurrences.remaining[state], 0)


def parts(counted: CountedCoverage, number: int) -> tuple[FalsePart, ...]:
    """The parts of conditions that were not true after an occurrence, the most frequent first."""
    counts = counted.counts.parts_false[number].tolist()
    pairs = zip(all_parts(counted.coverage_draft), counts, strict=True)
    found = [FalsePart(*part, count) for part, count in pairs if count and part is not None]
    return tuple(sorted(found, key=lambda part: -part.count))


def all_parts(asked: CoverageDraft) -> list[tuple[str, str] | None]:
    """The parts of all conditions: the variable, and the part as it was written; None of one that
    is all that is asked of its variable.
    """
    known = list[tuple[str, str]]()
    plan = asked.draft.plan
    conditions = {condition.variable: condition for condition in asked.draft.conditions}
    stages = {} if plan.staging is None else stages_by_test(plan.staging)
    for variable in plan.variables:
        show_part = partial(show_test, test=variable) if plan.staging else show_scalar
        name = stages.get(variable, variable)
        known += (
            (name, text) for text in show_condition_parts(conditions.get(variable), show_part)
        )
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
