"""Find out how far from the rows of a match a plan looks, and which shortcuts that rules out.

    MATCH_NUMBER()      depends on earlier matches of the partition
    PREV(A.x)           reads rows before or after a match
    NOT N A B           forbids rows before a match

A shortcut leaves rows out, or searches a partition in parts. Before it is taken, `find_obstacle`
says whether it is proven for everything that the plan looks at. If not, the query runs without it.

Shortcuts fail closed. Each field of a plan and each kind of reference has an entry in a table of
this module. Operators of row patterns, options of a clause and functions of the match have a field
that says what they look at. So a new one without an entry fails when it is first looked up, and in
a test before that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from matchrec.automaton.facts import FollowSets
from matchrec.plan import clauses, expression, pattern
from matchrec.plan.choices import Dependency
from matchrec.plan.match_plan import MatchPlan

if TYPE_CHECKING:
    from matchrec.plan.stages import Staging
    from matchrec.plan.totals import Totals


@dataclass(frozen=True, slots=True)
class OutsideLook:
    """A part of a plan that looks at more than the values of matched rows."""

    # The part as the user would write it.
    part: str
    look: Dependency

    def __str__(self) -> str:
        """Return the sentence that `explain` prints: `PREV reads rows before or after a match`."""
        return f"{self.part} {self.look.value}"


Looks = tuple[Dependency, ...]

# What each kind of stage looks at, by the name of its class: few plans have stages, so others do
# not load their module.
LOOKS_OF_STEPS: Mapping[str, Looks] = {"RepeatedPart": (), "ForbiddenEvent": (Dependency.LATER,)}


@dataclass(frozen=True, slots=True)
class ReferenceContext:
    """Where in a plan references are written."""

    plan: MatchPlan
    # The variables at the ends of matches of the plan, and those that follow each other.
    follow: FollowSets
    # The variable whose condition has the references; None for a measure.
    variable: str | None = None

    def find_looks(self, navigation: expression.Navigation) -> Looks:
        """Return whether the row that a navigation finds can be a row beside the match.

        The row before the current one is between the rows of the match, unless the current row may
        be the first one. The row after it is, unless the current row may be the last one. Nothing
        is known about the current row if it must be absent from the match.
        """
        offset = navigation.physical_offset
        if offset == 0:
            return ()
        mapped_variables = self.plan.members[None]
        variables_at_end = {-1: self.follow.first, 1: self.follow.last}
        variable_id = None if self.variable is None else self.plan.ids.get(self.variable)
        starts_at_current_row = (
            variable_id in self.plan.members[navigation.variable] and navigation.is_last
        )
        # A row at a distance of more than one can be beside the match, whatever the variable is.
        inner_variables = mapped_variables - variables_at_end.get(offset, mapped_variables)
        if starts_at_current_row and variable_id in inner_variables:
            return (Dependency.BETWEEN,)
        return (Dependency.BESIDE,)


# What each kind of reference looks at.


def list_looks(part: str, looks: Looks) -> list[OutsideLook]:
    """Return everything that one part of a plan looks at."""
    return [OutsideLook(part, look) for look in looks]


def look_at_column(
    reference: expression.ColumnReference, context: ReferenceContext
) -> list[OutsideLook]:
    """Return what `PREV(x)` or `NEXT(x)` looks at; nothing for a column of a matched row."""
    name = "PREV" if reference.navigation.physical_offset < 0 else "NEXT"
    return list_looks(name, context.find_looks(reference.navigation))


def look_at_aggregate(
    reference: expression.Aggregate, context: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield what an aggregate looks at: its frame around the current row, and its arguments."""
    if reference.frame is not None:
        yield OutsideLook(f"{reference.function}() with OVER", Dependency.BESIDE)
    for inner in expression.list_inner_references(reference):
        yield from LOOKS_OF_REFERENCES[type(inner)](inner, context)


def look_at_classifier(
    reference: expression.Classifier, context: ReferenceContext
) -> list[OutsideLook]:
    """Return what `CLASSIFIER()` looks at; nothing for the variable of a matched row."""
    return list_looks("CLASSIFIER()", context.find_looks(reference.navigation))


def look_at_match_value(reference: expression.MatchValue, _: ReferenceContext) -> list[OutsideLook]:
    """Return what a function of the match such as `MATCH_NUMBER()` looks at."""
    return list_looks(f"{reference.function.words}()", reference.function.beyond)


