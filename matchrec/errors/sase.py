"""Errors in a SASE+ query: its syntax, components, strategy, window and predicates.

In every message, `clause` is WHERE or RETURN.
"""

from __future__ import annotations

from matchrec.errors.message import give_codes, parse_error, plan_error, unsupported

unexpected_token = parse_error("""`{text}` is not allowed here in {where}
    code: unexpected-word-in-sase
    note: expected here: {expected}
    case &&: write AND
    case |: write several event types as a predicate: a.event_type IN ('Shelf', 'Exit'), with ANY a
        in SEQ
    case ,: write AND between predicates, and a variable after each event type: SEQ(Shelf a, Exit b)
    case OR: write parentheses around the predicates that OR joins
    case ?: write the value itself
    case ;: remove it: a query is one statement
    case *: leave RETURN out for all columns of each event, or write attributes, RETURN a.x, b.x;
        write count(a[]) for the number of events
    case ~: write RLIKE for a regular expression: a.x RLIKE '^S'
    case !: write NOT before a condition: NOT a.x RLIKE '^S'
    case SEQ: write PATTERN before it: PATTERN SEQ(...)
    case SELECT: write PATTERN first, and the output last: PATTERN SEQ(...) RETURN a.x
    case GROUP: write an equivalence test for events that belong together: WHERE
        skip_till_next_match { [symbol] }; group the matches in the DataFrame of the result
    case ORDER: remove it: the argument order_by sorts the events
    case PATTERN | WHERE | WITHIN | RETURN: write the parts in this order: PATTERN, WHERE, WITHIN,
        RETURN""")
unexpected_end = parse_error(
    "the query ends too early, in {where}",
    notes=("expected here: {expected}",),
    code="query-ends-early",
)
empty_query = parse_error("the query is empty", hint="write PATTERN SEQ(Shelf a, Exit b)")
empty_sequence = parse_error("""SEQ in PATTERN has no components
    write an event type and a variable for each event: SEQ(Shelf a, Exit b)""")
nested_sequence = unsupported("""SEQ in SEQ is not supported in PATTERN
    write its components one after the other; negate only single events""")

# `Stock+ a`, `Stock a[]`.
half_kleene = parse_error("""component `{variable}` in PATTERN has only half of a Kleene plus
    code: half-kleene-plus
    note: a Kleene plus has `+` after the event type and `[]` after the variable
    write {event_type}+ {variable}[] for one or more events, {event_type} {variable} for one""")
negated_kleene = unsupported("""negated Kleene plus `{variable}[]` in PATTERN is not supported
    code: negated-kleene-plus
    note: a negated component is one event that must not come
    remove `+` and `[]`: if no event may come, no series of them may""")
duplicate_variable = plan_error("""two components in PATTERN have the variable `{name}`
    code: duplicate-component-variable
    note: upper and lower case do not make two variables different
    give one of them another name""")
nothing_positive = plan_error("""PATTERN has only negated components, so a match would have no
        events
    code: only-negated-components
    add a component without `~`""")
negation_without_window = plan_error("""missing WITHIN for the negated component `{name}` at the
        {end} of PATTERN
    code: negated-component-without-window
    note: without WITHIN, all events {side} the match would count
    add WITHIN, e.g. WITHIN 12 hours""")

# A variable that no component has. `known` has the components as the query writes them, by their
# variables, such as `a[]` by `a`.
unknown_component = plan_error("""unknown variable `{name}` in {clause}
    note: PATTERN has: {known}
    near: write {near}, or add {name} to PATTERN
    add {name} to PATTERN""")

# The strategy

unknown_strategy = parse_error("""unknown event selection strategy `{name}` in WHERE
    note: strategies: {known}
    near: write {near}
    write the strategy before the predicates: WHERE skip_till_next_match { a.x > 1 }""")

# The strategy's list has `a` for a Kleene plus, or `b[]` for a single event. `written` is the
# component as PATTERN writes it.
argument_written_otherwise = plan_error("""component `{name}` in the strategy's list in WHERE is
        {what} in PATTERN
    code: strategy-component-differs
    write {written}""")
argument_twice = plan_error("""component `{name}` is listed twice in the strategy in WHERE
    code: duplicate-strategy-component
    remove one of them""")
arguments_missing = plan_error("""`{strategy}` in WHERE does not list {missing}
    code: strategy-components-missing
    note: one strategy is for all components; negated ones may be left out
    add {missing}, or leave the whole list out""")
nothing_to_partition_by = plan_error("""missing equivalence test for partition_contiguity in WHERE
    code: partition-contiguity-without-test
    note: events of a match are neighbours among those with equal tested attributes
    add an equivalence test, e.g. [symbol], or write strict_contiguity""")

# The window

unknown_unit = parse_error("""unknown unit `{name}` in WITHIN
    note: units: {known}
    near: write {near}
    write e.g. WITHIN 12 hours""")
calendar_unit = unsupported("""unit `{unit}` in WITHIN is not supported
    note: months and years differ in length
    write days or weeks""")
missing_unit = parse_error("""missing unit after `{number}` in WITHIN
    write a unit after each number: WITHIN 1 hour 30 minutes""")
