"""Check the calls that build a Pattern, and then the complete Pattern.

`builder.Pattern` checks each call as the user makes it, so that errors point to that call. `lower`
checks the complete Pattern for rules that a call can still satisfy after another call has broken
them: a negated stage at the end needs a window, but `within` may come later. See `check_negations`.

Source: Flink CEP, "The Pattern API", and what its builder and compiler reject.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import get_args

from matchrec.arguments import Condition, WindowKind
from matchrec.errors import stages as errors
from matchrec.patterns.stages.tree import Stage, StageCondition, list_single_stages, walk_stages
from matchrec.plan.stages import Contiguity
from matchrec.syntax.amounts import MAX_ROWS
from matchrec.syntax.durations import Duration

# The values of `kind` in `Pattern.within`: which events a window limits.
WINDOW_KINDS = get_args(WindowKind)

# Flink's own name for the state after the last stage.
END_STATE = "$endState$"

# The columns that a result has before the columns of its stages.
COLUMNS_OF_MATCHES = ("match_number", "start_time", "end_time")


def check_new_name(stages: tuple[Stage, ...], name: str, call: str) -> None:
    """Check that a name is allowed for a new stage, and that no other stage has this name.

    A stage becomes a column, so two names that differ only in case are the same. A colon marks the
    names of tests, see `definitions.TestDefinitions`.

    Args:
        stages: the stages so far.
        name: the name of the new stage.
        call: the name of the method that the user called.

    Raises:
        MatchRecognizePlanError: the name is not allowed, or another stage has it.
    """
    if not name.strip() or ":" in name or name == END_STATE:
        raise errors.invalid_stage_name(call=call, name=name)
    for stage in list_single_stages(stages):
        if stage.name.upper() == name.upper():
            raise errors.duplicate_stage(name=name, other_name=stage.name)


def check_no_result_column(stage_names: Iterable[str]) -> None:
    """Check that no stage has the name of a column that the result always has.

    Raises:
        MatchRecognizePlanError: a stage has such a name.
    """
    for name in stage_names:
        if name.lower() in COLUMNS_OF_MATCHES:
            raise errors.stage_name_taken(name=name)


def find_last_stage(stages: tuple[Stage, ...]) -> Stage:
    """Return the last stage.

    Raises:
        MatchRecognizePlanError: there are no stages.
    """
    if not stages:
        raise errors.no_stages()
    return stages[-1]


def make_condition(expression: Condition, stage: Stage, call: str) -> StageCondition:
    """Return the condition that `where` or `or_where` adds to the events of a stage.

    Args:
        expression: SQL text or a Spark Column.
        stage: the stage whose events must satisfy the condition.
        call: the name of the method that the user called.

    Raises:
        MatchRecognizeError: the stage is a group, or the text is blank.
    """
    if stage.is_group:
        raise errors.condition_of_group(call=call, stage=stage.label)
    check_not_blank(expression, stage, call)
    return StageCondition(expression)


def make_until_condition(expression: Condition, stage: Stage) -> StageCondition:
    """Return the condition that `until` sets as the end of a loop.

    Args:
        expression: SQL text or a Spark Column.
        stage: the stage or group that is repeated.

    Raises:
        MatchRecognizePlanError: the text is blank.
    """
    check_not_blank(expression, stage, "until")
    return StageCondition(expression)


def check_not_blank(expression: Condition, stage: Stage, call: str) -> None:
    """Check that a condition is a Spark Column, or text that is not blank.

    Args:
        expression: SQL text or a Spark Column.
        stage: the stage, for messages.
        call: the name of the method that the user called, for messages.

    Raises:
        MatchRecognizePlanError: the text is blank.
    """
    if isinstance(expression, str) and not expression.strip():
        raise errors.empty_stage_condition(call=call, stage=stage.label)


def check_repetitions(stage: Stage, least: int, most: int | None) -> None:
    """Check the numbers of repetitions that `times` or `times_or_more` sets.

    Args:
        stage: the stage, for messages.
        least: the smallest number of repetitions. `times(0, n)` makes the stage optional, but
            `times_or_more(0)` is not allowed.
        most: the largest number of repetitions; None for `times_or_more`, and for `times` if
            the largest number is `least`.

    Raises:
        MatchRecognizeError: a number is too large or too small, or `most` is less than `least`.
    """
    if max(least, most or 0) > MAX_ROWS:
        raise errors.too_many_times(stage=stage.label, limit=MAX_ROWS)
    lowest = 1 if most is None else 0
    if least < lowest:
        raise errors.too_few_times(stage=stage.label, least=least, lowest=lowest)
    if most is not None and (most < least or most < 1):
        raise errors.times_reversed(stage=stage.label, least=least, most=most)


def check_can_be_repeated(stage: Stage, call: str) -> None:
    """Check that a stage can get a number of repetitions.

    Args:
        stage: the last stage so far, which the call changes.
        call: the name of the method that the user called.

    Raises:
        MatchRecognizeError: the stage is negated, or has a number of repetitions already.
    """
    if stage.is_negated:
        raise errors.quantifier_on_negated_stage(call=call, stage=stage.label)
    if stage.is_quantified:
        raise errors.two_quantifiers_of_stage(call=call, stage=stage.label)


def check_can_have_until(stage: Stage) -> None:
    """Check that a stage is a loop without an end, which `until` can end.

    Raises:
        MatchRecognizeError: the stage is no such loop, or has a condition of `until` already.
    """
    if stage.is_negated or stage.most is not None:
        raise errors.until_without_loop(stage=stage.label)
    if stage.until is not None:
        raise errors.until_twice(stage=stage.label)


def check_can_be_greedy(stage: Stage) -> None:
    """Check that a stage can become greedy.

    Raises:
        MatchRecognizeError: the stage is negated or a group, is not repeated, or allows
            combinations.
    """
    if stage.is_negated:
        raise errors.quantifier_on_negated_stage(call="greedy", stage=stage.label)
    if stage.is_group:
        raise errors.greedy_group(stage=stage.label)
    if not stage.is_quantified:
        raise errors.stage_not_repeated(call="greedy", stage=stage.label)
    if stage.inner_contiguity is Contiguity.ANY:
        raise errors.greedy_combinations(stage=stage.label)


def check_can_have_neighbour_window(stage: Stage) -> None:
    """Check that `within(..., "previous_to_current")` can limit the time before a stage's events.

    Raises:
        MatchRecognizeError: the stage is a group, or a `not_next`.
    """
    if stage.is_group:
        raise errors.neighbour_window_on_group(stage=stage.label)
    if stage.is_negated and stage.contiguity is Contiguity.STRICT:
        raise errors.neighbour_window_on_negated_stage(stage=stage.label)


def check_can_be_optional(stages: tuple[Stage, ...]) -> None:
    """Check that the last stage can become optional.

    Raises:
        MatchRecognizeError: the stage is negated, is optional already, or follows a greedy stage.
    """
    stage = find_last_stage(stages)
    if stage.is_negated:
        raise errors.quantifier_on_negated_stage(call="optional", stage=stage.label)
    if stage.is_optional:
        raise errors.optional_twice(stage=stage.label)
    if len(stages) > 1 and stages[-2].is_greedy:
        raise errors.optional_after_greedy(stage=stage.label, greedy_stage=stages[-2].label)


def check_can_have_inner_contiguity(stage: Stage, call: str) -> None:
    """Check that a call can set the contiguity between the repetitions of a stage.

    Args:
        stage: the last stage so far, which the call changes.
        call: "consecutive" or "allow_combinations".

    Raises:
        MatchRecognizeError: the stage is negated or is not repeated, another call has set its inner
            contiguity, or the stage is greedy and would allow combinations.
    """
    if stage.is_negated:
        raise errors.quantifier_on_negated_stage(call=call, stage=stage.label)
    if not stage.is_quantified:
        raise errors.stage_not_repeated(call=call, stage=stage.label)
    if stage.inner_contiguity is not None:
        is_strict = stage.inner_contiguity is Contiguity.STRICT
        earlier_call = "consecutive" if is_strict else "allow_combinations"
        raise errors.two_contiguities(call=call, stage=stage.label, earlier_call=earlier_call)
    if stage.is_greedy and call == "allow_combinations":
        raise errors.greedy_combinations(stage=stage.label)


def check_neighbour_windows(stages: tuple[Stage, ...]) -> None:
    """Check that no window between neighbouring events is longer than the whole match's window.

    Only windows of `within(..., "previous_to_current")` are rejected, as in Flink. A longer `gap`
    is allowed, and has no effect: see `idle_windows`.

    Raises:
        MatchRecognizeError: a window is too long, or a window is a time and the window of the whole
            match is a number, or the other way round.
    """
    match_window = find_match_window(stages)
    if match_window is None:
        return
    for stage in walk_stages(stages):
        check_comparable(match_window, stage.neighbour_window)
        check_comparable(match_window, stage.repetition_window)
        if stage.neighbour_window is not None and stage.neighbour_window > match_window:
            raise errors.neighbour_window_too_long(
                stage=stage.label,
                neighbour_window=stage.neighbour_window,
                match_window=match_window,
            )


def find_match_window(stages: tuple[Stage, ...]) -> Duration | None:
    """Return the smallest window from the first to the last event; None if there is none.

    Raises:
        MatchRecognizeError: one of these windows is a time and another one is a number.
    """
    windows = [
        stage.match_window for stage in walk_stages(stages) if stage.match_window is not None
    ]
    for window in windows:
        check_comparable(windows[0], window)
    return min(windows, default=None)


def check_comparable(left: Duration | None, right: Duration | None) -> None:
    """Check that two windows are both times or both numbers; None is comparable to both.

    Raises:
        MatchRecognizePlanError: one window is a time and the other one is a number.
    """
    if left is not None and right is not None and left.is_time != right.is_time:
        raise errors.mixed_durations(first=left, second=right)


def check_negations(stages: tuple[Stage, ...]) -> None:
    """Check the windows of the negated stages of a complete Pattern.

    - Only a negated stage at the end may have a window of `within(..., "previous_to_current")`.
    - If the pattern ends with `not_followed_by`, it must have a window, either of the whole match
      or of a negated stage at the end. Otherwise a match could never be complete, because a later
      event could always break it.

    Raises:
        MatchRecognizeError: a negated stage breaks one of these rules.
    """
    negated_stages_at_end = list(takewhile(lambda stage: stage.is_negated, reversed(stages)))
    for stage in walk_stages(stages):
        if (
            stage.is_negated
            and stage.neighbour_window is not None
            and stage not in negated_stages_at_end
        ):
            is_in_group = stage not in stages
            raise errors.neighbour_window_on_negated_stage(
                stage=stage.label, is_in_group=is_in_group
            )
    last_stage = find_last_single_stage(stages)
    ends_with_not_followed_by = (
        last_stage.is_negated and last_stage.contiguity is Contiguity.RELAXED
    )
    has_window = find_match_window(stages) is not None or any(
        stage.neighbour_window is not None for stage in negated_stages_at_end
    )
    if ends_with_not_followed_by and not has_window:
        raise errors.negation_at_end_without_window(stage=last_stage.label)


def find_last_single_stage(stages: tuple[Stage, ...]) -> Stage:
    """Return the last stage; if the pattern ends with a group, the last stage inside the group.

    Raises:
        MatchRecognizePlanError: there are no stages.
    """
    stage = find_last_stage(stages)
    while stage.is_group:
        stage = stage.stages[-1]
    return stage