# Returns what a part of a plan looks at, given the value of the part.
FindLooks = Callable[[Any, ReferenceContext], Iterable[OutsideLook]]

LOOKS_OF_REFERENCES: Mapping[type, FindLooks] = {
    expression.ColumnReference: look_at_column,
    expression.Aggregate: look_at_aggregate,
    expression.Classifier: look_at_classifier,
    expression.MatchValue: look_at_match_value,
}


def look_at_scalars(
    scalars: Iterable[expression.Scalar], context: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield what the references of some expressions look at."""
    for scalar in scalars:
        for reference in scalar.references:
            yield from LOOKS_OF_REFERENCES[type(reference)](reference, context)


# What each field of a plan looks at.


def look_at_pattern(
    row_pattern: pattern.RowPattern, context: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield what the operators of a row pattern look at, and whether it matches no rows."""
    for node in pattern.walk_pattern(row_pattern):
        yield from list_looks(*node.operator)
    if context.follow.matches_empty:
        yield OutsideLook("PATTERN", Dependency.EMPTY)


def look_at_definitions(
    definitions: tuple[clauses.Definition, ...], context: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield what the conditions of variables look at."""
    for definition in definitions:
        condition_context = replace(context, variable=definition.variable)
        yield from look_at_scalars((definition.condition,), condition_context)


def look_at_measures(
    measures: tuple[clauses.Measure, ...], context: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield what measures look at."""
    return look_at_scalars((measure.value for measure in measures), context)


def look_at_option(option: clauses.Option, _: ReferenceContext) -> list[OutsideLook]:
    """Return what an option of the clause looks at, such as `AFTER MATCH SKIP`."""
    return list_looks(option.words, option.beyond)


def look_at_row_window(_rows: object, _: ReferenceContext) -> list[OutsideLook]:
    """Return what a window of a number of rows looks at."""
    return [OutsideLook("WITHIN ... ROWS", Dependency.DISTANCE)]


def look_at_gaps(_gaps: object, context: ReferenceContext) -> Iterator[OutsideLook]:
    """Yield what windows between rows look at. Windows between variables are conditions."""
    if context.plan.row_gap is not None:
        yield OutsideLook("WITHIN ... BETWEEN ROWS", Dependency.BETWEEN)


def look_at_absences(
    absences: tuple[clauses.Absence, ...], _: ReferenceContext
) -> Iterator[OutsideLook]:
    """Yield where rows must be absent: before, between or after the rows of a match."""
    for absence in absences:
        if absence.before is None:
            look = Dependency.ABSENT_AFTER
        elif absence.after is None:
            look = Dependency.ABSENT_BEFORE
        else:
            look = Dependency.ABSENT_BETWEEN
        yield OutsideLook(f"NOT {absence.variable}", look)


def look_at_staging(staging: Staging, _: ReferenceContext) -> Iterator[OutsideLook]:
    """Yield what a pattern of stages looks at."""
    from matchrec.plan import stages

    for step in stages.walk_steps(staging.steps):
        yield from list_looks("a NOT between stages", LOOKS_OF_STEPS[type(step).__name__])
    if staging.skip is not None:
        yield OutsideLook("a skip strategy", Dependency.OVERLAP)
    if staging.timeouts is not None:
        look = Dependency.TIMED_OUT if staging.skip is None else Dependency.LIVE
        yield OutsideLook("the option timeouts", look)


def look_at_totals(totals: Totals, _: ReferenceContext) -> list[OutsideLook]:
    """Return what aggregates over all matches look at."""
    return list_looks("an aggregate over all matches", totals.grouped.beyond)


# For each field of `MatchPlan`, the function that finds what it looks at. None for a field that
# only decides which rows a match has, or gives names.
LOOKS_OF_FIELDS: Mapping[str, FindLooks | None] = {
    "pattern": look_at_pattern,
    "partition_by": None,
    "order_by": None,
    "measures": look_at_measures,
    "rows_per_match": look_at_option,
    "partial": look_at_option,
    "columns": None,
    "after_match": look_at_option,
    "within": None,
    "within_rows": look_at_row_window,
    "gaps": look_at_gaps,
    "equal": None,
    "subsets": None,
    "definitions": look_at_definitions,
    "selection": look_at_option,
    "output": look_at_option,
    "first_matches": look_at_option,
    "absences": look_at_absences,
    "closing": None,
    "staging": look_at_staging,
    "frame_length": None,  # each variable has a condition that keeps it in the frame
    "totals": look_at_totals,
}


def find_outside_looks(plan: MatchPlan, follow: FollowSets) -> Iterator[OutsideLook]:
    """Yield everything that a plan looks at besides the values of matched rows.

    Args:
        plan: the plan of a query.
        follow: the follow sets of its row pattern.

    >>> from matchrec.syntax.locate import parse_sql
    >>> from matchrec.syntax.lower import lower_clause
    >>> from matchrec.automaton.compile import compile_pattern
    >>> (site,) = parse_sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(x) AS x"
    ...     " AFTER MATCH SKIP TO NEXT ROW PATTERN (^ A B) DEFINE B AS x > PREV(x))").sites
    >>> plan = lower_clause(site.clause)
    >>> for look in find_outside_looks(plan, compile_pattern(plan).follow):
    ...     print(look)
    ^ tests where the partition begins or ends
    PREV reads unmatched rows between the first and the last row of a match
    """
    context = ReferenceContext(plan, follow)
    for field, find_looks in LOOKS_OF_FIELDS.items():
        value = getattr(plan, field)
        if find_looks is not None and value not in (None, ()):
            yield from find_looks(value, context)


# What each shortcut is proven for. It is taken only if the plan looks at nothing else.


class Shortcut(Enum):
    """A shortcut that leaves rows out or searches a partition in parts: see `shortcuts.Shortcuts`.

    The comment at each member is what the shortcut relies on.
    """

    # Partitions are cut into ranges. All rows from the one with which a match may begin to the end
    # of its window are in one range.
    RANGES = "ranges"
    # Partitions are left out. A partition without a row that every match needs has no match.
    PARTITIONS = "partitions"
    # Rows are left out. All rows stay that satisfy a condition, also the condition of an absence.
    ROWS = "rows"
    # A partition is searched in chunks. Rows before the first undecided start are dropped, if
    # nothing looks at them besides rows of their own match.
    PIECES = "pieces"
    # Matches are added up without being built. Runs carry the values that are added up, and each
    # match is identified by its rows.
    TOTALS = "totals"


RANGES, PARTITIONS, ROWS, PIECES, TOTALS = Shortcut

# For everything that a plan may look at, the shortcuts that are proven for such a plan.
PROVEN_FOR: Mapping[Dependency, tuple[Shortcut, ...]] = {
    Dependency.BETWEEN: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.BESIDE: (PARTITIONS, PIECES, TOTALS),
    Dependency.DISTANCE: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.PLACES: (PARTITIONS,),
    Dependency.ABSENT_BEFORE: (PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_BETWEEN: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_AFTER: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.LATER: (PARTITIONS, ROWS, TOTALS),
    Dependency.EMPTY: (RANGES, PIECES, TOTALS),
    Dependency.EDGES: (PARTITIONS, PIECES, TOTALS),
    Dependency.OVERLAP: (RANGES, PARTITIONS, ROWS, PIECES, TOTALS),
    Dependency.EARLIER: (PARTITIONS, ROWS, PIECES),
    Dependency.UNMATCHED: (PIECES,),
    Dependency.LIVE: (),
    Dependency.TIMED_OUT: (ROWS,),
}


def find_obstacle(shortcut: Shortcut, plan: MatchPlan, follow: FollowSets) -> str | None:
    """Return why a shortcut may not be taken, as a sentence; None if it may be taken.

    Args:
        shortcut: the shortcut.
        plan: the plan of a query.
        follow: the follow sets of its row pattern.
    """
    for look in find_outside_looks(plan, follow):
        if shortcut not in PROVEN_FOR[look.look]:
            return str(look)
    return None


def show_table() -> str:
    """Return a Markdown table for the documentation: which shortcuts are proven for what."""
    names = [shortcut.value for shortcut in Shortcut]
    lines = [f"| what a part of a query does | {' | '.join(names)} |"]
    lines.append("|---|" + ":-:|" * len(names))
    for look in Dependency:
        marks = (" yes " if shortcut in PROVEN_FOR[look] else " " for shortcut in Shortcut)
        lines.append(f"| {look.value} |{'|'.join(marks)}|")
    return "\n".join(lines)
