"""Show how far the starting rows of a query get, and what stops them.

`summarise` turns what the workers have counted into the coverage of a clause. It is shown as a
funnel: as text, as a table and as a picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matchrec.arguments import check_arguments
from matchrec.automaton.facts import UNREACHABLE
from matchrec.automaton.occurrences import Occurrences
from matchrec.compile.coverage import (
    CountedCoverage,
    CoverageQuery,
    Figures,
    NearestStart,
    show_condition_parts,
)
from matchrec.errors.language import Surface, current_surface
from matchrec.errors.wording import show_count
from matchrec.explain.clause import join_clauses, join_sections
from matchrec.explain.formulas import show_stage_condition
from matchrec.explain.pictures.figures import (
    CHARACTER,
    INK,
    MATCHED,
    PATH,
    REACHED,
    PicturedText,
    make_figure,
    render,
)
from matchrec.explain.pictures.html import make_data_frame
from matchrec.plan.pattern import (
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_children,
    show_pattern,
)
from matchrec.plan.show import show_scalar
from matchrec.plan.stages import SingleStage, Staging, list_repeated_parts
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The coverage of a clause, in numbers.


class Reason(Enum):
    """Why a run came no nearer to a match, in the order of `search.kernels.nearest_runs`."""

    FALSE = "{}'s condition was false"
    NO_ROW = "the partition ended before {}"
    OUT_OF_WINDOW = "the window ended before {}"
    ANCHORED = "^ or $ did not hold"
    FORBIDDEN = "a forbidden row came before {}"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """Some runs that ended for the same reason."""

    reason: Reason
    awaited: tuple[str, ...]  # the variables that would have brought the runs nearer to a match
    remaining: int  # how many rows a match still needed, at least
    count: int  # the number of runs

    def __str__(self) -> str:
        if self.reason is Reason.FALSE and len(self.awaited) != 1:
            return f"the conditions of {', '.join(self.awaited)} were false"
        return self.reason.value.format(" or ".join(self.awaited) or "the end of the match")


@dataclass(frozen=True, slots=True)
class ConditionPart:
    """A part of a condition, such as one operand of its AND."""

    variable: str
    text: str  # as the user wrote it


@dataclass(frozen=True, slots=True)
class FalsePart:
    """A part of a condition that has several parts, and how often it was not true.

    Everything that depends on the run is one part. It counts if all other parts were true.
    """

    variable: str
    text: str
    count: int  # the number of runs


@dataclass(frozen=True, slots=True)
class LoopCoverage:
    """The starting rows that reached a number of rows in a loop, such as two rows of `A{5,}`."""

    # The number of rows.
    rows: int
    # How many starting rows reached this number.
    reached: int
    # What ended the runs that did not reach the next number of rows.
    stop_reasons: tuple[RunEnding, ...]


@dataclass(frozen=True, slots=True)
class OccurrenceCoverage:
    """The starting rows that reached an occurrence of a variable in PATTERN."""

    # Its index in PATTERN, from 1; 0 is the start, before any row.
    number: int
    # The name of the variable; None at the start.
    variable: str | None
    # How many starting rows have a row there: in their match, or in their nearest run.
    reached: int
    # How many of these began no match, and their nearest run had its last row there.
    stopped: int
    # What ended these runs, and the parts of conditions that were not true. In both, the most
    # frequent one comes first.
    stop_reasons: tuple[RunEnding, ...]
    false_parts: tuple[FalsePart, ...]
    # If the occurrence is a loop that needs several rows: how many starting rows reached one row of
    # it, two rows, and so on to the number that it needs, or only some of these numbers.
    loop: tuple[LoopCoverage, ...] = ()


@dataclass(frozen=True, slots=True)
class ClauseCoverage:
    """How far the starting rows of one clause came, from `Coverage.clauses`.

    Attributes:
        pattern: the row pattern as text.
        figures: the numbers of `rows`, `partitions` and `matches`, and others.
        occurrences: the start, before any row, then each variable in the order of PATTERN. Each has
            a `variable`, and the numbers of starting rows that `reached` it and `stopped` there.
        nearest: the starting row without a match that came nearest to a match; None if there is no
            such row.
        selects: whether rows may be skipped, or all matches are needed. Then `figures.matches`
            counts the rows that begin a match.
        asked_for_ranges: whether the options ask for ranges, which partitions are not cut into.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> clause = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL RISE) DEFINE FALL AS price < PREV(price), RISE AS price > 100
    ... ''').coverage().clauses[1]
    >>> [(place.variable, place.reached) for place in clause.occurrences]
    [(None, 4), ('FALL', 2), ('RISE', 0)]
    """

    pattern: str
    figures: Figures
    occurrences: tuple[OccurrenceCoverage, ...]
    nearest: NearestStart | None
    selects: bool = False
    asked_for_ranges: bool = False

    @property
    def tried(self) -> int:
        """Return the number of rows from which a match was sought.

        The other rows are inside of matches.
        """
        return self.occurrences[0].reached

    @property
    def without_match(self) -> int:
        """Return the number of starting rows that were tried and began no match."""
        return self.tried - self.figures.matches

    @property
    def summary(self) -> str:
        """Return in one line how many of the starting rows begin a match."""
        begin = f"{self.figures.matches:,} of {self.tried:,} starting rows begin a match"
        return f"{self.pattern}, {begin}"


# The funnel of a clause as text. It closes with what ended most starting rows.

BAR_LENGTH = 20
MANY_ROWS_HELD = 1_000_000  # by a worker at once
MOST_LISTED_ROWS = 6  # a loop that needs at most so many rows has a line for each of them


def show_funnel(clause: ClauseCoverage, surface: Surface) -> str:
    """Return the funnel of a clause as text.

    Args:
        clause: the coverage of the clause.
        surface: where the user called `coverage`, for the calls that the text suggests.
    """
    parts = (
        ("row pattern", [clause.pattern]),
        ("rows", list_counts(clause)),
        ("starting rows that reached each variable, and why others stopped", list_funnel(clause)),
        ("where and why most of them stopped", list_answer(clause, surface)),
    )
    return join_sections(parts)


def list_counts(clause: ClauseCoverage) -> Iterator[str]:
    """Yield the numbers of rows, partitions and matches, and what is unusual about them."""
    figures = clause.figures
    unmatched = figures.partitions - figures.matched_partitions
    rows = f"{show_count(figures.rows, 'row')} in {show_count(figures.partitions, 'partition')}"
    largest = f"the largest has {show_count(figures.largest_partition, 'row')}"
    yield f"{rows}, {unmatched:,} of them without a match; {largest}"
    if clause.selects:
        begin = "row begins" if figures.matches == 1 else "rows begin"
        yield f"{figures.matches:,} starting {begin} a match"
    elif figures.matches:
        matches = show_count(figures.matches, "match", "matches")
        covered = show_count(figures.covered, "row")
        longest = show_count(figures.longest_match, "row")
        yield f"{matches} with {covered} in all; the longest has {longest}"
    if figures.ties:
        ties = f"{show_count(figures.ties, 'tie')} in ORDER BY"
        advice = "add a column to ORDER BY that tells these rows apart"
        yield f"{ties}, so the result can differ from run to run: {advice}"
    if clause.asked_for_ranges:
        yield "partitions were not cut into ranges, because each row is a starting row"
    if figures.rows_held >= MANY_ROWS_HELD:
        advice = "limit it with WITHIN or with a quantifier such as {1,100}"
        held = f"a worker held {figures.rows_held:,} rows at once"
        yield f"{held}, because a search looked that far ahead: {advice}"


def list_funnel(clause: ClauseCoverage) -> Iterator[str]:
    """Yield the bars of the funnel, then the number of rows that were not tried."""
    if not clause.tried:
        return
    bars = list(build_bars(clause))
    name_width = max(len(bar.name) for bar in bars)
    count_width = len(f"{clause.tried:,}")
    for bar in bars:
        blocks = draw_blocks(bar.count, clause.tried)
        line = f"{bar.name:<{name_width}} {bar.count:>{count_width},} {blocks}"
        yield f"{line:<{name_width + count_width + BAR_LENGTH + 3}}{bar.reason}".rstrip()
    inside = clause.figures.rows - clause.tried
    if inside > 0:
        yield f"not tried, because they are inside matches: {show_count(inside, 'other row')}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of the funnel: some starting rows, and what ended those that came no further."""

    # What the starting rows reached, such as a variable.
    name: str
    # How many starting rows reached it.
    count: int
    # What ended those that came no further; empty if there are none.
    reason: str = ""


def build_bars(clause: ClauseCoverage) -> Iterator[Bar]:
    """Yield the lines of the funnel: one for each occurrence or number of rows, then the matches.

    The second row of a loop `A{5,}` is called `A{2}`.
    """
    for occurrence in clause.occurrences:
        name = occurrence.variable or "tried"
        if not occurrence.loop:
            yield Bar(name, occurrence.reached, describe_endings(occurrence.stop_reasons))
        for part in occurrence.loop:
            part_name = name if part.rows == 1 else f"{name}{{{part.rows}}}"
            yield Bar(part_name, part.reached, describe_endings(part.stop_reasons))
    yield Bar("matches", clause.figures.matches)


def draw_blocks(count: int, total: int) -> str:
    """Return a bar whose length shows the share of a count. It is empty only if the count is 0."""
    if count == 0:
        return ""
    return "█" * max(1, round(BAR_LENGTH * count / total))


def describe_endings(endings: Collection[RunEnding]) -> str:
    """Return how many runs ended, and the most frequent reason with its number."""
    if not endings:
        return ""
    reasons = count_reasons(endings)
    ((reason, times),) = reasons.most_common(1)
    stopped = f"{reasons.total():,} stopped"
    if len(reasons) > 1:
        return f"{stopped}; {times:,} because {reason}"
    return f"{stopped}: {reason}"


def count_reasons(endings: Collection[RunEnding]) -> Counter[str]:
    """Return how many runs ended for each reason, however many rows they still needed."""
    reasons = Counter[str]()
    for ending in endings:
        reasons[str(ending)] += ending.count
    return reasons


def list_answer(clause: ClauseCoverage, surface: Surface) -> Iterator[str]:
    """Yield the answer for a reader who misses matches: where most runs ended, and why."""
    if not clause.tried:
        yield "there are no rows"
        return
    if not clause.without_match:
        yield "none stopped: all of them begin a match"
        return
    ends = [occurrence for occurrence in clause.occurrences if occurrence.stopped]
    if clause.figures.matches:
        decisive = max(ends, key=lambda occurrence: occurrence.stopped)
        runs = f"{decisive.stopped:,} of the {clause.without_match:,} without a match"
    else:
        decisive = min(ends, key=rank_by_nearness)
        runs = f"no match: {decisive.stopped:,} of those that came closest"
    where = f"after {decisive.variable}" if decisive.variable else "before any row"
    yield f"{runs} stopped {where}"
    ((reason, count),) = count_reasons(decisive.stop_reasons).most_common(1)
    yield f"{reason}: {count:,}"
    for part in decisive.false_parts:
        yield f"  {part.variable}: {part.text} was not true: {part.count:,}"
    if clause.nearest is not None:
        yield from list_nearest(clause.nearest, surface)


def rank_by_nearness(occurrence: OccurrenceCoverage) -> tuple[int, int]:
    """Return a sort key: occurrences nearest to a match first, then those where most runs ended."""
    nearest = min(ending.remaining for ending in occurrence.stop_reasons)
    return nearest, -occurrence.stopped


def list_nearest(nearest: NearestStart, surface: Surface) -> Iterator[str]:
    """Yield which starting row came nearest to a match, and the call that explains it.

    Yield nothing if no row could have completed its run.
    """
    if nearest.remaining >= UNREACHABLE:
        return
    names = [show_equalities(nearest.order), show_equalities(nearest.partition)]
    row = ", in the partition ".join(name for name in names if name)
    yield f"closest to a match: the starting row {row}"
    yield f"  it needed at least {show_count(nearest.remaining, 'more row')}; this shows why:"
    yield f"  {surface.write_why(nearest.partition, tuple(nearest.order.values()))}"


def show_equalities(values: dict[str, str | None]) -> str:
    """Return the values of columns as text.

    >>> show_equalities({"k": "x", "l": None})
    'k = x, l = NULL'
    """
    return ", ".join(
        f"{name} = {'NULL' if value is None else value}" for name, value in values.items()
    )


# The funnel of a clause as a picture.

# The width of the longest bar in inches, and the size of text in points.
BAR_WIDTH, TEXT = 3.2, 9

# How many characters fit into a line of the title.
TITLE_WIDTH = 90


def draw(clauses: Collection[ClauseCoverage]) -> Figure:
    """Draw the funnels of clauses, one below the other."""
    funnels = [list(build_bars(clause)) for clause in clauses]
    titles = [make_title(clause) for clause in clauses]
    heights = [
        len(bars) + title.count("\n") + 1 for bars, title in zip(funnels, titles, strict=True)
    ]
    all_bars = [bar for bars in funnels for bar in bars]
    texts = [f"{bar.name}  {bar.count:,}  " for bar in all_bars]
    longest = max(map(len, texts), default=0) + max(
        (len(bar.reason) for bar in all_bars), default=0
    )
    figure = make_figure(BAR_WIDTH + CHARACTER * longest, 0.27 * sum(heights))
    panels = figure.subplots(len(heights) or 1, squeeze=False, height_ratios=heights or [1])
    for panel, clause, title in zip(panels.flat, clauses, titles, strict=False):
        draw_bars(panel, clause)
        panel.set_title(title, loc="left", color=INK, fontsize=TEXT + 1, fontweight="bold")
    return figure


def make_title(clause: ClauseCoverage) -> str:
    """Return the row pattern and what the bars are, in lines that fit above them."""
    return "\n".join(
        wrap(f"{clause.pattern}: starting rows that reached each variable", TITLE_WIDTH)
    )


def draw_bars(panel: Axes, clause: ClauseCoverage) -> None:
    """Draw a bar for each line of the funnel, as long as its share of the starting rows.

    The count is between the name and the bar. There are no tick marks, because a tick mark next to
    a count would look like a minus sign.
    """
    bars = list(build_bars(clause))
    most = max(1, clause.tried)
    colours = [*[REACHED] * (len(bars) - 1), MATCHED]
    panel.barh(range(len(bars)), [bar.count for bar in bars], color=colours)
    label: Any = {"textcoords": "offset points", "color": INK, "fontsize": TEXT}
    # Counts and reasons have the baseline of the names, which are the labels of ticks.
    label["va"] = "center_baseline"
    for y, bar in enumerate(bars):
        panel.annotate(f"{bar.count:,}", (0, y), (-5, 0), ha="right", **label)
        panel.annotate(bar.reason, (most, y), (5, 0), **label)
    panel.set(xlim=(0, most), xticks=[])
    panel.set_yticks(range(len(bars)), [bar.name for bar in bars], va="center_baseline")
    digits = len(f"{most:,}")
    panel.tick_params(axis="y", length=0, pad=12 + 6 * digits, labelcolor=INK, labelsize=TEXT)
    panel.invert_yaxis()
    panel.spines[:].set_visible(False)


# The result of `Query.coverage`: the funnels of a query's clauses.

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
class Coverage(PicturedText):
    """How far the starting rows of a query get through its pattern, from `Query.coverage`.

    It prints as text. A notebook shows it as a picture, after the cell has run.

    Attributes:
        clauses: the figures of each clause, by its number in the query, from 1.

    >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
    >>> covered = matchrec.query(ticks, '''
    ...     ORDER BY day MEASURES COUNT(*) AS days
    ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
    ... ''').coverage()
    >>> covered
    <Coverage: FALL{3}, 0 of 4 starting rows begin a match>
    """

    clauses: dict[int, ClauseCoverage]
    # Where the user called `coverage`: in Python, a notebook or a terminal. The text suggests calls
    # in the words of that place.
    _surface: Surface = field(default_factory=current_surface, compare=False)

    @property
    def text(self) -> str:
        """The text that `print` shows."""
        funnels = {
            number: show_funnel(clause, self._surface) for number, clause in self.clauses.items()
        }
        return replace_control_characters(join_clauses(funnels))

    def __repr__(self) -> str:
        return f"<Coverage: {'; '.join(clause.summary for clause in self.clauses.values())}>"

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with one row for each occurrence of a variable in PATTERN.

        Occurrence 0 is the place before any row. The other columns are:

        - `reached`: the number of starting rows that reached this occurrence;
        - `stopped`: how many of these got no further;
        - `stop_reason`: what stopped most of them;
        - `stopped_for_reason`: how many stopped for that reason.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> covered = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage()
        >>> covered.toPandas()[["occurrence", "variable", "reached", "stopped"]]
           occurrence variable  reached  stopped
        0           0     None        4        2
        1           1     FALL        2        2
        """
        rows = list[tuple[object, ...]]()
        for number, clause in self.clauses.items():
            for occurrence in clause.occurrences:
                reasons = count_reasons(occurrence.stop_reasons).most_common(1)
                reason, count = reasons[0] if reasons else (None, 0)
                rows.append(
                    (
                        number,
                        occurrence.number,
                        occurrence.variable,
                        occurrence.reached,
                        occurrence.stopped,
                        reason,
                        count,
                    )
                )
        return make_data_frame(COLUMNS, rows)

    def svg(self) -> str:
        """Return an SVG drawing with a funnel for each clause.

        Needs matplotlib.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> print(matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage().svg())
        <?xml ...
        """
        return render(self.figure, "svg").decode()

    @check_arguments(path=PATH)
    def save(self, path: str | Path) -> None:
        """Write the picture to a file. The ending of its name chooses PNG, SVG or PDF.

        Needs matplotlib.

        Raises:
            MatchRecognizeError: the name has another ending.

        >>> ticks = spark.sql("VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
        >>> coverage = matchrec.query(ticks, '''
        ...     ORDER BY day MEASURES COUNT(*) AS days
        ...     PATTERN (FALL{3}) DEFINE FALL AS price < PREV(price)
        ... ''').coverage()
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     coverage.save(f"{folder}/coverage.png")
        ...     os.listdir(folder)
        ['coverage.png']
        """
        super().save(path)

    def figure(self) -> Figure:
        """Return the picture as a figure of matplotlib."""
        return draw(self.clauses.values())


# From what the workers have counted to the coverage of a clause.


def summarise(counted_coverage: CountedCoverage) -> ClauseCoverage:
    """Return the coverage of a clause from what the workers have counted."""
    plan = counted_coverage.query.plan
    # In all of these lists, index 0 is the place before any row, as in `OccurrenceCoverage.number`.
    endings = find_endings(counted_coverage)
    stopped = [sum(ending.count for ending in group) for group in endings]
    tried = sum(stopped) + counted_coverage.figures.matches
    reached = [tried, *counted_coverage.counts.reached.tolist()]
    occurrences = counted_coverage.query.occurrences
    variables = [None, *(plan.variables[variable] for variable in occurrences.variables)]
    loops = [(), *find_loops(counted_coverage, reached[1:], endings[1:])]
    return ClauseCoverage(
        pattern=show_pattern(plan.pattern),
        figures=counted_coverage.figures,
        occurrences=tuple(
            OccurrenceCoverage(
                number=number,
                variable=variables[number],
                reached=reached[number],
                stopped=stopped[number],
                stop_reasons=endings[number],
                false_parts=find_false_parts(counted_coverage, number),
                loop=loops[number],
            )
            for number in range(len(reached))
        ),
        nearest=counted_coverage.nearest,
        selects=counted_coverage.task.needs_event_selection,
        asked_for_ranges=counted_coverage.asked_for_ranges,
    )


def find_loops(
    counted_coverage: CountedCoverage, reached: list[int], endings: Sequence[tuple[RunEnding, ...]]
) -> Iterator[tuple[LoopCoverage, ...]]:
    """Yield for each occurrence how many starting rows reached one, two, ... rows of its loop.

    Yield an empty tuple for an occurrence that is no loop of several rows.

    A run that has left a loop has all the rows that the loop needs. A run that ended in it lacks as
    many of these as the pattern still needed in the loop.

    Args:
        counted_coverage: what the workers have counted.
        reached: for each occurrence, how many starting rows reached it.
        endings: for each occurrence, what ended the runs that had their last row there.
    """
    plan = counted_coverage.query.plan
    occurrences = counted_coverage.query.occurrences
    if plan.staging is not None:  # occurrences are stages there, not variables of PATTERN
        yield from (() for _ in reached)
        return
    targets = find_states_after(occurrences)[1:]
    for number, needed in enumerate(find_loop_lengths(plan.pattern)):
        states = [
            state
            for state, occurrence in zip(targets, occurrences.occurrence_by_choice, strict=True)
            if occurrence == number and state is not None
        ]
        needed_after = min((occurrences.remaining[state] for state in states), default=UNREACHABLE)
        if needed < 2 or needed_after >= UNREACHABLE:
            yield ()
        else:
            yield tuple(count_loop_rows(needed, needed_after, reached[number], endings[number]))


def find_loop_lengths(pattern: RowPattern, *, repeats: bool = False) -> Iterator[int]:
    """Yield for each variable, in order, the number of rows that its loop needs, or 1.

    Only a quantifier of the variable itself counts as its loop.

    Args:
        pattern: a row pattern.
        repeats: whether the variable can be reached several times or in several orders. Then what
            a run still needs does not tell how often it has been through the loop.

    >>> from matchrec.plan.pattern import make_concatenation
    >>> a, b = Variable("A"), Variable("B")
    >>> list(find_loop_lengths(make_concatenation([Quantified(a, 5, None), b])))
    [5, 1]
    >>> list(find_loop_lengths(Quantified(make_concatenation([Quantified(a, 5, 5), b]), 1, None)))
    [1, 1]
    """
    match pattern:
        case Variable():
            yield 1
        case Quantified(part=Variable()):
            yield 1 if repeats else pattern.least
        case _:
            is_loop = isinstance(pattern, Quantified) and pattern.most != 1
            repeats = repeats or is_loop or isinstance(pattern, Permutation)
            for child in list_children(pattern):
                yield from find_loop_lengths(child, repeats=repeats)


def count_loop_rows(
    needed: int, needed_after: int, reached: int, endings: Sequence[RunEnding]
) -> Iterator[LoopCoverage]:
    """Yield how many starting rows reached each listed number of rows of a loop.

    Args:
        needed: how many rows the loop needs.
        needed_after: how many rows the pattern needs after the loop.
        reached: how many starting rows reached the loop.
        endings: what ended runs in the loop.
    """
    numbers = list_row_numbers(needed)
    for number, next_number in zip(numbers, [*numbers[1:], needed + 1], strict=True):
        stopped = tuple(
            ending
            for ending in endings
            if number <= needed - max(0, ending.remaining - needed_after) < next_number
        )
        yield LoopCoverage(number, reached, stopped)
        reached -= sum(ending.count for ending in stopped)


def list_row_numbers(needed: int) -> list[int]:
    """Return the numbers of rows that are listed for a loop: all of a few, or 1, 2, 5, 10, ...

    >>> list_row_numbers(4), list_row_numbers(60)
    ([1, 2, 3, 4], [1, 2, 5, 10, 20, 50, 60])
    """
    if needed <= MOST_LISTED_ROWS:
        return list(range(1, needed + 1))
    steps = (factor * 10**power for power in range(len(str(needed))) for factor in (1, 2, 5))
    return [*(number for number in steps if number < needed), needed]


def find_endings(counted_coverage: CountedCoverage) -> list[tuple[RunEnding, ...]]:
    """Return the reasons why runs ended, for each occurrence at which they had their last row.

    The first entry is for runs without a row. In each entry the most frequent reason comes first.
    """
    query = counted_coverage.query
    occurrences = query.occurrences
    states = find_states_after(occurrences)
    numbers = [0, *(occurrence + 1 for occurrence in occurrences.occurrence_by_choice)]
    counts: list[Counter[RunEnding]] = [Counter() for _ in range(len(occurrences.variables) + 1)]
    rows = counted_coverage.counts.end_counts.tolist()
    for state, number, reason_counts in zip(states, numbers, rows, strict=True):
        for reason, count in zip(Reason, reason_counts, strict=True):
            if state is not None and count:
                counts[number][build_ending(query, state, reason)] += count
    return [
        tuple(replace(ending, count=count) for ending, count in group.most_common())
        for group in counts
    ]


def find_states_after(occurrences: Occurrences) -> list[int | None]:
    """Return the state in which a run is before any choice, then after each choice."""
    choices = [choice for state in occurrences.pattern.folding.choices for choice in state]
    return [0, *(choice.target for choice in choices)]


def build_ending(query: CoverageQuery, state: int, reason: Reason) -> RunEnding:
    """Return the ending of runs that ended in a state for a reason, with a count of 0."""
    occurrences = query.occurrences
    names = query.plan.variables
    awaited = [
        names[occurrences.variables[occurrences.occurrence_by_choice[choice]]]
        for choice in occurrences.nearer_choices[state]
    ]
    return RunEnding(
        reason=reason,
        awaited=tuple(dict.fromkeys(awaited)),
        remaining=occurrences.remaining[state],
        count=0,
    )


def find_false_parts(counted_coverage: CountedCoverage, number: int) -> tuple[FalsePart, ...]:
    """Return the parts of conditions that were not true after an occurrence, by frequency.

    Args:
        counted_coverage: what the workers have counted.
        number: the number of the occurrence, see `OccurrenceCoverage`.
    """
    counts = counted_coverage.counts.false_parts[number].tolist()
    parts = list_condition_parts(counted_coverage.query)
    false_parts = [
        FalsePart(part.variable, part.text, count)
        for part, count in zip(parts, counts, strict=True)
        if count and part is not None
    ]
    return tuple(sorted(false_parts, key=lambda part: -part.count))


def list_condition_parts(query: CoverageQuery) -> list[ConditionPart | None]:
    """Return the parts of all conditions in the order in which they are counted.

    None takes the place of a part that is the whole condition of its variable: the reason of a run
    ending already names that condition.
    """
    plan = query.plan
    conditions = {condition.variable: condition for condition in query.conditions}
    stages = {} if plan.staging is None else find_stages_by_test(plan.staging)
    parts: list[ConditionPart] = []
    for variable in plan.variables:
        show_part = partial(show_stage_condition, test=variable) if plan.staging else show_scalar
        name = stages.get(variable, variable)
        texts = show_condition_parts(conditions.get(variable), show_part)
        parts += [ConditionPart(name, text) for text in texts]
    part_counts = Counter(part.variable for part in parts)
    return [part if part_counts[part.variable] > 1 else None for part in parts]


def find_stages_by_test(staging: Staging) -> dict[str, str]:
    """Return the name of the stage to which each test belongs, by the name of the test."""
    names = {}
    for part in list_repeated_parts(staging.steps):
        if isinstance(part.content, SingleStage):
            names[part.content.test] = part.content.name
            if part.until is not None and part.until.take is not None:
                names[part.until.take] = part.content.name
    return names
