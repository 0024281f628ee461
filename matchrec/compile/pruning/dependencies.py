"""Find what a plan depends on besides the values of the rows of a match.

    MATCH_NUMBER()      depends on earlier matches of the partition
    PREV(A.x)           reads rows before or after a match
    NOT N A B           forbids rows before a match

`proven_shortcuts` decides by the dependencies of a plan which shortcuts may be taken. So no part of
a plan may be forgotten:

- Each field of a plan has an entry in `DEPENDENCIES_OF_FIELDS`, which a test checks.
- Each type of reference has a case in `find_reference_dependencies`.
- Operators of row patterns, steps of stages, options of a clause and functions of the match declare
  their own dependencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from typing_extensions import assert_never

from matchrec.automaton.follow_sets import FollowSets
from matchrec.plan.choices import Dependency
from matchrec.plan.clauses import Option
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Navigation,
    Reference,
    Scalar,
    list_inner_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import walk_pattern


@dataclass(frozen=True, slots=True)
class PlanDependency:
    """A dependency of a part of a plan on more than the values of matched rows."""

    # The part as the user would write it.
    part: str
    dependency: Dependency

    def __str__(self) -> str:
        """Return the sentence that `explain` prints: `PREV reads rows before or after a match`."""
        return f"{self.part} {self.dependency.value}"


Dependencies = tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class ReferenceContext:
    """A place in a plan with references: the condition of a variable, or the measures."""

    plan: MatchPlan
    # The follow sets of the row pattern of the plan.
    follow: FollowSets
    # The variable whose condition has the references; None for the measures.
    variable: str | None = None


def list_dependencies(part: str, dependencies: Dependencies) -> list[PlanDependency]:
    """Return the dependencies of one part of a plan, each with the part."""
    return [PlanDependency(part, dependency) for dependency in dependencies]


# Find the dependencies of references.


def find_scalar_dependencies(
    scalars: Iterable[Scalar], context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of the references in some expressions."""
    for scalar in scalars:
        for reference in scalar.references:
            yield from find_reference_dependencies(reference, context)


def find_reference_dependencies(
    reference: Reference, context: ReferenceContext
) -> Iterator[PlanDependency]:
    """Yield the dependencies of a reference. A value of a matched row has none."""
    match reference:
        case ColumnReference():
            name = "PREV" if reference.navigation.physical_offset < 0 else "NEXT"
            dependencies = find_navigation_dependencies(reference.navigation, context)
            yield from list_dependencies(name, dependencies)
        case Classifier():
            dependencies = find_navigation_dependencies(reference.navigation, context)
            yield from list_dependencies("CLASSIFIER()", dependencies)
        case MatchValue():
            name = f"{reference.function.words}()"
            yield from list_dependencies(name, reference.function.dependencies)
        case Aggregate():
            if reference.frame is not None:
                yield PlanDependency(f"{reference.function}() with OVER", Dependency.NEIGHBOURS)
            for inner in list_inner_references(reference):
                yield from find_reference_dependencies(inner, context)
        case _:
            assert_never(reference)


def find_navigation_dependencies(navigation: Navigation, context: ReferenceContext) -> Dependencies:
    """Return the dependency of a physical step such as PREV. Without a step, there is none.

    For the pattern `A B`:

        B AS x > PREV(x)       UNMATCHED_BETWEEN: the row is certainly in the match, or between its
                               rows
        A AS x > PREV(x)       NEIGHBOURS: the row is before the match
        B AS x > PREV(x, 2)    NEIGHBOURS: the row may be before the match
    """
    if navigation.physical_offset == 0:
        return ()
    if finds_row_inside_match(navigation, context):
        return (Dependency.UNMATCHED_BETWEEN,)
    return (Dependency.NEIGHBOURS,)


def finds_row_inside_match(navigation: Navigation, context: ReferenceContext) -> bool:
    """Return whether a physical step certainly finds a row inside the match.

    Rows between the first and the last row of the match count as inside. The row before the current
    row is inside, unless the current row may be the first row. The row after the current row is
    inside, unless the current row may be the last row.
    """
    plan = context.plan
    variable = None if context.variable is None else plan.ids.get(context.variable)
    starts_at_current_row = variable in plan.members[navigation.variable] and navigation.is_last
    # Nothing is known about the current row if it must be absent from the match.
    is_current_row_mapped = variable in plan.members[None]
    if not starts_at_current_row or not is_current_row_mapped:
        return False
    match navigation.physical_offset:
        case -1:
            return variable not in context.follow.first
        case 1:
            return variable not in context.follow.last
        case _:
            return False  # The row is more than one row away, so nothing is known about it.


