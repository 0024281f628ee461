"""Find what a plan depends on besides the rows of a match, and which shortcuts that rules out.

    MATCH_NUMBER()      depends on earlier matches of the partition
    PREV(A.x)           reads rows before or after a match
    NOT N A B           forbids rows before a match

A shortcut leaves rows out, or searches a partition in parts. Before it is taken, `find_obstacle`
checks that it is proven for every dependency of the plan. If not, the query runs without it.

Shortcuts fail closed. Each field of a plan and each kind of reference has an entry in a table of
this module. Operators of row patterns, steps of stages, options of a clause and functions of the
match have a field with their dependencies. So a new one without an entry fails when its entry is
first read, and in a test before that.
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
class PlanDependency:
    """A part of a plan, and what it depends on besides the values of matched rows."""

    # The part as the user would write it.
    part: str
    dependency: Dependency

    def __str__(self) -> str:
        """Return the sentence that `explain` prints: `PREV reads rows before or after a match`."""
        return f"{self.part} {self.dependency.value}"


Dependencies = tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class ReferenceContext:
    """Where in a plan references are written."""

    plan: MatchPlan
    # The variables at the ends of matches of the plan, and those that follow each other.
    follow: FollowSets
    # The variable whose condition has the references; None for a measure.
    variable: str | None = None

    def find_navigation_dependencies(self, navigation: expression.Navigation) -> Dependencies:
        """Return the dependency of a physical step such as PREV; nothing if there is no step.

        It is UNMATCHED_BETWEEN if the row that the step finds is surely between the first and the
        last row of the match, otherwise NEIGHBOURS. The row before the current one is between
        them, unless the current row may be the first one. The row after it is, unless the current
        row may be the last one. Nothing is known about the current row if it must be absent from
        the match.
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
            return (Dependency.UNMATCHED_BETWEEN,)
        return (Dependency.NEIGHBOURS,)


# The dependencies of each kind of reference.


def list_dependencies(part: str, dependencies: Dependencies) -> list[PlanDependency]:
    """Return the dependencies of one part of a plan, each with the part."""
    return [PlanDependency(part, dependency) for dependency in dependencies]


def find_column_dependencies(
    reference: expression.ColumnReference, context: ReferenceContext
) -> list[PlanDependency]:
    """Return the dependency of `PREV(x)` or `NEXT(x)`; nothing for a column of a matched row."""
    name = "PREV" if reference.navigation.physical_offset < 0 else "NEXT"
    return list_dependencies(name, context.find_navigation_dependencies(reference.navigation))


