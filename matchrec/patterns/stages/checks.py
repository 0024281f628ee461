"""What several calls of a pattern refuse, and what is seen only when all of it is known.

Source: Flink CEP, "The Pattern API", and what its builder and compiler refuse.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from matchrec.errors import stages as errors
from matchrec.patterns.stages.tree import Stage, Test, all_stages, named_stages
from matchrec.plan.stages import Contiguity
from matchrec.syntax.durations import Duration
from matchrec.syntax.tokens import MOST

KINDS = ("first_to_last", "previous_to_current")
END_STATE = "$endState$"


def new_name(stages: tuple[Stage, ...], name: str, call: str) -> None:
    """The name is one that a column can have, and no stage has it yet."""
    if not name.strip() or ":" in name or name == END_STATE:
        raise errors.bad_name(call=call, name=name)
    for stage in named_stages(stages):
        if stage.name.upper() == name.upper():
            raise errors.duplicate_name(name=name, known=stage.name)


def last(stages: tuple[Stage, ...]) -> Stage:
    if not stages:
        raise errors.no_stages()
    return stages[-1]


def condition(expression: Any, stage: Stage, call: str) -> Test:
    if stage.is_group:
        raise errors.condition_of_group(call=call, stage=stage.label)
    return test(expression, stage, call)


def test(expression: Any, stage: Stage, call: str) -> Test:
    if isinstance(expression, str) and not expression.strip():
        raise errors.empty_condition(call=call, stage=stage.label)
    return Test(expression)


def bounds(stage: Stage, least: int, most: int | None) -> None:
    if max(least, most or 0) > MOST:
        raise errors.too_many_times(stage=stage.label, limit=MOST)
    lowest = 1 if most is None else 0
    if least < lowest:
        raise errors.too_few_times(stage=stage.label, least=least, lowest=lowest)
    if most is not None and (most < least or most < 1):
        raise errors.most_below_least(stage=stage.label, least=least, most=most)


def may_be_optional(stages: tuple[Stage, ...]) -> None:
    stage = last(stages)
    if stage.negated:
        raise errors.quantified_not(call="optional", stage=stage.label)
    if stage.optional:
        raise errors.optional_twice(stage=stage.label)
    if len(stages) > 1 and stages[-2].greedy:
        raise errors.optional_after_greedy(stage=stage.label, before=stages[-2].label)


def may_have_inner(stage: Stage, call: str) -> None:
    if stage.negated:
        raise errors.quantified_not(call=call, stage=stage.label)
    if not stage.quantified:
        raise errors.needs_quantifier(call=call, stage=stage.label)
    if stage.inner is not None:
        before = "consecutive" if stage.inner is Contiguity.STRICT else "allow_combinations"
        raise errors.two_contiguities(call=call, stage=stage.label, before=before)
    if stage.greedy and call == "allow_combinations":
        raise errors.greedy_combinations(stage=stage.label)


def windows(stages: tuple[Stage, ...]) -> None:
    """A window between neighbours fits into that of the whole match."""
    if (whole := whole_window(stages)) is None:
        return
    for stage in all_stages(stages):
        comparable(whole, stage.near)
        comparable(whole, stage.gap)
        if stage.near is not None and stage.near > whole:
            raise errors.near_exceeds_whole(stage=stage.label, near=stage.near, whole=whole)


def whole_window(stages: tuple[Stage, ...]) -> Duration | None:
    """The smallest of the windows from the first to the last event."""
    found = [stage.within for stage in all_stages(stages) if stage.within is not None]
    for duration in found:
        comparable(found[0], duration)
    return min(found, default=None)


def comparable(left: Duration | None, right: Duration | None) -> None:
    if left is not None and right is not None and left.is_time != right.is_time:
        raise errors.mixed_durations(one=left, other=right)


def complete(stages: tuple[Stage, ...]) -> None:
    """What can be said of a pattern only when all of it is known: how it ends."""
    final = last(stages)
    while final.is_group:
        final = final.stages[-1]
    trailing = list(takewhile(lambda stage: stage.negated, reversed(stages)))
    for stage in all_stages(stages):
        if stage.negated and stage.near is not None and stage not in trailing:
            raise errors.near_of_not(stage=stage.label)
    ends = whole_window(stages) is not None or any(one.near is not None for one in trailing)
    if final.negated and final.contiguity is Contiguity.RELAXED and not ends:
        raise errors.open_end(stage=final.label)
