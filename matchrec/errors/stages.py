"""Errors in how a Pattern is built, and in its windows.

In the arguments, `stage` is a text that names a stage or a group, such as "stage `a`", and `call`
is the method that the user called, such as `followed_by`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.lengths import Length, LengthLocation, LengthSource, find_meant_length
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import SHORT, join_names, list_candidates, write_name
from matchrec.source import Span

# How an object of each class begins.
_BEGINNINGS = {"Pattern": 'Pattern.begin("name")', "AfterMatch": 'AfterMatch.skip_to_last("name")'}


def called_on_class(*, class_name: str, method: str) -> MatchRecognizePlanError:
    """Return the error for a method that is called on a class, as in `Pattern.next("a")`.

    Args:
        class_name: Pattern or AfterMatch.
        method: the method.
    """
    noun = "pattern" if class_name == "Pattern" else class_name
    return MatchRecognizePlanError(
        f"missing {noun} before `.{method}(...)`",
        notes=(f"{class_name}.{method} is called on the class {class_name}",),
        hint=f"write {_BEGINNINGS.get(class_name, class_name)}.{method}(...)",
        code="called-on-class",
    )


def begin_on_pattern() -> MatchRecognizePlanError:
    """Return the error for `begin` on a pattern, which would drop the stages of the pattern."""
    return MatchRecognizePlanError(
        "begin() is not allowed on a pattern: begin() starts a new pattern",
        hint='write next("name") or followed_by("name") for a further stage',
        code="begin-on-pattern",
    )


def invalid_stage_name(*, call: str, name: str) -> MatchRecognizePlanError:
    """Return the error for an empty or reserved name of a stage, or one with a colon.

    Args:
        call: the method that got the name, such as `followed_by`.
        name: the name.
    """
    headline = f"the name of a stage in {call}() is empty"
    if name.strip():
        headline = f"`{name}` is not allowed as the name of a stage in {call}()"
    return MatchRecognizePlanError(
        headline,
        notes=("a name is not empty, has no colon, and is not `$endState$`",),
        hint=f'write a name, such as {call}("a")',
        code="invalid-stage-name",
    )


def stage_name_taken(*, name: str) -> MatchRecognizePlanError:
    """Return the error for a stage with the name of another column of the result."""
    return MatchRecognizePlanError(
        f"stage name `{name}` is not allowed: the result has a column of this name",
        hint=f'write another name, such as "{name}_event"',
        code="stage-name-taken",
    )


def duplicate_stage(*, name: str, other_name: str) -> MatchRecognizePlanError:
    """Return the error for a stage whose name another stage has, in the same or another case.

    Args:
        name: the name of the stage that is appended.
        other_name: the name of the stage that is in the pattern.
    """
    note = f"`{other_name}` is the same name: stages become columns, whose names ignore case"
    return MatchRecognizePlanError(
        f"the pattern already has a stage `{name}`",
        notes=() if name == other_name else (note,),
        hint="give one of them another name",
        code="duplicate-stage",
    )


def no_stages() -> MatchRecognizePlanError:
    """Return the error for a pattern that is used before its first stage is added."""
    return MatchRecognizePlanError(
        "the pattern has no stages", hint='begin with one: Pattern.begin("name")', code="no-stages"
    )


def empty_group(*, call: str) -> MatchRecognizePlanError:
    """Return the error for a group without stages."""
    return MatchRecognizePlanError(
        f"the group in {call}() has no stages",
        hint=f"write {call}(Pattern.begin(...))",
        code="empty-group",
    )


def group_with_pattern_calls(*, call: str, calls: str) -> MatchRecognizePlanError:
    """Return the error for a group that has calls such as within() or skip_to_next().

    Args:
        call: the method that got the group.
        calls: the calls that belong to a whole pattern.
    """
    return MatchRecognizePlanError(
        f"the group in {call}() has calls that are only for a whole pattern: {calls}",
        hint="remove them from the group, and call them on the whole pattern",
        code="group-with-pattern-calls",
    )


# Negated stages.


def negated_group(*, call: str) -> MatchRecognizeUnsupportedError:
    """Return the error for not_next or not_followed_by of a group."""
    return MatchRecognizeUnsupportedError(
        f"{call} is not supported for a group",
        notes=("a negated stage is about one event",),
        hint=f'write {call}("name").where(...) for each event that must not occur',
        code="negated-group",
    )


def negation_after_optional(
    *, call: str, name: str, optional_stage: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a negated stage that directly follows an optional stage.

    Args:
        call: the method that adds the negated stage.
        name: the name of the negated stage.
        optional_stage: the stage before it.
    """
    return MatchRecognizeUnsupportedError(
        f"{call}({name!r}) is not supported directly after {optional_stage}, which is optional",
        notes=("a negated stage begins after the previous event, which may be missing",),
        hint=f"remove optional() from {optional_stage}, or append a stage before {call}",
        code="negation-after-optional",
    )


