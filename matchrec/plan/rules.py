"""What a match plan must not ask for, one function per rule; every front end shares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

from matchrec.errors import MatchRecognizePlanError
from matchrec.errors import rules as errors
from matchrec.errors.message import Message
from matchrec.errors.sql import pattern as negation
from matchrec.errors.sql.expression import unknown_variable
from matchrec.plan.clauses import (
    ONE_OF_A_ROW,
    Definition,
    EventSelection,
    MatchOutput,
    RowsPerMatch,
)
from matchrec.plan.expression import (
    MATCH_NUMBER,
    OF_ENDINGS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchValue,
    Reference,
    Scalar,
    inner_references,
    variable_of,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Exclusion, negations, walk
from matchrec.source import Span

Rule = Callable[[MatchPlan], None]

MOST_ROWS_BACK = 1_000
NAMED = attrgetter("name", "span")


def check(plan: MatchPlan) -> None:
    for part, choices, rule in RULES:
        found = getattr(plan, part)
        if found in choices if choices else found:
            rule(plan)


def subset_names_are_new(plan: MatchPlan) -> None:
    """A union variable is neither a primary variable nor defined twice."""
    for subset in plan.subsets:
        if subset.name in plan.ids:
            raise errors.subset_is_primary(subset.span, name=subset.name)
    refuse_repeated(map(NAMED, plan.subsets), errors.duplicate_subset)


def subset_members_are_primary(plan: MatchPlan) -> None:
    for subset in plan.subsets:
        spans = subset.member_spans or (subset.span,) * len(subset.members)
        for member, span in zip(subset.members, spans, strict=True):
            if member in plan.unions:
                raise errors.union_in_subset(span, member=member, name=subset.name)
            if member not in plan.ids:
                raise _unknown(member, "SUBSET", span, plan, ())


def _unknown(
    name: str, clause: str, span: Span | None, plan: MatchPlan, unions: tuple[str, ...]
) -> MatchRecognizePlanError:
    return unknown_variable(span, name=name, clause=clause, primary=plan.variables, unions=unions)


def negated_variables_have_no_rows(plan: MatchPlan) -> None:
    """No row is mapped to a variable under NOT: nothing reads one but its own condition."""
    found = [(s.variable, "AFTER MATCH SKIP", s.span) for s in (plan.after_match,)]
    found += [(name, "SUBSET", subset.span) for subset in plan.subsets for name in subset.members]
    found += [(name, "WITHIN", gap.span) for gap in plan.gaps for name in (gap.after, gap.to)]
    for definition in plan.definitions:
        read = rows_read(definition.condition)
        found += [(name, "DEFINE", span) for name, span in read if name != definition.variable]
    for measure in plan.measures:
        found += [(name, "MEASURES", span) for name, span in rows_read(measure.value)]
    for name, clause, span in found:
        if name is not None and name in plan.forbidden:
            raise negation.negated_variable(span, name=name, clause=clause)


def rows_read(scalar: Scalar) -> Iterator[tuple[str | None, Span | None]]:
    """The variables of which an expression reads rows, and where."""
    for reference in all_references(scalar):
        yield variable_of(reference), reference.span


def definitions_are_of_primary_variables(plan: MatchPlan) -> None:
    for one in plan.definitions:
        name, known = one.variable, plan.variables
        if name in plan.unions:
            raise errors.definition_of_union(one.span, name=name)
        if name not in known:
            check_eaten_braces(one, plan)
            raise errors.definition_not_in_pattern(one.span, name=name, known=known)


def check_eaten_braces(definition: Definition, plan: MatchPlan) -> None:
    """Raise if PATTERN has the variable's name plus digits, which has no condition of its own.

    A Python f-string turns `B{3}` into `B3`.
    """
    defined = {one.variable for one in plan.definitions}
    for variable in plan.variables:
        digits = variable.removeprefix(definition.variable)
        if variable not in defined and digits != variable and digits.isdecimal():
            raise errors.definition_of_eaten(
                definition.span, name=definition.variable, known=plan.variables, count=digits
            )


def definitions_are_unique(plan: MatchPlan) -> None:
    names = map(attrgetter("variable", "span"), plan.definitions)
    refuse_repeated(names, errors.duplicate_definition)


def refuse_repeated(
    names: Iterable[tuple[str, Span | None]],
    error: Message[MatchRecognizePlanError],
    folded: Callable[[str], str] = str,
) -> None:
    """Raises the error of a name that is there twice. folded: a name as it is compared."""
    seen: dict[str, Span | None] = {}
    for name, span in names:
        if folded(name) in seen:
            raise error((seen[folded(name)], span), name=name)
        seen[folded(name)] = span


def skip_target_is_known(plan: MatchPlan) -> None:
    target = plan.after_match.variable
    if target is not None and target not in (*plan.variables, *plan.unions):
        span = plan.after_match.span
        if target in ("NEXT", "PAST", "FIRST", "LAST", "ROW"):
            raise errors.incomplete_skip(span, word=target)
        raise _unknown(target, "AFTER MATCH SKIP", span, plan, plan.unions)


def exclusion_has_no_unmatched_rows(plan: MatchPlan) -> None:
    """A row left out by `{- -}` would look like one that was not matched."""
    for node in walk(plan.pattern):
        if isinstance(node, Exclusion):
            raise errors.exclusion_with_unmatched_rows(node.span)


def measure_names_are_unique(plan: MatchPlan) -> None:
    """Measures are columns of one table; whether case counts is for the session to say."""
    refuse_repeated(map(NAMED, plan.measures), errors.duplicate_measure)


def within_has_an_order(plan: MatchPlan) -> None:
    """WITHIN measures along the first ORDER BY column."""
    for interval in plan.intervals:
        if not plan.order_by:
            raise errors.within_without_order(interval.span)


def windows_have_a_length(plan: MatchPlan) -> None:
    """No row lies less than 0 after another one. The engine computes other constants later."""
    for interval in plan.intervals:
        if interval.amount is not None and interval.amount.value <= 0:
            raise errors.within_without_length(interval.span, length="0 or less")


def gaps_are_between_two_variables(plan: MatchPlan) -> None:
    """WITHIN FROM a variable TO another one names two that PATTERN or SUBSET have."""
    for gap in plan.gaps:
        for name in (gap.after, gap.to):
            if name is not None and name not in (*plan.variables, *plan.unions):
                raise _unknown(name, "WITHIN", gap.span, plan, plan.unions)
        both = plan.members[gap.after] & plan.members[gap.to]
        if gap.to is not None and both:
            raise errors.gap_of_one_variable(gap.span, name=plan.variables[min(both)])


def classifiers_are_of_selected_rows(plan: MatchPlan) -> None:
    """Where rows may be skipped, a run does not know which of them it has not mapped."""
    if plan.selection is EventSelection.STRICT_CONTIGUITY:
        return
    selection = plan.selection.value
    for one in of_conditions(plan):
        if isinstance(one, Classifier) and one.navigation.physical_offset:
            raise errors.classifier_of_skipped_row(one.span, selection=selection)


def of_conditions(plan: MatchPlan) -> Iterator[Reference]:
    return (one for definition in plan.definitions for one in definition.condition.references)


def longest_matches_are_contiguous(plan: MatchPlan) -> None:
    """Where rows may be skipped, the longest match is not sought."""
    if plan.selects:
        raise errors.longest_that_skips_rows(plan.pattern.span, selection=plan.selection.value)


def conditions_know_the_match_number(plan: MatchPlan) -> None:
    """All matches are tried at once, and numbered when they are complete."""
    for definition in plan.definitions:
        for reference in all_references(definition.condition):
            if reference == MATCH_NUMBER:
                raise errors.match_number_of_all_matches(reference.span)


def all_references(scalar: Scalar) -> Iterator[Reference]:
    """The references of an expression, and those in its aggregates."""
    for reference in scalar.references:
        yield reference
        if isinstance(reference, Aggregate):
            yield from inner_references(reference)


def matches_are_values_of_one_row(plan: MatchPlan) -> None:
    """A match as a value comes out once."""
    for one in plan.matches_as_values:
        raise errors.match_on_each_row(one.span)


def conditions_look_back_as_far_as_is_kept(plan: MatchPlan) -> None:
    """A run keeps the position of every row between the last one and the one looked back to."""
    limit = MOST_ROWS_BACK
    for one in of_conditions(plan):
        if isinstance(one, ColumnReference | Classifier):
            # A column some rows from another is read at its position: those between are not kept.
            physical = -one.navigation.physical_offset if isinstance(one, Classifier) else 0
            logical = one.navigation.logical_offset if one.navigation.end is End.LAST else 0
            if (rows := max(logical, physical)) > limit:
                function = "LAST" if logical >= physical else "PREV"
                raise errors.too_far_back(one.span, function=function, rows=rows, limit=limit)


def partial_matches_can_be_told(plan: MatchPlan) -> None:
    """Runs that are no matches come out beside matches that begin at different rows, or all."""
    partial = plan.partial
    assert partial is not None, "of a plan with partial matches"
    words, span = partial.words, partial.span
    if plan.within_rows is not None:
        raise errors.partial_within_rows(span, words=words)
    if partial.timed_out and plan.within is None:
        raise errors.timeouts_without_within(span)
    if plan.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        raise errors.partial_with_unmatched_rows(span, words=words)
    among_all = plan.output is MatchOutput.ALL and not partial.unfinished
    if plan.output not in ONE_OF_A_ROW and not among_all:
        raise errors.partial_of_other_matches(span, words=words, output=plan.output.value)
    if plan.absences or negations(plan.pattern):
        raise errors.partial_with_negation(span, words=words)
    if plan.gaps:
        raise errors.partial_with_gaps(span, words=words)


def first_matches_are_counted(plan: MatchPlan) -> None:
    """Where only the first matches come out, nothing else does."""
    first, staging = plan.first_matches, plan.staging
    assert first is not None, "of a plan with first matches"
    if partial := plan.partial:
        words = partial.words
        raise errors.partial_with_first_matches(partial.span, words=words, first=first.words)
    if plan.output is MatchOutput.GRAPH:
        raise errors.first_matches_of_form(first.span, first=first.words, form='output="graph"')
    if staging is not None and staging.timeouts is not None:
        raise errors.first_matches_of_form(None, first="first_matches", form="timeouts=True")


def endings_differ(plan: MatchPlan) -> None:
    """How a run has ended is asked only where not all of them are matches."""
    for measure in plan.measures if plan.partial is None else ():
        for reference in measure.value.references:
            if isinstance(reference, MatchValue) and reference.function in OF_ENDINGS:
                name = reference.function.value
                raise errors.ending_of_matches_only(reference.span, function=name)


NOT_ONE_ROW = tuple(one for one in RowsPerMatch if one is not RowsPerMatch.ONE_ROW)
UNMATCHED = (RowsPerMatch.ALL_ROWS_WITH_UNMATCHED,)
AT_ONCE = (MatchOutput.ALL, MatchOutput.GRAPH)

# Each rule after the part of a plan that it is about, and the choices with which that part can
# break it, none for all: a plan without that keeps it.
RULES: tuple[tuple[str, tuple[object, ...], Rule], ...] = (
    ("subsets", (), subset_names_are_new),
    ("subsets", (), subset_members_are_primary),
    ("forbidden", (), negated_variables_have_no_rows),
    ("definitions", (), definitions_are_of_primary_variables),
    ("definitions", (), definitions_are_unique),
    ("after_match", (), skip_target_is_known),
    ("rows_per_match", UNMATCHED, exclusion_has_no_unmatched_rows),
    ("measures", (), measure_names_are_unique),
    ("intervals", (), within_has_an_order),
    ("intervals", (), windows_have_a_length),
    ("gaps", (), gaps_are_between_two_variables),
    ("selects", (), classifiers_are_of_selected_rows),
    ("output", (MatchOutput.LONGEST,), longest_matches_are_contiguous),
    ("output", AT_ONCE, conditions_know_the_match_number),
    ("rows_per_match", NOT_ONE_ROW, matches_are_values_of_one_row),
    ("definitions", (), conditions_look_back_as_far_as_is_kept),
    ("partial", (), partial_matches_can_be_told),
    ("first_matches", (), first_matches_are_counted),
    ("measures", (), endings_differ),
)
