"""Rules that every plan must keep, whatever language it was written in.

Each rule is a function `check_...` of a plan that raises a `MatchRecognizeError` if the plan breaks
the rule. `RULES` lists them in the order in which `check_plan` checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from matchrec.errors import MatchRecognizePlanError
from matchrec.errors import rules as errors
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import negations as negation_errors
from matchrec.errors.sql.expression import unknown_variable
from matchrec.plan.clauses import (
    ONE_MATCH_PER_START,
    Definition,
    EventSelection,
    MatchOutput,
    RowsPerMatch,
    SkipTo,
)
from matchrec.plan.expression import (
    MATCH_NUMBER,
    RUN_ENDING_FUNCTIONS,
    Aggregate,
    Classifier,
    ColumnReference,
    End,
    MatchValue,
    Reference,
    Scalar,
    find_variable,
    list_inner_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Exclusion, list_negations, walk_pattern
from matchrec.plan.row_counts import always_is_first_row
from matchrec.source import Span

PlanRule = Callable[[MatchPlan], None]

# How many rows before the last one a condition may look back in the match.
MAX_ROWS_BACK = 1_000

# The keywords after AFTER MATCH SKIP TO or SKIP.
SKIP_KEYWORDS = ("NEXT", "PAST", "FIRST", "LAST", "ROW")


def check_plan(plan: MatchPlan) -> None:
    """Check a plan against all rules.

    Raises:
        MatchRecognizeError: the plan breaks a rule. If it breaks several, the error is about the
            first of them in `RULES`.
    """
    for check_rule in RULES:
        check_rule(plan)


def check_subset_names(plan: MatchPlan) -> None:
    """Check that no union variable is a primary variable or defined twice."""
    for subset in plan.subsets:
        if subset.name in plan.ids:
            raise errors.subset_name_taken(subset.span, name=subset.name)
    names = ((subset.name, subset.span) for subset in plan.subsets)
    check_unique(names, errors.duplicate_subset)


def check_subset_members(plan: MatchPlan) -> None:
    """Check that all members of union variables are primary variables."""
    members = {subset.name: subset.members for subset in plan.subsets}
    for subset in plan.subsets:
        spans = subset.member_spans or (subset.span,) * len(subset.members)
        for member, span in zip(subset.members, spans, strict=True):
            if member in plan.unions:
                raise errors.union_in_subset(
                    span, member=member, name=subset.name, members=members[member]
                )
            if member not in plan.ids:
                raise _make_unknown_variable(member, "SUBSET", span, plan, unions=())


def _make_unknown_variable(
    name: str, clause: str, span: Span | None, plan: MatchPlan, unions: tuple[str, ...]
) -> MatchRecognizePlanError:
    """Return the error for an unknown variable, which lists the variables that may be written.

    Args:
        name: the unknown name.
        clause: the part of the clause that contains the name, such as `SUBSET`.
        span: where the name is written; None if the user did not write it.
        plan: the plan, whose primary variables may be written.
        unions: the union variables that may be written.
    """
    return unknown_variable(span, name=name, clause=clause, primary=plan.variables, unions=unions)


@dataclass(frozen=True, slots=True)
class VariableUse:
    """A use of a variable: a part of the clause names it and reads its rows."""

    # The variable; None for the universal variable.
    name: str | None
    # The part of the clause, such as `SUBSET`.
    clause: str
    # Where the variable is written; None if the user did not write it.
    span: Span | None


def check_negated_variables(plan: MatchPlan) -> None:
    """Check that nothing but its own condition reads a variable under NOT: it has no rows."""
    if not plan.variables_without_rows:
        return
    for use in walk_variable_uses(plan):
        if use.name is not None and use.name in plan.variables_without_rows:
            raise negation_errors.variable_under_negation(
                use.span, name=use.name, clause=use.clause
            )


def walk_variable_uses(plan: MatchPlan) -> Iterator[VariableUse]:
    """Yield the uses of variables outside PATTERN, except uses in a variable's own condition."""
    skip = plan.after_match
    yield VariableUse(skip.variable, "AFTER MATCH SKIP", skip.span)
    for subset in plan.subsets:
        for member in subset.members:
            yield VariableUse(member, "SUBSET", subset.span)
    for gap in plan.gaps:
        yield VariableUse(gap.after, "WITHIN", gap.span)
        yield VariableUse(gap.to, "WITHIN", gap.span)
    for definition in plan.definitions:
        for use in walk_uses_in_expression(definition.condition, "DEFINE"):
            if use.name != definition.variable:
                yield use
    for measure in plan.measures:
        yield from walk_uses_in_expression(measure.value, "MEASURES")