# Find the dependencies of the fields of a plan.


def find_pattern_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependencies of a row pattern's operators, and EMPTY_MATCHES if it allows them."""
    for node in walk_pattern(context.plan.pattern):
        yield from list_dependencies(node.operator.name, node.operator.dependencies)
    if context.follow.matches_empty:
        yield PlanDependency("PATTERN", Dependency.EMPTY_MATCHES)


def find_definition_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependencies of the conditions of variables."""
    for definition in context.plan.definitions:
        condition_context = replace(context, variable=definition.variable)
        yield from find_scalar_dependencies((definition.condition,), condition_context)


def find_measure_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependencies of measures."""
    return find_scalar_dependencies((measure.value for measure in context.plan.measures), context)


def list_option_dependencies(option: Option | None) -> list[PlanDependency]:
    """Return the dependencies of an option of the clause, such as `AFTER MATCH SKIP`."""
    return [] if option is None else list_dependencies(option.words, option.dependencies)


def find_row_window_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependency of a window of a number of rows."""
    if context.plan.within_rows is not None:
        yield PlanDependency("WITHIN ... ROWS", Dependency.ROW_COUNTS)


def find_gap_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependency of a window between rows. Windows between variables are conditions."""
    if context.plan.row_gap is not None:
        yield PlanDependency("WITHIN ... BETWEEN ROWS", Dependency.UNMATCHED_BETWEEN)


def find_absence_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield a dependency for each absence: before, between or after the rows of a match."""
    for absence in context.plan.absences:
        if absence.before is None:
            dependency = Dependency.ABSENT_AFTER
        elif absence.after is None:
            dependency = Dependency.ABSENT_BEFORE
        else:
            dependency = Dependency.ABSENT_BETWEEN
        yield PlanDependency(f"NOT {absence.variable}", dependency)


def find_staging_dependencies(context: ReferenceContext) -> Iterator[PlanDependency]:
    """Yield the dependencies of a pattern of stages."""
    staging = context.plan.staging
    if staging is None:
        return
    from matchrec.plan.stages import walk_steps

    for step in walk_steps(staging.steps):
        yield from list_dependencies("a NOT between stages", step.dependencies)
    if staging.skip is not None:
        yield PlanDependency("a skip strategy", Dependency.OVERLAP)
    if staging.timeouts is not None:
        dependency = Dependency.TIMED_OUT if staging.skip is None else Dependency.PARTIAL_MATCHES
        yield PlanDependency("the option timeouts", dependency)


def find_total_dependencies(context: ReferenceContext) -> list[PlanDependency]:
    """Return the dependencies of aggregates over all matches."""
    totals = context.plan.totals
    if totals is None:
        return []
    return list_dependencies("an aggregate over all matches", totals.grouping.dependencies)


# For each field of `MatchPlan`, the function that finds its dependencies. None for a field without
# dependencies, which only decides which rows a match has, gives names, or says where text is.
DEPENDENCIES_OF_FIELDS: Mapping[
    str, Callable[[ReferenceContext], Iterable[PlanDependency]] | None
] = {
    "pattern": find_pattern_dependencies,
    "partition_by": None,
    "order_by": None,
    "measures": find_measure_dependencies,
    "rows_per_match": lambda context: list_option_dependencies(context.plan.rows_per_match),
    "partial": lambda context: list_option_dependencies(context.plan.partial),
    "column_order": None,
    "after_match": lambda context: list_option_dependencies(context.plan.after_match),
    "within": None,
    "within_rows": find_row_window_dependencies,
    "gaps": find_gap_dependencies,
    "equivalence_keys": None,
    "subsets": None,
    "definitions": find_definition_dependencies,
    "selection": lambda context: list_option_dependencies(context.plan.selection),
    "output": lambda context: list_option_dependencies(context.plan.output),
    "first_matches": lambda context: list_option_dependencies(context.plan.first_matches),
    "absences": find_absence_dependencies,
    "match_condition": None,
    "staging": find_staging_dependencies,
    "part_after_keys": None,
    "frame_length": None,  # The condition of each variable keeps its rows in the frame.
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
    >>> for dependency in find_dependencies(plan, compile_pattern(plan).follow_sets):
    ...     print(dependency)
    ^ tests where the partition begins or ends
    PREV reads unmatched rows between the first and the last row of a match
    """
    context = ReferenceContext(plan, follow)
    for find_in_field in DEPENDENCIES_OF_FIELDS.values():
        if find_in_field is not None:
            yield from find_in_field(context)