def quantifier_on_negated_stage(*, call: str, stage: str) -> MatchRecognizePlanError:
    """Return the error for a quantifier of a negated stage."""
    return MatchRecognizePlanError(
        f"{call}() is not allowed for the negated {stage}",
        notes=("a negated stage accepts no event, so there is nothing to repeat or to leave out",),
        hint=f"call {call}() before not_next or not_followed_by, or after the next stage",
        code="quantifier-on-negated-stage",
    )


def negation_at_end_without_window(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for not_followed_by at the end of a pattern without within()."""
    return MatchRecognizePlanError(
        f"the pattern ends with not_followed_by of {stage}, but has no window",
        notes=("only the end of the window shows that there is no such event",),
        hint='add .within("10 minutes"), or append a stage',
        code="negation-at-end-without-window",
    )


# Conditions.


def condition_of_group(*, call: str, stage: str) -> MatchRecognizeUnsupportedError:
    """Return the error for where() and similar calls of a group."""
    return MatchRecognizeUnsupportedError(
        f"{call}() is not supported for {stage}",
        notes=("a condition is about one event",),
        hint=f"call {call}() on the stages inside the group",
        code="condition-of-group",
    )


def empty_stage_condition(*, call: str, stage: str) -> MatchRecognizePlanError:
    """Return the error for a condition that is an empty text."""
    return MatchRecognizePlanError(
        f"{call}() of {stage} is empty",
        hint=f'write a condition, such as {call}("price > 10"), or leave it out',
        code="empty-stage-condition",
    )


def until_without_loop(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for until() of a stage that is not repeated without a bound."""
    return MatchRecognizePlanError(
        f"until() is not allowed for {stage}, which is not a loop",
        notes=("until ends a loop that has no bound",),
        hint="call one_or_more() or times_or_more(n) before until()",
        code="until-without-loop",
    )


def until_twice(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for a second until() of a stage."""
    return MatchRecognizePlanError(
        f"until() is called twice for {stage}",
        hint="join the two conditions with OR in one until()",
        code="until-twice",
    )


# Quantifiers.


def two_quantifiers_of_stage(*, call: str, stage: str) -> MatchRecognizePlanError:
    """Return the error for a second quantifier of a stage."""
    return MatchRecognizePlanError(
        f"{call}() is not allowed for {stage}, which already has a quantifier",
        notes=(
            "a stage takes only one of one_or_more(), times(n), times(m, n) and times_or_more(n)",
        ),
        hint="remove one of them, or put the stage into a group and repeat that",
        code="two-quantifiers-of-stage",
    )


def too_many_times(*, stage: str, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for times(n) with a number above the limit."""
    return MatchRecognizeUnsupportedError(
        f"more than {limit:,} repetitions of {stage} are not supported",
        hint=f"write a number up to {limit:,}, or times_or_more(n) for no upper bound",
        code="too-many-times",
    )


def too_few_times(*, stage: str, least: int, lowest: int) -> MatchRecognizePlanError:
    """Return the error for fewer repetitions than the quantifier allows, as in times_or_more(0).

    Args:
        stage: the stage.
        least: the number of repetitions that the user wrote.
        lowest: the smallest number that the quantifier allows.
    """
    return MatchRecognizePlanError(
        f"the number of repetitions of {stage} must be {lowest} or more, but is {least}",
        hint=(
            "write times(n) with an n of 1 or more, or times(0, n) or optional() for events that "
            "may be missing"
        ),
        code="too-few-times",
    )


def times_reversed(*, stage: str, least: int, most: int) -> MatchRecognizePlanError:
    """Return the error for times(m, n) with m above n, or with n below 1.

    Args:
        stage: the stage.
        least: the number m.
        most: the number n.
    """
    if most >= 1:
        headline = f"the maximum of times({least}, {most}) of {stage} is less than the minimum"
        hint = f"write times({most}, {least})"
    else:
        headline = f"the maximum number of repetitions of {stage} must be 1 or more, but is {most}"
        hint = "write a maximum of 1 or more, or remove the stage"
    return MatchRecognizePlanError(headline, hint=hint, code="times-reversed")


def stage_not_repeated(*, call: str, stage: str) -> MatchRecognizePlanError:
    """Return the error for a call that is only about repeated stages, such as greedy()."""
    return MatchRecognizePlanError(
        f"{call}() is not allowed for {stage}, which is not repeated",
        hint=f"call one_or_more(), times(n) or times_or_more(n) before {call}()",
        code="stage-not-repeated",
    )


def optional_twice(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for optional() of a stage that is optional already."""
    return MatchRecognizePlanError(
        f"optional() is not allowed for {stage}, which is optional already",
        notes=("times(0, n) is optional",),
        hint="remove optional()",
        code="optional-twice",
    )


def optional_after_greedy(*, stage: str, greedy_stage: str) -> MatchRecognizePlanError:
    """Return the error for an optional stage that directly follows a greedy stage.

    Args:
        stage: the optional stage.
        greedy_stage: the stage before it.
    """
    return MatchRecognizePlanError(
        f"optional {stage} is not allowed directly after greedy {greedy_stage}",
        hint=f"remove greedy() of {greedy_stage}, or optional() of {stage}",
        code="optional-after-greedy",
    )


def greedy_group(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for greedy() of a group."""
    return MatchRecognizePlanError(
        f"greedy() is not allowed for {stage}",
        notes=("only a single stage can be greedy",),
        hint="remove greedy(), or call it on the stages inside the group",
        code="greedy-group",
    )


def greedy_combinations(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for a stage with both greedy() and allow_combinations()."""
    return MatchRecognizePlanError(
        f"greedy() and allow_combinations() are not allowed together for {stage}",
        notes=("a greedy stage takes every event that it can, so it skips none",),
        hint="remove one of them",
        code="greedy-combinations",
    )


def two_contiguities(*, call: str, stage: str, earlier_call: str) -> MatchRecognizePlanError:
    """Return the error for a second consecutive() or allow_combinations() of a stage.

    Args:
        call: the second call.
        stage: the stage.
        earlier_call: the first call.
    """
    return MatchRecognizePlanError(
        f"{call}() is not allowed for {stage} after {earlier_call}()",
        hint="remove one of them",
        code="two-contiguities",
    )


# Skip strategies.


def throw_without_stage(*, strategy: str) -> MatchRecognizePlanError:
    """Return the error for throw_on_miss() of a skip strategy that names no stage."""
    return MatchRecognizePlanError(
        f"throw_on_miss() is not allowed for {strategy}, which does not skip to a stage",
        hint="leave it out, or write skip_to_first(stage) or skip_to_last(stage)",
        code="throw-without-stage",
    )


def unknown_skip_target(*, call: str, name: str, stages: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a skip to a stage that the pattern does not have."""
    # A skip to the first stage usually goes to the first event of the match, which is an error.
    target = find_nearest(name, stages) or stages[-1]
    return MatchRecognizePlanError(
        f"unknown stage `{name}` in {call}()",
        notes=(f"stages: {join_names(stages)}",),
        hint=f"write {call}({target!r})",
        code="unknown-skip-target",
    )


# What a condition reads.


def match_function_in_stage(span: Span | None, *, function: str) -> MatchRecognizePlanError:
    """Return the error for CLASSIFIER, MATCH_NUMBER and the like in the condition of a stage."""
    return MatchRecognizePlanError(
        f"{function} is not allowed in a condition of a stage",
        span,
        notes=("a condition is about one event, which is not accepted yet",),
        hint="remove it; to read events accepted before, write last(stage.x)",
        code="match-function-in-stage",
    )


def navigation_in_stage(
    span: Span | None, *, stage: str, column: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for PREV or NEXT in the condition of a stage.

    Args:
        span: PREV or NEXT with its argument.
        stage: a stage of the pattern, for an example.
        column: the argument of PREV or NEXT.
    """
    example = f"{write_name(stage)}.{column if column.isidentifier() else 'x'}"
    return MatchRecognizeUnsupportedError(
        "PREV and NEXT are not supported in a condition of a stage",
        span,
        notes=("neighbours in the stream may be events that are not part of the match",),
        hint=f"write last({example}) for the last event so far of stage {stage}",
        code="neighbour-in-stage",
    )


def aggregate_without_stage(span: Span | None, *, function: str) -> MatchRecognizePlanError:
    """Return the error for an aggregate over columns without a stage, as in avg(price)."""
    hint = f"write {function}(stage.x)"
    if function.upper() == "COUNT":
        hint = f"{hint}, or count(stage)"
    return MatchRecognizePlanError(
        f"{function} in a condition of a stage does not name a stage",
        span,
        notes=("a column without a stage belongs to the event that the condition tests",),
        hint=hint,
        code="aggregate-over-no-stage",
    )


def unknown_stage_in_aggregate(
    span: Span | None, *, name: str, function: str, stages: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for an aggregate over a stage that the pattern lacks, as in sum(c.x).

    Args:
        span: the column in the condition.
        name: the stage.
        function: the aggregate.
        stages: the stages that the condition can name.
    """
    return MatchRecognizePlanError(
        f"unknown stage `{name}` in {function}",
        span,
        notes=(f"stages: {join_names(stages)}",),
        hint=f"write {find_nearest(name, stages) or list_candidates(stages)}",
        code="unknown-stage",
    )


# Conversion to SQL.


def pattern_not_in_sql(*, what: str, obstacle: str) -> MatchRecognizeUnsupportedError:
    """Return the error for converting a pattern to SQL that MATCH_RECOGNIZE cannot express.

    Args:
        what: the part of the pattern, such as "stage `a`".
        obstacle: why SQL cannot express this part: a verb phrase that follows `what`, such as
            "reads its own earlier events".
    """
    program = "matchrec run"
    if current_surface().has_python_calls:
        program = "matchrec.match_pattern"
    return MatchRecognizeUnsupportedError(
        f"{what} {obstacle}, which MATCH_RECOGNIZE cannot express",
        notes=("its event selection is one strategy for the whole row pattern",),
        hint=f"use {program}",
        code="pattern-not-in-sql",
    )


# Lengths of time, and windows.


def not_a_duration(
    span: Span | None, *, location: LengthLocation, value: str, text: str = ""
) -> MatchRecognizePlanError:
    """Return the error for a value that is not a length of time, as in within("soon").

    Args:
        span: the value in the text of the query; None for an argument of a call.
        location: where the value is written or passed.
        value: the value as the message shows it, such as `'soon', of type str`.
        text: the value itself if it is a string, otherwise "".
    """
    return MatchRecognizePlanError(
        f"{location.name} needs a length of time, not {value}",
        span,
        notes=("a length is more than 0",) if text.startswith("-") else (),
        hint=_advise_on_wrong_length(location, text),
        code="not-a-duration",
    )


def _advise_on_wrong_length(location: LengthLocation, text: str) -> str:
    """Return what to write instead of a value that is not a length of time.

    Args:
        location: where the value is written or passed.
        text: the value if it is a string, otherwise "".
    """
    surface = current_surface()
    length = find_meant_length(text)
    if length is not None:
        return _advise_on_length(length, location)
    if location.source is LengthSource.CLAUSE:
        return "write WITHIN INTERVAL 10 MINUTE, or a number in the unit of the ORDER BY key"
    if location.source is LengthSource.PARAMETER and not surface.has_values_of_python:
        return surface.advise_on_length(location.parameter)
    return (
        'write a length, such as "10 minutes", "1 hour 30 minutes" or timedelta(minutes=10), '
        "or a number in the unit of the order column"
    )


def _advise_on_length(length: Length, location: LengthLocation) -> str:
    """Return what to write for a length of time that is in another notation."""
    if location.source is LengthSource.CLAUSE:
        return f"write WITHIN {length.sql}"
    has_quotes = current_surface().has_values_of_python
    return f'write "{length.words}"' if has_quotes else f"write {length.words}"


def not_a_positive_duration(
    span: Span | None, *, location: LengthLocation, value: object
) -> MatchRecognizePlanError:
    """Return the error for a length of 0 or less."""
    shown = str(value) if isinstance(value, timedelta) else SHORT.repr(value)
    return MatchRecognizePlanError(
        f"{location.name} must be more than 0, but is {shown}",
        span,
        hint="write a length above 0",
        code="not-a-positive-duration",
    )


def too_long_duration(
    span: Span | None, *, location: LengthLocation, value: object
) -> MatchRecognizeUnsupportedError:
    """Return the error for a length that does not fit into the type of Spark's intervals."""
    return MatchRecognizeUnsupportedError(
        f"the length {SHORT.repr(value)} of {location.name} is too long",
        span,
        notes=("a length of time is at most 292,271 years, and a number is below 2**63",),
        hint="write a shorter length",
        code="too-long-duration",
    )


def unknown_duration_unit(
    span: Span | None, *, location: LengthLocation, name: str, units: Sequence[str], text: str
) -> MatchRecognizePlanError:
    """Return the error for a unit of time that does not exist, as in within("10 parsecs").

    Args:
        span: the value in the text of the query; None for an argument of a call.
        location: where the length is written or passed.
        name: the unit.
        units: the units that exist.
        text: the whole length.
    """
    length = find_meant_length(text)
    hint = 'write one of these units, such as "10 minutes"'
    has_known_units = length is not None and all(
        f"{unit.lower()}s" in units for _, unit in length.amounts
    )
    is_in_clause = location.source is LengthSource.CLAUSE
    if length is not None and (has_known_units or is_in_clause):
        hint = _advise_on_length(length, location)
    return MatchRecognizePlanError(
        f"unknown unit `{name}` in {location.name}",
        span,
        notes=(f"units: {join_names(units)}",),
        hint=hint,
        code="unknown-duration-unit",
    )


# What a window with "previous_to_current" does, for notes.
_NEIGHBOUR_WINDOW = "it limits the distance from the previous event to an event of the stage"


def neighbour_window_on_group(*, stage: str) -> MatchRecognizePlanError:
    """Return the error for within(..., "previous_to_current") of a group."""
    return MatchRecognizePlanError(
        f"within previous_to_current is not allowed for {stage}",
        notes=(f"{_NEIGHBOUR_WINDOW}; a group has several events",),
        hint="call within(..., 'previous_to_current') on a stage inside the group",
        code="neighbour-window-on-group",
    )


def neighbour_window_on_negated_stage(
    *, stage: str, is_in_group: bool = False
) -> MatchRecognizePlanError:
    """Return the error for within(..., "previous_to_current") of a negated stage.

    Only a not_followed_by at the end of the whole pattern may have such a window.

    Args:
        stage: the negated stage.
        is_in_group: whether it is in a group.
    """
    hint = "call within(..., 'previous_to_current') on the next stage"
    if is_in_group:
        hint += ", or append the negated stage to the whole pattern instead of the group"
    return MatchRecognizePlanError(
        f"within previous_to_current is not allowed for {stage}",
        notes=(f"{_NEIGHBOUR_WINDOW}; a negated stage accepts no event",),
        hint=hint,
        code="neighbour-window-on-negated-stage",
    )


def neighbour_window_too_long(
    *, stage: str, neighbour_window: object, match_window: object
) -> MatchRecognizePlanError:
    """Return the error for a stage whose window is longer than the window of the whole pattern.

    Args:
        stage: the stage, whose window limits the distance from the previous event.
        neighbour_window: the length of this window.
        match_window: the length of the window of the whole pattern.
    """
    return MatchRecognizePlanError(
        f"within previous_to_current of {stage} is {neighbour_window}, but the whole pattern has "
        f"{match_window}",
        notes=("two consecutive events are never further apart than the first and the last event",),
        hint=f"write at most {match_window}, or remove it",
        code="neighbour-window-too-long",
    )


def mixed_durations(*, first: object, second: object) -> MatchRecognizePlanError:
    """Return the error for a pattern with one window as a time and another as a number."""
    return MatchRecognizePlanError(
        f"the pattern has windows of {first} and of {second}",
        notes=("a number is in the unit of the order column, but a time is not",),
        hint="write all of them as times, or all of them as numbers",
        code="mixed-durations",
    )