def walk_uses_in_expression(scalar: Scalar, clause: str) -> Iterator[VariableUse]:
    """Yield the uses of variables in an expression of this part of the clause."""
    for reference in walk_references(scalar):
        yield VariableUse(find_variable(reference), clause, reference.span)


def check_defined_variables(plan: MatchPlan) -> None:
    """Check that each condition belongs to a variable of the pattern.

    If the variable was probably lost in an f-string, the error says so: see `check_lost_braces`.
    """
    for definition in plan.definitions:
        name = definition.variable
        if name in plan.unions:
            raise errors.definition_of_union(definition.span, name=name)
        if name not in plan.variables:
            check_lost_braces(definition, plan)
            similar_name = find_misspelt_variable(name, plan)
            is_pattern_wrong = None
            if similar_name is not None:
                is_pattern_wrong = is_used_instead(name, similar_name, plan)
            raise errors.definition_not_in_pattern(
                definition.span,
                name=name,
                variables=plan.variables,
                near=similar_name,
                is_pattern_wrong=is_pattern_wrong,
            )


def find_misspelt_variable(name: str, plan: MatchPlan) -> str | None:
    """Return the variable of PATTERN that a name in DEFINE is probably a misspelling of, or None.

    Variables without a condition are tried first. A doubled last letter, `CC` for `C`, is a mistake
    that `find_nearest` does not find.
    """
    defined_variables = {definition.variable for definition in plan.definitions}
    undefined_variables = [
        variable for variable in plan.variables if variable not in defined_variables
    ]
    for variables in (undefined_variables, plan.variables):
        similar_name = find_nearest(name, variables)
        if similar_name is not None:
            return similar_name
        for variable in variables:
            if name == variable + variable[-1] or variable == name + name[-1]:
                return variable
    return None


def is_used_instead(name: str, similar_name: str, plan: MatchPlan) -> bool | None:
    """Return whether conditions and measures use `name` instead of `similar_name`.

    Args:
        name: a name in DEFINE that is not in the pattern. The parser has read it as a qualifier of
            columns wherever it is used.
        similar_name: a similar name that is in the pattern.
        plan: the plan that has the definition of `name`.

    Returns:
        True if only `name` is used, False if only `similar_name` is, and None if both or neither
        are.
    """
    used_names = set()
    for scalar in plan.expressions:
        for reference in walk_references(scalar):
            variable = find_variable(reference)
            if variable is not None:
                used_names.add(variable)
            elif isinstance(reference, ColumnReference):
                used_names.update(part.upper() for part in reference.column_path[:-1])
    is_name_used = name.upper() in used_names
    is_similar_name_used = similar_name in used_names
    return None if is_name_used == is_similar_name_used else is_name_used


def check_lost_braces(definition: Definition, plan: MatchPlan) -> None:
    """Check that a Python f-string has not turned `B{3}` of the pattern into `B3`.

    That is likely if `B3` is in the pattern but has no condition: Python reads `{3}` in an f-string
    as the expression 3.

    Args:
        definition: the condition of `B`, which is not in the pattern.
        plan: the plan that has the definition.
    """
    defined_variables = {definition.variable for definition in plan.definitions}
    for variable in plan.variables:
        digits = variable.removeprefix(definition.variable)
        is_name_with_digits = digits != variable and digits.isdecimal()
        if is_name_with_digits and variable not in defined_variables:
            raise errors.braces_lost_in_definition(
                definition.span, name=definition.variable, variables=plan.variables, count=digits
            )


def check_definitions_are_unique(plan: MatchPlan) -> None:
    """Check that no variable has two conditions."""
    names = ((definition.variable, definition.span) for definition in plan.definitions)
    check_unique(names, errors.duplicate_definition)


def check_unique(
    names: Iterable[tuple[str, Span | None]],
    make_error: Callable[..., MatchRecognizePlanError],
    fold: Callable[[str], str] = str,
) -> None:
    """Check that no name is repeated.

    Args:
        names: the names, each with where it is written, in the order of the text.
        make_error: makes the error from the spans of both occurrences and the name.
        fold: returns a name in the form in which names are compared, such as in lower case.

    Raises:
        MatchRecognizePlanError: a name is repeated.
    """
    spans: dict[str, Span | None] = {}
    for name, span in names:
        key = fold(name)
        if key in spans:
            raise make_error(spans[key], span, name=name)
        spans[key] = span


def check_skip_target(plan: MatchPlan) -> None:
    """Check that AFTER MATCH SKIP TO goes to a variable of PATTERN or SUBSET."""
    target = plan.after_match.variable
    if target is None or target in (*plan.variables, *plan.unions):
        return
    span = plan.after_match.span
    # The parser reads `SKIP TO NEXT` without ROW as a variable.
    if target in SKIP_KEYWORDS:
        raise errors.incomplete_skip(span, word=target)
    raise _make_unknown_variable(target, "AFTER MATCH SKIP", span, plan, plan.unions)


