"""Other forms of a plan with the same matches, for languages that say a thing in one way only."""

from __future__ import annotations

from dataclasses import replace

from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.expression import ColumnReference, End, Navigation, Reference
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import (
    Concatenation,
    Negation,
    Quantified,
    RowPattern,
    Variable,
    top,
    variable_names,
)
from matchrec.writing.names import with_each

_OUTPUT = {
    SkipTo.NEXT_ROW: MatchOutput.ALL,
    SkipTo.PAST_LAST_ROW: MatchOutput.NON_OVERLAPPING,
}
_SKIP = {output: skip for skip, output in _OUTPUT.items()}


def with_named_rows(plan: MatchPlan) -> MatchPlan:
    """Each reference to a row by the variable to which it is certainly mapped.

    In the condition of B, `price`, `B.price` and the last row of a union that has B are the same;
    of a variable with one row, so are its first and its last.
    """
    single = single_rows(plan.pattern)
    return with_each(plan, lambda each, own: _named(each, own, plan, single))


def single_rows(pattern: RowPattern) -> frozenset[str]:
    """The variables to which one row of every match is mapped, and no more."""
    parts = top(pattern)
    names = [part.name for part in parts if isinstance(part, Variable)]
    elsewhere = [name for part in parts for name in variable_names(part)]
    return frozenset(name for name in names if elsewhere.count(name) == 1)


def _named(
    reference: Reference, own: str | None, plan: MatchPlan, single: frozenset[str]
) -> Reference:
    """The same row by the name of a primary variable where that is known."""
    if not isinstance(reference, ColumnReference):
        return reference
    navigation = reference.navigation
    if navigation.logical_offset:
        return reference
    if own is not None and navigation.end is End.LAST and _includes(plan, navigation.variable, own):
        return replace(reference, navigation=replace(navigation, variable=own))
    found = _end_of_match(navigation, plan) if own is None else navigation.variable
    if found in single and navigation.end is End.FIRST:
        navigation = replace(navigation, end=End.LAST)
    return replace(reference, navigation=replace(navigation, variable=found))


def _includes(plan: MatchPlan, name: str | None, own: str) -> bool:
    return name in (None, own) or plan.ids.get(own) in plan.members(name)


def _end_of_match(navigation: Navigation, plan: MatchPlan) -> str | None:
    """The variable, primary or union, that certainly has the first, or last, row of a match."""
    if navigation.variable is not None:
        return navigation.variable
    parts = top(plan.pattern)
    match parts[0 if navigation.end is End.FIRST else -1]:
        case Variable(name):
            return name
        case Quantified(Variable(name), least) if least > 0:
            return name
    if navigation.end is End.FIRST:
        return None
    last = {name for part in parts[-2:] for name in variable_names(part)}
    certain = len(parts) > 1 and isinstance(parts[-2], Variable)
    unions = (one.name for one in plan.subsets if certain and set(one.members) == last)
    return next(unions, None)


def as_all_matches(plan: MatchPlan) -> MatchPlan:
    """All matches in place of preferred ones, where each row starts one match at most.

    Then to go on at the next row gives all matches; past the last row, those that do not overlap.
    """
    output = _OUTPUT.get(plan.after_match.to)
    preferred = plan.output is MatchOutput.PREFERRED
    if not preferred or output is None or not starts_one(plan):
        return plan
    return replace(plan, output=output, after_match=AfterMatchSkip())


def as_preferred(plan: MatchPlan) -> MatchPlan:
    """Preferred matches in place of all of them, where each row starts one match at most."""
    skip = _SKIP.get(plan.output)
    if skip is None or not starts_one(plan):
        return plan
    return replace(plan, output=MatchOutput.PREFERRED, after_match=AfterMatchSkip(skip))


def starts_one(plan: MatchPlan) -> bool:
    """Whether no row can start two matches: rows follow each other and there is no choice."""
    strict = plan.selection is EventSelection.STRICT_CONTIGUITY
    return strict and not plan.absences and plan.closing is None and is_fixed(plan.pattern)


def is_fixed(pattern: RowPattern) -> bool:
    """Whether the pattern has one word, and that a row."""
    match pattern:
        case Variable() | Negation():
            return True
        case Concatenation(parts):
            return all(map(is_fixed, parts))
        case Quantified(part, least, most):
            return 0 < least == most and is_fixed(part)
        case _:
            return False
