"""Show the coverage of a clause as a funnel, in text.

    tried   5,000 ████████████████████ 4,000 stopped: A's condition was not true
    A       1,000 ████                 990 stopped: B's condition was not true
    B          10 █
    matches    10 █

In each line, the starting rows that stopped and those that reached the next line add up to the
number of the line. The length of a bar is the share of the starting rows. Below the funnel, the
text says where most of the starting rows stopped, and why. `funnel_picture` draws the same bars.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from matchrec.automaton.facts import UNREACHABLE
from matchrec.compile.counted_coverage import NearestStart
from matchrec.errors.surface import Surface
from matchrec.errors.wording import show_count
from matchrec.explain.clause_coverage import (
    ClauseCoverage,
    LoopCoverage,
    OccurrenceCoverage,
    RunEnding,
)
from matchrec.explain.layout import ExplainedSection, join_sections

# The length of the longest bar, in characters.
BAR_LENGTH = 20

# If a worker held at least this number of rows at once, the text advises to limit matches.
MANY_ROWS_HELD = 1_000_000


def show_funnel(clause: ClauseCoverage, surface: Surface) -> str:
    """Return the funnel of a clause as text.

    Args:
        clause: the coverage of the clause.
        surface: the surface on which the user called `coverage`, in whose words the text suggests
            calls.
    """
    sections = (
        ExplainedSection("row pattern", [clause.pattern]),
        ExplainedSection("rows", describe_counts(clause)),
        ExplainedSection(
            "starting rows that reached each variable, and why others stopped",
            describe_funnel(clause),
        ),
        ExplainedSection("where and why most of them stopped", describe_main_stop(clause, surface)),
    )
    return join_sections(sections)


def describe_counts(clause: ClauseCoverage) -> Iterator[str]:
    """Yield the numbers of rows, partitions and matches, and what is unusual about them."""
    figures = clause.figures
    unmatched = figures.partitions - figures.matched_partitions
    rows = f"{show_count(figures.rows, 'row')} in {show_count(figures.partitions, 'partition')}"
    largest = f"the largest has {show_count(figures.largest_partition, 'row')}"
    yield f"{rows}; {show_count(unmatched, 'partition')} without a match; {largest}"
    if clause.tries_every_row:
        begin = "row begins" if figures.matches == 1 else "rows begin"
        yield f"{figures.matches:,} starting {begin} a match"
    elif figures.matches:
        matches = show_count(figures.matches, "match", "matches")
        covered = show_count(figures.rows_in_matches, "row")
        longest = show_count(figures.longest_match, "row")
        yield f"{matches} with {covered} in all; the longest has {longest}"
    if clause.ignored_option is not None:
        yield f"all matches are counted: {clause.ignored_option} is ignored"
    if figures.ties:
        ties = f"{show_count(figures.ties, 'tie')} in ORDER BY"
        advice = "add a column to ORDER BY that tells these rows apart"
        yield f"{ties}, so the result can differ from run to run: {advice}"
    if clause.ranges_requested:
        yield "partitions were not cut into ranges, because each row is a starting row"
    if figures.rows_held >= MANY_ROWS_HELD:
        advice = "limit it with WITHIN or with a quantifier such as {1,100}"
        held = f"a worker held {figures.rows_held:,} rows at once"
        yield f"{held}, because a search looked that far ahead: {advice}"


def describe_funnel(clause: ClauseCoverage) -> Iterator[str]:
    """Yield the bars of the funnel, then the number of rows that were not tried.

    Yield nothing if there are no starting rows.
    """
    if not clause.tried:
        return
    bars = list(build_bars(clause))
    name_width = max(len(bar.name) for bar in bars)
    count_width = len(f"{clause.tried:,}")
    for bar in bars:
        blocks = draw_blocks(bar.count, clause.tried)
        line = f"{bar.name:<{name_width}} {bar.count:>{count_width},} {blocks}"
        yield f"{line:<{name_width + count_width + BAR_LENGTH + 3}}{bar.reason}".rstrip()
    rows_inside_matches = clause.figures.rows - clause.tried
    if rows_inside_matches > 0:
        rows = show_count(rows_inside_matches, "other row")
        yield f"not tried, because they are inside matches: {rows}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of the funnel: how many starting rows came so far, and why some came no further."""

    # What the starting rows reached: a variable, a number of its rows such as `A{2}`, or a match.
    name: str
    # The number of starting rows that reached it.
    count: int
    # Texts about the starting rows that came no further: their number with the main reason, then
    # the other reasons. Empty if all of them came further.
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """All reasons in one line."""
        return ", ".join(self.reasons)


