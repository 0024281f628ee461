"""Warnings about alternatives of PATTERN that can never be part of the preferred match.

Alternatives are tried from left to right. At the end of PATTERN, a match is complete as soon as an
alternative matches, so later alternatives are tried only if it does not match:

    PATTERN (A | B C), no A in DEFINE     A matches every row
    PATTERN (B | B C)                     B matches whenever B C does
    PATTERN (A (B* | C))                  B* also matches without rows

If a part must follow, a later alternative can be needed, so there is no warning:

    PATTERN ((A | B C) D)                 A D may not match where B C D does
    PATTERN ((B | B C){2})                the second repetition may not match after B
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import is_constant_word
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.pattern_ends import can_be_left_out, has_only_empty_matches
from matchrec.plan.warning_rules.references import show_users_pattern


class LastAlternation(NamedTuple):
    """An alternation after which nothing must follow."""

    alternatives: tuple[patterns.RowPattern, ...]
    # Whether the alternation is in a loop.
    is_in_loop: bool


def warn_about_dead_alternatives(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each alternative that never matches because of an earlier one.

    With LONGEST MATCH, ALL MATCHES or event selection, the order of alternatives does not decide
    alone which match is output, so there is no warning. If no variable has a condition, or if all
    matches are empty, another warning says so.
    """
    is_preferred = plan.output is MatchOutput.PREFERRED and plan.partial is None
    if not is_preferred or plan.needs_event_selection:
        return
    if not plan.definitions or has_only_empty_matches(plan):
        return
    restricted_variables = {
        definition.variable
        for definition in plan.definitions
        if not is_constant_word(definition.condition, "TRUE")
    }
    for alternation in find_last_alternations(plan.pattern, is_in_loop=False):
        for index, alternative in enumerate(alternation.alternatives):
            if restricted_variables.isdisjoint(patterns.list_variable_names(alternative)):
                continue  # it may mean "any other row", or its condition is missing, too
            if alternative in alternation.alternatives[:index]:
                yield warnings.repeated_alternative(
                    alternative.span, alternative=show_users_pattern(alternative)
                )
                continue
            for earlier in alternation.alternatives[:index]:
                reason = find_reason(
                    earlier, alternative, restricted_variables, is_in_loop=alternation.is_in_loop
                )
                if reason is not None:
                    yield warnings.dead_alternative(
                        alternative.span,
                        alternative=show_users_pattern(alternative),
                        earlier=show_users_pattern(earlier),
                        reason=reason,
                    )
                    break


def find_last_alternations(
    pattern: patterns.RowPattern, *, is_in_loop: bool
) -> Iterator[LastAlternation]:
    """Yield each alternation after which a match can end, whatever rows follow.

    Args:
        pattern: a part of PATTERN after which a match can end.
        is_in_loop: whether this part is in a loop.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> for text in ("A (B | C) D?", "(A | B (C | D))+", "(A | B) C", "(A | B){2}", "(A | B $)"):
    ...     alternations = find_last_alternations(parse_row_pattern(text), is_in_loop=False)
    ...     shown = [[patterns.show_pattern(part) for part in parts] for parts, _ in alternations]
    ...     print(text, shown)
    A (B | C) D? [['B', 'C']]
    (A | B (C | D))+ [['A', 'B (C | D)'], ['C', 'D']]
    (A | B) C []
    (A | B){2} []
    (A | B $) [['A', 'B $']]
    """
    match pattern:
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from find_last_alternations(part, is_in_loop=is_in_loop)
                if not can_be_left_out(part):
                    return
        case patterns.Alternation(parts):
            yield LastAlternation(parts, is_in_loop)
            for part in parts:
                yield from find_last_alternations(part, is_in_loop=is_in_loop)
        case patterns.Exclusion(part):
            yield from find_last_alternations(part, is_in_loop=is_in_loop)
        case patterns.Quantified(part=part, least=least, most=most) if least <= 1:
            yield from find_last_alternations(part, is_in_loop=is_in_loop or most != 1)


def find_reason(
    earlier: patterns.RowPattern,
    later: patterns.RowPattern,
    restricted_variables: Collection[str],
    *,
    is_in_loop: bool,
) -> str | None:
    """Return why an alternative always matches where a later one does; None if that is not certain.

    Args:
        earlier: the alternative that is tried first.
        later: the alternative that is tried next.
        restricted_variables: the variables with a condition other than TRUE.
        is_in_loop: whether the alternatives are in a loop. There, rules about empty repetitions
            make it uncertain what an alternative without rows does.
    """
    if can_be_left_out(earlier):
        return None if is_in_loop else f"{show_users_pattern(earlier)} also matches without rows"
    part = earlier
    if isinstance(part, patterns.Quantified) and part.least == 1:
        part = part.part
    takes_any_row = isinstance(part, patterns.Variable) and part.name not in restricted_variables
    if takes_any_row and not patterns.can_be_empty(later):
        return f"{show_users_pattern(part)} matches every row"
    if begins_with(later, earlier):
        return f"{show_users_pattern(earlier)} matches whenever {show_users_pattern(later)} does"
    return None


def begins_with(pattern: patterns.RowPattern, beginning: patterns.RowPattern) -> bool:
    """Return whether each match of a pattern begins with a match of another one.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pairs = (("B C D", "B C"), ("B+ C", "B"), ("B{2}", "B"), ("B* C", "B"), ("C B", "B"))
    >>> [begins_with(*map(parse_row_pattern, pair)) for pair in pairs]
    [True, True, True, False, False]
    """
    parts = patterns.list_top_level_parts(pattern)
    first_parts = patterns.list_top_level_parts(beginning)
    if parts[: len(first_parts)] == first_parts:
        return True
    first_part = parts[0]
    if not isinstance(first_part, patterns.Quantified) or first_part.least == 0:
        return False
    return begins_with(first_part.part, beginning)