def find_aggregate_dependencies(
    reference: expression.Aggregate, context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of an aggregate: of its OVER frame and of its arguments."""
    if reference.frame is not None:
        yield PlanDependency(f"{reference.function}() with OVER", Dependency.NEIGHBOURS)
    for inner in expression.list_inner_references(reference):
        yield from DEPENDENCIES_OF_REFERENCES[type(inner)](inner, context)


def find_classifier_dependencies(
    reference: expression.Classifier, context: ReferenceContext
) -> list[PlanDependency]:
    """Return the dependency of `CLASSIFIER()`; nothing for the variable of a matched row."""
    return list_dependencies(
        "CLASSIFIER()", context.find_navigation_dependencies(reference.navigation)
    )


def find_match_value_dependencies(
    reference: expression.MatchValue, _: ReferenceContext
) -> list[PlanDependency]:
    """Return the dependencies of a function of the match such as `MATCH_NUMBER()`."""
    return list_dependencies(f"{reference.function.words}()", reference.function.dependencies)


# Finds the dependencies of a part of a plan, given the value of the part.
FindDependencies = Callable[[Any, ReferenceContext], Iterable[PlanDependency]]

DEPENDENCIES_OF_REFERENCES: Mapping[type, FindDependencies] = {
    expression.ColumnReference: find_column_dependencies,
    expression.Aggregate: find_aggregate_dependencies,
    expression.Classifier: find_classifier_dependencies,
    expression.MatchValue: find_match_value_dependencies,
}


def find_scalar_dependencies(
    scalars: Iterable[expression.Scalar], context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of the references in some expressions."""
    for scalar in scalars:
        for reference in scalar.references:
            yield from DEPENDENCIES_OF_REFERENCES[type(reference)](reference, context)


# The dependencies of each field of a plan.


def find_pattern_dependencies(
    row_pattern: pattern.RowPattern, context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of the operators of a row pattern, and whether it matches no rows."""
    for node in pattern.walk_pattern(row_pattern):
        yield from list_dependencies(node.operator.name, node.operator.dependencies)
    if context.follow.matches_empty:
        yield PlanDependency("PATTERN", Dependency.EMPTY_MATCHES)


def find_definition_dependencies(
    definitions: tuple[clauses.Definition, ...], context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of the conditions of variables."""
    for definition in definitions:
        condition_context = replace(context, variable=definition.variable)
        yield from find_scalar_dependencies((definition.condition,), condition_context)


def find_measure_dependencies(
    measures: tuple[clauses.Measure, ...], context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of measures."""
    return find_scalar_dependencies((measure.value for measure in measures), context)


def find_option_dependencies(option: clauses.Option, _: ReferenceContext) -> list[PlanDependency]:
    """Return the dependencies of an option of the clause, such as `AFTER MATCH SKIP`."""
    return list_dependencies(option.words, option.dependencies)


def find_row_window_dependencies(_rows: object, _: ReferenceContext) -> list[PlanDependency]:
    """Return the dependency of a window of a number of rows."""
    return [PlanDependency("WITHIN ... ROWS", Dependency.ROW_COUNTS)]


def find_gap_dependencies(_gaps: object, context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependency of a window between rows. Windows between variables are conditions."""
    if context.plan.row_gap is not None:
        yield PlanDependency("WITHIN ... BETWEEN ROWS", Dependency.UNMATCHED_BETWEEN)


def find_absence_dependencies(
    absences: tuple[clauses.Absence, ...], _: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield where rows must be absent: before, between or after the rows of a match."""
    for absence in absences:
        if absence.before is None:
            dependency = Dependency.ABSENT_AFTER
        elif absence.after is None:
            dependency = Dependency.ABSENT_BEFORE
        else:
            dependency = Dependency.ABSENT_BETWEEN
        yield PlanDependency(f"NOT {absence.variable}", dependency)


def find_staging_dependencies(staging: Staging, _: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependencies of a pattern of stages."""
    from matchrec.plan.stages import walk_steps

    for step in walk_steps(staging.steps):
        yield from list_dependencies("a NOT between stages", step.dependencies)
    if staging.skip is not None:
        yield PlanDependency("a skip strategy", Dependency.OVERLAP)
    if staging.timeouts is not None:
        dependency = Dependency.TIMED_OUT if staging.skip is None else Dependency.PARTIAL_MATCHES
        yield PlanDependency("the option timeouts", dependency)


def find_total_dependencies(totals: Totals, _: ReferenceContext) -> list[PlanDependency]:
    """Return the dependencies of aggregates over all matches."""
    return list_dependencies("an aggregate over all matches", totals.grouped.dependencies)


# For each field of `MatchPlan`, the function that finds its dependencies. None for a field that
# only decides which rows a match has, or gives names.
DEPENDENCIES_OF_FIELDS: Mapping[str, FindDependencies | None] = {
    "pattern": find_pattern_dependencies,
    "partition_by": None,
    "order_by": None,
    "measures": find_measure_dependencies,
    "rows_per_match": find_option_dependencies,
    "partial": find_option_dependencies,
    "columns": None,
    "after_match": find_option_dependencies,
    "within": None,
    "within_rows": find_row_window_dependencies,
    "gaps": find_gap_dependencies,
    "equivalence_keys": None,
    "subsets": None,
    "definitions": find_definition_dependencies,
    "selection": find_option_dependencies,
    "output": find_option_dependencies,
    "first_matches": find_option_dependencies,
    "absences": find_absence_dependencies,
    "match_condition": None,
    "staging": find_staging_dependencies,
    "frame_length": None,  # each variable has a condition that keeps it in the frame
    "totals": find_total_dependencies,
}


def find_dependencies(plan: MatchPlan, follow: FollowSets) -> Iterator[PlanDependency]:
    """Yield everything that a plan depends on besides the values of matched rows.

    Args:
        plan: the plan of a query.
        follow: the follow sets of its row pattern.

    >>> from matchrec.syntax.locate import parse_sql
    >>> from matchrec.syntax.lower import lower_clause
    >>> from matchrec.automaton.compile import compile_pattern
    >>> (site,) = parse_sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES LAST(x) AS x"
    ...     " AFTER MATCH SKIP TO NEXT ROW PATTERN (^ A B) DEFINE B AS x > PREV(x))").sites
    >>> plan = lower_clause(site.clause)
    >>> for dependency in find_dependencies(plan, compile_pattern(plan).follow):
    ...     print(dependency)
    ^ tests where the partition begins or ends
    PREV reads unmatched rows between the first and the last row of a match
    """
    context = ReferenceContext(plan, follow)
    for field, find_in_field in DEPENDENCIES_OF_FIELDS.items():
        value = getattr(plan, field)
        if find_in_field is not None and value not in (None, ()):
            yield from find_in_field(value, context)


# What each shortcut is proven for. It is taken only if the plan has no other dependencies.


class Shortcut(Enum):
    """A shortcut that leaves rows out or searches a partition in parts: see `shortcuts.Shortcuts`.

    The comment at each member says what the shortcut relies on.
    """

    # Partitions are cut into ranges. All rows from the one with which a match may begin to the end
    # of its window are in one range.
    RANGES = "ranges"
    # Partitions are left out. A partition without a row that every match needs has no match.
    PARTITIONS = "partitions"
    # Rows are left out. All rows stay that satisfy a condition, also the condition of an absence.
    ROWS = "rows"
    # A partition is searched in pieces. Rows before the first undecided start are dropped, if
    # nothing reads them besides rows of their own match.
    PIECES = "search_in_pieces"
    # Matches are added up without being built. Runs carry the values that are added up, and each
    # match is identified by its rows.
    TOTALS = "totals"


RANGES, PARTITIONS, ROWS, PIECES, TOTALS = Shortcut

# For each dependency, the shortcuts that are proven for a plan with it.
PROVEN_FOR: Mapping[Dependency, tuple[Shortcut, ...]] = {
    Dependency.UNMATCHED_BETWEEN: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.NEIGHBOURS: (PARTITIONS, PIECES, TOTALS),
    Dependency.ROW_COUNTS: (RANGES, PARTITIONS, PIECES, TOTALS),
    Dependency.POSITIONS: (PARTITIONS,),
    Dependency.ABSENT_BEFORE: (PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_BETWEEN: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.ABSENT_AFTER: (RANGES, PARTITIONS, ROWS, TOTALS),
    Dependency.COMPLETED_LATER: (PARTITIONS, ROWS, TOTALS),
    Dependency.EMPTY_MATCHES: (RANGES, PIECES, TOTALS),
    Dependency.PARTITION_EDGES: (PARTITIONS, PIECES, TOTALS),
    Dependency.OVERLAP: (RANGES, PARTITIONS, ROWS, PIECES, TOTALS),
    Dependency.EARLIER_MATCHES: (PARTITIONS, ROWS, PIECES),
    Dependency.UNMATCHED_ROWS: (PIECES,),
    Dependency.PARTIAL_MATCHES: (),
    Dependency.TIMED_OUT: (ROWS,),
}


def find_obstacle(shortcut: Shortcut, plan: MatchPlan, follow: FollowSets) -> str | None:
    """Return why a shortcut may not be taken, as a sentence; None if it may be taken.

    Args:
        shortcut: the shortcut.
        plan: the plan of a query.
        follow: the follow sets of its row pattern.
    """
    for plan_dependency in find_dependencies(plan, follow):
        if shortcut not in PROVEN_FOR[plan_dependency.dependency]:
            return str(plan_dependency)
    return None


def show_table() -> str:
    """Return a Markdown table for the documentation: which shortcuts are proven for what."""
    names = [shortcut.value for shortcut in Shortcut]
    lines = [f"| what a part of a query does | {' | '.join(names)} |"]
    lines.append("|---|" + ":-:|" * len(names))
    for dependency in Dependency:
        marks = (" yes " if shortcut in PROVEN_FOR[dependency] else " " for shortcut in Shortcut)
        lines.append(f"| {dependency.value} |{'|'.join(marks)}|")
    return "\n".join(lines)
