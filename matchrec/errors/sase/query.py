"""Errors in a SASE+ query: its syntax, its components, its strategy, its window."""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError, MatchRecognizePlanError, listed
from matchrec.errors.message import parse_error, plan_error, unsupported
from matchrec.source import Span

TwoSpans = tuple[Span, Span]


def unexpected_token(text: str, where: str, expected: str, span: Span) -> MatchRecognizeParseError:
    """A token that cannot stand where it does; `expected` says what can."""
    return MatchRecognizeParseError(
        f"unexpected `{text}` in {where}",
        span,
        notes=(f"expected here: {expected}",),
        hint=_MEANT.get(text.upper()),
    )


_ORDER = "the order is: PATTERN, WHERE, WITHIN, RETURN"
_MEANT = {
    "&&": "write AND",
    "&": "write AND",
    "∧": "write AND",
    "|": "write OR",
    "∨": "write OR",
    "¬": "write NOT, in PATTERN ~",
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write <>",
    "?": "write the value itself",
    ";": "remove it: a query is one statement",
} | dict.fromkeys(("PATTERN", "WHERE", "WITHIN", "RETURN"), _ORDER)


def unexpected_end(where: str, expected: str, span: Span) -> MatchRecognizeParseError:
    """The text ends too early."""
    return MatchRecognizeParseError(
        f"the query ends in {where}" if where != "the query" else "the query is empty",
        span,
        notes=(f"expected here: {expected}",),
    )


# `SEQ()`.
empty_sequence = parse_error(
    "SEQ in PATTERN has no components",
    hint="write an event type and a variable for each event: SEQ(Shelf a, Exit b)",
)

# SEQ in SEQ, negated or not.
nested_sequence = unsupported(
    "SEQ in SEQ is not supported in PATTERN",
    hint="write its components one after the other; only single events can be negated",
)

# `Stock+ a`, `Stock a[]`.
half_kleene = parse_error(
    "component `{variable}` in PATTERN is half a Kleene plus",
    notes=("a Kleene plus has `+` after the event type and `[]` after the variable",),
    hint="write {event_type}+ {variable}[] for one or more events, {event_type} {variable} for one",
)

# `~(Stock+ a[])`.
negated_kleene = unsupported(
    "negated Kleene plus `{variable}[]` in PATTERN is not supported",
    notes=("a negated component is one event that must not be there",),
    hint="leave `+` and `[]` out: where no event may be, no series of them may be",
)

# Two components of one variable.
duplicate_variable = plan_error(
    "two components in PATTERN have the variable `{name}`",
    notes=("upper and lower case do not make two variables different",),
    hint="give one of them another name",
)

# Only negated components.
nothing_positive = plan_error(
    "PATTERN has negated components only, so a match would have no events",
    hint="add a component without `~`",
)


# A negated component at the beginning or the end of a query without WITHIN.
negation_without_window = plan_error(
    "negated component `{name}` at the {end} of PATTERN without WITHIN",
    notes=("without WITHIN all events {side} the match would count",),
    hint="add WITHIN, e.g. WITHIN 12 hours",
)


# A variable that no component has. known: as they are written, by their names: `a[]` by `a`.
unknown_component = plan_error(
    "unknown variable `{name}` in {clause}",
    notes=("PATTERN has: {known}",),
    near="write {near}, or add {name} to PATTERN",
    hint="add {name} to PATTERN",
)

# The strategy

# A word after WHERE that is none of the four strategies.
unknown_strategy = parse_error(
    "unknown event selection strategy `{name}` in WHERE",
    notes=("strategies: {known}",),
    near="write {near}",
    hint="write the strategy before the predicates: WHERE skip_till_next_match { a.x > 1 }",
)


# `a` for a Kleene plus or `b[]` for a single event, in the strategy's list. written: in PATTERN.
argument_written_otherwise = plan_error(
    "component `{name}` in the strategy's list in WHERE is {what} in PATTERN",
    hint="write {written}",
)


# A component twice in the strategy's list.
argument_twice = plan_error(
    "component `{written}` is twice in the strategy's list in WHERE", hint="remove one of them"
)


def arguments_missing(strategy: str, missing: list[str], span: Span) -> MatchRecognizePlanError:
    """Positive components that are not in the strategy's list."""
    return MatchRecognizePlanError(
        f"`{strategy}` in WHERE does not list {listed(f'`{name}`' for name in missing)}",
        span,
        notes=("one strategy is for all components; negated ones may be left out",),
        hint=f"add {listed(missing)}, or leave the whole list out",
    )


# partition_contiguity without an equivalence test.
nothing_to_partition_by = plan_error(
    "partition_contiguity in WHERE without an equivalence test",
    notes=("events of a match are neighbours among those with equal tested attributes",),
    hint="add an equivalence test, e.g. [symbol], or write strict_contiguity",
)


# The window


# A word after a number that is no unit.
unknown_unit = parse_error(
    "unknown unit `{name}` in WITHIN",
    notes=("units: {known}",),
    near="write {near}",
    hint="write e.g. WITHIN 12 hours",
)


# A month or a year.
calendar_unit = unsupported(
    "unit `{unit}` in WITHIN is not supported",
    notes=("months and years differ in length",),
    hint="write days or weeks",
)

# `1 hour 30`.
missing_unit = parse_error(
    "`{number}` in WITHIN has no unit",
    hint="write a unit after each number: WITHIN 1 hour 30 minutes",
)

# `1 hour 20 events`.
mixed_units = unsupported(
    "WITHIN by time and by events at once is not supported",
    hint="write one of them: WITHIN 1 hour, or WITHIN 500 EVENTS",
)

# `1.5 hours`.
fraction_of_unit = unsupported(
    "`{number} {unit}` in WITHIN is not a whole number of its unit",
    notes=("only seconds can have a fraction",),
    hint="write a smaller unit as well: WITHIN 1 hour 30 minutes",
)

# `WITHIN 99999999999 events`.
too_many_events = unsupported(
    "WITHIN of over {limit:,} events", hint="lower it, or leave WITHIN out"
)

# `0 EVENTS`, `1.5 EVENTS`.
not_a_number_of_events = parse_error(
    "`{number}` EVENTS in WITHIN", hint="write a whole number from 1 on"
)