def check_skip_advances(plan: MatchPlan) -> None:
    """Check that AFTER MATCH SKIP TO does not go to the first row of every match.

    The search would find the same match forever. If only some matches begin with this row, the
    search raises the error at such a match.
    """
    skip = plan.after_match
    if skip.variable is None or skip.variable not in (*plan.variables, *plan.unions):
        return
    members = frozenset(plan.variables[member] for member in plan.members[skip.variable])
    is_last = skip.to is SkipTo.LAST
    if always_is_first_row(plan.pattern, members, last_of_members=is_last):
        other_variables = [name for name in plan.variables if name not in members]
        raise errors.skip_always_to_first_row(
            skip.span, variable=skip.variable, others=other_variables
        )


def check_exclusions(plan: MatchPlan) -> None:
    """Check that a plan with ALL ROWS PER MATCH WITH UNMATCHED ROWS excludes no rows.

    In the result, an excluded row would look like an unmatched row.
    """
    if plan.rows_per_match is not RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        return
    for node in walk_pattern(plan.pattern):
        if isinstance(node, Exclusion):
            raise errors.exclusion_with_unmatched_rows(node.span)


def check_measure_names(plan: MatchPlan) -> None:
    """Check that no two measures have the same name: they are columns of one table.

    Names that differ only in case pass: whether they are the same name depends on the session.
    """
    names = ((measure.name, measure.span) for measure in plan.measures)
    check_unique(names, errors.duplicate_measure)


def check_order_of_windows(plan: MatchPlan) -> None:
    """Check that windows have an order: WITHIN measures along the first ORDER BY column."""
    for interval in plan.window_lengths:
        if not plan.order_by:
            raise errors.within_without_order(interval.span)


def check_lengths_of_windows(plan: MatchPlan) -> None:
    """Check that windows are longer than 0.

    Only literals are checked here. Other constants are checked when the engine has computed them.
    """
    for interval in plan.window_lengths:
        if interval.amount is not None and interval.amount.value <= 0:
            is_time = interval.amount.is_time
            raise errors.within_not_positive(interval.span, length="0 or less", is_time=is_time)


def check_gaps(plan: MatchPlan) -> None:
    """Check that `WITHIN ... FROM a TO b` names two known variables without a row in common."""
    for gap in plan.gaps:
        if gap.after is None or gap.to is None:
            continue
        for name in (gap.after, gap.to):
            if name not in (*plan.variables, *plan.unions):
                raise _make_unknown_variable(name, "WITHIN", gap.span, plan, plan.unions)
        common_members = plan.members[gap.after] & plan.members[gap.to]
        if common_members:
            name = plan.variables[min(common_members)]
            raise errors.within_between_same_variable(gap.span, name=name)


def check_classifiers(plan: MatchPlan) -> None:
    """Check that no condition reads the CLASSIFIER of a neighbour if rows may be skipped.

    A run does not remember whether it has skipped or mapped a row.
    """
    if plan.selection is EventSelection.STRICT_CONTIGUITY:
        return
    for reference in walk_condition_references(plan):
        if isinstance(reference, Classifier) and reference.navigation.physical_offset:
            raise errors.classifier_of_skipped_row(reference.span, selection=plan.selection.value)


def walk_condition_references(plan: MatchPlan) -> Iterator[Reference]:
    """Yield the references of all conditions, without references inside aggregates."""
    for definition in plan.definitions:
        yield from definition.condition.references


def check_longest_matches(plan: MatchPlan) -> None:
    """Check that a plan that outputs the longest match skips no rows."""
    if plan.output is MatchOutput.LONGEST and plan.needs_event_selection:
        raise errors.longest_match_skips_rows(plan.pattern.span, selection=plan.selection.value)


def check_match_number(plan: MatchPlan) -> None:
    """Check that no condition reads the match number if all matches are output.

    All matches are searched for together, and a match has a number only when it is complete.
    """
    if plan.output not in (MatchOutput.ALL, MatchOutput.GRAPH):
        return
    for definition in plan.definitions:
        for reference in walk_references(definition.condition):
            if reference == MATCH_NUMBER:
                raise errors.match_number_with_all_matches(reference.span)


def walk_references(scalar: Scalar) -> Iterator[Reference]:
    """Yield the references of an expression, and after each aggregate the references inside it."""
    for reference in scalar.references:
        yield reference
        if isinstance(reference, Aggregate):
            yield from list_inner_references(reference)


