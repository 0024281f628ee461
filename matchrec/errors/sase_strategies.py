"""Errors in the event selection strategy of a SASE+ query."""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizePlanError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.wording import join_lines, join_names
from matchrec.source import Span

# For each strategy: which events a match may skip.
_SKIPPED_EVENTS = {
    "strict_contiguity": "none",
    "partition_contiguity": "events that differ in the attributes of an equivalence test",
    "skip_till_next_match": "events that the match cannot select",
    "skip_till_any_match": "all, so that all combinations are matches",
}


def _describe_strategies(strategies: Sequence[str]) -> str:
    """Return a note that says what a strategy decides, with a line for each strategy."""
    lines = ["the strategy decides which events a match may skip:"]
    for strategy in strategies:
        meaning = _SKIPPED_EVENTS.get(strategy)
        lines.append(f"{strategy}: {meaning}" if meaning else strategy)
    return "\n".join(lines)


def missing_strategy(
    span: Span, *, strategies: Sequence[str], predicates: str
) -> MatchRecognizeParseError:
    """Return the error for predicates in WHERE without an event selection strategy.

    Args:
        span: the location in the text of the query.
        strategies: the names of all strategies.
        predicates: the text after WHERE.
    """
    return MatchRecognizeParseError(
        "missing event selection strategy in WHERE",
        span,
        notes=(_describe_strategies(strategies),),
        hint=f"write WHERE skip_till_next_match {{ {join_lines(predicates)} }}",
        code="missing-strategy",
    )


def unknown_strategy(
    span: Span, *, name: str, strategies: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for a word before `{` in WHERE that is not a selection strategy.

    Args:
        span: the location in the text of the query.
        name: the word.
        strategies: the names of all strategies.
    """
    near = find_nearest(name, strategies)
    note = f"strategies: {join_names(strategies)}" if near else _describe_strategies(strategies)
    hint = "write the strategy before the predicates: WHERE skip_till_next_match { a.x > 1 }"
    if near:
        hint = f"write {near}"
    return MatchRecognizeParseError(
        f"unknown event selection strategy `{name}` in WHERE",
        span,
        notes=(note,),
        hint=hint,
        code="unknown-strategy",
    )


def strategy_component_differs(
    span: Span, *, name: str, what: str, component: str
) -> MatchRecognizePlanError:
    """Return the error for a component that a strategy lists in another form than PATTERN.

    Examples are skip_till_next_match(a) for a Kleene plus, and (b[]) for a single event.

    Args:
        span: the location in the text of the query.
        name: the component as the strategy lists it.
        what: what the component is in PATTERN, in words.
        component: the component as PATTERN writes it.
    """
    return MatchRecognizePlanError(
        f"component `{name}` in the strategy's list in WHERE is {what} in PATTERN",
        span,
        hint=f"write {component}",
        code="strategy-component-differs",
    )


def duplicate_strategy_component(*spans: Span | None, name: str) -> MatchRecognizePlanError:
    """Return the error for a strategy that lists a component twice, as in (a, a)."""
    return MatchRecognizePlanError(
        f"component `{name}` is listed twice in the strategy in WHERE",
        *spans,
        hint="remove one of them",
        code="duplicate-strategy-component",
    )


def strategy_components_missing(
    span: Span, *, strategy: str, missing: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a strategy that lists some components of PATTERN, but not all."""
    return MatchRecognizePlanError(
        f"`{strategy}` in WHERE does not list {join_names(missing)}",
        span,
        notes=("one strategy is for all components; negated ones may be left out",),
        hint=f"add {join_names(missing)}, or leave the whole list out",
        code="strategy-components-missing",
    )


def partition_contiguity_without_test(span: Span) -> MatchRecognizePlanError:
    """Return the error for partition_contiguity without an equivalence test."""
    return MatchRecognizePlanError(
        "missing equivalence test for partition_contiguity in WHERE",
        span,
        notes=("events of a match are neighbours among those with equal tested attributes",),
        hint="add an equivalence test, such as [symbol], or write strict_contiguity",
        code="partition-contiguity-without-test",
    )
