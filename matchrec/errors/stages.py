"""Errors in how a Pattern is built, and in its windows.

In every message, `stage` is a text such as "stage `a`".
"""

from __future__ import annotations

from matchrec.errors.message import give_codes, plan_error, unsupported

bad_name = plan_error("""{call}: `{name}` is not allowed as the name of a stage
    code: bad-stage-name
    note: a name is not empty, has no colon, and is not `$endState$`
    write e.g. {call}("a")""")
duplicate_name = plan_error("""stage `{name}` is in the pattern already
    code: duplicate-stage
    note: it has `{known}`; stages become columns, whose names ignore case
    give one of them another name""")
no_stages = plan_error("the pattern has no stages", hint='begin with one: Pattern.begin("name")')
empty_group = plan_error("""{call} needs a pattern with stages
    write {call}(Pattern.begin(...))""")

# NOT

group_forbidden = unsupported("""{call} is not supported for a group
    code: not-of-group
    note: a NOT forbids one event
    write {call}("name").where(...) for each event that must not come""")
not_after_optional = unsupported("""{call}({name:repr}) is not supported directly after {before},
        which is optional
    note: a NOT begins after the previous event, which may be missing
    remove optional() of it, or append a stage before {call}""")
quantified_not = plan_error("""{call}() is not allowed for {stage}, which is a NOT
    code: quantifier-of-not
    note: a NOT accepts no event, so there is nothing to repeat or to leave out
    call {call}() before not_next or not_followed_by, or after the next stage""")
open_end = plan_error("""the pattern ends with not_followed_by of {stage}, but has no window
    code: not-at-end-without-window
    note: only the end of the window shows that there is no such event
    add .within("10 minutes"), or append a stage""")

# Conditions

condition_of_group = unsupported("""{call}() is not supported for {stage}, which is a group
    note: a condition is about one event
    call {call}() on the stages inside of the group""")
empty_condition = plan_error("""{call}() of {stage} is empty
    code: empty-stage-condition
    write e.g. {call}("price > 10"), or leave it out""")
until_without_loop = plan_error("""until() is not allowed for {stage}, which is not a loop
    note: until ends a loop that has no bound
    call one_or_more() or times_or_more(n) before until()""")
until_twice = plan_error("""until() is called twice for {stage}
    join the two conditions with OR in one until()""")

# Quantifiers

two_quantifiers = plan_error("""{call}() is not allowed for {stage}, which already has a quantifier
    code: two-quantifiers-of-stage
    note: a stage takes only one of one_or_more(), times(n), times(m, n) and times_or_more(n)
    remove one of them, or put the stage into a group and repeat that""")
too_many_times = unsupported("""{stage} is repeated over {limit:,} times
    write times_or_more(n) for no upper bound, or lower it""")
too_few_times = plan_error("""{stage} is repeated {least} times, but the minimum is {lowest}
    write times(n) with n from 1 on, or times(0, n) or optional() for events that may be missing""")
most_below_least = plan_error("""{stage} is repeated at least {least} and at most {most} times
    code: times-reversed
    write times({most}, {least}), or remove the stage if that is 0 times""")
needs_quantifier = plan_error("""{call}() is not allowed for {stage}, which is not repeated
    code: stage-not-repeated
    call one_or_more(), times(n) or times_or_more(n) before {call}()""")
optional_twice = plan_error("""optional() is not allowed for {stage}, which is optional already
    note: times(0, n) is optional
    remove optional()""")
optional_after_greedy = plan_error("""optional {stage} is not allowed directly after greedy {before}
    remove greedy() of {before}, or optional() of {stage}""")
greedy_group = plan_error("""greedy() is not allowed for {stage}
    note: only a single stage can be greedy
    remove greedy(), or call it on the stages inside the group""")
greedy_combinations = plan_error("""greedy() and allow_combinations() are not allowed together for
        {stage}
    note: a greedy stage takes every event that it can, so it skips none
    remove one of them""")
two_contiguities = plan_error(
    "{call}() is not allowed for {stage} after {before}()", hint="remove one of them"
)

# Skip strategies

call_of_group = plan_error("""{call}: the group has calls that belong to a whole pattern, {calls}
    code: group-with-pattern-calls
    remove them from the group, and call them on the whole pattern""")
throws_without_stage = plan_error("""throw_on_miss() is not allowed for {strategy}, which does not
        skip to a stage
    code: throw-without-stage
    leave it out, or write skip_to_first(stage) or skip_to_last(stage)""")
unknown_skip_target = plan_error("""{call}({name:repr}): unknown stage
    note: stages: {known}
    near: write {call}({near:repr})
    write {call}({known[0]:repr})""")

# What a condition reads

not_of_an_event = plan_error("""{function} is not allowed in a condition of a stage
    code: match-function-in-stage
    note: a condition is about one event, which is not accepted yet
    remove it; to read events accepted before, write last(stage.x)""")
reads_neighbour = unsupported("""PREV and NEXT are not supported in a condition of a stage
    code: neighbour-in-stage
    note: neighbours in the stream may be events that are not part of the match
    write last(stage.x) for the event accepted last, or a strict stage before this one""")
of_no_stage = plan_error("""{function} in a condition of a stage does not name a stage
    code: aggregate-over-no-stage
    note: a column without a stage belongs to the event that the condition tests
    case COUNT: write {function}(stage.x), or count(stage)
    write {function}(stage.x)""")

# Other languages

not_in_sql = unsupported("""{what} {obstacle}, which MATCH_RECOGNIZE cannot express
    code: pattern-not-in-sql
    note: its event selection is one strategy for the whole row pattern
    use matchrec.match_pattern""")
not_a_duration = plan_error("""{call} needs a length of time, not {value}
    write e.g. "10 minutes", "1 hour 30 minutes", timedelta(minutes=10), or a number in the unit of
        the order column""")
not_a_positive_duration = plan_error("""{call} is {value:shown}, but must be more than 0
    write a length above 0""")
too_long_duration = unsupported("""{call} of {value:shown} is longer than Spark can measure
    note: a time is at most 292,271 years, a number less than 2 to the power of 63
    write a shorter one, or remove it""")
unknown_unit = plan_error("""{call}: unknown unit `{name}`
    code: unknown-duration-unit
    note: units: {known}
    near: write {near}
    write e.g. "10 minutes"
""")
_NEAR = "it limits the distance from the event before to an event of the stage"
near_of_group = plan_error(f"""within previous_to_current is not allowed for {{stage}}
    code: step-window-of-group
    note: {_NEAR}; a group has several events
    call within(..., 'previous_to_current') on a stage inside of it""")
near_of_not = plan_error(f"""within previous_to_current is not allowed for {{stage}}
    code: step-window-of-not
    note: {_NEAR}; no event is accepted for a NOT
    call within(..., 'previous_to_current') on the next stage""")
near_exceeds_whole = plan_error("""within previous_to_current of {stage} is {near}, but the whole
        pattern has {whole}
    code: step-window-too-long
    note: two consecutive events are never further apart than the first and the last event
    write at most {whole}, or remove it""")
mixed_durations = plan_error("""the pattern has windows of {one} and of {other}
    note: a number is in the unit of the order column, but a time is not
    write all of them as times, or all of them as numbers""")

give_codes(globals())
