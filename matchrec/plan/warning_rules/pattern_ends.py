"""Warnings about the end of a row pattern, and about row patterns that have only empty matches.

    PATTERN (A*?)                            all matches are empty
    PATTERN (A B*?)                          B never takes a row
    PATTERN (A X*), no X in DEFINE           X takes all rows that follow
    PATTERN (A B+) SKIP TILL NEXT MATCH      the match ends before the first row that is not a B
    PATTERN (A NOT B) WITHIN ...             NOT B tests only the next row, not the whole window

A *loop* is a quantified part whose number of repetitions is not fixed; `C?` is one, too.

Loops and NOTs in other places raise no warning. A variable without a condition is useful:

- for the first row of `STRT DOWN+`,
- for the rows between A and B in `A X*? B`,
- to classify all rows in `(UP | DOWN | X)+`,
- in `A X*`, if WITHIN or a gap ends the match.

A variable with the condition TRUE raises no warning either, because the user has written that
every row is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.expression import is_constant_word
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_counts import count_rows
from matchrec.plan.warning_rules.references import show_users_pattern


def warn_about_last_loops(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if all matches are empty, otherwise warnings about loops at the end."""
    if has_only_empty_matches(plan):
        yield warnings.only_empty_matches(
            plan.pattern.span, pattern=patterns.show_pattern(plan.pattern)
        )
    else:
        yield from _check_last_loops(plan)


def has_only_empty_matches(plan: MatchPlan) -> bool:
    """Return whether no match can have a row, whatever the conditions are."""
    # `simplify` removes parts such as `A{0}`.
    if not patterns.list_variable_names(patterns.simplify(plan.pattern)):
        return True
    return plan.output is MatchOutput.PREFERRED and prefers_empty(plan.pattern)


