"""Errors in the expressions of a SASE+ query: its events, attributes, aggregates and predicates.

In the arguments, `clause` is WHERE or RETURN, `name` is the variable of a component, and `events`
is the variable with its index as the query writes it, such as `a[i-1]` or `a[]`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.wording import join_names, shorten
from matchrec.source import Span

# Events and attributes.


def attribute_without_variable(span: Span, *, name: str, clause: str) -> MatchRecognizeParseError:
    """Return the error for an attribute without a variable, as in WHERE price > 10."""
    events = f"a.{name}, a[1].{name} or a[i].{name}"
    if clause == "RETURN":
        events = f"a.{name} or a[1].{name}"
    return MatchRecognizeParseError(
        f"missing variable before attribute `{name}` in {clause}",
        span,
        notes=("every attribute belongs to an event of the match",),
        hint=(f"write the variable before it, {events}, or quotes for a string, '{name}'"),
        code="attribute-without-variable",
    )


def missing_attribute(span: Span, *, events: str, clause: str) -> MatchRecognizeParseError:
    """Return the error for an event where a value is needed, as in WHERE a > 10."""
    all_columns = ", or leave RETURN out for all columns" if clause == "RETURN" else ""
    return MatchRecognizeParseError(
        f"missing attribute after `{events}` in {clause}",
        span,
        hint=f"write an attribute, such as {events}.x{all_columns}",
        code="missing-attribute",
    )


def missing_attribute_of_several(
    span: Span, *, events: str, clause: str
) -> MatchRecognizeParseError:
    """Return the error for the events of a Kleene plus without an attribute, as in a[] > 10."""
    return MatchRecognizeParseError(
        f"missing attribute after `{events}` in {clause}",
        span,
        hint=f"write count({events}), or an attribute, such as avg({events}.x)",
        code="missing-attribute",
    )


def unknown_index(span: Span, *, name: str, index: str) -> MatchRecognizeParseError:
    """Return the error for an index that SASE+ does not have, as in `a[2]`, `a[i-2]`, `a[b.LEN]`.

    Args:
        span: the location in the text of the query.
        name: the variable.
        index: the index with its brackets.
    """
    hint = f"write one of them, such as {name}[i-1] for the event before {name}[i]"
    inside = "".join(index.strip("[]").split()).lower()
    if inside in ("last", "-1", "n"):
        hint = f"write {name}[{name}.LEN] for the last event"
    elif inside in ("0", "first"):
        hint = f"write {name}[1] for the first event"
    elif inside == "i+1":
        hint = f"write {name}[i] for this event, and {name}[i-1] for the event before it"
    elif inside.isdecimal():
        hint = f"write {name}[1] for the first event, {name}[{name}.LEN] for the last"
    return MatchRecognizeParseError(
        f"unknown event `{name}{index}` of `{name}`",
        span,
        notes=(
            f"one event: {name}[1], {name}[i], {name}[i-1], {name}[{name}.LEN]",
            f"several, in an aggregate: {name}[..i-1], {name}[]",
        ),
        hint=hint,
        code="unknown-index",
    )


def missing_kleene_index(
    span: Span, *, identifier: str, clause: str, name: str, attribute: str
) -> MatchRecognizePlanError:
    """Return the error for an attribute of a whole Kleene plus, as in a.price for `T+ a[]`.

    Args:
        span: the attribute in the text of the query.
        identifier: the variable and the attribute, `a.price`.
        clause: WHERE or RETURN.
        name: the variable, `a`.
        attribute: the attribute, `price`.
    """
    later_events = f"{name}[i].{attribute} for each later one, " if clause == "WHERE" else ""
    count = ""
    if attribute.lower() in ("size", "length", "count"):
        count = f", or {name}.LEN for the number of events"
    return MatchRecognizePlanError(
        f"missing index in `{identifier}` in {clause}",
        span,
        notes=(f"`{name}[]` is a Kleene plus, which has several events",),
        hint=(
            f"write {name}[1].{attribute} for the first, {later_events}"
            f"{name}[{name}.LEN].{attribute} for the last{count}"
        ),
        code="missing-kleene-index",
    )


def index_on_single_event(
    span: Span, *, events: str, clause: str, name: str, kleene_plus: str
) -> MatchRecognizePlanError:
    """Return the error for an index after the variable of a single event, as in b[1].price.

    Args:
        span: where the event is written.
        events: the variable with its index.
        clause: WHERE or RETURN.
        name: the variable.
        kleene_plus: its component as a Kleene plus, such as `Shelf+ b[]`.
    """
    return MatchRecognizePlanError(
        f"the index in `{events}` is not allowed in {clause}",
        span,
        notes=(f"`{name}` is one event, not a Kleene plus",),
        hint=f"write {name} instead of {events}, or {kleene_plus} in PATTERN for a Kleene plus",
        code="index-on-single-event",
    )


def len_of_single_event(span: Span, *, name: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for LEN of a single event, as in b.LEN."""
    return MatchRecognizePlanError(
        f"`{name}.LEN` is not allowed in {clause}",
        span,
        notes=(f"`{name}` is one event, not a Kleene plus",),
        hint=f"write {name}.`len` for an attribute of that name",
        code="len-of-single-event",
    )


