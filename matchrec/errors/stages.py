"""Errors in how a Pattern is built, and of its windows. `stage` is such as "stage `a`"."""

from __future__ import annotations

from matchrec.errors.message import give_codes, plan_error, unsupported

bad_name = plan_error("""{call}: `{name}` cannot be the name of a stage
    code: bad-stage-name
    note: a name is not empty, has no colon, and is not `$endState$`
    write e.g. {call}("a")""")
duplicate_name = plan_error("""stage `{name}` is in the pattern already
    code: duplicate-stage
    note: there is `{known}`; stages become columns, whose case does not count
    give one of them another name""")
no_stages = plan_error("the pattern has no stages", hint='begin with one: Pattern.begin("name")')
empty_group = plan_error("""{call} of a pattern without stages
    write {call}(Pattern.begin(...))""")

# NOT

group_forbidden = unsupported("""{call} of a group
    code: not-of-group
    note: what must not be there is one event
    write {call}("name").where(...), once for each event that must not be there""")
not_after_optional = unsupported("""{call}({name:repr}) directly after {before}, which is optional
    note: a NOT counts from the event accepted before it, which may be missing
    leave out optional() of it, or append a stage before {call}""")
quantified_not = plan_error("""{call}() of {stage}, which is a NOT
    code: quantifier-of-not
    note: no event is accepted for it, so there is nothing to repeat or to leave out
    call {call}() before not_next or not_followed_by, or after the next stage""")
open_end = plan_error("""the pattern ends with not_followed_by of {stage} and has no window
    code: not-at-end-without-window
    note: that there is no such event is known only when the window has ended
    add .within("10 minutes"), or append a stage""")

# Conditions

condition_of_group = unsupported("""{call}() of {stage}
    note: a condition is about one event
    call {call}() on the stages inside of the group""")
empty_condition = plan_error("""{call}() of {stage} is empty
    code: empty-stage-condition
    write e.g. {call}("price > 10"), or leave it out""")
until_without_loop = plan_error("""until() of {stage}, which is not a loop
    note: until ends what would go on without a bound
    call one_or_more() or times_or_more(n) before until()""")
until_twice = plan_error("""until() of {stage} for the second time
    join the two conditions with OR in one until()""")

# Quantifiers

two_quantifiers = plan_error("""{call}() of {stage}, which has a quantifier already
    code: two-quantifiers-of-stage
    note: one of one_or_more(), times(n), times(m, n) and times_or_more(n)
    leave one of them out, or put the stage into a group and repeat that""")
too_many_times = unsupported("""{stage} is repeated over {limit:,} times
    write times_or_more(n) for no upper bound, or lower it""")
too_few_times = plan_error("""{stage} {least} times: the least is {lowest}
    write times(n) with n from 1 on; times(0, n) or optional() for what may be missing""")
most_below_least = plan_error("""{stage} {least} to {most} times
    code: times-reversed
    write times({most}, {least}), or leave the stage out where that is 0 times""")
needs_quantifier = plan_error("""{call}() of {stage}, which is not repeated
    code: stage-not-repeated
    call one_or_more(), times(n) or times_or_more(n) before {call}()""")
optional_twice = plan_error("""optional() of {stage}, which is optional already
    note: times(0, n) is optional
    leave optional() out""")
optional_after_greedy = plan_error("""optional {stage} directly after greedy {before}
    leave out greedy() of {before}, or optional() of {stage}""")
greedy_group = plan_error("""greedy() of {stage}
    note: only a single stage can be greedy
    leave greedy() out, or call it on stages inside of the group""")
greedy_combinations = plan_error("""greedy() and allow_combinations() of {stage}
    note: a greedy stage takes every event that it can, so it skips none of them
    leave one of them out""")
two_contiguities = plan_error("{call}() of {stage} after {before}()", hint="leave one of them out")

# Skip strategies

call_of_group = plan_error("""{call}: the group has calls that are about a whole pattern, {calls}
    code: group-with-pattern-calls
    leave them out there, and make them of the whole pattern""")
throws_without_stage = plan_error("""throw_on_miss() of {strategy}, which skips to no stage
    code: throw-without-stage
    leave it out, or write skip_to_first(stage) or skip_to_last(stage)""")
unknown_skip_target = plan_error("""{call}({name:repr}): no stage of the pattern has events of that
        name
    note: stages: {known}
    near: write {call}({near:repr})
    write {call}({known[0]:repr})""")

# What a condition reads

not_of_an_event = plan_error("""{function} in a condition of a stage
    code: match-function-in-stage
    note: a condition is about one event that is not accepted yet
    leave it out; to read events accepted before, write last(stage.x)""")
reads_neighbour = unsupported("""PREV and NEXT in a condition of a stage
    code: neighbour-in-stage
    note: neighbours in the stream need not be events of the pattern
    write last(stage.x) for the event accepted last, or a strict stage before this one""")
of_no_stage = plan_error("""{function} in a condition of a stage is over no stage
    code: aggregate-over-no-stage
    note: a column alone is that of the event which the condition is about
    case COUNT: write {function}(stage.x), or count(stage)
    write {function}(stage.x)""")

# Other languages

not_in_sql = unsupported("""{what} {obstacle}, which MATCH_RECOGNIZE cannot express
    code: pattern-not-in-sql
    note: its event selection is one strategy for the whole row pattern
    use matchrec.match_pattern""")
not_a_duration = plan_error("""{call} is no length of time: {value}
    write e.g. "10 minutes", "1 hour 30 minutes", timedelta(minutes=10), or a number in the unit of
        the order column""")
not_a_positive_duration = plan_error("""{call} of {value:shown}: no event lies less than that after
        another
    write a length of more than 0""")
too_long_duration = unsupported("""{call} of {value:shown}: the window is longer than Spark can
        measure
    note: a time is at most 292,271 years, a number less than 2 to the power of 63
    write a smaller one, or leave it out""")
unknown_unit = plan_error("""{call}: unknown unit `{name}`
    code: unknown-duration-unit
    note: units: {known}
    near: write {near}
    write e.g. "10 minutes"
""")
_NEAR = "it is the distance from the event before to one of the stage"
near_of_group = plan_error(f"""within previous_to_current of {{stage}}
    code: step-window-of-group
    note: {_NEAR}; a group has several events
    call within(..., 'previous_to_current') on a stage inside of it""")
near_of_not = plan_error(f"""within previous_to_current of {{stage}}
    code: step-window-of-not
    note: {_NEAR}; no event is accepted for a NOT
    call within(..., 'previous_to_current') on the next stage""")
near_exceeds_whole = plan_error("""within previous_to_current of {stage} is {near}, that of the
        whole pattern {whole}
    code: step-window-too-long
    note: neighbours lie no further apart than the first and the last event
    write at most {whole}, or leave it out""")
mixed_durations = plan_error("""windows of {one} and of {other} in one pattern
    note: a number is in the unit of the order column, a time is not
    write all of them as times, or all of them as numbers""")

give_codes(globals())
