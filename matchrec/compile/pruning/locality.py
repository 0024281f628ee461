"""How far from the rows of a match a plan looks: one table, and what each shortcut is proven for.

    MATCH_NUMBER()      depends on earlier matches of the partition
    PREV(A.x)           reads rows beside a match
    NOT N A B           looks for rows before a match

Every field of a plan and every kind of reference has an entry, and every operator of a row pattern,
choice of a clause and function of the match says so itself, so that a new one that does not fails
where it is first looked up, and in a test before. A shortcut that leaves rows out,
or searches a partition in parts, asks `why_not`: what it is not proven for runs without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from matchrec.automaton.closure import FollowSets
from matchrec.plan import clauses, expression, pattern
from matchrec.plan.choices import Beyond
from matchrec.plan.match_plan import MatchPlan

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging


@dataclass(frozen=True, slots=True)
class Seen:
    """A part of a plan, as one would write it, and what it looks at."""

    part: str
    look: Beyond

    def __str__(self) -> str:
        return f"{self.part} {self.look.value}"


Looks = tuple[Beyond, ...]

# By the name of their class: few plans have stages, so no other loads them.
STEPS: Mapping[str, Looks] = {"RepeatedPart": (), "ForbiddenEvent": (Beyond.LATER,)}


@dataclass(frozen=True, slots=True)
class Where:
    """Where references stand. plan: whose. follow: its variables at the ends of matches and beside
    each other. variable: of DEFINE, None in a measure.
    """

    plan: MatchPlan
    follow: FollowSets
    variable: str | None = None

    def beside(self, navigation: expression.Navigation) -> Looks:
        """What a row is that a navigation finds.

        The row before the current one lies in a match unless that may be its first row, the row
        after it unless that may be its last. Of rows that must be absent nothing is known.
        """
        offset = navigation.physical_offset
        if offset == 0:
            return ()
        mapped = self.plan.members[None]
        ends = {-1: self.follow.first, 1: self.follow.last}
        own = None if self.variable is None else self.plan.ids.get(self.variable)
        is_current = own in self.plan.members[navigation.variable] and navigation.is_last
        is_inside = own in mapped - ends.get(offset, mapped)
        return (Beyond.BETWEEN,) if is_current and is_inside else (Beyond.BESIDE,)


def of_column(reference: expression.ColumnReference, where: Where) -> Iterable[Seen]:
    name = "PREV" if reference.navigation.physical_offset < 0 else "NEXT"
    return named(name, where.beside(reference.navigation))


def of_aggregate(reference: expression.Aggregate, where: Where) -> Iterator[Seen]:
    """Rows of the match, or those of a frame around the current one."""
    if reference.frame is not None:
        yield Seen(f"{reference.function} over a frame", Beyond.BESIDE)
    for one in expression.inner_references(reference):
        yield from REFERENCES[type(one)](one, where)


Reading = Callable[[Any, Where], Iterable[Seen]]

REFERENCES: Mapping[type, Reading] = {
    expression.ColumnReference: of_column,
    expression.Aggregate: of_aggregate,
    expression.Classifier: lambda one, where: named("CLASSIFIER()", where.beside(one.navigation)),
    expression.MatchValue: lambda one, _: named(f"{one.function.words}()", one.function.beyond),
}


def named(part: str, looks: Looks) -> Iterable[Seen]:
    return map(partial(Seen, part), looks)


def of_scalars(scalars: Iterable[expression.Scalar], where: Where) -> Iterator[Seen]:
    for reference in (one for scalar in scalars for one in scalar.references):
        yield from REFERENCES[type(reference)](reference, where)


# What each field of a plan looks at.


def of_pattern(row_pattern: pattern.RowPattern, where: Where) -> Iterator[Seen]:
    for node in pattern.walk(row_pattern):
        yield from named(*node.operator)
    if where.follow.matches_empty:
        yield Seen("PATTERN", Beyond.EMPTY)


def of_definitions(definitions: tuple[clauses.Definition, ...], where: Where) -> Iterator[Seen]:
    for definition in definitions:
        within = replace(where, variable=definition.variable)
        yield from of_scalars((definition.condition,), within)


def of_option(option: clauses.Option, _: Where) -> Iterable[Seen]:
    return named(option.words, option.beyond)


def of_gaps(_: object, where: Where) -> Iterator[Seen]:
    if where.plan.row_gap is not None:
        yield Seen("WITHIN ... BETWEEN ROWS", Beyond.BETWEEN)


def of_absences(absences: tuple[clauses.Absence, ...], _: Where) -> Iterator[Seen]:
    for absence in absences:
        look = Beyond.ABSENT_BETWEEN
        look = Beyond.ABSENT_BEFORE if absence.after is None else look
        look = Beyond.ABSENT_AFTER if absence.before is None else look
        yield Seen(f"NOT {absence.variable}", look)


def of_staging(staging: Staging, _: Where) -> Iterator[Seen]:
    from matchrec.plan import stages

    for step in stages.all_steps(staging.steps):
        yield from named("a NOT between stages", STEPS[type(step).__name__])
    if staging.skip is not None:
        yield Seen("a skip strategy", Beyond.OVERLAP)
    if staging.timeouts is not None:
        look = Beyond.TIMED_OUT if staging.skip is None else Beyond.LIVE
        yield Seen("a side output of timeouts", look)


# By the name of each field of `MatchPlan` what reads it, where it says anything; None of a field
# that says only which rows those of a match are, or what they are called.
FIELDS: Mapping[str, Reading | None] = {
    "pattern": of_pattern,
    "partition_by": None,
    "order_by": None,
    "measures": lambda given, where: of_scalars((one.value for one in given), where),
    "rows_per_match": of_option,
    "partial": of_option,
    "columns": None,
    "after_match": of_option,
    "within": None,
    "within_rows": lambda *_: named("WITHIN ... ROWS", (Beyond.DISTANCE,)),
    "gaps": of_gaps,
    "equal": None,
    "subsets": None,
    "definitions": of_definitions,
    "selection": of_option,
    "output": of_option,
    "first_matches": of_option,
    "absences": of_absences,
    "closing": None,
    "staging": of_staging,
    "frame_length": None,  # a condition of each variable keeps to it
    "totals": lambda one, _: named("an aggregate over all matches", one.grouped.beyond),
}


def looks_of(plan: MatchPlan, follow: FollowSets) -> Iterator[Seen]:
    """All that a plan looks at beside the values of matched rows. follow: of its pattern.

    >>> from matchrec.syntax.locate import parse
    >>> from matchrec.syntax.lower import lower
    >>> from matchrec.automaton.compile import compile_pattern
    >>> (site,) = parse("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(x) AS x"
    ...     " AFTER MATCH SKIP TO NEXT ROW PATTERN (^ A B) DEFINE B AS x > PREV(x))").sites
    >>> plan = lower(site.clause)
    >>> for one in looks_of(plan, compile_pattern(plan).follow):
    ...     print(one)
    ^ asks where the partition begins or ends
    PREV reads rows beside those of a match, between its first and its last row
    """
    where = Where(plan, follow)
    for field, find in FIELDS.items():
        value = getattr(plan, field)
        if find is not None and value not in (None, ()):
            yield from find(value, where)


# What each shortcut is proven for: it is taken where a plan looks at nothing else.


class Shortcut(Enum):
    """What leaves rows out or searches a partition in parts: see `shortcuts.Shortcuts`."""

    RANGES = "ranges"  # all rows from where a match may begin to the end of its window are in one
    PARTITIONS = "partitions"  # one without a row that every match needs has none of the others
    ROWS = "rows"  # those stay that satisfy any condition, that of an absence among them
    PIECES = "pieces"  # rows before the first undecided start go that nothing beside it looks at
    TOTALS = "totals"  # runs carry what is added up, and each match is told by its rows


RANGES, PARTITIONS, ROWS, PIECES, TOTALS = Shortcut

# The shortcuts that are proven where a plan looks at something, of each thing it may look at.
PROVEN_FOR: Mapping[Beyond, tuple[Shortcut, ...]] = {
    Beyond.BETWEEN: (RANGES, PARTITIONS, PIECES, TOTALS),
    Beyond.BESIDE: (PARTITIONS, PIECES, TOTALS),
    Beyond.DISTANCE: (RANGES, PARTITIONS, PIECES, TOTALS),
    Beyond.PLACES: (PARTITIONS,),
    Beyond.ABSENT_BEFORE: (PARTITIONS, ROWS, TOTALS),
    Beyond.ABSENT_BETWEEN: (RANGES, PARTITIONS, ROWS, TOTALS),
    Beyond.ABSENT_AFTER: (RANGES, PARTITIONS, ROWS, TOTALS),
    Beyond.LATER: (PARTITIONS, ROWS, TOTALS),
    Beyond.EMPTY: (RANGES, PIECES, TOTALS),
    Beyond.EDGES: (PARTITIONS, PIECES, TOTALS),
    Beyond.OVERLAP: (RANGES, PARTITIONS, ROWS, PIECES, TOTALS),
    Beyond.EARLIER: (PARTITIONS, ROWS, PIECES),
    Beyond.UNMATCHED: (PIECES,),
    Beyond.LIVE: (),
    Beyond.TIMED_OUT: (ROWS,),
}


def why_not(shortcut: Shortcut, plan: MatchPlan, follow: FollowSets) -> str | None:
    """What a shortcut is not proven for, in words; None where it may be taken."""
    looks = looks_of(plan, follow)
    return next((str(one) for one in looks if shortcut not in PROVEN_FOR[one.look]), None)


def show_table() -> str:
    """The looks, and which shortcuts are proven for each: a table of the documentation."""
    names = [shortcut.value for shortcut in Shortcut]
    lines = [f"| what a part of a query says | {' | '.join(names)} |"]
    lines.append("|---|" + ":-:|" * len(names))
    for look in Beyond:
        marks = (" yes " if shortcut in PROVEN_FOR[look] else " " for shortcut in Shortcut)
        lines.append(f"| {look.value} |{'|'.join(marks)}|")
    return "\n".join(lines)
