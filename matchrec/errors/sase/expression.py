"""Errors in what WHERE and RETURN of a SASE+ query say about events.

`clause` is WHERE or RETURN.
"""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
)
from matchrec.source import Span

TwoSpans = tuple[Span, Span]

# Identifiers


def bare_name(name: str, clause: str, span: Span) -> MatchRecognizeParseError:
    """An attribute without a variable."""
    return MatchRecognizeParseError(
        f"attribute `{name}` in {clause} has no variable",
        span,
        notes=("every attribute is one of an event of the match",),
        hint=f"write the variable before it: a.{name}, a[1].{name} or a[i].{name}",
    )


def missing_attribute(written: str, clause: str, span: Span) -> MatchRecognizeParseError:
    """`a[1] > 2`."""
    return MatchRecognizeParseError(
        f"`{written}` in {clause} has no attribute", span, hint=f"write an attribute: {written}.x"
    )


def missing_attribute_of_several(written: str, clause: str, span: Span) -> MatchRecognizeParseError:
    """`a[] > 2`."""
    return MatchRecognizeParseError(
        f"`{written}` in {clause} has no attribute",
        span,
        hint=f"write count({written}) or an attribute: avg({written}.x)",
    )


def unknown_index(name: str, written: str, span: Span) -> MatchRecognizeParseError:
    """`a[2]`, `a[i-2]`, `a[b.LEN]`."""
    return MatchRecognizeParseError(
        f"`{name}{written}` is no event of `{name}`",
        span,
        notes=(
            f"one event: {name}[1], {name}[i], {name}[i-1], {name}[{name}.LEN]",
            f"several, in an aggregate: {name}[..i-1], {name}[]",
        ),
        hint=f"write one of them, e.g. {name}[i-1] for the event before {name}[i]",
    )


def kleene_without_index(
    name: str, attribute: str | None, clause: str, span: Span
) -> MatchRecognizePlanError:
    """`a.x`, or `a`, where `a[]` is a Kleene plus."""
    written = f"{name}.{attribute}" if attribute else name
    attribute = attribute or "x"
    return MatchRecognizePlanError(
        f"`{written}` in {clause}: `{name}[]` is a Kleene plus, which has several events",
        span,
        hint=f"write {name}[1].{attribute} for the first, {name}[i].{attribute} for each later "
        f"one, {name}[{name}.LEN].{attribute} for the last",
    )