def element_in_return(span: Span, *, events: str, name: str) -> MatchRecognizePlanError:
    """Return the error for a[i] or a[i-1] in RETURN."""
    return MatchRecognizePlanError(
        f"`{events}` is not allowed in RETURN",
        span,
        notes=(f"after the match there is no current event of `{name}`",),
        hint=f"write {name}[1], {name}[{name}.LEN], or an aggregate over {name}[]",
        code="element-in-return",
    )


def negated_in_return(span: Span, *, name: str) -> MatchRecognizePlanError:
    """Return the error for a negated component in RETURN."""
    return MatchRecognizePlanError(
        f"`{name}` is not allowed in RETURN",
        span,
        notes=(f"PATTERN negates `{name}`, so a match has no such event",),
        hint="return attributes of the other components",
        code="negated-in-return",
    )


# Aggregates and functions.


def range_outside_aggregate(
    span: Span, *, events: str, clause: str, name: str, attribute: str
) -> MatchRecognizePlanError:
    """Return the error for several events outside an aggregate, as in a[..i-1].x > 1.

    Args:
        span: where the events are written.
        events: the variable with its index.
        clause: WHERE or RETURN.
        name: the variable.
        attribute: the attribute, such as `x`.
    """
    one_event = f"one event, {name}[i-1].{attribute}"
    if clause == "RETURN":
        one_event = f"one event, {name}[1].{attribute} or {name}[{name}.LEN].{attribute}"
    return MatchRecognizePlanError(
        f"`{events}` in {clause} has several events, but only an aggregate takes several",
        span,
        hint=f"write an aggregate, such as avg({events}.{attribute}), or {one_event}",
        code="range-outside-aggregate",
    )


# Functions of SQL for which SASE+ has indexes, such as `a[1]` for the first event.
_NAVIGATIONS = frozenset(("FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE", "PREV", "LAG"))