def build_bars(clause: ClauseCoverage) -> Iterator[Bar]:
    """Yield the lines of the funnel: one for each occurrence or number of rows, then the matches.

    The second row of a loop `A{5,}` is called `A{2}`.
    """
    for occurrence in clause.occurrences:
        name = occurrence.variable or "tried"
        for part in list_shown_rows(occurrence):
            part_name = name if part.rows <= 1 else f"{name}{{{part.rows}}}"
            yield Bar(part_name, part.reached, describe_endings(part.stop_reasons))
    yield Bar("matches", clause.figures.matches)


def list_shown_rows(occurrence: OccurrenceCoverage) -> tuple[LoopCoverage, ...]:
    """Return the coverage of each number of rows to show for an occurrence.

    For a loop, these are the numbers that it lists. For another occurrence, the only number is 1,
    and for the start 0.
    """
    rows = 0 if occurrence.variable is None else 1
    return occurrence.loop or (LoopCoverage(rows, occurrence.reached, occurrence.stop_reasons),)


def draw_blocks(count: int, total: int) -> str:
    """Return a bar whose length is the share of a count. The bar is empty only for a count of 0."""
    if count == 0:
        return ""
    return "█" * max(1, round(BAR_LENGTH * count / total))


def describe_endings(endings: Collection[RunEnding]) -> tuple[str, ...]:
    """Return how many runs ended, and why, the most frequent reason first; empty if none ended.

    The numbers of the reasons add up to the first number, as in
    `990 stopped: 800 because B's condition was not true` and `190 for 3 other reasons`.
    """
    if not endings:
        return ()
    reasons = count_reasons(endings)
    stopped = f"{reasons.total():,} stopped"
    if len(reasons) == 1:
        return (f"{stopped}: {next(iter(reasons))}",)
    listed = reasons.most_common(2 if len(reasons) == 2 else 1)
    texts = [f"{times:,} because {reason}" for reason, times in listed]
    others = reasons.total() - sum(times for _, times in listed)
    if others:
        texts.append(f"{others:,} for {len(reasons) - len(listed)} other reasons")
    return (f"{stopped}: {texts[0]}", *texts[1:])


def count_reasons(endings: Collection[RunEnding]) -> Counter[str]:
    """Return how many runs ended for each reason, however many rows they still needed."""
    reasons = Counter[str]()
    for ending in endings:
        reasons[str(ending)] += ending.count
    return reasons


def describe_main_stop(clause: ClauseCoverage, surface: Surface) -> Iterator[str]:
    """Yield lines for a reader who misses matches: where most starting rows stopped, and why.

    If the clause has no match at all, the lines are about the rows that came closest to a match.
    """
    if not clause.tried:
        yield "there are no rows"
        return
    if not clause.without_match:
        yield "none stopped: all of them begin a match"
        return
    ends = [occurrence for occurrence in clause.occurrences if occurrence.stopped]
    if clause.figures.matches:
        main_stop = max(ends, key=lambda occurrence: occurrence.stopped)
        without_match = show_count(clause.without_match, "starting row")
        runs = f"{main_stop.stopped:,} of {without_match} without a match"
        if clause.without_match == 1:
            runs = "the only starting row without a match"
    else:
        main_stop = min(ends, key=rank_by_closeness)
        runs = f"no match; {main_stop.stopped:,} of {clause.tried:,} starting rows came closest and"
    where = f"after {main_stop.variable}" if main_stop.variable else "before any row"
    yield f"{runs} stopped {where}"
    for reason, count in count_reasons(main_stop.stop_reasons).most_common():
        yield f"{reason}: {count:,}"
    for part in main_stop.false_parts:
        yield f"  {part.variable}: {part.text} was not true: {part.count:,}"
    if clause.nearest is not None:
        yield from describe_closest_start(clause.nearest, surface)


def rank_by_closeness(occurrence: OccurrenceCoverage) -> tuple[int, int]:
    """Return a sort key: occurrences closest to a match first, then those where most runs ended."""
    fewest_remaining = min(ending.remaining for ending in occurrence.stop_reasons)
    return fewest_remaining, -occurrence.stopped


def describe_closest_start(nearest: NearestStart, surface: Surface) -> Iterator[str]:
    """Yield which starting row came closest to a match, and the call that explains it.

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
