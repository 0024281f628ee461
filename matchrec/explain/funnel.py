"""Show the coverage of a clause as a funnel, as text and as a picture.

    tried   5,000 ████████████████████ 4,000 stopped: A's condition was false
    A       1,000 ████                 990 stopped; 800 because B's condition was false
    B          10 █
    matches    10 █

A bar is as long as its share of the starting rows. The text closes with what ended most of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matchrec.automaton.facts import UNREACHABLE
from matchrec.compile.counted_coverage import NearestStart
from matchrec.errors.language import Surface
from matchrec.errors.wording import show_count
from matchrec.explain.clause_coverage import ClauseCoverage, OccurrenceCoverage, RunEnding
from matchrec.explain.layout import Section, join_sections
from matchrec.explain.pictures.figures import CHARACTER, INK, MATCHED, REACHED, make_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The funnel as text.

# The length of the longest bar, in characters.
BAR_LENGTH = 20
# From this number of rows on that a worker held at once, the text advises to limit them.
MANY_ROWS_HELD = 1_000_000


def show_funnel(clause: ClauseCoverage, surface: Surface) -> str:
    """Return the funnel of a clause as text.

    Args:
        clause: the coverage of the clause.
        surface: where the user called `coverage`, for the calls that the text suggests.
    """
    sections = (
        Section("row pattern", [clause.pattern]),
        Section("rows", list_counts(clause)),
        Section(
            "starting rows that reached each variable, and why others stopped", list_funnel(clause)
        ),
        Section("where and why most of them stopped", list_answer(clause, surface)),
    )
    return join_sections(sections)


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


def show_equalities(values: dict[str, str | int | None]) -> str:
    """Return the values of columns as text.

    >>> show_equalities({"k": "x", "l": None})
    'k = x, l = NULL'
    """
    return ", ".join(
        f"{name} = {'NULL' if value is None else value}" for name, value in values.items()
    )


# The funnel of a clause as a picture.

# The width of the longest bar, and the height of a line, in inches.
BAR_WIDTH = 3.2
LINE_HEIGHT = 0.27

# The size of text in points.
TEXT_SIZE = 9

# How many characters fit into a line of the title.
TITLE_WIDTH = 90


@dataclass(frozen=True, slots=True)
class FunnelPanel:
    """What the picture shows of one clause: a title and the bars below it."""

    # The row pattern and what the bars are, in lines that fit above the bars.
    title_lines: tuple[str, ...]
    bars: tuple[Bar, ...]
    # The number of starting rows, which a bar of full length stands for.
    tried: int

    @classmethod
    def create(cls, clause: ClauseCoverage) -> FunnelPanel:
        """Return the panel of a clause."""
        title = f"{clause.pattern}: starting rows that reached each variable"
        return cls(tuple(wrap(title, TITLE_WIDTH)), tuple(build_bars(clause)), clause.tried)

    @property
    def height(self) -> int:
        """Return the number of lines of text that the panel needs."""
        return max(1, len(self.title_lines)) + len(self.bars)


def draw(clauses: Collection[ClauseCoverage]) -> Figure:
    """Draw the funnels of clauses, one below the other."""
    panels = [FunnelPanel.create(clause) for clause in clauses]
    heights = [panel.height for panel in panels]
    width = BAR_WIDTH + CHARACTER * count_characters_beside_bars(panels)
    figure = make_figure(width, LINE_HEIGHT * sum(heights))
    # A figure needs at least one area, even if there is no clause.
    areas = figure.subplots(len(panels) or 1, squeeze=False, height_ratios=heights or [1])
    for axes, panel in zip(areas.flat, panels, strict=False):
        draw_bars(axes, panel)
        title = "\n".join(panel.title_lines)
        axes.set_title(title, loc="left", color=INK, fontsize=TEXT_SIZE + 1, fontweight="bold")
    return figure


def count_characters_beside_bars(panels: Sequence[FunnelPanel]) -> int:
    """Return how many characters the longest texts on both sides of the bars have together.

    The name and the count are on the left of a bar, the reason is on its right.
    """
    bars = [bar for panel in panels for bar in panel.bars]
    longest_left = max((len(f"{bar.name}  {bar.count:,}  ") for bar in bars), default=0)
    longest_right = max((len(bar.reason) for bar in bars), default=0)
    return longest_left + longest_right


def draw_bars(axes: Axes, panel: FunnelPanel) -> None:
    """Draw a bar for each line of the funnel, as long as its share of the starting rows.

    The count is between the name and the bar. There are no tick marks, because a tick mark next to
    a count would look like a minus sign.
    """
    bars = panel.bars
    most = max(1, panel.tried)
    colours = [*[REACHED] * (len(bars) - 1), MATCHED]
    axes.barh(range(len(bars)), [bar.count for bar in bars], color=colours)
    label: Any = {"textcoords": "offset points", "color": INK, "fontsize": TEXT_SIZE}
    # Counts and reasons have the baseline of the names, which are the labels of ticks.
    label["va"] = "center_baseline"
    for y, bar in enumerate(bars):
        axes.annotate(f"{bar.count:,}", (0, y), (-5, 0), ha="right", **label)
        axes.annotate(bar.reason, (most, y), (5, 0), **label)
    axes.set(xlim=(0, most), xticks=[])
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], va="center_baseline")
    digits = len(f"{most:,}")
    axes.tick_params(axis="y", length=0, pad=12 + 6 * digits, labelcolor=INK, labelsize=TEXT_SIZE)
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