def _check_last_loops(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each loop at the end of PATTERN that takes too few rows, or all rows.

    A reluctant loop takes only its minimum of rows, because nothing after it needs more.
    """
    for loop in find_last_loops(plan.pattern):
        if not loop.is_greedy and plan.output is MatchOutput.PREFERRED:
            yield warnings.reluctant_end(
                loop.span,
                loop=patterns.show_pattern(loop),
                lower_bound=loop.least,
                greedy_loop=patterns.show_pattern(replace(loop, is_greedy=True)),
                minimal_part=show_minimal_part(loop),
            )
        elif takes_all_rows(plan, loop):
            yield warnings.loop_takes_all_rows(
                loop.span,
                loop=show_users_pattern(loop),
                variables=[show_users_pattern(variable) for variable in list_variables(loop)],
            )


def takes_all_rows(plan: MatchPlan, loop: patterns.Quantified) -> bool:
    """Return whether a loop at the end of PATTERN takes all rows, probably by mistake.

    A loop takes all rows that follow if a repetition can take any row, and neither an upper bound,
    a window nor a gap limits the loop. The condition TRUE counts as a condition, because the user
    who writes it means all rows.
    """
    limits = (loop.most, plan.within, plan.within_rows, plan.row_gap)
    has_limit = any(limit is not None for limit in limits)
    if not loop.is_greedy or has_limit:
        return False
    defined_variables = {definition.variable for definition in plan.definitions}
    if not defined_variables:
        return False  # `warn_about_conditions` yields a warning for the whole pattern.
    variables = patterns.list_variable_names(loop.part)
    return defined_variables.isdisjoint(variables) and can_take_one_row(loop.part)


def can_take_one_row(part: patterns.RowPattern) -> bool:
    """Return whether a part of variables without conditions takes any row, whatever rows follow.

    To keep the test simple, the result is False for a part with an anchor, a NOT or a reluctant
    quantifier.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> parts = map(parse_row_pattern, ("C", "C | D", "C | D E", "C D", "C $", "C??"))
    >>> list(map(can_take_one_row, parts))
    [True, True, True, False, False, False]
    """
    for node in patterns.walk_pattern(part):
        if isinstance(node, _RowlessTest):
            return False
        if isinstance(node, patterns.Quantified) and not node.is_greedy:
            return False
    count = count_rows(part)
    return count.least <= 1 <= count.most


def list_variables(pattern: patterns.RowPattern) -> list[patterns.Variable]:
    """Return the first node of each variable of a pattern, from left to right."""
    variables: dict[str, patterns.Variable] = {}
    for node in patterns.walk_pattern(pattern):
        if isinstance(node, patterns.Variable):
            variables.setdefault(node.name, node)
    return list(variables.values())


def show_minimal_part(loop: patterns.Quantified) -> str:
    """Return a pattern that takes only the minimum of a loop; the empty string if that is 0.

    The minimum of `B{2,}?` is `B{2}`.
    """
    if loop.least == 0:
        return ""
    if loop.least == 1:
        return patterns.show_pattern(loop.part)
    return patterns.show_pattern(replace(loop, most=loop.least, is_greedy=True))


def warn_about_early_ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each loop at the end of PATTERN that ends although later rows satisfy it.

    With SKIP TILL, a preferred match ends before the first row that the loop would have to skip. A
    non-overlapping match ends as soon as it is complete, whether or not it can skip rows.
    """
    can_skip_rows = plan.selection is not EventSelection.STRICT_CONTIGUITY
    is_non_overlapping = plan.output is MatchOutput.NON_OVERLAPPING
    ends_before_skipped_rows = can_skip_rows and plan.output is MatchOutput.PREFERRED
    if not is_non_overlapping and not ends_before_skipped_rows:
        return
    restricted_variables = {
        definition.variable
        for definition in plan.definitions
        if not is_constant_word(definition.condition, "TRUE")
    }
    for loop in find_last_loops(plan.pattern):
        if not loop.is_greedy:
            continue
        if is_non_overlapping:
            yield warnings.loop_ends_when_complete(
                loop.span,
                loop=patterns.show_pattern(loop),
                lower_bound=loop.least,
                selection=plan.selection.value if can_skip_rows else "",
            )
        elif not restricted_variables.isdisjoint(patterns.list_variable_names(loop)):
            # A loop without restricted variables takes every row, so it never skips one.
            yield warnings.loop_ends_before_skipped_row(
                loop.span, loop=patterns.show_pattern(loop), selection=plan.selection.value
            )


def warn_about_negated_ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each NOT at the end that tests the next row, not the whole window.

    Most readers expect that a NOT before WITHIN forbids rows until the window ends. With event
    selection, the NOT does so and raises no warning.
    """
    has_window = plan.within is not None or plan.within_rows is not None
    if has_window and not plan.needs_event_selection:
        for negation in find_negations_without_successor(plan.pattern):
            yield warnings.negation_of_next_row_only(
                negation.span, negation=patterns.show_pattern(negation)
            )


def find_negations_without_successor(pattern: patterns.RowPattern) -> Iterator[patterns.Negation]:
    """Yield each NOT after which a concatenation has only other NOTs.

    NOTs in loops and in PERMUTE are left out.

    `A NOT B C?` has no such NOT, because NOT B also decides whether C can follow. For the same
    pattern, `pattern.list_last_negations` returns NOT B, because C can have no row. The difference
    matters: the warning advises event selection, which rejects NOT B before a part that can be left
    out.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A NOT B C (D | E NOT F NOT G)")
    >>> [patterns.show_pattern(negation) for negation in find_negations_without_successor(pattern)]
    ['NOT G', 'NOT F']
    """
    match pattern:
        case patterns.Negation():
            yield pattern
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from find_negations_without_successor(part)
                if not isinstance(part, patterns.Negation):
                    return
        case patterns.Alternation(parts):
            for part in parts:
                yield from find_negations_without_successor(part)
        case patterns.Exclusion(part):
            yield from find_negations_without_successor(part)


def prefers_empty(pattern: patterns.RowPattern) -> bool:
    """Return whether the most preferred word of a row pattern has no rows, NOTs or anchors.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> [prefers_empty(parse_row_pattern(text)) for text in ("A*", "A*?", "A*? | B", "A?? $")]
    [False, True, True, False]
    """
    match pattern:
        case patterns.Empty():
            return True
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return all(prefers_empty(part) for part in patterns.list_children(pattern))
        case patterns.Alternation(parts):
            return prefers_empty(parts[0])
        case patterns.Quantified(most=0):
            return True
        case patterns.Quantified(part=part, least=least, is_greedy=is_greedy):
            return (not is_greedy and least == 0) or prefers_empty(part)
        case _:
            return False


# Nodes that match no row, and match only at some positions of the partition.
_RowlessTest = patterns.PartitionStart | patterns.PartitionEnd | patterns.Negation


def find_last_loops(pattern: patterns.RowPattern) -> Iterator[patterns.Quantified]:
    """Yield the loops after which a match may end, whatever rows follow.

    They are in order from the end of PATTERN to its start, with alternatives from left to right.
    Parts with a fixed count, such as `E{2}`, are not loops. Loops inside loops and inside PERMUTE
    are left out: `A (B C*?)+` yields only the outer loop.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A+ B* (C? | D E{2})")
    >>> [patterns.show_pattern(loop) for loop in find_last_loops(pattern)]
    ['C?', 'B*', 'A+']
    """
    match pattern:
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from find_last_loops(part)
                if not can_be_left_out(part):
                    return
        case patterns.Alternation(parts):
            for part in parts:
                yield from find_last_loops(part)
        case patterns.Exclusion(part):
            yield from find_last_loops(part)
        case patterns.Quantified(least=least, most=most) if least != most:
            yield pattern


def can_be_left_out(part: patterns.RowPattern) -> bool:
    """Return whether a match can have no row of a part, whatever the row position and the rows are.

    To keep the test simple, the result is also False for `(B $)?` and every other part with an
    anchor or a NOT.
    """
    has_rowless_test = any(isinstance(node, _RowlessTest) for node in patterns.walk_pattern(part))
    return patterns.can_be_empty(part) and not has_rowless_test
