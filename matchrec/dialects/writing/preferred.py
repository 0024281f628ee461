"""Replace all matches of a plan by the standard's preferred matches if they are the same."""

from __future__ import annotations

from dataclasses import replace

from matchrec.plan import pattern
from matchrec.plan.clauses import AfterMatchSkip, EventSelection, MatchOutput, SkipTo
from matchrec.plan.match_plan import MatchPlan

# For an output of matches, the AFTER MATCH SKIP with which the preferred matches are the same, if
# each row starts at most one match.
_EQUIVALENT_SKIPS = {
    MatchOutput.ALL: SkipTo.NEXT_ROW,
    MatchOutput.NON_OVERLAPPING: SkipTo.PAST_LAST_ROW,
}


def prefer_matches(plan: MatchPlan) -> MatchPlan:
    """Return the plan with the standard's preferred matches instead of all matches.

    If a row may start several matches, these can differ, and the plan is returned unchanged.
    """
    skip = _EQUIVALENT_SKIPS.get(plan.output)
    if skip is None or not starts_one_match(plan):
        return plan
    return replace(plan, output=MatchOutput.PREFERRED, after_match=AfterMatchSkip(skip))


def starts_one_match(plan: MatchPlan) -> bool:
    """Return whether each row starts at most one match.

    This is so if no row may be skipped and the row pattern matches a single sequence of variables.
    """
    is_strict = plan.selection is EventSelection.STRICT_CONTIGUITY
    has_conditions_on_match = bool(plan.absences) or plan.match_condition is not None
    return is_strict and not has_conditions_on_match and has_single_variable_sequence(plan.pattern)


def has_single_variable_sequence(row_pattern: pattern.RowPattern) -> bool:
    """Return whether the pattern matches exactly one sequence of variables, and it is not empty.

    `A B{2}` matches only `A B B`. `A B?` and `A | B` match two sequences.
    """
    match row_pattern:
        case pattern.Variable() | pattern.Negation():
            return True
        case pattern.Concatenation(parts):
            return all(has_single_variable_sequence(part) for part in parts)
        case pattern.Quantified(part, least, most):
            return 0 < least == most and has_single_variable_sequence(part)
        case _:
            return False