mixed_units = unsupported("""WITHIN by time and by events at once is not supported
    write one of them: WITHIN 1 hour, or WITHIN 500 EVENTS""")
fraction_of_unit = unsupported("""`{number} {unit}` in WITHIN is not a whole number of its unit
    note: only seconds can have a fraction
    write a smaller unit as well: WITHIN 1 hour 30 minutes""")
too_many_events = unsupported("""WITHIN of over {limit:,} events is not supported
    lower it, or leave WITHIN out""")
not_a_number_of_events = parse_error("""`{number}` is not a number of EVENTS for WITHIN
    write a whole number from 1 on""")

# Identifiers

bare_name = parse_error("""missing variable before attribute `{name}` in {clause}
    code: attribute-without-variable
    note: every attribute belongs to an event of the match
    write the variable before it, a.{name}, a[1].{name} or a[i].{name}, or quotes for a string,
        '{name}'""")
missing_attribute = parse_error("""missing attribute after `{written}` in {clause}
    write an attribute, such as {written}.x""")
missing_attribute_of_several = parse_error("""missing attribute after `{written}` in {clause}
    code: missing-attribute
    write count({written}), or an attribute, such as avg({written}.x)""")

# `a[2]`, `a[i-2]`, `a[b.LEN]`.
unknown_index = parse_error("""unknown event `{name}{written}` of `{name}`
    note: one event: {name}[1], {name}[i], {name}[i-1], {name}[{name}.LEN]
    note: several, in an aggregate: {name}[..i-1], {name}[]
    write one of them, e.g. {name}[i-1] for the event before {name}[i]""")
kleene_without_index = plan_error("""missing index in `{written}` in {clause}
    note: `{name}[]` is a Kleene plus, which has several events
    write {name}[1].{attribute} for the first, {name}[i].{attribute} for each later one,
        {name}[{name}.LEN].{attribute} for the last""")
index_of_one_event = plan_error("""the index in `{written}` is not allowed in {clause}
    note: `{name}` is one event, not a Kleene plus
    write {name} without brackets, or make it a Kleene plus in PATTERN: T+ {name}[]""")
length_of_one_event = plan_error("""`{name}.LEN` is not allowed in {clause}
    note: `{name}` is one event, not a Kleene plus
    write {name}.`len` for an attribute of that name""")
element_in_return = plan_error("""`{written}` is not allowed in RETURN
    note: after the match there is no current event of `{name}`
    write {name}[1], {name}[{name}.LEN], or an aggregate over {name}[]""")
negated_in_return = plan_error("""`{name}` is not allowed in RETURN
    note: PATTERN negates `{name}`, so a match has no such event
    return attributes of the other components""")

# Aggregates and functions

range_outside_aggregate = plan_error("""`{written}` in {clause} has several events, but only an
        aggregate takes several
    put it into an aggregate, avg({written}.x), or write one event, {name}[i-1].x""")
unknown_aggregate = unsupported("""`{function}` over events in {clause} is not supported
    note: aggregates: {known}, over a[..i-1] or a[]
    write a[i-1] for the event before, a[1] for the first, a[a.LEN] for the last""")
aggregate_of_one_event = plan_error("""{function} in {clause} needs the events of a Kleene plus
    write {function}(a[..i-1].x) for the events so far, {function}(a[].x) for all""")
two_ranges = plan_error("""{function} in {clause} reads two ranges, `{ranges[0]}` and `{ranges[1]}`
    code: aggregate-over-two-ranges
    write two aggregates, each over the events of one variable""")
nested_aggregate = plan_error("""{function} is not allowed in an aggregate in {clause}
    code: aggregate-in-aggregate
    write them side by side""")

# `avg()`, `max(a[].x, 1)`.
wrong_number_of_arguments = plan_error("""{function} takes one argument, not {given}
    code: one-argument-expected
    write {function}(a[].x); for the smallest or largest of several values write least or
        greatest""")

# Predicates

# `a[i].x < b.x`: an event of a Kleene plus is compared with an event that comes later.
element_elsewhere = plan_error("""a predicate on each event of `{name}[]` and on a later event is
        not allowed in WHERE
    code: predicate-on-later-event
    note: {name}[i] is tested when it is selected, before later events are known
    write {name}[{name}.LEN].x for the last event, or an aggregate for all: max({name}[].x)""")
two_negated = plan_error("""a predicate on two negated components, `{names[0]}` and `{names[1]}`, is
        not allowed in WHERE
    code: predicate-on-two-negated
    note: matchrec looks for each negated component alone
    compare each of them with a component that is not negated""")

# Equivalence tests

empty_equivalence = parse_error("""the equivalence test in WHERE is empty
    code: empty-equivalence-test
    write the attributes that are equal in all events: [symbol]""")
equivalence_inside = plan_error("""the equivalence test in {clause} must be a predicate of its own
    code: equivalence-test-in-predicate
    note: it is about all events of the match
    join it to the other predicates with AND, or compare single events: a.x = b.x""")
equivalence_of_variable = plan_error("""an equivalence test on one variable, `{variable}`, is not
        allowed in WHERE
    code: equivalence-test-on-variable
    note: an equivalence test is about all events of the match
    write [{attribute}]""")

give_codes(globals())
