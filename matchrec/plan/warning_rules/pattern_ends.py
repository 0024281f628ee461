"""Warnings about the end of a row pattern, and about row patterns that have only empty matches.

    PATTERN (A B*?)     B never takes a row
    PATTERN (A X*)      X has no condition, so it takes all rows that follow
    PATTERN (A*?)       all matches are empty

Only the last part raises a warning. Before it, a variable without a condition is useful: for the
first row of `STRT DOWN+`, or the rows between A and B of `A X*? B`. It is also useful to classify
all rows, `(UP | DOWN | X)+`, and in a window, `A X*`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.expression import Scalar, render
from matchrec.plan.match_plan import MatchPlan


def warn_about_ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning if all matches are empty, or the last loop takes no row or any row."""
    is_preferred = plan.output is MatchOutput.PREFERRED
    has_empty_preferred = is_preferred and prefers_empty(plan.pattern)
    if has_empty_preferred or not patterns.list_variable_names(plan.pattern):
        yield warnings.only_empty_matches(
            plan.pattern.span, pattern=patterns.show_pattern(plan.pattern)
        )
        return
    defined = {definition.variable for definition in plan.definitions}
    windows = (plan.within, plan.within_rows, plan.row_gap)
    has_window = any(window is not None for window in windows)
    for loop in find_last_loops(plan.pattern):
        if not loop.greedy:
            if is_preferred:
                yield warnings.reluctant_end(
                    loop.span,
                    loop=patterns.show_pattern(loop),
                    least=loop.least,
                    greedy_loop=patterns.show_pattern(replace(loop, greedy=True)),
                    minimal_part=show_fewest(loop),
                )
            continue
        takes_any_row = isinstance(loop.part, patterns.Variable) and loop.part.name not in defined
        if takes_any_row and loop.most is None and defined and not has_window:
            yield warnings.loop_takes_all_rows(
                loop.span,
                loop=patterns.show_pattern(loop),
                variable=patterns.show_pattern(loop.part),
            )


def show_fewest(loop: patterns.Quantified) -> str:
    """Return a pattern that takes as few rows as a reluctant loop; empty if it takes no row."""
    if loop.least == 0:
        return ""
    if loop.least == 1:
        return patterns.show_pattern(loop.part)
    return patterns.show_pattern(replace(loop, most=loop.least, greedy=True))


def warn_about_early_ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each loop at the end of PATTERN that ends earlier than its rows do.

    With SKIP TILL, a preferred match ends before the first row that it would have to skip there.
    A non-overlapping match ends as soon as it is complete, whether or not it may skip rows.
    """
    skips = plan.selection is not EventSelection.STRICT_CONTIGUITY
    completes_first = plan.output is MatchOutput.NON_OVERLAPPING
    if not completes_first and not (skips and plan.output is MatchOutput.PREFERRED):
        return
    restricted = {
        definition.variable for definition in plan.definitions if not is_true(definition.condition)
    }
    for loop in find_last_loops(plan.pattern):
        if not loop.greedy:
            continue
        if completes_first:
            yield warnings.loop_ends_when_complete(
                loop.span, loop=patterns.show_pattern(loop), least=loop.least
            )
        elif not restricted.isdisjoint(patterns.list_variable_names(loop)):
            # A loop without restricted variables takes every row, so it never skips one.
            yield warnings.loop_ends_before_skipped_row(
                loop.span, loop=patterns.show_pattern(loop), selection=plan.selection.value
            )


def is_true(condition: Scalar) -> bool:
    """Return whether a condition is the literal TRUE, perhaps in parentheses."""
    return not condition.references and render(condition, str).strip(" ()").upper() == "TRUE"


def warn_about_negated_ends(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each NOT at the end of PATTERN that tests only the next row of a window.

    If rows may be skipped, such a NOT holds until the window ends. Most readers expect that from
    WITHIN in any case.
    """
    has_window = plan.within is not None or plan.within_rows is not None
    if (
        has_window
        and plan.selection is EventSelection.STRICT_CONTIGUITY
        and not plan.needs_event_selection
    ):
        for negation in find_last_negations(plan.pattern):
            yield warnings.negation_of_next_row_only(
                negation.span, negation=patterns.show_pattern(negation)
            )


def find_last_negations(pattern: patterns.RowPattern) -> Iterator[patterns.Negation]:
    """Yield each NOT that no part with rows follows, except inside loops.

    In `A NOT B C?`, NOT B is not one of them, although C may have no row: it also decides whether
    C may follow, and event selection does not accept it there.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A NOT B C (D | E NOT F NOT G)")
    >>> [patterns.show_pattern(negation) for negation in find_last_negations(pattern)]
    ['NOT G', 'NOT F']
    """
    match pattern:
        case patterns.Negation():
            yield pattern
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from find_last_negations(part)
                if not isinstance(part, patterns.Negation):
                    return
        case patterns.Alternation(parts):
            for part in parts:
                yield from find_last_negations(part)
        case patterns.Exclusion(part):
            yield from find_last_negations(part)


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
        case patterns.Quantified(part, least, _, greedy):
            return prefers_empty(part) if greedy or least else True
        case _:
            return False


# Nodes without rows that hold only at some positions. A part that contains one cannot be left out
# everywhere.
_CONDITIONAL = patterns.PartitionStart | patterns.PartitionEnd | patterns.Negation


def find_last_loops(pattern: patterns.RowPattern) -> Iterator[patterns.Quantified]:
    """Yield the quantified parts after which a match may end, whatever rows follow.

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
    """Return whether a match may have no row of a part, at any position of the partition."""
    is_conditional = any(isinstance(node, _CONDITIONAL) for node in patterns.walk_pattern(part))
    return patterns.may_be_empty(part) and not is_conditional