def check_matched_rows(plan: MatchPlan) -> None:
    """Check that MATCHED_ROWS is not used if a match has several output rows."""
    if plan.rows_per_match.summarizes_matches:
        return
    if plan.matched_rows_calls:
        raise errors.matched_rows_with_all_rows(plan.matched_rows_calls[0].span)


def check_rows_back(plan: MatchPlan) -> None:
    """Check that no condition looks back too far in the match.

    A run keeps the positions of all rows between its last row and the one it looks back to.
    """
    for reference in walk_condition_references(plan):
        if not isinstance(reference, ColumnReference | Classifier):
            continue
        look_back = find_look_back(reference)
        if look_back.row_count > MAX_ROWS_BACK:
            raise errors.looks_too_far_back(
                reference.span,
                function=look_back.function,
                rows=look_back.row_count,
                limit=MAX_ROWS_BACK,
            )


class LookBack(NamedTuple):
    """The distance that a reference looks back in the match."""

    # The function that looks back, LAST or PREV.
    function: str
    # How many rows it looks back; 0 if it does not look back.
    row_count: int


def find_look_back(reference: ColumnReference | Classifier) -> LookBack:
    """Return how far a reference looks back by LAST or PREV, whichever is farther."""
    navigation = reference.navigation
    rows_of_last = navigation.logical_offset if navigation.end is End.LAST else 0
    # PREV of a column finds its row by the position in the partition, so the run keeps nothing for
    # it. PREV of a CLASSIFIER needs the rows in between, because it reads how they are mapped.
    rows_of_prev = -navigation.physical_offset if isinstance(reference, Classifier) else 0
    if rows_of_last >= rows_of_prev:
        return LookBack("LAST", rows_of_last)
    return LookBack("PREV", rows_of_prev)


def check_partial_matches(plan: MatchPlan) -> None:
    """Check that the other options of a plan allow its partial matches.

    They must be output with one match for each starting row; runs that have timed out may also be
    output with all matches. Timeouts need a window along the order column. Windows in rows, gaps,
    NOTs and unmatched rows are not allowed.
    """
    partial = plan.partial
    if partial is None:
        return
    words = partial.words
    span = partial.span
    if plan.within_rows is not None:
        raise errors.timeouts_within_rows(span, words=words)
    if partial.shows_timed_out and plan.within is None:
        raise errors.timeouts_without_within(span)
    if plan.rows_per_match is RowsPerMatch.ALL_ROWS_WITH_UNMATCHED:
        raise errors.timeouts_with_unmatched_rows(span, words=words)
    has_one_match_per_start = plan.output in ONE_MATCH_PER_START
    is_timed_out_among_all = plan.output is MatchOutput.ALL and not partial.shows_unfinished
    if not has_one_match_per_start and not is_timed_out_among_all:
        raise errors.timeouts_with_output(span, words=words, output=plan.output.value)
    if plan.absences or list_negations(plan.pattern):
        raise errors.timeouts_with_negation(span, words=words)
    if plan.gaps:
        raise errors.timeouts_with_gaps(span, words=words)


def check_first_matches(plan: MatchPlan) -> None:
    """Check that FIRST n MATCHES comes without partial matches, a match graph and timeouts."""
    first_matches = plan.first_matches
    if first_matches is None:
        return
    words = first_matches.words
    if plan.partial is not None:
        raise errors.timeouts_with_first_matches(
            plan.partial.span, words=plan.partial.words, first=words
        )
    if plan.output is MatchOutput.GRAPH:
        raise errors.first_matches_not_supported(
            first_matches.span, first=words, form='output="graph"'
        )
    if plan.staging is not None and plan.staging.timeouts is not None:
        raise errors.first_matches_not_supported(None, first="first_matches", form="timeouts=True")


def check_match_functions(plan: MatchPlan) -> None:
    """Check that measures read how a run has ended only if partial matches are output, too."""
    if plan.partial is not None:
        return
    for measure in plan.measures:
        for reference in measure.value.references:
            if isinstance(reference, MatchValue) and reference.function in RUN_ENDING_FUNCTIONS:
                function = reference.function.value
                raise errors.status_without_timeouts(reference.span, function=function)


# The rules in the order in which they are checked.
RULES: tuple[PlanRule, ...] = (
    check_subset_names,
    check_subset_members,
    check_negated_variables,
    check_defined_variables,
    check_definitions_are_unique,
    check_skip_target,
    check_skip_advances,
    check_exclusions,
    check_measure_names,
    check_order_of_windows,
    check_lengths_of_windows,
    check_gaps,
    check_classifiers,
    check_longest_matches,
    check_match_number,
    check_matched_rows,
    check_rows_back,
    check_partial_matches,
    check_first_matches,
    check_match_functions,
)
