"""Errors in what WHERE and RETURN of a SASE+ query say about events.

`clause` is WHERE or RETURN.
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.message import parse_error, plan_error, unsupported
from matchrec.source import Span

TwoSpans = tuple[Span, Span]

# Identifiers


# An attribute without a variable.
bare_name = parse_error(
    "attribute `{name}` in {clause} has no variable",
    notes=("every attribute is one of an event of the match",),
    hint="write the variable before it: a.{name}, a[1].{name} or a[i].{name}",
)

# `a[1] > 2`.
missing_attribute = parse_error(
    "`{written}` in {clause} has no attribute", hint="write an attribute: {written}.x"
)

# `a[] > 2`.
missing_attribute_of_several = parse_error(
    "`{written}` in {clause} has no attribute",
    hint="write count({written}) or an attribute: avg({written}.x)",
)

# `a[2]`, `a[i-2]`, `a[b.LEN]`.
unknown_index = parse_error(
    "`{name}{written}` is no event of `{name}`",
    notes=(
        "one event: {name}[1], {name}[i], {name}[i-1], {name}[{name}.LEN]",
        "several, in an aggregate: {name}[..i-1], {name}[]",
    ),
    hint="write one of them, e.g. {name}[i-1] for the event before {name}[i]",
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


# `b[1].x` where b is one event.
index_of_one_event = plan_error(
    "`{written}` in {clause}: `{name}` is one event, not a Kleene plus",
    hint="write {name} without brackets, or make it a Kleene plus in PATTERN: T+ {name}[]",
)

# `b.LEN` where b is one event.
length_of_one_event = plan_error(
    "`{name}.LEN` in {clause}: `{name}` is one event, not a Kleene plus",
    hint="write {name}.`len` for an attribute of that name",
)

# `a[i].x` in RETURN, where no event is the current one.
element_in_return = plan_error(
    "`{written}` in RETURN: after the match there is no current event of `{name}`",
    hint="write {name}[1], {name}[{name}.LEN], or an aggregate over {name}[]",
)

# The variable of a negated component in RETURN.
negated_in_return = plan_error(
    "`{name}` in RETURN is negated in PATTERN: a match has no such event",
    hint="return attributes of the other components",
)


# Aggregates and functions


# `a[..i-1].x` by itself.
range_outside_aggregate = plan_error(
    "`{written}` in {clause} stands for several events",
    hint="put it into an aggregate, avg({written}.x), or write one event, {name}[i-1].x",
)


# An aggregate, navigation or window function of Spark or SQL that SASE+ does not have.
unknown_aggregate = unsupported(
    "`{function}` over events in {clause} is not supported",
    notes=("aggregates: {known}, over a[..i-1] or a[]",),
    hint="the event before is a[i-1], the first a[1], the last a[a.LEN]",
)

# `avg(b.x)`, `max(1)`.
aggregate_of_one_event = plan_error(
    "{function} in {clause} is not over the events of a Kleene plus",
    hint="write {function}(a[..i-1].x) for the events so far, {function}(a[].x) for all",
)


# `sum(a[].x * c[].y)`.
two_ranges = plan_error(
    "{function} in {clause} is over `{ranges[0]}` and over `{ranges[1]}`",
    hint="write two aggregates, each over the events of one variable",
)


# `avg(sum(a[].x))`.
nested_aggregate = plan_error(
    "{function} cannot stand in an aggregate in {clause}", hint="write the two side by side"
)


def wrong_number_of_arguments(function: str, given: int, span: Span) -> MatchRecognizePlanError:
    """`avg()`, `max(a[].x, 1)`."""
    return MatchRecognizePlanError(
        f"{function} takes one argument, {given} given",
        span,
        hint=f"write {function}(a[].x)"
        + (", or greatest and least for several values" if given > 1 else ""),
    )


# Predicates


# `a[i].x < b.x`: an element of a Kleene plus with what is known only after it.
element_elsewhere = plan_error(
    "predicate in WHERE on each event of `{name}[]` and on an event after it",
    notes=("{name}[i] is tested as it is selected, when later events are not known",),
    hint="write {name}[{name}.LEN].x for the last event, or an aggregate for all: max({name}[].x)",
)


# A predicate on two events neither of which is there.
two_negated = plan_error(
    "predicate in WHERE on two negated components, `{names[0]}` and `{names[1]}`",
    notes=("each negated component is looked for by itself",),
    hint="compare each of them with a component that is not negated",
)


# Equivalence tests


# `[]`.
empty_equivalence = parse_error(
    "equivalence test in WHERE on nothing",
    hint="write the attributes that are equal in all events: [symbol]",
)

# An equivalence test under OR or NOT, or in RETURN.
equivalence_inside = plan_error(
    "equivalence test in {clause} is not a predicate of its own",
    notes=("it is about all events of the match",),
    hint="join it to the other predicates with AND, or compare single events: a.x = b.x",
)


# `[a.symbol]`.
equivalence_of_variable = plan_error(
    "equivalence test in WHERE on `{variable}` only",
    notes=("an equivalence test is about all events of the match",),
    hint="write [{attribute}]",
)
