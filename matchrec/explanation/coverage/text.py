"""The funnel of a clause as text, which ends with what ended most starting rows."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.compile.counted import NearestStart
from matchrec.explanation.coverage.figures import ClauseCoverage, OccurrenceCoverage
from matchrec.nfa.facts import UNREACHABLE

BAR = 20
LARGE = 1_000_000  # rows that a worker held at once


def show(clause: ClauseCoverage) -> str:
    """All that is said of a clause."""
    parts = (
        ("row pattern", [clause.pattern]),
        ("rows", list(row_lines(clause))),
        ("starting rows: how many came so far, and ended there", list(funnel_lines(clause))),
        ("what ended most of them", list(answer_lines(clause))),
    )
    return "\n".join(
        f"{title}\n" + "\n".join(f"  {line}" for line in lines) for title, lines in parts if lines
    )


def row_lines(clause: ClauseCoverage) -> Iterator[str]:
    """Rows, partitions and matches, and what is strange about them."""
    found = clause.figures
    alone = found.partitions - found.matched_partitions
    yield (
        f"{found.rows:,} in {counted(found.partitions, 'partition')}, {alone:,} of them without a"
        f" match; the largest has {found.largest:,}"
    )
    if clause.selects:
        begin = "row begins" if found.matches == 1 else "rows begin"
        yield f"{found.matches:,} starting {begin} a match"
    elif found.matches:
        yield (
            f"{counted(found.matches, 'match', 'matches')} over {counted(found.covered, 'row')};"
            f" the longest has {found.longest:,}"
        )
    if found.ties:
        yield (
            f"{counted(found.ties, 'tie')} in ORDER BY, so the result may differ each time: add a"
            " column that tells these rows apart"
        )
    if found.held >= LARGE:
        yield (
            f"{found.held:,} were held by a worker at once, as a search looked that far: bound it"
            " by WITHIN or by a quantifier such as {1,100}"
        )


def funnel_lines(clause: ClauseCoverage) -> Iterator[str]:
    """A line for each occurrence, with bars, then the matches."""
    if not clause.tried:
        return
    names = [one.variable or "tried" for one in clause.occurrences]
    width, digits = max(map(len, [*names, "matches"])), len(f"{clause.tried:,}")
    for name, one in zip(names, clause.occurrences, strict=True):
        line = f"{name:<{width}} {one.came:>{digits},} {bar(one.came, clause.tried)}"
        yield f"{line:<{width + digits + BAR + 3}}{why(one)}".rstrip()
    matches = clause.figures.matches
    yield f"{'matches':<{width}} {matches:>{digits},} {bar(matches, clause.tried)}".rstrip()
    inside = clause.figures.rows - clause.tried
    if inside > 0:
        yield f"{inside:,} other rows were not tried: they are inside of matches"


def bar(part: int, whole: int) -> str:
    """A bar whose length is a share; never empty for something."""
    return "█" * (max(1, round(BAR * part / whole)) if part else 0)


def why(one: OccurrenceCoverage) -> str:
    """How many ended at an occurrence, and what ended most of them."""
    if not one.ended:
        return ""
    most = one.endings[0]
    if len(one.endings) == 1:
        return f"{one.ended:,} ended: {most}"
    return f"{one.ended:,} ended: {most} ({most.count:,})"


def answer_lines(clause: ClauseCoverage) -> Iterator[str]:
    """What a reader who misses rows wants to know."""
    if not clause.tried:
        yield "there are no rows"
        return
    if not clause.without_match:
        yield "nothing: every one of them begins a match"
        return
    decisive = decisive_occurrence(clause)
    most = decisive.endings[0]
    where = f"after {decisive.variable}" if decisive.variable else "before any row"
    if not clause.figures.matches:
        yield f"no match: of those that came nearest to one, {decisive.ended:,} ended {where}"
    else:
        yield f"{decisive.ended:,} of {clause.without_match:,} without a match ended {where}"
    yield f"{most}: {most.count:,}"
    yield from part_lines(decisive)
    if clause.nearest is not None:
        yield from nearest_lines(clause.nearest, clause.question)


def decisive_occurrence(clause: ClauseCoverage) -> OccurrenceCoverage:
    """Without any match, where the runs ended that came nearest to one; else where most ended."""
    ended = [one for one in clause.occurrences if one.ended]
    if clause.figures.matches:
        return max(ended, key=lambda one: one.ended)
    return min(ended, key=lambda one: (min(e.remaining for e in one.endings), -one.ended))


def part_lines(one: OccurrenceCoverage) -> Iterator[str]:
    """Which parts of conditions that have several were not true."""
    for part in one.false_parts:
        yield f"  {part.variable}: {part.text} was not true: {part.count:,}"


def nearest_lines(nearest: NearestStart, asked: str) -> Iterator[str]:
    """The starting row at which to look."""
    if nearest.remaining >= UNREACHABLE:
        return
    yield f"nearest to a match: the starting row {named(nearest)}"
    yield f"  it needed {counted(nearest.remaining, 'more row')} at least"
    yield f"  {question(nearest, asked)} says why"


def question(nearest: NearestStart, asked: str) -> str:
    """The call of `why` that tells of a starting row. asked: the call without the row."""
    partition = f", partition={nearest.partition}" if nearest.partition else ""
    values = tuple(nearest.order.values())
    row = f", row={(values[0] if len(values) == 1 else values)!r}" if values else ""
    return f"{asked}{partition}{row})"


def named(nearest: NearestStart) -> str:
    """A row by its order and its partition."""
    return " of ".join(filter(None, map(equalities, (nearest.order, nearest.partition))))


def equalities(values: dict[str, str | None]) -> str:
    """Columns and their values."""
    return ", ".join(
        f"{name} = {'NULL' if value is None else value}" for name, value in values.items()
    )


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number of things."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