def index_of_one_event(name: str, written: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`b[1].x` where b is one event."""
    return MatchRecognizePlanError(
        f"`{written}` in {clause}: `{name}` is one event, not a Kleene plus",
        span,
        hint=f"write {name} without brackets, or make it a Kleene plus in PATTERN: T+ {name}[]",
    )


def length_of_one_event(name: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`b.LEN` where b is one event."""
    return MatchRecognizePlanError(
        f"`{name}.LEN` in {clause}: `{name}` is one event, not a Kleene plus",
        span,
        hint=f"write {name}.`len` for an attribute of that name",
    )


def element_in_return(name: str, written: str, span: Span) -> MatchRecognizePlanError:
    """`a[i].x` in RETURN, where no event is the current one."""
    return MatchRecognizePlanError(
        f"`{written}` in RETURN: after the match there is no current event of `{name}`",
        span,
        hint=f"write {name}[1], {name}[{name}.LEN], or an aggregate over {name}[]",
    )


def negated_in_return(name: str, span: Span) -> MatchRecognizePlanError:
    """The variable of a negated component in RETURN."""
    return MatchRecognizePlanError(
        f"`{name}` in RETURN is negated in PATTERN: a match has no such event",
        span,
        hint="return attributes of the other components",
    )


# Aggregates and functions


def range_outside_aggregate(written: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`a[..i-1].x` by itself."""
    name = written.partition("[")[0]
    return MatchRecognizePlanError(
        f"`{written}` in {clause} stands for several events",
        span,
        hint=f"put it into an aggregate, avg({written}.x), or write one event, {name}[i-1].x",
    )


def unknown_aggregate(
    function: str, known: Iterable[str], clause: str, span: Span
) -> MatchRecognizeUnsupportedError:
    """An aggregate, navigation or window function of Spark or SQL that SASE+ does not have."""
    return MatchRecognizeUnsupportedError(
        f"`{function}` over events in {clause} is not supported",
        span,
        notes=(f"aggregates: {listed(known)}, over a[..i-1] or a[]",),
        hint="the event before is a[i-1], the first a[1], the last a[a.LEN]",
    )


def aggregate_of_one_event(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`avg(b.x)`, `max(1)`."""
    return MatchRecognizePlanError(
        f"{function} in {clause} is not over the events of a Kleene plus",
        span,
        hint=f"write {function}(a[..i-1].x) for the events so far, {function}(a[].x) for all",
    )


def two_ranges(
    function: str, ranges: tuple[str, str], clause: str, spans: TwoSpans
) -> MatchRecognizePlanError:
    """`sum(a[].x * c[].y)`."""
    return MatchRecognizePlanError(
        f"{function} in {clause} is over `{ranges[0]}` and over `{ranges[1]}`",
        *spans,
        hint="write two aggregates, each over the events of one variable",
    )


def nested_aggregate(function: str, clause: str, span: Span) -> MatchRecognizePlanError:
    """`avg(sum(a[].x))`."""
    return MatchRecognizePlanError(
        f"{function} cannot stand in an aggregate in {clause}",
        span,
        hint="write the two side by side",
    )


def wrong_number_of_arguments(function: str, given: int, span: Span) -> MatchRecognizePlanError:
    """`avg()`, `max(a[].x, 1)`."""
    return MatchRecognizePlanError(
        f"{function} takes one argument, {given} given",
        span,
        hint=f"write {function}(a[].x)"
        + (", or greatest and least for several values" if given > 1 else ""),
    )


def nondeterministic(function: str, span: Span) -> MatchRecognizePlanError:
    """rand() and its like in a predicate."""
    return MatchRecognizePlanError(
        f"{function}() in WHERE gives another value at every evaluation",
        span,
        notes=("a predicate may be evaluated for an event never, once or several times",),
        hint="compute it as a column of the input",
    )


# Predicates


def element_elsewhere(name: str, spans: TwoSpans) -> MatchRecognizePlanError:
    """`a[i].x < b.x`: an element of a Kleene plus with what is known only after it."""
    return MatchRecognizePlanError(
        f"predicate in WHERE on each event of `{name}[]` and on an event after it",
        *spans,
        notes=(f"{name}[i] is tested as it is selected, when later events are not known",),
        hint=f"write {name}[{name}.LEN].x for the last event, "
        f"or an aggregate for all: max({name}[].x)",
    )


def two_negated(names: tuple[str, str], spans: TwoSpans) -> MatchRecognizePlanError:
    """A predicate on two events neither of which is there."""
    return MatchRecognizePlanError(
        f"predicate in WHERE on two negated components, `{names[0]}` and `{names[1]}`",
        *spans,
        notes=("each negated component is looked for by itself",),
        hint="compare each of them with a component that is not negated",
    )


# Equivalence tests


def empty_equivalence(span: Span) -> MatchRecognizeParseError:
    """`[]`."""
    return MatchRecognizeParseError(
        "equivalence test in WHERE on nothing",
        span,
        hint="write the attributes that are equal in all events: [symbol]",
    )


def equivalence_inside(clause: str, span: Span) -> MatchRecognizePlanError:
    """An equivalence test under OR or NOT, or in RETURN."""
    return MatchRecognizePlanError(
        f"equivalence test in {clause} is not a predicate of its own",
        span,
        notes=("it is about all events of the match",),
        hint="join it to the other predicates with AND, or compare single events: a.x = b.x",
    )


def equivalence_of_variable(names: tuple[str, ...], span: Span) -> MatchRecognizePlanError:
    """`[a.symbol]`."""
    return MatchRecognizePlanError(
        f"equivalence test in WHERE on `{names[0]}` only",
        span,
        notes=("an equivalence test is about all events of the match",),
        hint=f"write [{'.'.join(names[1:])}]",
    )
