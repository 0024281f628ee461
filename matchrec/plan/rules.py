"""What a match plan must not ask for, one function per rule; every front end shares them."""

from __future__ import annotations

from collections.abc import Callable

from matchrec.errors import rules as errors
from matchrec.errors.expression import unknown_variable
from matchrec.plan.clauses import EventSelection, RowsPerMatch
from matchrec.plan.expression import Classifier, references
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Exclusion, walk
from matchrec.source import Span

Rule = Callable[[MatchPlan], None]


def check(plan: MatchPlan) -> None:
    """Raises at the first rule that the plan breaks."""
    for rule in RULES:
        rule(plan)


def subset_names_are_new(plan: MatchPlan) -> None:
    """A union variable is neither a primary variable nor defined twice."""
    seen: dict[str, Span | None] = {}
    for subset in plan.subsets:
        if subset.name in plan.ids:
            raise errors.subset_is_primary(subset.name, subset.span)
        if subset.name in seen:
            raise errors.duplicate_subset(subset.name, (seen[subset.name], subset.span))
        seen[subset.name] = subset.span


def subset_members_are_primary(plan: MatchPlan) -> None:
    """A union variable joins primary variables."""
    unions = {subset.name for subset in plan.subsets}
    for subset in plan.subsets:
        spans = subset.member_spans or (subset.span,) * len(subset.members)
        for member, span in zip(subset.members, spans, strict=True):
            if member in unions:
                raise errors.union_in_subset(member, subset.name, span)
            if member not in plan.ids:
                raise unknown_variable(member, plan.variables, "SUBSET", span)


def definitions_are_of_primary_variables(plan: MatchPlan) -> None:
    """A condition belongs to a variable of the pattern."""
    unions = {subset.name for subset in plan.subsets}
    for definition in plan.definitions:
        if definition.variable in unions:
            raise errors.definition_of_union(definition.variable, definition.span)
        if definition.variable not in plan.ids:
            raise errors.definition_not_in_pattern(
                definition.variable, plan.variables, definition.span
            )


def definitions_are_unique(plan: MatchPlan) -> None:
    """A variable has one condition."""
    seen: dict[str, Span | None] = {}
    for definition in plan.definitions:
        name = definition.variable
        if name in seen:
            raise errors.duplicate_definition(name, (seen[name], definition.span))
        seen[name] = definition.span


def skip_target_is_known(plan: MatchPlan) -> None:
    """AFTER MATCH SKIP TO goes to a variable of PATTERN or SUBSET."""
    target = plan.after_match.variable
    unions = tuple(subset.name for subset in plan.subsets)
    if target is not None and target not in (*plan.variables, *unions):
        span = plan.after_match.span
        if target in ("NEXT", "PAST", "FIRST", "LAST", "ROW"):
            raise errors.incomplete_skip(target, span)
        raise unknown_variable(target, plan.variables, "AFTER MATCH SKIP", span, unions)


def exclusion_has_no_unmatched_rows(plan: MatchPlan) -> None:
    """A row left out by `{- -}` would look like one that was not matched."""
    if plan.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        for node in walk(plan.pattern):
            if isinstance(node, Exclusion):
                raise errors.exclusion_with_unmatched_rows(node.span)


def measure_names_are_unique(plan: MatchPlan) -> None:
    """Measures are columns of one table."""
    seen: dict[str, Span | None] = {}
    for measure in plan.measures:
        folded = measure.name.upper()
        if folded in seen:
            raise errors.duplicate_measure(measure.name, (seen[folded], measure.span))
        seen[folded] = measure.span


def within_has_an_order(plan: MatchPlan) -> None:
    """WITHIN measures along the first ORDER BY column."""
    if plan.within is not None and not plan.order_by:
        raise errors.within_without_order(plan.within.interval.span)


def classifiers_are_of_selected_rows(plan: MatchPlan) -> None:
    """Where rows may be skipped, a run does not know which of them it has not mapped."""
    if plan.selection is EventSelection.STRICT_CONTIGUITY:
        return
    for definition in plan.definitions:
        for reference in references(definition.condition):
            if isinstance(reference, Classifier) and reference.navigation.physical_offset:
                raise errors.classifier_of_skipped_row(plan.selection.value, reference.span)


RULES: tuple[Rule, ...] = (
    subset_names_are_new,
    subset_members_are_primary,
    definitions_are_of_primary_variables,
    definitions_are_unique,
    skip_target_is_known,
    exclusion_has_no_unmatched_rows,
    measure_names_are_unique,
    within_has_an_order,
    classifiers_are_of_selected_rows,
)