def unknown_aggregate(
    span: Span, *, function: str, clause: str, aggregates: Sequence[str], name: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a function over several events that is not an aggregate.

    Args:
        span: where the function is written.
        function: the function.
        clause: WHERE or RETURN.
        aggregates: the aggregates of SASE+.
        name: a Kleene plus of the query; empty if it has none.
    """
    if not name:
        hint = "write an aggregate over a Kleene plus, such as T+ events[] in PATTERN"
    elif function.upper() in _NAVIGATIONS and clause == "RETURN":
        hint = f"write {name}[1] for the first event, {name}[{name}.LEN] for the last"
    elif function.upper() in _NAVIGATIONS:
        hint = (
            f"write {name}[i-1] for the previous event, {name}[1] for the first, "
            f"{name}[{name}.LEN] for the last"
        )
    elif clause == "RETURN":
        hint = (
            "write one of these; or leave RETURN out, and compute it over the events of the result"
        )
    else:
        hint = "write one of these, or compute it over the events of the result"
    return MatchRecognizeUnsupportedError(
        f"`{function}` over events in {clause} is not supported",
        span,
        notes=(f"aggregates: {join_names(aggregates)}",),
        hint=hint,
        code="unknown-aggregate",
    )


def aggregate_over_single_event(
    span: Span, *, call: str, clause: str, name: str, kleene_plus: str
) -> MatchRecognizePlanError:
    """Return the error for an aggregate over a single event, as in avg(b.x) for `T b`.

    Args:
        span: where the event is written.
        call: the aggregate over all events of a Kleene plus, such as `avg(b[].x)`.
        clause: WHERE or RETURN.
        name: the variable of the event.
        kleene_plus: the component of the event as a Kleene plus, such as `Shelf+ b[]`.
    """
    return _make_aggregate_over_single_event(
        span,
        function=call.partition("(")[0],
        clause=clause,
        notes=(f"`{name}` is one event, not a Kleene plus",),
        hint=f"write {kleene_plus} in PATTERN, and {call} here",
    )


def aggregate_without_range(
    span: Span, *, function: str, clause: str, name: str, attribute: str
) -> MatchRecognizePlanError:
    """Return the error for an aggregate without a range of events, as in avg(a.x) for `T+ a[]`.

    Args:
        span: where the event is written.
        function: the aggregate.
        clause: WHERE or RETURN.
        name: the variable of the Kleene plus.
        attribute: the attribute with a point before it, such as `.x`; may be empty.
    """
    hint = f"write {function}({name}[]{attribute})"
    if clause != "RETURN":
        so_far = f"{function}({name}[..i-1]{attribute})"
        hint = f"{hint} for all events, {so_far} for the events so far"
    return _make_aggregate_over_single_event(span, function=function, clause=clause, hint=hint)


def aggregate_without_event(
    span: Span, *, function: str, clause: str, name: str
) -> MatchRecognizePlanError:
    """Return the error for an aggregate that reads no event, as in count(1).

    Args:
        span: where the aggregate is written.
        function: the aggregate.
        clause: WHERE or RETURN.
        name: a Kleene plus of the query; empty if it has none.
    """
    attribute = "" if function == "count" else ".x"
    hint = f"write {function}({name or 'events'}[]{attribute})"
    if not name:
        hint = f"{hint}, with T+ events[] in PATTERN"
    return _make_aggregate_over_single_event(span, function=function, clause=clause, hint=hint)


def _make_aggregate_over_single_event(
    span: Span, *, function: str, clause: str, hint: str, notes: tuple[str, ...] = ()
) -> MatchRecognizePlanError:
    """Return the error for an aggregate that does not read the events of a Kleene plus."""
    return MatchRecognizePlanError(
        f"`{function}` in {clause} needs the events of a Kleene plus",
        span,
        notes=notes,
        hint=hint,
        code="aggregate-over-single-event",
    )


def aggregate_over_two_ranges(
    *spans: Span, function: str, clause: str, ranges: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an aggregate over two ranges of events, as in avg(a[].x + c[].x)."""
    return MatchRecognizePlanError(
        f"`{function}` in {clause} reads two ranges, `{ranges[0]}` and `{ranges[1]}`",
        *spans,
        hint="write two aggregates, each over the events of one variable",
        code="aggregate-over-two-ranges",
    )


def aggregate_in_aggregate(span: Span, *, function: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for an aggregate or a.LEN inside an aggregate."""
    return MatchRecognizePlanError(
        f"`{function}` is not allowed in an aggregate in {clause}",
        span,
        hint=f"write {function} outside the aggregate",
        code="aggregate-in-aggregate",
    )


def one_argument_expected(
    span: Span, *, function: str, count: int, name: str
) -> MatchRecognizePlanError:
    """Return the error for an aggregate with no or several arguments, as in max(a[].x, 1).

    Args:
        span: where the aggregate is written.
        function: the aggregate.
        count: the number of arguments.
        name: a Kleene plus of the query; empty if it has none.
    """
    argument = f"{name or 'events'}[]" if function == "count" else f"{name or 'events'}[].x"
    hints = [f"write {function}({argument})"]
    if function in ("min", "max"):
        scalar = "least" if function == "min" else "greatest"
        hints.append(f"for the {scalar} of several values of one event write {scalar}")
    return MatchRecognizePlanError(
        f"`{function}` takes one argument, not {count}",
        span,
        hint="; ".join(hints),
        code="one-argument-expected",
    )


# Predicates.


def predicate_on_later_event(*spans: Span, name: str, attribute: str) -> MatchRecognizePlanError:
    """Return the error for a predicate on a[i] and on an event after it, as in a[i].x < b.x.

    Args:
        spans: where a[i] and the other event are written.
        name: the variable of the Kleene plus.
        attribute: the attribute of a[i].
    """
    return MatchRecognizePlanError(
        f"a predicate on each event of `{name}[]` and on a later event is not allowed in WHERE",
        *spans,
        notes=(f"{name}[i] is tested when it is selected, before later events are known",),
        hint=(
            f"write {name}[{name}.LEN].{attribute} for the last event, or an aggregate for all: "
            f"max({name}[].{attribute})"
        ),
        code="predicate-on-later-event",
    )


def predicate_on_two_negated(*spans: Span, names: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a predicate that reads two negated components."""
    return MatchRecognizePlanError(
        f"a predicate on two negated components, `{names[0]}` and `{names[1]}`, is not allowed in "
        "WHERE",
        *spans,
        notes=("matchrec looks for each negated component alone",),
        hint="compare each of them with a component that is not negated",
        code="predicate-on-two-negated",
    )


# Equivalence tests.


def empty_equivalence_test(span: Span) -> MatchRecognizeParseError:
    """Return the error for the equivalence test []."""
    return MatchRecognizeParseError(
        "the equivalence test in WHERE is empty",
        span,
        hint="write the attributes that are equal in all events: [symbol]",
        code="empty-equivalence-test",
    )


def equivalence_test_in_return(span: Span, *, test: str) -> MatchRecognizePlanError:
    """Return the error for an equivalence test in RETURN.

    Args:
        span: where the test is written.
        test: the test, such as `[symbol]`.
    """
    return MatchRecognizePlanError(
        "an equivalence test must be a separate predicate in WHERE",
        span,
        notes=("it is a predicate about all events of the match",),
        hint=f"write {test} in WHERE, between the braces",
        code="equivalence-test-in-predicate",
    )


def equivalence_test_in_predicate(
    span: Span, *, attribute: str, single_events: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an equivalence test within a predicate, as in [symbol] OR a.x > 1.

    Args:
        span: where the test is written.
        attribute: an attribute of the test.
        single_events: events of a match, as a predicate writes them, such as `a` or `a[1]`.
    """
    hint = "join it to the other predicates with AND"
    if len(single_events) > 1:
        comparison = f"{single_events[0]}.{attribute} = {single_events[1]}.{attribute}"
        hint = f"{hint}, or compare single events: {comparison}"
    return MatchRecognizePlanError(
        "an equivalence test must be a separate predicate in WHERE",
        span,
        notes=("it is about all events of the match",),
        hint=hint,
        code="equivalence-test-in-predicate",
    )


def comparison_in_equivalence_test(span: Span, *, comparison: str) -> MatchRecognizeParseError:
    """Return the error for [at > 3].

    Args:
        span: the operator and what follows it.
        comparison: the comparison as a predicate, such as `a.at > 3`.
    """
    return MatchRecognizeParseError(
        "a comparison is not allowed in an equivalence test",
        span,
        notes=("[x] means that all events of a match have the same value of x",),
        hint=f"write it outside of the brackets: {shorten(comparison)}",
        code="comparison-in-equivalence-test",
    )


def equivalence_test_on_variable(
    span: Span, *, variable: str, attribute: str
) -> MatchRecognizePlanError:
    """Return the error for an equivalence test that names a variable, as in [a.symbol]."""
    return MatchRecognizePlanError(
        f"an equivalence test on one variable, `{variable}`, is not allowed in WHERE",
        span,
        notes=("an equivalence test is about all events of the match",),
        hint=f"write [{attribute}]",
        code="equivalence-test-on-variable",
    )
